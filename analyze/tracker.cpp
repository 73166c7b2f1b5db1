// SPDX-License-Identifier: Apache-2.0
#include "analyze/tracker.hpp"

#include <algorithm>

#include "analyze/tracker_impl.hpp"
#include "dissect/icrc.hpp"

namespace roce::analyze {

using dissect::Service;

namespace {

bool has_sequence(Service service) noexcept {
  return service == Service::rc || service == Service::uc || service == Service::xrc;
}

bool mismatched(const PacketRecord& record) noexcept {
  return record.icrc == static_cast<std::uint8_t>(dissect::CrcStatus::mismatch);
}

}  // namespace

std::uint32_t Tracker::Impl::locate(const PacketRecord& record) {
  std::uint32_t place = flows.find(record);
  if (place == no_place) [[unlikely]] {
    if (flows.full()) evict();
    place = flows.place_of(record);
    while (place >= states.size()) states.emplace_back();
  }
  states[place].located = true;
  return place;
}

namespace {

/// Asks for memory that will be written.
void fetch(const void* at, std::size_t bytes = 1) noexcept {
  for (std::size_t i = 0; i < bytes; i += 64) __builtin_prefetch(static_cast<const char*>(at) + i, 1);
}

}  // namespace

void Tracker::Impl::approach(const PacketRecord& record, std::uint32_t place, unsigned step) const {
  const FlowState& state = states[place];
  if (step == 0) fetch(&flows.at(place), sizeof(Flow));
  if (state.connection == no_place) return;
  const Track& track = *tracks[state.connection];
  const bool answer = dissect::opcode_info(record.opcode).response;
  const unsigned requester_side = answer ? state.side ^ 1U : state.side;
  const Requester& requester = track.result.requester[requester_side];
  const PsnSpace* space = track.spaces[requester_side].get();
  switch (step) {
    case 0:
      fetch(&track.spaces);
      fetch(&track.result.pairing);
      fetch(&track.result.packets);
      fetch(&requester, 128);
      break;
    case 1:
      if (space != nullptr) fetch(space, sizeof(PsnSpace));
      if (!requester.operations.empty()) fetch(requester.operations.data(), sizeof(OperationStats));
      break;
    default:
      if (space != nullptr) space->fetch(record.psn, answer);
      if (!requester.operations.empty()) {
        requester.operations.front().latency_ns.fetch();
        requester.operations.front().size_bytes.fetch();
      }
      break;
  }
}

Verdict Tracker::Impl::track(const PacketRecord& record, std::uint64_t number, std::uint32_t place) {
  // Between 1970 and 2116, so that no sum or difference of times overflows. What a file says beyond that
  // is no time of a packet.
  constexpr std::int64_t latest_ns = (std::int64_t{1} << 62U) - 1;
  if (record.time_ns != capture::no_time && (record.time_ns < 0 || record.time_ns > latest_ns)) [[unlikely]] {
    PacketRecord tame = record;
    tame.time_ns = std::clamp<std::int64_t>(record.time_ns, 0, latest_ns);
    return track(tame, number, place);
  }
  if (states[place].retired || !(flows.at(place).key == record.key)) {
    states[place].located = false;
    place = locate(record);
  }
  FlowState& state = states[place];
  state.located = false;
  state.used_at = number;
  frames = number;
  if (record.time_ns != capture::no_time) {
    shared.last_time_ns = shared.any_time ? std::max(shared.last_time_ns, record.time_ns) : record.time_ns;
    shared.any_time = true;
  }
  if (state.connection != no_place) [[likely]] {
    const std::uint32_t connection = state.connection;
    const bool alone = state.unpaired != nullptr;
    const Verdict verdict = step(connection, state.side, record, number, place);
    if (alone && dissect::opcode_info(record.opcode).response) consider(place, record);
    return verdict;
  }
  const dissect::OpcodeInfo& info = dissect::opcode_info(record.opcode);
  if (state.plain || (info.operation != dissect::Operation::cnp && !has_sequence(info.service) &&
                      state.unpaired == nullptr)) {
    state.plain = true;
    return plain(state, record, number, place);
  }
  return hold(place, record, number);
}

/// UD and what else has no sequence: counted, but not twice.
Verdict Tracker::Impl::plain(FlowState& state, const PacketRecord& record, std::uint64_t number,
                             std::uint32_t place) {
  Verdict verdict;
  if (!state.plain_flow) state.plain_flow = std::make_unique<PlainFlow>();
  PlainFlow& flow = *state.plain_flow;
  Seen& seen = flow.seen[(record.psn ^ record.ip_id) & 7U];
  const bool same = seen.frame != 0 && seen.psn == record.psn && seen.opcode == record.opcode &&
                    flow.facts.ids_tell(record) && seen.ip_id == record.ip_id;
  if (same) {
    ++flow.facts.doubled;
    const bool by_capture = seen.path != record.path || flow.facts.doubled * 2 >= flow.facts.single;
    verdict.set(by_capture ? Verdict::duplicate_capture : Verdict::duplicate_network);
    verdict.original = static_cast<std::uint32_t>(seen.frame);
    if (record.has(PacketRecord::selected)) {
      SequenceCounts& sequence = flows.at(place).sequence_to_change();
      ++(by_capture ? sequence.duplicate_captures : sequence.duplicate_network);
    }
  } else {
    flow.facts.learn(record);
    seen = Seen{};
    seen.psn = record.psn;
    seen.time_ns = record.time_ns;
    seen.frame = number & ((std::uint64_t{1} << 41U) - 1);
    seen.ip_id = record.ip_id;
    seen.path = record.path;
    seen.opcode = record.opcode;
  }
  if (!verdict.has(Verdict::duplicate_capture)) count(place, record);
  publish(number, verdict);
  return verdict;
}

void Tracker::Impl::count(std::uint32_t place, const PacketRecord& record) {
  if (!record.has(PacketRecord::selected)) return;
  Flow& flow = flows.at(place);
  if (flow.packets == 0) flow.source_mac = record.source_mac;
  if (record.has(PacketRecord::has_ip_id) && !record.has(PacketRecord::dont_fragment)) ++flow.clear_df;
  count_packet(flow, record);
  if (record.time_ns != capture::no_time) {
    Series::Bucket& bucket = shared.series.at(record.time_ns);
    ++bucket.packets;
    bucket.bytes += record.wire;
  }
}

void Tracker::Impl::publish(std::uint64_t number, const Verdict& verdict) {
  if (shared.verdicts == nullptr) return;
  if (Verdict* kept = shared.verdicts->at(number)) {
    const std::uint32_t response = kept->response;
    *kept = verdict;
    kept->response = response;
  }
}

/// Counts a packet in its flow and in its connection.
void Tracker::Impl::count_in(Track& track, unsigned side, const PacketRecord& record, std::uint64_t number,
                             std::uint32_t place) {
  count(place, record);
  if (!record.has(PacketRecord::selected)) return;
  Connection& c = track.result;
  if (c.first_frame == 0) c.first_frame = number;
  ++c.packets[side];
  c.bytes[side] += record.wire;
  if (record.time_ns == capture::no_time) return;
  const bool first = c.packets[0] + c.packets[1] == 1;
  c.first_time_ns = first ? record.time_ns : std::min(c.first_time_ns, record.time_ns);
  c.last_time_ns = first ? record.time_ns : std::max(c.last_time_ns, record.time_ns);
}

/// A request far off that nothing followed: counted, and nothing else.
void Tracker::Impl::drop_stray(Track& track) {
  const std::unique_ptr<Held> stray = std::move(track.jump);
  const std::uint32_t place = track.places[track.jump_side];
  if (stray != nullptr && place != no_place) {
    count_in(track, track.jump_side, stray->record, stray->number, place);
  }
}

/// One packet of a connection.
Verdict Tracker::Impl::step(std::uint32_t connection, unsigned side, const PacketRecord& record,
                            std::uint64_t number, std::uint32_t place) {
  Track& track = *tracks[connection];
  Connection& c = track.result;
  const dissect::OpcodeInfo& info = dissect::opcode_info(record.opcode);
  const bool counts = record.has(PacketRecord::selected);

  if (info.request && track.spaces[side] != nullptr && !mismatched(record)) {
    Verdict verdict;
    if ((track.jump != nullptr || track.spaces[side]->far_off(record)) &&
        jumped(connection, side, record, number, place, verdict)) {
      return verdict;
    }
  }

  Step s{record,
         info,
         number,
         counts,
         side,
         c,
         {track.places[0] == no_place ? nullptr : &flows.at(track.places[0]),
          track.places[1] == no_place ? nullptr : &flows.at(track.places[1])},
         shared,
         {}};
  s.verdict.connection = c.id;
  if (side == 1) s.verdict.set(Verdict::b_to_a);
  if (c.service == Service::reserved && info.operation != dissect::Operation::cnp) c.service = info.service;

  bool followed = true;
  if (mismatched(record)) {
    // Its receiver throws it away, and what it says cannot be believed, unless the capture itself is
    // at fault: then nothing matches.
    if (counts) happened(s, side, Event::icrc_mismatch);
    followed = track.icrc_matches == 0 && c.packets[0] + c.packets[1] >= 3;
  } else if (record.icrc == static_cast<std::uint8_t>(dissect::CrcStatus::match)) {
    ++track.icrc_matches;
  }
  if (!followed && info.request && track.spaces[side] != nullptr) track.spaces[side]->damaged_request(s);
  if (info.operation == dissect::Operation::cnp) {
    if (counts) ++c.cnps[side];
    happened(s, side, Event::cnp);
  } else if (followed && info.defined && has_sequence(info.service)) {
    const unsigned requester = info.response ? side ^ 1U : side;
    std::unique_ptr<PsnSpace>& space = track.spaces[requester];
    if (!space) space = std::make_unique<PsnSpace>(requester);
    if (info.response) {
      space->answer(s);
    } else if (info.request) {
      space->request(s);
    }
  }
  if ((record.traffic_class & 3U) == 3U) happened(s, side, Event::ce_marked);

  if (!s.verdict.has(Verdict::duplicate_capture)) {
    if (record.source_mac != 0 && followed) {
      std::uint64_t& mac = track.macs[side];
      if (mac != 0 && mac != record.source_mac) happened(s, side, Event::mac_changed);
      mac = record.source_mac;
    }
    count_in(track, side, record, number, place);
  }
  publish(number, s.verdict);
  return s.verdict;
}

/// A request far from the others waits for the next one: if that follows it, the queue pair number has
/// been given to a new connection. True if the packet was dealt with.
bool Tracker::Impl::jumped(std::uint32_t connection, unsigned side, const PacketRecord& record,
                           std::uint64_t number, std::uint32_t place, Verdict& verdict) {
  Track& track = *tracks[connection];
  if (track.jump == nullptr) {
    track.jump = std::make_unique<Held>(Held{record, number});
    track.jump_side = side;
    verdict.connection = track.result.id;
    publish(number, verdict);
    return true;
  }
  if (track.jump_side != side) {
    if (!track.spaces[side]->far_off(record)) return false;
    count_in(track, side, record, number, place);  // the other side is waited for
    verdict.connection = track.result.id;
    publish(number, verdict);
    return true;
  }
  const std::uint32_t step_psn = (record.psn - track.jump->record.psn) & 0xffffffU;
  if (!track.spaces[side]->far_off(record)) {
    drop_stray(track);
    return false;
  }
  if (step_psn > 4096) {
    drop_stray(track);
    return jumped(connection, side, record, number, place, verdict);
  }
  const std::unique_ptr<Held> first = std::move(track.jump);
  for (const std::uint32_t each : track.places) {
    if (each == no_place) continue;
    flows.retire(each);
    states[each].retired = true;
    unlist(each);
    states[each].unpaired.reset();
  }
  this->track(first->record, first->number, locate(first->record));
  verdict = this->track(record, number, locate(record));
  return true;
}

/// Makes room: the longest idle flows leave, with their connections.
void Tracker::Impl::evict() {
  flows.evict(
      [&](std::uint32_t place) -> std::optional<std::uint64_t> {
        if (place >= states.size()) return 0;
        if (states[place].located || states[place].in_hand) return std::nullopt;
        return states[place].used_at;
      },
      [&](std::uint32_t place) { leave(place); });
}

/// A flow leaves: what was known of its connection goes with it.
void Tracker::Impl::leave(std::uint32_t place) {
  if (place >= states.size()) return;
  unlist(place);
  if (states[place].unpaired != nullptr) {
    std::uint64_t uncounted = 0;
    for (const Held& packet : states[place].unpaired->held) {
      if (packet.record.has(PacketRecord::selected)) ++uncounted;
    }
    held -= std::min(held, states[place].unpaired->held.size());
    flows.count_evicted(uncounted);
  }
  const std::uint32_t connection = states[place].connection;
  const bool queued = states[place].queued;
  states[place] = FlowState{};
  states[place].queued = queued;
  if (connection == no_place) return;
  Track& track = *tracks[connection];
  if (track.jump != nullptr && track.jump->record.has(PacketRecord::selected)) flows.count_evicted(1);
  for (const auto& space : track.spaces) {
    if (space) space->release(shared.budget);
  }
  // The other direction begins anew when it is seen again.
  for (const std::uint32_t each : track.places) {
    if (each == no_place || each == place) continue;
    unlist(each);
    const bool located = states[each].located;
    const bool retired = states[each].retired;
    const bool in_queue = states[each].queued;
    const bool in_hand = states[each].in_hand;
    states[each] = FlowState{};
    states[each].located = located;
    states[each].queued = in_queue;
    states[each].in_hand = in_hand;
    states[each].retired = retired;
    flows.at(each).connection.reset();
  }
  tracks[connection].reset();
}

void Tracker::Impl::connected(const CmExchange& exchange, std::uint32_t index) {
  if (!exchange.client_qpn || !exchange.server_qpn) return;
  constexpr std::size_t limit = 128 * 1024;
  if (cm_peers.size() >= limit) cm_peers.clear();
  cm_peers[{exchange.client, *exchange.client_qpn}] = {exchange.server, *exchange.server_qpn, index, true,
                                                       exchange.pmtu};
  cm_peers[{exchange.server, *exchange.server_qpn}] = {exchange.client, *exchange.client_qpn, index, false,
                                                       exchange.pmtu};
  // Flows to these queue pairs from before belong to an earlier use of the numbers.
  FlowKey key;
  key.transport = exchange.transport;
  const auto retire = [&](const dissect::IpAddress& from, const dissect::IpAddress& to, std::uint32_t qpn) {
    key.src = from;
    key.dst = to;
    key.dst_qp = qpn;
    const std::uint32_t place = flows.find(key);
    if (place == no_place || place >= states.size()) return;
    if (states[place].used_at == 0) return;  // only located ahead of time: it is of this connection
    if (states[place].connection == no_place && states[place].unpaired != nullptr) go_alone(place);
    unlist(place);
    states[place].unpaired.reset();
    states[place].retired = true;
    flows.retire(place);
  };
  retire(exchange.client, exchange.server, *exchange.server_qpn);
  retire(exchange.server, exchange.client, *exchange.client_qpn);
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

/// Packets that still wait for the other direction are followed without it. True if there were any: they
/// may have begun flows that wait in turn.
bool Tracker::Impl::release_waiting() {
  bool more = false;
  for (std::uint32_t place = 0; place < states.size(); ++place) {
    FlowState& state = states[place];
    if (state.unpaired == nullptr || state.connection != no_place || state.unpaired->held.empty()) continue;
    const Unpaired& waiting = *state.unpaired;
    const bool garbage =
        waiting.held.size() < 3 && std::all_of(waiting.held.begin(), waiting.held.end(),
                                               [](const Held& packet) { return mismatched(packet.record); });
    if (!garbage && !waiting.only_cnps) {
      go_alone(place);
      more = true;
      continue;
    }
    // Corrupted numbers make no connection; they are still packets.
    for (const Held& packet : waiting.held) {
      count(place, packet.record);
      publish(packet.number, Verdict{});
    }
    held -= std::min(held, waiting.held.size());
    state.unpaired->held.clear();
  }
  return more;
}

Tracker::Result Tracker::Impl::finish(std::optional<std::int64_t> end_ns) {
  if (end_ns && shared.any_time) shared.last_time_ns = std::max(shared.last_time_ns, *end_ns);
  pair_cnps();
  while (release_waiting()) {
  }
  Result result;
  for (const auto& track : tracks) {
    if (track != nullptr) conclude(*track);
  }
  result.forgotten_packets = shared.budget.forgotten;
  result.evicted_flows = flows.evicted_flows();
  result.evicted_packets = flows.evicted_packets();
  result.flows = flows.take_sorted();
  for (const auto& track : tracks) {
    if (track == nullptr) continue;
    Connection& c = track->result;
    if (c.packets[0] + c.packets[1] != 0) result.connections.push_back(std::move(c));
  }
  result.series = std::move(shared.series);
  return result;
}

Tracker::Tracker(const TrackerOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Tracker::Tracker(Tracker&&) noexcept = default;
Tracker& Tracker::operator=(Tracker&&) noexcept = default;
Tracker::~Tracker() = default;

std::uint32_t Tracker::locate(const PacketRecord& record) {
  return impl_->locate(record);
}
void Tracker::approach(const PacketRecord& record, std::uint32_t flow, unsigned step) const {
  impl_->approach(record, flow, step);
}
void Tracker::track(const PacketRecord& record, std::uint64_t number, std::uint32_t flow) {
  impl_->track(record, number, flow);
}
Verdict Tracker::track_one(const PacketRecord& record, std::uint64_t number) {
  return impl_->track(record, number, impl_->locate(record));
}
void Tracker::connected(const CmExchange& exchange, std::uint32_t index) {
  impl_->connected(exchange, index);
}
std::uint64_t Tracker::flow_id(std::uint32_t flow) const {
  return impl_->flows.at(flow).id;
}
Tracker::Result Tracker::finish(std::optional<std::int64_t> end_ns) {
  return impl_->finish(end_ns);
}

}  // namespace roce::analyze
