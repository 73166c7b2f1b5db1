// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/clocks.hpp"

#include <algorithm>
#include <limits>
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

/// When each of those PSNs was first asked for, by index: a READ asks for those of all its responses, which
/// may be all that follow if its length is not known. What asks again tells nothing of those whose first
/// request is forgotten: no_time.
List<std::int64_t> first_sent(std::span<const Note> notes, const Set<std::int64_t>& psns) {
  List<std::int64_t> sent(psns.size(), capture::no_time);
  List<std::size_t> asked_to(psns.size(), 0);  // all up to there have been asked for; 0: it has not
  std::int64_t top = std::numeric_limits<std::int64_t>::min();
  for (const Note& note : notes) {
    if (!note.request) continue;
    const std::size_t to = note.count > 0 ? psns.index_of(note.psn + note.count) : psns.size();
    for (std::size_t i = psns.index_of(note.psn); i < to;) {
      const std::size_t known = asked_to[i];
      asked_to[i] = std::max(known, to);
      if (known == 0 && note.psn >= top) sent[i] = note.time_ns;
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
  const List<std::int64_t> sent = first_sent(notes, psns);
  List<bool> answered(psns.size());
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = none;
  std::int64_t second = none;
  for (const Note& note : notes) {
    if (note.request || note.before) continue;
    const std::size_t i = psns.index_of(caused_by(note));
    if (!is_nak(note)) {
      if (answered[i]) continue;
      answered[i] = true;
    }
    if (sent[i] == capture::no_time) continue;
    const std::int64_t least = sent[i] - note.time_ns;
    second = std::max(second, std::min(most, least));
    most = std::max(most, least);
  }
  if (most == none) return;
  // One that comes sooner than any other by more than a timer answers what the capture missed.
  const bool alone = second != none && most > 0 && most - second >= shortest_timer_ns;
  clocks.at_least(alone ? second : most);
}

/// A pass that begins at just the PSN of a NAK comes behind it. Of what was asked for, or gone back to, more
/// than once nobody knows which belong together.
void learn_from_passes(std::span<const Note> notes, ClockFact& clocks) {
  List<const Note*> requests;
  Map<std::int64_t, List<std::int64_t>> naks;
  for (const Note& note : notes) {
    if (note.request) requests.push_back(&note);
    if (is_nak(note)) naks[note.psn].push_back(note.time_ns);
  }
  Map<std::int64_t, List<std::int64_t>> passes;
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
