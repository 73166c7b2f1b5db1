// SPDX-License-Identifier: Apache-2.0
#include "analyze/flow_columns.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/address_text.hpp"
#include "analyze/packet_facts.hpp"
#include "analyze/units.hpp"

namespace roce::analyze {
namespace {

template <class Counts>
std::string list_counts(const Counts& counts) {
  std::string text;
  const auto entries = counts.sorted();
  for (const auto& entry : entries) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{}", entry.key);
    if (entries.size() > 1) text += fmt::format(":{}", entry.count);
  }
  return text;
}

std::string_view ecn_name(std::size_t value) noexcept {
  constexpr std::string_view names[] = {"Not-ECT", "ECT(1)", "ECT(0)", "CE"};
  return names[value];
}

std::string ecn_text(const Flow& flow) {
  std::string text;
  const auto kinds = std::count_if(flow.ecn.begin(), flow.ecn.end(), [](std::uint64_t n) { return n != 0; });
  for (std::size_t i = 0; i < flow.ecn.size(); ++i) {
    if (flow.ecn[i] == 0) continue;
    if (!text.empty()) text += ' ';
    text += ecn_name(i);
    if (kinds > 1) text += fmt::format(":{}", flow.ecn[i]);
  }
  return text;
}

std::string opcode_list(const Flow& flow) {
  auto entries = flow.opcodes.sorted();
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
  std::string text;
  for (const auto& entry : entries) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", dissect::opcode_name(entry.key), entry.count);
  }
  return text;
}

double rate(const Flow& flow) {
  return mean_rate_bps(flow.bytes, flow.first_time_ns, flow.last_time_ns);
}

constexpr std::uint8_t hidden = FlowColumn::hidden;
using F = const Flow&;

constexpr FlowColumn columns[] = {
    {"id", "flow", "number of the flow", true, 0, [](F f) { return -static_cast<double>(f.id); },
     [](F f) { return std::to_string(f.id); }, nullptr},
    {"src", "source", "source address", false, 0, nullptr, [](F f) { return address_of(f.key.src); },
     nullptr},
    {"dst", "destination", "destination address", false, 0, nullptr,
     [](F f) { return address_of(f.key.dst); }, nullptr},
    {"dst_qp", "QP", "destination queue pair", true, 0, [](F f) { return static_cast<double>(f.key.dst_qp); },
     [](F f) { return fmt::format("0x{:06x}", f.key.dst_qp); },
     [](F f) { return std::to_string(f.key.dst_qp); }},
    {"service", "type", "transport service", false, 1, nullptr,
     [](F f) { return f.service_known ? std::string(dissect::service_name(f.service)) : std::string("CNP"); },
     nullptr},
    {"upper", "carries", "upper-layer protocol, where the CM exchange or its own header makes it certain",
     false, 1, nullptr, [](F f) { return std::string(dissect::ulp_name(f.upper)); }, nullptr},
    {"version", "version", "what carries the transport", false, hidden, nullptr,
     [](F f) { return std::string(version_name(f.key.transport)); }, nullptr},
    {"vlan", "VLAN", "VLAN of the first tagged packet", true, 6,
     [](F f) { return f.vlan ? static_cast<double>(*f.vlan) : -1; },
     [](F f) { return f.vlan ? std::to_string(*f.vlan) : std::string(); }, nullptr},
    {"udp_sports", "UDP source ports", "UDP source ports with packets", false, hidden, nullptr,
     [](F f) { return list_counts(f.udp_sports); }, nullptr},
    {"packets", "packets", "packets", true, 0, [](F f) { return static_cast<double>(f.packets); },
     [](F f) { return std::to_string(f.packets); }, nullptr},
    {"bytes", "bytes", "bytes on the wire", true, 3, [](F f) { return static_cast<double>(f.bytes); },
     [](F f) { return bytes_text(f.bytes); }, [](F f) { return std::to_string(f.bytes); }},
    {"payload_bytes", "payload", "message bytes, without headers and pad", true, 1,
     [](F f) { return static_cast<double>(f.payload_bytes); },
     [](F f) { return bytes_text(f.payload_bytes); }, [](F f) { return std::to_string(f.payload_bytes); }},
    {"messages", "messages", "messages that ended in the capture", true, 2,
     [](F f) { return static_cast<double>(f.messages); }, [](F f) { return std::to_string(f.messages); },
     nullptr},
    {"rate_bps", "rate", "mean rate from its first to its last packet", true, 2, rate,
     [](F f) { return f.packets > 1 ? rate_text(rate(f)) : std::string(); },
     [](F f) { return fmt::format("{:.0f}", rate(f)); }},
    {"first_psn", "first PSN", "PSN of its first packet", true, 4,
     [](F f) { return static_cast<double>(f.first_psn); }, [](F f) { return std::to_string(f.first_psn); },
     nullptr},
    {"last_psn", "last PSN", "PSN of its last packet", true, 4,
     [](F f) { return static_cast<double>(f.last_psn); }, [](F f) { return std::to_string(f.last_psn); },
     nullptr},
    {"dscp", "DSCP", "DSCP values with packets", false, 3, nullptr, [](F f) { return list_counts(f.dscp); },
     nullptr},
    {"ecn", "ECN", "ECN codepoints with packets", false, 3, nullptr, ecn_text, nullptr},
    {"pcp", "PCP", "VLAN priorities with packets", false, 5, nullptr, [](F f) { return list_counts(f.pcp); },
     nullptr},
    {"first_time", "first", "time of the first packet, ns since the epoch", true, hidden,
     [](F f) { return static_cast<double>(f.first_time_ns); }, [](F f) { return time_text(f.first_time_ns); },
     [](F f) { return std::to_string(f.first_time_ns); }},
    {"last_time", "last", "time of the last packet, ns since the epoch", true, hidden,
     [](F f) { return static_cast<double>(f.last_time_ns); }, [](F f) { return time_text(f.last_time_ns); },
     [](F f) { return std::to_string(f.last_time_ns); }},
    {"duration_ns", "duration", "from its first to its last packet", true, 5,
     [](F f) { return static_cast<double>(span_ns(f.first_time_ns, f.last_time_ns)); },
     [](F f) { return duration_text(span_ns(f.first_time_ns, f.last_time_ns)); },
     [](F f) { return std::to_string(span_ns(f.first_time_ns, f.last_time_ns)); }},
    {"icrc_mismatches", "bad ICRC", "packets with a wrong ICRC", true, 1,
     [](F f) { return static_cast<double>(f.icrc_mismatches); },
     [](F f) { return f.icrc_mismatches != 0 ? std::to_string(f.icrc_mismatches) : std::string(); },
     [](F f) { return std::to_string(f.icrc_mismatches); }},
    {"opcodes", "opcodes", "opcodes with packets", false, hidden, nullptr, opcode_list, nullptr},
};

}  // namespace

std::span<const FlowColumn> flow_columns() noexcept {
  return columns;
}

const FlowColumn* find_flow_column(std::string_view name) noexcept {
  for (const FlowColumn& column : columns) {
    if (column.name == name) return &column;
  }
  return nullptr;
}

void sort_flows(std::vector<const Flow*>& flows, const FlowColumn& column, bool reverse) {
  // Each key is made once: texts are costly and a table may have 100 000 rows.
  struct Row {
    double number = 0;
    std::string text;
    const Flow* flow = nullptr;
  };
  std::vector<Row> rows;
  rows.reserve(flows.size());
  for (const Flow* flow : flows) {
    if (column.number != nullptr) {
      rows.push_back({column.number(*flow), {}, flow});
    } else {
      rows.push_back({0, column.text(*flow), flow});
    }
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    if (a.number != b.number) return a.number > b.number;
    if (a.text != b.text) return a.text < b.text;
    return a.flow->id < b.flow->id;
  });
  std::transform(rows.begin(), rows.end(), flows.begin(), [](const Row& row) { return row.flow; });
  if (reverse) std::reverse(flows.begin(), flows.end());
}

std::string address_of(const dissect::IpAddress& address) {
  std::string text;
  append_address(text, address);
  return text;
}

}  // namespace roce::analyze
