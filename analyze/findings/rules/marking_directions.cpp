// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/marked_traffic.hpp"

namespace roce::analyze {
namespace {

/// How one direction marks the packets that it mostly consists of.
struct Direction {
  const Flow* flow = nullptr;
  Label label;  ///< of most of these packets
  TrafficClass of = TrafficClass::other;
  std::uint64_t packets = 0;
  std::vector<MarkRow> rows;
};

/// Of its packets with payload, or else of its acknowledgements.
Direction direction_of(const Flow& flow, bool payload) {
  Direction direction;
  direction.flow = &flow;
  std::map<Label, std::uint64_t> labels;
  for (const MarkRow& row : flow.marks()) {
    const bool wanted = payload ? carries(row.traffic_class) : row.traffic_class == TrafficClass::ack;
    if (!wanted) continue;
    direction.rows.push_back(row);
    const std::uint64_t packets = labels[label_of(row.marks)] += row.packets;
    if (packets <= direction.packets) continue;
    direction.packets = packets;
    direction.label = label_of(row.marks);
    direction.of = row.traffic_class;
  }
  return direction;
}

std::set<Label> labels_of(const Direction& direction) {
  std::set<Label> labels;
  for (const MarkRow& row : direction.rows) labels.insert(label_of(row.marks));
  return labels;
}

void find_differences(const Snapshot& snapshot, const Connection& connection, MarkedPairs& pairs) {
  const Flow* const flows[] = {flow_of(snapshot, connection, 0), flow_of(snapshot, connection, 1)};
  if (flows[0] == nullptr || flows[1] == nullptr || !connection.paired()) return;
  Direction a = direction_of(*flows[0], true), b = direction_of(*flows[1], true);
  // Where only one side sends payload, the acknowledgements of the other are compared.
  if (a.packets == 0) a = direction_of(*flows[0], false);
  if (b.packets == 0) b = direction_of(*flows[1], false);
  if (a.packets == 0 || b.packets == 0 || a.label == b.label) return;
  // Both used the same markings, only in different proportions: they changed at the same time.
  if (labels_of(a) == labels_of(b)) return;
  const bool first = unmarked(a.label) || (a.of == TrafficClass::ack && !unmarked(b.label));
  const Direction& odd = first ? a : b;
  const Direction& other = first ? b : a;
  Marked& marked = marked_of(pairs, *odd.flow);
  const bool tags = odd.label.pcp.has_value() || other.label.pcp.has_value();
  marked.only_tags = marked.only_tags && odd.label.dscp == other.label.dscp;
  const auto text = [tags](const Direction& direction) {
    Marks marks;
    marks.dscp = direction.label.dscp;
    marks.pcp = direction.label.pcp;
    return fmt::format("{} from {}: {}", traffic_class_name(direction.of),
                       address_text(direction.flow->key.src), label_text(marks, tags));
  };
  if (marked.note.empty() || (unmarked(odd.label) && marked.note.front() != '!')) {
    // A leading '!' means that one side is not marked at all.
    marked.note = fmt::format("{}{}, {}", unmarked(odd.label) ? "!" : "", text(other), text(odd));
  }
  for (const Direction* each : {&odd, &other}) {
    for (const MarkRow& row : each->rows) {
      if (label_of(row.marks) == each->label)
        marked.meant = marked.meant && meant_so(snapshot, *each->flow, row);
    }
  }
  for (const MarkRow& row : odd.rows) {
    marked.of += row.packets;
    if (label_of(row.marks) == odd.label) marked.add(*odd.flow, row);
  }
}

bool may_differ(const Snapshot& snapshot) {
  std::set<Label> labels;
  return std::any_of(snapshot.markings.rows.begin(), snapshot.markings.rows.end(), [&](const Marking& row) {
    labels.insert({row.dscp, row.pcp});
    return labels.size() > 1;
  });
}

}  // namespace

void find_marking_directions(const Snapshot& snapshot, FindingSink& sink) {
  if (!may_differ(snapshot)) return;
  MarkedPairs pairs;
  for (const Connection& connection : snapshot.connections) find_differences(snapshot, connection, pairs);
  report_marked(sink, snapshot, pairs, [](const Marked& marked) {
    const bool unmarked = marked.note.front() == '!';
    // For all connections: the one that is described may differ in its tag only, and others in their DSCP.
    const std::string how =
        marked.only_tags
            ? std::string(
                  "The DSCP is the same, the VLAN tag is not. Give both sides a GID of the VLAN interface "
                  "(show_gids; ib_write_bw -x N, NCCL_IB_GID_INDEX) and the same priority map (ip link set "
                  "dev DEV.VLAN type vlan egress-qos-map FROM:TO). Downstream of an access port the switch "
                  "has removed the tag: capture upstream of it.")
            : std::string(
                  "Configure both hosts alike: cma_roce_tos -d DEV -t TOS for RDMA-CM, otherwise the "
                  "traffic_class file or the program's own setting (perftest --tclass, NCCL_IB_TC, "
                  "UCX_IB_TRAFFIC_CLASS). TOS is DSCP x 4.");
    return Words{
        marked.meant ? Severity::info
        : unmarked   ? Severity::warning
                     : Severity::notice,
        fmt::format("The two directions of {} between {} and {} are marked differently ({}). {}",
                    plural(marked.flows.size(), "connection", "connections"), address_text(marked.src),
                    address_text(marked.dst), marked.note.substr(unmarked ? 1 : 0),
                    marked.meant ? "The policy intends this."
                    : unmarked   ? "One of them is not marked at all, so it shares the best-effort queue and "
                                   "is dropped there under load."
                                 : "That is correct only if the fabric has a separate class for it."),
        fmt::format("{} Check this side first: {}.", how, address_text(marked.src)),
    };
  });
}

}  // namespace roce::analyze
