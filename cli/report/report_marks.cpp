// SPDX-License-Identifier: Apache-2.0
// Markings by class, and the section Congestion of the text report.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"
#include "analyze/results/capture_point_text.hpp"
#include "analyze/results/marking_columns.hpp"
#include "cli/report/report_parts.hpp"
#include "dissect/opcode.hpp"

namespace roce::cli {
namespace {

using analyze::duration_text;
using analyze::Histogram;
using analyze::Marking;
using analyze::Snapshot;

/// The rows of one class with the same markings, in all directions.
struct ClassMarks {
  std::uint64_t packets = 0;
  std::vector<const Marking*> rows;
};
using MarksKey = std::tuple<std::uint8_t, std::optional<std::uint8_t>, std::uint8_t>;

/// ", ok" or ", violation (expected DSCP 26)"; empty if no policy applies.
std::string marking_verdict(const ClassMarks& marks) {
  const auto violation = std::find_if(marks.rows.begin(), marks.rows.end(),
                                      [](const Marking* row) { return row->verdict == "violation"; });
  if (violation != marks.rows.end()) return fmt::format(", violation (expected {})", (*violation)->expected);
  const bool judged = std::any_of(marks.rows.begin(), marks.rows.end(),
                                  [](const Marking* row) { return !row->verdict.empty(); });
  return judged ? ", ok" : "";
}

std::string text_of(const ClassMarks& marks, bool alone, bool all_directions) {
  std::string text = analyze::marks_text(*marks.rows.front());
  if (alone) return text + marking_verdict(marks);
  text += fmt::format(": {}", marks.packets);
  if (marks.rows.size() == 1 && !all_directions && marks.rows.front()->src) {
    text += fmt::format(" ({})", analyze::direction_text(*marks.rows.front()));
  }
  return text + marking_verdict(marks);
}

std::int64_t as_duration(std::uint64_t ns) noexcept {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(ns, INT64_MAX));
}

/// "10.0.0.2 slows 10.0.0.1 down: 200 CNPs for 2 queue pairs, average interval 25.0 us".
std::string pair_text(const analyze::CnpPair& pair) {
  std::string text = fmt::format("{} slows {} down: {} for {}", analyze::address_text(pair.from),
                                 analyze::address_text(pair.to), plural(pair.cnps, "CNP", "CNPs"),
                                 plural(pair.queue_pairs, "queue pair", "queue pairs"));
  if (const auto spacing = pair.mean_spacing_ns())
    text += fmt::format(", average interval {}", duration_text(*spacing));
  return text;
}

/// What tells CNPs of a switch from those of a peer, where the receiver of them has peers.
std::string not_of_a_peer(const Snapshot& s, const analyze::CnpPair& pair) {
  bool others = false;
  for (const analyze::Flow& flow : s.flows) {
    if (flow.opcodes.of(dissect::opcode_cnp) >= flow.packets) continue;
    if (flow.key.src == pair.from || flow.key.dst == pair.from) return {};
    others = others || flow.key.src == pair.to;
  }
  return others ? "; it is no peer: it sends and receives no other RoCE, as a switch that sends CNPs" : "";
}

/// "Fast CNPs of 2001:db8::7 name the receiver: 20 for packets to 2001:db8::2 QP 0x000022".
std::string fast_cnp_text(const analyze::FastCnpFlow& flow, const analyze::FastCnps& cnps) {
  return fmt::format("Fast CNPs of {} name the receiver (one draft): {} for packets from {} to {} QP {:#08x}",
                     analyze::address_text(flow.by), cnps.packets, analyze::address_text(flow.src),
                     analyze::address_text(flow.dst), flow.dst_qp);
}

/// The CNP rate limit of all senders for which it is known, if it is the same one.
std::string_view limit_of_all(const Snapshot& snapshot) {
  std::set<std::string_view> limits;
  for (const analyze::CnpSender& sender : snapshot.congestion.senders) {
    const std::string_view limit = limit_name(sender.limited_by());
    if (!limit.empty()) limits.insert(limit);
  }
  return limits.size() == 1 ? *limits.begin() : std::string_view();
}

}  // namespace

void write_classes(Page& page, const Snapshot& s) {
  std::map<analyze::TrafficClass, std::map<MarksKey, ClassMarks>> classes;
  std::set<MarksKey> all;
  std::map<analyze::TrafficClass,
           std::set<std::pair<std::optional<dissect::IpAddress>, std::optional<dissect::IpAddress>>>>
      directions;
  for (const Marking& row : s.markings.rows) {
    const MarksKey key{row.dscp, row.pcp, row.ecn};
    all.insert(key);
    ClassMarks& marks = classes[row.traffic_class][key];
    marks.packets += row.packets;
    marks.rows.push_back(&row);
    directions[row.traffic_class].emplace(row.src, row.dst);
  }
  if (all.empty() || (all.size() < 2 && !s.policy)) return;  // the section before has it
  page.section("by class");
  constexpr std::size_t shown = 4;
  for (const auto& [traffic_class, by_marks] : classes) {
    std::vector<const ClassMarks*> marks;
    for (const auto& [key, each] : by_marks) marks.push_back(&each);
    std::stable_sort(marks.begin(), marks.end(),
                     [](const ClassMarks* a, const ClassMarks* b) { return a->packets > b->packets; });
    std::string text = fmt::format("{}: ", traffic_class_name(traffic_class));
    for (std::size_t i = 0; i < std::min(shown, marks.size()); ++i) {
      if (i != 0) text += "; ";
      text += text_of(*marks[i], marks.size() == 1, directions[traffic_class].size() == 1);
    }
    if (marks.size() > shown) {
      text += fmt::format("; and {} more (roceanalyze markings FILE)", marks.size() - shown);
    }
    page.line(text);
  }
  if (s.markings.others != 0) {
    page.line(fmt::format("{} of flows with too many different markings", packets_text(s.markings.others)));
  }
}

void write_congestion(Page& page, const Snapshot& s) {
  const analyze::Congestion& c = s.congestion;
  if (c.ce_packets == 0 && c.cnp_packets == 0 && analyze::ce_copies(s) == 0) return;
  page.section("Congestion");
  std::string text = fmt::format("{} marked CE", packets_text(c.ce_packets));
  if (c.ect_packets != 0) {
    text += fmt::format(" ({} of ECN-capable packets)", analyze::percent_text(c.ce_packets, c.ect_packets));
  }
  text += fmt::format(", {}", plural(c.cnp_packets, "CNP", "CNPs"));
  page.line(text);
  if (const std::uint64_t copies = analyze::ce_copies(s); copies != 0) {
    page.line(fmt::format("{} at other capture points {} marked CE", packets_text(copies),
                          copies == 1 ? "is" : "are"));
  }
  constexpr std::size_t most = 4;
  for (std::size_t i = 0; i < std::min(most, c.pairs.size()); ++i)
    page.line(pair_text(c.pairs[i]) + not_of_a_peer(s, c.pairs[i]));
  if (const std::uint64_t pairs = c.pairs.size() + c.pairs_dropped; pairs > most)
    page.line(fmt::format("and {} more pairs of hosts with CNPs (--json)", pairs - most));
  std::size_t named = 0;
  for (const auto& [flow, cnps] : s.totals.fast_cnps) {
    if (named++ < most) page.line(fast_cnp_text(flow, cnps));
  }
  if (named > most) page.line(fmt::format("and {} more flows with Fast CNPs (--json)", named - most));
  if (c.ce_to_cnp_ns.count() != 0) {
    page.line(fmt::format("CE to CNP: minimum {}, median {}, maximum {}",
                          duration_text(as_duration(c.ce_to_cnp_ns.min())),
                          duration_text(as_duration(c.ce_to_cnp_ns.percentile(0.5))),
                          duration_text(as_duration(c.ce_to_cnp_ns.max()))));
  }
  const Histogram spacing = c.spacing(&analyze::CnpSender::flow_spacing_ns);
  if (spacing.count() == 0) return;
  const std::string_view limit = limit_of_all(s);
  page.line(fmt::format("CNP interval of a flow: minimum {}, median {}{}",
                        duration_text(as_duration(spacing.min())),
                        duration_text(as_duration(spacing.percentile(0.5))),
                        limit.empty() || limit == "none"
                            ? std::string()
                            : fmt::format("; NICs limit CNPs per {}",
                                          limit == "address_pair" ? "address pair" : std::string(limit))));
}

}  // namespace roce::cli
