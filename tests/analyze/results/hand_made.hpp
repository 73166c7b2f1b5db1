// SPDX-License-Identifier: Apache-2.0
// A snapshot made by hand: two connections, one of them sick, and a finding about it.
#pragma once

#include <memory>
#include <utility>

#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

inline dissect::IpAddress ipv4(std::uint8_t last) {
  dissect::IpAddress address;
  const std::uint8_t bytes[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, last};
  std::copy(std::begin(bytes), std::end(bytes), address.bytes.begin());
  return address;
}

constexpr std::int64_t made_start = 1'795'171'301'000'000'000;

inline Flow made_flow(std::uint64_t id, std::uint8_t src, std::uint8_t dst, std::uint32_t qp,
                      std::uint64_t packets, std::uint64_t bytes) {
  Flow flow;
  flow.id = id;
  flow.key.src = ipv4(src);
  flow.key.dst = ipv4(dst);
  flow.key.dst_qp = qp;
  flow.key.transport = dissect::Transport::roce_v2_ipv4;
  flow.service = dissect::Service::rc;
  flow.service_known = true;
  flow.packets = packets;
  flow.bytes = bytes;
  flow.any_time = true;
  flow.first_time_ns = made_start;
  flow.last_time_ns = made_start + 1'000'000'000;
  return flow;
}

/// Connection 0: 10.0.0.1 QP 0x11 writes to 10.0.0.2 QP 0x22, by the CM, with losses. Connection 1: only
/// one direction, queue pair of a unknown, nothing wrong. Flow 3 is of UD.
inline Snapshot hand_made() {
  Snapshot s;
  s.frames_read = s.totals.packets = s.totals.roce_packets = 1300;
  s.totals.bytes = s.totals.roce_bytes = s.totals.captured_bytes = 1'200'000;
  s.totals.any_time = true;
  s.totals.first_time_ns = made_start;
  s.totals.last_time_ns = made_start + 1'000'000'000;
  s.flows.push_back(made_flow(0, 1, 2, 0x22, 1000, 1'100'000));
  s.flows.push_back(made_flow(1, 2, 1, 0x11, 200, 13'200));
  s.flows.push_back(made_flow(2, 3, 4, 0x44, 90, 90'000));
  s.flows.push_back(made_flow(4, 3, 4, 0x55, 10, 1'000));
  s.flows[3].service = dissect::Service::ud;
  s.flows[0].connection = s.flows[1].connection = 0;
  s.flows[2].connection = 1;
  SequenceCounts& counts = s.flows[0].sequence_to_change();
  counts.retransmitted[static_cast<std::size_t>(Cause::nak)] = 7;
  counts.retransmitted[static_cast<std::size_t>(Cause::timeout)] = 2;
  counts.retransmitted_bytes = 9900;
  counts.spurious = 1;
  counts.out_of_order = 4;
  counts.duplicate_captures = 5;
  counts.lost[static_cast<std::size_t>(Lost::before_capture)] = 3;
  counts.lost[static_cast<std::size_t>(Lost::after_capture)] = 6;
  counts.wasted_packets = 8;
  counts.wasted_bytes = 8800;
  s.flows[1].sequence_to_change().lost[static_cast<std::size_t>(Lost::by_capture)] = 1;

  CmExchange cm;
  cm.state = CmExchange::State::established;
  cm.service = dissect::CmTransport::rc;
  cm.transport = dissect::Transport::roce_v2_ipv4;
  cm.client = ipv4(2);
  cm.server = ipv4(1);
  cm.service_id = 0x0000000001061144;  // TCP port 4420
  cm.client_qpn = 0x22;
  cm.server_qpn = 0x11;
  cm.client_psn = 222;
  cm.server_psn = 111;
  cm.pmtu = 1024;
  cm.retry_count = 7;
  cm.rnr_retry = 6;
  cm.ack_timeout_code = 14;
  cm.traffic_class = 106;
  cm.sl = 3;
  cm.req = {10, made_start, 1};
  cm.rep = {12, made_start + 2'000'000, 1};
  cm.rtu = {13, made_start + 3'000'000, 1};
  s.exchanges.push_back(cm);

  Connection c;
  c.id = 0;
  c.service = dissect::Service::rc;
  c.transport = dissect::Transport::roce_v2_ipv4;
  c.ends = {Endpoint{ipv4(1), 0x11}, Endpoint{ipv4(2), 0x22}};
  c.flow = {0, 1};
  c.pairing.evidence = 1U << static_cast<unsigned>(Evidence::cm) | 1U << static_cast<unsigned>(Evidence::nak);
  c.pairing.answered = 190;
  c.pairing.confidence = 0.875;
  c.cm = 0;
  c.client_is_a = false;
  c.state = Connection::State::open;
  c.pmtu = 1024;
  c.pmtu_by_cm = true;
  c.first_time_ns = made_start;
  c.last_time_ns = made_start + 1'000'000'000;
  c.first_frame = 14;
  c.packets = {1000, 200};
  c.bytes = {1'100'000, 13'200};
  c.cnps = {0, 3};
  Requester& r = c.requester[0];
  r.seen = true;
  r.first_psn = 111;
  r.next_psn = 1102;
  r.requests = 1000;
  r.acks = 180;
  r.trouble->naks = {9, 0, 1, 0, 0, 2};
  r.new_bytes = 1'000'000;
  r.in_flight_max = 33;
  OperationStats writes;
  writes.kind = OperationKind::write;
  writes.count = 100;
  writes.bytes = 1'000'000;
  writes.packets = 991;
  writes.retried = 9;
  for (std::uint64_t i = 1; i <= 100; ++i) writes.latency_ns.add(i * 1000);
  r.operations.push_back(std::move(writes));
  r.trouble->nak_generation_ns.add(5000);
  r.trouble->refused.push_back({0x62, 0x0a, true, 700, 0xabc, 4096, 0x7f0000001000, 900, 899});
  r.trouble->worst_chain = {500,        0x08,       3,   600, 640, made_start, made_start + 500'000'000,
                            67'000'000, 68'000'000, true};
  r.trouble->chains = 1;
  r.trouble->rnr = std::make_unique<RnrStats>();
  r.trouble->rnr->naks = 2;
  r.trouble->rnr->coded_wait_ns = 640'000;
  c.sent[0].add(Event::lost_before_capture, 77, made_start + 5, 3);
  s.connections.push_back(std::move(c));

  Connection half;
  half.id = 1;
  half.service = dissect::Service::rc;
  half.transport = dissect::Transport::roce_v2_ipv4;
  half.ends = {Endpoint{ipv4(3), std::nullopt}, Endpoint{ipv4(4), 0x44}};
  half.flow[0] = 2;
  half.first_time_ns = half.last_time_ns = made_start;
  half.first_frame = 20;
  half.packets[0] = 90;
  half.bytes[0] = 90'000;
  half.requester[0].seen = true;
  half.requester[0].new_bytes = 80'000;
  s.connections.push_back(std::move(half));

  s.series.at(made_start).packets = 11;
  s.series.at(made_start + 3'000'000).retransmitted = 9;
  return s;
}

/// What is wrong with the sick connection of hand_made().
inline Diagnosis made_diagnosis() {
  Diagnosis d;
  d.cause = "loss";
  d.severity = Consequence::degraded;
  d.sentence = "10.0.0.1 → 10.0.0.2 loses 9 of 1000 packets (0.9 %) upstream of this capture";
  d.level = Level::connection;
  d.from = ipv4(1);
  d.to = ipv4(2);
  d.subject = "10.0.0.1 QP 0x000011 > 10.0.0.2 QP 0x000022";
  d.seen = Whereabouts::upstream;
  d.pattern = Pattern::single;
  d.at_least = 9;
  d.of = 1000;
  d.since_ns = made_start + 200'000'000;
  d.until_ns = made_start + 900'000'000;
  d.cost = {9, 9900, 0, 30'000'000, 4'000'000, 9'000'000, 0};
  d.confidence = 0.7;
  d.facts = {"Single packets.", "9 packets sent again."};
  d.alternatives = {"dropped by 10.0.0.1 itself", "a filter of the capture"};
  d.would_decide = "a capture at 10.0.0.1";
  d.advice = "On 10.0.0.1: ethtool -S DEV. See: roceanalyze packets FILE -Y 'roce.connection == 0'";
  d.commands = {"roceanalyze packets FILE -Y 'roce.connection == 0'", "roceanalyze incidents FILE"};
  d.connections = {0};
  d.connection_count = 1;
  d.packets = {77, 80};
  return d;
}

}  // namespace roce::analyze
