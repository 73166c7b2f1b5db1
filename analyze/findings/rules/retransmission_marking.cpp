// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>

#include "analyze/findings/shared/marked_traffic.hpp"

namespace roce::analyze {

namespace {

/// Whether most packets that are marked differently from the first of their class are no retransmissions:
/// then the markings of the flow changed while it ran, which marking_changes reports, and retransmissions
/// just have the new ones.
bool changed_for_all(const Snapshot& snapshot, const Connection& connection, unsigned side,
                     std::uint64_t repeats) {
  const Flow* flow = flow_of(snapshot, connection, side);
  if (flow == nullptr) return false;
  std::map<TrafficClass, Label> first;
  std::uint64_t otherwise = 0;
  for (const MarkRow& row : flow->marks()) {  // in order of first appearance
    const Label label = label_of(row.marks);
    if (first.try_emplace(row.traffic_class, label).first->second != label) otherwise += row.packets;
  }
  return otherwise > 2 * repeats;
}

}  // namespace

void find_retransmission_marking(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    const std::uint64_t repeats = connection.sent[side].count(Event::repeat_marked_otherwise);
    if (repeats == 0 || changed_for_all(snapshot, connection, side, repeats)) return;
    add_case(snapshot, cases, connection,
             {side, side, Event::repeat_marked_otherwise, repeats_of(connection.sent[side])});
  });
  report_cases(sink, std::move(cases), [&](const Group& group) {
    return Words{
        Severity::warning,
        fmt::format("{}{} that {} retransmitted {} another DSCP, VLAN or priority than the flow began with: "
                    "the retransmission uses another queue than the lost packet.{}",
                    scope_text(group), share_text(group.count(), group.of), from_text(group),
                    verb(group.count(), "has", "have"), worst_text(group)),
        fmt::format("Capture at {} itself: if it sends them like that, check the NIC's firmware and its "
                    "traffic class settings (was a traffic_class file changed at run time?); if not, a "
                    "policer on the path re-marks packets above its rate. {}",
                    from_text(group),
                    show_command(snapshot, group, "All retransmissions", shown_by_repeats())),
    };
  });
}

}  // namespace roce::analyze
