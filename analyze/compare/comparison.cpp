// SPDX-License-Identifier: Apache-2.0
#include "analyze/compare/comparison.hpp"

#include <algorithm>
#include <cstdlib>

namespace roce::analyze {
namespace {

constexpr std::size_t most_damaged = 1024;
constexpr std::uint64_t progress_step = 4096;
constexpr std::int64_t doubled_within_ns = 10'000'000;
constexpr unsigned dscp_bits = 0xfc;  // of the traffic class

/// What its AETH, if any, says (IBTA 9.7.5.2.8).
AnswerKind answer_kind(const PacketSeen& seen) noexcept {
  if (!seen.has(PointPacket::extended_known)) return AnswerKind::other;
  constexpr unsigned kind = 29;  // of the syndrome: the top bits
  switch (seen.extended >> kind) {
    case 0:
      return AnswerKind::acknowledge;
    case 1:
      return AnswerKind::receiver_not_ready;
    case 3:
      return AnswerKind::nak;
    default:
      return AnswerKind::other;
  }
}

Passage passage_of(const PacketSeen& first, Outcome outcome) noexcept {
  Passage passage;
  passage.flow = first.flow;
  passage.opcode = first.opcode;
  passage.psn = first.psn;
  passage.answer = answer_kind(first);
  passage.outcome = outcome;
  passage.number = first.number;
  passage.time_ns = first.time_ns;
  return passage;
}

}  // namespace

Comparison::Comparison(const ComparePoint& a, const ComparePoint& b, const CompareOptions& options)
    : options_(options),
      points_{a, b},
      readers_{{*a.source, reader_options(options)}, {*b.source, reader_options(options)}},
      book_(options.repeats_limit),
      window_(options.window_packets) {}

CompareResult Comparison::run() {
  alignment_ = align(readers_[0], readers_[1], points_[0], points_[1], options_, book_);
  shift_ = ClockShift(alignment_.shift_ns, alignment_.found);
  while (const std::optional<unsigned> side = next_side()) {
    take(*side);
    while (!window_.empty() && now_ns_ - corrected(window_.front()) > options_.window_ns) handle_front(false);
  }
  while (!window_.empty()) handle_front(false);
  finish_times();
  finish_sprayed();
  finish_pairs();
  finish_lost();
  std::optional<std::int64_t> ends_ns[2];
  for (unsigned side = 0; side < 2; ++side)
    if (readers_[side].any_time()) ends_ns[side] = readers_[side].last_time_ns();
  book_.finish_repeats(ends_ns, result_);
  settle_lost();
  result_.findings = compare_findings(result_);
  return std::move(result_);
}

std::optional<unsigned> Comparison::next_side() {
  const PointPacket* heads[2] = {readers_[0].head(), readers_[1].head()};
  for (unsigned side = 0; side < 2; ++side) ended_[side] = heads[side] == nullptr;
  if (ended_[0] && ended_[1]) return std::nullopt;
  if (ended_[0] || ended_[1]) return ended_[0] ? 1U : 0U;
  // Without timestamps both are read alternately.
  if (readers_[0].timeless() || readers_[1].timeless()) return taken_[0] <= taken_[1] ? 0U : 1U;
  return heads[0]->time_ns <= heads[1]->time_ns - shift_.value() ? 0U : 1U;
}

void Comparison::take(unsigned side) {
  const PointPacket* head = readers_[side].head();
  if (head == nullptr) return;
  const PointPacket& packet = *head;
  PacketSeen seen;
  seen.sign = packet.sign;
  seen.number = packet.number;
  seen.time_ns = packet.time_ns;
  seen.flow = book_.place_of(packet.key, packet.port);
  seen.icrc = packet.icrc;
  seen.extended = packet.extended;
  seen.psn = packet.psn;
  seen.path = packet.path;
  seen.port = packet.port;
  seen.vlan = packet.vlan;
  seen.traffic_class = packet.traffic_class;
  seen.pcp = packet.pcp;
  seen.ttl = packet.ttl;
  seen.opcode = packet.opcode;
  seen.flags = packet.flags;
  seen.point = side & 1U;
  if (seen.flow != SentBefore::none) book_.count_kind(seen.flow, packet.opcode);
  readers_[side].take();
  constexpr std::size_t soon = 4;
  if (const PointPacket* next = readers_[side].ahead(soon)) window_.expect(next->sign);
  mark_if_doubled(seen);
  while (window_.full()) handle_front(true);
  now_ns_ = std::max(now_ns_, corrected(seen));
  const std::uint64_t place = window_.push(seen);
  if (seen.has(PointPacket::damaged) && seen.has(PointPacket::icrc_known)) {
    if (damaged_.size() >= most_damaged) damaged_.pop_front();
    damaged_.emplace_back(seen.icrc, place);
  }
  if (++taken_[side] % progress_step == 0 && options_.progress)
    options_.progress(readers_[side].source(), readers_[side].frames());
}

/// Marks the second copy of a packet that the capture has twice. Without an IPv4 ID a retransmission is
/// identical: only a copy of another path, or of a path that is captured twice, is a copy.
void Comparison::mark_if_doubled(PacketSeen& seen) {
  const bool numbered = seen.has(PointPacket::numbered);
  constexpr std::int64_t mirrored_within_ns = 100'000;
  std::uint32_t on_this_way = 0, elsewhere = 0;
  bool mirrored = false;
  window_.for_sign(seen.sign, [&](const PacketSeen& other, std::uint64_t) {
    if (other.point != seen.point || other.icrc != seen.icrc || !same_extended(other, seen)) return true;
    seen.set(PacketSeen::again);
    const std::int64_t lag_ns = std::abs(seen.time_ns - other.time_ns);
    if (lag_ns > doubled_within_ns) return false;
    const bool same_way = other.path == seen.path;
    if (same_way && on_this_way == 0 && alignment_.doubled[seen.point])
      mirrored = numbered || (lag_ns <= mirrored_within_ns && !other.is(PacketSeen::doubled));
    if (same_way) {
      ++on_this_way;
    } else if (!other.is(PacketSeen::doubled)) {
      ++elsewhere;
    }
    return !numbered || (!mirrored && elsewhere == 0);
  });
  if (mirrored || (numbered ? elsewhere != 0 : elsewhere > on_this_way)) seen.set(PacketSeen::doubled);
}

void Comparison::handle_front(bool early) {
  const std::uint64_t place = window_.front_place();
  PacketSeen& seen = window_.front();
  if (seen.is(PacketSeen::doubled)) {
    ++result_.points[seen.point].doubled;
  } else if (!seen.is(PacketSeen::handled)) {
    if (!seen.is(PacketSeen::resolved)) {
      unsigned direction = 0;
      if (seen.flow != SentBefore::none) direction = book_.pair_of(seen.flow).direction.value_or(0);
      window_.resolve(place, shift_.value() + usual_[direction]);
    }
    if (window_.fellow_of(place) == nullptr && !seen.has(PointPacket::damaged)) {
      if (const std::optional<std::uint64_t> damaged = find_damaged(seen))
        window_.join(place, *damaged, true);
    }
    if (PacketSeen* fellow = window_.fellow_of(place)) {
      handle_matched(seen, *fellow);
    } else {
      handle_alone(place, early);
    }
  }
  window_.pop_front();
}

/// The packet at the other point with the same ICRC and a changed bit elsewhere.
std::optional<std::uint64_t> Comparison::find_damaged(const PacketSeen& seen) {
  while (!damaged_.empty() && damaged_.front().second < window_.front_place()) damaged_.pop_front();
  if (!seen.has(PointPacket::icrc_known)) return std::nullopt;
  for (const auto& [icrc, place] : damaged_) {
    const PacketSeen& other = window_.at(place);
    if (icrc == seen.icrc && other.point != seen.point && !other.is(PacketSeen::handled) &&
        other.fellow == 0 && std::abs(corrected(other) - corrected(seen)) <= options_.window_ns) {
      return place;
    }
  }
  return std::nullopt;
}

void Comparison::learn_times(unsigned direction, const PacketSeen& a, const PacketSeen& b) {
  const std::int64_t difference = b.time_ns - a.time_ns;
  // In the order of the first point's time.
  tracks_[direction].add(direction == 0 ? a.time_ns : b.time_ns - alignment_.shift_ns, difference);
  shift_.add(direction, difference);
  const std::int64_t excess = difference - shift_.value();
  Excess& range = excess_[direction];
  range.least = std::min(range.least, excess);
  range.largest = std::max(range.largest, excess);
  usual_[direction] += (excess - usual_[direction]) / 16;
}

void Comparison::handle_matched(PacketSeen& seen, PacketSeen& fellow) {
  seen.set(PacketSeen::handled);
  fellow.set(PacketSeen::handled);
  const PacketSeen& a = seen.point == 0 ? seen : fellow;
  const PacketSeen& b = seen.point == 0 ? fellow : seen;
  const bool damaged_a = a.has(PointPacket::damaged);
  const std::uint32_t flow = damaged_a ? b.flow : a.flow;
  const std::int64_t difference = b.time_ns - a.time_ns;
  unsigned direction = difference >= shift_.value() ? 0 : 1;
  if (flow != SentBefore::none) {
    AddressPair& pair = book_.pair_of(flow);
    if (!pair.direction) pair.direction = direction;
    direction = *pair.direction;
    ++pair.matched;
    note_matched_path(flow, direction, a, b);
  }
  CompareDirection& counts = result_.directions[direction];
  ++counts.matched;
  mixtures_[direction].note(false);
  learn_times(direction, a, b);
  const PacketSeen& first = direction == 0 ? a : b;
  const PacketSeen& second = direction == 0 ? b : a;
  const Outcome outcome = note_passage(direction, first, second, seen.is(PacketSeen::corrupted));
  if (flow == SentBefore::none) {
    ++result_.untracked;
    return;
  }
  // What came damaged says nothing for sure, and what came trimmed had been lost before.
  if (first.has(PointPacket::damaged) || first.has(PointPacket::trimmed)) return;
  if (is_sprayed(first)) sprayed_.sent(flow, first.psn, first.number, outcome == Outcome::arrived);
  Passage passage = passage_of(first, outcome);
  passage.arrival_number = second.number;
  passage.arrival_ns = second.time_ns;
  book_.sent(passage, std::nullopt, direction, result_);
}

Outcome Comparison::note_passage(unsigned direction, const PacketSeen& first, const PacketSeen& second,
                                 bool corrupted) {
  CompareDirection& counts = result_.directions[direction];
  if (corrupted) {
    if (second.has(PointPacket::damaged)) counts.corrupted.add(first.number, first.time_ns);
  } else if (is_trimmed_between(first, second)) {
    counts.trimmed.add(first.number, first.time_ns);
    return Outcome::trimmed;
  } else if (first.has(PointPacket::trimmed)) {
    return Outcome::unknown;  // its marks are those of the switch
  } else if (second.has(PointPacket::cut) && !first.has(PointPacket::cut) &&
             ((first.traffic_class ^ second.traffic_class) & dscp_bits) != 0) {
    counts.cut.add(first.number, first.time_ns);
    return Outcome::unknown;
  } else {
    compare_marks(direction, direction == 0 ? first : second, direction == 0 ? second : first);
  }
  if (!second.has(PointPacket::damaged)) return Outcome::arrived;
  // Of a truncated one it is not known whether it had been damaged before.
  return corrupted ? Outcome::damaged : Outcome::unknown;
}

bool Comparison::has_matched_copy(const PacketSeen& seen) {
  if (seen.is(PacketSeen::again))
    return true;  // the copy before it was matched, and may be out of the window
  bool found = false;
  window_.for_sign(seen.sign, [&](const PacketSeen& other, std::uint64_t) {
    found = other.point == seen.point && other.fellow != 0 && other.icrc == seen.icrc &&
            same_extended(other, seen) && std::abs(other.time_ns - seen.time_ns) <= options_.window_ns;
    return !found;
  });
  return found;
}

bool Comparison::is_covered(const PacketSeen& seen, unsigned direction) const {
  const PointReader& other = readers_[1 - seen.point];
  if (!other.any_time()) return !readers_[seen.point].any_time() && other.frames() != 0;
  const Excess& excess = excess_[direction];
  const std::int64_t shift = shift_.value();
  const bool in_a = seen.point == 0;
  const std::int64_t earliest =
      in_a ? seen.time_ns + shift + excess.least : seen.time_ns - shift - excess.largest;
  const std::int64_t latest =
      in_a ? seen.time_ns + shift + excess.largest : seen.time_ns - shift - excess.least;
  return earliest >= other.first_time_ns() && (!ended_[1 - seen.point] || latest <= other.last_time_ns());
}

std::optional<std::uint32_t> Comparison::list_lost(const PacketSeen& seen, unsigned direction,
                                                   AddressPair& pair) {
  constexpr std::uint64_t most_unknown = 64;  // packets of a pair that the other point may not see at all
  if (result_.lost.size() >= options_.lost_limit) return std::nullopt;
  if (pair.matched == 0 && pair.listed++ >= most_unknown) return std::nullopt;
  result_.lost.push_back(lost_packet(seen, direction));
  return static_cast<std::uint32_t>(result_.lost.size() - 1);
}

LostPacket Comparison::lost_packet(const PacketSeen& seen, unsigned direction) const {
  LostPacket lost;
  lost.key = book_.key_of(seen.flow);
  lost.direction = direction;
  lost.packet = seen.number;
  lost.time_ns = seen.time_ns;
  lost.psn = seen.psn;
  lost.port = seen.port;
  lost.opcode = seen.opcode;
  return lost;
}

void Comparison::handle_alone(std::uint64_t place, bool early) {
  PacketSeen& seen = window_.at(place);
  seen.set(PacketSeen::handled);
  if (early) ++result_.window_exceeded;
  if (seen.flow == SentBefore::none) {
    ++result_.untracked;
    return;
  }
  AddressPair& pair = book_.pair_of(seen.flow);
  const unsigned direction = pair.direction && !pair.either ? *pair.direction : unsigned{seen.point};
  CompareDirection& counts = result_.directions[direction];
  const bool at_first = direction == seen.point;
  if (!at_first && has_matched_copy(seen)) {
    counts.duplicated.add(seen.number, seen.time_ns);
    return;
  }
  const bool whole = !seen.has(PointPacket::damaged);
  const bool directed = pair.direction && !pair.either && pair.matched != 0;
  if (!is_covered(seen, direction)) {
    ++counts.not_covered;
    if (at_first && directed && whole)
      book_.sent(passage_of(seen, Outcome::unknown), std::nullopt, direction, result_);
    return;
  }
  // Damaged between the points so that it cannot be matched.
  if (!at_first && seen.has(PointPacket::damaged)) return;
  if (at_first && seen.has(PointPacket::trimmed)) return;  // it had been lost before
  if (is_sprayed(seen)) {
    note_sprayed(seen, direction);
    return;
  }
  ++pair.alone[seen.point];
  if (PathBook::Path* path = paths_.at(book_.pair_place(seen.flow), seen.port)) ++path->alone[seen.point];
  pair.alone_first[seen.point].add(seen.number, seen.time_ns);
  if (!at_first) {
    if (!directed) return;
    Passage passage = passage_of(seen, Outcome::arrived);
    passage.shown_first = false;
    passage.number = 0;
    passage.arrival_number = seen.number;
    passage.arrival_ns = seen.time_ns;
    book_.sent(passage, std::nullopt, direction, result_);
    return;
  }
  if (!whole) ++counts.lost_damaged;
  mixtures_[direction].note(true);
  const std::optional<std::uint32_t> listed = list_lost(seen, direction, pair);
  if (whole && pair.direction && !pair.either) {
    book_.sent(passage_of(seen, Outcome::lost), listed, direction, result_);
  } else if (whole && pair.matched == 0 && is_answer(dissect::opcode_info(seen.opcode))) {
    // What it acknowledges has arrived, whether or not this way passes the other point.
    book_.sent(passage_of(seen, Outcome::unknown), std::nullopt, direction, result_);
  }
}

}  // namespace roce::analyze
