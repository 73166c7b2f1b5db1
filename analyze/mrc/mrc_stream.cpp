// SPDX-License-Identifier: Apache-2.0
#include "analyze/mrc/mrc_stream.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "dissect/icrc.hpp"
#include "dissect/opcode.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

namespace {

/// The largest window by default. What was sent before a capture of one direction began is within it.
constexpr std::int32_t usual_window = 4096;

}  // namespace

MrcStreamState::Slot* MrcStreamState::at(std::uint32_t psn) noexcept {
  if (ring_.empty()) return nullptr;
  Slot& slot = ring_[psn & (ring_.size() - 1)];
  return slot.psn == psn ? &slot : nullptr;
}
const MrcStreamState::Slot* MrcStreamState::at(std::uint32_t psn) const noexcept {
  return const_cast<MrcStreamState*>(this)->at(psn);
}

void MrcStreamState::grow(MrcBudget& budget) {
  const std::size_t size = ring_.size() * 2;
  budget.slots -= size - ring_.size();
  std::vector<Slot> larger(size);
  for (const Slot& slot : ring_) {
    if (slot.psn != no_psn) larger[slot.psn & (size - 1)] = slot;
  }
  ring_ = std::move(larger);
}

/// Makes `psn` the highest one. What the ring has no room for is settled; it grows while there is more to
/// learn.
MrcStreamState::Slot& MrcStreamState::advance_to(std::uint32_t psn, MrcBudget& budget) {
  while (top_ != psn) {
    const std::uint32_t it = mrc_next(top_);
    Slot* slot = &ring_[it & (ring_.size() - 1)];
    const bool done =
        slot->psn == no_psn || ((slot->state & received) != 0 &&
                                ((slot->state & repeated) == 0 || ring_.size() > std::size_t{usual_window}));
    if (!done && ring_.size() < largest_size && budget.slots >= ring_.size()) {
      grow(budget);
      continue;
    }
    if (slot->psn != no_psn) settle(*slot, ring_.size() >= largest_size, budget);
    *slot = Slot{};
    slot->psn = it;
    if (cack_ != no_psn && mrc_distance(it, cack_) <= 0) slot->state = received;
    top_ = it;
  }
  return ring_[psn & (ring_.size() - 1)];
}

std::uint16_t MrcStreamState::path_of(const MrcPacket& packet, MrcBudget& budget) {
  const std::uint32_t ev = std::uint32_t{packet.udp_source} << 16U | packet.flow_label;
  const auto known = path_index_.find(ev);
  if (known != path_index_.end()) return known->second;
  if (found.paths.size() >= paths_at_most || budget.paths == 0) return no_path;
  --budget.paths;
  const auto index = static_cast<std::uint16_t>(found.paths.size());
  path_index_.emplace(ev, index);
  MrcPath& path = found.paths.emplace_back();
  path.udp_source = packet.udp_source;
  path.flow_label = packet.flow_label;
  ways_.emplace_back();
  return index;
}

/// Of 16 bits, or of 32 whose order is disputed: either half may be the port.
std::uint16_t MrcStreamState::path_named(std::uint32_t ev) const noexcept {
  auto it = path_index_.find(ev);
  if (it == path_index_.end()) it = path_index_.find(std::rotl(ev, 16));
  return it == path_index_.end() ? no_path : it->second;
}

/// A sender sends a PSN once without RTX. Repeats that took the same path are told by their IPv4 ID; without
/// one by the place where they were captured, or by their time: nobody sends again so soon, or the capture
/// shows most packets again as late.
bool MrcStreamState::is_copy(const MrcPacket& packet) noexcept {
  const Slot* slot = at(packet.psn);
  const auto known = path_index_.find(std::uint32_t{packet.udp_source} << 16U | packet.flow_label);
  if (slot == nullptr || known == path_index_.end()) return false;
  const auto shortest = static_cast<std::int64_t>(found.rtt_ns.min());
  const bool doubled = 2 * found.copies > found.packets;
  const auto same = [&](const Copy& copy) {
    if ((copy.state & seen) == 0 || copy.path != known->second || copy.rtx != packet.rtx) return false;
    const std::int64_t lag = packet.time_ns - copy.time_ns;
    if (!copy.rtx) {
      copied_within_ns_ = std::max(copied_within_ns_, lag);
      return true;
    }
    if (copy.ip_id != 0 && packet.ip_id != 0) return copy.ip_id == packet.ip_id;
    return copy.place != packet.place || found.rtt_ns.count() == 0 || lag < shortest ||
           (doubled && lag <= copied_within_ns_);
  };
  if ((slot->state & repeated) == 0)
    return same({slot->time_ns, slot->number, slot->path, slot->state, false});
  const auto it = repeats_.find(packet.psn);
  return it != repeats_.end() && std::any_of(it->second.copies.begin(), it->second.copies.end(), same);
}

/// What it says is as old as what it is a copy of. IPv4 IDs tell answers apart that say the same; where there
/// are none, the capture must show data twice as well.
bool MrcStreamState::is_copy_of_answer(const MrcPacket& packet, MrcBudget& budget) {
  constexpr std::size_t remembered = 512;
  if (answers_.empty()) {
    if (budget.answers == 0) return false;
    --budget.answers;
    answers_.resize(remembered);
  }
  std::uint64_t hash = packet.ip_id;
  for (const std::uint64_t word :
       {std::uint64_t{packet.psn}, std::uint64_t{packet.ev}, std::uint64_t{packet.cack},
        std::uint64_t{packet.ack_psn}, std::uint64_t{packet.aeth}, packet.bitmap,
        std::uint64_t{packet.opcode} << 8U | packet.reason}) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 32U;
  }
  std::uint64_t& place = answers_[hash % remembered];
  if (place == hash) return packet.ip_id != 0 || found.copies != 0;
  place = hash;
  return false;
}

void MrcStreamState::begin_anew(MrcBudget& budget) {
  if (top_ != no_psn) found.span += static_cast<std::uint64_t>(mrc_distance(top_, lowest_)) + 1;
  for (std::uint32_t psn = lowest_; top_ != no_psn && mrc_distance(psn, top_) <= 0; psn = mrc_next(psn)) {
    if (Slot* slot = at(psn)) settle(*slot, false, budget);
  }
  std::fill(ring_.begin(), ring_.end(), Slot{});
  budget.repeats += repeats_.size();
  repeats_.clear();
  std::fill(ways_.begin(), ways_.end(), Way{});
  top_ = base_ = lowest_ = cack_ = judged_from_ = no_psn;
}

void MrcStreamState::see_data(const MrcPacket& packet, std::uint64_t number, std::int64_t capture_began_ns,
                              MrcBudget& budget) {
  const bool wrong = packet.icrc == static_cast<std::uint8_t>(dissect::CrcStatus::mismatch);
  if (is_copy(packet)) {
    ++found.copies;
    return;
  }
  icrc_matched_ = icrc_matched_ || packet.icrc == static_cast<std::uint8_t>(dissect::CrcStatus::match);
  ++found.packets;
  found.bytes += packet.wire;
  if (packet.rtx) ++found.repeats;
  if (wrong && icrc_matched_) {
    ++found.damaged;
    if (packet.rtx) ++found.undecided;
    return;
  }
  if (ring_.empty()) {
    const std::size_t size = budget.slots >= first_size ? first_size : first_size / 8;
    budget.slots -= size == first_size ? size : 0;
    ring_.resize(size);
  }
  const std::int64_t quiet_since = found.last_ns == capture::no_time ? capture_began_ns : found.last_ns;
  found.last_ns = packet.time_ns;

  const std::uint16_t path = path_of(packet, budget);
  const bool trimmed = packet.icrc == PacketRecord::trimmed_away;
  const bool ce = (packet.traffic_class & 3U) == static_cast<unsigned>(dissect::Ecn::ce);
  if (ce) ++found.ce;
  if (path == no_path) {
    ++found.paths_dropped;
  } else {
    MrcPath& way = found.paths[path];
    ++way.packets;
    way.bytes += packet.wire;
    if (packet.rtx) ++way.repeats;
    if (ce) ++way.ce;
  }

  const auto far = static_cast<std::int32_t>(largest_size);
  if (top_ != no_psn &&
      (mrc_distance(packet.psn, top_) > far || (!packet.rtx && mrc_distance(packet.psn, top_) < -far))) {
    ++found.restarts;
    begin_anew(budget);
  }
  if (top_ == no_psn) {
    top_ = base_ = lowest_ = packet.psn;
    quiet_ns_ = packet.time_ns - quiet_since;
    ring_[packet.psn & (ring_.size() - 1)].psn = packet.psn;
  }
  const std::int32_t ahead = mrc_distance(packet.psn, top_);
  if (ahead < 0 && !packet.rtx) ++found.reordered;
  Slot* slot = ahead > 0 ? &advance_to(packet.psn, budget) : at(packet.psn);
  while (slot == nullptr && mrc_distance(packet.psn, lowest_) < 0 &&
         mrc_distance(top_, packet.psn) < static_cast<std::int32_t>(ring_.size())) {
    lowest_ = (lowest_ - 1) & mrc_psn_mask;
    ring_[lowest_ & (ring_.size() - 1)].psn = lowest_;
    slot = at(packet.psn);
  }
  if (!packet.rtx && mrc_distance(packet.psn, base_) < 0) base_ = packet.psn;
  if (slot == nullptr) {
    if (packet.rtx) {
      ++found.early;
      ++found.undecided;
    }
    return;
  }
  const auto state = static_cast<std::uint8_t>(trimmed ? seen | trimmed_here | lost : seen);
  if ((slot->state & (seen | repeated)) == 0) ++found.psns;
  if ((slot->state & seen) == 0 && !trimmed) found.payload += packet.payload;
  const Copy copy{packet.time_ns, number, path, state, packet.rtx, packet.ip_id, packet.place};
  if (packet.rtx) {
    see_repeat(*slot, copy, budget);
    return;
  }
  if (dissect::opcode_info(packet.opcode).ends_message() && (slot->state & seen) == 0) ++found.messages;
  if ((slot->state & repeated) != 0) {
    Copy& first = repeats_[packet.psn].copies.front();
    if ((first.state & seen) == 0) first = copy;  // its repeat was faster
  } else if ((slot->state & seen) == 0) {
    *slot = {packet.time_ns, number, packet.psn, path, static_cast<std::uint8_t>(slot->state | state)};
  }
}

void MrcStreamState::see_repeat(Slot& slot, const Copy& copy, MrcBudget& budget) {
  if ((slot.state & repeated) == 0) {
    if (budget.repeats == 0) {
      ++found.undecided;
      return;
    }
    --budget.repeats;
  }
  Repeat& repeat = repeats_[slot.psn];
  if ((slot.state & repeated) == 0) {
    repeat.copies.push_back({slot.time_ns, slot.number, slot.path, slot.state, false});
    if ((slot.state & received) != 0) repeat.acked_ns = copy.time_ns;  // before it was sent again
    repeat.acked_before = (slot.state & received) != 0;
    slot.state = static_cast<std::uint8_t>((slot.state & received) | seen | repeated);
  }
  if (repeat.copies.size() >= copies_at_most) {
    ++found.undecided;
    return;
  }
  repeat.copies.push_back(copy);
}

/// Whether it was surely sent after the capture began, and so should have been seen.
bool MrcStreamState::is_judged(std::uint32_t psn) const noexcept {
  if (found.rtt_ns.count() == 0) return mrc_distance(psn, base_) >= usual_window;
  if (quiet_ns_ > 2 * static_cast<std::int64_t>(found.rtt_ns.max())) return mrc_distance(psn, base_) >= 0;
  return judged_from_ != no_psn && mrc_distance(psn, judged_from_) > 0;
}

void MrcStreamState::settle(Slot& slot, bool for_good, MrcBudget& budget) {
  if ((slot.state & repeated) != 0) {
    const auto it = repeats_.find(slot.psn);
    if (it == repeats_.end()) return;
    settle_repeat(it->second, slot.psn, budget);
    repeats_.erase(it);
    ++budget.repeats;
    return;
  }
  if ((slot.state & (trimmed_here | trimmed_behind)) != 0) {
    count_lost({slot.time_ns, slot.number, slot.path, slot.state, false}, slot.psn, budget);
  } else if ((slot.state & seen) == 0 && ((slot.state & received) != 0 || for_good) && is_judged(slot.psn)) {
    ++found.not_captured;  // nobody sends it any more
  }
}

void MrcStreamState::note_unanswered(const Repeat& repeat) {
  constexpr std::ptrdiff_t in_a_row = 3;  // more than lost packets
  if (found.sacks == 0 || repeat.acked_ns != capture::no_time) return;
  const auto wait = static_cast<std::int64_t>(2 * found.rtt_ns.max());
  const auto in_vain = std::count_if(repeat.copies.begin(), repeat.copies.end(), [&](const Copy& copy) {
    return (copy.state & trimmed_here) == 0 && copy.time_ns > answered_ns_ &&
           copy.time_ns + wait <= found.last_ns;
  });
  if (in_vain >= in_a_row) found.unanswered.add(repeat.copies.back().number, repeat.copies.back().time_ns);
}

/// Which of its copies arrived, as far as the reports tell.
void MrcStreamState::settle_repeat(Repeat& repeat, std::uint32_t psn, MrcBudget& budget) {
  std::vector<Copy>& copies = repeat.copies;
  constexpr unsigned gone = lost | refused;
  const auto shortest = static_cast<std::int64_t>(found.rtt_ns.min());
  const bool never_came = (copies.front().state & seen) == 0;
  note_unanswered(repeat);
  const bool by_name = std::any_of(copies.begin(), copies.end(),
                                   [](const Copy& each) { return (each.state & received) != 0; });
  if (repeat.acked_before) {
    copies.front().state = static_cast<std::uint8_t>((copies.front().state | received) & ~gone);
  } else if (!by_name && repeat.acked_ns != capture::no_time) {
    // Only one of them was sent early enough to be what the receiver reports.
    Copy* only = nullptr;
    unsigned candidates = 0;
    for (Copy& copy : copies) {
      const bool unseen = (copy.state & seen) == 0;
      if ((copy.state & gone) != 0 || (!unseen && copy.time_ns + shortest > repeat.acked_ns)) continue;
      only = &copy;
      ++candidates;
    }
    if (candidates == 1) only->state = static_cast<std::uint8_t>(only->state | received);
  }
  // It has arrived, so one of them did: the last one that can have, for holes were reported of those before.
  if (repeat.acked_ns != capture::no_time && !repeat.acked_before &&
      std::all_of(copies.begin(), copies.end(), [](const Copy& copy) { return (copy.state & gone) != 0; })) {
    const auto late = [&](const Copy& copy) {
      return (copy.state & (trimmed_here | trimmed_behind | refused)) == 0 &&
             copy.time_ns + shortest <= repeat.acked_ns;
    };
    const auto last = std::find_if(copies.rbegin(), copies.rend(), late);
    if (last != copies.rend()) last->state = static_cast<std::uint8_t>((last->state | received) & ~gone);
  }
  const bool passed_elsewhere = never_came && (copies.front().state & received) != 0;
  if (passed_elsewhere && is_judged(psn)) ++found.not_captured;
  const bool lost_upstream = never_came && !passed_elsewhere && is_judged(psn);
  if (lost_upstream) {
    ++lost_before_;
    keep({0, psn, MrcPlace::before_capture, std::nullopt, copies[1].number, copies[1].time_ns}, budget);
  }
  bool all_gone = true, any_arrived = false;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const Copy& copy = copies[i];
    if (copy.rtx) {
      if (any_arrived) {
        ++found.needless;
        found.needless_shown.add(copy.number, copy.time_ns);
      } else if (!all_gone) {
        ++found.undecided;
      } else {
        ++(lost_upstream ? needed_by_them_ : found.needed);
      }
    }
    const bool arrived = (copy.state & received) != 0;
    any_arrived = any_arrived || arrived;
    all_gone = all_gone && ((copy.state & gone) != 0 || (i == 0 && lost_upstream));
    if ((copy.state & lost) != 0 && !arrived) count_lost(copy, psn, budget);
  }
}

void MrcStreamState::keep(const MrcLoss& loss, MrcBudget& budget) {
  if (budget.losses == 0) {
    ++budget.losses_dropped;
    return;
  }
  --budget.losses;
  losses_.push_back(loss);
}

void MrcStreamState::count_lost(const Copy& copy, std::uint32_t psn, MrcBudget& budget) {
  MrcPlace place = MrcPlace::after_capture;
  if ((copy.state & trimmed_here) != 0) {
    place = MrcPlace::trimmed_before;
  } else if ((copy.state & trimmed_behind) != 0) {
    place = (copy.state & trimmed_last) != 0 ? MrcPlace::trimmed_last_hop : MrcPlace::trimmed_after;
  }
  ++found.lost[static_cast<std::size_t>(place)];
  std::optional<std::uint32_t> path;
  if (copy.path != no_path) {
    path = copy.path;
    ++found.paths[copy.path].lost;
    if (place != MrcPlace::after_capture) ++found.paths[copy.path].trimmed;
    if (place == MrcPlace::trimmed_before) ++found.paths[copy.path].trimmed_here;
  }
  keep({0, psn, place, path, copy.number, copy.time_ns}, budget);
}

MrcStream MrcStreamState::finish(std::uint32_t index, MrcBudget& budget, std::vector<MrcLoss>& losses) && {
  begin_anew(budget);
  for (const auto& [ev, count] : unseen_)
    if (path_named(ev) != no_path) found.unseen_here += count;
  constexpr auto upstream = static_cast<std::size_t>(MrcPlace::before_capture);
  // Where packets arrive that never come here, one of which only the repeat came may have passed elsewhere,
  // too.
  const bool sees_all = found.not_captured == 0;
  if (sees_all) {
    found.lost[upstream] += lost_before_;
    found.needed += needed_by_them_;
  } else {
    found.undecided += needed_by_them_;
  }
  for (MrcLoss& loss : losses_) {
    if (loss.place == MrcPlace::before_capture && !sees_all) continue;
    loss.stream = index;
    losses.push_back(loss);
  }
  return std::move(found);
}

}  // namespace roce::analyze
