// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "analyze/findings/shared/common.hpp"
#include "analyze/findings/shared/port_cases.hpp"

namespace roce::analyze {

void find_roce_not_lossless(const Snapshot& snapshot, FindingSink& sink) {
  const Lossless lossless = lossless_priorities(snapshot);
  const std::uint8_t protected_ones = lossless.all();
  if (protected_ones == 0 || protected_ones == 0xff) return;
  const PriorityMap map = announced_map(snapshot);
  const PriorityUse use = priority_use(snapshot, map);
  const auto outside = static_cast<std::uint8_t>(use.used_by_data() & ~protected_ones);
  if (outside == 0) return;
  const DataOn found = data_on(use, outside);
  // A priority that no port paused may still be lossless; one that the ports do not announce is not.
  const bool announced = lossless.any_pfc;
  const bool alike = is_lossless_alike_everywhere(snapshot);
  const bool guessed = (outside & ~use.guessed_for_data()) == 0;
  Finding finding = finding_of(announced && !guessed && alike ? Severity::warning : Severity::notice,
                               fmt::format("RoCE on {}", priority_words(outside)), found.proof);
  // If no RoCE seems to use a lossless priority, these DSCPs are most likely mapped to it.
  const bool unexplained = (use.used_by_data() & protected_ones) == 0;
  finding.confidence = guessed ? (unexplained ? 0.3 : 0.4) : announced ? 0.9 : 0.5;
  finding.connections = found.connections;
  finding.explanation =
      fmt::format("{} that carry RoCE requests or READ responses use {}, which {} ({}).",
                  share_text(found.proof.count, found.all), priority_words(outside),
                  announced ? "no port announces as lossless (PFC) or ever pauses" : "no port ever pauses",
                  announced && lossless.paused == 0
                      ? fmt::format("announced: {}", priority_words(lossless.announced))
                      : fmt::format("paused or announced: {}", priority_words(protected_ones)));
  finding.explanation += " Such packets are dropped when a queue is full, and go-back-N retransmits them.";
  if (!alike) {
    finding.confidence = std::min(finding.confidence, 0.3);
    finding.explanation += other_point_text;
  }
  if (guessed) finding.explanation += guessed_priority_text;
  const auto wanted = static_cast<unsigned>(std::countr_zero(protected_ones));
  finding.advice = fmt::format(
      "Let RoCE use priority {0}: DSCP {1} with trust DSCP (mlnx_qos -i DEV --trust dscp), that is, with "
      "ECT(0), traffic class {2}: cma_roce_tos -d DEV -t {2} for RDMA-CM, echo {2} > "
      "/sys/class/infiniband/DEV/tc/1/traffic_class for the rest (NCCL_IB_TC={2}, UCX_IB_TRAFFIC_CLASS={2}); "
      "or make its present priority lossless on host and switch: mlnx_qos -i DEV --pfc {3}. All RoCE packets "
      "of these priorities, also ACKs and CNPs: {4}",
      wanted, dscp_of(map, wanted), traffic_class_for(map, wanted),
      pfc_list(static_cast<std::uint8_t>(protected_ones | outside)),
      packets_command(snapshot, priority_filter(outside, map)));
  sink.add(std::move(finding));
}

}  // namespace roce::analyze
