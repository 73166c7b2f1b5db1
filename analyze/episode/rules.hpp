// SPDX-License-Identifier: Apache-2.0
// The rules by which something is said of a packet: one row each.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "analyze/episode/note.hpp"
#include "dissect/enum_names.hpp"

namespace roce::analyze::episode {

inline constexpr std::size_t rule_count = static_cast<std::size_t>(Rule::not_captured) + 1;

struct RuleRow {
  Rule rule = Rule::none;
  std::string_view name;      ///< the value of `roce.analysis.rule`
  std::string_view basis;     ///< the section that it rests on, or what else makes packets look so
  std::string_view sentence;  ///< for users
};

/// In the order of Rule.
inline constexpr std::array<RuleRow, rule_count> rule_rows{{
    {Rule::none, "", "", "Nothing is said."},
    {Rule::first, "first", "IBTA 9.7.3.1", "It lies behind all that its sender had sent before."},
    {Rule::same_id, "same_id", "RFC 6864 4.1",
     "Its IPv4 ID is that of another packet that looks the same: one transmission, shown twice."},
    {Rule::other_path, "other_path", "two capture points",
     "It came on a path on which all is shown that another path shows."},
    {Rule::steady_lag, "steady_lag", "a mirror",
     "It came after the lag of a mirror that shows others twice, and nothing asked for it."},
    {Rule::confirmed_before, "confirmed_before", "IBTA 9.7.5.1.1",
     "It had been confirmed, nothing asked for it and no timer ran: nobody sends that again."},
    {Rule::in_turn, "in_turn", "a mirror", "It is the next of a row of packets that are shown again."},
    {Rule::sent_earlier, "sent_earlier", "RFC 6864 4.1",
     "Its IPv4 ID lies before those captured before it: it was overtaken."},
    {Rule::fills_gap, "fills_gap", "IBTA 9.7.3.1",
     "It was missing in its place and nothing asked for it again: it was overtaken."},
    {Rule::sequence_nak, "sequence_nak", "IBTA 9.7.5.2.8", "A sequence NAK asked for it."},
    {Rule::nak_of_message, "nak_of_message", "IBTA 9.7.5.2.8",
     "A sequence NAK asked for a later packet of its message, which its requester repeats whole."},
    {Rule::rnr_nak, "rnr_nak", "IBTA 9.7.5.2.8",
     "An RNR NAK asked for it, and the time that it names was over."},
    {Rule::timer, "timer", "IBTA 9.7.6.1.3",
     "Nothing asked for it, and the requester had been silent: its timer expired."},
    {Rule::read_asked_again, "read_asked_again", "IBTA 9.7.5.1.9",
     "Responses to it are missing, by an implied NAK or a timer."},
    {Rule::responds_again, "responds_again", "IBTA 9.7.5.1.4",
     "It had been sent before, and was asked for more often than it had been sent."},
    {Rule::executed_just_now, "executed_just_now", "IBTA 9.7.7.1",
     "It was asked for more than once, but its count of messages rose just then: it is the first answer."},
    {Rule::executed_before, "executed_before", "IBTA 9.7.7.1",
     "It was not captured before, but an answer captured before counts its message: it is given again."},
    {Rule::counted_earlier, "counted_earlier", "IBTA 9.7.7.1",
     "Its count of messages lies below one captured before: it was sent before that answer, and overtaken."},
    {Rule::not_captured, "not_captured", "", "What made the sender send it again is not in the capture."},
}};

namespace rules_detail {
template <std::size_t... I>
constexpr EnumNames<Rule, rule_count> names(std::index_sequence<I...>) {
  return EnumNames<Rule, rule_count>({{rule_rows[I].rule, rule_rows[I].name}...});
}
}  // namespace rules_detail

inline constexpr EnumNames<Rule, rule_count> rule_names =
    rules_detail::names(std::make_index_sequence<rule_count>{});
[[nodiscard]] constexpr std::string_view rule_name(Rule rule) noexcept {
  return rule_names[rule];
}

}  // namespace roce::analyze::episode
