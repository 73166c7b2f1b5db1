// SPDX-License-Identifier: Apache-2.0
// The names of the rules by which something is said of a packet.
#pragma once

#include <cstddef>
#include <string_view>

#include "analyze/episode/note.hpp"
#include "dissect/enum_names.hpp"

namespace roce::analyze::episode {

inline constexpr std::size_t rule_count = static_cast<std::size_t>(Rule::not_captured) + 1;
inline constexpr EnumNames<Rule, rule_count> rule_names({{Rule::none, ""},
                                                         {Rule::first, "first"},
                                                         {Rule::same_id, "same_id"},
                                                         {Rule::other_path, "other_path"},
                                                         {Rule::steady_lag, "steady_lag"},
                                                         {Rule::confirmed_before, "confirmed_before"},
                                                         {Rule::in_turn, "in_turn"},
                                                         {Rule::sent_earlier, "sent_earlier"},
                                                         {Rule::fills_gap, "fills_gap"},
                                                         {Rule::sequence_nak, "sequence_nak"},
                                                         {Rule::nak_of_message, "nak_of_message"},
                                                         {Rule::rnr_nak, "rnr_nak"},
                                                         {Rule::timer, "timer"},
                                                         {Rule::read_asked_again, "read_asked_again"},
                                                         {Rule::responds_again, "responds_again"},
                                                         {Rule::executed_just_now, "executed_just_now"},
                                                         {Rule::executed_before, "executed_before"},
                                                         {Rule::counted_earlier, "counted_earlier"},
                                                         {Rule::not_captured, "not_captured"}});
/// The value of `roce.analysis.rule`.
[[nodiscard]] constexpr std::string_view rule_name(Rule rule) noexcept {
  return rule_names[rule];
}

}  // namespace roce::analyze::episode
