// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "analyze/findings/congested.hpp"
#include "capture/frame.hpp"

namespace roce::analyze {

namespace {

/// ACKs and NAKs that were marked: nobody is slowed down for them.
std::uint64_t marked_answers(const Flow* flow) {
  std::uint64_t packets = 0;
  for (const MarkRow& row : flow != nullptr ? flow->marks() : std::vector<MarkRow>()) {
    if (row.traffic_class == TrafficClass::ack &&
        row.marks.ecn == static_cast<std::uint8_t>(dissect::Ecn::ce))
      packets += row.packets;
  }
  return packets;
}

using Addresses = std::pair<dissect::IpAddress, dissect::IpAddress>;

/// Who sends CNPs, and to whom.
std::set<Addresses> cnp_pairs(const Snapshot& snapshot) {
  std::set<Addresses> pairs;
  for (const Flow& flow : snapshot.flows) {
    if (flow.opcodes.of(dissect::opcode_cnp) != 0) pairs.emplace(flow.key.src, flow.key.dst);
  }
  return pairs;
}

/// Whether a NIC that keeps its CNPs apart for a whole port or pair of addresses sent them to other queue
/// pairs in this one's place.
bool spoken_for(const Snapshot& snapshot, const std::set<Addresses>& pairs, const Flow* flow) {
  if (flow == nullptr) return false;
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

/// Whether the other side was heard long enough after the first mark to have answered.
bool had_time(const Connection& connection, unsigned side, const Flow* answers) {
  constexpr std::int64_t longest_answer_ns = 100'000;
  const EventLog* marked = connection.sent[side].find(Event::ce_marked);
  if (marked == nullptr || marked->first_time_ns == capture::no_time) return true;
  if (answers == nullptr || !answers->any_time) return true;
  return span_ns(marked->first_time_ns, answers->last_time_ns) >= longest_answer_ns;
}

}  // namespace

void find_ce_without_cnp(const Snapshot& snapshot, FindingSink& sink) {
  // A few marks at the end of a capture have no CNP yet.
  constexpr std::uint64_t enough = 3;
  std::vector<Case> cases;
  const std::set<Addresses> pairs =
      snapshot.congestion.cnp_packets != 0 ? cnp_pairs(snapshot) : std::set<Addresses>();
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    if (!connection.congestion[side].there()) return;
    const CongestionSide& congested = *connection.congestion[side];
    if (congested.ce < enough || congested.cnps != 0 || congested.left_out != 0) return;
    // Nothing of the other direction: CNPs would not have been captured either.
    if (connection.packets[1 - side] == 0) return;
    const Flow* flow = flow_of(snapshot, connection, side);
    if (congested.ce - std::min(congested.ce, marked_answers(flow)) < enough) return;
    if (spoken_for(snapshot, pairs, flow)) return;
    if (!had_time(connection, side, flow_of(snapshot, connection, 1 - side))) return;
    add_case(snapshot, cases, connection, {side, side, Event::ce_marked, all_packets(connection, side)});
  });
  const std::uint64_t others = snapshot.congestion.cnp_packets;
  // Whoever sends CNPs may send them another way than the acknowledgements.
  for (Case& each : cases) each.confidence *= others == 0 ? 0.7 : 0.9;
  report_cases(sink, std::move(cases), [&](const Group& group) {
    return Words{
        Severity::warning,
        fmt::format("{}{} sent by {} {} marked CE by the network, and {} returned no CNP for any of them{}. "
                    "So the sender is never told to slow down: queues grow until PFC or loss stops it. CNPs "
                    "that take another way than the acknowledgements would not be seen at this capture "
                    "point.{}",
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
