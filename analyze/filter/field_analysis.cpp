// SPDX-License-Identifier: Apache-2.0
// roce.connection, roce.direction, roce.analysis.*: the verdict of the sequence analysis as fields. A flag
// exists only on packets where it is true. To add a field: one row.
#include "analyze/episode/rules.hpp"
#include "analyze/filter/field_virtual.hpp"
#include "analyze/packet/verdict.hpp"

namespace roce::analyze {
namespace {

using Flag = Verdict::Flag;

void add(Values& out, ValueType type, std::uint64_t number, std::string_view text = {}) {
  Value value;
  value.type = type;
  value.number = number;
  value.text = text;
  out.push_back(value);
}

template <Flag flag>
void add_flag(const PacketView& p, Values& out) {
  if (p.verdict != nullptr && p.verdict->has(flag)) add(out, ValueType::boolean, 1);
}

/// A frame number or count; absent if it is 0.
template <std::uint32_t Verdict::*member>
void add_verdict_number(const PacketView& p, Values& out) {
  if (p.verdict != nullptr && p.verdict->*member != 0) add(out, ValueType::number, p.verdict->*member);
}

bool remarkable(const Verdict& v) {
  constexpr unsigned flags = Flag::retransmission | Flag::spurious | Flag::duplicate_capture |
                             Flag::duplicate_network | Flag::out_of_order | Flag::ack_unseen |
                             Flag::illegal_sequence | Flag::wrong_length | Flag::msn_backwards |
                             Flag::source_mac_changed | Flag::time_backwards | Flag::lost_between_points;
  return (v.flags & flags) != 0 || v.gap != 0 || v.any_lost();
}

/// Calls `each` for every kind of loss that the packet proves: where, how many, and whether its own side was
/// the sender.
template <class Each>
void for_each_loss(const PacketView& p, Each each) {
  if (p.verdict == nullptr) return;
  const Verdict& v = *p.verdict;
  if (v.lost_before != 0) each(Lost::before_capture, v.lost_before, true);
  if (v.lost_itself() != 0) each(Lost::after_capture, v.lost_itself(), true);
  if (v.lost_after > v.lost_itself()) {
    each(Lost::after_capture, std::uint32_t{v.lost_after} - v.lost_itself(), false);
  }
  if (v.missed != 0) each(Lost::by_capture, v.missed, true);
  if (v.missed_of_other != 0) each(Lost::by_capture, v.missed_of_other, false);
  if (v.trimmed != 0) each(Lost::trimmed, v.trimmed, true);
  if (v.lost_or_missed != 0) each(Lost::undecided, v.lost_or_missed, true);
}

constexpr FieldFacts analysis_facts(std::string_view name, std::string_view label,
                                    ValueType type = ValueType::number, std::uint64_t max = 0xffff'ffff) {
  FieldFacts f;
  f.name = name;
  f.label = label;
  f.type = type;
  f.max = type == ValueType::boolean ? 1 : type == ValueType::number ? max : 0;
  f.needs_analysis = true;
  return f;
}

constexpr FieldFacts word_facts(std::string_view name, std::string_view label,
                                std::span<const std::string_view> words) {
  FieldFacts f = analysis_facts(name, label, ValueType::text);
  f.words = words;
  return f;
}

constexpr std::string_view directions[] = {"a_to_b", "b_to_a"};
constexpr std::string_view causes[] = {cause_name(Cause::nak), cause_name(Cause::timeout),
                                       cause_name(Cause::rnr), cause_name(Cause::read_retry),
                                       cause_name(Cause::unknown)};
constexpr std::string_view places[] = {lost_name(Lost::before_capture), lost_name(Lost::after_capture),
                                       lost_name(Lost::by_capture), lost_name(Lost::trimmed),
                                       lost_name(Lost::undecided)};

constexpr std::span<const std::string_view> rules = std::span(episode::rule_names.all()).subspan(1);

constexpr std::uint64_t psn_count = 1U << 24U;

const VirtualField verdict_fields[] = {
    {analysis_facts("roce.connection", "Connection"),
     [](const PacketView& p, Values& out) {
       if (p.verdict != nullptr && p.verdict->connection != Verdict::no_connection)
         add(out, ValueType::number, p.verdict->connection);
     }},
    {word_facts("roce.direction", "Direction", directions),
     [](const PacketView& p, Values& out) {
       if (p.verdict != nullptr && p.verdict->connection != Verdict::no_connection)
         add(out, ValueType::text, 0, directions[p.verdict->has(Flag::b_to_a) ? 1 : 0]);
     }},
    {analysis_facts("roce.incident", "Incident"),
     [](const PacketView& p, Values& out) {
       if (p.verdict != nullptr && p.verdict->incident != 0)
         add(out, ValueType::number, p.verdict->incident - 1U);
     }},
    {analysis_facts("roce.analysis.flags", "Any analysis flag, gap or loss", ValueType::presence),
     [](const PacketView& p, Values& out) {
       if (p.verdict != nullptr && remarkable(*p.verdict)) add(out, ValueType::presence, 1);
     }},
    {analysis_facts("roce.analysis.retransmission", "Retransmission", ValueType::boolean),
     add_flag<Flag::retransmission>},
    {word_facts("roce.analysis.retransmission.cause", "Cause of the retransmission", causes),
     [](const PacketView& p, Values& out) {
       if (p.verdict != nullptr && p.verdict->cause != Cause::none)
         add(out, ValueType::text, 0, cause_name(p.verdict->cause));
     }},
    {word_facts("roce.analysis.rule", "Rule", rules),
     [](const PacketView& p, Values& out) {
       if (p.verdict == nullptr || p.verdict->rule == 0) return;
       add(out, ValueType::text, 0, episode::rule_name(static_cast<episode::Rule>(p.verdict->rule)));
     }},
    {analysis_facts("roce.analysis.retransmission.original", "Retransmission of frame"),
     [](const PacketView& p, Values& out) {
       const Verdict* v = p.verdict;
       if (v != nullptr && v->has(Flag::retransmission) && !v->has(Flag::duplicate_capture)) {
         add_verdict_number<&Verdict::original>(p, out);  // that of a duplicate is in duplicate_of
       }
     }},
    {analysis_facts("roce.analysis.spurious", "Spurious: already acknowledged", ValueType::boolean),
     add_flag<Flag::spurious>},
    {analysis_facts("roce.analysis.duplicate_capture", "Duplicate made by the capture", ValueType::boolean),
     add_flag<Flag::duplicate_capture>},
    {analysis_facts("roce.analysis.duplicate_network", "Duplicate made by the network", ValueType::boolean),
     add_flag<Flag::duplicate_network>},
    {analysis_facts("roce.analysis.duplicate_of", "Duplicate of frame"),
     [](const PacketView& p, Values& out) {
       if (p.verdict != nullptr &&
           (p.verdict->has(Flag::duplicate_capture) || p.verdict->has(Flag::duplicate_network)))
         add_verdict_number<&Verdict::original>(p, out);
     }},
    {analysis_facts("roce.analysis.gap", "PSNs missing before this one", ValueType::number, psn_count),
     [](const PacketView& p, Values& out) {
       if (p.verdict != nullptr && p.verdict->gap != 0) add(out, ValueType::number, p.verdict->gap);
     }},
    {word_facts("roce.analysis.lost", "Lost", places),
     [](const PacketView& p, Values& out) {
       for_each_loss(
           p, [&](Lost where, std::uint32_t, bool) { add(out, ValueType::text, 0, lost_name(where)); });
     }},
    {analysis_facts("roce.analysis.lost.packets", "Lost transmissions"),
     [](const PacketView& p, Values& out) {
       for_each_loss(p, [&](Lost, std::uint32_t count, bool) { add(out, ValueType::number, count); });
     }},
    {word_facts("roce.analysis.lost.direction", "Direction of the lost transmissions", directions),
     [](const PacketView& p, Values& out) {
       for_each_loss(p, [&](Lost, std::uint32_t, bool own) {
         add(out, ValueType::text, 0, directions[p.verdict->has(Flag::b_to_a) == own ? 1 : 0]);
       });
     }},
    {analysis_facts("roce.analysis.lost_between_points", "Lost between two capture points",
                    ValueType::boolean),
     add_flag<Flag::lost_between_points>},
    {analysis_facts("roce.analysis.out_of_order", "Out of order", ValueType::boolean),
     add_flag<Flag::out_of_order>},
    {analysis_facts("roce.analysis.ack_unseen", "Acknowledges a PSN that was not captured",
                    ValueType::boolean),
     add_flag<Flag::ack_unseen>},
    {analysis_facts("roce.analysis.illegal_sequence", "Illegal opcode sequence", ValueType::boolean),
     add_flag<Flag::illegal_sequence>},
    {analysis_facts("roce.analysis.wrong_length", "Wrong length", ValueType::boolean),
     add_flag<Flag::wrong_length>},
    {analysis_facts("roce.analysis.msn_backwards", "Message sequence number goes backwards",
                    ValueType::boolean),
     add_flag<Flag::msn_backwards>},
    {analysis_facts("roce.analysis.time_backwards", "Timestamp earlier than the packet before it",
                    ValueType::boolean),
     add_flag<Flag::time_backwards>},
    {analysis_facts("roce.analysis.source_mac_changed", "Source MAC address changed", ValueType::boolean),
     add_flag<Flag::source_mac_changed>},
    {analysis_facts("roce.analysis.request", "Response to frame"), add_verdict_number<&Verdict::request>},
    {analysis_facts("roce.analysis.response", "Response in frame"), add_verdict_number<&Verdict::response>},
    {analysis_facts("roce.analysis.response_time", "Response time", ValueType::time),
     [](const PacketView& p, Values& out) {
       if (p.verdict != nullptr && p.verdict->has(Flag::response_time_known))
         add(out, ValueType::time, static_cast<std::uint64_t>(p.verdict->response_time_ns));
     }},
    {analysis_facts("roce.analysis.in_flight", "PSNs in flight", ValueType::number, psn_count),
     [](const PacketView& p, Values& out) {
       if (p.verdict != nullptr && p.verdict->has(Flag::in_flight_known))
         add(out, ValueType::number, p.verdict->in_flight);
     }},
};

}  // namespace

std::span<const VirtualField> analysis_fields() {
  return verdict_fields;
}

}  // namespace roce::analyze
