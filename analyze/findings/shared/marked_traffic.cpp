// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/marked_traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "analyze/base/units.hpp"
#include "analyze/flow/mark_times.hpp"
#include "analyze/policy/subject.hpp"

namespace roce::analyze {
namespace {

/// Filters stay readable up to so many flows.
constexpr std::size_t listed_directions = 12;

std::string tag_test(const Marks& marks) {
  return marks.pcp ? fmt::format("roce.pcp == {}", *marks.pcp) : std::string("!roce.vlan");
}

std::string marks_test(const Marked& marked) {
  std::string test;
  if (marked.flows.size() == 1) {
    test = fmt::format("roce.flow == {}", marked.flows.front());
  } else if (marked.flows.size() <= listed_directions) {
    test = fmt::format("roce.flow in {{{}}}", fmt::join(marked.flows, ", "));
  } else {
    test =
        fmt::format("roce.src == {} && roce.dst == {}", address_text(marked.src), address_text(marked.dst));
  }
  if (marked.tests.size() == 1) return test + " && " + marked.tests.front();
  return test + fmt::format(" && (({}))", fmt::join(marked.tests, ") || ("));
}

Finding marked_finding(const Snapshot& snapshot, const Marked& marked, Words words) {
  Finding finding;
  finding.severity = words.severity;
  finding.title = words.title;
  finding.subject = fmt::format("{} > {}", address_text(marked.src), address_text(marked.dst));
  finding.from = marked.src;
  finding.to = marked.dst;
  finding.count = marked.proof.count;
  finding.packets = marked.proof.frames;
  finding.first_time_ns = marked.proof.first_time_ns;
  finding.last_time_ns = marked.proof.last_time_ns;
  finding.connections = marked.connections;
  finding.explanation = std::move(words.explanation);
  const bool exact = marked.flows.size() <= listed_directions;
  finding.advice = words.advice + " " +
                   show_command(snapshot, exact ? "The packets" : "All such packets between them",
                                marked.proof.count, marked.proof.count,
                                without_damaged(snapshot, without_mirrored(snapshot, marks_test(marked))));
  return finding;
}

}  // namespace

void Marked::add(const Flow& flow, const MarkRow& row) {
  add(flow, row, test_of(row));
}

void Marked::add(const Flow& flow, const MarkRow& row, std::string test) {
  if (flows.empty() || flows.back() != flow.id) flows.push_back(flow.id);
  if (std::find(tests.begin(), tests.end(), test) == tests.end()) tests.push_back(std::move(test));
  constexpr std::size_t named = 8;
  if (flow.connection && connections.size() < named &&
      (connections.empty() || connections.back() != *flow.connection)) {
    connections.push_back(*flow.connection);
  }
  proof.count += row.packets;
  proof.add_frame(row.first_packet);
  proof.add_time(row.first_time_ns);
  proof.add_time(latest_time(flow, row));
}

Marked& marked_of(MarkedPairs& pairs, const Flow& flow) {
  Marked& marked = pairs[{flow.key.src, flow.key.dst}];
  marked.src = flow.key.src;
  marked.dst = flow.key.dst;
  return marked;
}

std::string test_of(const MarkRow& row) {
  return fmt::format("roce.class == {} && roce.dscp == {} && {}", traffic_class_name(row.traffic_class),
                     row.marks.dscp, tag_test(row.marks));
}

std::string ecn_test_of(const MarkRow& row) {
  return fmt::format("roce.class == {} && roce.ecn == {}", traffic_class_name(row.traffic_class),
                     row.marks.ecn);
}

std::string label_text(const Marks& marks, bool tags) {
  if (marks.pcp) return fmt::format("DSCP {}, PCP {}", marks.dscp, *marks.pcp);
  return fmt::format("DSCP {}{}", marks.dscp, tags ? ", untagged" : "");
}

std::string without_mirrored(const Snapshot& snapshot, std::string test) {
  const bool mirrored = std::any_of(snapshot.flows.begin(), snapshot.flows.end(),
                                    [](const Flow& flow) { return flow.sequence().duplicate_captures != 0; });
  return mirrored ? test + " && !roce.analysis.duplicate_capture" : test;
}

std::string without_damaged(const Snapshot& snapshot, std::string test) {
  constexpr auto not_roce = static_cast<std::size_t>(OtherTraffic::udp_port_4791_not_roce);
  bool any = !snapshot.strays.empty() || snapshot.totals.others[not_roce] != 0;
  for (const Flow& flow : snapshot.flows) {
    if (flow.icrc_mismatches > flow.sequence().damaged) return test;
    any = any || flow.icrc_mismatches != 0;
  }
  return any ? test + " && !(roce.icrc.status == mismatch)" : test;
}

bool meant_so(const Snapshot& snapshot, const Flow& flow, const MarkRow& row) {
  if (!snapshot.policy) return false;
  constexpr std::uint8_t codes = 64;
  const auto wrong = [](const Judgement& judgement) {
    return judgement.broken(MarkCheck::dscp) || judgement.broken(MarkCheck::pcp) ||
           judgement.broken(MarkCheck::vlan) || judgement.broken(MarkCheck::priority) ||
           judgement.broken(MarkCheck::lossless) || judgement.broken(MarkCheck::pcp_from_tos) ||
           judgement.broken(MarkCheck::pcp_from_dscp);
  };
  MarkingSubject subject = subject_of(flow.key, row);
  if (wrong(snapshot.policy->test(subject))) return false;
  // A policy that allows any DSCP and any tag does not intend these in particular.
  for (std::uint8_t dscp = 0; dscp < codes; ++dscp) {
    subject.marks.dscp = dscp;
    if (wrong(snapshot.policy->test(subject))) return true;
  }
  subject.marks = row.marks;
  for (std::uint8_t pcp = 0; subject.marks.pcp && pcp < PrioritySet::limit; ++pcp) {
    subject.marks.pcp = pcp;
    if (wrong(snapshot.policy->test(subject))) return true;
  }
  return false;
}

void report_marked(FindingSink& sink, const Snapshot& snapshot, const MarkedPairs& pairs,
                   const std::function<Words(const Marked&)>& describe) {
  if (pairs.empty()) return;
  if (pairs.size() <= told_apart) {
    for (const auto& [ends, marked] : pairs) sink.add(marked_finding(snapshot, marked, describe(marked)));
    return;
  }
  const Marked* worst = &pairs.begin()->second;
  std::uint64_t packets = 0;
  for (const auto& [ends, marked] : pairs) {
    packets += marked.proof.count;
    if (marked.proof.count > worst->proof.count) worst = &marked;
  }
  Finding finding = marked_finding(snapshot, *worst, describe(*worst));
  finding.explanation = fmt::format("{} in {} directions from host to host, most of them from {} to {}: {}",
                                    packets_text(packets), pairs.size(), address_text(worst->src),
                                    address_text(worst->dst), finding.explanation);
  const Words words = describe(*worst);
  finding.subject = fmt::format("{} directions from host to host", pairs.size());
  finding.count = packets;
  finding.advice = words.advice + " " +
                   show_command(snapshot, "Those", worst->proof.count, packets,
                                without_damaged(snapshot, without_mirrored(snapshot, marks_test(*worst))));
  sink.add(std::move(finding));
}

}  // namespace roce::analyze
