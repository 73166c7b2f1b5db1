// SPDX-License-Identifier: Apache-2.0
#include "analyze/diagnosis/root_causes.hpp"

#include <algorithm>

namespace roce::analyze::diagnosis {
namespace {

using enum RootCause;
using Whereabouts::between_points;
using Whereabouts::downstream;
using Whereabouts::not_known;
using Whereabouts::responder;
using Whereabouts::upstream;
using Towards = Explains::Towards;

// A lost last packet of a message, or the only answer to one, leaves nothing but a timer. So timers are part
// of a loss that is proven between the same two hosts, whichever way it is.
constexpr Explains table_of_explanations[] = {
    // Whatever is behind a packet that never gets through does not get anywhere either.
    {no_answer, path_mtu, Towards::either},
    {request_or_answer_lost, path_mtu, Towards::either},
    {timer_too_short, path_mtu, Towards::either},
    {answers_lost, path_mtu, Towards::either},
    {loss, path_mtu, Towards::either},
    {loss_or_reordering, path_mtu, Towards::either},
    {request_or_answer_lost, pause, Towards::either},
    {timer_too_short, pause, Towards::either},
    {answers_lost, pause, Towards::either},
    {outage, pause, Towards::either},
    {loss_or_reordering, pause, Towards::either},
    {unexplained, pause, Towards::either},
    {no_answer, outage, Towards::either},
    {request_or_answer_lost, outage, Towards::either},
    {timer_too_short, outage, Towards::either},
    {answers_lost, outage, Towards::either},
    {loss, outage, Towards::either},
    {loss_or_reordering, outage, Towards::either},
    {unexplained, outage, Towards::either},
    {no_answer, pause, Towards::either},
    // Where the answers of a host do not get through either, its way is dead, and not its peer.
    {no_answer, answers_lost, Towards::same},
    {request_or_answer_lost, no_answer, Towards::same},
    {request_or_answer_lost, timer_too_short, Towards::same},
    {request_or_answer_lost, corruption, Towards::either},
    {request_or_answer_lost, trimming, Towards::either},
    {request_or_answer_lost, loss, Towards::either},
    {answers_lost, request_or_answer_lost, Towards::either, 0.25},
    {request_or_answer_lost, answers_lost, Towards::back},
    {request_or_answer_lost, loss_or_reordering, Towards::either},
    {request_or_answer_lost, receiver_not_ready, Towards::same, 0.25},
    {answers_lost, no_answer, Towards::back},
    {answers_lost, timer_too_short, Towards::back},
    {timer_too_short, trimming, Towards::either, 0.5},
    {timer_too_short, loss, Towards::either, 0.5},
    {timer_too_short, corruption, Towards::either, 0.5},
    {answers_lost, corruption, Towards::same},
    {answers_lost, trimming, Towards::same},
    {answers_lost, loss, Towards::same},
    // A queue that trims may drop as well; what it trims overtakes what waits in it.
    {loss, trimming, Towards::same, 0.25},
    {loss_or_reordering, trimming, Towards::same},
    {reordering, trimming, Towards::same},
    // What is damaged in its addresses, or whose frame check a switch looks at, is not seen as damaged.
    {loss, corruption, Towards::same, 1},
    // Of a lost or damaged response often only shows that the READ was asked again, for responses behind it
    // which had passed.
    {loss_or_reordering, corruption, Towards::same, 1},
    {loss_or_reordering, corruption, Towards::back, 0.5},
    // Whichever of the two is known more often than the other.
    {loss_or_reordering, loss, Towards::same, 0, reordering},
    {loss_or_reordering, loss, Towards::back, 0.5},
    {loss_or_reordering, reordering, Towards::same},
    // What came late, taken for lost, now and then is called lost for want of better knowledge, and the other
    // way round; what is late makes its answer late as well.
    {loss, reordering, Towards::same, 0.25},
    {reordering, loss, Towards::same, 0.1},
    {reordering, corruption, Towards::same, 0.1},
    {timer_too_short, reordering, Towards::either, 0.25},
    {request_or_answer_lost, reordering, Towards::either, 0.25},
    {timer_too_short, no_answer, Towards::same},
    {loss_or_reordering, timer_too_short, Towards::either, 0.25},
    {unexplained, request_refused, Towards::either},
    {unexplained, path_mtu, Towards::either},
    {unexplained, no_answer, Towards::either},
    {unexplained, corruption, Towards::either},
    {unexplained, trimming, Towards::either},
    {unexplained, loss, Towards::either},
    {unexplained, reordering, Towards::either},
    {unexplained, loss_or_reordering, Towards::either},
    {unexplained, answers_lost, Towards::either},
    {unexplained, timer_too_short, Towards::either},
    {unexplained, receiver_not_ready, Towards::either},
    {unexplained, request_or_answer_lost, Towards::either},
};

constexpr Causes what_repeats{corruption,
                              path_mtu,
                              outage,
                              trimming,
                              loss,
                              loss_or_reordering,
                              reordering,
                              answers_lost,
                              no_answer,
                              timer_too_short,
                              receiver_not_ready,
                              pause,
                              request_refused,
                              request_or_answer_lost,
                              unexplained};
constexpr Causes what_silences{no_answer,
                               path_mtu,
                               outage,
                               trimming,
                               loss,
                               corruption,
                               answers_lost,
                               timer_too_short,
                               request_or_answer_lost,
                               pause,
                               request_refused,
                               loss_or_reordering};
constexpr Consequence odd = Consequence::odd;
constexpr Consequence degraded = Consequence::degraded;
constexpr Consequence fatal = Consequence::fatal;

constexpr FindingRole table_of_roles[] = {
    {"loss_before_capture",
     loss,
     degraded,
     {loss, outage, corruption, reordering},
     true,
     0,
     {not_known, downstream, between_points, responder}},
    {"trimmed", trimming, degraded, {trimming}, true},
    {"loss_after_capture",
     loss,
     degraded,
     {loss, outage, path_mtu, corruption, reordering, answers_lost, loss_or_reordering},
     true,
     0,
     {upstream, between_points}},
    {"loss_between_points",
     loss,
     degraded,
     {loss, outage, corruption, loss_or_reordering},
     true,
     0,
     {upstream}},
    {"switch_drops", loss, degraded, {loss, outage, loss_or_reordering}},
    {"mrc_bad_path", loss, degraded, {}},
    {"mrc_loss", loss, degraded, {}, false, 1},
    {"mrc_refused", request_refused, fatal, {}},
    {"mrc_unanswered", no_answer, fatal, {}},
    {"mrc_nacked", receiver_not_ready, degraded, {}},
    {"mrc_needless", answers_lost, degraded, {}},
    {"mrc_trimmed_last_hop", trimming, degraded, {}},
    {"mrc_pfc", pause, degraded, {}},
    {"loss_by_capture", capture, odd, {}, false, 1},
    {"capture_drops", capture, odd, {}},
    {"mirror_loss", capture, odd, {}},
    {"encrypted", capture, odd, {}, false, 1},
    {"records_out_of_order", capture, odd, {}, false, 1},
    {"asymmetric_capture", capture, odd, {}, false, 1},
    {"sick_host", loss, degraded, what_repeats},
    {"sick_link", loss, degraded, what_repeats},
    {"go_back_n_storm", unexplained, degraded, what_repeats},
    {"read_storm", unexplained, degraded, what_repeats},
    {"livelock", unexplained, degraded, what_repeats},
    {"timeouts", request_or_answer_lost, degraded, what_repeats},
    {"retries_exhausted", no_answer, fatal, what_silences},
    {"spurious_retransmission", answers_lost, degraded, what_repeats},
    {"slow_recovery", unexplained, odd, what_repeats},
    {"straggler", unexplained, odd, what_repeats},
    {"reordering", reordering, degraded, {reordering, loss_or_reordering, outage}},
    {"duplicates_network", duplicates, odd, {duplicates}},
    {"rnr", receiver_not_ready, degraded, {receiver_not_ready}},
    {"rnr_exhausted", receiver_not_ready, fatal, {receiver_not_ready}},
    {"zero_credits", receiver_not_ready, odd, {receiver_not_ready}},
    {"remote_access_error", request_refused, fatal, {request_refused}},
    {"invalid_request", request_refused, fatal, {request_refused}},
    {"remote_operational_error", request_refused, fatal, {request_refused}},
    {"invalid_rd_request", request_refused, fatal, {request_refused}},
    {"uc_message_loss", loss, degraded, {loss, corruption, trimming, reordering}},
    {"icrc_corruption", corruption, degraded, {corruption}},
    {"icrc_capture_artefact", capture, odd, {}, false, 1},
    {"path_mtu", path_mtu, degraded, {}},
    {"ip_fragments", path_mtu, odd, {}},
    {"illegal_sequence", protocol, odd, {}},
    {"msn_backwards", protocol, odd, {}},
    {"pause_storm", pause, degraded, {pause}},
    {"pfc_watchdog", pause, degraded, {pause}, false, 0, {}, true},
    {"pause_heavy", pause, degraded, {pause}},
    {"pause_mutual", pause, degraded, {pause}},
    {"pause_unused_priority", settings, odd, {}},
    {"roce_not_lossless", settings, odd, {}},
    {"traffic_while_paused", pause, odd, {pause}},
    {"global_pause_beside_pfc", settings, odd, {}},
    {"pause_malformed", pause, odd, {}},
    {"dcbx_mismatch", settings, odd, {}},
    {"dcbx_two_agents", settings, odd, {}},
    {"dcbx_priority_differs", settings, odd, {}},
    {"dcbx_policy_differs", settings, odd, {}},
    {"cm_rejected", connection_refused, fatal, {}},
    {"cm_unanswered", connection_unanswered, fatal, {}},
    {"cm_slow", connection_slow, degraded, {loss, corruption, answers_lost, loss_or_reordering}},
    {"version_mix", settings, odd, {}},
    {"marking_directions", marking, odd, {}, false, 2},
    {"marking_changes", marking, odd, {}, false, 1},
    {"marking_between_points", marking, odd, {}, false, 1},
    {"retransmission_marking", marking, odd, {}, false, 1},
    {"not_ect", marking, odd, {}},
    {"ecn_off", marking, odd, {}},
    {"cnp_marking", marking, odd, {}},
    {"pcp_without_dscp", marking, odd, {}, false, 1},
    {"tunnel_marking", marking, odd, {loss}, true},
    {"tunnel_ecn", marking, odd, {loss}, true},
    {"cm_traffic_class", marking, odd, {}, false, 2},
    {"udp_source_ports", settings, odd, {}},
    {"ce_without_cnp", congestion, degraded, {}},
    {"cnp_without_ce", congestion, odd, {}},
    {"cnp_ignored", congestion, degraded, {}},
    {"source_mac_changed", settings, odd, {}},
    {"policy_dscp", marking, degraded, {}},
    {"policy_ecn", marking, degraded, {}},
    {"policy_pcp", marking, degraded, {}},
    {"policy_priority", marking, degraded, {}},
    {"policy_vlan", marking, degraded, {}},
    {"policy_ttl", marking, degraded, {}},
    {"policy_address", marking, degraded, {}},
    {"policy_pkey", marking, degraded, {}},
    {"policy_version", marking, degraded, {}},
};

}  // namespace

std::span<const Explains> explanations() noexcept {
  return table_of_explanations;
}

std::span<const FindingRole> finding_roles() noexcept {
  return table_of_roles;
}

const FindingRole* role_of(std::string_view finding) noexcept {
  const auto found = std::find_if(std::begin(table_of_roles), std::end(table_of_roles),
                                  [&](const FindingRole& role) { return role.id == finding; });
  return found == std::end(table_of_roles) ? nullptr : found;
}

}  // namespace roce::analyze::diagnosis
