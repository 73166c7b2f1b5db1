// SPDX-License-Identifier: Apache-2.0
// The JSON of markings and congestion.
#include <algorithm>
#include <string>
#include <vector>

#include "analyze/base/address_text.hpp"
#include "analyze/report/json/json_parts.hpp"
#include "analyze/results/capture_point_text.hpp"
#include "analyze/results/marking_columns.hpp"
#include "analyze/results/not_judged.hpp"
#include "dissect/dissect.hpp"

namespace roce::analyze {
namespace {

void write_spread(JsonWriter& json, std::string_view key, const Spread& spread) {
  json.key(key).begin_object().field("count", spread.count).field("min", spread.min_ns);
  json.field("mean", spread.mean_ns()).field("max", spread.max_ns).end_object();
}

void write_rate(JsonWriter& json, std::string_view key, const Sent& sent) {
  sent.ns != 0 ? json.field(key, sent.bps()) : json.null_field(key);
}

void write_text(JsonWriter& json, std::string_view key, std::string_view text) {
  text.empty() ? json.null_field(key) : json.field(key, text);
}

void write_rows(JsonWriter& json, std::string_view key, const std::vector<MarkRow>& rows) {
  json.key(key).begin_array();
  for (const MarkRow& row : rows) {
    json.begin_object().field("class", traffic_class_name(row.traffic_class)).field("dscp", row.marks.dscp);
    json.field("ecn", ecn_key(row.marks.ecn));
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

void write_markings(JsonWriter& json, const Snapshot& s, const Listing& listing) {
  json.key("markings").begin_array();
  for (const Marking* each : listed(s.markings.rows, marking_columns(), listing)) {
    const Marking& row = *each;
    json.begin_object().field("class", traffic_class_name(row.traffic_class));
    json.field("direction", direction_text(row));
    row.src ? json.field("src", address_text(*row.src)) : json.null_field("src");
    row.dst ? json.field("dst", address_text(*row.dst)) : json.null_field("dst");
    json.field("dscp", row.dscp);
    write_optional(json, "pcp", row.pcp);
    json.field("ecn", ecn_key(row.ecn)).field("packets", row.packets).field("flows", row.flows);
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
  const Congestion& c = s.congestion;
  json.key("congestion").begin_object().field("ce_packets", c.ce_packets).field("cnp_packets", c.cnp_packets);
  json.field("ce_elsewhere", ce_copies(s));
  json.field("ect_packets", c.ect_packets).field("cnps_without_ce", c.cnps_without_ce);
  write_quantiles(json, "ce_to_cnp_ns", c.ce_to_cnp_ns);
  json.key("cnp_spacing_ns").begin_object();
  write_quantiles(json, "flow", c.spacing(&CnpSender::flow_spacing_ns));
  write_quantiles(json, "address_pair", c.spacing(&CnpSender::pair_spacing_ns));
  write_quantiles(json, "port", c.spacing(&CnpSender::port_spacing_ns));
  json.end_object();
  json.key("cnp_senders").begin_array();
  for (const CnpSender& sender : c.senders) {
    json.begin_object().field("address", address_text(sender.address)).field("cnps", sender.cnps);
    json.field("address_pairs", sender.pairs).field("flows", sender.flows);
    write_text(json, "limited_by", limit_name(sender.limited_by()));
    json.end_object();
  }
  json.end_array().key("cnp_pairs").begin_array();
  for (const CnpPair& pair : c.pairs) {
    json.begin_object().field("from", address_text(pair.from));
    json.field("to", address_text(pair.to)).field("cnps", pair.cnps);
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

void write_congestion(JsonWriter& json, const Connection& connection) {
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

void write_marks(JsonWriter& json, const Flow& flow) {
  write_rows(json, "marks", flow.marks());
}

void write_outer(JsonWriter& json, const Flow& flow) {
  json.key("outer").begin_array();
  for (const OuterRow& row : flow.outer()) {
    json.begin_object().field("tunnel", dissect::tunnel_name(row.outer.tunnel));
    json.field("src", address_text(row.outer.from)).field("dst", address_text(row.outer.to));
    json.field("dscp", row.outer.dscp()).field("ecn", ecn_key(row.outer.ecn()));
    write_optional(json, "pcp", row.outer.pcp);
    json.field("inner_dscp", row.inner_dscp()).field("inner_ecn", ecn_key(row.inner_ecn()));
    json.field("point", row.point).field("packets", row.packets).field("first_packet", row.first_packet);
    write_time(json, "first_time", row.first_time_ns);
    json.end_object();
  }
  json.end_array();
}

void write_points(JsonWriter& json, const Snapshot& snapshot, const Flow& flow) {
  const std::vector<FlowAtPoint>& all = snapshot.flow_points;
  auto at = std::lower_bound(all.begin(), all.end(), flow.id,
                             [](const FlowAtPoint& each, std::uint64_t id) { return each.flow < id; });
  json.key("points").begin_array();
  for (; at != all.end() && at->flow == flow.id; ++at) {
    json.begin_object().field("point", at->point);
    json.field("name", point_name(snapshot.files, snapshot.interfaces, at->point));
    json.field("packets", at->packets);
    write_rows(json, "marked_otherwise", at->otherwise);
    json.end_object();
  }
  json.end_array();
}

}  // namespace roce::analyze
