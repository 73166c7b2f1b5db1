// SPDX-License-Identifier: Apache-2.0
#include "analyze/numbered/numbered_tracker.hpp"

#include <algorithm>
#include <utility>

#include "dissect/types.hpp"

namespace roce::analyze {
namespace {

constexpr std::uint32_t window = 64;  ///< numbers: how late a packet can be and still be told from a copy
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

bool NumberedTracker::advance(State& state, NumberedStream& stream, std::uint32_t sequence) {
  const std::uint32_t ahead = sequence - state.highest;  // the numbers wrap
  const std::uint32_t behind = state.highest - sequence;
  if (ahead == 0) {
    ++stream.duplicates;
    return false;
  }
  if (ahead < far_off) {
    ++state.steps;
    if (ahead == 1) ++state.steps_of_one;
    state.seen = ahead < window ? state.seen << ahead | 1U : 1U;
    state.highest = sequence;
    stream.missing += ahead - 1;
    if (ahead > 1) ++stream.gaps;
    return ahead > 1;
  }
  if (behind < window) {
    const std::uint64_t bit = std::uint64_t{1} << behind;
    if ((state.seen & bit) != 0) {
      ++stream.duplicates;
      return false;
    }
    state.seen |= bit;
    ++stream.late;
    stream.late_by = std::max<std::uint64_t>(stream.late_by, behind);
    stream.missing -= std::min<std::uint64_t>(stream.missing, 1);
    return false;
  }
  if (behind < far_off) {
    ++stream.duplicates;  // so far back that nobody remembers it
    return false;
  }
  ++stream.restarts;
  ++state.steps;
  state.highest = sequence;
  state.seen = 1;
  return false;
}

bool NumberedTracker::see(const NumberedPacket& packet) {
  auto found = states_.find(packet.key);
  if (found == states_.end()) {
    if (states_.size() >= streams_at_most) {
      ++found_.dropped;
      return false;
    }
    State state;
    state.place = static_cast<std::uint32_t>(found_.streams.size());
    state.highest = packet.sequence;
    state.seen = 1;
    NumberedStream stream;
    stream.key = packet.key;
    stream.first_packet = packet.number;
    found_.streams.push_back(std::move(stream));
    found = states_.emplace(packet.key, state).first;
  }
  State& state = found->second;
  NumberedStream& stream = found_.streams[state.place];
  const bool gap = stream.packets != 0 && advance(state, stream, packet.sequence);
  ++stream.packets;
  stream.bytes += packet.wire;
  if (packet.roce) ++stream.roce;
  if ((packet.traffic_class & 3U) == static_cast<unsigned>(dissect::Ecn::ce)) ++stream.ce;
  if (packet.key.kind != NumberedKind::macsec) stream.dscp.add(packet.traffic_class >> 2U);
  see_time(stream, packet.time_ns);
  return gap && stream.mirror() && state.counts(sure_steps);
}

Numbered NumberedTracker::finish() && {
  for (const auto& [key, state] : states_) {
    NumberedStream& stream = found_.streams[state.place];
    stream.counts = state.counts(1);
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
