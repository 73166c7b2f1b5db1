// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/clocks.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyze/episode/scratch.hpp"
#include "analyze/episode/thresholds.hpp"
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

/// When each of those PSNs was first asked for: a READ asks for those of all its responses, which may be all
/// that follow if its length is not known. What asks again tells nothing of those whose first request is
/// forgotten.
HashMap<std::int64_t, std::int64_t> first_sent(std::span<const Note> notes, const Set<std::int64_t>& psns) {
  HashMap<std::int64_t, std::int64_t> sent;
  // By index of such a PSN: all up to there have been asked for; 0: it has not.
  const auto count = static_cast<std::size_t>(psns.end() - psns.begin());
  List<std::size_t> asked_to(count, 0);
  std::int64_t top = std::numeric_limits<std::int64_t>::min();
  for (const Note& note : notes) {
    if (!note.request) continue;
    const auto index_of = [&](std::int64_t psn) {
      return static_cast<std::size_t>(psns.lower_bound(psn) - psns.begin());
    };
    const std::size_t from = index_of(note.psn);
    const std::size_t to = note.count > 0 ? index_of(note.psn + note.count) : count;
    for (std::size_t i = from; i < to;) {
      const std::size_t known = asked_to[i];
      asked_to[i] = std::max(known, to);
      if (known == 0 && note.psn >= top)
        sent.try_emplace(*(psns.begin() + static_cast<std::ptrdiff_t>(i)), note.time_ns);
      i = std::max(known, i + 1);
    }
    top = std::max(top, note.psn + std::max(note.count, 1));
  }
  return sent;
}

/// The first answer to each PSN comes behind its request.
void learn_from_answers(std::span<const Note> notes, ClockFact& clocks) {
  Set<std::int64_t> psns;
  for (const Note& note : notes) {
    if (!note.request && !note.before) psns.insert(caused_by(note));
  }
  const auto sent = first_sent(notes, psns);
  HashSet<std::int64_t> answered;
  List<std::int64_t> least;
  for (const Note& note : notes) {
    if (note.request || note.before) continue;
    if (!is_nak(note) && !answered.insert(note.psn)) continue;
    const auto asked = sent.find(caused_by(note));
    if (asked != sent.end()) least.push_back(asked->second - note.time_ns);
  }
  if (least.empty()) return;
  // One that comes sooner than any other by more than a timer answers what the capture missed.
  std::sort(least.begin(), least.end());
  const bool alone =
      least.size() > 1 && least.back() > 0 && least.back() - *(least.end() - 2) >= shortest_timer_ns;
  clocks.at_least(alone ? *(least.end() - 2) : least.back());
}

/// A pass that begins at just the PSN of a NAK comes behind it. Of what was asked for, or gone back to, more
/// than once nobody knows which belong together.
void learn_from_passes(std::span<const Note> notes, ClockFact& clocks) {
  List<const Note*> requests;
  HashMap<std::int64_t, List<std::int64_t>> naks;
  for (const Note& note : notes) {
    if (note.request) requests.push_back(&note);
    if (is_nak(note)) naks[note.psn].push_back(note.time_ns);
  }
  HashMap<std::int64_t, List<std::int64_t>> passes;
  std::int64_t top = requests.empty() ? 0 : requests.front()->psn;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Note& note = *requests[i];
    const std::int64_t end = note.psn + std::max(note.count, 1);
    const bool begins = i > 0 && note.psn < top && requests[i - 1]->psn != note.psn - 1;
    if (begins) {
      // What comes alone may only be late.
      const bool goes_on = i + 1 < requests.size() && requests[i + 1]->psn == end && end < top;
      if (goes_on && !note.before) passes[note.psn].push_back(note.time_ns);
      if (!goes_on) naks[note.psn].clear();
    }
    top = std::max(top, end);
  }
  for (const auto& [psn, begun] : passes) {
    const auto asked = naks.find(psn);
    if (asked == naks.end() || asked->second.size() != 1 || begun.size() != 1) continue;
    clocks.at_most(begun.front() - asked->second.front());
  }
}

}  // namespace

std::int64_t clock_shift(std::span<const Note> notes, ClockFact& clocks) {
  const bool timed = std::all_of(notes.begin(), notes.end(),
                                 [](const Note& note) { return note.time_ns != capture::no_time; });
  if (!timed) return 0;
  learn_from_answers(notes, clocks);
  learn_from_passes(notes, clocks);
  if (clocks.least_ns > clocks.most_ns) return 0;  // no clock explains both
  if (clocks.least_ns <= 0 && clocks.most_ns >= 0) return 0;
  if (clocks.most_ns == ClockFact::unknown_most) return clocks.least_ns;
  if (clocks.least_ns == ClockFact::unknown_least) return clocks.most_ns;
  return clocks.least_ns + (clocks.most_ns - clocks.least_ns) / 2;
}

}  // namespace roce::analyze::episode
