// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <vector>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/common.hpp"
#include "analyze/findings/shared/mrc_cases.hpp"

namespace roce::analyze {
namespace {

/// "12 before the capture point, 3 trimmed behind it".
std::string places_text(const std::array<std::uint64_t, mrc_place_count>& lost) {
  constexpr std::string_view words[] = {"before the capture point", "behind the capture point",
                                        "trimmed before the capture point",
                                        "trimmed behind the capture point"};
  std::string text;
  for (std::size_t i = 0; i < std::size(words); ++i) {
    if (lost[i] != 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", lost[i], words[i]);
  }
  return text;
}

}  // namespace

void find_mrc_loss(const Snapshot& snapshot, FindingSink& sink) {
  // Single ones cost next to nothing.
  constexpr Scale repaired_scale{
      .warning_from = 1e-4, .error_from = 0.01, .error_at_least = 10, .warning_at_least = 3};
  constexpr auto last_hop = static_cast<std::size_t>(MrcPlace::trimmed_last_hop);
  std::vector<Finding> findings;
  for (const MrcWay& way : mrc_ways(snapshot)) {
    std::uint64_t packets = 0, repeats = 0, needless = 0, undecided = 0, lost = 0;
    std::array<std::uint64_t, mrc_place_count> at{};
    for (const MrcStream* stream : way.streams) {
      packets += stream->packets;
      repeats += stream->repeats;
      needless += stream->needless;
      undecided += stream->undecided;
      for (std::size_t i = 0; i < at.size(); ++i) {
        if (i == last_hop) continue;  // what another rule says
        lost += stream->lost[i];
        at[i] += stream->lost[i];
      }
    }
    if (lost == 0) continue;
    Proof proof = losses_of(snapshot, way,
                            [](const MrcLoss& loss) { return loss.place != MrcPlace::trimmed_last_hop; });
    proof.count = lost;
    Finding finding = mrc_finding(severity_of(lost, packets, repaired_scale), way, proof);
    finding.explanation = fmt::format(
        "{} from {} to {} over MRC {} lost ({}): {}. {} repeated, {} of them needlessly{}. MRC repairs "
        "single losses at once over another path; their cost is what is sent again.",
        plural(lost, "packet", "packets"), address_text(way.src), address_text(way.dst),
        lost == 1 ? "was" : "were", percent_text(lost, packets), places_text(at),
        plural(repeats, "packet was", "packets were"), needless == 0 ? "none" : std::to_string(needless),
        undecided == 0 ? ""
                       : fmt::format("; of {} the capture does not show whether it was needed", undecided));
    finding.advice = fmt::format(
        "The table mrc_paths of an export shows which paths lose. All of them alike: look at the first and "
        "the last hop; one of them: at a link or switch in between. The repeats: {}",
        packets_command(snapshot, fmt::format("{} && mrc.bth.rtx == 1", way_filter(way))));
    findings.push_back(std::move(finding));
  }
  add_told_once(sink, std::move(findings));
}

}  // namespace roce::analyze
