// SPDX-License-Identifier: Apache-2.0
#include "analyze/compare/lost_columns.hpp"

#include <array>
#include <string>
#include <unordered_map>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {
namespace {

using L = const LostPacket&;
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
     [](L l) { return -static_cast<double>(l.key.dst_qp); }, [](L l) { return std::to_string(l.key.dst_qp); },
     nullptr},
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

std::span<const MarkChangeColumn> mark_change_columns() noexcept {
  return change_table;
}

void name_connections(CompareResult& result, unsigned direction, const Snapshot& report) {
  std::unordered_map<FlowKey, std::uint64_t, FlowKeyHash> connections;
  for (const Flow& flow : report.flows) {
    if (flow.connection) connections.emplace(flow.key, *flow.connection);
  }
  for (LostPacket& lost : result.lost) {
    if (lost.direction != direction) continue;
    if (const auto found = connections.find(lost.key); found != connections.end())
      lost.connection = found->second;
  }
}

}  // namespace roce::analyze
