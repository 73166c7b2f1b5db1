// SPDX-License-Identifier: Apache-2.0
// Counters of RDMA ports. IBTA: volume 1, 16.1.3.5. mlx5: NVIDIA, "Understanding mlx5 Linux Counters and
// Status Parameters". rxe and bnxt_re: the drivers' hw_counters.c, rxe_resp.c and rxe_comp.c in Linux.
#include "analyze/host/counter_meaning.hpp"

namespace roce::analyze {
namespace {

using enum CounterSource;
using enum CounterNature;

// Advice common to several rows.
constexpr std::string_view
    find_loss =
        "packets to this host are lost or reordered: capture at both ends and roceanalyze compare A B; "
        "check drops and PFC of the RoCE queue of each switch on the path",
    find_loss_out =
        "packets from this host are lost or reordered on the path: check drops and PFC of the RoCE queue "
        "of each switch, and the peer's out_of_sequence",
    look_timeouts =
        "whole bursts, last packets or acknowledgements are lost, or the peer is slow: roceanalyze FILE "
        "lists them (timeouts); fix the loss first, then the timer",
    post_receives = "the application posts too few receives or too late: queue depth, SRQ limit, CPU",
    peer_receives = "the peer's application posts too few receives or too late",
    see_rights =
        "check the application's keys, lengths and access rights: roceanalyze FILE shows the refused request",
    find_damage =
        "a cable, optic or switch damages packets: ethtool -S for symbol errors, clean or replace optics; "
        "roceanalyze FILE (icrc_corruption) shows on which side",
    congestion =
        "congestion control is active; for the senders see roceanalyze FILE (ce_without_cnp, cnp_ignored)",
    link_flaps = "the link went down: check cable, optic and the switch's log";

constexpr CounterMeaning rdma_rows[] = {
    // All ports, with the names of the InfiniBand architecture. On RoCE they count RDMA packets only.
    {"port_xmit_data", port, "", traffic, "4 bytes", "RDMA data sent", ""},
    {"port_rcv_data", port, "", traffic, "4 bytes", "RDMA data received", ""},
    {"port_xmit_packets", port, "", traffic, "packets", "RDMA packets sent", ""},
    {"port_rcv_packets", port, "", traffic, "packets", "RDMA packets received", ""},
    {"unicast_xmit_packets", port, "", traffic, "packets", "unicast RDMA packets sent", ""},
    {"unicast_rcv_packets", port, "", traffic, "packets", "unicast RDMA packets received", ""},
    {"multicast_xmit_packets", port, "", traffic, "packets", "multicast RDMA packets sent", ""},
    {"multicast_rcv_packets", port, "", traffic, "packets", "multicast RDMA packets received", ""},
    {"port_xmit_wait", port, "", event, "ticks",
     "time in which data waited but could not be sent: paused or out of "
     "credits",
     "who pauses this port: rx_prio#_pause of ethtool, roceanalyze FILE (pause_heavy)"},
    {"port_xmit_discards", port, "", fault, "packets",
     "packets not sent: port down, or packet lifetime exceeded", link_flaps},
    {"port_rcv_errors", port, "", fault, "packets", "packets received with an error", find_damage},
    {"port_rcv_remote_physical_errors", port, "", fault, "packets",
     "packets received that were marked bad on the path", find_damage},
    {"port_rcv_switch_relay_errors", port, "", fault, "packets", "packets that could not be forwarded", ""},
    {"port_rcv_constraint_errors", port, "", fault, "packets",
     "packets received that violate partition rules", see_rights},
    {"port_xmit_constraint_errors", port, "", fault, "packets", "packets not sent because of partition rules",
     see_rights},
    {"symbol_error", port, "", fault, "times", "minor link errors", find_damage},
    {"link_error_recovery", port, "", fault, "times", "link recovered from an error", find_damage},
    {"link_downed", port, "", fault, "times", "link failed to recover and went down", link_flaps},
    {"local_link_integrity_errors", port, "", fault, "times", "too many local physical errors", find_damage},
    {"excessive_buffer_overrun_errors", port, "", fault, "times", "receive buffers overrun for long",
     find_loss},
    {"VL15_dropped", port, "", fault, "packets", "management packets dropped because of missing buffers", ""},

    // mlx5: the responder's side.
    {"out_of_sequence", hardware, "mlx5", fault, "packets",
     "packets received out of sequence: an earlier one is missing or late", find_loss},
    {"duplicate_request", hardware, "mlx5", event, "packets",
     "duplicate requests received: retransmissions of what had arrived",
     "acknowledgements are lost or late: loss on the way back, a slow responder, too short a timeout at the "
     "peer"},
    {"out_of_buffer", hardware, "mlx5", fault, "packets",
     "packets dropped or RNR NAK sent: no receive was posted", post_receives},
    {"rx_write_requests", hardware, "mlx5", traffic, "packets", "WRITE requests received", ""},
    {"rx_read_requests", hardware, "mlx5", traffic, "packets", "READ requests received", ""},
    {"rx_atomic_requests", hardware, "mlx5", traffic, "packets", "atomic requests received", ""},
    {"rx_dct_connect", hardware, "mlx5", traffic, "packets",
     "connection requests of dynamically connected transport", ""},
    {"resp_local_length_error", hardware, "mlx5", fault, "times",
     "message longer than the receive posted for it", see_rights},
    {"resp_remote_access_errors", hardware, "mlx5", fault, "times",
     "request with a bad key, address or access right", see_rights},
    {"resp_cqe_error", hardware, "mlx5", fault, "completions", "receives completed with an error",
     see_rights},
    {"resp_cqe_flush_error", hardware, "mlx5", event, "completions",
     "receives flushed when a queue pair failed or closed", ""},
    {"resp_rnr_nak", hardware, "mlx5", fault, "packets", "RNR NAKs sent", post_receives},
    // mlx5: the requester's side.
    {"packet_seq_err", hardware, "mlx5", fault, "packets", "sequence NAKs received: the peer misses packets",
     find_loss_out},
    {"implied_nak_seq_err", hardware, "mlx5", fault, "times",
     "READ response or acknowledgement with a later PSN than expected", find_loss},
    {"local_ack_timeout_err", hardware, "mlx5", fault, "times", "ACK timeouts", look_timeouts},
    {"rnr_nak_retry_err", hardware, "mlx5", fault, "packets", "RNR NAKs received", peer_receives},
    {"req_rnr_retries_exceeded", hardware, "mlx5", fault, "times", "RNR retries exhausted", peer_receives},
    {"req_transport_retries_exceeded", hardware, "mlx5", fault, "times",
     "retries exhausted: the connection failed", look_timeouts},
    {"req_cqe_error", hardware, "mlx5", fault, "completions", "sends completed with an error", see_rights},
    {"req_cqe_flush_error", hardware, "mlx5", event, "completions",
     "sends flushed when a queue pair failed or closed", ""},
    {"req_remote_invalid_request", hardware, "mlx5", fault, "times",
     "NAK \"remote invalid request\" received", see_rights},
    {"req_remote_access_errors", hardware, "mlx5", fault, "times", "NAK \"remote access error\" received",
     see_rights},
    {"roce_adp_retrans", hardware, "mlx5", event, "times", "adaptive retransmissions", look_timeouts},
    {"roce_adp_retrans_to", hardware, "mlx5", event, "times", "adaptive retransmissions after the timer",
     look_timeouts},
    {"roce_slow_restart", hardware, "mlx5", event, "times", "slow restarts", ""},
    {"roce_slow_restart_cnps", hardware, "mlx5", event, "packets", "CNPs that slow restart made", ""},
    {"roce_slow_restart_trans", hardware, "mlx5", event, "times", "transitions into slow restart", ""},
    // mlx5: congestion control (notification point: receiver, reaction point: sender).
    {"np_ecn_marked_roce_packets", hardware, "mlx5", event, "packets", "CE-marked packets received",
     congestion},
    {"np_cnp_sent", hardware, "mlx5", event, "packets", "CNPs sent", congestion},
    {"rp_cnp_handled", hardware, "mlx5", event, "packets", "CNPs received and handled by rate reduction",
     congestion},
    {"rp_cnp_ignored", hardware, "mlx5", fault, "packets", "CNPs received and ignored",
     "congestion control is off for that priority: ecn/roce_rp/enable of the interface"},
    {"rx_icrc_encapsulated", hardware, "mlx5", fault, "packets", "RoCE packets received with a wrong ICRC",
     find_damage},

    // Soft-RoCE.
    {"sent_pkts", hardware, "rxe", traffic, "packets", "RoCE packets sent", ""},
    {"rcvd_pkts", hardware, "rxe", traffic, "packets", "RoCE packets received with a correct ICRC", ""},
    {"duplicate_request", hardware, "rxe", event, "packets",
     "duplicate requests received: retransmissions of what had arrived",
     "acknowledgements are lost or late: loss on the way back, a slow responder, too short a timeout at the "
     "peer"},
    {"out_of_seq_request", hardware, "rxe", fault, "times",
     "requests out of sequence that were answered with a NAK", find_loss},
    {"rcvd_rnr_err", hardware, "rxe", fault, "packets", "RNR NAKs received", peer_receives},
    {"send_rnr_err", hardware, "rxe", fault, "packets", "RNR NAKs sent", post_receives},
    {"rcvd_seq_err", hardware, "rxe", fault, "packets",
     "sequence NAKs received that acknowledge something new", find_loss_out},
    {"ack_deferred", hardware, "rxe", traffic, "times", "responses deferred to the completer's work queue",
     ""},
    {"retry_exceeded_err", hardware, "rxe", fault, "times", "retries exhausted: the connection failed",
     look_timeouts},
    {"retry_rnr_exceeded_err", hardware, "rxe", fault, "times", "RNR retries exhausted", peer_receives},
    {"completer_retry_err", hardware, "rxe", event, "times",
     "retransmission started: after a NAK, a missing response or a timeout", look_timeouts},
    {"send_err", hardware, "rxe", fault, "times", "the network stack refused a packet",
     "the interface below: ip -s link, tc -s qdisc"},
    {"link_downed", hardware, "rxe", fault, "times", "the interface below went down", link_flaps},
    {"rdma_sends", hardware, "rxe", traffic, "messages", "SEND operations completed", ""},
    {"rdma_recvs", hardware, "rxe", traffic, "messages", "receives completed", ""},

    // bnxt_re.
    {"rx_pkts", hardware, "bnxt_re", traffic, "packets", "RoCE packets received", ""},
    {"rx_bytes", hardware, "bnxt_re", traffic, "bytes", "RoCE bytes received", ""},
    {"tx_pkts", hardware, "bnxt_re", traffic, "packets", "RoCE packets sent", ""},
    {"tx_bytes", hardware, "bnxt_re", traffic, "bytes", "RoCE bytes sent", ""},
    {"rx_roce_good_pkts", hardware, "bnxt_re", traffic, "packets", "RoCE packets received without an error",
     ""},
    {"rx_roce_good_bytes", hardware, "bnxt_re", traffic, "bytes", "RoCE bytes received without an error", ""},
    {"tx_send_req", hardware, "bnxt_re", traffic, "requests", "SEND requests sent", ""},
    {"tx_write_req", hardware, "bnxt_re", traffic, "requests", "WRITE requests sent", ""},
    {"tx_read_req", hardware, "bnxt_re", traffic, "requests", "READ requests sent", ""},
    {"tx_read_resp", hardware, "bnxt_re", traffic, "responses", "READ responses sent", ""},
    {"tx_atomic_req", hardware, "bnxt_re", traffic, "requests", "atomic requests sent", ""},
    {"rx_send_req", hardware, "bnxt_re", traffic, "requests", "SEND requests received", ""},
    {"rx_write_req", hardware, "bnxt_re", traffic, "requests", "WRITE requests received", ""},
    {"rx_read_req", hardware, "bnxt_re", traffic, "requests", "READ requests received", ""},
    {"rx_read_resp", hardware, "bnxt_re", traffic, "responses", "READ responses received", ""},
    {"rx_atomic_req", hardware, "bnxt_re", traffic, "requests", "atomic requests received", ""},
    {"rx_roce_errors", hardware, "bnxt_re", fault, "packets", "RoCE packets received with an error",
     find_damage},
    {"rx_roce_discards", hardware, "bnxt_re", fault, "packets", "RoCE packets received and discarded",
     post_receives},
    {"rx_out_of_buffer", hardware, "bnxt_re", fault, "packets", "packets dropped: no receive was posted",
     post_receives},
    {"recoverable_errors", hardware, "bnxt_re", event, "times", "errors that the hardware recovered from",
     ""},
    {"unrecoverable_err", hardware, "bnxt_re", fault, "times", "errors that ended a connection", see_rights},
    {"to_retransmits", hardware, "bnxt_re", fault, "times", "ACK timeouts", look_timeouts},
    {"seq_err_naks_rcvd", hardware, "bnxt_re", fault, "packets",
     "sequence NAKs received: the peer misses packets", find_loss_out},
    {"max_retry_exceeded", hardware, "bnxt_re", fault, "times", "retries exhausted: the connection failed",
     look_timeouts},
    {"rnr_naks_rcvd", hardware, "bnxt_re", fault, "packets", "RNR NAKs received", peer_receives},
    {"missing_resp", hardware, "bnxt_re", fault, "times", "a READ or atomic response is missing", find_loss},
    {"bad_resp_err", hardware, "bnxt_re", fault, "packets", "invalid responses", see_rights},
    {"local_qp_op_err", hardware, "bnxt_re", fault, "times", "local queue pair operation error", see_rights},
    {"local_protection_err", hardware, "bnxt_re", fault, "times", "local key or access right is wrong",
     see_rights},
    {"mem_mgmt_op_err", hardware, "bnxt_re", fault, "times", "memory management operation failed",
     see_rights},
    {"remote_invalid_req_err", hardware, "bnxt_re", fault, "times", "NAK \"remote invalid request\" received",
     see_rights},
    {"remote_access_err", hardware, "bnxt_re", fault, "times", "NAK \"remote access error\" received",
     see_rights},
    {"remote_op_err", hardware, "bnxt_re", fault, "times", "NAK \"remote operational error\" received",
     see_rights},
    {"dup_req", hardware, "bnxt_re", event, "packets",
     "duplicate requests received: retransmissions of what had arrived",
     "acknowledgements are lost or late: loss on the way back, a slow responder, too short a timeout at the "
     "peer"},
    {"oos_drop_count", hardware, "bnxt_re", fault, "packets", "packets dropped: out of sequence after a gap",
     find_loss},
    {"res_exceed_max", hardware, "bnxt_re", fault, "times", "message longer than allowed", see_rights},
    {"res_length_mismatch", hardware, "bnxt_re", fault, "times", "length does not agree with the RETH",
     see_rights},
    {"res_exceeds_wqe", hardware, "bnxt_re", fault, "times", "message longer than the receive posted for it",
     see_rights},
    {"res_opcode_err", hardware, "bnxt_re", fault, "times", "opcode not allowed after the one before",
     see_rights},
    {"res_rx_invalid_rkey", hardware, "bnxt_re", fault, "times", "WRITE with an unknown key", see_rights},
    {"res_rx_no_perm", hardware, "bnxt_re", fault, "times", "WRITE without access right", see_rights},
    {"res_rx_range_err", hardware, "bnxt_re", fault, "times", "WRITE outside of its region", see_rights},
    {"res_tx_invalid_rkey", hardware, "bnxt_re", fault, "times", "READ with an unknown key", see_rights},
    {"res_tx_no_perm", hardware, "bnxt_re", fault, "times", "READ without access right", see_rights},
    {"res_tx_range_err", hardware, "bnxt_re", fault, "times", "READ outside of its region", see_rights},
    {"rx_ecn_marked_pkts", hardware, "bnxt_re", event, "packets", "CE-marked packets received", congestion},
    {"rx_cnp_pkts", hardware, "bnxt_re", event, "packets", "CNPs received", congestion},
    {"tx_cnp_pkts", hardware, "bnxt_re", event, "packets", "CNPs sent", congestion},
    {"active_qps", hardware, "bnxt_re", gauge, "queue pairs", "existing queue pairs", ""},
    {"active_rc_qps", hardware, "bnxt_re", gauge, "queue pairs", "existing RC queue pairs", ""},
    {"active_ud_qps", hardware, "bnxt_re", gauge, "queue pairs", "existing UD queue pairs", ""},
    {"active_srqs", hardware, "bnxt_re", gauge, "queues", "existing shared receive queues", ""},
    {"active_cqs", hardware, "bnxt_re", gauge, "queues", "existing completion queues", ""},
    {"active_mrs", hardware, "bnxt_re", gauge, "regions", "existing memory regions", ""},
    {"active_mws", hardware, "bnxt_re", gauge, "windows", "existing memory windows", ""},
    {"active_pds", hardware, "bnxt_re", gauge, "domains", "existing protection domains", ""},
    {"active_ahs", hardware, "bnxt_re", gauge, "handles", "existing address handles", ""},
};

}  // namespace

std::span<const CounterMeaning> counters_of_rdma() noexcept {
  return rdma_rows;
}

}  // namespace roce::analyze
