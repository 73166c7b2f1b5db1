// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/degraded_scope.hpp"

namespace roce::analyze {
namespace {

std::string blame_text(const SickLink& link) {
  if (!link.sum.may_be_path())
    return "All of it are answers of a host that is not ready or refuses: not the path between them.";
  if (link.others == 0) {
    return "Neither host has other connections in the capture, so it may be either host or what is between.";
  }
  return fmt::format(
      "Of the {} other connections of these hosts {} are sick: {}", link.others, link.others_sick,
      link.without_others
          ? fmt::format("it is the path between them, or {} itself, of which the capture holds no "
                        "other connection.",
                        address_text(*link.without_others))
          : std::string("what they share is the path between them."));
}

std::string advice_text(const SickLink& link, const std::string& a, const std::string& b) {
  if (!link.sum.may_be_path()) {
    return fmt::format(
        "Look at the applications of {} and {}: findings rnr and those of refused requests say which "
        "of them answers so and why.",
        a, b);
  }
  return fmt::format(
      "Follow the path between {} and {}: errors, drops and PFC counters of each switch port on it, the ECMP "
      "member or LAG port that its flows hash to (do all sick ones share one), ethtool -S DEV at both ends.",
      a, b);
}

}  // namespace

void find_sick_link(const Snapshot& snapshot, FindingSink& sink) {
  const SickPlaces places = look_for_sick_places(snapshot);
  for (const SickLink& link : places.links) {
    const std::string a = address_text(link.hosts.first);
    const std::string b = address_text(link.hosts.second);
    Finding finding;
    finding.severity = link.sum.fatal != 0 ? Severity::error : Severity::warning;
    finding.subject = fmt::format("{} - {}", a, b);
    finding.count = link.sum.connections;
    finding.packets = link.sum.proof.frames;
    finding.first_time_ns = link.sum.proof.first_time_ns;
    finding.last_time_ns = link.sum.proof.last_time_ns;
    finding.confidence = link.others >= 5 ? 0.9 : 0.5;
    finding.connections = link.sum.ids;
    finding.explanation =
        fmt::format("{} of {} connections between {} and {} are sick: {}. {}", link.sum.connections,
                    link.connections, a, b, sickness_text(link.sum, b), blame_text(link));
    if (link.sum.fatal != 0)
      finding.explanation +=
          fmt::format(" {} ended by it.", plural(link.sum.fatal, "connection", "connections"));
    finding.advice =
        fmt::format("{} All their packets: {}", advice_text(link, a, b),
                    packets_command(snapshot, fmt::format("roce.addr == {} && roce.addr == {}", a, b)));
    sink.add(std::move(finding));
  }
}

}  // namespace roce::analyze
