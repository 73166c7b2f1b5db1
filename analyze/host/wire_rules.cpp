// SPDX-License-Identifier: Apache-2.0
#include "analyze/host/wire_rules.hpp"

#include <algorithm>

namespace roce::analyze {
namespace {

using enum CounterSource;
constexpr std::uint64_t unlimited = WireCheck::unlimited;

constexpr std::string_view
    lost_ahead =
        "packets were lost between this host and the capture; lost responses and last packets cannot be "
        "detected",
    lost_at_first = "packets were lost between this host and the capture: it shows only retransmissions",
    lost_datagrams = "lost datagrams (UD) cannot be detected",
    lost_answers = "lost acknowledgements cannot be detected, because later ones cover them",
    lost_behind = "retransmitted packets may have been lost between the capture and this host",
    unknown_place = "it happened between the capture and this host";

constexpr std::uint64_t minus(std::uint64_t a, std::uint64_t b) noexcept {
  return a - std::min(a, b);
}

/// Packets sent by the host: seen, unless lost upstream of the capture point.
Expectation sends(const WireCounts& w, std::uint64_t seen) {
  return {seen, seen, w.loss_near_host() ? unlimited : seen, "", lost_ahead};
}
/// Packets received by the host: seen, unless lost downstream of the capture point.
Expectation receives(const WireCounts& w, std::uint64_t seen) {
  return {seen, w.loss_near_host() ? 0 : seen, seen, lost_behind, ""};
}

Expectation sent_packets(const WireCounts& w) {
  // A damaged packet was seen, and counts as lost too. Damage may also affect bits that the ICRC does not
  // cover.
  const std::uint64_t low = w.sent + minus(w.sent_unseen, 2 * w.sent_damaged);
  if (w.datagrams_sent != 0) return {w.sent, low, unlimited, "", lost_datagrams};
  if (w.loss_near_host()) return {w.sent, low, unlimited, "", lost_ahead};
  // A timeout for a packet that was captured once: the other transmission was lost upstream.
  if (w.retries_unseen != 0) return {w.sent, low, unlimited, "", lost_at_first};
  return {w.sent, low, low + w.unacknowledged, "", lost_answers};
}
/// `gone`: packets that may have arrived without being counted, in addition to the lost ones.
Expectation receives_packets(const WireCounts& w, std::uint64_t gone) {
  // Damage may also affect bits that the ICRC does not cover: the MAC drops such frames. The original of a
  // retransmission may have been lost.
  gone +=
      w.repeats_received + w.received_lost + 2 * w.received_damaged + w.datagrams_received + w.acks_received;
  const std::uint64_t high = minus(w.received + w.received_unseen, w.received_damaged);
  std::string_view why = "packets with a wrong ICRC are not counted";
  if (w.acks_received != 0) why = lost_answers;
  if (w.datagrams_received != 0) why = lost_datagrams;
  if (w.loss_near_host() || w.repeats_received != 0) why = lost_behind;
  return {w.received, w.loss_near_host() ? 0 : minus(w.received, gone), high, why,
          "some packets were not captured"};
}
Expectation received_packets(const WireCounts& w) {
  return receives_packets(w, 0);
}
/// Soft-RoCE discards packets for a destroyed queue pair without counting them.
Expectation received_packets_rxe(const WireCounts& w) {
  return receives_packets(w, w.connections);
}
Expectation naks_sent(const WireCounts& w) {
  return sends(w, w.naks_sent);
}
/// mlx5 and bnxt_re count packets, of which only the first causes a NAK.
Expectation out_of_sequence(const WireCounts& w) {
  Expectation e = sends(w, w.naks_sent);
  if (e.high != unlimited) e.high += w.received_late;
  e.above = "every out-of-sequence packet counts, only the first one causes a NAK";
  return e;
}
Expectation naks_received(const WireCounts& w) {
  return receives(w, w.naks_received);
}
Expectation naks_received_rxe(const WireCounts& w) {
  return {w.naks_received, 0, w.naks_received, "rxe counts only NAKs that acknowledge something new", ""};
}
Expectation rnr_sent(const WireCounts& w) {
  return sends(w, w.rnr_naks_sent);
}
Expectation rnr_received(const WireCounts& w) {
  return receives(w, w.rnr_naks_received);
}
Expectation duplicates(const WireCounts& w) {
  return {w.requests_received_again, minus(w.spurious_received, w.received_lost),
          w.requests_received_again + w.received_copies,
          "a retransmission is a duplicate only if the original had arrived", ""};
}
Expectation duplicates_rxe(const WireCounts& w) {
  Expectation e = duplicates(w);
  e.low = minus(e.low, w.connections);  // as above
  return e;
}
Expectation timeouts(const WireCounts& w) {
  return {w.timeouts, minus(w.timeouts, w.read_repeats),
          w.loss_near_host() ? unlimited : w.timeouts + w.gave_up,
          "a READ request may be retransmitted because of a missing response", lost_ahead};
}
Expectation requests_given_up(const WireCounts& w) {
  return {w.gave_up, w.gave_up, w.gave_up, "", ""};
}
Expectation rnr_gave_up(const WireCounts& w) {
  return {w.rnr_gave_up, w.rnr_gave_up, w.rnr_gave_up, "", ""};
}
Expectation invalid_requests(const WireCounts& w) {
  return receives(w, w.refusals_received[0]);
}
Expectation access_errors(const WireCounts& w) {
  return receives(w, w.refusals_received[1]);
}
Expectation operational_errors(const WireCounts& w) {
  return receives(w, w.refusals_received[2]);
}
Expectation ce_received(const WireCounts& w) {
  return {w.ce_received, minus(w.ce_received, w.received_lost + w.received_damaged), unlimited, lost_behind,
          unknown_place};
}
Expectation cnps_sent(const WireCounts& w) {
  return sends(w, w.cnps_sent);
}
Expectation cnps_received(const WireCounts& w) {
  return receives(w, w.cnps_received);
}
Expectation damaged(const WireCounts& w) {
  return {w.received_damaged, minus(w.received_damaged, w.received_lost), unlimited, lost_behind,
          unknown_place};
}

constexpr WireRule rules[] = {
    {port, "", "port_xmit_packets", "RoCE packets sent", sent_packets},
    {port, "", "port_rcv_packets", "RoCE packets received", received_packets},

    {hardware, "rxe", "sent_pkts", "RoCE packets sent", sent_packets},
    {hardware, "rxe", "rcvd_pkts", "RoCE packets received", received_packets_rxe},
    {hardware, "rxe", "out_of_seq_request", "sequence NAKs sent", naks_sent},
    {hardware, "rxe", "rcvd_seq_err", "sequence NAKs received", naks_received_rxe},
    {hardware, "rxe", "send_rnr_err", "RNR NAKs sent", rnr_sent},
    {hardware, "rxe", "rcvd_rnr_err", "RNR NAKs received", rnr_received},
    {hardware, "rxe", "duplicate_request", "retransmitted requests received", duplicates_rxe},
    {hardware, "rxe", "retry_exceeded_err", "connections with retries exhausted", requests_given_up},
    {hardware, "rxe", "retry_rnr_exceeded_err", "connections with RNR retries exhausted", rnr_gave_up},

    {hardware, "mlx5", "out_of_sequence", "sequence NAKs sent", out_of_sequence},
    {hardware, "mlx5", "packet_seq_err", "sequence NAKs received", naks_received},
    {hardware, "mlx5", "duplicate_request", "retransmitted requests received", duplicates},
    {hardware, "mlx5", "local_ack_timeout_err", "timeouts of this host", timeouts},
    {hardware, "mlx5", "rnr_nak_retry_err", "RNR NAKs received", rnr_received},
    {hardware, "mlx5", "req_transport_retries_exceeded", "connections with retries exhausted",
     requests_given_up},
    {hardware, "mlx5", "req_rnr_retries_exceeded", "connections with RNR retries exhausted", rnr_gave_up},
    {hardware, "mlx5", "req_remote_invalid_request", "NAKs \"invalid request\" received", invalid_requests},
    {hardware, "mlx5", "req_remote_access_errors", "NAKs \"remote access error\" received", access_errors},
    {hardware, "mlx5", "np_ecn_marked_roce_packets", "CE packets received", ce_received},
    {hardware, "mlx5", "np_cnp_sent", "CNPs sent", cnps_sent},
    {hardware, "mlx5", "rp_cnp_handled", "CNPs received", cnps_received},
    {hardware, "mlx5", "rx_icrc_encapsulated", "packets received with a wrong ICRC", damaged},

    {hardware, "bnxt_re", "tx_pkts", "RoCE packets sent", sent_packets},
    {hardware, "bnxt_re", "rx_pkts", "RoCE packets received", received_packets},
    {hardware, "bnxt_re", "oos_drop_count", "sequence NAKs sent", out_of_sequence},
    {hardware, "bnxt_re", "seq_err_naks_rcvd", "sequence NAKs received", naks_received},
    {hardware, "bnxt_re", "dup_req", "retransmitted requests received", duplicates},
    {hardware, "bnxt_re", "to_retransmits", "timeouts of this host", timeouts},
    {hardware, "bnxt_re", "rnr_naks_rcvd", "RNR NAKs received", rnr_received},
    {hardware, "bnxt_re", "max_retry_exceeded", "connections with retries exhausted", requests_given_up},
    {hardware, "bnxt_re", "remote_invalid_req_err", "NAKs \"invalid request\" received", invalid_requests},
    {hardware, "bnxt_re", "remote_access_err", "NAKs \"remote access error\" received", access_errors},
    {hardware, "bnxt_re", "remote_op_err", "NAKs \"remote operational error\" received", operational_errors},
    {hardware, "bnxt_re", "rx_ecn_marked_pkts", "CE packets received", ce_received},
    {hardware, "bnxt_re", "tx_cnp_pkts", "CNPs sent", cnps_sent},
    {hardware, "bnxt_re", "rx_cnp_pkts", "CNPs received", cnps_received},
};

/// Retry counters of drivers, and the retries seen in a capture.
constexpr RetryCounter retry_counters[] = {
    {"rxe", "completer_retry_err",
     [](const WireCounts& w) { return w.timeouts + w.naks_received + w.read_repeats; }},
    {"mlx5", "local_ack_timeout_err", [](const WireCounts& w) { return w.timeouts; }},
    {"bnxt_re", "to_retransmits", [](const WireCounts& w) { return w.timeouts; }},
};

}  // namespace

std::span<const WireRule> wire_rules() noexcept {
  return rules;
}

const RetryCounter* retry_counter_of(std::string_view driver) noexcept {
  const auto* const found = std::find_if(std::begin(retry_counters), std::end(retry_counters),
                                         [&](const RetryCounter& row) { return row.driver == driver; });
  return found == std::end(retry_counters) ? nullptr : found;
}

}  // namespace roce::analyze
