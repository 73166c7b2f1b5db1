// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/congestion_cases.hpp"
#include "analyze/findings/shared/marked_traffic.hpp"
#include "analyze/findings/shared/port_cases.hpp"
#include "analyze/findings/shared/tunnels.hpp"
#include "analyze/results/capture_point_text.hpp"
#include "capture/core/frame.hpp"

namespace roce::analyze {

namespace {

// A few CE marks at the end of a capture have no CNP yet.
constexpr std::uint64_t enough_marks = 3;
constexpr std::int64_t longest_answer_ns = 100'000;

bool is_ce(const MarkRow& row) noexcept {
  return row.marks.ecn == static_cast<std::uint8_t>(dissect::Ecn::ce);
}

/// ACKs and NAKs that were marked CE: no sender is slowed down for them.
std::uint64_t marked_answers(const Flow* flow) {
  std::uint64_t packets = 0;
  for (const MarkRow& row : flow != nullptr ? flow->marks() : std::vector<MarkRow>()) {
    if (row.traffic_class == TrafficClass::ack && is_ce(row)) packets += row.packets;
  }
  return packets;
}

using MarkedPair = std::pair<dissect::IpAddress, dissect::IpAddress>;

/// Who sends CNPs, and to whom.
std::set<MarkedPair> cnp_pairs(const Snapshot& snapshot) {
  std::set<MarkedPair> pairs;
  for (const Flow& flow : snapshot.flows) {
    if (flow.opcodes.of(dissect::opcode_cnp) != 0) pairs.emplace(flow.key.src, flow.key.dst);
  }
  return pairs;
}

/// Whether switches sent CNPs for this flow.
bool told_by_switches(const Snapshot& snapshot, const Flow& flow) {
  const auto& named = snapshot.totals.fast_cnps;
  return std::any_of(named.begin(), named.end(), [&](const auto& each) {
    return each.first.src == flow.key.src && each.first.dst == flow.key.dst &&
           each.first.dst_qp == flow.key.dst_qp;
  });
}

/// Whether a NIC that limits its CNP rate per port or per address pair sent its CNPs to other queue pairs
/// instead, or switches sent them.
bool spoken_for(const Snapshot& snapshot, const std::set<MarkedPair>& pairs, const Flow* flow) {
  if (flow == nullptr) return false;
  if (told_by_switches(snapshot, *flow)) return true;
  const std::vector<CnpSender>& senders = snapshot.congestion.senders;
  const auto sender = std::find_if(senders.begin(), senders.end(),
                                   [flow](const CnpSender& each) { return each.address == flow->key.dst; });
  if (sender == senders.end()) return false;
  switch (sender->limited_by()) {
    case CnpSender::Limit::port:
      return true;
    case CnpSender::Limit::address_pair:
    case CnpSender::Limit::unknown:
      return pairs.contains({flow->key.dst, flow->key.src});
    default:
      return false;
  }
}

/// Whether the peer was seen long enough after the first CE mark to have answered.
bool could_answer(const Connection& connection, unsigned side, const Flow* answers) {
  const EventLog* marked = connection.sent[side].find(Event::ce_marked);
  if (marked == nullptr || marked->first_time_ns == capture::no_time) return true;
  if (answers == nullptr || !answers->any_time) return true;
  return span_ns(marked->first_time_ns, answers->last_time_ns) >= longest_answer_ns;
}

/// When each address last sent to each other one, over all flows between the two.
std::map<MarkedPair, std::int64_t> last_heard(const Snapshot& snapshot) {
  std::map<MarkedPair, std::int64_t> times;
  for (const Flow& flow : snapshot.flows) {
    if (!flow.any_time || flow.packets == 0) continue;
    const auto [at, fresh] = times.try_emplace({flow.key.src, flow.key.dst}, flow.last_time_ns);
    if (!fresh) at->second = std::max(at->second, flow.last_time_ns);
  }
  return times;
}

/// UD and UC have no acknowledgements, so nothing comes back on the same queue pairs. But whatever else the
/// receiver sends to the sender shows that its CNPs would have been captured.
void find_unanswered_datagrams(const Snapshot& snapshot, const std::set<MarkedPair>& pairs,
                               const std::set<std::uint64_t>& told, FindingSink& sink) {
  if (!snapshot.filter.empty()) return;  // it may hide the CNPs
  std::map<MarkedPair, std::int64_t> heard;
  MarkedPairs found;
  for (const Flow& flow : snapshot.flows) {
    if (flow.service != dissect::Service::ud && flow.service != dissect::Service::uc) continue;
    if (flow.ecn[static_cast<std::size_t>(dissect::Ecn::ce)] < enough_marks || told.contains(flow.id))
      continue;
    if (pairs.contains({flow.key.dst, flow.key.src}) || spoken_for(snapshot, pairs, &flow)) continue;
    if (heard.empty()) heard = last_heard(snapshot);
    const auto back = heard.find({flow.key.dst, flow.key.src});
    if (back == heard.end()) continue;
    std::uint64_t all = 0;
    std::uint64_t ce = 0;
    std::int64_t first_ns = capture::no_time;
    const std::vector<MarkRow> rows = flow.marks();
    for (const MarkRow& row : rows) {
      if (!carries(row.traffic_class)) continue;
      all += row.packets;
      if (!is_ce(row)) continue;
      ce += row.packets;
      if (first_ns == capture::no_time || row.first_time_ns < first_ns) first_ns = row.first_time_ns;
    }
    if (ce < enough_marks || first_ns == capture::no_time ||
        span_ns(first_ns, back->second) < longest_answer_ns)
      continue;
    Marked& marked = marked_of(found, flow);
    marked.of += all;
    const bool ud = flow.service == dissect::Service::ud;
    if (marked.note.find(ud ? "UD" : "UC") == std::string::npos)
      marked.note += fmt::format("{}{}", marked.note.empty() ? "" : " and ", ud ? "UD" : "UC");
    for (const MarkRow& row : rows) {
      if (carries(row.traffic_class) && is_ce(row)) marked.add(flow, row, ecn_test_of(row));
    }
  }
  report_marked(sink, snapshot, found, [](const Marked& marked) {
    return Words{
        Severity::notice,
        fmt::format(
            "{} of {} from {} to {} {} marked CE by the network, and no CNP came back, though other packets "
            "did. Many NICs send CNPs for connected queue pairs only: then nothing slows these senders down, "
            "and they take the bandwidth that others give up.",
            share_text(marked.proof.count, marked.of), marked.note, address_text(marked.src),
            address_text(marked.dst), verb(marked.proof.count, "was", "were")),
        fmt::format(
            "On {}: cat /sys/class/net/DEV/ecn/roce_np/enable/*, and the counters np_ecn_marked_roce_packets "
            "and np_cnp_sent in /sys/class/infiniband/DEV/ports/1/hw_counters. If they show no CNPs for such "
            "queue pairs, give these a traffic class of their own.",
            address_text(marked.dst)),
    };
  });
}

/// CE marks set between the point where a connection is followed and another one, which shows them.
struct MarkedThere {
  Proof proof;
  std::uint64_t of = 0;
  std::set<std::uint64_t> flows;
  std::uint16_t point = 0;
};

void find_marked_elsewhere(const Snapshot& snapshot, const std::set<MarkedPair>& pairs, FindingSink& sink) {
  if (!snapshot.filter.empty()) return;  // it may hide the CNPs
  std::map<MarkedPair, MarkedThere> found;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    const Flow* flow = flow_of(snapshot, connection, side);
    if (flow == nullptr || connection.packets[1 - side] == 0 || ce_copies(snapshot, flow->id) < enough_marks)
      return;
    if (pairs.contains({flow->key.dst, flow->key.src}) || spoken_for(snapshot, pairs, flow)) return;
    auto there =
        std::lower_bound(snapshot.flow_points.begin(), snapshot.flow_points.end(), flow->id,
                         [](const FlowAtPoint& each, std::uint64_t wanted) { return each.flow < wanted; });
    for (; there != snapshot.flow_points.end() && there->flow == flow->id; ++there) {
      MarkedThere here;
      for (const MarkRow& row : there->otherwise) {
        if (!is_ce(row) || !carries(row.traffic_class)) continue;
        here.proof.count += row.packets;
        here.proof.add_frame(row.first_packet);
        here.proof.add_time(row.first_time_ns);
      }
      const Flow* answers = flow_of(snapshot, connection, 1 - side);
      const bool in_time = answers == nullptr || !answers->any_time || !here.proof.first_time_ns ||
                           span_ns(*here.proof.first_time_ns, answers->last_time_ns) >= longest_answer_ns;
      if (here.proof.count < enough_marks || !in_time) continue;
      MarkedThere& all = found[{flow->key.src, flow->key.dst}];
      all.proof.add(here.proof);
      all.of += there->packets;
      all.flows.insert(flow->id);
      all.point = there->point;
      break;
    }
  });
  std::vector<Finding> findings;
  for (const auto& [ends, marked] : found) {
    const std::string point = point_name(snapshot.files, snapshot.interfaces, marked.point);
    Finding finding =
        finding_of(Severity::warning,
                   fmt::format("{} > {} at {}", address_text(ends.first), address_text(ends.second), point),
                   marked.proof);
    finding.confidence = 0.7;
    finding.explanation = fmt::format(
        "{} sent by {} {} marked CE by the network on the way to {}, and {} returned no CNP for any of them. "
        "So nothing slows the sender down: queues grow until PFC or loss stops it. CNPs that take another "
        "path than the acknowledgements would not be seen.",
        share_text(marked.proof.count, marked.of), address_text(ends.first),
        verb(marked.proof.count, "was", "were"), point, address_text(ends.second));
    finding.advice = fmt::format(
        "On {}: cat /sys/class/net/DEV/ecn/roce_np/enable/* (must be 1 for the priority), mlnx_qos -i DEV, "
        "and the counters np_ecn_marked_roce_packets and np_cnp_sent in "
        "/sys/class/infiniband/DEV/ports/1/hw_counters. Linux Soft-RoCE has no congestion control. All "
        "packets between them that are marked CE: {}",
        address_text(ends.second),
        packets_command(snapshot, fmt::format("roce.src == {} && roce.dst == {} && roce.ecn == 3",
                                              address_text(ends.first), address_text(ends.second))));
    findings.push_back(std::move(finding));
  }
  add_told_once(sink, std::move(findings));
}

bool carries_data(const Flow& flow) {
  const std::vector<MarkRow> rows = flow.marks();
  return std::any_of(rows.begin(), rows.end(), [](const MarkRow& row) { return carries(row.traffic_class); });
}

/// CE marks that the fabric set outside of a tunnel: who decapsulates copies them to what is inside.
void find_marked_outside(const Snapshot& snapshot, const std::set<MarkedPair>& pairs, FindingSink& sink) {
  if (!snapshot.filter.empty()) return;  // it may hide the CNPs
  constexpr auto ce = static_cast<std::uint8_t>(dissect::Ecn::ce);
  constexpr auto not_ect = static_cast<std::uint8_t>(dissect::Ecn::not_ect);
  const std::vector<TunnelWay> ways = tunnel_ways(snapshot);
  if (ways.empty()) return;
  const std::map<MarkedPair, std::int64_t> heard = last_heard(snapshot);
  std::vector<TunnelCase> cases;
  for (const TunnelWay& way : ways) {
    TunnelCase found;
    found.way = &way;
    found.test = "roce.ecn != 3 && roce.outer.ecn == 3";
    for (const auto& [flow, row] : way.rows) {
      // Not-ECT inside, it is dropped at the end of the tunnel: tunnel_ecn.
      if (row->inner_ecn() == not_ect || row->inner_ecn() == ce || !carries_data(*flow)) continue;
      const auto back = heard.find({flow->key.dst, flow->key.src});
      if (back == heard.end() || pairs.contains(back->first) || spoken_for(snapshot, pairs, flow)) continue;
      found.of += row->packets;
      if (row->outer.ecn() == ce && span_ns(row->first_time_ns, back->second) >= longest_answer_ns)
        found.add(*flow, *row);
    }
    if (found.proof.count >= enough_marks) cases.push_back(std::move(found));
  }
  report_tunnels(sink, snapshot, cases, [](const TunnelCase& each) {
    const auto& [from, to] = *each.way->hosts.begin();
    const bool one = each.way->hosts.size() == 1;
    return Words{
        Severity::warning,
        fmt::format("{}{} {} marked CE by the network, in the outer header of the tunnel from {}, and no CNP "
                    "came back. Who decapsulates copies the mark to the packet inside (RFC 6040, 4.2), but "
                    "nothing slows its sender down: queues grow until PFC or loss stops it. CNPs that take "
                    "another path than the acknowledgements would not be seen at this capture point.",
                    share_text(each.proof.count, each.of),
                    one ? fmt::format(" from {} to {}", address_text(from), address_text(to)) : std::string(),
                    verb(each.proof.count, "was", "were"), each.ends()),
        fmt::format(
            "On {}: cat /sys/class/net/DEV/ecn/roce_np/enable/* (must be 1 for the priority), and the "
            "counters np_ecn_marked_roce_packets and np_cnp_sent in "
            "/sys/class/infiniband/DEV/ports/1/hw_counters; if the first stays 0, {} does not copy "
            "the mark when it decapsulates.",
            one ? address_text(to) : std::string("the receivers"), address_text(each.way->to)),
    };
  });
}

}  // namespace

void find_ce_without_cnp(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Case> cases;
  std::set<std::uint64_t> told;  // flows
  const std::set<MarkedPair> pairs =
      snapshot.congestion.cnp_packets != 0 ? cnp_pairs(snapshot) : std::set<MarkedPair>();
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    if (!connection.congestion[side].there()) return;
    const CongestionSide& congested = *connection.congestion[side];
    if (congested.ce < enough_marks || congested.cnps != 0 || congested.left_out != 0) return;
    // Nothing of the other direction: CNPs would not have been captured either.
    if (connection.packets[1 - side] == 0) return;
    const Flow* flow = flow_of(snapshot, connection, side);
    if (congested.ce - std::min(congested.ce, marked_answers(flow)) < enough_marks) return;
    if (spoken_for(snapshot, pairs, flow)) return;
    if (!could_answer(connection, side, flow_of(snapshot, connection, 1 - side))) return;
    if (add_case(snapshot, cases, connection,
                 {side, side, Event::ce_marked, all_packets(connection, side)}) &&
        connection.flow[side]) {
      told.insert(*connection.flow[side]);
    }
  });
  find_unanswered_datagrams(snapshot, pairs, told, sink);
  find_marked_elsewhere(snapshot, pairs, sink);
  find_marked_outside(snapshot, pairs, sink);
  const std::uint64_t others = snapshot.congestion.cnp_packets;
  // Without any CNP in the capture they may take another path than the acknowledgements.
  for (Case& each : cases) each.confidence *= others == 0 ? 0.7 : 0.9;
  report_cases(sink, std::move(cases), [&](const Group& group) {
    return Words{
        Severity::warning,
        fmt::format("{}{} sent by {} {} marked CE by the network, and {} returned no CNP for any of them{}. "
                    "So nothing slows the sender down: queues grow until PFC or loss stops it. CNPs that "
                    "take another path than the acknowledgements would not be seen at this capture point.{}",
                    scope_text(group), share_text(group.count(), group.of), from_text(group),
                    verb(group.count(), "was", "were"), to_text(group),
                    others != 0 ? fmt::format(" (there are {} in the capture)", plural(others, "CNP", "CNPs"))
                                : std::string(),
                    worst_text(group)),
        fmt::format(
            "On {}: cat /sys/class/net/DEV/ecn/roce_np/enable/* (must be 1 for the priority), mlnx_qos "
            "-i DEV, and the counters np_ecn_marked_roce_packets and np_cnp_sent in "
            "/sys/class/infiniband/DEV/ports/1/hw_counters. Linux Soft-RoCE has no congestion control. "
            "{}",
            to_text(group), show_command(snapshot, group, "The packets", shown_by_ce())),
    };
  });
}

}  // namespace roce::analyze
