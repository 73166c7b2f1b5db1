// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/clocks.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "analyze/episode/late_stamps.hpp"
#include "analyze/episode/scratch.hpp"
#include "analyze/episode/thresholds.hpp"
#include "dissect/aeth.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze::episode {

using dissect::Operation;

namespace {

bool is_nak(const Note& note) noexcept {
  return !note.request && note.has_aeth && (note.aeth >> 29U & 3U) == 3 &&
         dissect::opcode_info(note.opcode).operation == Operation::acknowledge;
}

/// The request that an answer cannot come before. A NAK comes behind the one after it, which showed the gap.
std::int64_t caused_by(const Note& answer) noexcept {
  return is_nak(answer) ? answer.psn + 1 : answer.psn;
}

/// When each PSN was first asked for. A READ asks for those of all its responses, which may be all that
/// follow if its length is not known; then a READ behind it may ask for the rest of them once more. What was
/// sent again tells nothing of what is forgotten.
class FirstSent {
 public:
  explicit FirstSent(std::span<const Note> notes) {
    constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max();
    std::int64_t top = std::numeric_limits<std::int64_t>::min();
    for (const Note& note : notes) {
      if (!note.request) continue;
      const bool read = dissect::opcode_info(note.opcode).operation == Operation::read_request;
      const bool rest = read && !sent_.empty() && sent_.back().end == unknown;
      // Of what was sent again before the episode only the last time is remembered.
      const bool tells = !note.before || (note.count > 0 && note.cause == Cause::none);
      if (note.psn >= top && tells && !rest)
        sent_.push_back({note.psn, note.count > 0 ? note.psn + note.count : unknown, note.time_ns});
      top = std::max(top, note.psn + std::max(note.count, 1));
    }
  }
  /// no_time: not known.
  [[nodiscard]] std::int64_t at(std::int64_t psn) const noexcept {
    const auto behind = std::upper_bound(sent_.begin(), sent_.end(), psn,
                                         [](std::int64_t at, const Row& row) { return at < row.first; });
    const bool known = behind != sent_.begin() && psn < std::prev(behind)->end;
    return known ? std::prev(behind)->time_ns : capture::no_time;
  }

 private:
  struct Row {
    std::int64_t first = 0, end = 0, time_ns = 0;
  };
  List<Row> sent_;  ///< in order of PSNs
};

/// The first answer to each PSN comes behind its request.
void learn_from_answers(std::span<const Note> notes, Facts& facts) {
  const FirstSent sent(notes);
  Set<std::int64_t> answered;
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = none;
  std::int64_t second = none;
  for (const Note& note : notes) {
    if (note.request) continue;
    const std::int64_t psn = caused_by(note);
    if (!is_nak(note) && !answered.insert(psn)) continue;
    const std::int64_t sent_ns = sent.at(psn);
    if (sent_ns == capture::no_time) continue;
    const std::int64_t least = sent_ns - note.time_ns;
    ++facts.clocks.answers;
    if (least > 0) ++facts.clocks.early;
    second = std::max(second, std::min(most, least));
    most = std::max(most, least);
  }
  if (most == none) return;
  // One that comes sooner than any other by more than a timer answers what the capture missed; so may any
  // where it misses some.
  const bool alone =
      second != none && most > 0 && (most - second >= shortest_timer_ns || facts.capture.missed != 0);
  facts.clocks.at_least(alone ? second : most);
}

/// A pass that begins at just the PSN of a NAK comes behind it. Of what was asked for, or gone back to, more
/// than once nobody knows which belong together. A pass that a silence precedes may be the timer's, which ran
/// out while the NAK was on its way: a few such tell nothing, nor do they beside one that came behind its
/// NAK.
void learn_from_passes(std::span<const Note> notes, ClockFact& clocks) {
  struct Begun {
    std::int64_t time_ns = 0, silence_ns = 0;
  };
  List<const Note*> requests;
  Map<std::int64_t, List<std::int64_t>> naks;
  for (const Note& note : notes) {
    if (note.request) requests.push_back(&note);
    if (is_nak(note)) naks[note.psn].push_back(note.time_ns);
  }
  Map<std::int64_t, List<Begun>> passes;
  std::int64_t top = requests.empty() ? 0 : requests.front()->psn;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Note& note = *requests[i];
    const std::int64_t end = note.psn + std::max(note.count, 1);
    const bool begins = i > 0 && note.psn < top && requests[i - 1]->psn != note.psn - 1;
    if (begins) {
      // What comes alone may only be late.
      const bool goes_on = i + 1 < requests.size() && requests[i + 1]->psn == end && end < top;
      if (goes_on && !note.before)
        passes[note.psn].push_back({note.time_ns, note.time_ns - requests[i - 1]->time_ns});
      if (!goes_on) naks[note.psn].clear();
    }
    top = std::max(top, end);
  }
  constexpr std::size_t many = 3;
  List<std::int64_t> perhaps;
  bool any_behind = false;
  for (const auto& [psn, begun] : passes) {
    const auto asked = naks.find(psn);
    if (asked == naks.end() || asked->second.size() != 1 || begun.size() != 1) continue;
    const std::int64_t behind_ns = begun.front().time_ns - asked->second.front();
    const bool by_timer =
        behind_ns < 0 && begun.front().silence_ns >= std::max(shortest_timer_ns, -behind_ns);
    any_behind = any_behind || behind_ns >= 0;
    if (by_timer) {
      perhaps.push_back(behind_ns);
    } else {
      clocks.at_most(behind_ns);
    }
  }
  if (perhaps.size() < many || any_behind) return;
  for (const std::int64_t behind_ns : perhaps) clocks.at_most(behind_ns);
}

bool most_heard_late(const ClockFact& clocks) noexcept {
  constexpr std::uint32_t some = 3;
  return (clocks.heard_late >= some || clocks.heard_certain) && clocks.heard_late > clocks.heard_before;
}

/// Whether answers come before their requests all the time: of a few, the capture missed the first request.
bool many_early(const ClockFact& clocks) noexcept {
  constexpr std::uint32_t some = 8, one_of = 8;
  return clocks.early >= some && clocks.early * one_of >= clocks.answers;
}

/// Who went back had heard the NAK, though it may be stamped later; an RNR NAK for about as long as it says.
/// What makes it go back there once more comes behind that. Of single NAKs that are stamped behind a pass,
/// another reason for the pass may not have been seen: where stamps are late, most are.
void learn_from_heard(std::span<const Note> notes, Facts& facts) {
  ClockFact& clocks = facts.clocks;
  const List<Heard> all = naks_heard(notes, facts);
  for (const Heard& each : all) {
    if (!each.no_other) continue;
    // What waits for as long as an RNR NAK says is sent behind that, though it is stamped late.
    const bool late = each.nak > each.pass;
    if (late) ++clocks.heard_late;
    clocks.heard_certain = clocks.heard_certain || each.certain;
    if (!late && nak_of(notes[each.nak]) != Nak::rnr) ++clocks.heard_before;
  }
  if (!most_heard_late(clocks)) return;
  Map<std::int64_t, std::size_t> gone_back;  // by PSN: the last pass
  for (const Heard& each : all) {
    const Note& nak = notes[each.nak];
    const std::int64_t after_ns = notes[each.pass].time_ns - nak.time_ns;
    const auto syndrome = static_cast<std::uint8_t>(nak.aeth >> 24U & 31U);
    const std::int64_t wait_ns =
        nak_of(nak) == Nak::rnr ? static_cast<std::int64_t>(dissect::rnr_timer_ns(syndrome)) / 2 : 0;
    if (after_ns < -latest_stamp_ns || !each.no_other) continue;
    if (after_ns < 0 || wait_ns != 0) clocks.at_most(after_ns - std::min(wait_ns, latest_stamp_ns));
    const auto [last, fresh] = gone_back.try_emplace(nak.psn, each.pass);
    if (fresh) continue;
    const std::int64_t behind_ns = notes[std::exchange(last->second, each.pass)].time_ns - nak.time_ns;
    if (clocks.most_ns >= -latest_stamp_ns && behind_ns <= 0) clocks.at_least(behind_ns);
  }
}

}  // namespace

std::int64_t clock_shift(std::span<const Note> notes, Facts& facts) {
  ClockFact& clocks = facts.clocks;
  const bool timed = std::all_of(notes.begin(), notes.end(),
                                 [](const Note& note) { return note.time_ns != capture::no_time; });
  if (!timed) return 0;
  if (facts.fastest_answer_ns > 0) clocks.at_least(-facts.fastest_answer_ns);
  learn_from_answers(notes, facts);
  learn_from_passes(notes, clocks);
  learn_from_heard(notes, facts);
  if (clocks.least_ns > clocks.most_ns) {  // no clock explains both
    const bool late =
        clocks.least_ns > 0 ? clocks.most_ns >= 0 && many_early(clocks) : most_heard_late(clocks);
    clocks.varies = (clocks.varies || late) && clocks.latest_ns() <= latest_stamp_ns;
    if (!clocks.varies) clocks = {};
    return 0;
  }
  if (clocks.least_ns <= 0 && clocks.most_ns >= 0) return 0;
  // In the middle, but no further than is shown again: one of the bounds may be far off.
  const bool both = clocks.most_ns != ClockFact::unknown_most && clocks.least_ns != ClockFact::unknown_least;
  const std::int64_t half = both ? (clocks.most_ns - clocks.least_ns) / 2 : 0;
  if (clocks.least_ns > 0) return clocks.least_ns + std::min(half, clocks.least_ns);
  return clocks.most_ns - std::min(half, -clocks.most_ns);
}

}  // namespace roce::analyze::episode
