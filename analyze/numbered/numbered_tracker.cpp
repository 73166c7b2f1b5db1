// SPDX-License-Identifier: Apache-2.0
#include "analyze/numbered/numbered_tracker.hpp"

#include <algorithm>
#include <utility>

#include "dissect/types.hpp"

namespace roce::analyze {
namespace {

/// Beyond, the numbers began anew: a link that loses so many in a row is down.
constexpr std::uint32_t far_off = 1U << 20U;
constexpr std::uint64_t sure_steps = 16;  ///< before one gap is believed

void see_time(NumberedStream& stream, std::int64_t time_ns) noexcept {
  if (time_ns == capture::no_time) return;
  const bool any = stream.first_ns != capture::no_time;
  stream.first_ns = any ? std::min(stream.first_ns, time_ns) : time_ns;
  stream.last_ns = any ? std::max(stream.last_ns, time_ns) : time_ns;
}

}  // namespace

/// Late ones are no step.
void NumberedTracker::Device::see(std::uint32_t sequence) noexcept {
  const std::uint32_t ahead = sequence - highest;
  if (ahead < far_off && ahead != 0) steps.add(ahead);
  if (ahead < far_off || highest - sequence >= window) highest = sequence;
}

bool NumberedTracker::State::has(std::uint32_t sequence) const noexcept {
  return (seen[sequence % window / 64] >> sequence % 64 & 1U) != 0;
}
void NumberedTracker::State::mark(std::uint32_t sequence) noexcept {
  seen[sequence % window / 64] |= std::uint64_t{1} << sequence % 64;
}
void NumberedTracker::State::begin_at(std::uint32_t sequence) {
  seen.assign(window / 64, 0);
  highest = sequence;
  anew_packets = 0;
  mark(sequence);
}
void NumberedTracker::State::rise_to(std::uint32_t sequence) noexcept {
  if (sequence - highest >= window) std::fill(seen.begin(), seen.end(), 0);
  while (highest != sequence && sequence - highest < window) {
    ++highest;
    seen[highest % window / 64] &= ~(std::uint64_t{1} << highest % 64);
  }
  highest = sequence;
  mark(sequence);
}

/// Where sessions share the numbers, those of all together rise more evenly. A device that does not count has
/// hardly any steps of one; nor has a mirror that loses nearly half, of which nothing is said.
bool NumberedTracker::counts(const State& state, std::uint64_t least_steps) const noexcept {
  constexpr double most = 0.6, more = 0.1;
  const double share = state.steps.share();
  const bool shared = state.device != no_device && devices_[state.device].steps.share() > share + more;
  return state.steps.all >= least_steps && share >= most && !shared;
}

/// A number that came before, or so long ago that nobody remembers it.
void NumberedTracker::see_again(State& state, NumberedStream& stream, std::uint32_t sequence) {
  constexpr std::uint32_t sure = 16, close_by = 64;
  ++stream.duplicates;
  const std::uint32_t ahead = sequence - state.anew;
  const bool goes_on = state.anew_packets != 0 && ahead != 0 && ahead < close_by;
  state.anew_missing = goes_on ? state.anew_missing + ahead - 1 : 0;
  state.anew_packets = goes_on ? state.anew_packets + 1 : 1;
  state.anew = sequence;
  if (state.anew_packets < sure) return;
  ++stream.restarts;
  stream.duplicates -= state.anew_packets;
  stream.missing += state.anew_missing;
  state.begin_at(sequence);
}

bool NumberedTracker::advance(State& state, NumberedStream& stream, std::uint32_t sequence) {
  const std::uint32_t ahead = sequence - state.highest;  // the numbers wrap
  const std::uint32_t behind = state.highest - sequence;
  if (ahead == 0) {
    ++stream.duplicates;
    return false;
  }
  if (ahead < far_off) {
    state.steps.add(ahead);
    state.rise_to(sequence);
    state.anew_packets = 0;
    stream.missing += ahead - 1;
    if (ahead > 1) ++stream.gaps;
    return ahead > 1;
  }
  if (behind < window && !state.has(sequence)) {
    state.mark(sequence);
    ++stream.late;
    stream.late_by = std::max<std::uint64_t>(stream.late_by, behind);
    stream.missing -= std::min<std::uint64_t>(stream.missing, 1);
    return false;
  }
  if (behind < far_off) {
    see_again(state, stream, sequence);
    return false;
  }
  ++stream.restarts;
  state.steps.add(0);
  state.begin_at(sequence);
  return false;
}

std::uint64_t NumberedTracker::place_of(const State& state, std::uint32_t sequence) noexcept {
  if (state.highest - sequence >= near) return 0;
  for (std::uint32_t next = sequence + 1; next != state.highest + 1; ++next) {
    if (state.has(next)) return state.frames[next % near];
  }
  return 0;
}

bool NumberedTracker::is_filled(const State& state, std::uint32_t sequence, std::uint64_t frame) noexcept {
  if (!state.has(sequence - 1)) return false;
  for (std::uint32_t next = sequence + 1; next != state.highest + 1; ++next) {
    if (!state.has(next)) return false;
    if (state.frames[next % near] != frame) break;
  }
  return true;
}

MirrorStep NumberedTracker::see(const NumberedPacket& packet) {
  auto found = states_.find(packet.key);
  if (found == states_.end()) {
    if (states_.size() >= streams_at_most) {
      ++found_.dropped;
      return {};
    }
    State state;
    state.place = static_cast<std::uint32_t>(found_.streams.size());
    state.begin_at(packet.sequence);
    NumberedStream stream;
    stream.key = packet.key;
    stream.first_packet = packet.number;
    found_.streams.push_back(std::move(stream));
    if (is_mirror(packet.key.kind)) {
      const auto [device, fresh] = device_of_.try_emplace({packet.key.src, packet.key.dst},
                                                          static_cast<std::uint32_t>(devices_.size()));
      if (fresh) devices_.push_back({packet.sequence, {}});
      state.device = device->second;
    }
    found = states_.emplace(packet.key, std::move(state)).first;
  }
  State& state = found->second;
  NumberedStream& stream = found_.streams[state.place];
  if (state.device != no_device) devices_[state.device].see(packet.sequence);
  const std::uint64_t late = stream.late;
  const bool gap = stream.packets != 0 && advance(state, stream, packet.sequence);
  ++stream.packets;
  stream.bytes += packet.wire;
  if (packet.roce) ++stream.roce;
  if ((packet.traffic_class & 3U) == static_cast<unsigned>(dissect::Ecn::ce)) ++stream.ce;
  if (packet.key.kind != NumberedKind::macsec) stream.dscp.add(packet.traffic_class >> 2U);
  see_time(stream, packet.time_ns);
  if (!stream.mirror()) return {};
  if (state.frames.empty()) state.frames.resize(near);
  const std::uint64_t before = stream.late != late ? place_of(state, packet.sequence) : 0;
  state.frames[packet.sequence % near] = before != 0 ? before : packet.number;
  if (!counts(state, sure_steps)) return {};
  return {gap, before, packet.sequence, before != 0 && is_filled(state, packet.sequence, before)};
}

Numbered NumberedTracker::finish() && {
  for (const auto& [key, state] : states_) {
    NumberedStream& stream = found_.streams[state.place];
    stream.counts = counts(state, 1);
    if (stream.counts) continue;
    stream.missing = stream.gaps = stream.late = stream.late_by = stream.duplicates = stream.restarts = 0;
  }
  std::sort(found_.streams.begin(), found_.streams.end(),
            [](const NumberedStream& a, const NumberedStream& b) {
              return a.packets != b.packets ? a.packets > b.packets : a.first_packet < b.first_packet;
            });
  return std::move(found_);
}

}  // namespace roce::analyze
