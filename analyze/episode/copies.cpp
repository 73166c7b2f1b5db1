// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/copies.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include "analyze/episode/alike.hpp"
#include "analyze/episode/asked_for.hpp"
#include "analyze/episode/scratch.hpp"
#include "analyze/episode/stream.hpp"
#include "analyze/episode/thresholds.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze::episode {

using dissect::Operation;

namespace {

class Copies {
 public:
  Copies(std::span<const Note> notes, const Facts& facts)
      : notes_(notes), facts_(facts), said_(notes.size()), alike_(notes) {}

  List<Copied> find() {
    for (const bool request : {true, false}) {
      if (alike_.ids_change(request, facts_)) {
        by_ids(request);
        ids_[request ? 1 : 0] = true;
      } else {
        by_path(request);
      }
    }
    if (!ids_[0] || !ids_[1]) by_lag();
    if (!ids_[1]) by_order(true, false);
    if (!ids_[0]) by_order(false, twice_in_order_);
    const StreamFact& ids = facts_.requests;
    const bool ids_rise = ids.id_forward > 8 * (std::uint64_t{ids.id_other} + ids.id_constant);
    ids_[1] && ids_rise ? of_forgotten_by_ids() : of_forgotten();
    for (const bool request : {true, false}) alone(request);
    return std::move(said_);
  }

 private:
  [[nodiscard]] const Note& at(std::int32_t i) const noexcept { return notes_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] bool copied(std::int32_t i) const noexcept {
    return said_[static_cast<std::size_t>(i)].rule != Rule::none;
  }
  void say(std::size_t i, Rule rule, std::int32_t of) {
    said_[i] = {rule, of};
    if (of >= 0) shown_.insert(of);
  }

  void by_ids(bool request);
  void by_path(bool request);
  void of_forgotten();
  void of_forgotten_by_ids();
  [[nodiscard]] bool forgotten(std::size_t i);
  [[nodiscard]] std::int32_t on_other_path(std::size_t i);
  void by_lag();
  struct Order;
  [[nodiscard]] Order in_order(bool request, bool long_ago);
  void by_order(bool request, bool others_are);
  void alone(bool request);

  std::span<const Note> notes_;
  const Facts& facts_;
  List<Copied> said_;
  Alike alike_;
  std::array<bool, 2> ids_{};    ///< of answers, of requests: they change
  bool twice_in_order_ = false;  ///< requests are shown twice, each in its order
  bool long_ago_ = false;        ///< requests are shown again that were captured long before
  Set<std::int32_t> shown_;      ///< those of which there is a copy
};

/// Equal IDs of those that look the same; after a time in which 16 bits may have gone around, only where many
/// are.
void Copies::by_ids(bool request) {
  if (!alike_.any_id_twice(request)) return;
  const auto same = [&](std::size_t i, bool long_ago) {
    for (const std::int32_t before : alike_.before(i)) {
      if (at(before).ip_id == notes_[i].ip_id && (long_ago || alike_.lag(before, i) < turned_ns))
        return before;
    }
    return -1;
  };
  constexpr int many = 4;
  int equal = 0;
  for (std::size_t i = 0; i < notes_.size() && equal < many; ++i) {
    if (notes_[i].request == request && same(i, true) >= 0 && same(i, false) < 0) ++equal;
  }
  if (request) long_ago_ = equal == many;
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    const std::int32_t before = notes_[i].request == request ? same(i, equal == many) : -1;
    if (before < 0) continue;
    say(i, Rule::same_id, copied(before) ? said_[static_cast<std::size_t>(before)].of : before);
  }
}

/// Captured before, and confirmed, so long ago that it is forgotten.
bool Copies::forgotten(std::size_t i) {
  const Note& note = notes_[i];
  return note.request && !note.before && note.psn >= facts_.first &&
         note.psn + std::max(note.count, 1) <= facts_.acked && alike_.before(i).empty();
}

/// The first one before it on another path that has no copy yet; -1: there is none.
std::int32_t Copies::on_other_path(std::size_t i) {
  for (const std::int32_t before : alike_.before(i)) {
    const std::int64_t took = alike_.lag(before, i);
    if (at(before).path != notes_[i].path && took >= 0 && took < quiet_ns && !copied(before) &&
        !shown_.contains(before))
      return before;
  }
  return -1;
}

/// A path on which hardly anything comes that was not shown before on another: of a second capture point.
void Copies::by_path(bool request) {
  struct Path {
    std::uint32_t all = 0, again = 0;
  };
  Map<std::uint32_t, Path> paths;
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    if (notes_[i].request != request) continue;
    Path& path = paths[notes_[i].path];
    ++path.all;
    if (forgotten(i) || on_other_path(i) >= 0) ++path.again;
  }
  if (paths.size() < 2) return;
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    if (notes_[i].request != request) continue;
    const Path& path = paths[notes_[i].path];
    if (path.again * 10 < path.all * 9) continue;
    const std::int32_t before = on_other_path(i);
    if (before >= 0 || forgotten(i)) say(i, Rule::other_path, before);
  }
}

/// Nobody sends again what was confirmed, if nothing asks for it and no timer ran. But a READ or atomic whose
/// answer was lost behind the capture is asked for again at once.
void Copies::of_forgotten() {
  std::optional<AskedFor> asked_for;  // which is seldom asked
  std::int64_t last_ns = capture::no_time;
  std::int64_t last_end = -1;
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    const Note& note = notes_[i];
    if (!note.request || copied(static_cast<std::int32_t>(i))) continue;
    const bool soon = note.time_ns != capture::no_time && last_ns != capture::no_time &&
                      note.time_ns - last_ns < shortest_timer_ns;
    const bool awaits = answered_on_its_own(dissect::opcode_info(note.opcode).operation);
    // What follows a packet that was sent again goes with it.
    const bool shown = forgotten(i) && soon && note.psn != last_end && !awaits;
    if (shown && !asked_for) asked_for.emplace(notes_);
    if (shown && !asked_for->has(note)) {
      say(i, Rule::confirmed_before, -1);
    } else {
      last_ns = note.time_ns;
      last_end = note.psn + std::max(note.count, 1);
    }
  }
}

/// One with an ID before that of what is remembered, and lies behind it, was sent before that.
void Copies::of_forgotten_by_ids() {
  const Note* first = nullptr;  // of the last ones
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    const Note& note = notes_[i];
    if (!note.request || copied(static_cast<std::int32_t>(i))) continue;
    if (first == nullptr || (!long_ago_ && note.time_ns - first->time_ns >= turned_ns)) first = &note;
    const auto step = static_cast<std::int16_t>(static_cast<std::uint16_t>(note.ip_id - first->ip_id));
    const bool earlier = step < 0 && step >= -deepest_id;  // from further back the IDs have gone around
    if (earlier && note.psn < first->psn && forgotten(i)) say(i, Rule::sent_earlier, -1);
  }
}

/// Where a mirror is known, what comes again after its lag is its copy; each of one. But where the NAK or the
/// READ that asks for it is not shown again, it was sent again.
void Copies::by_lag() {
  const MirrorFact& mirror = facts_.mirror;
  List<bool> twice(notes_.size());
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    for (const std::int32_t before : alike_.before(i)) {
      if (mirror.shows(at(before), notes_[i])) twice[static_cast<std::size_t>(before)] = twice[i] = true;
    }
  }
  List<bool> over = twice;  // and those of before have had their effect
  for (std::size_t i = 0; i < notes_.size(); ++i) over[i] = over[i] || notes_[i].before;
  const AskedFor asked_for(notes_, over);
  Map<std::int64_t, std::pair<std::int64_t, std::int32_t>> asked_again;  // READs: ends, notes
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    const Note& note = notes_[i];
    if (ids_[note.request ? 1 : 0] || copied(static_cast<std::int32_t>(i))) continue;
    const auto read = asked_again.upper_bound(note.psn);
    for (const std::int32_t before : alike_.before(i)) {
      if (!mirror.shows(at(before), note) || copied(before) || shown_.contains(before)) continue;
      const bool asked = note.request
                             ? asked_for.has(note)
                             : read != asked_again.begin() && std::prev(read)->second.first > note.psn &&
                                   std::prev(read)->second.second > before;
      if (!asked) say(i, Rule::steady_lag, before);
      break;
    }
    const bool again = note.request && !copied(static_cast<std::int32_t>(i)) && !twice[i] &&
                       !alike_.before(i).empty() &&
                       answered_on_its_own(dissect::opcode_info(note.opcode).operation);
    if (again) asked_again[note.psn] = {note.psn + std::max(note.count, 1), static_cast<std::int32_t>(i)};
  }
}

/// Of what comes again of one side, in the order in which it came before: how often, and how.
struct Copies::Order {
  List<std::int32_t> of;        ///< by note: the one that it shows again; -1: none
  std::uint32_t all = 0;        ///< notes
  std::uint32_t again = 0;      ///< that show another one again
  std::uint32_t soon = 0;       ///< of these: behind something new, sooner than any timer
  std::uint32_t went_on = 0;    ///< so often something new followed them, though more had been sent since
  std::uint32_t others = 0;     ///< came before, but show none that was not shown again yet
  std::uint32_t asked_for = 0;  ///< NAKs; of responses: READs asked again
};

/// What comes at a second point next is the oldest that was not shown again: queues keep their order.
/// `long_ago`: also of those that had come before the episode by more than a timer.
Copies::Order Copies::in_order(bool request, bool long_ago) {
  Order order;
  order.of.assign(notes_.size(), -1);
  List<bool> shown(notes_.size());
  std::int32_t last = -1;  // shown again last
  std::int64_t top = std::numeric_limits<std::int64_t>::min();
  std::int64_t again_to = top;  // where what came just before ends, if it was shown again
  bool new_before = false;      // what came just before was new
  const auto begins =
      std::find_if(notes_.begin(), notes_.end(), [](const Note& note) { return !note.before; });
  const std::int64_t begins_ns = begins == notes_.end() ? 0 : begins->time_ns;
  const auto waits = [&](std::int32_t before) {
    const Note& note = at(before);
    // Of an answer from before the episode the AETH is forgotten.
    const bool forgotten =
        note.before && (!note.request || (!long_ago && begins_ns - note.time_ns >= shortest_timer_ns));
    return before > last && !forgotten && !shown[static_cast<std::size_t>(before)];
  };
  // Of each of this side the next that looks the same, and the next of this side; -1: there is none.
  List<std::int32_t> alike_next(notes_.size(), -1), next_of_side(notes_.size(), -1);
  std::int32_t previous = -1;
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    if (notes_[i].request != request) continue;
    const auto index = static_cast<std::int32_t>(i);
    if (previous >= 0) next_of_side[static_cast<std::size_t>(previous)] = index;
    previous = index;
    const std::span<const std::int32_t> same = alike_.before(i);
    if (!same.empty() && alike_next[static_cast<std::size_t>(same.back())] < 0)
      alike_next[static_cast<std::size_t>(same.back())] = index;
  }
  // Whether those that waited longer come just behind `i`, though no NAK asks for them: then the second point
  // had not come to what looks the same, and it was sent again.
  const auto waited_longer = [&](std::int32_t before, std::int32_t i) {
    constexpr int looked_at = 16, soon = 6;
    std::int32_t until = i;
    for (int k = 0; k < soon && next_of_side[static_cast<std::size_t>(until)] >= 0; ++k)
      until = next_of_side[static_cast<std::size_t>(until)];
    std::int32_t waiting = last < 0 ? -1 : next_of_side[static_cast<std::size_t>(last)];
    for (int k = 0; k < looked_at && waiting >= 0 && waiting < before; ++k) {
      const auto at_last = static_cast<std::size_t>(waiting);
      std::int32_t shows = shown[at_last] ? -1 : alike_next[at_last];
      // What was sent again meanwhile has still to be shown.
      while (shows >= 0 && shows <= i) shows = alike_next[static_cast<std::size_t>(shows)];
      waiting = next_of_side[at_last];
      if (shows <= i || shows > until) continue;
      const auto asks = [&](const Note& each) {
        return nak_of(each) != Nak::none && each.psn <= notes_[at_last].psn;
      };
      if (std::none_of(notes_.begin() + i, notes_.begin() + shows, asks)) return true;
    }
    return false;
  };
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    const Note& note = notes_[i];
    const bool reads_again = !request && note.request && !copied(static_cast<std::int32_t>(i)) &&
                             answered_on_its_own(dissect::opcode_info(note.opcode).operation) &&
                             !alike_.before(i).empty();
    if (nak_of(note) != Nak::none || reads_again) ++order.asked_for;
    if (note.request != request) continue;
    const std::int64_t end = note.psn + std::max(note.count, 1);
    const std::span<const std::int32_t> same = alike_.before(i);
    const auto next = note.before ? same.end() : std::find_if(same.begin(), same.end(), waits);
    if (!note.before) ++order.all;
    if (next != same.end() && !waited_longer(*next, static_cast<std::int32_t>(i))) {
      order.of[i] = last = *next;
      shown[static_cast<std::size_t>(last)] = true;
      // A copy has no copy: the next one shows the same transmission.
      shown[i] = true;
      ++order.again;
      const std::int64_t lag = alike_.lag(last, i);
      if (new_before && lag >= 0 && lag < shortest_timer_ns) ++order.soon;
      again_to = end;
      new_before = false;
      continue;
    }
    new_before = note.psn >= top;
    if (!note.before && !same.empty()) ++order.others;
    if (new_before && again_to < top && again_to != std::numeric_limits<std::int64_t>::min()) ++order.went_on;
    again_to = std::numeric_limits<std::int64_t>::min();
    top = std::max(top, end);
  }
  return order;
}

/// Where two points of one path are in one interface, the second one shows in the same order what the first
/// one did, however long a queue or a pause between them is. A sender has one send pointer: it cannot go back
/// over and over and yet go on each time where it was, but for what a NAK, or a READ, asks for alone.
/// `others_are`: requests are shown twice, so answers are as well.
void Copies::by_order(bool request, bool others_are) {
  const StreamFact& fact = request ? facts_.requests : facts_.responses;
  constexpr std::uint32_t some = 16;
  const auto nearly_all = [](const Order& order) { return 16 * order.again >= 7 * order.all; };
  Order order = in_order(request, true);
  bool twice = order.again >= some && 8 * order.went_on >= order.again &&
               order.went_on > 4 * order.asked_for && 4 * order.again >= order.all - order.again &&
               (facts_.answers_captured || nearly_all(order));
  // What is left of the queue when the sender rests: a repeat would be shown twice.
  const bool usual = fact.copied >= some && 2 * fact.copied >= fact.captured;
  twice = twice || (usual && nearly_all(order) && 8 * order.others < order.again);
  if (!twice) {
    order = in_order(request, false);
    const bool soon =
        order.again >= some && 8 * order.soon >= order.again && order.soon > 4 * order.asked_for;
    twice = order.again != 0 && nearly_all(order) && (soon || others_are);
  }
  if (!twice) return;
  if (request) twice_in_order_ = true;
  List<bool> shown(notes_.size());
  for (const std::int32_t of : order.of) {
    if (of >= 0) shown[static_cast<std::size_t>(of)] = true;
  }
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    const std::int32_t of = said_[i].of;
    if (order.of[i] >= 0) {
      say(i, Rule::in_turn, order.of[i]);
    } else if (said_[i].rule == Rule::steady_lag && of >= 0 && shown[static_cast<std::size_t>(of)] &&
               notes_[i].request == request) {
      said_[i] =
          {};  // what it seemed to show is shown again by another: it was sent again, so soon by chance
    }
  }
}

/// Where nearly all is shown twice, what comes in its turn among what the second point shows, and only there,
/// did not come whole to the first point, which lies behind that one or has the later clock. One that was
/// overtaken would be late at both.
void Copies::alone(bool request) {
  List<std::int32_t> found;
  std::uint32_t copies = 0, others = 0;
  std::int32_t last = -1;     // of what the second point shows: what the first one had shown of it
  std::int32_t highest = -1;  // of what the first one shows
  const auto step = [&](const Note& from, const Note& to) {
    return ids_[request ? 1 : 0]
               ? std::int64_t{static_cast<std::int16_t>(static_cast<std::uint16_t>(to.ip_id - from.ip_id))}
               : to.psn - from.psn;
  };
  constexpr std::int64_t near = 64;  // so many at most are missing in one place
  const auto follows = [&](std::int32_t from, std::int32_t to) {
    const std::int64_t steps = step(at(from), at(to));
    return steps > 0 && steps <= near;
  };
  std::size_t open = 0;  // of those found, the first that nothing followed yet
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    const auto index = static_cast<std::int32_t>(i);
    if (notes_[i].request != request || is_acknowledgement(notes_[i])) continue;
    if (copied(index)) {
      if (said_[i].of < 0) continue;
      ++copies;
      last = said_[i].of;
      for (; open < found.size(); ++open) {
        if (!follows(found[open], last)) found[open] = -1;
      }
      continue;
    }
    if (!notes_[i].before) ++others;
    const bool passed = highest >= 0 && step(at(highest), notes_[i]) < 0;
    if (!passed) highest = index;
    const bool alike = !ids_[request ? 1 : 0] && !alike_.before(i).empty();
    const bool single = !notes_[i].before && !alike && !shown_.contains(index);
    if (passed && single && last >= 0 && follows(last, index)) found.push_back(index);
  }
  if (4 * copies < 3 * others) return;
  for (std::size_t i = 0; i < open; ++i) {
    if (found[i] >= 0) said_[static_cast<std::size_t>(found[i])] = {Rule::in_turn, -1, true};
  }
}

}  // namespace

List<Copied> find_copies(std::span<const Note> notes, const Facts& facts) {
  return Copies(notes, facts).find();
}

}  // namespace roce::analyze::episode
