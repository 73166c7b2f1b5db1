// SPDX-License-Identifier: Apache-2.0
// Packets far from all others of their connection: strays, or the first ones of another that took over a
// queue pair's number.
#include <utility>
#include <vector>

#include "analyze/tracker/tracker_impl.hpp"

namespace roce::analyze {

/// A request far from the others waits for the next one: if that follows it, the queue pair number has
/// been given to a new connection. True if the packet was dealt with.
bool Tracker::Impl::jumped(std::uint32_t connection, unsigned side, const PacketRecord& record,
                           std::uint64_t number, std::uint32_t place, Verdict& verdict) {
  Track& track = tracks[connection];
  if (track.jump == nullptr) {
    track.jump = std::make_unique<Held>(Held{record, number});
    track.jump_side = static_cast<std::uint8_t>(side);
    link(track);
    verdict.connection = track.result.id;
    verdict.set(Verdict::undecided);
    publish(number, verdict);
    return true;
  }
  if (track.jump_side != side) {
    if (!track.spaces[side]->far_off(record)) return false;
    count(place, record, number);  // the other side is waited for
    verdict.connection = track.result.id;
    publish(number, verdict);
    return true;
  }
  const std::uint32_t step_psn = dissect::serial_steps(track.jump->record.psn, record.psn);
  if (!track.spaces[side]->far_off(record)) {
    drop_stray(track);
    return false;
  }
  if (step_psn > 4096) {
    drop_stray(track);
    return jumped(connection, side, record, number, place, verdict);
  }
  begin_at_jump(track);
  track_long(record, number, verdict);
  return true;
}

/// The answer to a request far off: nobody answers a stray. True if the packet was dealt with.
bool Tracker::Impl::answers_jump(std::uint32_t connection, unsigned side, const PacketRecord& record,
                                 std::uint64_t number, Verdict& verdict) {
  Track& track = tracks[connection];
  if (track.jump == nullptr || track.jump_side == side || track.answers_stray ||
      !track.spaces[side ^ 1U]->far_off(record))
    return false;
  if (dissect::serial_steps(track.jump->record.psn, record.psn) > 4096) return false;
  begin_at_jump(track);
  track_long(record, number, verdict);
  return true;
}

/// The queue pair numbers belong to another connection from now on.
void Tracker::Impl::leave_to_another(const Track& track) {
  for (const std::uint32_t each : track.places) {
    if (each != no_place && !states[each].retired) retire_use(each);
  }
}

/// Another connection begins with the request far off.
void Tracker::Impl::begin_at_jump(Track& track) {
  const std::unique_ptr<Held> first = std::move(track.jump);
  leave_to_another(track);
  Verdict of_first;
  track_long(first->record, first->number, of_first);
}

/// An answer far from all that was asked waits for the next one: if that goes on from there, its flow's queue
/// pair number belongs to another connection by now, whose requests go to another queue pair: a flow that is
/// there already, for they came first. True if the packet was dealt with.
bool Tracker::Impl::answers_jumped(std::uint32_t connection, unsigned side, const PacketRecord& record,
                                   std::uint64_t number, std::uint32_t place, bool elsewhere,
                                   Verdict& verdict) {
  Track& track = tracks[connection];
  // Where its flow has requests as well, these will jump.
  if (track.answers_stray || track.views != nullptr || track.spaces[side] != nullptr) return false;
  if (track.far_answer == nullptr) {
    if (track.jump != nullptr) return false;  // the requests have jumped too
    track.far_answer = std::make_unique<Held>(Held{record, number});
    track.far_side = static_cast<std::uint8_t>(side);
    link(track);
    verdict.connection = track.result.id;
    verdict.set(Verdict::undecided);
    publish(number, verdict);
    return true;
  }
  if (track.far_side != side) return false;
  const std::uint32_t step_psn = dissect::serial_steps(track.far_answer->record.psn, record.psn);
  if (!elsewhere || step_psn == 0 || step_psn > 4096) {
    // One may be garbage. Where they go on but lead nowhere the responder has its own idea of the PSN.
    release_far_answer(connection);
    tracks[connection].answers_stray = elsewhere;
    return false;
  }
  const std::unique_ptr<Held> first = std::move(track.far_answer);
  link(track);
  retire_use(place);
  Verdict of_first;
  track_long(first->record, first->number, of_first);
  track_long(record, number, verdict);
  return true;
}

/// Whether an answer that nothing here asked for is one to the requests of a flow that began since: one of
/// the queue pairs has another peer by now, and its sequence is not far from the one before.
bool Tracker::Impl::answers_another(const Track& track, unsigned side, const PacketRecord& record,
                                    std::uint32_t place) {
  if (track.answers_stray || track.views != nullptr || track.spaces[side] != nullptr) return false;
  const PsnSpace& space = *track.spaces[side ^ 1U];
  if (!space.unasked(record)) return false;
  const std::span<const std::uint32_t> others = unpaired.between(record);
  search.looks -= static_cast<std::int64_t>(others.size());
  if (search.looks < 0) return false;
  return std::any_of(others.begin(), others.end(), [&](std::uint32_t other) {
    const Unpaired* const waiting = states[other].unpaired.get();
    return waiting != nullptr && opposite(place, other) && space.over_before(waiting->first.time_ns) &&
           waiting->requests.find(record.psn).place == RequestTrace::Place::among;
  });
}

/// It is followed as any other.
void Tracker::Impl::release_far_answer(std::uint32_t connection) {
  const std::unique_ptr<Held> held_back = std::move(tracks[connection].far_answer);
  if (held_back == nullptr) return;
  const unsigned side = tracks[connection].far_side;
  tracks[connection].answers_stray = true;
  link(tracks[connection]);
  step(connection, side, held_back->record, held_back->number, tracks[connection].places[side]);
  tracks[connection].answers_stray = false;
}

/// A request far off that nothing followed: counted, and nothing else.
void Tracker::Impl::drop_stray(Track& track) {
  const std::unique_ptr<Held> stray = std::move(track.jump);
  link(track);
  const std::uint32_t place = track.places[track.jump_side];
  if (stray != nullptr && place != no_place) count_stray(track, place, *stray);
}

/// Nothing is said of a stray but whose it is.
void Tracker::Impl::count_stray(const Track& track, std::uint32_t place, const Held& stray) {
  count(place, stray.record, stray.number);
  Verdict verdict;
  verdict.connection = track.result.id;
  publish(stray.number, verdict);
}

}  // namespace roce::analyze
