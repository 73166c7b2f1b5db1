// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/marked_traffic.hpp"

namespace roce::analyze {
namespace {

/// Flows to queue pair 1 carry the messages of many programs, unknown opcodes prove nothing.
constexpr bool classes_looked_at(TrafficClass of) noexcept {
  return of != TrafficClass::cm && of != TrafficClass::other;
}

/// What selects the queue and the VLAN.
struct Place {
  Label label;
  std::optional<std::uint16_t> vlan;
  [[nodiscard]] auto operator<=>(const Place&) const noexcept = default;
};
Place class_place(const Marks& marks) noexcept {
  return {label_of(marks), marks.vlan};
}

/// Several queue pairs of a host may send to one UD queue pair. Packets with one UDP source port come from
/// one of them.
bool of_one_sender(const Flow& flow) {
  if (flow.service != dissect::Service::ud) return true;
  return flow.udp_sports.others() == 0 && flow.udp_sports.sorted().size() == 1;
}

bool may_change(const Snapshot& snapshot) {
  // The matrix has no VLANs; but without tags there are none.
  if (std::any_of(snapshot.markings.rows.begin(), snapshot.markings.rows.end(),
                  [](const Marking& row) { return row.pcp.has_value(); }))
    return true;
  std::array<std::set<Label>, traffic_class_count> labels;
  return std::any_of(snapshot.markings.rows.begin(), snapshot.markings.rows.end(), [&](const Marking& row) {
    std::set<Label>& of_class = labels[static_cast<std::size_t>(row.traffic_class)];
    of_class.insert({row.dscp, row.pcp});
    return classes_looked_at(row.traffic_class) && of_class.size() > 1;
  });
}

/// "DSCP 26, PCP 3", with the VLAN where it is what differs.
std::string change_text(const Place& place, bool tags, bool vlans) {
  Marks marks;
  marks.dscp = place.label.dscp;
  marks.pcp = place.label.pcp;
  std::string text = label_text(marks, tags);
  if (vlans && place.vlan) text += fmt::format(", VLAN {}", *place.vlan);
  return text;
}

std::string change_test(const MarkRow& row, bool vlans) {
  std::string test = test_of(row);
  if (vlans && row.marks.vlan) test += fmt::format(" && roce.vlan == {}", *row.marks.vlan);
  return test;
}

void find_changes(const Snapshot& snapshot, const Flow& flow, MarkedPairs& pairs) {
  const std::vector<MarkRow> rows = flow.marks();
  if (rows.size() < 2 || !of_one_sender(flow)) return;
  for (std::size_t i = 0; i < traffic_class_count; ++i) {
    const auto of = static_cast<TrafficClass>(i);
    if (!classes_looked_at(of)) continue;
    std::map<Place, std::uint64_t> places;
    std::set<std::optional<std::uint16_t>> all_vlans;
    std::set<std::uint8_t> dscps;
    std::uint64_t all = 0;
    for (const MarkRow& row : rows) {
      if (row.traffic_class != of) continue;
      places[class_place(row.marks)] += row.packets;
      if (row.marks.vlan) all_vlans.insert(row.marks.vlan);
      dscps.insert(row.marks.dscp);
      all += row.packets;
    }
    if (places.size() < 2) continue;
    const auto most = std::max_element(places.begin(), places.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    Marked& marked = marked_of(pairs, flow);
    marked.of += all;
    marked.only_tags = marked.only_tags && dscps.size() == 1;
    marked.doubtful = marked.doubtful || flow.service == dissect::Service::ud;
    const bool tags = !all_vlans.empty();
    const bool vlans = all_vlans.size() > 1;
    const bool majority = 2 * most->second > all;
    marked.majority = marked.majority && majority;
    for (const MarkRow& row : rows) {
      if (row.traffic_class != of) continue;
      marked.meant = marked.meant && meant_so(snapshot, flow, row);
      const Place place = class_place(row.marks);
      if (place == most->first) continue;
      if (marked.note.empty()) {
        marked.note =
            fmt::format("packet {} ({}) has {}, {} {}", row.first_packet, traffic_class_name(of),
                        change_text(place, tags, vlans),
                        majority ? std::string("most have")
                                 : fmt::format("as {} do; {}", places[place], most->second) + " have",
                        change_text(most->first, tags, vlans));
      }
      marked.add(flow, row, change_test(row, vlans));
    }
  }
}

}  // namespace

void find_marking_changes(const Snapshot& snapshot, FindingSink& sink) {
  if (!may_change(snapshot)) return;
  MarkedPairs pairs;
  for (const Flow& flow : snapshot.flows) find_changes(snapshot, flow, pairs);
  report_marked(sink, snapshot, pairs, [](const Marked& marked) {
    const std::string_view changes =
        marked.only_tags
            ? "the host changes them (the program or the system uses GIDs of several interfaces: show_gids, "
              "ip -d link; the priority: egress-qos-map, tc or nft rules); if not, a switch on the path "
              "removes the tag, or changes its VLAN or priority."
            : "the host changes them (traffic class changed at run time: cma_roce_tos, the traffic_class "
              "file, tc or nft rules); if not, a switch or router on the path re-marks them (policers, class "
              "maps) or removes tags.";
    return Words{
        marked.meant      ? Severity::info
        : marked.doubtful ? Severity::notice
                          : Severity::warning,
        fmt::format(
            "{} of {} from {} to {} {} {}: {}. {}{}", share_text(marked.proof.count, marked.of),
            plural(marked.flows.size(), "flow", "flows"), address_text(marked.src), address_text(marked.dst),
            verb(marked.proof.count, "is", "are"),
            marked.majority
                ? "not marked like the others of the same flow and class"
                : "marked differently from others of the same flow and class, and no marking has a majority",
            marked.note,
            marked.meant ? "The policy allows all of these markings."
            : marked.majority
                ? "They use another queue, so they may be reordered, or dropped where the others are "
                  "lossless."
                : "They use several queues, so they may be reordered, or dropped where the others are "
                  "lossless.",
            marked.doubtful ? " They go to a UD queue pair: other queue pairs of the host may send to it "
                              "too, although all of these packets have one UDP source port."
                            : ""),
        fmt::format("Capture at {} itself, or at the first switch port: if the markings differ there, {}",
                    address_text(marked.src), changes),
    };
  });
}

}  // namespace roce::analyze
