// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/hosts_seen.hpp"
#include "analyze/findings/shared/marked_traffic.hpp"
#include "analyze/flow/mark_times.hpp"

namespace roce::analyze {
namespace {

constexpr auto no_ect = static_cast<std::uint8_t>(dissect::Ecn::not_ect);

/// Whether the policy specifies the ECN codepoints of RoCE data: then ECN is validated against it.
bool decided(const Snapshot& snapshot) {
  if (!snapshot.policy) return false;
  const auto& data = snapshot.policy->model().classes[static_cast<std::size_t>(TrafficClass::data)];
  return data && data->ecn.has_value();
}

}  // namespace

void find_ecn_off(const Snapshot& snapshot, FindingSink& sink) {
  // A few packets prove nothing about a fabric, and neither do packets that a filter chose.
  constexpr std::uint64_t enough = 1000;
  const Congestion& congestion = snapshot.congestion;
  if (congestion.ce_packets + congestion.ect_packets + congestion.cnp_packets != 0) return;
  if (!snapshot.filter.empty() || decided(snapshot)) return;
  Finding finding;
  Proof proof;
  std::size_t flows = 0;
  bool others = false;  // of RoCE v1, which has no ECN
  for (const Flow& flow : snapshot.flows) {
    if (!is_v2(flow.key.transport)) {
      others = true;
      continue;
    }
    bool any = false;
    for (const MarkRow& row : flow.marks()) {
      if (!carries(row.traffic_class)) continue;
      if (row.marks.ecn != no_ect) return;
      any = true;
      proof.count += row.packets;
      proof.add_frame(row.first_packet);
      proof.add_time(row.first_time_ns);
      proof.add_time(latest_time(flow, row));
    }
    flows += any ? 1 : 0;
  }
  if (proof.count < enough) return;
  finding.severity = Severity::info;
  finding.subject = "all RoCE data";
  finding.count = proof.count;
  finding.packets = proof.frames;
  finding.first_time_ns = proof.first_time_ns;
  finding.last_time_ns = proof.last_time_ns;
  finding.explanation = fmt::format(
      "All {} of RoCE data ({}) are Not-ECT, and there is neither a CE mark nor a CNP: ECN is not used here, "
      "so only PFC and loss slow senders down.",
      packets_text(proof.count), plural(flows, "flow", "flows"));
  finding.advice = fmt::format(
      "That is correct if the fabric is designed to work without congestion control, or controls it by "
      "round-trip times. Otherwise let hosts send ECT(0) (low two bits of the traffic class 2: 106 is DSCP "
      "26) and receivers answer CE with CNPs: /sys/class/net/DEV/ecn/roce_np/enable/N and roce_rp/enable/N, "
      "and configure ECN thresholds on the switches. {}",
      show_command(
          snapshot, "The packets", proof.count, proof.count,
          without_damaged(snapshot,
                          without_mirrored(snapshot, std::string(others ? "udp.dstport == 4791 && " : "") +
                                                         "(roce.class == data || roce.class == response || "
                                                         "roce.class == atomic)"))));
  sink.add(std::move(finding));
}

}  // namespace roce::analyze
