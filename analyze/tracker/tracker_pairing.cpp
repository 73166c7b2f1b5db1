// SPDX-License-Identifier: Apache-2.0
// Which two flows are the two directions of one connection. RC packets do not name the queue pair they
// come from, so it takes evidence: the CM exchange, the UDP source port, or answers that fit.
#include <algorithm>
#include <utility>

#include "analyze/tracker/tracker_impl.hpp"

namespace roce::analyze {
namespace {

/// Of them, those that may pass until a flow whose first ICRCs are wrong shows three of the same kind.
constexpr std::size_t held_for_icrc = 16;

FlowKey reversed(const FlowKey& key, std::uint32_t qpn) {
  FlowKey other = key;
  other.src = key.dst;
  other.dst = key.src;
  other.dst_qp = qpn;
  return other;
}

std::uint8_t with(std::uint8_t evidence, Evidence more) {
  return static_cast<std::uint8_t>(evidence | 1U << static_cast<unsigned>(more));
}

bool awaits_icrc(const FlowState& state) noexcept {
  return state.unpaired != nullptr && state.unpaired->icrc_awaited;
}

}  // namespace

bool Tracker::Impl::opposite(std::uint32_t place, std::uint32_t other) {
  const FlowKey& a = flows.at(place).key;
  const FlowKey& b = flows.at(other).key;
  return place != other && a.src == b.dst && a.dst == b.src && a.transport == b.transport;
}

/// Keeps the packet until the other direction is known, or it has been waited for long enough.
Verdict Tracker::Impl::hold(std::uint32_t place, const PacketRecord& record, std::uint64_t number) {
  Verdict of_another;
  if (ends_use(place, record, number, of_another)) return of_another;
  FlowState& state = states[place];
  const dissect::OpcodeInfo& info = dissect::opcode_info(record.opcode);
  const bool fresh = state.unpaired == nullptr;
  const bool outer = state.in_hand;
  state.in_hand = true;  // pairing may bring new flows, which need room
  if (fresh) {
    state.unpaired = std::make_unique<Unpaired>();
    state.unpaired->first = record;
    if (used_before.contains(record.key.hash())) state.unpaired->use.begin_here();
    state.unpaired->icrc_awaited = state.icrc_doubtful();
    if (!state.queued) holding.push_back(place);
    state.queued = true;
    unpaired.note_port(record);
  }
  Unpaired& waiting = *state.unpaired;
  waiting.held.push_back({record, number});
  ++held;
  if (info.operation != dissect::Operation::cnp) waiting.only_cnps = false;
  const bool settled =
      !fresh && waiting.icrc_awaited && (!state.icrc_doubtful() || waiting.held.size() >= held_for_icrc);
  if (settled) {
    settle_icrc(place);
  } else if (info.request) {
    note_request(place, record);
  }
  if (fresh) note_use(place, record, number);
  // Pairing replays packets, which may begin new flows, for which others leave, this one's partner among
  // them: then the flow is neither paired nor waiting any more.
  const auto waits = [&] {
    return states[place].unpaired != nullptr && states[place].connection == no_place;
  };
  if (settled) find_partner(place);
  if (fresh) {
    if (!state.unpaired->icrc_awaited) find_partner(place);
    if (waits()) {
      unpaired.add(place, record);
      ++search.listings;
      search.listed_until = std::max(search.listed_until, flows.at(place).id + 1);
      states[place].unpaired->listed = true;
      if (!states[place].unpaired->requests.empty()) unpaired.add_requester(record);
    }
  }
  if (waits() && info.request) hear(place, record);
  if (waits() && info.response) consider(place, record);
  if (waits() && states[place].unpaired->waits_too_long() && !choose(place, states[place].unpaired->tried))
    go_alone(place);
  while (held > held_of_all) flush_oldest();
  state.in_hand = outer;
  Verdict verdict;
  if (shared.verdicts != nullptr) {
    if (const Verdict* known = shared.verdicts->find(number)) verdict = *known;
  }
  return verdict;
}

/// It is known by now whether the capture or the wire made the first packets' ICRCs wrong.
void Tracker::Impl::settle_icrc(std::uint32_t place) {
  Unpaired& waiting = *states[place].unpaired;
  waiting.icrc_awaited = false;
  for (const Held& packet : waiting.held) {
    if (dissect::opcode_info(packet.record.opcode).request) note_request(place, packet.record);
    note_use(place, packet.record, packet.number);
  }
}

/// Evidence that needs no answers: the CM, or a source port that follows from both queue pair numbers.
void Tracker::Impl::find_partner(std::uint32_t place) {
  const FlowKey key = flows.at(place).key;
  if (const auto told = cm_peers.find({key.dst, key.dst_qp}); told != cm_peers.end()) {
    if (told->second.address == key.src) {
      const std::uint32_t other = flows.find(reversed(key, told->second.qpn));
      if (other != no_place && other != place && !states[other].plain && !awaits_icrc(states[other]) &&
          (states[other].connection == no_place || !tracks[states[other].connection].result.paired())) {
        pair(place, other, Evidence::cm);
      }
      return;  // it is known whom it belongs to: nobody else
    }
  }
  const PacketRecord& record = states[place].unpaired->first;
  if (!record.has(PacketRecord::has_ports)) return;
  std::uint32_t found = no_place;
  // Where many flows share a port it does not follow from their numbers, and some fit by chance.
  constexpr std::size_t few = 4;
  const std::span<const std::uint32_t> on_port = unpaired.on_port(record);
  if (on_port.size() > few || unpaired.on_shared_port(record)) return;
  for (const std::uint32_t other : on_port) {
    if (!opposite(place, other) || awaits_icrc(states[other])) continue;
    const FlowKey& candidate = flows.at(other).key;
    if (cm_peers.find({candidate.dst, candidate.dst_qp}) != cm_peers.end()) continue;
    if (source_port_of(key.dst_qp, candidate.dst_qp) != record.udp_source) continue;
    if (found != no_place) return;  // two would do: wait for answers
    found = other;
  }
  if (found != no_place) pair(place, found, Evidence::udp_source_port);
}

/// The flow waits no longer.
void Tracker::Impl::drop_unpaired(std::uint32_t place) {
  unlist(place);
  if (states[place].unpaired == nullptr) return;
  prefer(place, no_place);
  search.looks += states[place].unpaired->looks;
  if (states[place].unpaired->answers != 0) --search.answering;
  search.candidate_slots -= states[place].unpaired->candidates.capacity();
  states[place].unpaired->requests.release(search.trace_budget);
  states[place].unpaired.reset();
}

void Tracker::Impl::unlist(std::uint32_t place) {
  FlowState& state = states[place];
  if (state.unpaired == nullptr) return;
  if (state.unpaired->listed) {
    unpaired.remove(place, state.unpaired->first);
    if (!state.unpaired->requests.empty()) unpaired.remove_requester(state.unpaired->first);
  }
  state.unpaired->listed = false;
}

/// Fills in what a flow's direction says of a connection.
void Tracker::Impl::describe(Track& track, std::uint32_t place, unsigned side) {
  Flow& flow = flows.at(place);
  Connection& c = track.result;
  c.transport = flow.key.transport;
  c.ends[side].address = flow.key.src;
  c.ends[side ^ 1U].address = flow.key.dst;
  c.ends[side ^ 1U].qp = flow.key.dst_qp;
  c.flow[side] = flow.id;
  flow.connection = c.id;
  const auto told = cm_peers.find({flow.key.dst, flow.key.dst_qp});
  if (told == cm_peers.end() || told->second.address != flow.key.src) return;
  const CmPeer& peer = told->second;
  c.cm = peer.exchange;
  c.retry_count = peer.retry_count;
  c.rnr_retry = peer.rnr_retry;
  c.ends[side].qp = peer.qpn;
  c.client_is_a = peer.is_client ? side == 1 : side == 0;
  c.pairing.evidence = with(c.pairing.evidence, Evidence::cm);
  if (peer.pmtu != 0) {
    c.pmtu = peer.pmtu;
    c.pmtu_by_cm = true;
  }
}

void Tracker::Impl::attach(std::uint32_t connection, std::uint32_t place, unsigned side) {
  tracks[connection].places[side] = place;
  states[place].connection = connection;
  states[place].side = side & 1U;
  describe(tracks[connection], place, side);
  link(tracks[connection]);
}

std::uint32_t Tracker::Impl::new_connection(std::uint32_t place) {
  auto index = static_cast<std::uint32_t>(tracks.size());
  if (unused_tracks.empty()) {
    tracks.emplace_back();
  } else {
    index = unused_tracks.back();
    unused_tracks.pop_back();
  }
  tracks[index].in_use = true;
  tracks[index].result.id = next_connection++;
  attach(index, place, 0);
  return index;
}

/// Forgets a connection that was merged into another, or leaves.
void Tracker::Impl::drop(std::uint32_t connection) {
  for (const std::uint32_t place : tracks[connection].places) {
    if (place != no_place) states[place].spaces = {};
  }
  drop_views(tracks[connection]);
  tracks[connection] = Track{};
  unused_tracks.push_back(connection);
}

/// A packet that waited.
void Tracker::Impl::replay_one(const PacketRecord& record, std::uint64_t number) {
  const std::uint32_t place = flows.find(record.key);
  if (place == no_place || states[place].connection == no_place) {
    // Its connection left, or one of the packets before began another sequence: a flow of its own.
    Verdict verdict;
    track_long(record, number, verdict);
  } else {
    step_at(states[place].connection, states[place].side, record, number, place);
  }
}

void Tracker::Impl::replay(std::vector<Held>& packets) {
  held -= std::min(held, packets.size());
  for (const Held& packet : packets) replay_one(packet.record, packet.number);
  packets.clear();
}

/// An episode of what was followed alone is told once its other half is known, with what that had to say.
std::vector<Held> Tracker::Impl::take_episode(std::uint32_t connection) {
  if (connection == no_place || tracks[connection].episode == nullptr) return {};
  Track& track = tracks[connection];
  if (track.views != nullptr || track.jump != nullptr) return {};
  const std::unique_ptr<Episode> open = std::move(track.episode);
  open_episodes.erase(open->first_frame);
  // They come once more, and are noted then.
  std::erase_if(track.damaged, [&](const DamagedPacket& each) {
    return std::any_of(open->held.begin(), open->held.end(),
                       [&](const Held& packet) { return packet.number == each.frame; });
  });
  return std::move(open->held);
}

/// Two flows belong together. Each may have waited with its packets, or have been followed alone.
void Tracker::Impl::pair(std::uint32_t place, std::uint32_t other, Evidence evidence) {
  unlist(place);
  unlist(other);
  std::vector<Held> packets;
  const auto by_number = [](const Held& a, const Held& b) { return a.number < b.number; };
  bool as_in_file = true;
  const auto take = [&](std::vector<Held>& waiting) {
    as_in_file = as_in_file && std::is_sorted(waiting.begin(), waiting.end(), by_number);
    packets.insert(packets.end(), std::make_move_iterator(waiting.begin()),
                   std::make_move_iterator(waiting.end()));
  };
  for (const std::uint32_t each : {place, other}) {
    if (states[each].unpaired != nullptr) take(states[each].unpaired->held);
    std::vector<Held> explained_with_the_other = take_episode(states[each].connection);
    take(explained_with_the_other);
  }
  std::sort(packets.begin(), packets.end(), by_number);
  if (!as_in_file) {
    // They came in order of time; see TimeOrder.
    std::stable_sort(packets.begin(), packets.end(),
                     [](const Held& a, const Held& b) { return a.record.time_ns < b.record.time_ns; });
  }

  std::uint32_t connection = states[place].connection;
  const std::uint32_t of_other = states[other].connection;
  if (connection == no_place && of_other == no_place) {
    const bool place_first = !packets.empty() && packets.front().record.key == flows.at(place).key;
    connection = new_connection(place_first ? place : other);
    attach(connection, place_first ? other : place, 1);
  } else if (connection == no_place) {
    connection = of_other;
    attach(connection, place, states[other].side ^ 1U);
  } else if (of_other == no_place) {
    attach(connection, other, states[place].side ^ 1U);
  } else if (tracks[connection].result.id < tracks[of_other].result.id) {
    merge(connection, of_other);
  } else {
    merge(of_other, connection);
    connection = of_other;
  }
  Connection& c = tracks[connection].result;
  c.pairing.evidence = with(c.pairing.evidence, evidence);
  c.pairing.ambiguous = false;
  if (evidence == Evidence::answers) ++search.answered;
  if (evidence != Evidence::udp_source_port && states[place].unpaired != nullptr &&
      states[other].unpaired != nullptr) {
    const PacketRecord& a = states[place].unpaired->first;
    const PacketRecord& b = states[other].unpaired->first;
    if (a.has(PacketRecord::has_ports) && a.udp_source == b.udp_source &&
        source_port_of(a.key.dst_qp, b.key.dst_qp) == a.udp_source) {
      c.pairing.evidence = with(c.pairing.evidence, Evidence::udp_source_port);
    }
  }
  drop_unpaired(place);
  drop_unpaired(other);
  look_for_points(connection, packets);
  link(tracks[connection]);
  replay(packets);
}

/// Two flows that were followed alone are one connection: `other` goes into `connection`.
void Tracker::Impl::merge(std::uint32_t connection, std::uint32_t other) {
  release_held_back(connection);
  release_held_back(other);
  Track& into = tracks[connection];
  Track& from = tracks[other];
  const std::uint32_t place = from.places[0];
  drop_stray(from);
  merge_views(into, from);
  const auto add_answers = [](Requester& to, Requester& more) {
    to.refused_fatally = to.refused_fatally || more.refused_fatally;
    to.credits_used = to.credits_used || more.credits_used;
    if (!more.trouble.there()) return;
    RequesterTrouble& mine = *to.trouble;
    RequesterTrouble& theirs = *more.trouble;
    for (std::size_t i = 0; i < mine.naks.size(); ++i) mine.naks[i] += theirs.naks[i];
    if (mine.refused.empty()) mine.refused = std::move(theirs.refused);
    if (mine.rnr == nullptr) mine.rnr = std::move(theirs.rnr);
    mine.nak_generation_ns.merge(theirs.nak_generation_ns);
    mine.nak_reaction_ns.merge(theirs.nak_reaction_ns);
    mine.read_rerequest_ns.merge(theirs.read_rerequest_ns);
  };
  // What each saw of the other's requests were answers only.
  if (into.spaces[0] && from.spaces[1]) into.spaces[0]->absorb_answers(*from.spaces[1]);
  if (from.spaces[0]) {
    if (into.spaces[1]) {
      from.spaces[0]->absorb_answers(*into.spaces[1]);
      into.spaces[1]->release(shared.budget);
    }
    from.spaces[0]->become(1);
    into.spaces[1] = std::move(from.spaces[0]);
  }
  if (from.spaces[1]) from.spaces[1]->release(shared.budget);
  Connection& a = into.result;
  Connection& b = from.result;
  add_answers(a.requester[0], b.requester[1]);
  add_answers(b.requester[0], a.requester[1]);
  a.requester[1] = std::move(b.requester[0]);
  a.sent[1] = std::move(b.sent[0]);
  a.cnps[1] = b.cnps[0];
  for (unsigned side = 0; side < 2; ++side) CongestionTracker::merge(a, side, b);
  if (a.pmtu == 0) a.pmtu = b.pmtu;
  if (shared.verdicts != nullptr) shared.verdicts->merge_connection(b.id, a.id);
  incidents.merge(b.id, a.id);
  for (DamagedPacket& packet : from.damaged) {
    packet.requester ^= 1U;
    into.damaged.push_back(packet);
  }
  for (DoubtfulLoss& each : from.doubtful) {
    each.loss.side ^= 1U;
    each.loss.by_side ^= 1U;
    each.requester ^= 1U;
    into.doubtful.push_back(each);
  }
  drop(other);
  attach(connection, place, 1);
}

/// The other direction does not come: the flow is followed without it, until it does.
std::uint32_t Tracker::Impl::go_alone(std::uint32_t place) {
  if (awaits_icrc(states[place])) settle_icrc(place);
  if (consider_again(place)) return states[place].connection;
  const std::uint32_t connection = new_connection(place);
  tracks[connection].result.pairing.ambiguous = states[place].unpaired->ambiguous;
  std::vector<Held> packets = std::move(states[place].unpaired->held);
  states[place].unpaired->held.clear();
  look_for_points(connection, packets);
  replay(packets);
  return connection;
}

void Tracker::Impl::flush_oldest() {
  while (!holding.empty()) {
    const std::uint32_t place = holding.front();
    holding.pop_front();
    states[place].queued = false;
    if (states[place].unpaired != nullptr && states[place].connection == no_place) {
      go_alone(place);
      return;
    }
  }
  held = 0;
}

/// Flows of nothing but CNPs: each belongs to the one flow that it slows down, if only one can be meant.
void Tracker::Impl::pair_cnps() {
  std::size_t looked = 0;
  constexpr std::size_t most_looks_at_end = std::size_t{1} << 24U;  // nothing but CNPs, each to another
  for (std::uint32_t place = 0; place < states.size(); ++place) {
    if (states[place].unpaired == nullptr || !states[place].unpaired->only_cnps) continue;
    std::uint32_t found = no_place;
    bool several = false;
    for (const std::uint32_t other : unpaired.between(states[place].unpaired->first)) {
      if (++looked > most_looks_at_end) return;
      if (!opposite(place, other) || states[other].unpaired == nullptr || states[other].unpaired->only_cnps) {
        continue;
      }
      several = found != no_place;
      if (several) break;
      found = other;
    }
    if (found != no_place && !several) pair(place, found, Evidence::cnp);
  }
}

}  // namespace roce::analyze
