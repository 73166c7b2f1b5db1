// SPDX-License-Identifier: Apache-2.0
// What the triggers know of the requester before they judge: what it had been told, and how long it takes to
// react and to lose patience.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "analyze/episode/scratch.hpp"
#include "analyze/episode/thresholds.hpp"
#include "analyze/episode/triggers.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze::episode {

using dissect::Operation;

namespace {

constexpr std::uint32_t witnesses_at_most = 32;

/// Takes in the median of what was seen now: most reactions are some, though not all.
void learn_typical(TimeFact& fact, List<std::int64_t>& seen) {
  if (seen.empty()) return;
  const auto middle = seen.begin() + static_cast<std::ptrdiff_t>((seen.size() - 1) / 2);
  std::nth_element(seen.begin(), middle, seen.end());
  const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(seen.size(), witnesses_at_most));
  const float share = static_cast<float>(count) / static_cast<float>(count + fact.witnesses);
  const float moved = fact.witnesses == 0 ? 0 : Triggers::octaves(*middle, fact.typical_ns) * share;
  fact.typical_ns = fact.witnesses == 0
                        ? *middle
                        : static_cast<std::int64_t>(static_cast<float>(fact.typical_ns) * std::exp2(moved));
  fact.witnesses = std::min(fact.witnesses + count, witnesses_at_most);
}

/// The least of what was seen, but for one that stands alone: a timer may grow, and ends no sooner.
void learn_least(TimeFact& fact, List<std::int64_t>& seen) {
  std::sort(seen.begin(), seen.end());
  if (seen.size() > 1 && seen[1] / 3 * 2 > seen[0]) seen.erase(seen.begin());
  for (const std::int64_t each : seen) {
    fact.typical_ns = fact.witnesses == 0 ? each : std::min(fact.typical_ns, each);
    fact.witnesses = std::min(fact.witnesses + 1, witnesses_at_most);
  }
}

}  // namespace

float Triggers::octaves(std::int64_t of_ns, std::int64_t than_ns) noexcept {
  return std::log2(static_cast<float>(std::max<std::int64_t>(of_ns, 1)) /
                   static_cast<float>(std::max<std::int64_t>(than_ns, 1)));
}

void Triggers::look_through() {
  const std::size_t count = scene_.notes.size();
  request_before_.resize(count);
  repeats_before_.resize(count);
  armed_ns_.resize(count);
  sent_to_.resize(count);
  inside_read_.resize(count);
  Map<std::int64_t, std::int64_t> read_ends;  // by first PSN
  std::int32_t last = -1;
  std::int32_t repeats = 0;
  std::int64_t armed_ns = capture::no_time;
  std::int64_t top = std::numeric_limits<std::int64_t>::min();
  std::int64_t next = top;
  std::uint32_t fresh = 0, gaps = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Note& note = scene_.notes[i];
    const auto index = static_cast<std::int32_t>(i);
    request_before_[i] = last;
    repeats_before_[i] = repeats;
    armed_ns_[i] = armed_ns;
    sent_to_[i] = top;
    if (!note.request) {
      const bool acknowledges = is_acknowledgement(note);
      answers_cut_ = answers_cut_ || (acknowledges && !note.has_aeth && !note.before);
      if (scene_.answers.acked_before(index + 1) > scene_.answers.acked_before(index))
        armed_ns = note.time_ns;
      continue;
    }
    const bool idle = scene_.answers.acked_before(index) >= top;
    if (idle || note.psn < next) armed_ns = note.time_ns;
    if (note.psn < top) {
      ++repeats;
    } else {
      ++fresh;
      if (note.psn > top && last >= 0) ++gaps;
    }
    const auto read = read_ends.upper_bound(note.psn);
    inside_read_[i] = read != read_ends.begin() && std::prev(read)->second > note.psn;
    if (note.count > 1) read_ends[note.psn] = note.psn + note.count;
    if (dissect::opcode_info(note.opcode).starts_message()) message_starts_.insert(note.psn);
    last = index;
    next = note.psn + std::max(note.count, 1);
    top = std::max(top, next);
  }
  for (std::size_t i = 1; i < stream_.sent.size(); ++i)
    if (stream_.sent[i].psn < stream_.sent[i - 1].end) steps_back_.push_back(i);
  much_missing_ = gaps > fresh / 16;
}

/// The first step back to what a NAK asked for, or to what comes behind it if that is missing: where the pass
/// goes on, the reaction, else perhaps one that only came late.
void Triggers::learn_reactions() {
  List<std::int64_t> sure;
  List<std::int64_t> likely;
  const Asked* last = nullptr;
  for (const Asked& asked : scene_.answers.asked()) {
    const bool again = last != nullptr && last->psn == asked.psn;
    last = &asked;
    if (asked.rnr || again) continue;
    std::int64_t first = 0;
    const auto behind = std::partition_point(steps_back_.begin(), steps_back_.end(),
                                             [&](std::size_t i) { return stream_.by_then[i] < asked.note; });
    for (const std::size_t i : std::span(behind, steps_back_.end())) {
      const Sent& sent = stream_.sent[i];
      const std::int32_t at = stream_.by_then[i];
      if (sent.psn < asked.psn || sent.psn >= sent_to_[static_cast<std::size_t>(asked.note)]) continue;
      if (sent.psn > asked.psn && scene_.answers.acked_before(at) > asked.psn) break;
      const std::int64_t took = since(asked.note, at);
      if (took <= 0 || stream_.note_of(sent).before) continue;
      if (first == 0) first = took;
      const bool goes_on = i + 1 < stream_.sent.size() && stream_.sent[i + 1].psn == sent.end;
      if (goes_on || (stream_.ids == Ids::order && sent.psn == asked.psn)) {
        sure.push_back(took);
        if (goes_on && sent.psn == asked.psn && !message_starts_.contains(sent.psn))
          scene_.facts.within = std::min(scene_.facts.within + 1, 4);
        first = 0;
        break;
      }
    }
    if (first > 0) likely.push_back(first);
  }
  learn_typical(scene_.facts.nak_reaction, sure.empty() ? likely : sure);
}

/// How long the requester waited for an answer without sending again: its timer is longer. A host that stood
/// still may have waited once; twice is taken for a rule.
void Triggers::learn_patience() {
  std::int64_t top = std::numeric_limits<std::int64_t>::min();
  SpaceFacts& facts = scene_.facts;
  for (std::size_t i = 0; i < scene_.notes.size(); ++i) {
    const Note& note = scene_.notes[i];
    const auto index = static_cast<std::int32_t>(i);
    const std::int64_t acked = scene_.answers.acked_before(index);
    if (note.request) {
      top = std::max(top, note.psn + std::max(note.count, 1));
      continue;
    }
    const bool progress = scene_.answers.acked_before(index + 1) > acked;
    if (note.before || !progress || acked >= top || i == 0) continue;
    // Unless the timer ran out just then, and the answer crossed what it sent.
    const auto next = std::find_if(scene_.notes.begin() + index + 1, scene_.notes.end(),
                                   [](const Note& each) { return each.request; });
    if (next == scene_.notes.end() || next->psn < top) continue;
    const std::int64_t waited = since(index - 1, index);
    if (waited > facts.waited_ns) {
      facts.patience_ns = std::exchange(facts.waited_ns, waited);
    } else {
      facts.patience_ns = std::max(facts.patience_ns, waited);
    }
  }
}

/// No timer was seen to run out sooner.
std::int64_t Triggers::patience_ns() const noexcept {
  const SpaceFacts& facts = scene_.facts;
  return facts.timer.witnesses > 1 ? std::min(facts.patience_ns, facts.timer.typical_ns) : facts.patience_ns;
}

/// Longer than a sender pauses that has something to send: of those that are slow to answer timers may be
/// shorter.
std::int64_t Triggers::pause_ns() const noexcept {
  return std::max(usual_answer_ns_ / 8, quiet_ns);
}

/// What is sent again in silence although nobody asked for it. Where IDs tell the order, the sender did go
/// back, however short the silence was.
void Triggers::learn_timer() {
  const bool sure = stream_.ids == Ids::order;
  const std::int64_t least_ns = sure ? shortest_timer_ns : pause_ns();
  List<std::int64_t> timers;
  for (std::size_t i = 0; i < stream_.sent.size(); ++i) {
    const Sent& sent = stream_.sent[i];
    // Most are not the oldest.
    if (stream_.note_of(sent).before || sent.psn != scene_.answers.acked_before(stream_.by_then[i])) continue;
    const Moment now = moment_of(i);
    const bool back = i > 0 && sent.psn < stream_.sent[i - 1].end;
    if (!now.sent_before || now.own_answer || now.stall_ns < now.silence_ns ||
        (sure ? !back || now.stall_ns < least_ns : now.silence_ns < least_ns))
      continue;
    const auto asked = scene_.answers.asked_before(now.at);
    const bool asked_for = std::any_of(asked.begin(), asked.end(), [&](const Asked& each) {
      return each.note >= now.before ? each.psn <= sent.psn : each.psn == sent.psn && passed(now, each);
    });
    if (!asked_for) timers.push_back(now.stall_ns);
  }
  learn_least(scene_.facts.timer, timers);
  // Who reacts just when the timer would have run out has not heard the NAK.
  const TimeFact& timer = scene_.facts.timer;
  constexpr float alike = 0.2F;  // octaves
  if (scene_.facts.nak_reaction.witnesses == 0 || scene_.facts.nak_reaction.witnesses > 2 ||
      timer.witnesses == 0 || timer.typical_ns < pause_ns() ||
      std::abs(octaves(scene_.facts.nak_reaction.typical_ns, timer.typical_ns)) > alike)
    return;
  scene_.facts.nak_reaction = {};
}

/// What a requester that takes responses only in order lacks, by what was captured (IBTA 9.7.5.1.1, implied
/// NAK).
void Triggers::follow_responses() {
  lacks_.reserve(scene_.notes.size());
  List<bool> overtaken(scene_.notes.size());
  for (std::size_t i = 0; i < stream_.sent.size(); ++i)
    overtaken[static_cast<std::size_t>(stream_.sent[i].note)] = stream_.overtaken(i);
  Map<std::int64_t, std::int64_t> asked;  // PSNs that have responses: from, to
  std::int64_t lacks = -1;
  const auto took_until = [&](std::int64_t psn) {  // what it lacks then
    const auto range = asked.upper_bound(psn);
    const bool inside = range != asked.begin() && std::prev(range)->second > psn;
    lacks = inside ? psn : range == asked.end() ? -1 : range->first;
  };
  // Who lacks a response and sees a later one goes back. Who goes on, round trip by round trip, has taken it,
  // though the capture has not.
  constexpr int enough = 4;
  int rounds = 0;
  std::int64_t answered_from = -1;  // an answer to that or later ends the round trip
  for (const Note& note : scene_.notes) {
    lacks_.push_back(lacks);
    const std::int64_t lacked = lacks;
    const dissect::OpcodeInfo& info = dissect::opcode_info(note.opcode);
    if (note.before && note.answered) continue;
    if (note.request && answered_on_its_own(info.operation)) {
      std::int64_t& end = asked[note.psn];
      end = std::max(end, note.psn + std::max(note.count, 1));
      const bool anew = !overtaken[lacks_.size() - 1];
      if (lacks < 0 || (anew && note.psn < lacks)) lacks = note.psn;
    } else if (!note.request && info.operation != Operation::acknowledge && note.psn == lacks) {
      took_until(lacks + 1);
    } else if (!note.request && lacks >= 0 && note.psn > lacks && note.psn >= answered_from) {
      if (answered_from >= 0) ++rounds;
      answered_from = sent_to_[lacks_.size() - 1];
      if (rounds >= enough) took_until(note.psn + 1);
    }
    if (lacks != lacked || (note.request && note.psn <= lacks)) {
      rounds = 0;
      answered_from = -1;
    }
  }
}

/// From what was sent once, and nothing again before its answer, which would have had to wait for that; if
/// nothing was, from the last time before its answer.
void Triggers::measure_answers() {
  List<std::int64_t> took, took_again;
  for (std::size_t i = 0; i < scene_.notes.size(); ++i) {
    if (scene_.notes[i].request) continue;
    const auto index = static_cast<std::int32_t>(i);
    std::int32_t asked = -1;
    int times = 0;
    stream_.back_through(scene_.notes[i].psn, [&](std::size_t k) {
      if (stream_.sent[k].note > index) return false;
      if (asked < 0) asked = stream_.sent[k].note;
      return ++times > 1;
    });
    const std::int64_t time = since(asked, index);
    if (time <= 0) continue;
    const bool waited = repeats_before_[i] != repeats_before_[static_cast<std::size_t>(asked)];
    if (times != 1) {
      took_again.push_back(time);
    } else if (!waited) {
      took.push_back(time);
    }
  }
  if (took.empty()) took = std::move(took_again);
  usual_answer_ns_ = scene_.facts.slow_answer_ns / 2;
  if (took.empty()) return;
  const auto middle = took.begin() + static_cast<std::ptrdiff_t>(took.size() / 2);
  std::nth_element(took.begin(), middle, took.end());
  usual_answer_ns_ = *middle;
}

}  // namespace roce::analyze::episode
