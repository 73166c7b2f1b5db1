// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "analyze/findings/marked.hpp"

namespace roce::analyze {
namespace {

/// Flows to queue pair 1 carry the messages of many programs, unknown opcodes prove nothing.
constexpr bool looked_at(TrafficClass of) noexcept {
  return of != TrafficClass::cm && of != TrafficClass::other;
}

bool can_be(const Snapshot& snapshot) {
  std::array<std::set<Label>, traffic_class_count> labels;
  return std::any_of(snapshot.markings.rows.begin(), snapshot.markings.rows.end(), [&](const Marking& row) {
    std::set<Label>& of_class = labels[static_cast<std::size_t>(row.traffic_class)];
    of_class.insert({row.dscp, row.pcp});
    return looked_at(row.traffic_class) && of_class.size() > 1;
  });
}

std::string text_of(const Label& label, bool tags) {
  Marks marks;
  marks.dscp = label.dscp;
  marks.pcp = label.pcp;
  return label_text(marks, tags);
}

void look_at(const Snapshot& snapshot, const Flow& flow, MarkedPairs& pairs) {
  // Several senders of a host may share a UD queue pair as their destination.
  if (flow.service == dissect::Service::ud) return;
  const std::vector<MarkRow> rows = flow.marks();
  if (rows.size() < 2) return;
  for (std::size_t i = 0; i < traffic_class_count; ++i) {
    const auto of = static_cast<TrafficClass>(i);
    if (!looked_at(of)) continue;
    std::map<Label, std::uint64_t> labels;
    std::uint64_t all = 0;
    for (const MarkRow& row : rows) {
      if (row.traffic_class != of) continue;
      labels[label_of(row.marks)] += row.packets;
      all += row.packets;
    }
    if (labels.size() < 2) continue;
    const auto most = std::max_element(labels.begin(), labels.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    Marked& marked = marked_of(pairs, flow);
    marked.of += all;
    const bool tags = std::any_of(labels.begin(), labels.end(),
                                  [](const auto& label) { return label.first.pcp.has_value(); });
    for (const MarkRow& row : rows) {
      if (row.traffic_class != of) continue;
      marked.meant = marked.meant && meant_so(snapshot, flow, row);
      if (label_of(row.marks) == most->first) continue;
      if (marked.note.empty()) {
        marked.note =
            fmt::format("packet {} ({}) has {}, most have {}", row.first_packet, traffic_class_name(of),
                        label_text(row.marks, tags), text_of(most->first, tags));
      }
      marked.add(flow, row);
    }
  }
}

}  // namespace

void find_marking_changes(const Snapshot& snapshot, FindingSink& sink) {
  if (!can_be(snapshot)) return;
  MarkedPairs pairs;
  for (const Flow& flow : snapshot.flows) look_at(snapshot, flow, pairs);
  report_marked(sink, snapshot, pairs, [](const Marked& marked) {
    return Words{
        marked.meant ? Severity::info : Severity::warning,
        fmt::format("{} of {} from {} to {} {} not marked as the others of the same flow and class are: {}. "
                    "{}",
                    share_text(marked.proof.count, marked.of), plural(marked.flows.size(), "flow", "flows"),
                    address_text(marked.src), address_text(marked.dst), verb(marked.proof.count, "is", "are"),
                    marked.note,
                    marked.meant ? "The policy allows all of these marks."
                                 : "They take another queue than those, may overtake them or be dropped "
                                   "where the others are lossless."),
        fmt::format("Capture at {} itself, or at the first switch port: if the marks differ there, the host "
                    "changes them (traffic class set while running: cma_roce_tos, the traffic_class file, tc "
                    "or nft rules); if not, a switch or router on the way re-marks (its policers and class "
                    "maps) or takes tags off.",
                    address_text(marked.src)),
    };
  });
}

}  // namespace roce::analyze
