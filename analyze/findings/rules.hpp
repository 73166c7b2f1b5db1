// SPDX-License-Identifier: Apache-2.0
// The rules, one file each in rules/. What each one looks for is in docs/findings/ID.md. A rule reads a
// complete snapshot and adds its findings, if any, to the sink.
#pragma once

namespace roce::analyze {

struct Snapshot;
class FindingSink;

void find_loss_before_capture(const Snapshot& snapshot, FindingSink& sink);
void find_loss_after_capture(const Snapshot& snapshot, FindingSink& sink);
void find_loss_between_points(const Snapshot& snapshot, FindingSink& sink);
void find_loss_by_capture(const Snapshot& snapshot, FindingSink& sink);
void find_records_out_of_order(const Snapshot& snapshot, FindingSink& sink);
void find_capture_drops(const Snapshot& snapshot, FindingSink& sink);
void find_asymmetric_capture(const Snapshot& snapshot, FindingSink& sink);
void find_go_back_n_storm(const Snapshot& snapshot, FindingSink& sink);
void find_read_storm(const Snapshot& snapshot, FindingSink& sink);
void find_livelock(const Snapshot& snapshot, FindingSink& sink);
void find_timeouts(const Snapshot& snapshot, FindingSink& sink);
void find_spurious_retransmission(const Snapshot& snapshot, FindingSink& sink);
void find_retries_exhausted(const Snapshot& snapshot, FindingSink& sink);
void find_slow_recovery(const Snapshot& snapshot, FindingSink& sink);
void find_rnr(const Snapshot& snapshot, FindingSink& sink);
void find_rnr_exhausted(const Snapshot& snapshot, FindingSink& sink);
void find_zero_credits(const Snapshot& snapshot, FindingSink& sink);
void find_remote_access_error(const Snapshot& snapshot, FindingSink& sink);
void find_invalid_request(const Snapshot& snapshot, FindingSink& sink);
void find_remote_operational_error(const Snapshot& snapshot, FindingSink& sink);
void find_invalid_rd_request(const Snapshot& snapshot, FindingSink& sink);
void find_uc_message_loss(const Snapshot& snapshot, FindingSink& sink);
void find_icrc_corruption(const Snapshot& snapshot, FindingSink& sink);
void find_icrc_capture_artefact(const Snapshot& snapshot, FindingSink& sink);
void find_reordering(const Snapshot& snapshot, FindingSink& sink);
void find_duplicates_network(const Snapshot& snapshot, FindingSink& sink);
void find_path_mtu(const Snapshot& snapshot, FindingSink& sink);
void find_ip_fragments(const Snapshot& snapshot, FindingSink& sink);
void find_illegal_sequence(const Snapshot& snapshot, FindingSink& sink);
void find_msn_backwards(const Snapshot& snapshot, FindingSink& sink);
void find_cm_rejected(const Snapshot& snapshot, FindingSink& sink);
void find_cm_unanswered(const Snapshot& snapshot, FindingSink& sink);
void find_version_mix(const Snapshot& snapshot, FindingSink& sink);
void find_marking_directions(const Snapshot& snapshot, FindingSink& sink);
void find_marking_between_points(const Snapshot& snapshot, FindingSink& sink);
void find_marking_changes(const Snapshot& snapshot, FindingSink& sink);
void find_retransmission_marking(const Snapshot& snapshot, FindingSink& sink);
void find_ecn_off(const Snapshot& snapshot, FindingSink& sink);
void find_not_ect(const Snapshot& snapshot, FindingSink& sink);
void find_cnp_marking(const Snapshot& snapshot, FindingSink& sink);
void find_pcp_without_dscp(const Snapshot& snapshot, FindingSink& sink);
void find_cm_traffic_class(const Snapshot& snapshot, FindingSink& sink);
void find_udp_source_ports(const Snapshot& snapshot, FindingSink& sink);
void find_ce_without_cnp(const Snapshot& snapshot, FindingSink& sink);
void find_cnp_without_ce(const Snapshot& snapshot, FindingSink& sink);
void find_cnp_ignored(const Snapshot& snapshot, FindingSink& sink);
void find_source_mac_changed(const Snapshot& snapshot, FindingSink& sink);
void find_pause_storm(const Snapshot& snapshot, FindingSink& sink);
void find_pause_heavy(const Snapshot& snapshot, FindingSink& sink);
void find_pause_mutual(const Snapshot& snapshot, FindingSink& sink);
void find_pause_unused_priority(const Snapshot& snapshot, FindingSink& sink);
void find_roce_not_lossless(const Snapshot& snapshot, FindingSink& sink);
void find_traffic_while_paused(const Snapshot& snapshot, FindingSink& sink);
void find_global_pause_beside_pfc(const Snapshot& snapshot, FindingSink& sink);
void find_pause_malformed(const Snapshot& snapshot, FindingSink& sink);
void find_dcbx_mismatch(const Snapshot& snapshot, FindingSink& sink);
void find_dcbx_two_agents(const Snapshot& snapshot, FindingSink& sink);
void find_dcbx_priority_differs(const Snapshot& snapshot, FindingSink& sink);
void find_dcbx_policy_differs(const Snapshot& snapshot, FindingSink& sink);
void find_policy_dscp(const Snapshot& snapshot, FindingSink& sink);
void find_policy_ecn(const Snapshot& snapshot, FindingSink& sink);
void find_policy_pcp(const Snapshot& snapshot, FindingSink& sink);
void find_policy_priority(const Snapshot& snapshot, FindingSink& sink);
void find_policy_vlan(const Snapshot& snapshot, FindingSink& sink);
void find_policy_ttl(const Snapshot& snapshot, FindingSink& sink);
void find_policy_address(const Snapshot& snapshot, FindingSink& sink);
void find_policy_pkey(const Snapshot& snapshot, FindingSink& sink);
void find_policy_version(const Snapshot& snapshot, FindingSink& sink);
void find_sick_host(const Snapshot& snapshot, FindingSink& sink);
void find_sick_link(const Snapshot& snapshot, FindingSink& sink);

}  // namespace roce::analyze
