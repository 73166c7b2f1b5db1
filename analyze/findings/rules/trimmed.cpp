// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "analyze/base/address_text.hpp"
#include "analyze/findings/shared/incident_counts.hpp"
#include "analyze/findings/shared/loss_cases.hpp"

namespace roce::analyze {

namespace {

/// " They have DSCP 11 and 21.", and what to do with these; of the whole capture.
std::string dscp_text(const Snapshot& snapshot) {
  std::string list, option;
  bool all_known = true;
  const Totals& totals = snapshot.totals;
  for (std::size_t dscp = 0; dscp < totals.trimmed_dscp.size(); ++dscp) {
    if (totals.trimmed_dscp[dscp] == 0) continue;
    list += fmt::format("{}{}", list.empty() ? "" : ", ", dscp);
    all_known = all_known && (snapshot.trimmed_dscps >> dscp & 1U) != 0;
    if (dscp != 0) option += fmt::format("{}{}", option.empty() ? "" : ",", dscp);
  }
  if (list.empty()) return {};
  std::string text = fmt::format(" Trimmed packets of this capture have DSCP {}.", list);
  if (!all_known && !option.empty())
    text += fmt::format(" With --trimmed-dscp {} short ones that were left whole are counted too.", option);
  if (const std::uint64_t whole = totals.remarked_packets(snapshot.trimmed_dscps); whole != 0)
    text += fmt::format(" {} with a DSCP of --trimmed-dscp {} whole.", packets_text(whole),
                        verb(whole, "is", "are"));
  return text;
}

constexpr std::string_view advice_of_switches =
    "which port and queue trims. SONiC: show interfaces counters trim, show queue counters PORT --trim, show "
    "switch-trimming global; Cumulus Linux: nv show interface PORT counters packet-trim. Trimming tells of a "
    "full queue: look for incast, for paths with uneven load, and whether ECN marks before the queue is "
    "full.";

/// Of UD, which has no connections and asks for nothing again.
void find_trimmed_datagrams(const Snapshot& snapshot, FindingSink& sink) {
  Finding finding;
  std::uint64_t of = 0;
  bool one_sender = true, one_receiver = true;
  for (const Flow& flow : snapshot.flows) {
    const SequenceCounts& sequence = flow.sequence();
    const std::uint64_t lost = sequence.lost[static_cast<std::size_t>(Lost::trimmed)];
    if (sequence.first_trimmed == 0 || lost == 0) continue;
    if (finding.count == 0) {
      finding.from = flow.key.src;
      finding.to = flow.key.dst;
    }
    one_sender = one_sender && finding.from == flow.key.src;
    one_receiver = one_receiver && finding.to == flow.key.dst;
    finding.count += lost;
    of += flow.packets + sequence.left_out;
    finding.packets.push_back(sequence.first_trimmed);
  }
  if (finding.count == 0) return;
  const auto who = [](const std::optional<dissect::IpAddress>& host, bool one, std::string_view several) {
    return one ? address_text(*host) : std::string(several);
  };
  const std::string from = who(finding.from, one_sender, "several hosts");
  finding.subject = fmt::format("{} to {}", from, who(finding.to, one_receiver, "several hosts"));
  if (!one_sender) finding.from.reset();
  if (!one_receiver) finding.to.reset();
  finding.severity = loss_severity(finding.count, of);
  finding.explanation = fmt::format(
      "{} over UD from {} {} trimmed by a switch between {} and the capture point: its queue was full, and "
      "it cut them instead of dropping them. Their receiver cannot use what is left, and over UD nobody "
      "sends "
      "it again.{}",
      share_text(finding.count, of), finding.subject, verb(finding.count, "was", "were"), from,
      dscp_text(snapshot));
  finding.advice = fmt::format(
      "On each switch on the way: {} {}", advice_of_switches,
      show_command(snapshot, "The packets", finding.count, finding.count, "roce.analysis.lost == trimmed"));
  sink.add(std::move(finding));
}

}  // namespace

void find_trimmed(const Snapshot& snapshot, FindingSink& sink) {
  report_cases(sink, loss_cases(snapshot, Event::lost_trimmed), [&](const Group& group) {
    const std::string from = from_text(group);
    const std::string incidents = incidents_text(
        snapshot, group, true, [](const Incident& each) { return each.is_known_by(PlaceEvidence::trimmed); });
    return Words{
        loss_severity(group),
        fmt::format("{}{} sent by {} {} trimmed by a switch between {} and the capture point: its queue was "
                    "full, and it cut them instead of dropping them. Their receiver cannot use what is "
                    "left.{}{}{}{}",
                    scope_text(group), share_text(group.count(), group.of), from,
                    verb(group.count(), "was", "were"), from, dscp_text(snapshot),
                    losses_in_text(group.count(), incidents), repair_text(snapshot, group),
                    worst_text(group)),
        fmt::format(
            "On each switch from {} to the capture point: {} A NIC that does not know trimmed packets drops "
            "them: give RoCE without such NICs a lossless priority. {}",
            from, advice_of_switches,
            show_losses(snapshot, group, shown_by_flag("roce.analysis.lost == trimmed", Event::lost_trimmed),
                        Event::lost_trimmed)),
    };
  });
  find_trimmed_datagrams(snapshot, sink);
}

}  // namespace roce::analyze
