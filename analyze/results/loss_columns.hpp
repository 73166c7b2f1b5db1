// SPDX-License-Identifier: Apache-2.0
// The columns of losses by their place, in every table that has them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "analyze/packet/verdict.hpp"
#include "analyze/results/columns.hpp"

namespace roce::analyze {

struct LossWords {
  std::string_view name, heading, help;
};
/// By Lost.
inline constexpr std::array<LossWords, lost_count> loss_words{
    {{},
     {"lost_before_capture", "lost upstream", "transmissions lost upstream of the capture point"},
     {"lost_after_capture", "lost downstream", "transmissions lost downstream of the capture point"},
     {"lost_by_capture", "not captured", "transmissions that were delivered, but not captured"},
     {"lost_trimmed", "trimmed", "transmissions that a switch upstream trimmed"},
     {"lost_undecided", "lost or missed", "transmissions that are missing: lost, or only not captured"}}};

/// `get` counts those that were lost there. Shown on request.
template <class Row, std::uint64_t (*get)(const Row&)>
[[nodiscard]] constexpr Column<Row> loss_column(Lost where) noexcept {
  const LossWords& words = loss_words[static_cast<std::size_t>(where)];
  return count_column<Row, get>(words.name, words.heading, words.help, hidden_column);
}

}  // namespace roce::analyze
