// SPDX-License-Identifier: Apache-2.0
// What the receiver of a stream says.
#include <algorithm>
#include <bit>

#include "analyze/mrc/mrc_stream.hpp"
#include "dissect/aeth.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {

using dissect::Operation;

namespace {

constexpr std::uint8_t reason_trimmed = 0x01, reason_trimmed_last_hop = 0x02;
constexpr std::uint8_t hint_skip = 1, hint_retire = 2;
constexpr std::uint32_t packets_of_mpr = 128;
/// 255 units of 128 packets: what a SACK can grant at most.
constexpr std::int32_t largest_window = 255 * 128;
/// A way there and back that is known by fewer answers says nothing of how late one may be.
constexpr std::uint64_t answers_enough = 16;

}  // namespace

bool MrcStreamState::is_named_by(const MrcPacket& answer) const noexcept {
  const Slot* slot = at(answer.ack_psn);
  const std::uint16_t path = path_named(answer.ev);
  if (slot == nullptr || path == no_path || (slot->state & seen) == 0) return false;
  if ((slot->state & repeated) == 0) return slot->path == path;
  const auto it = repeats_.find(slot->psn);
  return it != repeats_.end() && std::any_of(it->second.copies.begin(), it->second.copies.end(),
                                             [path](const Copy& copy) { return copy.path == path; });
}

void MrcStreamState::see_answer(const MrcPacket& packet, std::uint64_t number, MrcBudget& budget) {
  if (is_copy_of_answer(packet, budget)) return;
  answered_ns_ = std::max(answered_ns_, packet.time_ns);
  note_refusal(packet, number);
  switch (dissect::opcode_info(packet.opcode).operation) {
    case Operation::sack:
      see_sack(packet);
      break;
    case Operation::nack:
      see_nack(packet);
      break;
    case Operation::acknowledge: {
      const bool nak =
          dissect::aeth_kind(static_cast<std::uint8_t>(packet.aeth >> 24U)) == dissect::AethKind::nak;
      ++(nak ? found.naks : found.acks);
      break;
    }
    default:
      break;
  }
}

void MrcStreamState::note_refusal(const MrcPacket& packet, std::uint64_t number) {
  const auto syndrome = static_cast<std::uint8_t>(packet.aeth >> 24U);
  const Operation operation = dissect::opcode_info(packet.opcode).operation;
  const bool of_message =
      operation == Operation::acknowledge && dissect::aeth_kind(syndrome) == dissect::AethKind::nak;
  const bool of_packet = operation == Operation::nack && packet.reason != reason_trimmed &&
                         packet.reason != reason_trimmed_last_hop;
  if (!of_message && !of_packet) return;
  const std::uint8_t code = of_message ? dissect::aeth_code(syndrome) : packet.reason;
  auto at = std::find_if(found.refusals.begin(), found.refusals.end(), [&](const MrcRefusal& each) {
    return each.of_message == of_message && each.code == code;
  });
  if (at == found.refusals.end()) at = found.refusals.insert(at, {of_message, code, {}});
  at->seen.add(number, packet.time_ns);
}

void MrcStreamState::see_probe(const MrcPacket& packet) {
  constexpr std::size_t open_at_most = 256;
  ++found.probes;
  if (probes_.size() < open_at_most) probes_[packet.probe_id] = packet.time_ns;
}

void MrcStreamState::note_hint(const MrcPacket& packet, std::uint16_t path) {
  if (packet.hint == hint_skip) {
    ++found.marked;
    if (path != no_path) ++found.paths[path].marked;
  } else if (packet.hint == hint_retire) {
    ++found.retired;
    if (path != no_path) ++found.paths[path].retired;
  }
}

void MrcStreamState::see_sack(const MrcPacket& packet) {
  ++found.sacks;
  const std::int64_t now = packet.time_ns;
  const std::uint16_t named = path_named(packet.ev);
  note_hint(packet, named);
  if (packet.mpr != 0) {
    const std::uint32_t window = packet.mpr * packets_of_mpr;
    found.window_min = std::min(found.window_min.value_or(window), window);
    found.window_max = std::max(found.window_max.value_or(window), window);
  }
  found.out_of_order_max = std::max<std::uint32_t>(found.out_of_order_max, packet.out_of_order);
  if (packet.of_probe && probes_.erase(packet.probe_id) != 0) ++found.probes_answered;
  if (top_ == no_psn) return;

  fresh_.clear();
  if (!packet.of_probe) {
    Slot* slot = at(packet.ack_psn);
    const bool unseen =
        slot != nullptr ? (slot->state & (seen | received)) == 0 : mrc_distance(packet.ack_psn, top_) > 0;
    if (unseen && unseen_.size() < paths_at_most) ++unseen_[packet.ev];
    if (slot != nullptr) acknowledged(*slot, now, named);
  }
  const std::uint32_t last = mrc_distance(packet.cack, top_) < 0 ? packet.cack : top_;
  // What is confirmed may be ahead of what was captured, but by no more than a window.
  const bool in_reach = mrc_distance(top_, packet.cack) < static_cast<std::int32_t>(ring_.size()) &&
                        mrc_distance(packet.cack, top_) <= largest_window;
  std::uint32_t psn = cack_ == no_psn || mrc_distance(cack_, lowest_) < 0 ? lowest_ : mrc_next(cack_);
  if (in_reach && mrc_distance(last, psn) >= static_cast<std::int32_t>(ring_.size()))
    psn = (last - static_cast<std::uint32_t>(ring_.size()) + 1) & mrc_psn_mask;
  for (; in_reach && mrc_distance(psn, last) <= 0; psn = mrc_next(psn)) {
    if (Slot* slot = at(psn)) acknowledged(*slot, now, no_path);
  }
  if (in_reach && (cack_ == no_psn || mrc_distance(packet.cack, cack_) > 0)) cack_ = packet.cack;
  for (std::uint64_t bits = packet.bitmap; bits != 0; bits &= bits - 1) {
    const auto bit = static_cast<std::uint32_t>(std::countr_zero(bits));
    if (Slot* slot = at((packet.first_bit + bit) & mrc_psn_mask)) acknowledged(*slot, now, no_path);
  }
  for (const Fresh& arrival : fresh_) note_arrival(arrival, now);

  // What it says is not there: behind the last of all, and between those of its map.
  if (Slot* slot = at(mrc_next(packet.cack))) note_hole(*slot, now);
  const auto width = static_cast<std::uint32_t>(std::bit_width(packet.bitmap));
  for (std::uint32_t bit = 0; bit < width; ++bit) {
    const std::uint32_t hole = (packet.first_bit + bit) & mrc_psn_mask;
    if ((packet.bitmap >> bit & 1U) != 0 || mrc_distance(hole, packet.cack) <= 0) continue;
    if (Slot* slot = at(hole)) note_hole(*slot, now);
  }
}

void MrcStreamState::acknowledged(Slot& slot, std::int64_t now, std::uint16_t named) {
  if ((slot.state & repeated) == 0) {
    if ((slot.state & received) != 0) return;
    slot.state = static_cast<std::uint8_t>((slot.state | received) & ~(slot.state & trimmed_here ? 0 : lost));
    if ((slot.state & seen) == 0) return;
    if (named == slot.path && named != no_path) time_answer(slot, named, now);
    fresh_.push_back({slot.path, slot.time_ns});
    return;
  }
  Repeat& repeat = repeats_[slot.psn];
  if (named != no_path) {
    for (Copy& copy : repeat.copies) {
      constexpr unsigned gone = received | trimmed_here | trimmed_behind;
      if (copy.path != named || (copy.state & seen) == 0 || (copy.state & gone) != 0 || copy.time_ns > now)
        continue;
      copy.state = static_cast<std::uint8_t>((copy.state | received) & ~unsigned{lost});
      fresh_.push_back({copy.path, copy.time_ns});
      break;
    }
  }
  if ((slot.state & received) != 0) return;
  slot.state = static_cast<std::uint8_t>(slot.state | received);
  repeat.acked_ns = now;
}

/// A packet of this path arrived that was sent then. Reports may overtake each other, but by no more than the
/// ways there and back differ: a report as old as that is older than any that comes now.
void MrcStreamState::note_arrival(const Fresh& arrival, std::int64_t now) {
  if (arrival.path == no_path) return;
  Way& way = ways_[arrival.path];
  way.settle(now, spread_ns());
  if (way.waiting_ns == capture::no_time) {
    way.waiting_ns = arrival.sent_ns;
    way.reported_ns = now;
  } else {
    way.waiting_ns = std::max(way.waiting_ns, arrival.sent_ns);
  }
  way.just_ns = way.just_now == now ? std::max(way.just_ns, arrival.sent_ns) : arrival.sent_ns;
  way.just_now = now;
}

/// Whether one that was sent later on the same path has arrived.
bool MrcStreamState::overtaken(std::uint16_t path, std::int64_t sent, std::int64_t now) noexcept {
  if (path == no_path) return false;
  Way& way = ways_[path];
  way.settle(now, spread_ns());
  return (way.arrived_ns != capture::no_time && way.arrived_ns > sent) ||
         (way.just_now == now && way.just_ns > sent);
}

/// No packet of this stream took half as long.
bool MrcStreamState::is_overdue(std::int64_t sent, std::int64_t now) const noexcept {
  return found.rtt_ns.count() >= answers_enough &&
         now - sent > 2 * static_cast<std::int64_t>(found.rtt_ns.max());
}

/// The receiver does not have it, and says so.
void MrcStreamState::note_hole(Slot& slot, std::int64_t now) {
  if ((slot.state & (seen | received)) != seen) return;
  const auto judge = [&](std::uint16_t path, std::int64_t sent, std::uint8_t& state) {
    if ((state & seen) == 0 || sent >= now || (state & lost) != 0) return;
    if (overtaken(path, sent, now) || is_overdue(sent, now)) state = static_cast<std::uint8_t>(state | lost);
  };
  if ((slot.state & repeated) == 0) {
    judge(slot.path, slot.time_ns, slot.state);
    return;
  }
  for (Copy& copy : repeats_[slot.psn].copies) judge(copy.path, copy.time_ns, copy.state);
}

void MrcStreamState::time_answer(const Slot& slot, std::uint16_t path, std::int64_t now) {
  const std::int64_t rtt = now - slot.time_ns;
  if (rtt < 0) return;
  if (judged_from_ == no_psn) judged_from_ = top_;
  found.rtt_ns.add(static_cast<std::uint64_t>(rtt));
  MrcPath& way = found.paths[path];
  way.rtt_min_ns = way.answers == 0 ? rtt : std::min(way.rtt_min_ns, rtt);
  way.rtt_max_ns = std::max(way.rtt_max_ns, rtt);
  way.rtt_sum_ns += static_cast<std::uint64_t>(rtt);
  ++way.answers;
}

void MrcStreamState::see_nack(const MrcPacket& packet) {
  const auto reason = std::find(mrc_reasons.begin(), mrc_reasons.end(), packet.reason);
  ++found.nacks[static_cast<std::size_t>(reason - mrc_reasons.begin())];
  Slot* slot = at(packet.ack_psn);
  const std::uint16_t path = path_named(packet.ev);
  if (slot == nullptr || path == no_path || (slot->state & seen) == 0) return;
  unsigned said = refused;
  if (packet.reason == reason_trimmed) said = lost | trimmed_behind;
  if (packet.reason == reason_trimmed_last_hop) said = lost | trimmed_behind | trimmed_last;
  const auto take = [&](std::uint8_t& state) {
    constexpr unsigned told = received | trimmed_here | trimmed_behind | refused;
    if ((state & told) != 0) return false;
    if (said == refused) ++found.refused;
    state = static_cast<std::uint8_t>(state | said);
    return true;
  };
  if ((slot->state & repeated) == 0) {
    if (slot->path == path) take(slot->state);
    return;
  }
  for (Copy& copy : repeats_[slot->psn].copies) {
    if (copy.path == path && copy.time_ns <= packet.time_ns && take(copy.state)) break;
  }
}

}  // namespace roce::analyze
