// SPDX-License-Identifier: Apache-2.0
#include "analyze/mrc/mrc_tracker.hpp"

#include <algorithm>

#include "dissect/opcode.hpp"

namespace roce::analyze {

using dissect::Operation;

std::uint32_t MrcTracker::direction_of(const FlowKey& key) {
  const auto known = places_.find(key);
  if (known != places_.end()) return known->second;
  if (directions_.size() >= directions_at_most) return none;
  const auto place = static_cast<std::uint32_t>(directions_.size());
  places_.emplace(key, place);
  directions_.emplace_back().key = key;
  return place;
}

void MrcTracker::see(const MrcPacket& packet, std::uint64_t number, std::int64_t capture_began_ns) {
  ++found_.packets;
  const dissect::OpcodeInfo& info = dissect::opcode_info(packet.opcode);
  if (!info.defined) {
    ++found_.unknown;
    return;
  }
  if (info.operation == Operation::endpoint_request) ++found_.endpoint_requests;
  if (info.operation == Operation::endpoint_response) ++found_.endpoint_responses;
  const bool of_endpoints =
      info.operation == Operation::endpoint_request || info.operation == Operation::endpoint_response;
  if (of_endpoints || packet.time_ns < 0 || packet.time_ns > PacketBrief::latest_ns) return;
  const std::uint32_t direction = direction_of(packet.key);
  if (direction == none) {
    ++found_.dropped;
  } else if (info.operation == Operation::write) {
    see_data(direction, packet, number, capture_began_ns);
  } else if (info.operation == Operation::probe) {
    if (const std::uint32_t stream = directions_[direction].stream; stream != none)
      streams_[stream].see_probe(packet);
  } else if (packet.whole) {
    see_answer(direction, packet, number);
  }
}

void MrcTracker::see_data(std::uint32_t place, const MrcPacket& packet, std::uint64_t number,
                          std::int64_t capture_began_ns) {
  Direction& direction = directions_[place];
  if (direction.stream == none) {
    direction.stream = static_cast<std::uint32_t>(streams_.size());
    MrcStream& stream = streams_.emplace_back(packet.key).found;
    stream.id = direction.stream;
    stream.first_packet = number;
    stream.first_ns = packet.time_ns;
    streams_between_[{packet.key.src, packet.key.dst}].push_back(direction.stream);
  }
  streams_[direction.stream].see_data(packet, number, capture_began_ns, budget_);
}

/// Two queue pairs belong together if answers to one name packets that were sent to the other: by PSN and
/// path. Chance names the wrong one, too, but not again and again.
void MrcTracker::see_answer(std::uint32_t place, const MrcPacket& packet, std::uint64_t number) {
  Direction& direction = directions_[place];
  if (direction.answered != none) {
    streams_[direction.answered].see_answer(packet, number, budget_);
    return;
  }
  if (direction.held.size() >= reports_held_at_most || held_ >= held_at_most) {
    ++found_.unmatched;
  } else {
    direction.held.emplace_back(packet, number);
    ++held_;
  }
  vote(direction, packet);
  const std::uint32_t stream = elected(direction);
  if (stream == none) return;
  direction.answered = stream;
  MrcStreamState& state = streams_[stream];
  state.found.answer_qp = packet.key.dst_qp;
  for (const auto& [held, at] : direction.held) state.see_answer(held, at, budget_);
  held_ -= direction.held.size();
  direction.held = {};
  direction.votes.clear();
}

void MrcTracker::vote(Direction& direction, const MrcPacket& packet) {
  const Operation operation = dissect::opcode_info(packet.opcode).operation;
  if (operation == Operation::acknowledge || packet.of_probe) return;  // neither names a packet and its path
  const auto there = streams_between_.find({direction.key.dst, direction.key.src});
  if (there == streams_between_.end()) return;
  for (const std::uint32_t stream : there->second) {
    const bool taken = streams_[stream].found.answer_qp.has_value();
    if (!taken && streams_[stream].is_named_by(packet)) ++direction.votes[stream];
  }
}

std::uint32_t MrcTracker::elected(const Direction& direction) {
  constexpr std::uint32_t at_least = 2;
  std::uint32_t best = none, most = 0, second = 0;
  for (const auto& [stream, votes] : direction.votes) {
    if (votes > most) {
      second = most;
      most = votes;
      best = stream;
    } else {
      second = std::max(second, votes);
    }
  }
  return most >= at_least + 2 * second ? best : none;
}

Mrc MrcTracker::finish() && {
  for (const Direction& direction : directions_) found_.unmatched += direction.held.size();
  for (std::uint32_t i = 0; i < streams_.size(); ++i)
    found_.streams.push_back(std::move(streams_[i]).finish(i, budget_, found_.losses));
  found_.losses_dropped = budget_.losses_dropped;
  return std::move(found_);
}

}  // namespace roce::analyze
