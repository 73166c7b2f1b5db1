// SPDX-License-Identifier: Apache-2.0
// The table of findings, see columns.hpp.
#pragma once

#include <span>
#include <string>

#include "analyze/results/columns.hpp"
#include "analyze/results/finding.hpp"

namespace roce::analyze {

using FindingColumn = Column<Finding>;
[[nodiscard]] std::span<const FindingColumn> finding_columns() noexcept;

/// Identifies a finding across snapshots: its rule and its subject.
[[nodiscard]] std::string finding_key(const Finding& finding);

/// The text up to the first full stop that ends a sentence.
[[nodiscard]] std::string first_sentence(const std::string& text);

}  // namespace roce::analyze
