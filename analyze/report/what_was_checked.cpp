// SPDX-License-Identifier: Apache-2.0
#include "analyze/report/what_was_checked.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/texts.hpp"
#include "analyze/mrc/mrc.hpp"
#include "dissect/headers/infiniband.hpp"

namespace roce::analyze {
namespace {

/// Connections of which the capture shows both directions, and all packets.
std::size_t judged_connections(const Snapshot& s) {
  const auto judged = static_cast<std::size_t>(
      std::count_if(s.connections.begin(), s.connections.end(),
                    [&](const Connection& c) { return s.completeness.bears(needs::both_directions, c); }));
  return judged - std::min<std::size_t>(judged, s.completeness.too_little);
}

/// Without those of the CM.
std::uint64_t datagram_flows(const Snapshot& s) {
  return static_cast<std::uint64_t>(std::count_if(s.flows.begin(), s.flows.end(), [](const Flow& flow) {
    return flow.service_known && flow.service == dissect::Service::ud && flow.key.dst_qp > dissect::gsi_qpn;
  }));
}

/// Streams of MRC whose receiver was heard: without SACKs nothing tells what arrived.
std::size_t answered_streams(const Mrc& mrc) {
  return static_cast<std::size_t>(std::count_if(mrc.streams.begin(), mrc.streams.end(),
                                                [](const MrcStream& each) { return each.sacks != 0; }));
}

}  // namespace

std::string what_was_checked(const Snapshot& s) {
  std::vector<std::string> parts;
  const std::size_t judged = judged_connections(s);
  if (judged != 0) {
    parts.push_back("losses, retransmissions and answers in " +
                    (judged == s.connections.size()
                         ? plural(judged, "connection", "connections")
                         : fmt::format("{} of {} connections", judged, s.connections.size())));
  }
  if (const std::size_t heard = s.mrc ? answered_streams(*s.mrc) : 0; heard != 0) {
    parts.push_back("losses, repeats and paths of " +
                    (heard == s.mrc->streams.size()
                         ? plural(heard, "MRC stream", "MRC streams")
                         : fmt::format("{} of {} MRC streams", heard, s.mrc->streams.size())));
  }
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
  if (judged != s.connections.size()) {
    parts.push_back("losses, retransmissions and answers in " +
                    plural(s.connections.size() - judged, "connection", "connections"));
  }
  if (!s.completeness.bears(Need::place)) parts.emplace_back("where packets were lost");
  if (!s.completeness.holes.empty())
    parts.push_back("what happened in " + plural(s.completeness.holes.size(), "hole", "holes") +
                    " of the capture");
  if (s.mrc) {
    const std::size_t unheard = s.mrc->streams.size() - answered_streams(*s.mrc);
    if (unheard != 0)
      parts.push_back("losses in " + plural(unheard, "MRC stream", "MRC streams") +
                      ", of which no SACK was captured");
    if (s.mrc->dropped != 0)
      parts.push_back(plural(s.mrc->dropped, "packet of MRC", "packets of MRC") + " of further streams");
  }
  const std::uint64_t unconnected = datagram_flows(s);
  if (unconnected != 0)
    parts.push_back("losses in " + plural(unconnected, "UD flow", "UD flows") +
                    ", which nobody acknowledges");
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace roce::analyze
