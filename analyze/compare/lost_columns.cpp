// SPDX-License-Identifier: Apache-2.0
#include "analyze/compare/lost_columns.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <unordered_map>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"
#include "analyze/compare/compare_words.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {
namespace {

using L = const LostPacket&;
using R = const RepeatRun&;
using C = const MarkChange&;

constexpr std::array<std::string_view, 2> direction_names{"a_to_b", "b_to_a"};
constexpr std::array<std::string_view, 2> direction_texts{"A to B", "B to A"};

template <class T>
std::string text_of(const std::optional<T>& value) {
  return value ? std::to_string(*value) : std::string();
}

/// Sort key: lowest number first (sorting is descending), rows without a number last.
template <class T>
double rising(const std::optional<T>& value) {
  return value ? -static_cast<double>(*value) : -1e18;
}

constexpr LostColumn lost_table[] = {
    {"direction", "direction", "direction in which it was lost", false, 0, nullptr,
     [](L l) { return std::string(direction_texts[l.direction]); },
     [](L l) { return std::string(direction_names[l.direction]); }},
    {"connection", "connection", "connection number in the report of the file with the packet", true, 0,
     [](L l) { return rising(l.connection); }, [](L l) { return text_of(l.connection); }, nullptr},
    {"src", "from", "address of the sender", false, 0, nullptr, [](L l) { return address_text(l.key.src); },
     nullptr},
    {"dst", "to", "address of the receiver", false, 0, nullptr, [](L l) { return address_text(l.key.dst); },
     nullptr},
    {"dst_qp", "QP", "destination queue pair", true, 1,
     [](L l) { return -static_cast<double>(l.key.dst_qp); },
     [](L l) { return fmt::format("0x{:06x}", l.key.dst_qp); },
     [](L l) { return std::to_string(l.key.dst_qp); }},
    {"opcode", "opcode", "BTH opcode", false, 1, nullptr,
     [](L l) { return std::string(dissect::opcode_name(l.opcode)); }, nullptr},
    {"psn", "PSN", "packet sequence number", true, 0, [](L l) { return -static_cast<double>(l.psn); },
     [](L l) { return std::to_string(l.psn); }, nullptr},
    {"packet", "packet", "packet number in the file with it", true, 0,
     [](L l) { return -static_cast<double>(l.packet); }, [](L l) { return std::to_string(l.packet); },
     nullptr},
    {"time", "time", "capture time by that file's clock", false, 2,
     [](L l) { return -static_cast<double>(l.time_ns); }, [](L l) { return time_text(l.time_ns); },
     [](L l) { return std::to_string(l.time_ns); }},
    {"repaired_by", "repaired by",
     "number of its retransmission that arrived, or of an acknowledgement that covers it", true, 0,
     [](L l) { return rising(l.repaired_by); }, [](L l) { return text_of(l.repaired_by); }, nullptr},
};

std::string waited_text(const std::optional<std::int64_t>& ns) {
  return ns ? duration_text(*ns) : std::string();
}

constexpr RepeatColumn repeat_table[] = {
    {"direction", "direction", "direction in which it was sent again", false, 0, nullptr,
     [](R r) { return std::string(direction_texts[r.direction]); },
     [](R r) { return std::string(direction_names[r.direction]); }},
    {"connection", "connection", "connection number in the report of the file with the packets", true, 0,
     [](R r) { return rising(r.connection); }, [](R r) { return text_of(r.connection); }, nullptr},
    {"src", "from", "address of the sender", false, 1, nullptr, [](R r) { return address_text(r.key.src); },
     nullptr},
    {"dst", "to", "address of the receiver", false, 1, nullptr, [](R r) { return address_text(r.key.dst); },
     nullptr},
    {"dst_qp", "QP", "destination queue pair", true, 1,
     [](R r) { return -static_cast<double>(r.key.dst_qp); },
     [](R r) { return fmt::format("0x{:06x}", r.key.dst_qp); },
     [](R r) { return std::to_string(r.key.dst_qp); }},
    {"opcode", "opcode", "BTH opcode of the first one", false, 2, nullptr,
     [](R r) { return std::string(dissect::opcode_name(r.opcode)); }, nullptr},
    {"psn", "PSN", "packet sequence number of the first one", true, 0,
     [](R r) { return -static_cast<double>(r.psn); }, [](R r) { return std::to_string(r.psn); }, nullptr},
    {"last_psn", "last PSN", "packet sequence number of the last one", true, 3,
     [](R r) { return -static_cast<double>(r.last_psn); }, [](R r) { return std::to_string(r.last_psn); },
     nullptr},
    {"packet", "packet", "packet number of the first one in the file of the point that it passes first", true,
     0, [](R r) { return -static_cast<double>(r.packet); }, [](R r) { return std::to_string(r.packet); },
     nullptr},
    {"last_packet", "last packet", "packet number of the last one", true, 3,
     [](R r) { return -static_cast<double>(r.last_packet); },
     [](R r) { return std::to_string(r.last_packet); }, nullptr},
    {"packets", "packets", "packets sent again in a row for that reason", true, 0,
     [](R r) { return static_cast<double>(r.packets); }, [](R r) { return std::to_string(r.packets); },
     nullptr},
    {"original", "sent before", "number of the transmission before the first one, in the same file", true, 1,
     [](R r) { return rising(r.original); }, [](R r) { return text_of(r.original); }, nullptr},
    {"time", "time", "capture time of the first one by that file's clock", false, 3,
     [](R r) { return -static_cast<double>(r.time_ns); }, [](R r) { return time_text(r.time_ns); },
     [](R r) { return std::to_string(r.time_ns); }},
    {"cause", "cause", "why it was sent again", false, 0, nullptr,
     [](R r) { return repeat_cause_text(r.cause, r.direction); },
     [](R r) { return std::string(repeat_cause_name(r.cause)); }},
    {"nak_lost", "NAK lost", "a NAK that told of it was lost between the points", false, 3, nullptr,
     [](R r) { return std::string(r.nak_lost ? "yes" : ""); },
     [](R r) { return std::string(r.nak_lost ? "true" : "false"); }},
    {"shown_in", "shown in", "file of the packet that shows the cause: a, b", false, 2, nullptr,
     [](R r) {
       return std::string(!r.evidence ? "" : r.evidence->point == 0 ? "A" : "B");
     },
     [](R r) {
       return std::string(!r.evidence ? "" : r.evidence->point == 0 ? "a" : "b");
     }},
    {"shown_by", "shown by", "number of the packet that shows the cause: the lost, damaged or late one", true,
     1, [](R r) { return r.evidence ? -static_cast<double>(r.evidence->packet) : -1e18; },
     [](R r) { return r.evidence ? std::to_string(r.evidence->packet) : std::string(); }, nullptr},
    {"waited_ns", "waited", "how long its sender had waited, where no NAK made it send again", true, 1,
     [](R r) { return static_cast<double>(r.waited_ns.value_or(-1)); },
     [](R r) { return waited_text(r.waited_ns); }, [](R r) { return text_of(r.waited_ns); }},
    {"answered_ns", "answered", "when the answer passed that point, after the transmission before", true, 1,
     [](R r) { return static_cast<double>(r.answered_ns.value_or(-1)); },
     [](R r) { return waited_text(r.answered_ns); }, [](R r) { return text_of(r.answered_ns); }},
};

using P = const ComparePath&;

/// Empty where the times tell nothing.
template <std::int64_t DelayStats::*member>
constexpr ComparePathColumn delay_column(std::string_view name, std::string_view heading,
                                         std::string_view help, std::uint8_t priority) {
  return {name,
          heading,
          help,
          true,
          priority,
          [](P p) { return p.delay ? static_cast<double>((*p.delay).*member) : -1e18; },
          [](P p) { return p.delay ? duration_text((*p.delay).*member) : std::string(); },
          [](P p) { return p.delay ? std::to_string((*p.delay).*member) : std::string(); }};
}
std::uint64_t path_lost_between(P p) {
  return p.lost;
}
std::uint64_t path_trimmed_between(P p) {
  return p.trimmed;
}
std::uint64_t path_marked_between(P p) {
  return p.ce_added;
}

constexpr ComparePathColumn path_table[] = {
    {"direction", "direction", "direction of its packets", false, 0, nullptr,
     [](P p) { return std::string(direction_texts[p.direction]); },
     [](P p) { return std::string(direction_names[p.direction]); }},
    {"src", "from", "address of the sender", false, 0, nullptr, [](P p) { return address_text(p.src); },
     nullptr},
    {"dst", "to", "address of the receiver", false, 0, nullptr, [](P p) { return address_text(p.dst); },
     nullptr},
    {"udp_sport", "UDP source port", "UDP source port; empty: without UDP", true, 0,
     [](P p) { return static_cast<double>(p.port); },
     [](P p) { return p.port != 0 ? std::to_string(p.port) : std::string(); }, nullptr},
    {"packets", "packets", "packets at the first point", true, 0,
     [](P p) { return static_cast<double>(p.packets); }, [](P p) { return std::to_string(p.packets); },
     nullptr},
    count_column<ComparePath, path_lost_between>("lost", "lost", "lost between the points", 0),
    {"lost_share", "share", "share of its packets that was lost", true, 1,
     [](P p) { return p.packets == 0 ? 0 : static_cast<double>(p.lost) / static_cast<double>(p.packets); },
     [](P p) { return p.lost != 0 ? percent_text(p.lost, p.packets) : std::string(); }, nullptr,
     CellType::text},
    count_column<ComparePath, path_trimmed_between>(
        "trimmed", "trimmed", "of the lost ones, trimmed by a switch between the points", 2),
    count_column<ComparePath, path_marked_between>("ce_added", "CE", "marked CE between the points", 1),
    delay_column<&DelayStats::min>("delay_min_ns", "fastest", "shortest delay", 2),
    delay_column<&DelayStats::p50>("delay_p50_ns", "delay", "delay that half of the packets stay below", 0),
    delay_column<&DelayStats::p99>("delay_p99_ns", "99 %", "delay that 99 % of them stay below", 1),
    delay_column<&DelayStats::max>("delay_max_ns", "slowest", "longest delay", 2),
};

std::string mark_text(C change, const std::optional<std::uint16_t>& value) {
  if (value) return std::to_string(*value);
  return change.field == MarkField::vlan || change.field == MarkField::pcp ? "no tag" : "";
}

constexpr MarkChangeColumn change_table[] = {
    {"field", "field", "the changed marking", false, 0, nullptr,
     [](C c) { return std::string(mark_field_name(c.field)); }, nullptr},
    {"direction", "direction", "direction of the packets", false, 0, nullptr,
     [](C c) { return std::string(direction_texts[c.direction]); },
     [](C c) { return std::string(direction_names[c.direction]); }},
    {"from", "from", "value at the first point", true, 0, [](C c) { return rising(c.from); },
     [](C c) { return mark_text(c, c.from); }, [](C c) { return text_of(c.from); }},
    {"to", "to", "value at the second point", true, 0, [](C c) { return rising(c.to); },
     [](C c) { return mark_text(c, c.to); }, [](C c) { return text_of(c.to); }},
    {"packets", "packets", "packets with this change", true, 0,
     [](C c) { return static_cast<double>(c.packets); }, [](C c) { return std::to_string(c.packets); },
     nullptr},
    {"first_in_a", "first in A", "number of the first packet in A", true, 1,
     [](C c) { return -static_cast<double>(c.first[0]); }, [](C c) { return std::to_string(c.first[0]); },
     nullptr},
    {"first_in_b", "first in B", "number in B", true, 1, [](C c) { return -static_cast<double>(c.first[1]); },
     [](C c) { return std::to_string(c.first[1]); }, nullptr},
};

struct FlowKeyHash {
  std::size_t operator()(const FlowKey& key) const noexcept { return key.hash(); }
};

}  // namespace

std::string_view compare_direction_name(unsigned direction) noexcept {
  return direction_names[direction & 1U];
}

std::span<const LostColumn> lost_columns() noexcept {
  return lost_table;
}

std::span<const RepeatColumn> repeat_columns() noexcept {
  return repeat_table;
}

std::span<const ComparePathColumn> compare_path_columns() noexcept {
  return path_table;
}

std::span<const MarkChangeColumn> mark_change_columns() noexcept {
  return change_table;
}

void name_connections(CompareResult& result, unsigned direction, const Snapshot& report) {
  std::unordered_map<FlowKey, std::uint64_t, FlowKeyHash> connections;
  for (const Flow& flow : report.flows) {
    if (flow.connection) connections.emplace(flow.key, *flow.connection);
  }
  const auto name = [&](auto& rows) {
    for (auto& row : rows) {
      if (row.direction != direction) continue;
      if (const auto found = connections.find(row.key); found != connections.end())
        row.connection = found->second;
    }
  };
  name(result.lost);
  name(result.repeats);
}

}  // namespace roce::analyze
