// SPDX-License-Identifier: Apache-2.0
// The end of the capture: packets that still wait, and what can only be said of a connection when it is over.
#include <algorithm>
#include <map>

#include "analyze/tracker/tracker_impl.hpp"

namespace roce::analyze {

/// What the flows have counted for the connection.
void Tracker::Impl::sum_up(Track& track) {
  Connection& c = track.result;
  bool any_time = false;
  for (unsigned side = 0; side < 2; ++side) {
    if (track.places[side] == no_place) continue;
    const Flow& flow = flows.at(track.places[side]);
    c.left_out[side] = flow.sequence().left_out;
    if (flow.packets == 0) continue;
    c.packets[side] = flow.packets;
    c.bytes[side] = flow.bytes;
    const std::uint64_t first = states[track.places[side]].first_frame;
    c.first_frame = c.first_frame == 0 ? first : std::min(c.first_frame, first);
    if (!flow.any_time) continue;
    c.first_time_ns = any_time ? std::min(c.first_time_ns, flow.first_time_ns) : flow.first_time_ns;
    c.last_time_ns = any_time ? std::max(c.last_time_ns, flow.last_time_ns) : flow.last_time_ns;
    any_time = true;
  }
  if (!any_time) c.first_time_ns = c.last_time_ns = capture::no_time;
}

/// What can only be said at the end.
void Tracker::Impl::conclude(Track& track) {
  Connection& c = track.result;
  const auto flow_of = [&](unsigned side) {
    return track.places[side] == no_place ? nullptr : &flows.at(track.places[side]);
  };
  for (unsigned side = 0; side < 2; ++side) {
    if (track.spaces[side]) track.spaces[side]->finish(c, flow_of(side), flow_of(side ^ 1U), shared);
  }
  drop_stray(track);
  conclude_views(track);
  for (unsigned side = 0; side < 2; ++side) CongestionTracker::finish(c, side, flow_of(side));
  sum_up(track);
  const bool failed = std::any_of(c.requester.begin(), c.requester.end(), [](const Requester& r) {
    return r.retries_exhausted || r.rnr_exhausted || r.refused_fatally;
  });
  if (failed) {
    c.state = Connection::State::failed;
  } else if (c.state != Connection::State::closed) {
    c.state = c.paired() ? Connection::State::open : Connection::State::half_seen;
  }

  Pairing& pairing = c.pairing;
  if (!c.paired()) {
    if (!pairing.has(Evidence::cm)) pairing.evidence = 0;
    pairing.confidence = 0;
    return;
  }
  if (pairing.answered != 0) {
    pairing.evidence =
        static_cast<std::uint8_t>(pairing.evidence | 1U << static_cast<unsigned>(Evidence::answers));
  }
  const double answers = static_cast<double>(pairing.answered);
  const double fitting = pairing.answered + pairing.unfitting == 0
                             ? 1.0
                             : answers / (answers + static_cast<double>(pairing.unfitting));
  double base = 0.5;
  if (pairing.has(Evidence::cm)) {
    base = 1.0;
  } else if (pairing.has(Evidence::udp_source_port)) {
    base = pairing.answered != 0 ? 0.99 : 0.9;
  } else if (pairing.has(Evidence::answers)) {
    base = pairing.answered >= 20 ? 0.95 : 0.8;
  }
  pairing.confidence = base * fitting;
}

/// Flows too short to show whose fault their wrong ICRCs are: the capture's, if it is so with all that their
/// host sent otherwise.
void Tracker::Impl::settle_short_flows() {
  std::vector<std::uint32_t> doubtful;
  for (std::uint32_t place = 0; place < states.size(); ++place) {
    const FlowState& state = states[place];
    if (state.connection == no_place && state.unpaired != nullptr && state.unpaired->icrc_awaited)
      doubtful.push_back(place);
  }
  if (doubtful.empty()) return;
  std::map<dissect::IpAddress, bool> by_capture;  // of hosts
  for (std::uint32_t place = 0; place < states.size(); ++place) {
    const FlowState& state = states[place];
    if (!state.icrc_by_capture() && !state.any_icrc_right()) continue;
    const auto [host, fresh] = by_capture.try_emplace(flows.at(place).key.src, true);
    host->second = host->second && state.icrc_by_capture();
  }
  for (const std::uint32_t place : doubtful) {
    const auto host = by_capture.find(flows.at(place).key.src);
    if (host != by_capture.end() && host->second) states[place].wrong_icrcs = 3;
    settle_icrc(place);
  }
  // Pairing brings packets, which may be of these as well.
  for (const std::uint32_t place : doubtful) {
    if (states[place].unpaired != nullptr && states[place].connection == no_place) find_partner(place);
  }
}

/// A flow's packets that still wait for the other direction are followed without it. True if there were any:
/// they may have begun flows that wait in turn.
bool Tracker::Impl::release_waiting(std::uint32_t place) {
  FlowState& state = states[place];
  if (state.unpaired == nullptr || state.connection != no_place || state.unpaired->held.empty()) return false;
  const Unpaired& waiting = *state.unpaired;
  const bool garbage = waiting.held.size() < 3 && !state.icrc_by_capture() &&
                       std::all_of(waiting.held.begin(), waiting.held.end(),
                                   [](const Held& packet) { return packet.record.damaged(); });
  if (!garbage && !waiting.only_cnps) {
    go_alone(place);
    return true;
  }
  // Corrupted numbers make no connection; they are still packets.
  for (const Held& packet : waiting.held) {
    count(place, packet.record, packet.number);
    publish(packet.number, Verdict{});
  }
  held -= std::min(held, waiting.held.size());
  state.unpaired->held.clear();
  return false;
}

bool Tracker::Impl::release_waiting() {
  bool more = false;
  for (std::uint32_t place = 0; place < states.size(); ++place) more = release_waiting(place) || more;
  return more;
}

Tracker::Result Tracker::Impl::finish(std::optional<std::int64_t> end_ns) {
  if (end_ns && shared.any_time) shared.last_time_ns = std::max(shared.last_time_ns, *end_ns);
  settle_short_flows();
  pair_the_rest();
  pair_cnps();
  // What waited may begin connections of its own, whose packets wait in turn. Each round they come nearer to
  // where they are counted; what only another point shows is counted already.
  constexpr unsigned taken_over_at_most = 4;
  bool more = true;
  for (unsigned round = 0; more; ++round) {
    more = release_waiting();
    for (std::uint32_t i = 0; i < tracks.size(); ++i) {
      if (tracks[i].in_use && tracks[i].views != nullptr)
        more = end_views(i, round < taken_over_at_most) || more;
    }
  }
  Result result;
  std::size_t count = 0;
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    if (!tracks[i].in_use) continue;
    release_held_back(static_cast<std::uint32_t>(i));
    conclude(tracks[i]);
    ++count;
  }
  result.clocks = clocks.result();
  result.congestion = congestion.take();
  result.forgotten_packets = shared.budget.forgotten;
  result.departed = flows.departed();
  result.connections.reserve(count);
  tracks.drain([&](Track& track) {
    Connection& c = track.result;
    if (track.in_use && c.packets[0] + c.packets[1] != 0) result.connections.push_back(std::move(c));
  });
  std::sort(result.connections.begin(), result.connections.end(),
            [](const Connection& a, const Connection& b) { return a.id < b.id; });
  for (std::uint32_t place = 0; place < states.size(); ++place) {
    const Flow& flow = flows.at(place);
    if (flow.in_use && flow.packets == 0) result.unlisted_copies += flow.sequence().duplicate_captures;
  }
  states.drain([](FlowState&) {});
  result.flows = flows.take_sorted();
  result.series = std::move(shared.series);
  return result;
}

}  // namespace roce::analyze
