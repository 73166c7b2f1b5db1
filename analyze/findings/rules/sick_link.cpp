// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/degraded_scope.hpp"

namespace roce::analyze {
namespace {

std::string blame_text(const DegradedLink& link) {
  if (!link.sum.may_be_path())
    return "All of these are answers of a host that is not ready or refuses requests: the path between them "
           "is not the cause.";
  if (link.others == 0) {
    return "Neither host has other connections in the capture, so the cause may be either host or the path "
           "between them.";
  }
  return fmt::format(
      "Of the {} other connections of these hosts {} are degraded: {}", link.others, link.others_sick,
      link.without_others
          ? fmt::format("the cause is the path between them, or {} itself, which has no other connection in "
                        "the capture.",
                        address_text(*link.without_others))
          : std::string("what the degraded ones share is the path between these hosts."));
}

std::string advice_text(const DegradedLink& link, const std::string& a, const std::string& b) {
  if (!link.sum.may_be_path()) {
    return fmt::format(
        "Check the applications on {} and {}: finding rnr and those on refused requests show which of them "
        "answers like that and why.",
        a, b);
  }
  return fmt::format(
      "Check the path between {} and {}: errors, drops and PFC counters of each switch port on it, the ECMP "
      "member or LAG port that its flows hash to (do all degraded ones share one), ethtool -S DEV at both "
      "ends.",
      a, b);
}

}  // namespace

void find_sick_link(const Snapshot& snapshot, FindingSink& sink) {
  const SickPlaces places = look_for_sick_places(snapshot);
  for (const DegradedLink& link : places.links) {
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
        fmt::format("{} of {} connections between {} and {} are degraded: {}. {}", link.sum.connections,
                    link.connections, a, b, sickness_text(link.sum, b), blame_text(link));
    if (link.sum.fatal != 0)
      finding.explanation +=
          fmt::format(" {} failed because of it.", plural(link.sum.fatal, "connection", "connections"));
    finding.advice =
        fmt::format("{} All their packets: {}", advice_text(link, a, b),
                    packets_command(snapshot, fmt::format("roce.addr == {} && roce.addr == {}", a, b)));
    sink.add(std::move(finding));
  }
}

}  // namespace roce::analyze
