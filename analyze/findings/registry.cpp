// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/rules.hpp"
#include "analyze/results/finding.hpp"

namespace roce::analyze {
namespace {

using enum Severity;

constexpr FindingRule rules[] = {
    {"loss_before_capture", error, "packets lost upstream of the capture point", find_loss_before_capture},
    {"loss_after_capture", error, "packets lost downstream of the capture point", find_loss_after_capture},
    {"loss_between_points", error, "packets lost between two capture points", find_loss_between_points},
    {"loss_by_capture", warning, "packets not captured", find_loss_by_capture},
    {"capture_drops", warning, "the capture dropped packets", find_capture_drops},
    {"records_out_of_order", warning, "the capture is not in time order", find_records_out_of_order},
    {"asymmetric_capture", notice, "only one direction was captured", find_asymmetric_capture},
    {"sick_host", error, "one host behind many degraded connections", find_sick_host},
    {"sick_link", error, "one pair of hosts behind many degraded connections", find_sick_link},
    {"go_back_n_storm", error, "go-back-N storm", find_go_back_n_storm},
    {"read_storm", error, "READ response retransmission storm", find_read_storm},
    {"livelock", error, "livelock: the same packets retransmitted over and over", find_livelock},
    {"timeouts", error, "retransmission timeouts", find_timeouts},
    {"retries_exhausted", error, "transport retries exhausted", find_retries_exhausted},
    {"spurious_retransmission", warning, "spurious retransmissions", find_spurious_retransmission},
    {"slow_recovery", warning, "slow recovery from loss", find_slow_recovery},
    {"reordering", warning, "packets arrive out of order", find_reordering},
    {"duplicates_network", warning, "the network delivers packets twice", find_duplicates_network},
    {"rnr", warning, "receiver not ready", find_rnr},
    {"rnr_exhausted", error, "RNR retries exhausted", find_rnr_exhausted},
    {"zero_credits", notice, "responder grants no credits", find_zero_credits},
    {"remote_access_error", error, "remote access error", find_remote_access_error},
    {"invalid_request", error, "invalid request", find_invalid_request},
    {"remote_operational_error", error, "remote operational error", find_remote_operational_error},
    {"invalid_rd_request", error, "invalid RD request", find_invalid_rd_request},
    {"uc_message_loss", error, "messages lost on an unreliable connection", find_uc_message_loss},
    {"icrc_corruption", error, "corrupted packets (ICRC)", find_icrc_corruption},
    {"icrc_capture_artefact", notice, "ICRC wrong in the capture only", find_icrc_capture_artefact},
    {"path_mtu", warning, "path MTU problems", find_path_mtu},
    {"ip_fragments", warning, "RoCE packets in IP fragments", find_ip_fragments},
    {"illegal_sequence", warning, "illegal opcode sequence", find_illegal_sequence},
    {"msn_backwards", warning, "message sequence numbers go backwards", find_msn_backwards},
    {"pause_storm", error, "pause storm", find_pause_storm},
    {"pause_heavy", warning, "a receiver pauses its link much of the time", find_pause_heavy},
    {"pause_mutual", error, "two ports pause each other", find_pause_mutual},
    {"pause_unused_priority", warning, "a priority is paused that RoCE does not use",
     find_pause_unused_priority},
    {"roce_not_lossless", warning, "RoCE on a priority that is not lossless", find_roce_not_lossless},
    {"traffic_while_paused", warning, "packets sent to a port that had paused them",
     find_traffic_while_paused},
    {"global_pause_beside_pfc", warning, "global PAUSE alongside PFC", find_global_pause_beside_pfc},
    {"pause_malformed", warning, "malformed PAUSE or PFC frames", find_pause_malformed},
    {"dcbx_mismatch", warning, "the two ends of a link announce incompatible settings", find_dcbx_mismatch},
    {"dcbx_two_agents", warning, "two LLDP agents on one port", find_dcbx_two_agents},
    {"dcbx_priority_differs", warning, "RoCE uses a priority other than the announced one",
     find_dcbx_priority_differs},
    {"dcbx_policy_differs", warning, "a port announces settings that differ from the policy",
     find_dcbx_policy_differs},
    {"cm_rejected", warning, "connection rejected", find_cm_rejected},
    {"cm_unanswered", warning, "connection request unanswered", find_cm_unanswered},
    {"version_mix", notice, "RoCE v1 and v2 between the same hosts", find_version_mix},
    {"marking_directions", warning, "the two directions are marked differently", find_marking_directions},
    {"marking_changes", warning, "markings change within a flow", find_marking_changes},
    {"marking_between_points", warning, "markings differ between capture points",
     find_marking_between_points},
    {"retransmission_marking", warning, "retransmissions are marked differently",
     find_retransmission_marking},
    {"not_ect", warning, "RoCE data sent as Not-ECT", find_not_ect},
    {"ecn_off", info, "ECN is not used", find_ecn_off},
    {"cnp_marking", warning, "CNPs are not marked as CNPs", find_cnp_marking},
    {"pcp_without_dscp", notice, "VLAN priority and DSCP do not match", find_pcp_without_dscp},
    {"cm_traffic_class", notice, "markings differ from what the CM negotiated", find_cm_traffic_class},
    {"udp_source_ports", notice, "UDP source ports do not spread over paths", find_udp_source_ports},
    {"ce_without_cnp", warning, "CE marks without CNPs", find_ce_without_cnp},
    {"cnp_without_ce", info, "CNPs without CE marks", find_cnp_without_ce},
    {"cnp_ignored", warning, "a sender does not slow down for CNPs", find_cnp_ignored},
    {"source_mac_changed", notice, "source MAC address changes", find_source_mac_changed},
    {"policy_dscp", warning, "DSCP violates the policy", find_policy_dscp},
    {"policy_ecn", warning, "ECN violates the policy", find_policy_ecn},
    {"policy_pcp", warning, "VLAN priority violates the policy", find_policy_pcp},
    {"policy_priority", warning, "priority violates the policy", find_policy_priority},
    {"policy_vlan", warning, "VLAN tag violates the policy", find_policy_vlan},
    {"policy_ttl", warning, "TTL violates the policy", find_policy_ttl},
    {"policy_address", error, "address outside the allow list", find_policy_address},
    {"policy_pkey", error, "P_Key outside the allow list", find_policy_pkey},
    {"policy_version", warning, "RoCE version violates the policy", find_policy_version},
};

}  // namespace

std::span<const FindingRule> finding_rules() noexcept {
  return rules;
}

}  // namespace roce::analyze
