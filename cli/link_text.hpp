// SPDX-License-Identifier: Apache-2.0
// Words and figures of pauses and DCBX that the text report and JSON share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyze/snapshot.hpp"
#include "cli/page.hpp"

namespace roce::cli {

[[nodiscard]] std::string mac_text(std::uint64_t mac);                            ///< "02:00:00:00:00:01"
[[nodiscard]] std::string_view selector_text(std::uint8_t selector) noexcept;     ///< "ethertype", "udp" ...
[[nodiscard]] std::string_view winner_text(analyze::DcbxWinner winner) noexcept;  ///< "same", "a" ...

/// Whether quanta of that port can be told in time.
[[nodiscard]] bool is_speed_known(const analyze::PausePort& port) noexcept;
/// The paused time in quanta; where the speed is not known the sum of what was asked for, which is more.
[[nodiscard]] std::uint64_t paused_quanta(const analyze::PausePort& port,
                                          const analyze::PauseLane& lane) noexcept;
/// The share of the capture's time; nothing where either is not known.
[[nodiscard]] std::optional<double> duty_of(const analyze::Snapshot& snapshot, const analyze::PausePort& port,
                                            const analyze::PauseLane& lane) noexcept;

/// The sections of the text report.
void write_pauses(Page& page, const analyze::Snapshot& snapshot);
void write_dcbx(Page& page, const analyze::Snapshot& snapshot);

}  // namespace roce::cli
