// SPDX-License-Identifier: Apache-2.0
#include "cli/report_marks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analyze/flow_columns.hpp"
#include "analyze/marking_columns.hpp"
#include "analyze/point_text.hpp"
#include "analyze/units.hpp"
#include "cli/not_judged.hpp"
#include "cli/report_json.hpp"

namespace roce::cli {
namespace {

using analyze::CongestionSide;
using analyze::duration_text;
using analyze::Histogram;
using analyze::JsonWriter;
using analyze::Marking;
using analyze::Snapshot;

/// Marks of one class, whatever the direction.
struct ClassMarks {
  std::uint64_t packets = 0;
  std::vector<const Marking*> rows;
};
using MarksKey = std::tuple<std::uint8_t, std::optional<std::uint8_t>, std::uint8_t>;

/// ", ok" or ", violation (expected DSCP 26)"; empty where no policy judges them.
std::string verdict_of(const ClassMarks& marks) {
  const auto violation = std::find_if(marks.rows.begin(), marks.rows.end(),
                                      [](const Marking* row) { return row->verdict == "violation"; });
  if (violation != marks.rows.end()) return fmt::format(", violation (expected {})", (*violation)->expected);
  const bool judged = std::any_of(marks.rows.begin(), marks.rows.end(),
                                  [](const Marking* row) { return !row->verdict.empty(); });
  return judged ? ", ok" : "";
}

std::string text_of(const ClassMarks& marks, bool alone, bool all_directions) {
  std::string text = analyze::marks_text(*marks.rows.front());
  if (alone) return text + verdict_of(marks);
  text += fmt::format(": {}", marks.packets);
  if (marks.rows.size() == 1 && !all_directions && marks.rows.front()->src) {
    text += fmt::format(" ({})", analyze::direction_text(*marks.rows.front()));
  }
  return text + verdict_of(marks);
}

std::int64_t as_duration(std::uint64_t ns) noexcept {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(ns, INT64_MAX));
}

/// "10.0.0.2 slows 10.0.0.1 down: 200 CNPs for 2 queue pairs, on average 25.0 us apart".
std::string pair_text(const analyze::CnpPair& pair) {
  std::string text =
      fmt::format("{} slows {} down: {} for {}", analyze::address_of(pair.from), analyze::address_of(pair.to),
                  plural(pair.cnps, "CNP", "CNPs"), plural(pair.queue_pairs, "queue pair", "queue pairs"));
  if (const auto spacing = pair.mean_spacing_ns())
    text += fmt::format(", on average {} apart", duration_text(*spacing));
  return text;
}

/// All senders' together.
Histogram spacing_of(const Snapshot& snapshot, Histogram analyze::CnpSender::*scope) {
  Histogram all;
  for (const analyze::CnpSender& sender : snapshot.congestion.senders) all.merge(sender.*scope);
  return all;
}

/// What limits the CNPs of every sender of which it is known, if they agree.
std::string_view limit_of_all(const Snapshot& snapshot) {
  std::set<std::string_view> limits;
  for (const analyze::CnpSender& sender : snapshot.congestion.senders) {
    const std::string_view limit = limit_name(sender.limited_by());
    if (!limit.empty()) limits.insert(limit);
  }
  return limits.size() == 1 ? *limits.begin() : std::string_view();
}

void write_spread(JsonWriter& json, std::string_view key, const analyze::Spread& spread) {
  json.key(key).begin_object().field("count", spread.count).field("min", spread.min_ns);
  json.field("mean", spread.mean_ns()).field("max", spread.max_ns).end_object();
}

void write_rate(JsonWriter& json, std::string_view key, const analyze::Sent& sent) {
  sent.ns != 0 ? json.field(key, sent.bps()) : json.null_field(key);
}

void write_text(JsonWriter& json, std::string_view key, std::string_view text) {
  text.empty() ? json.null_field(key) : json.field(key, text);
}

void write_rows(JsonWriter& json, std::string_view key, const std::vector<analyze::MarkRow>& rows) {
  json.key(key).begin_array();
  for (const analyze::MarkRow& row : rows) {
    json.begin_object().field("class", traffic_class_name(row.traffic_class)).field("dscp", row.marks.dscp);
    json.field("ecn", analyze::ecn_key(row.marks.ecn));
    write_optional(json, "pcp", row.marks.pcp);
    write_optional(json, "vlan", row.marks.vlan);
    json.field("ttl", row.marks.ttl).field("p_key", row.p_key).field("packets", row.packets);
    json.field("first_packet", row.first_packet);
    write_time(json, "first_time", row.first_time_ns);
    json.end_object();
  }
  json.end_array();
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
  if (all.empty() || (all.size() < 2 && !s.policy)) return;  // said already
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
    page.line(
        fmt::format("{} of flows with too many different marks to keep", packets_text(s.markings.others)));
  }
}

void write_congestion(Page& page, const Snapshot& s) {
  const analyze::Congestion& c = s.congestion;
  if (c.ce_packets == 0 && c.cnp_packets == 0 && analyze::ce_copies(s) == 0) return;
  page.section("Congestion");
  std::string text = fmt::format("{} marked CE", packets_text(c.ce_packets));
  if (c.ect_packets != 0) {
    text += fmt::format(" ({} of those that may be)", analyze::percent_text(c.ce_packets, c.ect_packets));
  }
  text += fmt::format(", {}", plural(c.cnp_packets, "CNP", "CNPs"));
  page.line(text);
  if (const std::uint64_t copies = analyze::ce_copies(s); copies != 0) {
    page.line(fmt::format("{} that other capture points show {} marked CE there", packets_text(copies),
                          copies == 1 ? "is" : "are"));
  }
  constexpr std::size_t most = 4;
  for (std::size_t i = 0; i < std::min(most, c.pairs.size()); ++i) page.line(pair_text(c.pairs[i]));
  if (const std::uint64_t pairs = c.pairs.size() + c.pairs_dropped; pairs > most)
    page.line(fmt::format("and {} more pairs of hosts with CNPs (--json)", pairs - most));
  if (c.ce_to_cnp_ns.count() != 0) {
    page.line(fmt::format("CE to CNP: {} at least, {} for half, {} at most",
                          duration_text(as_duration(c.ce_to_cnp_ns.min())),
                          duration_text(as_duration(c.ce_to_cnp_ns.percentile(0.5))),
                          duration_text(as_duration(c.ce_to_cnp_ns.max()))));
  }
  const Histogram spacing = spacing_of(s, &analyze::CnpSender::flow_spacing_ns);
  if (spacing.count() == 0) return;
  const std::string_view limit = limit_of_all(s);
  page.line(fmt::format("CNP to CNP of a flow: {} at least, {} for half{}",
                        duration_text(as_duration(spacing.min())),
                        duration_text(as_duration(spacing.percentile(0.5))),
                        limit.empty() || limit == "none"
                            ? std::string()
                            : fmt::format("; the NICs limit them by {}",
                                          limit == "address_pair" ? "address pair" : std::string(limit))));
}

void write_markings(JsonWriter& json, const Snapshot& s, const Listing& listing) {
  json.key("markings").begin_array();
  for (const Marking* each : listed(s.markings.rows, analyze::marking_columns(), listing)) {
    const Marking& row = *each;
    json.begin_object().field("class", traffic_class_name(row.traffic_class));
    json.field("direction", analyze::direction_text(row));
    row.src ? json.field("src", analyze::address_of(*row.src)) : json.null_field("src");
    row.dst ? json.field("dst", analyze::address_of(*row.dst)) : json.null_field("dst");
    json.field("dscp", row.dscp);
    write_optional(json, "pcp", row.pcp);
    json.field("ecn", analyze::ecn_key(row.ecn)).field("packets", row.packets).field("flows", row.flows);
    json.field("first_packet", row.first_packet);
    write_text(json, "expected", row.expected);
    write_text(json, "verdict", row.verdict);
    json.end_object();
  }
  json.end_array().field("markings_others", s.markings.others);
  json.key("not_judged").begin_array();
  for (const std::string& each : not_judged(s)) json.value(each);
  json.end_array();
}

void write_congestion(JsonWriter& json, const Snapshot& s) {
  const analyze::Congestion& c = s.congestion;
  json.key("congestion").begin_object().field("ce_packets", c.ce_packets).field("cnp_packets", c.cnp_packets);
  json.field("ce_elsewhere", analyze::ce_copies(s));
  json.field("ect_packets", c.ect_packets).field("cnps_without_ce", c.cnps_without_ce);
  write_quantiles(json, "ce_to_cnp_ns", c.ce_to_cnp_ns);
  json.key("cnp_spacing_ns").begin_object();
  write_quantiles(json, "flow", spacing_of(s, &analyze::CnpSender::flow_spacing_ns));
  write_quantiles(json, "address_pair", spacing_of(s, &analyze::CnpSender::pair_spacing_ns));
  write_quantiles(json, "port", spacing_of(s, &analyze::CnpSender::port_spacing_ns));
  json.end_object();
  json.key("cnp_senders").begin_array();
  for (const analyze::CnpSender& sender : c.senders) {
    json.begin_object().field("address", analyze::address_of(sender.address)).field("cnps", sender.cnps);
    json.field("address_pairs", sender.pairs).field("flows", sender.flows);
    write_text(json, "limited_by", limit_name(sender.limited_by()));
    json.end_object();
  }
  json.end_array().key("cnp_pairs").begin_array();
  for (const analyze::CnpPair& pair : c.pairs) {
    json.begin_object().field("from", analyze::address_of(pair.from));
    json.field("to", analyze::address_of(pair.to)).field("cnps", pair.cnps);
    json.field("queue_pairs", pair.queue_pairs).field("first_packet", pair.first_packet);
    write_time(json, "first_time", pair.first_time_ns);
    write_time(json, "last_time", pair.last_time_ns);
    const auto spacing = pair.mean_spacing_ns();
    spacing ? json.field("mean_spacing_ns", *spacing) : json.null_field("mean_spacing_ns");
    json.end_object();
  }
  json.end_array().field("cnp_pairs_dropped", c.pairs_dropped);
  write_pauses(json, s);
  json.end_object();
}

void write_congestion(JsonWriter& json, const analyze::Connection& connection) {
  json.key("congestion").begin_object();
  for (unsigned side = 0; side < 2; ++side) {
    const std::string_view key = side == 0 ? "a" : "b";
    if (!connection.congestion[side].there()) {
      json.null_field(key);
      continue;
    }
    const CongestionSide& c = *connection.congestion[side];
    json.key(key).begin_object().field("ce_packets", c.ce).field("cnps", c.cnps);
    json.field("cnps_without_ce", c.cnps_without_ce).field("ce_after_last_cnp", c.ce_after_cnp);
    write_spread(json, "ce_to_cnp_ns", c.ce_to_cnp);
    write_spread(json, "cnp_spacing_ns", c.cnp_spacing);
    write_rate(json, "rate_before_bps", c.before);
    write_rate(json, "rate_between_bps", c.between);
    write_rate(json, "rate_after_bps", c.after);
    json.field("fell", c.fell).field("held", c.held).end_object();
  }
  json.end_object();
}

void write_marks(JsonWriter& json, const analyze::Flow& flow) {
  write_rows(json, "marks", flow.marks());
}

void write_points(JsonWriter& json, const Snapshot& snapshot, const analyze::Flow& flow) {
  const std::vector<analyze::FlowAtPoint>& all = snapshot.flow_points;
  auto at =
      std::lower_bound(all.begin(), all.end(), flow.id,
                       [](const analyze::FlowAtPoint& each, std::uint64_t id) { return each.flow < id; });
  json.key("points").begin_array();
  for (; at != all.end() && at->flow == flow.id; ++at) {
    json.begin_object().field("point", at->point);
    json.field("name", analyze::point_name(snapshot.files, snapshot.interfaces, at->point));
    json.field("packets", at->packets);
    write_rows(json, "marked_otherwise", at->otherwise);
    json.end_object();
  }
  json.end_array();
}

}  // namespace roce::cli
