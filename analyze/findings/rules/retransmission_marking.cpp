// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>

#include "analyze/findings/shared/marked_traffic.hpp"

namespace roce::analyze {

namespace {

/// Whether most packets that are not marked as the first of their class are no repeats: then the marks of the
/// flow changed while it ran, which marking_changes tells, and repeats have the new ones as the rest has.
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
        fmt::format("{}{} that {} sent again {} another DSCP, VLAN or priority than its flow began with: the "
                    "repeat takes another queue than the loss that it repairs.{}",
                    scope_text(group), share_text(group.count(), group.of), from_text(group),
                    verb(group.count(), "has", "have"), worst_text(group)),
        fmt::format("Capture at {} itself: if it sends them so, see the NIC's firmware and its traffic class "
                    "settings (a traffic_class file changed while it ran?); if not, a policer on the way "
                    "re-marks what exceeds its rate. {}",
                    from_text(group), show_command(snapshot, group, "All repeats", shown_by_repeats())),
    };
  });
}

}  // namespace roce::analyze
