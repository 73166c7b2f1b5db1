// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/finding.hpp"

// All rules, in the order of the documentation: id, worst severity, title. The row of an id declares
// find_ID(), which rules/ID.cpp defines; docs/findings/ID.md is its page.
// clang-format off
#define ROCE_FINDING_RULES(rule) \
  rule(loss_before_capture, error, "packets lost upstream of the capture point") \
  rule(loss_after_capture, error, "packets lost downstream of the capture point") \
  rule(loss_between_points, error, "packets lost between two capture points") \
  rule(loss_by_capture, warning, "packets not captured") \
  rule(capture_drops, warning, "the capture dropped packets") \
  rule(records_out_of_order, warning, "the capture is not in time order") \
  rule(asymmetric_capture, notice, "only one direction was captured") \
  rule(sick_host, error, "one host behind many degraded connections") \
  rule(sick_link, error, "one pair of hosts behind many degraded connections") \
  rule(go_back_n_storm, error, "go-back-N storm") \
  rule(read_storm, error, "READ response retransmission storm") \
  rule(livelock, error, "livelock: the same packets retransmitted over and over") \
  rule(timeouts, error, "retransmission timeouts") \
  rule(retries_exhausted, error, "transport retries exhausted") \
  rule(spurious_retransmission, warning, "spurious retransmissions") \
  rule(slow_recovery, warning, "slow recovery from loss") \
  rule(reordering, warning, "packets arrive out of order") \
  rule(duplicates_network, warning, "the network delivers packets twice") \
  rule(rnr, warning, "receiver not ready") \
  rule(rnr_exhausted, error, "RNR retries exhausted") \
  rule(zero_credits, notice, "responder grants no credits") \
  rule(remote_access_error, error, "remote access error") \
  rule(invalid_request, error, "invalid request") \
  rule(remote_operational_error, error, "remote operational error") \
  rule(invalid_rd_request, error, "invalid RD request") \
  rule(uc_message_loss, error, "messages lost on an unreliable connection") \
  rule(icrc_corruption, error, "corrupted packets (ICRC)") \
  rule(icrc_capture_artefact, notice, "ICRC wrong in the capture only") \
  rule(path_mtu, warning, "path MTU problems") \
  rule(ip_fragments, warning, "RoCE packets in IP fragments") \
  rule(illegal_sequence, warning, "illegal opcode sequence") \
  rule(msn_backwards, warning, "message sequence numbers go backwards") \
  rule(pause_storm, error, "pause storm") \
  rule(pause_heavy, warning, "a receiver pauses its link much of the time") \
  rule(pause_mutual, error, "two ports pause each other") \
  rule(pause_unused_priority, warning, "a priority is paused that RoCE does not use") \
  rule(roce_not_lossless, warning, "RoCE on a priority that is not lossless") \
  rule(traffic_while_paused, warning, "packets sent to a port that had paused them") \
  rule(global_pause_beside_pfc, warning, "global PAUSE alongside PFC") \
  rule(pause_malformed, warning, "malformed PAUSE or PFC frames") \
  rule(dcbx_mismatch, warning, "the two ends of a link announce incompatible settings") \
  rule(dcbx_two_agents, warning, "two LLDP agents on one port") \
  rule(dcbx_priority_differs, warning, "RoCE uses a priority other than the announced one") \
  rule(dcbx_policy_differs, warning, "a port announces settings that differ from the policy") \
  rule(cm_rejected, warning, "connection rejected") \
  rule(cm_unanswered, warning, "connection request unanswered") \
  rule(version_mix, notice, "RoCE v1 and v2 between the same hosts") \
  rule(marking_directions, warning, "the two directions are marked differently") \
  rule(marking_changes, warning, "markings change within a flow") \
  rule(marking_between_points, warning, "markings differ between capture points") \
  rule(retransmission_marking, warning, "retransmissions are marked differently") \
  rule(not_ect, warning, "RoCE data sent as Not-ECT") \
  rule(ecn_off, info, "ECN is not used") \
  rule(cnp_marking, warning, "CNPs are not marked as CNPs") \
  rule(pcp_without_dscp, notice, "VLAN priority and DSCP do not match") \
  rule(cm_traffic_class, notice, "markings differ from what the CM negotiated") \
  rule(udp_source_ports, notice, "UDP source ports do not spread over paths") \
  rule(ce_without_cnp, warning, "CE marks without CNPs") \
  rule(cnp_without_ce, info, "CNPs without CE marks") \
  rule(cnp_ignored, warning, "a sender does not slow down for CNPs") \
  rule(source_mac_changed, notice, "source MAC address changes") \
  rule(policy_dscp, warning, "DSCP violates the policy") \
  rule(policy_ecn, warning, "ECN violates the policy") \
  rule(policy_pcp, warning, "VLAN priority violates the policy") \
  rule(policy_priority, warning, "priority violates the policy") \
  rule(policy_vlan, warning, "VLAN tag violates the policy") \
  rule(policy_ttl, warning, "TTL violates the policy") \
  rule(policy_address, error, "address outside the allow list") \
  rule(policy_pkey, error, "P_Key outside the allow list") \
  rule(policy_version, warning, "RoCE version violates the policy")
// clang-format on

namespace roce::analyze {

#define ROCE_DECLARE(id, severity, title) void find_##id(const Snapshot& snapshot, FindingSink& sink);
ROCE_FINDING_RULES(ROCE_DECLARE)
#undef ROCE_DECLARE

namespace {

#define ROCE_ROW(id, severity, title) {#id, Severity::severity, title, find_##id},
constexpr FindingRule rules[] = {ROCE_FINDING_RULES(ROCE_ROW)};
#undef ROCE_ROW

}  // namespace

std::span<const FindingRule> finding_rules() noexcept {
  return rules;
}

}  // namespace roce::analyze
