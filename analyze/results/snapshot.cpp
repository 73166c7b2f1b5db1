// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/snapshot.hpp"
#include "analyze/connection/find_connection.hpp"

#include <algorithm>
#include <limits>

namespace roce::analyze {

std::optional<std::uint64_t> Snapshot::dropped() const noexcept {
  std::optional<std::uint64_t> sum;
  for (const capture::InterfaceInfo& interface : interfaces) {
    // Drop counts of packets matter only without a statistics block.
    std::optional<std::uint64_t> told_by_packets;
    if (!interface.dropped_by_interface && !interface.dropped_by_kernel &&
        interface.dropped_before_packets != 0) {
      told_by_packets = interface.dropped_before_packets;
    }
    for (const auto& part : {interface.dropped_by_interface, interface.dropped_by_kernel, told_by_packets}) {
      if (!part) continue;
      const std::uint64_t before = sum.value_or(0);
      sum = before + *part < before ? std::numeric_limits<std::uint64_t>::max() : before + *part;
    }
  }
  if (skipped_packets != 0) {
    const std::uint64_t before = sum.value_or(0);
    sum = before + std::min(skipped_packets, std::numeric_limits<std::uint64_t>::max() - before);
  }
  return sum;
}

bool Snapshot::complete() const noexcept {
  const auto is_info = [](const Diagnostic& each) { return each.severity == DiagnosticSeverity::info; };
  return !interrupted && errors.empty() && std::all_of(diagnostics.begin(), diagnostics.end(), is_info);
}

std::optional<std::uint64_t> Snapshot::flow_of(std::uint64_t connection, unsigned side) const noexcept {
  const Connection* const found = find_connection(connections, connection);
  return found == nullptr ? std::nullopt : found->flow[side];
}

namespace {

std::uint64_t ce_copies_of(const Snapshot& snapshot, const FlowAtPoint& there) noexcept {
  const auto flow = std::lower_bound(snapshot.flows.begin(), snapshot.flows.end(), there.flow,
                                     [](const Flow& each, std::uint64_t wanted) { return each.id < wanted; });
  constexpr auto ce = static_cast<std::uint8_t>(dissect::Ecn::ce);
  if (flow == snapshot.flows.end() || flow->id != there.flow || flow->ecn[ce] != 0) return 0;
  std::uint64_t packets = 0;
  for (const MarkRow& row : there.otherwise) {
    if (row.marks.ecn == ce && row.traffic_class != TrafficClass::cnp) packets += row.packets;
  }
  return packets;
}

}  // namespace

std::uint64_t ce_copies(const Snapshot& snapshot, std::uint64_t flow) noexcept {
  std::uint64_t most = 0;
  auto at =
      std::lower_bound(snapshot.flow_points.begin(), snapshot.flow_points.end(), flow,
                       [](const FlowAtPoint& each, std::uint64_t wanted) { return each.flow < wanted; });
  for (; at != snapshot.flow_points.end() && at->flow == flow; ++at)
    most = std::max(most, ce_copies_of(snapshot, *at));
  return most;
}

std::uint64_t ce_copies(const Snapshot& snapshot) noexcept {
  std::uint64_t packets = 0;
  for (const FlowAtPoint& there : snapshot.flow_points) packets += ce_copies_of(snapshot, there);
  return packets;
}

}  // namespace roce::analyze
