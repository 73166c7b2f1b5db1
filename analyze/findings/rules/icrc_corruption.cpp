// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/common.hpp"
#include "analyze/findings/shared/icrc_counts.hpp"

namespace roce::analyze {
namespace {

/// A flow without a connection (UD) keeps no packet numbers; the totals keep the first ones.
void complete_cases(const Snapshot& snapshot, IcrcCounts& counts) {
  if (!counts.proof.frames.empty()) return;
  for (const std::uint64_t frame : snapshot.totals.icrc_mismatches) counts.proof.add_frame(frame);
}

/// The command that shows them: between `pair`, or, if that is null, of all senders but those whose ICRCs are
/// only wrong in the capture.
std::string command_text(const Snapshot& snapshot, const IcrcView& view, const IcrcView::Pair* pair,
                         const IcrcCounts& counts) {
  std::string test = without_copies(snapshot, "roce.icrc.status == mismatch");
  if (pair != nullptr) {
    test += fmt::format(" && roce.src == {} && roce.dst == {}", address_text(pair->first),
                        address_text(pair->second));
    return show_command(snapshot, "The packets", counts.wrong - counts.folded, counts.wrong, test);
  }
  constexpr std::size_t listed = 4;
  if (view.artefact.size() > listed)
    return "All packets with a wrong ICRC: " + packets_command(snapshot, test);
  for (const auto& [address, all] : view.artefact)
    test += fmt::format(" && !(roce.src == {})", address_text(address));
  return show_command(snapshot, "The packets", counts.wrong, counts.wrong, test);
}

void report(const Snapshot& snapshot, FindingSink& sink, std::string subject, const std::string& who,
            const std::string& command, IcrcCounts counts) {
  constexpr Scale scale{.warning_from = 0, .error_from = 0.001, .error_at_least = 10};
  complete_cases(snapshot, counts);
  Finding finding;
  finding.severity = severity_of(counts.wrong, counts.packets, scale);
  finding.subject = std::move(subject);
  finding.count = counts.wrong;
  finding.packets = counts.proof.frames;
  finding.first_time_ns = counts.proof.first_time_ns;
  finding.last_time_ns = counts.proof.last_time_ns;
  finding.confidence = 0.95;
  finding.connections = std::move(counts.connections);
  finding.explanation = fmt::format(
      "{} {} arrived at the capture point with a wrong ICRC: bits were flipped upstream of it. The receiver "
      "drops such packets silently, which looks like loss.",
      share_text(counts.wrong, counts.packets), who);
  if (counts.between != 0) {
    finding.explanation +=
        fmt::format(" {} of them had passed another capture point whole: damaged between the two points.",
                    counts.between);
  }
  if (counts.stray != 0) {
    finding.explanation +=
        fmt::format(" The flipped bits are in the address or queue pair of {}: no other packet has it.",
                    packets_text(counts.stray));
  }
  finding.advice = fmt::format(
      "Suspect a bad cable, optic, port or memory upstream of the capture point. On the receiver: rdma "
      "statistic show (rx_icrc_encapsulated counts these with mlx5); on both hosts: ethtool -S DEV | grep "
      "-iE 'crc|symbol|fec', ethtool -m DEV (light levels); on the switches: FEC and symbol errors of each "
      "port on the path. If no port counts errors, suspect memory or a device that rewrites packets. {}",
      command);
  sink.add(std::move(finding));
}

}  // namespace

void find_icrc_corruption(const Snapshot& snapshot, FindingSink& sink) {
  IcrcView view = look_at_icrc(snapshot);
  if (view.corrupted.size() <= told_apart) {
    for (auto& [pair, counts] : view.corrupted) {
      const std::string from = address_text(pair.first);
      const std::string to = address_text(pair.second);
      const bool alone = view.corrupted.size() == 1;
      report(snapshot, sink, fmt::format("{} > {}", from, to), fmt::format("from {} to {}", from, to),
             command_text(snapshot, view, alone ? nullptr : &pair, counts), std::move(counts));
    }
    return;
  }
  // Flipped bits in addresses make pairs that do not exist, so many pairs are one finding, with the worst.
  IcrcCounts all;
  auto worst = view.corrupted.begin();
  for (auto at = view.corrupted.begin(); at != view.corrupted.end(); ++at) {
    const IcrcCounts& counts = at->second;
    if (counts.wrong > worst->second.wrong) worst = at;
    all.packets += counts.packets;
    all.wrong += counts.wrong;
    all.stray += counts.stray;
    all.between += counts.between;
    all.proof.add(counts.proof);
    all.connections.insert(all.connections.end(), counts.connections.begin(), counts.connections.end());
  }
  std::sort(all.connections.begin(), all.connections.end());
  all.connections.erase(std::unique(all.connections.begin(), all.connections.end()), all.connections.end());
  if (all.connections.size() > 8) all.connections.resize(8);
  const std::string who =
      fmt::format("of {} pairs of hosts (most from {} to {}: {})", view.corrupted.size(),
                  address_text(worst->first.first), address_text(worst->first.second), worst->second.wrong);
  report(snapshot, sink, fmt::format("{} pairs of hosts", view.corrupted.size()), who,
         command_text(snapshot, view, nullptr, all), std::move(all));
}

}  // namespace roce::analyze
