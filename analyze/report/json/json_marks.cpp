// SPDX-License-Identifier: Apache-2.0
// The JSON of markings and congestion.
#include <algorithm>
#include <array>
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

using P = const ReportPage&;

std::optional<double> rate_or_null(const Sent& sent) {
  return sent.ns != 0 ? std::optional<double>(sent.bps()) : std::nullopt;
}

const JsonObject<Spread>& spread_object() {
  static const auto object = [] {
    JsonObject<Spread> o("spread");
    o.key("count", "number of values", &Spread::count);
    o.key("min", "the smallest", &Spread::min_ns).in("ns");
    o.key("mean", "their mean", &Spread::mean_ns).in("ns");
    o.key("max", "the largest", &Spread::max_ns).in("ns");
    return o;
  }();
  return object;
}

const JsonObject<MarkRow>& mark_object() {
  using R = const MarkRow&;
  static const auto object = [] {
    JsonObject<MarkRow> o("marks");
    o.key("class", "traffic class", [](R r) { return traffic_class_name(r.traffic_class); });
    o.key("dscp", "DSCP", [](R r) { return r.marks.dscp; });
    o.key("ecn", "ECN codepoint", [](R r) { return ecn_key(r.marks.ecn); }).of(json_ecn_names);
    o.key("pcp", "priority of the innermost VLAN tag; null: untagged", [](R r) { return r.marks.pcp; });
    o.key("vlan", "VLAN of the innermost tag; null: untagged", [](R r) { return r.marks.vlan; });
    o.key("ttl", "TTL or hop limit", [](R r) { return r.marks.ttl; });
    o.key("p_key", "partition key", &MarkRow::p_key);
    o.key("packets", "packets with these marks", &MarkRow::packets);
    o.key("first_packet", "number of the first of them", &MarkRow::first_packet);
    o.key("first_time", "time of the first of them", [](R r) { return json_time(r.first_time_ns); });
    return o;
  }();
  return object;
}

const JsonObject<Marking>& marking_object() {
  using M = const Marking&;
  static const auto object = [] {
    JsonObject<Marking> o("marking");
    o.key("class", "traffic class", [](M m) { return traffic_class_name(m.traffic_class); });
    o.key("direction", "from whom to whom, \"any\" where several are summed up",
          [](M m) { return direction_text(m); });
    o.key("src", "source address; null: any", [](M m) { return address_or_null(m.src); });
    o.key("dst", "destination address; null: any", [](M m) { return address_or_null(m.dst); });
    o.key("dscp", "DSCP", &Marking::dscp);
    o.key("pcp", "priority of the innermost VLAN tag; null: untagged", &Marking::pcp);
    o.key("ecn", "ECN codepoint", [](M m) { return ecn_key(m.ecn); }).of(json_ecn_names);
    o.key("packets", "packets with these marks", &Marking::packets);
    o.key("flows", "flows with such packets", &Marking::flows);
    o.key("first_packet", "number of the first packet", &Marking::first_packet);
    o.key("expected",
          "markings that the policy intends; null without a policy, and if it does not cover them",
          [](M m) { return unless_empty(m.expected); });
    o.key("verdict", "whether the policy is kept by all of them; null as above", [](M m) {
       return unless_empty(m.verdict);
     }).of({"ok", "violation"});
    return o;
  }();
  return object;
}

const JsonObject<Congestion>& cnp_spacing_object() {
  using C = const Congestion&;
  static const auto object = [] {
    JsonObject<Congestion> o("cnp_spacing");
    o.object("flow", "between CNPs of one flow", quantiles_object(),
             [](C c) { return c.spacing(&CnpSender::flow_spacing_ns); });
    o.object("address_pair", "between CNPs from one address to another", quantiles_object(),
             [](C c) { return c.spacing(&CnpSender::pair_spacing_ns); });
    o.object("port", "between CNPs of one sender", quantiles_object(),
             [](C c) { return c.spacing(&CnpSender::port_spacing_ns); });
    return o;
  }();
  return object;
}

const JsonObject<CnpSender>& cnp_sender_object() {
  static const auto object = [] {
    JsonObject<CnpSender> o("cnp_sender");
    o.key("address", "address of the sender", [](const CnpSender& s) { return address_text(s.address); });
    o.key("cnps", "CNPs", &CnpSender::cnps);
    o.key("address_pairs", "addresses that they go to", &CnpSender::pairs);
    o.key("flows", "flows that they go to", &CnpSender::flows);
    o.key("limited_by", "what its CNPs keep their distance by; null: cannot be determined",
          [](const CnpSender& s) { return unless_empty(limit_name(s.limited_by())); })
        .of({"flow", "address_pair", "port", "none"});
    return o;
  }();
  return object;
}

const JsonObject<CnpPair>& cnp_pair_object() {
  using R = const CnpPair&;
  static const auto object = [] {
    JsonObject<CnpPair> o("cnp_pair");
    o.key("from", "address of the sender", [](R r) { return address_text(r.from); });
    o.key("to", "address of the receiver", [](R r) { return address_text(r.to); });
    o.key("cnps", "CNPs", &CnpPair::cnps);
    o.key("queue_pairs", "destination queue pairs", &CnpPair::queue_pairs);
    o.key("first_packet", "number of the first CNP", &CnpPair::first_packet);
    o.key("first_time", "time of the first CNP", [](R r) { return json_time(r.first_time_ns); });
    o.key("last_time", "time of the last CNP", [](R r) { return json_time(r.last_time_ns); });
    o.key("mean_spacing_ns", "mean distance; null for a single CNP", [](R r) { return r.mean_spacing_ns(); });
    return o;
  }();
  return object;
}

using NamedByFastCnps = std::pair<const FastCnpFlow, FastCnps>;

const JsonObject<NamedByFastCnps>& fast_cnp_object() {
  using R = const NamedByFastCnps&;
  static const auto object = [] {
    JsonObject<NamedByFastCnps> o("fast_cnp");
    o.key("by", "address that sends them", [](R r) { return address_text(r.first.by); });
    o.key("src", "who sends the packets that met congestion", [](R r) { return address_text(r.first.src); });
    o.key("dst", "who receives these", [](R r) { return address_text(r.first.dst); });
    o.key("dst_qp", "their destination queue pair", [](R r) { return r.first.dst_qp; });
    o.key("cnps", "Fast CNPs", [](R r) { return r.second.packets; });
    o.key("first_packet", "number of the first one", [](R r) { return r.second.first_packet; });
    return o;
  }();
  return object;
}

const JsonObject<ReportPage>& congestion_object() {
  static const auto object = [] {
    JsonObject<ReportPage> o("congestion");
    o.key("ce_packets", "CE-marked packets", [](P p) { return p.s.congestion.ce_packets; });
    o.key("cnp_packets", "CNPs", [](P p) { return p.s.congestion.cnp_packets; });
    o.key("ce_elsewhere",
          "CE-marked packets at another capture point, of flows without any at the point where they are "
          "followed",
          [](P p) { return ce_copies(p.s); });
    o.key("ect_packets", "packets that may be CE-marked: ECT(0), ECT(1) and CE",
          [](P p) { return p.s.congestion.ect_packets; });
    o.key("cnps_without_ce", "CNPs of connections without a CE mark since the CNP before",
          [](P p) { return p.s.congestion.cnps_without_ce; });
    o.object("ce_to_cnp_ns", "from the first CE mark since the CNP before to the CNP, at the capture point",
             quantiles_object(), [](P p) -> const Histogram& { return p.s.congestion.ce_to_cnp_ns; });
    o.object("cnp_spacing_ns", "intervals between CNPs", cnp_spacing_object(),
             [](P p) -> const Congestion& { return p.s.congestion; });
    o.list(
        "cnp_senders", "who sends CNPs, at most 256", cnp_sender_object(),
        [](P p) -> const auto& { return p.s.congestion.senders; });
    o.list(
        "cnp_pairs", "CNPs from one address to another, most first, at most 1024", cnp_pair_object(),
        [](P p) -> const auto& { return p.s.congestion.pairs; });
    o.list(
        "fast_cnps", "Fast CNPs of switches by the flow that they name, at most 1024", fast_cnp_object(),
        [](P p) -> const auto& { return p.s.totals.fast_cnps; });
    o.key("cnp_pairs_dropped", "pairs beyond the limit", [](P p) { return p.s.congestion.pairs_dropped; });
    o.include(pause_keys());
    return o;
  }();
  return object;
}

const JsonObject<CongestionSide>& congestion_side_object() {
  using C = const CongestionSide&;
  static const auto object = [] {
    JsonObject<CongestionSide> o("connection_congestion_side");
    o.key("ce_packets", "CE-marked packets that it sent", &CongestionSide::ce);
    o.key("cnps", "CNPs that it got", &CongestionSide::cnps);
    o.key("cnps_without_ce", "CNPs without a CE mark since the CNP before", &CongestionSide::cnps_without_ce);
    o.key("ce_after_last_cnp", "CE marks behind the last CNP", &CongestionSide::ce_after_cnp);
    o.object("ce_to_cnp_ns", "from the first CE mark since the CNP before to the CNP", spread_object(),
             &CongestionSide::ce_to_cnp);
    o.object("cnp_spacing_ns", "between its CNPs", spread_object(), &CongestionSide::cnp_spacing);
    o.key("rate_before_bps", "its rate before the first CNP; null without time there",
          [](C c) { return rate_or_null(c.before); });
    o.key("rate_between_bps", "its rate between the first CNP and the last; null without time there",
          [](C c) { return rate_or_null(c.between); });
    o.key("rate_after_bps", "its rate behind the last CNP; null without time there",
          [](C c) { return rate_or_null(c.after); });
    o.key("fell", "CNPs after which its rate fell below 0.9 times the rate before", &CongestionSide::fell);
    o.key("held", "CNPs after which it did not", &CongestionSide::held);
    return o;
  }();
  return object;
}

/// null without CE marks and CNPs
const CongestionSide* congestion_of(const Connection& connection, unsigned side) {
  return connection.congestion[side].there() ? &*connection.congestion[side] : nullptr;
}

const JsonObject<Connection>& congestion_sides_object() {
  using C = const Connection&;
  static const auto object = [] {
    JsonObject<Connection> o("connection_congestion");
    o.object("a", "of a, which receives the CNPs; null: no CE marks and no CNPs", congestion_side_object(),
             [](C c) { return congestion_of(c, 0); });
    o.object("b", "of b, which receives the CNPs; null: no CE marks and no CNPs", congestion_side_object(),
             [](C c) { return congestion_of(c, 1); });
    return o;
  }();
  return object;
}

const JsonObject<OuterRow>& outer_object() {
  using R = const OuterRow&;
  static const auto object = [] {
    JsonObject<OuterRow> o("outer");
    o.key("tunnel", "kind of tunnel", [](R r) { return dissect::tunnel_name(r.outer.tunnel); });
    o.key("src", "address where the tunnel begins", [](R r) { return address_text(r.outer.from); });
    o.key("dst", "address where it ends", [](R r) { return address_text(r.outer.to); });
    o.key("dscp", "DSCP of the outermost header", [](R r) { return r.outer.dscp(); });
    o.key("ecn", "ECN codepoint of the outermost header", [](R r) {
       return ecn_key(r.outer.ecn());
     }).of(json_ecn_names);
    o.key("pcp", "priority of the outermost VLAN tag; null: untagged", [](R r) { return r.outer.pcp; });
    o.key("inner_dscp", "DSCP inside", &OuterRow::inner_dscp);
    o.key("inner_ecn", "ECN codepoint inside", [](R r) { return ecn_key(r.inner_ecn()); }).of(json_ecn_names);
    o.key("point", "capture point", &OuterRow::point);
    o.key("packets", "packets, copies included", &OuterRow::packets);
    o.key("first_packet", "number of the first of them", &OuterRow::first_packet);
    o.key("first_time", "time of the first of them", [](R r) { return json_time(r.first_time_ns); });
    return o;
  }();
  return object;
}

struct PointIn {
  const Snapshot& s;
  const FlowAtPoint& at;
};

const JsonObject<PointIn>& flow_point_object() {
  using R = const PointIn&;
  static const auto object = [] {
    JsonObject<PointIn> o("flow_point");
    o.key("point", "capture point", [](R r) { return r.at.point; });
    o.key("name", "its file and interface",
          [](R r) { return point_name(r.s.files, r.s.interfaces, r.at.point); });
    o.key("packets", "packets of the flow there, duplicates included", [](R r) { return r.at.packets; });
    o.list(
        "marked_otherwise", "markings that do not occur where the flow is followed", mark_object(),
        [](R r) -> const auto& { return r.at.otherwise; });
    return o;
  }();
  return object;
}

/// Its packets at each capture point; empty if there is only one.
std::vector<PointIn> flow_points_of(const FlowIn& in) {
  const std::vector<FlowAtPoint>& all = in.s.flow_points;
  auto at = std::lower_bound(all.begin(), all.end(), in.flow.id,
                             [](const FlowAtPoint& each, std::uint64_t id) { return each.flow < id; });
  std::vector<PointIn> points;
  for (; at != all.end() && at->flow == in.flow.id; ++at) points.push_back({in.s, *at});
  return points;
}

}  // namespace

const JsonObject<ReportPage>& marking_keys() {
  static const auto object = [] {
    JsonObject<ReportPage> o("markings");
    o.list("markings", "markings of packets by class and direction", marking_object(),
           [](P p) { return listed(p.s.markings.rows, marking_columns(), p.listing); });
    o.key("markings_others", "packets of flows with more than 128 different markings: in no row of markings",
          [](P p) { return p.s.markings.others; });
    o.key("not_judged", "with a policy: what it does not cover, a sentence each",
          [](P p) { return JsonLines{not_judged(p.s)}; });
    return o;
  }();
  return object;
}

const JsonObject<ReportPage>& congestion_keys() {
  static const auto object = [] {
    JsonObject<ReportPage> o("congestion");
    o.object("congestion", "CE marks, CNPs and pauses", congestion_object(), std::identity());
    return o;
  }();
  return object;
}

const JsonObject<Connection>& connection_congestion_keys() {
  static const auto object = [] {
    JsonObject<Connection> o("connection_congestion");
    o.object("congestion", "CE marks and CNPs by the side that receives the CNPs", congestion_sides_object(),
             std::identity());
    return o;
  }();
  return object;
}

const JsonObject<FlowIn>& flow_marks_keys() {
  using F = const FlowIn&;
  static const auto object = [] {
    JsonObject<FlowIn> o("flow_marks");
    o.list("marks", "its packets by their marks, 128 rows at most", mark_object(),
           [](F f) { return f.flow.marks(); });
    o.list("outer", "its packets in VXLAN, Geneve, GRE or IP in IP, by the marks outside and inside",
           outer_object(), [](F f) { return f.flow.outer(); });
    o.list("points", "its packets at each capture point; empty with one point", flow_point_object(),
           flow_points_of);
    return o;
  }();
  return object;
}

}  // namespace roce::analyze
