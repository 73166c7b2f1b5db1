// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/late_stamps.hpp"

#include <algorithm>
#include <limits>

#include "analyze/episode/thresholds.hpp"
#include "dissect/aeth.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze::episode {

using dissect::Operation;

namespace {

class Late {
 public:
  Late(std::span<const Note> notes, const Facts& facts)
      : notes_(notes), facts_(facts), at_most_(notes.size()) {
    for (std::size_t i = 0; i < notes.size(); ++i) at_most_[i] = notes[i].time_ns;
  }

  List<std::int64_t> run() {
    const bool requests = facts_.clocks.requests_late();
    if (requests) {
      bound_requests();
    } else {
      bound_answers();
    }
    // Within a direction the order is the wire's.
    std::int64_t earliest = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = notes_.size(); i-- > 0;) {
      if (notes_[i].request != requests) continue;
      earliest = std::min(earliest, at_most_[i]);
      at_most_[i] = earliest;
    }
    return std::move(at_most_);
  }

 private:
  void bound_requests();
  void bound_answers();
  void refuse(List<std::size_t>& times, std::size_t nak);
  void before(std::size_t cause, std::size_t effect) {
    const std::int64_t late_ns = notes_[cause].time_ns - notes_[effect].time_ns;
    if (late_ns > 0 && late_ns <= latest_stamp_ns)
      at_most_[cause] = std::min(at_most_[cause], notes_[effect].time_ns);
  }

  std::span<const Note> notes_;
  const Facts& facts_;
  List<std::int64_t> at_most_;
  struct Refused {
    std::size_t count = 0;  ///< transmissions
    std::int64_t time_ns = 0, wait_ns = 0;
  };
  Map<std::int64_t, Refused> refused_;  ///< by PSN
};

/// Each RNR NAK is of a transmission that came since the one before, if the requester may have sent it by
/// then.
void Late::refuse(List<std::size_t>& times, std::size_t nak) {
  Refused& last = refused_[notes_[nak].psn];
  const bool again = last.count == 0 || notes_[nak].time_ns - last.time_ns >= last.wait_ns / 2;
  const auto syndrome = static_cast<std::uint8_t>(notes_[nak].aeth >> 24U & 31U);
  last.wait_ns = static_cast<std::int64_t>(dissect::rnr_timer_ns(syndrome));
  last.time_ns = notes_[nak].time_ns;
  if (!again || last.count >= times.size()) return;
  before(times[last.count++], nak);
}

/// An answer confirms what had come by then, and a NAK shows that something came behind a gap.
void Late::bound_requests() {
  Map<std::int64_t, std::size_t> first;        // by PSN: the request that came first
  Map<std::int64_t, List<std::size_t>> times;  // and all of them
  List<std::size_t> rising;                    // requests that reach further than all before
  std::int64_t top = std::numeric_limits<std::int64_t>::min();
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    const Note& note = notes_[i];
    if (!note.request) continue;
    times[note.psn].push_back(i);
    // Of what was sent again before the episode the first time is forgotten.
    if (note.before && note.cause != Cause::none) continue;
    first.try_emplace(note.psn, i);
    const std::int64_t end = note.psn + std::max(note.count, 1);
    if (end <= top) continue;
    top = end;
    rising.push_back(i);
  }
  constexpr std::int64_t looked_at = 4096;  // PSNs
  std::int64_t acked = facts_.acked;
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    const Note& note = notes_[i];
    if (note.request || note.before) continue;
    const Nak nak = nak_of(note);
    const std::int64_t to = note.psn + (nak == Nak::sequence ? 0 : 1);
    for (std::int64_t psn = std::max(acked, to - looked_at); psn < to; ++psn) {
      if (const auto came = first.find(psn); came != first.end()) before(came->second, i);
    }
    acked = std::max(acked, to);
    if (nak == Nak::rnr) refuse(times[note.psn], i);
    if (nak != Nak::sequence) continue;
    const auto beyond = std::partition_point(rising.begin(), rising.end(),
                                             [&](std::size_t k) { return notes_[k].psn <= note.psn; });
    if (beyond != rising.end()) before(*beyond, i);
  }
}

void Late::bound_answers() {
  for (const Heard& each : naks_heard(notes_, facts_)) before(each.nak, each.pass);
}

/// Whether the next request is the one behind it.
bool goes_on(std::span<const Note> notes, std::size_t i) noexcept {
  const std::int64_t end = notes[i].psn + std::max(notes[i].count, 1);
  const auto next = std::find_if(notes.begin() + static_cast<std::ptrdiff_t>(i) + 1, notes.end(),
                                 [](const Note& each) { return each.request; });
  return next != notes.end() && next->psn == end;
}

}  // namespace

List<Heard> naks_heard(std::span<const Note> notes, const Facts& facts) {
  List<Heard> found;
  const bool known = facts.clocks.varies;
  const std::int64_t fastest_answer_ns = known ? facts.fastest_answer_ns : 0;
  Map<std::int64_t, List<std::size_t>> naks;
  for (std::size_t i = 0; i < notes.size(); ++i) {
    const Nak nak = nak_of(notes[i]);
    if (nak == Nak::sequence || nak == Nak::rnr) naks[notes[i].psn].push_back(i);
  }
  if (naks.empty()) return found;
  Map<std::int64_t, std::size_t> sent;   // by PSN: the last time
  Map<std::int64_t, std::size_t> heard;  // and which NAKs had been heard by then: as many
  std::int64_t next = std::numeric_limits<std::int64_t>::max();
  std::size_t last_nak = 0;
  List<std::size_t> rising;  // requests beyond all before
  for (std::size_t i = 0; i < notes.size(); ++i) {
    const Note& note = notes[i];
    if (nak_of(note) != Nak::none) last_nak = i;
    if (!note.request) continue;
    if (rising.empty() || note.psn > notes[rising.back()].psn) rising.push_back(i);
    const bool goes_back = note.psn < next;
    next = note.psn + std::max(note.count, 1);
    const auto asked = naks.find(note.psn);
    if (asked == naks.end()) continue;
    const auto last = sent.find(note.psn);
    const bool no_other = last != sent.end() && last_nak < last->second;
    // What was lost before it came here was sent before what lies beyond it, and a pass goes on with that.
    std::int64_t last_ns = capture::no_time;
    if (last != sent.end()) {
      last_ns = notes[last->second].time_ns;
    } else if (known && goes_back && goes_on(notes, i)) {
      const auto beyond = std::partition_point(rising.begin(), rising.end(),
                                               [&](std::size_t k) { return notes[k].psn <= note.psn; });
      if (beyond != rising.end()) last_ns = notes[*beyond].time_ns;
    }
    sent[note.psn] = i;
    std::size_t& by_then = heard[note.psn];
    const List<std::size_t>& all = asked->second;
    const std::size_t before_it = by_then;
    while (by_then < all.size() && all[by_then] < i) ++by_then;
    if (!goes_back || note.before || last_ns == capture::no_time) continue;
    if (by_then != before_it) {
      found.push_back({all[by_then - 1], i, true});
    } else if (by_then != all.size()) {
      const std::int64_t late_ns = notes[all[by_then]].time_ns - note.time_ns;
      const bool no_timer = note.time_ns - last_ns < shortest_timer_ns;
      if (no_timer || late_ns < fastest_answer_ns) found.push_back({all[by_then++], i, no_other});
    }
  }
  return found;
}

List<std::int64_t> passed_by(std::span<const Note> notes, const Facts& facts) {
  return Late(notes, facts).run();
}

}  // namespace roce::analyze::episode
