// SPDX-License-Identifier: Apache-2.0
#include "analyze/report/what_was_checked.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/texts.hpp"
#include "analyze/mrc/mrc.hpp"
#include "analyze/results/pause_facts.hpp"
#include "dissect/headers/infiniband.hpp"

namespace roce::analyze {
namespace {

/// UC: what does not arrive behind the capture, no packet tells.
bool has_answers(const Connection& connection) noexcept {
  return connection.service != dissect::Service::uc;
}

std::size_t acknowledged_connections(const Snapshot& s) {
  return static_cast<std::size_t>(std::count_if(s.connections.begin(), s.connections.end(), has_answers));
}

/// Those of them of which the capture shows both directions, and all packets.
std::size_t judged_connections(const Snapshot& s) {
  const auto judged = static_cast<std::size_t>(
      std::count_if(s.connections.begin(), s.connections.end(), [&](const Connection& c) {
        return has_answers(c) && s.completeness.bears(needs::both_directions, c);
      }));
  return judged - std::min<std::size_t>(judged, s.completeness.too_little);
}

/// Without those of the CM.
std::uint64_t datagram_flows(const Snapshot& s) {
  return static_cast<std::uint64_t>(std::count_if(s.flows.begin(), s.flows.end(), [](const Flow& flow) {
    return flow.service_known && flow.service == dissect::Service::ud && flow.key.dst_qp > dissect::gsi_qpn;
  }));
}

/// Streams of MRC of which all was captured, and whose receiver was heard: without SACKs nothing tells what
/// arrived.
std::size_t judged_streams(const Snapshot& s) {
  if (s.mrc == nullptr || !s.completeness.bears(Need::packets)) return 0;
  return static_cast<std::size_t>(std::count_if(s.mrc->streams.begin(), s.mrc->streams.end(),
                                                [](const MrcStream& each) { return each.sacks != 0; }));
}

}  // namespace

std::string what_was_checked(const Snapshot& s) {
  std::vector<std::string> parts;
  const std::size_t judged = judged_connections(s);
  const std::size_t of = acknowledged_connections(s);
  if (judged != 0) {
    parts.push_back("losses, retransmissions and answers in " +
                    (judged == of ? plural(judged, "connection", "connections")
                                  : fmt::format("{} of {} connections", judged, of)));
  }
  if (const std::size_t heard = judged_streams(s); heard != 0) {
    parts.push_back("losses, repeats and paths of " +
                    (heard == s.mrc->streams.size()
                         ? plural(heard, "MRC stream", "MRC streams")
                         : fmt::format("{} of {} MRC streams", heard, s.mrc->streams.size())));
  }
  const std::size_t silent = s.connections.size() - of;
  if (silent != 0 && s.completeness.bears(Need::packets))
    parts.push_back("losses upstream of this capture in " +
                    plural(silent, "UC connection", "UC connections"));
  if (!s.exchanges.empty()) parts.push_back(plural(s.exchanges.size(), "CM exchange", "CM exchanges"));
  const std::uint64_t icrcs = s.totals.icrc[static_cast<std::size_t>(dissect::CrcStatus::match)] +
                              s.totals.icrc[static_cast<std::size_t>(dissect::CrcStatus::mismatch)];
  if (s.icrc_checked && icrcs != 0) parts.push_back("ICRCs of " + plural(icrcs, "packet", "packets"));
  if (s.dropped()) parts.emplace_back("drops reported by the capture");
  if (!s.completeness.bears(Need::packets) && !s.flows.empty())
    parts.push_back("markings of " + plural(s.flows.size(), "flow", "flows"));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string what_was_not_checked(const Snapshot& s) {
  std::vector<std::string> parts;
  const std::size_t judged = judged_connections(s);
  const std::size_t of = acknowledged_connections(s);
  if (judged != of) {
    parts.push_back("losses, retransmissions and answers in " +
                    plural(of - judged, "connection", "connections"));
  }
  if (const std::size_t silent = s.connections.size() - of; silent != 0)
    parts.push_back("losses downstream of this capture in " +
                    plural(silent, "UC connection", "UC connections") + ", which nobody acknowledges");
  if (!s.completeness.bears(Need::place)) parts.emplace_back("where packets were lost that it shows once");
  if (!s.completeness.holes.empty())
    parts.push_back("what happened in " + plural(s.completeness.holes.size(), "hole", "holes") +
                    " of the capture");
  if (s.mrc) {
    const std::size_t unheard = s.mrc->streams.size() - judged_streams(s);
    if (unheard != 0)
      parts.push_back("losses in " + plural(unheard, "MRC stream", "MRC streams") +
                      (s.completeness.bears(Need::packets) ? ", of which no SACK was captured" : ""));
    if (s.mrc->dropped != 0)
      parts.push_back(plural(s.mrc->dropped, "packet of MRC", "packets of MRC") + " of further streams");
  }
  const std::uint64_t unconnected = datagram_flows(s);
  if (unconnected != 0)
    parts.push_back("losses in " + plural(unconnected, "UD flow", "UD flows") +
                    ", which nobody acknowledges");
  const std::vector<PausePort>& ports = s.pauses.ports;
  const bool unknown_speed =
      s.pauses.watchdog &&
      std::any_of(ports.begin(), ports.end(), [](const PausePort& port) { return !is_speed_known(port); });
  if (unknown_speed) parts.emplace_back("PFC watchdogs, for the link speed is not known (--link-speed)");
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace roce::analyze
