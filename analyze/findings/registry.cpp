// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/finding.hpp"

// All rules, in the order of the documentation: id, worst severity, what it needs of the capture, title. The
// row of an id declares find_ID(), which rules/ID.cpp defines; docs/findings/ID.md is its page.
// clang-format off
#define ROCE_FINDING_RULES(rule) \
  rule(loss_before_capture, error, both_directions, "packets lost upstream of the capture point") \
  rule(trimmed, error, anything, "packets trimmed by a switch") \
  rule(loss_after_capture, error, both_directions, "packets lost downstream of the capture point") \
  rule(loss_between_points, error, both_directions, "packets lost between two capture points") \
  rule(switch_drops, error, anything, "a switch reports dropped packets") \
  rule(mrc_bad_path, error, every_packet, "one path of an MRC stream loses packets") \
  rule(mrc_loss, error, every_packet, "packets of MRC lost") \
  rule(mrc_refused, error, anything, "an MRC receiver rejects writes for good") \
  rule(mrc_unanswered, error, every_packet, "an MRC receiver no longer answers") \
  rule(mrc_nacked, warning, anything, "an MRC receiver is out of resources") \
  rule(mrc_needless, warning, every_packet, "needless MRC retransmissions") \
  rule(mrc_trimmed_last_hop, warning, anything, "packets of MRC trimmed before their receiver") \
  rule(mrc_pfc, warning, anything, "PFC on a fabric that carries MRC") \
  rule(loss_by_capture, warning, every_packet, "packets not captured") \
  rule(capture_drops, warning, anything, "the capture dropped packets") \
  rule(mirror_loss, warning, anything, "a mirror lost packets on the way to the capture") \
  rule(encrypted, notice, anything, "packets are encrypted") \
  rule(records_out_of_order, warning, every_packet, "the capture is not in time order") \
  rule(asymmetric_capture, notice, every_packet, "only one direction was captured") \
  rule(sick_host, error, both_directions, "one host behind many degraded connections") \
  rule(sick_link, error, both_directions, "one pair of hosts behind many degraded connections") \
  rule(go_back_n_storm, error, both_directions, "go-back-N storm") \
  rule(read_storm, error, both_directions, "READ response retransmission storm") \
  rule(livelock, error, both_directions, "livelock: the same packets retransmitted over and over") \
  rule(timeouts, error, both_directions, "retransmission timeouts") \
  rule(retries_exhausted, error, both_directions, "transport retries exhausted") \
  rule(spurious_retransmission, warning, both_directions, "spurious retransmissions") \
  rule(slow_recovery, warning, both_directions, "slow recovery from loss") \
  rule(straggler, notice, every_packet, "the last of parallel transfers ends late") \
  rule(reordering, warning, every_packet, "packets arrive out of order") \
  rule(duplicates_network, warning, every_packet, "the network delivers packets twice") \
  rule(rnr, warning, anything, "receiver not ready") \
  rule(rnr_exhausted, error, both_directions, "RNR retries exhausted") \
  rule(zero_credits, notice, anything, "responder grants no credits") \
  rule(remote_access_error, error, anything, "remote access error") \
  rule(invalid_request, error, anything, "invalid request") \
  rule(remote_operational_error, error, anything, "remote operational error") \
  rule(invalid_rd_request, error, anything, "invalid RD request") \
  rule(uc_message_loss, error, every_packet, "messages lost on an unreliable connection") \
  rule(icrc_corruption, error, anything, "corrupted packets (ICRC)") \
  rule(icrc_capture_artefact, notice, anything, "ICRC wrong in the capture only") \
  rule(path_mtu, warning, both_directions, "path MTU problems") \
  rule(ip_fragments, warning, anything, "RoCE packets in IP fragments") \
  rule(illegal_sequence, warning, every_packet, "illegal opcode sequence") \
  rule(msn_backwards, warning, anything, "message sequence numbers go backwards") \
  rule(pause_storm, error, every_packet, "pause storm") \
  rule(pfc_watchdog, warning, every_packet, "a PFC watchdog should have fired") \
  rule(pause_heavy, warning, every_packet, "a receiver pauses its link much of the time") \
  rule(pause_mutual, error, every_packet, "two ports pause each other") \
  rule(pause_unused_priority, warning, anything, "a priority is paused that RoCE does not use") \
  rule(roce_not_lossless, warning, anything, "RoCE on a priority that is not lossless") \
  rule(traffic_while_paused, warning, every_packet, "packets sent to a port that had paused them") \
  rule(global_pause_beside_pfc, warning, anything, "global PAUSE alongside PFC") \
  rule(pause_malformed, warning, anything, "malformed PAUSE or PFC frames") \
  rule(dcbx_mismatch, warning, anything, "the two ends of a link announce incompatible settings") \
  rule(dcbx_two_agents, warning, anything, "two LLDP agents on one port") \
  rule(dcbx_priority_differs, warning, anything, "RoCE uses a priority other than the announced one") \
  rule(dcbx_policy_differs, warning, anything, "a port announces settings that differ from the policy") \
  rule(cm_rejected, warning, anything, "connection rejected") \
  rule(cm_unanswered, warning, both_directions, "connection request unanswered") \
  rule(cm_slow, warning, both_directions, "slow connection set-up") \
  rule(version_mix, notice, anything, "RoCE v1 and v2 between the same hosts") \
  rule(marking_directions, warning, anything, "the two directions are marked differently") \
  rule(marking_changes, warning, anything, "markings change within a flow") \
  rule(marking_between_points, warning, anything, "markings differ between capture points") \
  rule(retransmission_marking, warning, every_packet, "retransmissions are marked differently") \
  rule(not_ect, warning, anything, "RoCE data sent as Not-ECT") \
  rule(ecn_off, info, anything, "ECN is not used") \
  rule(cnp_marking, warning, anything, "CNPs are not marked as CNPs") \
  rule(pcp_without_dscp, notice, anything, "VLAN priority and DSCP do not match") \
  rule(tunnel_marking, warning, anything, "RoCE is best effort outside of a tunnel") \
  rule(tunnel_ecn, warning, anything, "ECN differs outside and inside of a tunnel") \
  rule(cm_traffic_class, notice, anything, "markings differ from what the CM negotiated") \
  rule(udp_source_ports, notice, anything, "UDP source ports do not spread over paths") \
  rule(ce_without_cnp, warning, both_directions, "CE marks without CNPs") \
  rule(cnp_without_ce, info, both_directions, "CNPs without CE marks") \
  rule(cnp_ignored, warning, every_packet, "a sender does not slow down for CNPs") \
  rule(source_mac_changed, notice, anything, "source MAC address changes") \
  rule(policy_dscp, warning, anything, "DSCP violates the policy") \
  rule(policy_ecn, warning, anything, "ECN violates the policy") \
  rule(policy_pcp, warning, anything, "VLAN priority violates the policy") \
  rule(policy_priority, warning, anything, "priority violates the policy") \
  rule(policy_vlan, warning, anything, "VLAN tag violates the policy") \
  rule(policy_ttl, warning, anything, "TTL violates the policy") \
  rule(policy_address, error, anything, "address outside the allow list") \
  rule(policy_pkey, error, anything, "P_Key outside the allow list") \
  rule(policy_version, warning, anything, "RoCE version violates the policy")
// clang-format on

namespace roce::analyze {

#define ROCE_DECLARE(id, severity, needs, title) void find_##id(const Snapshot& snapshot, FindingSink& sink);
ROCE_FINDING_RULES(ROCE_DECLARE)
#undef ROCE_DECLARE

namespace {

constexpr Needs anything;
using needs::both_directions;
using needs::every_packet;

#define ROCE_ROW(id, severity, needs, title) {#id, Severity::severity, title, find_##id, needs},
constexpr FindingRule rules[] = {ROCE_FINDING_RULES(ROCE_ROW)};
#undef ROCE_ROW

}  // namespace

std::span<const FindingRule> finding_rules() noexcept {
  return rules;
}

}  // namespace roce::analyze
