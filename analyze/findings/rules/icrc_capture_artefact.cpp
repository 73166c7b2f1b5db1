// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analyze/findings/shared/common.hpp"
#include "analyze/findings/shared/icrc_counts.hpp"

namespace roce::analyze {

void find_icrc_capture_artefact(const Snapshot& snapshot, FindingSink& sink) {
  const IcrcView view = look_at_icrc(snapshot);
  if (view.artefact.empty()) return;
  IcrcCounts all;
  for (const auto& [address, counts] : view.artefact) {
    all.packets += counts.packets;
    all.wrong += counts.wrong;
    all.proof.add(counts.proof);
    for (const std::uint32_t id : counts.connections) all.connections.push_back(id);
  }
  std::sort(all.connections.begin(), all.connections.end());
  all.connections.erase(std::unique(all.connections.begin(), all.connections.end()), all.connections.end());
  if (all.connections.size() > 8) all.connections.resize(8);
  if (all.proof.frames.empty()) {
    for (const std::uint64_t frame : snapshot.totals.icrc_mismatches) all.proof.add_frame(frame);
  }
  const std::string first = address_text(view.artefact.begin()->first);
  const bool one = view.artefact.size() == 1;
  Finding finding;
  finding.severity = Severity::notice;
  finding.subject = one ? first : fmt::format("{} hosts", view.artefact.size());
  finding.count = all.wrong;
  finding.packets = all.proof.frames;
  finding.first_time_ns = all.proof.first_time_ns;
  finding.last_time_ns = all.proof.last_time_ns;
  finding.confidence = view.any_host_well ? 0.95 : 0.7;
  finding.connections = std::move(all.connections);
  finding.explanation = fmt::format(
      "{} sent by {} have a wrong ICRC{}. No link is that bad: {}", share_text(all.wrong, all.packets),
      one ? first : fmt::format("{} hosts ({} and others)", view.artefact.size(), first),
      view.any_host_well ? ", those of other hosts do not" : "",
      view.any_host_well
          ? "the capture was made on that host, before its NIC writes the ICRC."
          : "the capture was made before the NIC writes the ICRC, or a device rewrote all packets.");
  finding.advice =
      "Nothing to fix. To check ICRCs, capture at a mirror port or at the receiver; to suppress this "
      "finding, use --no-icrc. If this is a mirror port already, look for a device that rewrites addresses, "
      "ports or lengths (NAT, a tunnel, a mirror that truncates packets and adjusts lengths): receivers drop "
      "such packets.";
  sink.add(std::move(finding));
}

}  // namespace roce::analyze
