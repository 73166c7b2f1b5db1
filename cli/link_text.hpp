// SPDX-License-Identifier: Apache-2.0
// Words of pauses and DCBX that the text report and JSON share.
#pragma once

#include <cstdint>
#include <string_view>

#include "analyze/pause_facts.hpp"
#include "analyze/snapshot.hpp"
#include "cli/page.hpp"

namespace roce::cli {

[[nodiscard]] std::string_view selector_text(std::uint8_t selector) noexcept;     ///< "ethertype", "udp" ...
[[nodiscard]] std::string_view winner_text(analyze::DcbxWinner winner) noexcept;  ///< "same", "a" ...

/// The sections of the text report.
void write_pauses(Page& page, const analyze::Snapshot& snapshot);
void write_dcbx(Page& page, const analyze::Snapshot& snapshot);

}  // namespace roce::cli
