// SPDX-License-Identifier: Apache-2.0
#include "analyze/host/wire_counts.hpp"

#include <algorithm>
#include <utility>

namespace roce::analyze {
namespace {

std::uint64_t lost(const SequenceCounts& counts, Lost place) {
  return counts.lost[static_cast<std::size_t>(place)];
}

void count_flow(const Flow& flow, bool sent, WireCounts& out) {
  const SequenceCounts& sequence = flow.sequence();
  const std::uint64_t ce = flow.ecn[static_cast<std::size_t>(dissect::Ecn::ce)];
  const std::uint64_t cnps = flow.opcodes.of(dissect::opcode_cnp);
  // Management datagrams go to queue pair 1; they are few, and retransmitted until there is a response.
  const bool datagrams = flow.service_known && flow.service == dissect::Service::ud && flow.key.dst_qp > 1;
  if (datagrams) (sent ? out.datagrams_sent : out.datagrams_received) += flow.packets;
  ++out.flows;
  if (sent) {
    out.sent += flow.packets - std::min(flow.packets, sequence.duplicate_network);
    out.sent_unseen += lost(sequence, Lost::before_capture) + lost(sequence, Lost::by_capture);
    out.sent_damaged += flow.icrc_mismatches;
    out.cnps_sent += cnps;
  } else {
    out.received += flow.packets;
    out.received_lost += lost(sequence, Lost::after_capture);
    out.received_unseen += lost(sequence, Lost::by_capture);
    out.received_damaged += flow.icrc_mismatches;
    out.received_copies += sequence.duplicate_network;
    out.received_late += sequence.wasted_packets + sequence.out_of_order;
    out.ce_received += ce;
    out.cnps_received += cnps;
  }
}

constexpr std::array refusal_events{Event::nak_invalid_request, Event::nak_remote_access_error,
                                    Event::nak_remote_operational_error, Event::nak_invalid_rd_request};
constexpr std::array repeat_events{Event::retransmitted_nak, Event::retransmitted_timeout,
                                   Event::retransmitted_rnr, Event::retransmitted_read_retry,
                                   Event::retransmitted_unknown};

template <std::size_t Size>
std::uint64_t sum(const Events& events, const std::array<Event, Size>& kinds) {
  std::uint64_t total = 0;
  for (const Event kind : kinds) total += events.count(kind);
  return total;
}

/// Retransmitted requests, i.e. without repeated READ responses, which are the responder's.
std::uint64_t repeated_requests(const Events& sent, std::uint64_t repeats) {
  return repeats - std::min(repeats, std::uint64_t{sent.count(Event::response_repeated)});
}

/// One connection, of which side `own` is the host's.
void count_connection(const Connection& connection, std::size_t own, WireCounts& out) {
  const Events& mine = connection.sent[own];
  const Events& theirs = connection.sent[1 - own];
  const Requester& requester = connection.requester[own];
  const Requester& peer = connection.requester[1 - own];
  ++out.connections;
  out.acks_received += requester.acks;
  out.unacknowledged += peer.requests - std::min(peer.requests, peer.acks);
  out.naks_sent += mine.count(Event::nak_sequence_error);
  out.naks_received += theirs.count(Event::nak_sequence_error);
  out.rnr_naks_sent += mine.count(Event::rnr_nak);
  out.rnr_naks_received += theirs.count(Event::rnr_nak);
  for (std::size_t i = 0; i < refusal_events.size(); ++i) {
    out.refusals_sent[i] += mine.count(refusal_events[i]);
    out.refusals_received[i] += theirs.count(refusal_events[i]);
  }
  const std::uint64_t repeats_received = sum(theirs, repeat_events);
  out.repeats_received += repeats_received;
  out.requests_received_again += repeated_requests(theirs, repeats_received);
  out.spurious_received += theirs.count(Event::spurious);
  out.repeats_sent += sum(mine, repeat_events);
  out.runs_sent += mine.count(Event::go_back_n);
  out.read_repeats += repeated_requests(mine, mine.count(Event::retransmitted_read_retry));
  out.timeouts += requester.trouble->timeouts;
  out.gave_up += requester.retries_exhausted ? 1 : 0;
  out.peers_gave_up += peer.retries_exhausted ? 1 : 0;
  out.rnr_gave_up += requester.rnr_exhausted ? 1 : 0;
}

}  // namespace

WireCounts wire_counts(const Snapshot& snapshot, const Addresses& own) {
  WireCounts out;
  for (const Flow& flow : snapshot.flows) {
    const bool from = own.contains(flow.key.src), to = own.contains(flow.key.dst);
    if (from != to) count_flow(flow, from, out);  // traffic of a host to itself does not leave it
  }
  for (const Connection& connection : snapshot.connections) {
    const bool a = own.contains(connection.ends[0].address), b = own.contains(connection.ends[1].address);
    if (a != b) count_connection(connection, a ? 0 : 1, out);
  }
  return out;
}

}  // namespace roce::analyze
