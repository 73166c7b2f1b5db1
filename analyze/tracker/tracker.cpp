// SPDX-License-Identifier: Apache-2.0
#include "analyze/tracker/tracker.hpp"

#include <algorithm>
#include <utility>

#include "analyze/record/common_packet.hpp"
#include "analyze/tracker/tracker_impl.hpp"
#include "analyze/transport/psn_fast_path.hpp"
#include "dissect/icrc.hpp"

namespace roce::analyze {

using dissect::Service;

namespace {

bool has_sequence(Service service) noexcept {
  return service == Service::rc || service == Service::uc || service == Service::xrc;
}

/// What was booked on the packet before the rest was known of it stays booked.
void keep_lost(Verdict& verdict, const Verdict& before) noexcept {
  if (!before.any_lost()) return;
  verdict.lost_before =
      std::min<std::uint32_t>(verdict.lost_before + before.lost_before, Verdict::most_before) &
      Verdict::most_before;
  verdict.lost_or_missed =
      std::min<std::uint32_t>(verdict.lost_or_missed + before.lost_or_missed, Verdict::most_open) &
      Verdict::most_open;
  verdict.lost_after = static_cast<std::uint8_t>(std::min(verdict.lost_after + before.lost_after, 0xff));
  verdict.miss(true, static_cast<std::int64_t>(before.missed));
  verdict.miss(false, static_cast<std::int64_t>(before.missed_of_other));
  if (before.has(Verdict::lost_between_points)) verdict.set(Verdict::lost_between_points);
}

}  // namespace

std::uint32_t Tracker::Impl::place_of(const PacketRecord& record) {
  std::uint32_t place = flows.find(record);
  if (place != no_place) return place;
  if (flows.full()) evict();
  place = flows.place_of(record);
  while (place >= states.size()) states.emplace_back();
  states[place].used_at = static_cast<std::uint32_t>(frames / idle_step);
  return place;
}

inline void Tracker::Impl::note_frame(FlowState& state, const PacketBrief& record, std::uint64_t number) {
  state.used_at = static_cast<std::uint32_t>(number / idle_step);
  frames = number;
  if (record.time_ns == capture::no_time) return;
  shared.last_time_ns = shared.any_time ? std::max(shared.last_time_ns, record.time_ns) : record.time_ns;
  shared.any_time = true;
}

/// One of a known connection that comes in its place. False: not done.
[[gnu::always_inline]] inline bool Tracker::Impl::follow_next(const PacketBrief& packet, std::uint64_t number,
                                                              FlowState& state, Verdict& verdict) {
  PsnSpace* const space = state.spaces[of_responder(packet.common) ? 1 : 0];
  if (space == nullptr) return false;
  // The first ICRC that is right tells of its sender too: note_icrc().
  if (!state.icrc_matched && packet.icrc == static_cast<std::uint8_t>(dissect::CrcStatus::match))
    return false;
  switch (static_cast<CommonPacket>(packet.common)) {
    case CommonPacket::request:
      return space->next_request(packet, number, tracks[state.connection].result, shared, verdict);
    case CommonPacket::own_request:
      return space->next_own_request(packet, number, tracks[state.connection].result, shared, verdict);
    case CommonPacket::ack:
      return space->next_ack(packet, number, shared, verdict);
    case CommonPacket::own_answer:
      return space->next_own_answer(packet, number, tracks[state.connection].result, shared, verdict);
    case CommonPacket::no:
      break;
  }
  return false;
}

/// What else follows from that, but for its flow.
template <bool Tell>
[[gnu::always_inline]] inline void Tracker::Impl::count_next(const PacketBrief& packet, std::uint64_t number,
                                                             FlowState& state, Verdict& verdict) {
  state.used_at = static_cast<std::uint32_t>(number / idle_step);
  frames = number;
  // A common packet has a time, which is not before 1970.
  shared.last_time_ns = std::max(shared.last_time_ns, packet.time_ns);
  shared.any_time = true;
  Series::Bucket& bucket = shared.series.at(packet.time_ns);
  ++bucket.packets;
  bucket.bytes += packet.wire;
  if (packet.common != static_cast<std::uint8_t>(CommonPacket::ack)) {
    bucket.goodput_bytes += packet.payload;
    bucket.in_flight_max = std::max(bucket.in_flight_max, verdict.in_flight);
  }
  if constexpr (Tell) {
    verdict.connection = tracks[state.connection].result.id;
    if (state.side == 1) verdict.set(Verdict::b_to_a);
    publish(number, verdict);
  }
}

/// track() for nearly every packet whose flow is known.
[[gnu::always_inline]] inline bool Tracker::Impl::follow_short(const PacketRecord& record,
                                                               std::uint64_t number, std::uint32_t place,
                                                               Verdict& verdict) {
  FlowState& state = states[place];
  Flow& flow = flows.at(place);
  if (record.source_mac != state.mac || record.point != state.point || !(flow.key == record.key))
    return false;
  if (!follow_next(record, number, state, verdict)) return false;
  if (flow.packets == 0) [[unlikely]]
    state.first_frame = number;  // those before were not selected
  if (flow.count(record, number)) state.image = 0;
  if (state.unpaired != nullptr && !of_responder(record.common)) {
    note_request(place, record);
  }
  if (tell) {
    count_next<true>(record, number, state, verdict);
  } else {
    count_next<false>(record, number, state, verdict);
  }
  return true;
}

/// `Tell`: whether tell is set. Else nothing of the verdict leaves this function, and hardly any is made.
template <bool Tell>
[[gnu::always_inline]] inline bool Tracker::Impl::track_known(const PacketBrief& packet,
                                                              std::uint64_t number) {
  if (packet.place >= states.size()) return false;
  FlowState& state = states[packet.place];
  if (state.image != packet.image || state.unpaired != nullptr) return false;
  Verdict verdict;
  if (!follow_next(packet, number, state, verdict)) return false;
  flows.at(packet.place).count_alike(packet, number);
  count_next<Tell>(packet, number, state, verdict);
  return true;
}

inline std::uint32_t Tracker::Impl::track(const PacketRecord& record, std::uint64_t number,
                                          std::uint32_t hint, Verdict& verdict) {
  if (hint == no_place || !short_way || !follow_short(record, number, hint, verdict)) {
    track_long(record, number, verdict);
    return no_hint;
  }
  // Not each time: what its packets look like may change again and again.
  FlowState& state = states[hint];
  return state.unpaired == nullptr && state.without_image++ == 0 ? hint : no_hint;
}

void Tracker::Impl::track_long(const PacketRecord& record, std::uint64_t number, Verdict& verdict) {
  if (record.time_ns != capture::no_time && (record.time_ns < 0 || record.time_ns > PacketRecord::latest_ns))
      [[unlikely]] {
    PacketRecord tame = record;
    tame.time_ns = std::clamp<std::int64_t>(record.time_ns, 0, PacketRecord::latest_ns);
    track_long(tame, number, verdict);
    return;
  }
  if (record.icrc == PacketRecord::cut_away && trims.are_trimmed(record, number, flow_at(record)))
      [[unlikely]] {
    PacketRecord trimmed = record;
    trimmed.icrc = PacketRecord::trimmed_away;
    track_long(trimmed, number, verdict);
    return;
  }
  if (is_doubted(record)) [[unlikely]] {
    doubt(record, number);
    return;
  }
  std::uint32_t place = flows.guess(record);
  if (place == no_place || states[place].retired || !(flows.at(place).key == record.key)) {
    place = place_of(record);
  }
  FlowState& state = states[place];
  note_frame(state, record, number);
  if (state.point == FlowState::no_point) state.point = static_cast<std::uint16_t>(record.point);
  if (!state.icrc_matched) note_icrc(state, record);
  if (state.connection != no_place) [[likely]] {
    const bool alone = state.unpaired != nullptr && !only_looked_at(state, record);
    if (alone && ends_use(place, record, number, verdict)) return;
    verdict = step_at(state.connection, state.side, record, number, place);
    if (alone && dissect::opcode_info(record.opcode).response) consider(place, record);
    if (alone && dissect::opcode_info(record.opcode).request) {
      note_request(place, record);
      if (states[place].unpaired != nullptr) hear(place, record);
    }
    return;
  }
  const dissect::OpcodeInfo& info = dissect::opcode_info(record.opcode);
  if (state.plain || (info.operation != dissect::Operation::cnp && !has_sequence(info.service) &&
                      state.unpaired == nullptr)) {
    state.plain = state.plain || bears_witness(place, record);
    verdict = plain(state, record, number, place);
    return;
  }
  verdict = hold(place, record, number);
}

/// What the flow's ICRCs have been like, at the point where it is followed.
void Tracker::Impl::note_icrc(FlowState& state, const PacketRecord& record) {
  const bool elsewhere =
      state.connection != no_place ? only_looked_at(state, record) : record.point != state.point;
  if (elsewhere) return;
  if (record.icrc_wrong()) {
    if (state.wrong_icrcs != 3) ++state.wrong_icrcs;
  } else if (record.icrc == static_cast<std::uint8_t>(dissect::CrcStatus::match)) {
    if (record.has(PacketRecord::bad_header)) {
      state.header_wrong = true;
    } else {
      state.icrc_matched = true;
      if (right_senders.size() >= 4 * flows.limit()) right_senders.clear();
      right_senders.insert(record.key.src);
    }
  }
}

/// Whether what a packet says can be believed. The receiver of a damaged one throws it away, unless the
/// capture itself is at fault: then all of this direction are wrong.
bool Tracker::Impl::believed(std::uint32_t place, const PacketRecord& record) const {
  if (record.trimmed()) return is_followed_when_trimmed(record);
  if (!record.damaged()) return true;
  const FlowState& state = states[place];
  if (record.icrc_wrong()) return state.icrc_by_capture();
  return !state.icrc_matched && flows.at(place).packets >= 3;
}

/// Whether a packet shows anything but its own damage. Not so strict as believed(): a sender of which no ICRC
/// was right so far may be one whose packets the capture sees before its NIC writes it.
bool Tracker::Impl::bears_witness(std::uint32_t place, const PacketRecord& record) const {
  if (record.trimmed()) return false;  // its marks are the switch's
  if (!record.damaged()) return true;
  const FlowState& state = states[place];
  if (state.icrc_matched) return false;
  if (!record.icrc_wrong()) return true;
  return !state.header_wrong && (state.icrc_by_capture() || !right_senders.contains(record.key.src));
}

PsnSpace& Tracker::Impl::space_of(Track& track, unsigned requester) {
  std::unique_ptr<PsnSpace>& space = track.spaces[requester];
  if (!space) {
    space = std::make_unique<PsnSpace>(requester);
    link(track);
  }
  return *space;
}

/// Opens the short way for the flows of a connection. An answer of a flow that still looks for the other
/// direction is evidence, so it goes the long way.
void Tracker::Impl::link(const Track& track) {
  for (unsigned side = 0; side < 2; ++side) {
    if (track.places[side] == no_place) continue;
    FlowState& state = states[track.places[side]];
    const bool open = !state.retired && track.result.service != Service::reserved;
    // A request far off decides what the next one is.
    const bool jumped = track.jump != nullptr || track.episode != nullptr;
    const bool views = track.views != nullptr;
    // So does an answer far off.
    const bool answers = open && !views && track.far_answer == nullptr && track.episode == nullptr &&
                         state.unpaired == nullptr;
    state.spaces[0] = open && !jumped && !views ? track.spaces[side].get() : nullptr;
    state.spaces[1] = answers ? track.spaces[side ^ 1U].get() : nullptr;
  }
}

/// A fresh copy of `other` lets go of what is not its own.
void Tracker::Impl::stand_alone(const Impl& other) {
  shared.verdicts = nullptr;
  tell = false;
  for (std::size_t place = 0; place < states.size(); ++place) {
    FlowState& state = states[place];
    for (PsnSpace*& space : state.spaces) {
      if (space == nullptr) continue;
      const auto& theirs = other.tracks[state.connection].spaces;
      const auto same = std::find_if(theirs.begin(), theirs.end(),
                                     [&](const DeepPtr<PsnSpace>& each) { return each.get() == space; });
      const auto side = static_cast<std::size_t>(same - theirs.begin());
      space = same == theirs.end() ? nullptr : tracks[state.connection].spaces[side].get();
    }
  }
}

/// The flow's key belongs to another from now on.
void Tracker::Impl::retire(std::uint32_t place) {
  drop_unpaired(place);
  states[place].retired = true;
  states[place].image = 0;
  states[place].spaces = {};
  flows.retire(place);
}

/// So does its queue pair number.
void Tracker::Impl::retire_use(std::uint32_t place) {
  if (used_before.size() >= 4 * flows.limit()) used_before.clear();
  used_before.insert(flows.at(place).key.hash());
  retire(place);
}

void Tracker::Impl::count(std::uint32_t place, const PacketRecord& record, std::uint64_t number,
                          bool in_series) {
  Flow& flow = flows.at(place);
  if (!record.has(PacketRecord::selected)) {
    if (record.has(PacketRecord::left_out)) ++flow.sequence_to_change().left_out;
    return;
  }
  if (flow.packets == 0) states[place].first_frame = number;
  if (!bears_witness(place, record)) {
    flow.count_damaged(record);
  } else if (flow.count(record, number)) {
    states[place].image = 0;
  }
  if (in_series) count_in_series(record);
}

void Tracker::Impl::publish(std::uint64_t number, const Verdict& verdict) {
  if (shared.verdicts == nullptr) return;
  Verdict* const kept = shared.verdicts->at(number);
  if (kept == nullptr) return;
  const Verdict before = std::exchange(*kept, verdict);
  kept->response = before.response;
  kept->incident = before.incident;
  keep_lost(*kept, before);
}

/// One packet of a connection.
Verdict Tracker::Impl::step(std::uint32_t connection, unsigned side, const PacketRecord& record,
                            std::uint64_t number, std::uint32_t place) {
  Track& track = tracks[connection];
  const dissect::OpcodeInfo& info = dissect::opcode_info(record.opcode);
  const bool followed = believed(place, record);
  if (info.request && track.spaces[side] != nullptr && followed) {
    Verdict verdict;
    if (track.views == nullptr && track.spaces[side]->begins_anew_unasked(record)) {
      leave_to_another(track);
      track_long(record, number, verdict);
      return verdict;
    }
    if (!may_wait(track, info)) {
      const bool far = track.spaces[side]->far_off(record);
      if (far) explain_episode(connection);
      if ((track.jump != nullptr || far) && jumped(connection, side, record, number, place, verdict))
        return verdict;
    }
  }

  const bool anew = track.episode != nullptr && track.episode->use != Episode::none;
  if (info.response && track.spaces[side ^ 1U] != nullptr && followed && !anew) {
    Verdict verdict;
    if (answers_jump(connection, side, record, number, verdict)) return verdict;
    const bool elsewhere = track.spaces[side ^ 1U]->far_off(record) ||
                           (track.episode == nullptr && answers_another(track, side, record, place));
    if ((track.far_answer != nullptr || elsewhere) &&
        answers_jumped(connection, side, record, number, place, elsewhere, verdict)) {
      return verdict;
    }
  }

  // Before an episode that it is captured in is explained: what is missing there may be this.
  if (!followed) note_damaged(track, side, record, number);
  Verdict verdict;
  if (followed ? waits_for_explanation(connection, side, record, number, verdict)
               : track.episode != nullptr) {
    if (!followed) hold_in_episode(track, side, record, number, verdict);  // it keeps its place
    return verdict;
  }
  return step_now(connection, side, record, number, place);
}

/// ... of which nothing else has to be known.
Verdict Tracker::Impl::step_now(std::uint32_t connection, unsigned side, const PacketRecord& record,
                                std::uint64_t number, std::uint32_t place, const episode::Ruling& ruling) {
  Track& track = tracks[connection];
  Connection& c = track.result;
  const dissect::OpcodeInfo& info = dissect::opcode_info(record.opcode);
  const bool counts = record.has(PacketRecord::selected);
  const bool followed = believed(place, record);
  episode::Ruling said = ruling;
  if (!followed && info.request && track.spaces[side] != nullptr) {
    said.cause = track.spaces[side]->cause_of_damaged(record);
    if (said.cause != Cause::none) said.what = episode::Ruling::What::repeat;
  }
  Step s{record, info, number, counts, side, c, flows, track.places, shared, {}, said};
  s.verdict.connection = c.id;
  if (side == 1) s.verdict.set(Verdict::b_to_a);
  if (followed && c.service == Service::reserved && info.operation != dissect::Operation::cnp)
    c.service = info.service;

  if (record.icrc_wrong() && counts) happened(s, side, Event::icrc_mismatch);
  if (!followed) {
    book_ruling(s, false);  // it witnesses nothing but its damage
    if (record.trimmed() && info.service == Service::uc && info.has_payload)
      space_of(track, side).note_trimmed(record, number);
  } else if (info.operation == dissect::Operation::cnp) {
    if (counts) ++c.cnps[side];
    happened(s, side, Event::cnp);
    congestion.notified(c, side ^ 1U, s.flow(side ^ 1U), record);
    if (Series::Bucket* bucket = counts ? s.bucket() : nullptr) ++bucket->cnps;
  } else if (info.defined && has_sequence(info.service)) {
    const unsigned requester = info.response ? side ^ 1U : side;
    PsnSpace& space = space_of(track, requester);
    if (info.response) {
      space.answer(s);
    } else if (info.request) {
      space.request(s);
    }
    book_ruling(s, track.views != nullptr);
    leave_open(track, s);
    if (track.views != nullptr) note_ruled(s, track);
  }
  const bool ce = followed && (record.traffic_class & 3U) == static_cast<unsigned>(dissect::Ecn::ce);
  if (ce) happened(s, side, Event::ce_marked);

  if (!s.verdict.has(Verdict::duplicate_capture)) {
    if ((s.verdict.has(Verdict::retransmission) || ce) && !record.trimmed()) note_marks(s, place);
    if (record.source_mac != 0 && followed) {
      FlowState& state = states[place];
      if (state.mac != 0 && state.mac != record.source_mac) {
        s.verdict.set(Verdict::source_mac_changed);
        happened(s, side, Event::mac_changed);
      }
      if (state.mac != record.source_mac) state.image = 0;
      state.mac = record.source_mac;
    }
    count(place, record, number);
  }
  publish(number, s.verdict);
  return s.verdict;
}

/// Of a packet marked CE, or sent again.
void Tracker::Impl::note_marks(Step& s, std::uint32_t place) {
  const Flow& flow = flows.at(place);
  if (s.verdict.has(Verdict::retransmission) && !flow.marked_as_first(s.r)) {
    happened(s, s.side, Event::repeat_marked_otherwise);
  }
  const bool ce = (s.r.traffic_class & 3U) == static_cast<unsigned>(dissect::Ecn::ce);
  if (!ce || s.info.operation == dissect::Operation::cnp) return;
  congestion.marked(s.connection, s.side, s.r);
  if (Series::Bucket* bucket = s.counts ? s.bucket() : nullptr) ++bucket->ce;
}

void Tracker::Impl::connected(const CmExchange& exchange, std::uint32_t index) {
  if (!exchange.client_qpn || !exchange.server_qpn) return;
  const std::size_t limit = std::clamp<std::size_t>(4 * flows.limit(), 1024, 128 * std::size_t{1024});
  if (cm_peers.size() >= limit) cm_peers.clear();
  CmPeer peer{exchange.server,      *exchange.server_qpn, index, true, exchange.pmtu,
              exchange.retry_count, exchange.rnr_retry};
  cm_peers[{exchange.client, *exchange.client_qpn}] = peer;
  peer.address = exchange.client;
  peer.qpn = *exchange.client_qpn;
  peer.is_client = false;
  cm_peers[{exchange.server, *exchange.server_qpn}] = peer;
  // Flows to these queue pairs from before belong to an earlier use of the numbers.
  FlowKey key;
  key.transport = exchange.transport;
  const auto retire = [&](const dissect::IpAddress& from, const dissect::IpAddress& to, std::uint32_t qpn) {
    key.src = from;
    key.dst = to;
    key.dst_qp = qpn;
    const std::uint32_t place = flows.find(key);
    if (place == no_place || place >= states.size()) return;
    if (states[place].connection == no_place && states[place].unpaired != nullptr) {
      go_alone(place);
      if (flows.find(key) != place) return;  // it left meanwhile
    }
    retire_use(place);
  };
  retire(exchange.client, exchange.server, *exchange.server_qpn);
  retire(exchange.server, exchange.client, *exchange.client_qpn);
}

Tracker::Tracker(const TrackerOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Tracker::Tracker(const Tracker& other) : impl_(std::make_unique<Impl>(*other.impl_)) {
  impl_->stand_alone(*other.impl_);
}
Tracker::Tracker(Tracker&&) noexcept = default;
Tracker& Tracker::operator=(Tracker&&) noexcept = default;
Tracker::~Tracker() = default;

std::uint32_t Tracker::track(const PacketRecord& record, std::uint64_t number, std::uint32_t hint) {
  Verdict verdict;
  return impl_->track(record, number, hint, verdict);
}
void Tracker::use_image(std::uint32_t place, std::uint32_t image) noexcept {
  impl_->states[place].image = image;
}
/// Flattened: all of it is inlined, for nearly every packet goes this way.
[[gnu::flatten]] bool Tracker::track_known(const PacketBrief& packet, std::uint64_t number) {
  return impl_->tell ? impl_->track_known<true>(packet, number) : impl_->track_known<false>(packet, number);
}
Verdict Tracker::track_one(const PacketRecord& record, std::uint64_t number) {
  PacketRecord looked_at = record;
  looked_at.common = static_cast<std::uint8_t>(common_of(record));
  impl_->tell = true;
  Verdict verdict;
  const std::uint32_t hint = looked_at.common == 0 ? no_hint : impl_->flows.guess(looked_at);
  impl_->track(looked_at, number, hint, verdict);
  return verdict;
}
void Tracker::connected(const CmExchange& exchange, std::uint32_t index) {
  impl_->connected(exchange, index);
}
bool Tracker::shows_damage(dissect::Bytes frame, const dissect::Dissection& d) const noexcept {
  return dissect::check_icrc(frame, d).status == dissect::CrcStatus::mismatch &&
         impl_->right_senders.contains(ends_of(frame.data(), d).src);
}
std::optional<std::uint64_t> Tracker::flow_id(const PacketRecord& record) {
  if (impl_->is_doubted(record)) return std::nullopt;
  return impl_->flows.at(impl_->place_of(record)).id;
}
void Tracker::retire_idle(std::uint64_t frame) {
  impl_->retire_idle(frame);
}
Tracker::Result Tracker::finish(std::optional<std::int64_t> end_ns) {
  return impl_->finish(end_ns);
}

}  // namespace roce::analyze
