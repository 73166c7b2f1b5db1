// SPDX-License-Identifier: Apache-2.0
// The table of findings: one row a column, see analyze/columns.hpp.
#pragma once

#include <span>
#include <string>

#include "analyze/columns.hpp"
#include "analyze/finding.hpp"

namespace roce::gui {

[[nodiscard]] std::span<const analyze::Column<analyze::Finding>> finding_columns() noexcept;

/// Which finding this is, from one snapshot to the next: its rule and whom it is about.
[[nodiscard]] std::string finding_key(const analyze::Finding& finding);
/// The first sentence of the explanation: what was seen, with its figure.
[[nodiscard]] std::string first_sentence(const std::string& text);

}  // namespace roce::gui
