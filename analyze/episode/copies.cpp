// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/copies.hpp"

#include <algorithm>
#include <array>
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
    const StreamFact& ids = facts_.requests;
    const bool ids_rise = ids.id_forward > 8 * (std::uint64_t{ids.id_other} + ids.id_constant);
    ids_[1] && ids_rise ? of_forgotten_by_ids() : of_forgotten();
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

  std::span<const Note> notes_;
  const Facts& facts_;
  List<Copied> said_;
  Alike alike_;
  std::array<bool, 2> ids_{};  ///< of answers, of requests: they change
  bool long_ago_ = false;      ///< requests are shown again that were captured long before
  Set<std::int32_t> shown_;    ///< those of which there is a copy
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

}  // namespace

List<Copied> find_copies(std::span<const Note> notes, const Facts& facts) {
  return Copies(notes, facts).find();
}

}  // namespace roce::analyze::episode
