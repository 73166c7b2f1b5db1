// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/stream.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "analyze/episode/scratch.hpp"
#include "analyze/episode/thresholds.hpp"

namespace roce::analyze::episode {
namespace {

constexpr std::int64_t whole = 1 << 16U;  ///< IPv4 IDs

/// Extends IPv4 IDs to numbers that order transmissions.
class IdOrder {
 public:
  /// `turned_ns`: after so long without a packet they may have gone once around.
  explicit IdOrder(std::int64_t turned_ns) noexcept : turned_ns_(turned_ns) {}

  std::int64_t of(const Note& note) noexcept {
    if (!known_) {
      known_ = true;
      top_ = note.ip_id;
      last_ns_ = note.time_ns;
      return top_;
    }
    std::int64_t step = static_cast<std::int16_t>(static_cast<std::uint16_t>(note.ip_id - (top_ & 0xffff)));
    const bool long_ago = note.time_ns != capture::no_time && last_ns_ != capture::no_time &&
                          note.time_ns - last_ns_ >= turned_ns_;
    if (step < -deepest_id || (step < 0 && long_ago)) step += whole;
    const std::int64_t order = top_ + step;
    if (order > top_) top_ = order;
    last_ns_ = note.time_ns;
    return order;
  }

 private:
  std::int64_t turned_ns_;
  bool known_ = false;
  std::int64_t top_ = 0;
  std::int64_t last_ns_ = capture::no_time;
};

float bits_of_share(std::uint32_t part, std::uint32_t all) noexcept {
  const float share = (static_cast<float>(part) + 0.05F) / (static_cast<float>(all) + 8.0F);
  return std::clamp(-std::log2(share), 0.5F, 10.0F);
}

}  // namespace

void Stream::find_previous() {
  last_.reserve(sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    Sent& now = sent[i];
    const auto [known, fresh] = last_.try_emplace(now.psn, static_cast<std::int32_t>(i));
    if (fresh) continue;
    now.before = std::exchange(known->second, static_cast<std::int32_t>(i));
    if (note_of(now).opcode == note_of(sent[static_cast<std::size_t>(now.before)]).opcode)
      now.previous = now.before;
  }
}

/// IDs of packets that overtook each other fall by a little; those of a counter never by much.
Ids Stream::ids_by(const StreamFact& fact) const {
  constexpr int near = 1024;
  constexpr std::uint32_t enough = 12;
  std::uint32_t forward = 0;
  std::uint32_t back = 0;
  std::uint32_t other = 0;
  std::uint32_t constant = 0;
  std::uint32_t far_forward = 0;
  std::int64_t progress = 0;
  const Note* last = nullptr;
  for (const Sent& each : sent) {
    const Note& note = note_of(each);
    if (!note.has_ip_id) return Ids::nothing;
    if (last != nullptr) {
      const int step = static_cast<std::int16_t>(static_cast<std::uint16_t>(note.ip_id - last->ip_id));
      ++(step == 0 ? constant : step > 0 ? forward : step >= -near ? back : other);
      if (step > near) ++far_forward;
      progress += step;
    }
    last = &note;
  }
  if (forward + back + other + constant < enough) {
    forward += fact.id_forward;
    other += fact.id_other;
    constant += fact.id_constant;
  }
  const std::uint32_t changes = forward + back + other;
  if (changes <= constant) return Ids::nothing;
  const bool rises = forward >= 4 && forward > back && forward > 8 * (std::uint64_t{other} + constant / 2);
  // A counter, shuffled on the way.
  const bool shuffled = forward + back >= enough &&
                        forward + back > 16 * (std::uint64_t{far_forward} + other + constant) &&
                        progress * 2 >= static_cast<std::int64_t>(changes);
  return rises || shuffled ? Ids::order : Ids::same;
}

/// Whether it may be shown again what an earlier one of that PSN was: no copy has another opcode, AckReq,
/// AETH or RETH.
bool Stream::looks_like_before(const Sent& each) const {
  constexpr int looked_back = 8;
  const Note& now = note_of(each);
  std::int32_t k = each.previous;
  for (int times = 0; k >= 0 && times < looked_back; ++times) {
    const Note& before = note_of(sent[static_cast<std::size_t>(k)]);
    const bool other_answer = now.has_aeth && before.has_aeth && now.aeth != before.aeth;
    const bool other_content = now.content != 0 && before.content != 0 && now.content != before.content;
    const bool other_ask = now.request && now.asks != before.asks;
    if (now.opcode == before.opcode && !other_answer && !other_content && !other_ask) return true;
    k = sent[static_cast<std::size_t>(k)].previous;
  }
  return k >= 0;
}

/// How much it takes for each to be shown twice. A second point shows again all that the first one showed:
/// behind what it did not show again only the network doubles, one here and one there.
void Stream::weigh_copies(const StreamFact& fact, bool mirror_known) {
  constexpr unsigned seldom = 8;
  constexpr std::uint32_t some = 4;
  const float usual = bits_of_share(fact.doubled, fact.single) + 1;
  const bool by_network = !mirror_known && !fact.twice(seldom);
  List<bool> again(sent.size());
  for (const Sent& each : sent) {
    if (each.previous >= 0) again[static_cast<std::size_t>(each.previous)] = true;
  }
  List<std::size_t> original(sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i)
    original[i] = sent[i].previous < 0 ? i : original[static_cast<std::size_t>(sent[i].previous)];
  List<bool> single(sent.size());             // behind those that were mostly shown once
  List<std::uint32_t> once(sent.size() + 1);  // of those before each
  for (std::size_t i = 0; i < sent.size(); ++i) once[i + 1] = once[i] + (again[i] ? 0 : 1);
  for (Sent& each : sent) {
    if (each.previous < 0) continue;
    const Note& now = note_of(each);
    const Note& before = note_of(sent[static_cast<std::size_t>(each.previous)]);
    each.lag_ns = timed(now, before) ? std::max<std::int64_t>(now.time_ns - before.time_ns, 0) : 0;
    if (ids != Ids::nothing && now.has_ip_id && before.has_ip_id) {
      each.copy = now.ip_id == before.ip_id ? 0 : Sent::never;
      continue;
    }
    if (!looks_like_before(each)) {
      each.copy = Sent::never;
      continue;
    }
    each.copy = now.path != before.path ? std::min(usual, 2.0F) : usual;
    // The longer, the sooner it is the sender's: few networks hold a copy back for long, and no mirror does.
    const float long_since = std::log2(static_cast<float>(each.lag_ns + 1) / static_cast<float>(quiet_ns));
    each.copy += each.lag_ns >= quiet_ns                     ? 6 + 2 * long_since
                 : each.lag_ns >= quiet_ns / 50 && usual > 4 ? 3.0F
                                                             : 0.0F;
    const auto index = static_cast<std::size_t>(&each - sent.data());
    const std::size_t at = original[index];
    const std::uint32_t shown_once = fact.forgotten + once[at];
    if (!by_network || now.path != before.path) continue;
    if (2 * shown_once <= fact.forgotten + static_cast<std::uint32_t>(at)) continue;
    single[index] = true;
    if (shown_once >= some) each.copy_again = each.copy;
  }
  weigh_many_copies(single);
}

/// What doubles packets now and then does not show one over and over: of what nothing asked for, nor the row
/// that it goes on.
void Stream::weigh_many_copies(const List<bool>& single) {
  constexpr float asked = 5, against = 8;
  constexpr std::uint32_t many = 3;
  Map<std::int64_t, std::uint32_t> times;  // by PSN
  List<bool> unasked(sent.size());
  for (std::size_t i = 1; i < sent.size(); ++i) {
    const Sent& each = sent[i];
    if (!single[i] || each.back <= asked || each.copy >= Sent::never) continue;
    unasked[i] = each.psn != sent[i - 1].end || unasked[i - 1];
    if (unasked[i]) ++times[each.psn];
  }
  for (std::size_t i = 1; i < sent.size(); ++i) {
    if (unasked[i] && times[sent[i].psn] >= many) sent[i].copy += against;
  }
}

/// After how long in silence the IDs may have gone once around: at twice the pace at which the host, whose
/// other packets have IDs of the same counter, was seen to use them up.
std::int64_t Stream::turned_after() const {
  constexpr std::int64_t enough = 512;  // what comes at once is faster than any pace that lasts
  constexpr std::int64_t margin = 2, margin_of_few = 8;
  double fastest = 0;  // IDs in a nanosecond
  const auto take = [&](const Note& from, const Note& to, std::int64_t used, std::int64_t times) {
    if (used <= 0 || !timed(from, to) || to.time_ns <= from.time_ns) return;
    const double pace = static_cast<double>(used * times) / static_cast<double>(to.time_ns - from.time_ns);
    fastest = std::max(fastest, pace);
  };
  std::size_t from = 0;
  std::int64_t used = 0;
  for (std::size_t i = 1; i < sent.size(); ++i) {
    const Note& now = note_of(sent[i]);
    used += static_cast<std::int16_t>(static_cast<std::uint16_t>(now.ip_id - note_of(sent[i - 1]).ip_id));
    if (used < enough) continue;
    take(note_of(sent[from]), now, used, margin);
    from = i;
    used = 0;
  }
  if (fastest == 0 && !sent.empty()) take(note_of(sent.front()), note_of(sent.back()), used, margin_of_few);
  if (fastest == 0) return turned_ns;
  return static_cast<std::int64_t>(static_cast<double>(whole - deepest_id) / fastest);
}

/// Behind which of the stream that one, which went through a shorter queue, was sent: where a pass left out
/// just that, or began without it. Itself: where it is.
std::size_t Stream::place_of_remarked(std::size_t at) const {
  const Sent& moved = sent[at];
  std::int64_t others = 0;  // of that queue, which keep their order among themselves
  std::size_t last = at;    // the one before, of those that waited
  for (std::size_t k = at + 1; k < sent.size(); ++k) {
    const Sent& next = sent[k];
    if (!timed(note_of(moved), note_of(next)) || next.time_ns - moved.time_ns >= at_once_ns) break;
    if (next.psn == moved.psn) break;  // sent again, in its turn
    if (note_of(next).remarked) {
      ++others;
      if (last != at && next.psn < moved.psn) last = k;
      continue;
    }
    const bool behind = next.psn > moved.psn && next.psn - moved.end <= others;
    if (behind && last == at && at == 0) break;
    if (behind) {
      const std::int64_t before = sent[last == at ? at - 1 : last].end;
      const bool left_out = before <= moved.psn && moved.psn - before <= others;
      const bool pass_begins = before > next.psn;
      if (left_out || pass_begins) return last;
    }
    last = k;
  }
  return at;
}

/// A switch that trims sends what is short already whole, but through the queue of trimmed packets.
void Stream::put_remarked_in_place() {
  std::size_t moves = sent.size();  // at most
  for (std::size_t i = 0; i < sent.size();) {
    const Note& note = note_of(sent[i]);
    const std::size_t behind = note.remarked && !note.before ? place_of_remarked(i) : i;
    if (behind == i || moves-- == 0) {
      ++i;
      continue;
    }
    sent[i].time_ns = sent[behind].time_ns;
    const auto first = sent.begin() + static_cast<std::ptrdiff_t>(i);
    std::rotate(first, first + 1, sent.begin() + static_cast<std::ptrdiff_t>(behind) + 1);
  }
}

/// Where IDs tell the order of sending, the stream is sorted by it.
void Stream::put_in_order(const StreamFact& fact) {
  ids = ids_by(fact);
  if (ids == Ids::order) {
    IdOrder numbers(turned_after());
    List<std::pair<std::int64_t, std::size_t>> order;
    order.reserve(sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i) order.emplace_back(numbers.of(note_of(sent[i])), i);
    if (!std::is_sorted(order.begin(), order.end())) {  // by number, then as captured
      std::sort(order.begin(), order.end());
      List<Sent> sorted;
      sorted.reserve(sent.size());
      for (const auto& [at, i] : order) sorted.push_back(sent[i]);
      sent = std::move(sorted);
    }
  } else if (std::any_of(sent.begin(), sent.end(),
                         [&](const Sent& each) { return note_of(each).remarked; })) {
    put_remarked_in_place();
  }
  by_then.resize(sent.size());
  std::int32_t first = std::numeric_limits<std::int32_t>::max();
  for (std::size_t i = sent.size(); i-- > 0;) {
    first = std::min(first, sent[i].note);
    by_then[i] = first;
  }
  find_previous();
}

/// How much it takes for a pass to have a gap: as many packets are missing among those that are sent again as
/// among new ones. What comes into a gap though nothing asked for it was overtaken, until another is
/// repeated.
float Stream::bits_of_gap() const noexcept {
  constexpr float asked = 4, at_most = 7;
  std::uint32_t fresh = 0, gaps = 0, filled = 0;
  std::int64_t cursor = sent.front().psn;
  std::int64_t top = cursor;
  for (const Sent& each : sent) {
    if (each.psn >= top) {
      ++fresh;
      gaps += each.psn > top ? 1 : 0;
      top = each.end;
    } else if (each.psn < cursor && each.back > asked && each.before < 0) {
      ++filled;
      continue;
    }
    cursor = each.end;
  }
  return std::min(bits_of_share(gaps - std::min(gaps, filled), fresh), at_most);
}

void Stream::weigh(const StreamFact& fact, const MirrorFact& mirror) {
  weigh_copies(fact, mirror.witnesses != 0);
  constexpr float at_most = 6;
  const float late = std::min(bits_of_share(fact.late, fact.single) + 1, at_most);
  for (Sent& each : sent) each.late = late;
  // Nothing is held back much longer than what came late so far.
  late_by_ns_ = std::max(shortest_timer_ns, 2 * fact.late_ns);
  gap_bits_ = bits_of_gap();
}

void Stream::tell(std::int64_t bottom, std::int64_t acked, float home) {
  if (ids == Ids::order) {
    story = tell_in_order(sent, sent_to);
    return;
  }
  StoryFacts facts;
  const auto told = [&](const Sent& each) { return note_of(each).before; };
  facts.before = static_cast<std::size_t>(std::find_if_not(sent.begin(), sent.end(), told) - sent.begin());
  facts.bottom = bottom;
  facts.top = sent_to;
  facts.acked = acked;
  facts.home = home;
  facts.late_by_ns = late_by_ns_;
  facts.ahead = gap_bits_;
  this->story = episode::tell(sent, facts);
}

std::int64_t Stream::room_before(std::size_t i) const noexcept {
  if (ids != Ids::order || i == 0) return std::numeric_limits<std::int64_t>::max();
  const auto step = static_cast<std::uint16_t>(note_of(sent[i]).ip_id - note_of(sent[i - 1]).ip_id);
  return std::max<std::int64_t>(step, 1) - 1;
}

bool Stream::count_alone() const noexcept {
  if (ids != Ids::order) return false;
  std::size_t in_turn = 0, next = 0;
  for (std::size_t i = 1; i < sent.size(); ++i) {
    if (sent[i].psn != sent[i - 1].end) continue;
    ++in_turn;
    if (room_before(i) == 0) ++next;
  }
  return next * 16 >= in_turn * 15;
}

void Stream::learn(StreamFact& fact, PathFact& path) const {
  const auto most = std::uint32_t{1} << 28U;
  std::uint32_t late = 0;
  std::uint32_t doubled = 0;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    if (story[i].move == Move::late || overtaken(i)) ++late;
    if (story[i].move == Move::late) fact.late_ns = std::max(fact.late_ns, story[i].late_ns);
    if (story[i].move == Move::copy) ++doubled;
  }
  if (fact.single > most || fact.doubled > most || fact.late > most) {
    fact.single /= 2;
    fact.doubled /= 2;
    fact.late /= 2;
  }
  fact.single += static_cast<std::uint32_t>(sent.size());
  fact.doubled += doubled;
  fact.late += late;
  path.captured += sent.size();
  path.overtaken += late;
}

}  // namespace roce::analyze::episode
