// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/wire_order.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "analyze/episode/clocks.hpp"
#include "analyze/episode/late_stamps.hpp"
#include "analyze/episode/ranges.hpp"
#include "analyze/episode/scratch.hpp"
#include "analyze/episode/thresholds.hpp"
#include "dissect/opcode.hpp"
#include "dissect/types.hpp"

namespace roce::analyze::episode {

using dissect::Operation;

namespace {

enum class Kind : std::uint8_t { request, response, acknowledge, nak };

Kind kind_of(const Note& note) noexcept {
  if (note.request) return Kind::request;
  if (dissect::opcode_info(note.opcode).operation != Operation::acknowledge) return Kind::response;
  return note.has_aeth && (note.aeth >> 29U & 3U) != 0 ? Kind::nak : Kind::acknowledge;
}

class Untangled {
 public:
  Untangled(std::span<const Note> notes, Facts& facts) : notes_(notes), facts_(facts), times_(notes.size()) {
    for (std::size_t i = 0; i < notes.size(); ++i) {
      times_[i] = notes[i].time_ns;
      timed_ = timed_ && notes[i].time_ns != capture::no_time;
      const Kind kind = kind_of(notes[i]);
      if (kind == Kind::request) requests_.push_back(static_cast<std::int32_t>(i));
      if (kind == Kind::response) responses_.push_back(static_cast<std::int32_t>(i));
    }
  }

  void learn_disorder() {
    if (timed_ && several_late()) learn();
  }

  /// Of requests whose IDs tell, only answers are put into their place.
  WireOrder run(bool ids_tell) {
    List<std::int32_t> order(notes_.size());
    std::iota(order.begin(), order.end(), 0);
    if (timed_) {
      for (List<std::int32_t>* stream : {&requests_, &responses_}) {
        if (!ids_tell) untangle(*stream);
        earliest_of_later(*stream);
      }
      place_answers();
      rank(order);
    }
    return told(order);
  }

 private:
  [[nodiscard]] const Note& at(std::int32_t i) const noexcept { return notes_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::int64_t& time(std::int32_t i) noexcept { return times_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] static std::int64_t end_of(const Note& note) noexcept {
    return note.psn + std::max(note.count, 1);
  }

  [[nodiscard]] bool several_late() const;
  void learn();
  void untangle(List<std::int32_t>& stream) const;
  [[nodiscard]] std::size_t next_of(const List<std::int32_t>& waiting, std::int64_t cursor,
                                    const Set<std::int64_t>& sent) const;
  void earliest_of_later(const List<std::int32_t>& stream);
  void place_answers();
  void rank(List<std::int32_t>& order) const;
  [[nodiscard]] WireOrder told(const List<std::int32_t>& order) const;

  static constexpr std::size_t some = 4;  ///< late ones

  std::span<const Note> notes_;
  Facts& facts_;
  List<std::int64_t> times_;
  List<std::int32_t> requests_, responses_;
  bool timed_ = true;
};

/// Whether so many requests came for the first time behind later ones as it takes to learn from: seldom.
bool Untangled::several_late() const {
  Set<std::int64_t> seen;
  std::int64_t top = std::numeric_limits<std::int64_t>::min();
  std::size_t late = 0;
  for (const std::int32_t i : requests_) {
    const Note& note = at(i);
    const bool fresh = seen.insert(note.psn);
    if (fresh && note.psn < top && !note.before && end_of(note) > facts_.acked) ++late;
    top = std::max(top, note.psn);
  }
  return late >= some;
}

/// How late those are that nobody asked for, behind others that were sent later: where that are many, it is
/// how far the order is disturbed. What was confirmed before the episode had come before, if that is
/// forgotten. A row of several that goes on with what had come already was sent again; so was what comes for
/// the first time in a pass, behind what had come or was asked for: it was lost before.
void Untangled::learn() {
  Set<std::int64_t> asked;
  for (const Note& note : notes_) {
    if (kind_of(note) == Kind::nak) asked.insert(note.psn);
  }
  Ranges reads;  // what begins within one of them asks for its rest
  for (const std::int32_t i : requests_) reads.add(at(i).psn, end_of(at(i)));
  reads.settle();
  constexpr int a_pass = 3;
  Set<std::int64_t> seen;
  List<std::int64_t> late;
  List<std::pair<std::int64_t, std::int64_t>> tops;  // PSNs that rise, with when they came
  std::int64_t row = -1;                             // where it goes on
  std::size_t before_row = 0;                        // so many late ones
  bool before_again = false;                         // its row goes on with what had come
  int again_in_row = 0;                              // what had come is sent again, and what follows it
  bool asked_for = false;                            // a NAK asked for what rises since then
  std::size_t before_it = 0;                         // so many late ones
  for (const std::int32_t i : requests_) {
    const Note& note = at(i);
    const bool again = !seen.insert(note.psn) || reads.within(note.psn);
    const bool follows = note.psn == row;
    if (!follows) before_row = late.size();
    if (again && late.size() >= before_row + some) late.resize(before_row);
    constexpr std::int64_t near = 4;
    const bool rises = note.psn >= row && note.psn < row + near;
    row = end_of(note);
    if (!rises || asked.contains(note.psn)) {
      asked_for = asked.contains(note.psn);
      before_it = late.size();
    }
    // A pass, not a row that was held up as a whole.
    if (again && asked_for) late.resize(std::min(before_it, late.size()));
    if (!rises || tops.empty() || note.psn > tops.back().first) again_in_row = 0;
    again_in_row += again ? 1 : 0;
    const bool in_pass = again_in_row >= a_pass || (before_again && follows);
    before_again = again || (before_again && follows);
    if (again) continue;
    if (tops.empty() || note.psn > tops.back().first) {
      tops.emplace_back(note.psn, note.time_ns);
    } else if (!note.before && !in_pass && !asked.contains(note.psn) && end_of(note) > facts_.acked) {
      const auto beyond =
          std::upper_bound(tops.begin(), tops.end(), std::pair{note.psn, notes_.back().time_ns});
      const std::int64_t by_ns = beyond == tops.end() ? at_once_ns : note.time_ns - beyond->second;
      if (by_ns < at_once_ns) late.push_back(by_ns);
    }
  }
  const std::size_t one_of = late.size() < 2 * some ? 8 : 20;
  if (late.size() < some || late.size() * one_of < seen.size()) return;
  // Not by the last few of them: what was lost and sent again looks alike.
  const std::size_t most = late.size() - 1 - late.size() / 16;
  std::nth_element(late.begin(), late.begin() + static_cast<std::ptrdiff_t>(most), late.end());
  facts_.disorder_ns = std::max(facts_.disorder_ns, std::min(late[most], longest_ns) / 4 * 5);
}

/// Of those that may be next by their times: what the pass goes on with; else the first one behind a gap or
/// where it goes back to, whichever came before the other.
std::size_t Untangled::next_of(const List<std::int32_t>& waiting, std::int64_t cursor,
                               const Set<std::int64_t>& sent) const {
  const std::int64_t until = at(waiting.front()).time_ns + facts_.disorder_ns;
  std::size_t ahead = waiting.size();
  std::size_t back = waiting.size();
  constexpr int a_row = 2;
  int again = 0;                // so many came that were sent before
  std::int64_t row_ns = until;  // when the last of a row of them came
  for (std::size_t i = 0; i < waiting.size() && at(waiting[i]).time_ns <= until; ++i) {
    const std::int64_t psn = at(waiting[i]).psn;
    const std::int64_t time_ns = at(waiting[i]).time_ns;
    if (psn == cursor) {
      // A pass long before it is no disorder.
      return back < i && time_ns - row_ns > facts_.disorder_ns / 2 ? back : i;
    }
    if (sent.contains(psn) && ++again == a_row) row_ns = time_ns;
    std::size_t& best = psn > cursor ? ahead : back;
    if (best == waiting.size() || psn < at(waiting[best]).psn) best = i;
  }
  return ahead < back ? ahead : back;
}

void Untangled::untangle(List<std::int32_t>& stream) const {
  if (stream.empty()) return;
  constexpr std::size_t at_most = 512;  // at once
  List<std::int32_t> waiting;
  List<std::int32_t> sorted;
  Set<std::int64_t> sent;
  std::size_t taken = 0;
  std::int64_t cursor = at(stream.front()).psn;
  for (std::size_t i = 0; i < std::min(stream.size(), at_most); ++i) {
    if (at(stream[i]).time_ns <= at(stream.front()).time_ns + facts_.disorder_ns)
      cursor = std::min(cursor, at(stream[i]).psn);
  }
  const auto fill = [&] {
    while (waiting.size() < at_most && taken < stream.size()) waiting.push_back(stream[taken++]);
  };
  for (fill(); !waiting.empty(); fill()) {
    const std::size_t next = next_of(waiting, cursor, sent);
    sent.insert(at(waiting[next]).psn);
    cursor = end_of(at(waiting[next]));
    sorted.push_back(waiting[next]);
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(next));
  }
  stream = std::move(sorted);
}

/// A packet passed no later than those that were sent after it.
void Untangled::earliest_of_later(const List<std::int32_t>& stream) {
  std::int64_t earliest = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = stream.size(); i-- > 0;) {
    earliest = std::min(earliest, time(stream[i]));
    time(stream[i]) = earliest;
  }
}

/// No answer comes before its request. A NAK may have come so much sooner; what it made the requester send
/// comes behind it.
void Untangled::place_answers() {
  Map<std::int64_t, std::int64_t> asked_ns;
  for (const std::int32_t i : requests_) {
    for (std::int64_t psn = at(i).psn; psn < end_of(at(i)); ++psn) asked_ns.try_emplace(psn, time(i));
  }
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    const Kind kind = kind_of(notes_[i]);
    if (kind == Kind::request) continue;
    if (kind == Kind::nak) times_[i] -= facts_.disorder_ns;
    const auto asked = asked_ns.find(notes_[i].psn + (kind == Kind::nak ? 1 : 0));
    if (asked != asked_ns.end() && asked->second - times_[i] < 2 * facts_.disorder_ns)
      times_[i] = std::max(times_[i], asked->second);
  }
}

void Untangled::rank(List<std::int32_t>& order) const {
  List<std::int32_t> place(notes_.size());
  std::int32_t next = 0;
  for (const auto* stream : {&requests_, &responses_}) {
    for (const std::int32_t i : *stream) place[static_cast<std::size_t>(i)] = next++;
  }
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    const auto key = [&](std::int32_t i) {
      const auto index = static_cast<std::size_t>(i);
      return std::tuple{times_[index], kind_of(notes_[index]), place[index]};
    };
    return key(a) < key(b);
  });
}

WireOrder Untangled::told(const List<std::int32_t>& order) const {
  WireOrder result;
  result.from = order;
  result.overtaken.resize(notes_.size());
  std::int32_t last[2] = {-1, -1};
  for (std::size_t i = 0; i < order.size(); ++i) {
    result.moved.push_back(at(order[i]));
    result.moved.back().time_ns = times_[static_cast<std::size_t>(order[i])];
  }
  result.notes = result.moved;
  for (std::size_t i = order.size(); i-- > 0;) {
    std::int32_t& later = last[at(order[i]).request ? 1 : 0];
    result.overtaken[i] = later >= 0 && later < order[i];
    if (later < 0 || order[i] < later) later = order[i];
  }
  return result;
}

bool ids_order(std::span<const Note> notes) {
  // As Stream does: a counter, shuffled by little.
  std::uint32_t near = 0;
  std::uint32_t other = 0;
  const Note* last = nullptr;
  for (const Note& note : notes) {
    if (!note.request) continue;
    if (!note.has_ip_id) return false;
    if (last != nullptr) {
      const int step = static_cast<std::int16_t>(static_cast<std::uint16_t>(note.ip_id - last->ip_id));
      ++(step != 0 && step > -1024 && step < 4096 ? near : other);
    }
    last = &note;
  }
  return near > 8 * other;
}

/// Whether stamps of answers jitter as well: counts of messages, which rise, fall now and then. Where only
/// requests come in another order, a NAK is stamped when it came.
bool answers_jitter(std::span<const Note> notes) {
  constexpr std::size_t one_of = 8;
  std::size_t answers = 0, fallen = 0;
  const Note* highest = nullptr;
  for (const Note& note : notes) {
    if (note.request || note.before || !note.has_aeth) continue;
    ++answers;
    const std::int32_t ahead = highest == nullptr
                                   ? 1
                                   : dissect::serial_distance(highest->aeth & dissect::serial_mask,
                                                              note.aeth & dissect::serial_mask);
    if (ahead < 0) ++fallen;
    if (ahead > 0) highest = &note;
  }
  return fallen != 0 && fallen * one_of >= answers;
}

/// In the order of stamps, as if the clock of the requests had made all of them.
WireOrder by_one_clock(std::span<const Note> notes, Facts& facts) {
  WireOrder order;
  order.notes = notes;
  order.from.resize(notes.size());
  order.overtaken.resize(notes.size());
  std::iota(order.from.begin(), order.from.end(), 0);
  // Stamps that jitter bound nothing.
  const std::int64_t shift = facts.disorder_ns > 0 ? 0 : clock_shift(notes, facts);
  const bool timed = !notes.empty() && notes.front().time_ns != capture::no_time;
  List<std::int64_t> late;
  if (facts.clocks.varies && timed) late = passed_by(notes, facts);
  if (shift == 0 && late.empty()) return order;
  const auto time_of = [&](std::int32_t i) {
    const auto index = static_cast<std::size_t>(i);
    if (!late.empty()) return late[index];
    return notes[index].request ? notes[index].time_ns : notes[index].time_ns + shift;
  };
  const bool answers_first = !late.empty() && facts.clocks.answers_late();
  std::stable_sort(order.from.begin(), order.from.end(), [&](std::int32_t a, std::int32_t b) {
    const auto key = [&](std::int32_t i) {
      return std::pair{time_of(i), notes[static_cast<std::size_t>(i)].request == answers_first};
    };
    return key(a) < key(b);
  });
  order.moved.reserve(notes.size());
  for (const std::int32_t i : order.from) {
    order.moved.push_back(notes[static_cast<std::size_t>(i)]);
    order.moved.back().time_ns = time_of(i);
  }
  order.notes = order.moved;
  return order;
}

}  // namespace

WireOrder wire_order(std::span<const Note> notes, Facts& facts) {
  const bool ids_tell = ids_order(notes);
  Untangled(notes, facts).learn_disorder();
  WireOrder order = by_one_clock(notes, facts);
  if (facts.disorder_ns <= 0 || (ids_tell && !answers_jitter(notes))) return order;
  WireOrder untangled = Untangled(order.notes, facts).run(ids_tell);
  for (std::int32_t& note : untangled.from) note = order.from[static_cast<std::size_t>(note)];
  return untangled;
}

}  // namespace roce::analyze::episode
