// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analyze/findings/shared/common.hpp"

namespace roce::analyze {

void find_mirror_loss(const Snapshot& snapshot, FindingSink& sink) {
  const std::uint64_t missing = snapshot.numbered.mirror_missing();
  if (missing == 0) return;
  constexpr Scale mirror_scale{.warning_from = 0.001};
  Finding finding;
  std::uint64_t packets = 0;
  for (const NumberedStream& stream : snapshot.numbered.streams) {
    if (!stream.mirror() || stream.missing == 0) continue;
    packets += stream.packets + stream.missing;
    finding.packets.push_back(stream.first_packet);
    if (stream.first_ns == capture::no_time) continue;
    finding.first_time_ns = std::min(finding.first_time_ns.value_or(stream.first_ns), stream.first_ns);
    finding.last_time_ns = std::max(finding.last_time_ns.value_or(stream.last_ns), stream.last_ns);
  }
  finding.severity = severity_of(missing, packets, mirror_scale);
  finding.subject = "the capture";
  finding.count = missing;
  finding.explanation = fmt::format(
      "{}, by the sequence numbers of the mirror itself. What is missing there is not counted as lost by the "
      "network unless a NAK asks for it; other findings on loss are less certain, and their confidence is "
      "lower.",
      mirror_loss_text(snapshot.numbered));
  finding.advice =
      "Does the mirrored traffic exceed the bandwidth of the mirror's port or of its way to the collector? "
      "Mirror "
      "fewer ports or one direction, truncate the packets (128 bytes hold all headers), give the mirror a "
      "queue of "
      "its own, and look at the drops of the switch's mirror port and of the collector's NIC (ethtool -S "
      "DEV).";
  sink.add(std::move(finding));
}

}  // namespace roce::analyze
