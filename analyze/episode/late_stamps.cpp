// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/late_stamps.hpp"

#include <algorithm>
#include <limits>
#include <utility>

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

/// Which NAK each pass had heard.
class Hearing {
 public:
  Hearing(std::span<const Note> notes, const Facts& facts)
      : notes_(notes),
        known_(facts.clocks.varies),
        fastest_answer_ns_(known_ ? facts.fastest_answer_ns : 0) {}

  List<Heard> run();

 private:
  /// What a NAK asked for.
  struct Asked {
    List<std::size_t> naks;       ///< all of them
    std::size_t heard = 0;        ///< as many when it was sent last
    std::size_t sent_last = 0;    ///< of all of the episode
    std::size_t sent_before = 0;  ///< up to now, if `sent`
    bool sent = false;
  };

  void gather();
  void hear(std::size_t i, Asked& asked, bool goes_back);
  [[nodiscard]] std::size_t next_request(std::size_t i) const noexcept;
  [[nodiscard]] std::size_t beyond(std::size_t i) const noexcept;
  [[nodiscard]] bool goes_on_again(std::size_t i, std::size_t nak) const;
  [[nodiscard]] static std::int64_t end_of(const Note& note) noexcept {
    return note.psn + std::max(note.count, 1);
  }

  std::span<const Note> notes_;
  bool known_ = false;  ///< that stamps are late
  std::int64_t fastest_answer_ns_ = 0;
  Map<std::int64_t, Asked> asked_;  ///< by PSN
  Set<std::int64_t> seen_;          ///< PSNs of requests, up to now
  List<std::size_t> rising_;        ///< requests beyond all before
  std::size_t last_nak_ = 0;
  List<Heard> found_;
};

void Hearing::gather() {
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    const Nak nak = nak_of(notes_[i]);
    if (nak == Nak::sequence || nak == Nak::rnr) asked_[notes_[i].psn].naks.push_back(i);
  }
  if (asked_.empty()) return;
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    const auto asked = notes_[i].request ? asked_.find(notes_[i].psn) : asked_.end();
    if (asked != asked_.end()) asked->second.sent_last = i;
  }
}

/// The number of notes: none follows.
std::size_t Hearing::next_request(std::size_t i) const noexcept {
  const auto next = std::find_if(notes_.begin() + static_cast<std::ptrdiff_t>(i) + 1, notes_.end(),
                                 [](const Note& each) { return each.request; });
  return static_cast<std::size_t>(next - notes_.begin());
}

/// What was lost before it came here was sent before what lies beyond it, and a pass goes on with that. The
/// number of notes: it is not so.
std::size_t Hearing::beyond(std::size_t i) const noexcept {
  const std::size_t next = next_request(i);
  if (next == notes_.size() || notes_[next].psn != end_of(notes_[i])) return notes_.size();
  const auto found = std::partition_point(rising_.begin(), rising_.end(),
                                          [&](std::size_t k) { return notes_[k].psn <= notes_[i].psn; });
  return found == rising_.end() ? notes_.size() : *found;
}

/// One that was overtaken looks like the begin of a pass, and so does a row that was: but a pass goes on with
/// what came before, and sooner than by that NAK.
bool Hearing::goes_on_again(std::size_t i, std::size_t nak) const {
  return seen_.contains(end_of(notes_[i])) && next_request(i) < nak;
}

void Hearing::hear(std::size_t i, Asked& asked, bool goes_back) {
  const Note& note = notes_[i];
  const bool came = asked.sent;
  const std::size_t once = came ? asked.sent_before : goes_back ? beyond(i) : notes_.size();
  asked.sent = true;
  asked.sent_before = i;
  const std::size_t before_it = asked.heard;
  while (asked.heard < asked.naks.size() && asked.naks[asked.heard] < i) ++asked.heard;
  if (!goes_back || note.before || once == notes_.size()) return;
  if (asked.heard != before_it) {
    if (came || known_) found_.push_back({asked.naks[asked.heard - 1], i, true});
    return;
  }
  if (asked.heard == asked.naks.size()) return;
  const std::size_t nak = asked.naks[asked.heard];
  const std::int64_t late_ns = notes_[nak].time_ns - note.time_ns;
  const bool no_timer = note.time_ns - notes_[once].time_ns < shortest_timer_ns;
  const bool no_other = last_nak_ < once;
  // Where it had no other effect, the pass is that effect: a responder that misses it asks for it, and gets
  // it.
  const bool certain = no_other && no_timer && late_ns <= latest_stamp_ns && asked.naks.size() == 1 &&
                       asked.sent_last < nak && (came || goes_on_again(i, nak));
  if (!came && !known_ && !certain) return;
  if (!no_timer && late_ns >= fastest_answer_ns_) return;
  found_.push_back({nak, i, no_other, certain});
  ++asked.heard;
}

List<Heard> Hearing::run() {
  gather();
  std::int64_t next = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < notes_.size() && !asked_.empty(); ++i) {
    const Note& note = notes_[i];
    if (nak_of(note) != Nak::none) last_nak_ = i;
    if (!note.request) continue;
    seen_.insert(note.psn);
    if (rising_.empty() || note.psn > notes_[rising_.back()].psn) rising_.push_back(i);
    const bool goes_back = note.psn < next;
    next = end_of(note);
    if (const auto asked = asked_.find(note.psn); asked != asked_.end()) hear(i, asked->second, goes_back);
  }
  return std::move(found_);
}

}  // namespace

List<Heard> naks_heard(std::span<const Note> notes, const Facts& facts) {
  return Hearing(notes, facts).run();
}

List<std::int64_t> passed_by(std::span<const Note> notes, const Facts& facts) {
  return Late(notes, facts).run();
}

}  // namespace roce::analyze::episode
