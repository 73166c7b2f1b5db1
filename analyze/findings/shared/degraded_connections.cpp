// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/degraded_connections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/retry_chains.hpp"

namespace roce::analyze {
namespace {

struct Row {
  Trouble trouble;
  Event event;
  bool booked_on_answers;  ///< the peer sent the event: the count belongs to the requester
  bool counts = true;      ///< otherwise it only adds packets to what another row counts
};

constexpr Row rows[] = {
    {Trouble::loss, Event::lost_before_capture, false},
    {Trouble::loss, Event::lost_trimmed, false},
    {Trouble::loss, Event::lost_after_capture, false},
    {Trouble::loss, Event::lost_between_points, false},
    {Trouble::loss, Event::uc_message_lost, false},
    {Trouble::silence, Event::retransmitted_timeout, false},
    {Trouble::silence, Event::retries_exhausted, false, false},
    {Trouble::unready, Event::rnr_nak, true},
    {Trouble::refusal, Event::nak_invalid_request, true},
    {Trouble::refusal, Event::nak_remote_access_error, true},
    {Trouble::refusal, Event::nak_remote_operational_error, true},
    {Trouble::corruption, Event::icrc_mismatch, false},
};

bool grave(Trouble trouble, std::uint64_t count, const Connection& connection, unsigned side) noexcept {
  const std::uint64_t packets = all_packets(connection, side);
  switch (trouble) {
    case Trouble::loss:
      return count >= 3 && 10'000 * count >= packets;
    case Trouble::silence:
      return count >= 3 && 200 * count >= packets;
    case Trouble::unready:
      return count >= 3 && 100 * count >= all_requests(connection.requester[side]);
    case Trouble::corruption:  // all of them: the capture is at fault
      return count >= 3 && count < packets - packets / 20;
    case Trouble::refusal:
    case Trouble::count_:
      break;
  }
  return count != 0;
}

constexpr struct {
  Trouble trouble;
  std::string_view one;
  std::string_view many;
  std::string_view towards;
  std::string_view from;
} words[] = {
    {Trouble::loss, "packet lost", "packets lost", "on the way to {}", "on the way from {}"},
    {Trouble::silence, "packet retransmitted", "packets retransmitted", "without an answer from {}",
     "by {} without an answer"},
    {Trouble::unready, "RNR NAK", "RNR NAKs", "from {}", "to {}"},
    {Trouble::refusal, "refused request", "refused requests", "to {}", "from {}"},
    {Trouble::corruption, "corrupted packet", "corrupted packets", "to {}", "from {}"},
};

}  // namespace

ConnectionTrouble sickness_of(const Connection& connection) {
  ConnectionTrouble sickness;
  for (unsigned side = 0; side < 2; ++side) {
    // Most connections are healthy: no event on either side.
    if (connection.sent[0].empty() && connection.sent[1].empty()) return sickness;
    for (const Row& row : rows) {
      if (!row.counts) continue;
      sickness.counts[static_cast<std::size_t>(row.trouble)][side] +=
          connection.sent[row.booked_on_answers ? 1 - side : side].count(row.event);
    }
    const Requester& requester = connection.requester[side];
    const bool silent = gave_up(connection, side);
    sickness.fatal |= silent || requester.rnr_exhausted || requester.refused_fatally;
    for (std::size_t t = 0; t < trouble_count; ++t) {
      const auto trouble = static_cast<Trouble>(t);
      const bool ended =
          (trouble == Trouble::silence && silent) || (trouble == Trouble::unready && requester.rnr_exhausted);
      if (!ended && !grave(trouble, sickness.counts[t][side], connection, side)) {
        sickness.counts[t][side] = 0;
        continue;
      }
      for (const Row& row : rows) {
        if (row.trouble == trouble)
          sickness.proof.add(connection.sent[row.booked_on_answers ? 1 - side : side].find(row.event));
      }
    }
  }
  return sickness;
}

bool SicknessSum::may_be_path() const noexcept {
  constexpr Trouble of_paths[] = {Trouble::loss, Trouble::silence, Trouble::corruption};
  return std::any_of(std::begin(of_paths), std::end(of_paths), [&](Trouble trouble) {
    const auto t = static_cast<std::size_t>(trouble);
    return towards[t] + from[t] != 0;
  });
}

void SicknessSum::add(const Connection& connection, const ConnectionTrouble& sickness, unsigned host_side) {
  ++connections;
  if (sickness.fatal) ++fatal;
  for (std::size_t t = 0; t < trouble_count; ++t) {
    towards[t] += sickness.counts[t][1 - host_side];
    from[t] += sickness.counts[t][host_side];
  }
  proof.add(sickness.proof);
  constexpr std::size_t named = 8;
  if (ids.size() < named) ids.push_back(connection.id);
}

std::string sickness_text(const SicknessSum& sum, const std::string& host) {
  std::string text;
  for (const auto& w : words) {
    const auto t = static_cast<std::size_t>(w.trouble);
    for (const auto& [count, place] :
         {std::pair(sum.towards[t], w.towards), std::pair(sum.from[t], w.from)}) {
      if (count == 0) continue;
      if (!text.empty()) text += ", ";
      text += plural(count, w.one, w.many) + " " + fmt::format(fmt::runtime(place), host);
    }
  }
  return text;
}

}  // namespace roce::analyze
