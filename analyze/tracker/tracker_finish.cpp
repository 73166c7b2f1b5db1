// SPDX-License-Identifier: Apache-2.0
// The end of the capture: packets that still wait, and what can only be said of a connection when it is over.
#include <algorithm>
#include <map>
#include <utility>

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
  // What another point shows of UC is not missing here.
  if (c.service == dissect::Service::uc) conclude_views(track);
  for (unsigned side = 0; side < 2; ++side) {
    if (track.spaces[side]) track.spaces[side]->finish(c, flow_of(side), flow_of(side ^ 1U), shared);
  }
  drop_stray(track);
  settle_doubtful(track);
  conclude_views(track);
  conclude_incidents(track);
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

/// What is only needed while packets may still come. There may be a hundred thousand connections, and what is
/// concluded last needs memory, too.
void Tracker::Impl::release_state(Track& track) {
  for (const std::uint32_t place : track.places) {
    if (place != no_place) states[place].spaces = {};
  }
  for (DeepPtr<PsnSpace>& space : track.spaces) {
    if (space == nullptr) continue;
    space->release(shared.budget);
    space.reset();
  }
  track.concluded = true;
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
  const bool is_strange = garbage && among_strange(flows.at(place).key);
  for (const Held& packet : waiting.held) {
    if (is_strange) {
      take_as_strange(packet.record, packet.number);
      continue;
    }
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

/// A damaged packet makes no flow, unless all that its sender sent has a wrong ICRC: then the capture made
/// them wrong, and its short flows are flows. Where no ICRC was right at all, nothing shows which it is.
std::vector<StrayPackets> Tracker::Impl::take_strays() {
  std::vector<StrayPackets> strays;
  for (std::uint32_t place = 0; place < states.size(); ++place) {
    Flow& flow = flows.at(place);
    const DeepPtr<PlainFlow>& plain = states[place].plain_flow;
    if (plain == nullptr || plain->damaged == nullptr) continue;
    if (flow.packets != 1 || flow.icrc_mismatches != 1 || !among_strange(flow.key)) {
      settle_damaged(*plain);
      continue;
    }
    const PacketRecord& record = plain->damaged->record;
    take_as_strange(record, plain->damaged->number);
    flow.packets = 0;
  }
  if (right_senders.empty()) return strays;
  std::set<dissect::IpAddress> wrong_senders;
  std::map<std::pair<dissect::IpAddress, dissect::IpAddress>, std::uint64_t> packets;
  const auto is_stray = [&](std::uint32_t place) {
    const Flow& flow = flows.at(place);
    const FlowState& state = states[place];
    return flow.in_use && flow.packets != 0 && flow.icrc_mismatches == flow.packets &&
           state.connection == no_place && !state.icrc_by_capture();
  };
  for (std::uint32_t place = 0; place < states.size(); ++place) {
    if (states[place].icrc_by_capture()) wrong_senders.insert(flows.at(place).key.src);
  }
  for (std::uint32_t place = 0; place < states.size(); ++place) {
    if (!is_stray(place)) continue;
    Flow& flow = flows.at(place);
    if (wrong_senders.contains(flow.key.src)) continue;
    packets[{flow.key.src, flow.key.dst}] += std::exchange(flow.packets, 0);
  }
  strays.reserve(packets.size());
  for (const auto& [pair, count] : packets) strays.push_back({pair.first, pair.second, count});
  return strays;
}

Tracker::Result Tracker::Impl::finish(std::optional<std::int64_t> end_ns) {
  Result result;
  if (end_ns && shared.any_time) shared.last_time_ns = std::max(shared.last_time_ns, *end_ns);
  settle_doubted();
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
  for (std::uint32_t i = 0; i < tracks.size(); ++i) {
    if (!tracks[i].in_use || tracks[i].concluded) continue;
    if (explain_episode(i)) ++result.incidents_in_progress;
    release_held_back(i);
  }
  // Nobody looks for a partner any more.
  for (std::uint32_t place = 0; place < states.size(); ++place) states[place].unpaired.reset();
  unpaired = {};
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < tracks.size(); ++i) {
    if (!tracks[i].in_use) continue;
    ++count;
    if (tracks[i].concluded) continue;
    conclude(tracks[i]);
    release_state(tracks[i]);
  }
  result.clocks = clocks.result();
  result.trimmed = trims.by_dscp();
  result.congestion = congestion.take();
  result.incidents_dropped = incidents.dropped();
  std::vector<std::uint32_t> numbers;
  result.incidents = incidents.take(numbers);
  if (shared.verdicts != nullptr) shared.verdicts->number_incidents(std::move(numbers));
  result.forgotten_packets = shared.budget.forgotten;
  result.departed = flows.departed();
  result.connections.reserve(count);
  tracks.drain([&](Track& track) {
    Connection& c = track.result;
    if (track.in_use && c.packets[0] + c.packets[1] != 0) result.connections.push_back(std::move(c));
  });
  std::sort(result.connections.begin(), result.connections.end(),
            [](const Connection& a, const Connection& b) { return a.id < b.id; });
  result.strays = take_strays();
  result.lost_packets = std::move(lost_packets);
  result.perhaps_lost = std::move(perhaps_lost);
  result.not_roce = std::move(strange);
  for (std::uint32_t place = 0; place < states.size(); ++place) {
    const Flow& flow = flows.at(place);
    if (flow.in_use && flow.packets == 0) result.unlisted_copies += flow.sequence().duplicate_captures;
  }
  states.drain([](FlowState&) {});
  result.flows = flows.take_sorted();
  shared.series.fit_packets();
  result.series = std::move(shared.series);
  result.gaps = std::move(shared.gaps);
  return result;
}

}  // namespace roce::analyze
