// SPDX-License-Identifier: Apache-2.0
// Which responses the responder gave again, and why.
#include "analyze/episode/responses.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "analyze/episode/scratch.hpp"
#include "analyze/episode/thresholds.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze::episode {

using dissect::Operation;

namespace {

/// How far the passes of a responder, which answers in order, can have come unseen: between two responses
/// that were captured, no more were sent than the wire had time for.
class Reach {
 public:
  Reach(const Stream& stream, const ResponseNumbers& numbers, const Facts& facts) : stream_(stream) {
    if (facts.answered >= 0) {
      reached_ = numbers.below(facts.answered);
      began_ns_ = facts.answered_ns;
    }
    List<std::int64_t> apart;
    for (std::size_t i = 1; i < stream.sent.size(); ++i) {
      const std::int64_t took = ns_before(i);
      if (stream.sent[i].psn == stream.sent[i - 1].end && took >= 0) apart.push_back(took);
    }
    constexpr std::size_t enough = 8;
    if (apart.size() < enough) return;
    const auto middle = apart.begin() + static_cast<std::ptrdiff_t>(apart.size() / 2);
    std::nth_element(apart.begin(), middle, apart.end());
    usual_ns_ = *middle;
  }
  /// The next one, of which so many times was asked: a pass may begin there.
  void pass(std::size_t i, std::size_t asked) {
    const Sent& sent = stream_.sent[i];
    const bool asked_since = i == 0 ? asked > 1 : sent.told_by > stream_.sent[i - 1].note;
    if (!asked_since && stream_.story[i].move != Move::back) return;
    constexpr std::int64_t far = std::int64_t{1} << 32U, faster = 2;
    const std::int64_t took = ns_before(i);
    const bool at_once = took >= 0 && took < shortest_timer_ns;  // a row that is lost leaves a pause
    const std::int64_t room = at_once ? 0 : usual_ns_ <= 0 || took < 0 ? far : faster * took / usual_ns_ + 1;
    const std::int64_t top = std::max(stream_.story[i].top, i == 0 ? reached_ : 0);
    reached_ = std::max(reached_, top + std::min(room, far));
  }
  [[nodiscard]] bool has(std::int64_t number) const noexcept { return number < reached_; }

 private:
  [[nodiscard]] std::int64_t ns_before(std::size_t i) const {
    const std::int64_t then = i == 0 ? began_ns_ : stream_.note_of(stream_.sent[i - 1]).time_ns;
    const std::int64_t now = stream_.note_of(stream_.sent[i]).time_ns;
    if (then == capture::no_time || now == capture::no_time) return -1;
    return std::clamp<std::int64_t>(now - then, 0, longest_ns);
  }

  const Stream& stream_;
  std::int64_t usual_ns_ = 0;                 ///< between two that follow on each other; 0: not known
  std::int64_t began_ns_ = capture::no_time;  ///< when the last one before was captured
  std::int64_t reached_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace

ResponseNumbers::ResponseNumbers(const Scene& scene) {
  using Psns = List<std::pair<std::int64_t, std::int64_t>>;
  Psns asked, given;
  for (const Issue& issue : scene.issues) asked.emplace_back(issue.first, issue.end);
  for (const Note& note : scene.notes) {
    if (is_response(note)) given.emplace_back(note.psn, note.psn + 1);
  }
  for (Psns* each : {&asked, &given})  // nearly
    if (!std::is_sorted(each->begin(), each->end())) std::sort(each->begin(), each->end());
  Psns all(asked.size() + given.size());
  std::merge(asked.begin(), asked.end(), given.begin(), given.end(), all.begin());
  for (const auto& [first, end] : all) {
    if (ranges_.empty() || first > ranges_.back().end) {
      const std::int64_t base =
          ranges_.empty() ? 0 : ranges_.back().base + ranges_.back().end - ranges_.back().first;
      ranges_.push_back({first, end, base});
    } else {
      ranges_.back().end = std::max(ranges_.back().end, end);
    }
  }
}

std::int64_t ResponseNumbers::of_psn(std::int64_t psn) const noexcept {
  const auto behind = std::upper_bound(ranges_.begin(), ranges_.end(), psn,
                                       [](std::int64_t at, const Range& range) { return at < range.first; });
  const Range& range = *std::prev(behind);
  return range.base + psn - range.first;
}

std::int64_t ResponseNumbers::below(std::int64_t psn) const noexcept {
  if (ranges_.empty() || psn < ranges_.front().first) return 0;
  const auto behind = std::upper_bound(ranges_.begin(), ranges_.end(), psn,
                                       [](std::int64_t at, const Range& range) { return at < range.first; });
  const Range& range = *std::prev(behind);
  return range.base + std::min(psn, range.end) - range.first;
}

std::int64_t ResponseNumbers::psn_of(std::int64_t number) const noexcept {
  const auto behind = std::upper_bound(ranges_.begin(), ranges_.end(), number,
                                       [](std::int64_t at, const Range& range) { return at < range.base; });
  const Range& range = *std::prev(behind);
  return range.first + number - range.base;
}

Responses::Responses(Scene& scene)
    : scene_(scene), numbers_(scene), executions_(scene.notes, scene.issues, scene.facts) {
  stream_.notes = scene.notes;
  by_first_.reserve(scene.issues.size());
  for (const Issue& issue : scene.issues) {
    by_first_.emplace_back(issue.first, static_cast<std::uint32_t>(by_first_.size()));
    longest_ = std::max(longest_, issue.end - issue.first);
  }
  std::sort(by_first_.begin(), by_first_.end());
}

/// Whether an answer to that request can have been captured by that note: answers take some time.
bool Responses::may_be_answered(const Issue& issue, std::int32_t by) const {
  if (issue.note >= by) return false;
  const Note& asked = scene_.note_at(issue.note);
  const Note& now = scene_.note_at(by);
  return !timed(asked, now) || now.time_ns - asked.time_ns >= scene_.facts.fastest_answer_ns / 2;
}

/// How often that response was asked for before that note, and so long that it may be answered. A request
/// that is shown twice asks once.
Responses::Asks Responses::asks_for(std::int64_t psn, std::int32_t before, bool in_time) const {
  Asks asks;
  found_.clear();
  auto at = std::lower_bound(by_first_.begin(), by_first_.end(), std::pair{psn - longest_ + 1, 0U});
  for (; at != by_first_.end() && at->first <= psn; ++at) found_.push_back(at->second);
  if (!std::is_sorted(found_.begin(), found_.end())) std::sort(found_.begin(), found_.end());
  for (const std::uint32_t i : found_) {
    const Issue& issue = scene_.issues[i];
    if (issue.note >= before) break;
    if (psn >= issue.end || (in_time && !may_be_answered(issue, before))) continue;
    if (scene_.said.rulings[static_cast<std::size_t>(issue.note)].what == Ruling::What::copy) continue;
    // Of those before the episode only the last one is remembered, and why it was sent.
    const Note& note = scene_.note_at(issue.note);
    const bool repeated_before = note.before && note.cause != Cause::none;
    asks.times += asks.times == 0 && repeated_before ? 2 : 1;
    asks.more = asks.more || repeated_before;
    asks.begins = asks.begins || issue.first == psn;
    asks.last = issue.note;
  }
  return asks;
}

/// Responses in the middle of a READ have no count: they were sent with those around them.
void Responses::note_counts() {
  known_.resize(stream_.sent.size());
  Set<std::int64_t> begun;  // counts of READs that were being answered when the episode began
  for (std::size_t i = 0; i < known_.size(); ++i) {
    const Sent& sent = stream_.sent[i];
    Response& known = known_[i];
    known.own = executions_.of_message(stream_.note_of(sent).psn);
    known.count = executions_.carried(stream_.note_of(sent));
    const bool told_before = stream_.note_of(sent).before;
    if (told_before && known.own) begun.insert(*known.own);
    const bool under_way = i > 0 && known.own && begun.contains(*known.own) &&
                           sent.time_ns - stream_.sent[i - 1].time_ns < shortest_timer_ns;
    if (!told_before && !under_way) known.before = executions_.captured_before(stream_.by_then[i]);
    const std::ptrdiff_t part = part_before(i);
    if (part < 0) continue;
    const Response& same = known_[static_cast<std::size_t>(part)];
    if (!known.count) known.count = same.count;
    known.before = same.before;
  }
  for (std::size_t i = known_.size(); i-- > 1;) {
    const std::ptrdiff_t part = part_before(i);
    if (part < 0) continue;
    Response& same = known_[static_cast<std::size_t>(part)];
    if (!same.count) same.count = known_[i].count;
  }
}

/// Whether the responder counts a READ when it accepts it, while responses to READs before it still wait to
/// be sent, which IBTA 9.7.7.1 lets it: the response to what was asked for once counts a message behind it
/// whose own response, asked for once too, came after it. Then no count tells that a response had been sent.
bool Responses::counts_early() const {
  std::optional<std::int64_t> counted;      // by responses to messages before the one that is being answered
  std::optional<std::int64_t> own, by_own;  // of that one, and counted by its own responses
  std::int64_t next = std::numeric_limits<std::int64_t>::min();
  for (std::size_t i = 0; i < known_.size(); ++i) {
    const Sent& sent = stream_.sent[i];
    const Note& note = stream_.note_of(sent);
    if (note.psn < next) continue;
    next = note.psn + 1;
    if (note.before || !known_[i].own) continue;
    const Asks asks = asks_for(note.psn, sent.note, false);
    if (asks.times != 1 || asks.more) continue;
    if (own != known_[i].own) {
      counted = std::max(counted, by_own);
      own = known_[i].own;
      by_own.reset();
    }
    if (counted && *counted >= *own) return true;
    by_own = std::max(by_own, executions_.carried(note));
  }
  return false;
}

/// The same, told by a count of messages whose responses the wire had no time for: nothing of them was
/// captured.
bool Responses::counts_unsent() const {
  Reach reach(stream_, numbers_, scene_.facts);
  for (std::size_t i = 0; i < known_.size(); ++i) {
    const Response& known = known_[i];
    reach.pass(i, known.asked);
    if (!known.count || !known.own || *known.count <= *known.own) continue;
    const auto next =
        std::upper_bound(by_first_.begin(), by_first_.end(), stream_.note_of(stream_.sent[i]).psn,
                         [](std::int64_t psn, const auto& issue) { return psn < issue.first; });
    if (next == by_first_.end() || scene_.issues[next->second].note > stream_.sent[i].note) continue;
    const std::optional<std::int64_t> counted = executions_.of_message(next->first);
    if (counted && *known.count >= *counted && !reach.has(numbers_.of_psn(next->first))) return true;
  }
  return false;
}

/// Whether the requester went back to just that response between the two notes.
bool Responses::asked_between(std::int64_t psn, std::int32_t from, std::int32_t until) const {
  for (auto at = std::lower_bound(by_first_.begin(), by_first_.end(), std::pair{psn, 0U});
       at != by_first_.end() && at->first == psn; ++at) {
    const std::int32_t note = scene_.issues[at->second].note;
    if (note > from && note < until) return true;
  }
  return false;
}

/// The response before it of the same answer: only the first or only one of an answer begins one, whatever
/// came late in between, but for one that is asked for again from there on: Soft-RoCE gives the rest of a
/// READ as it gave all of it. -1: it begins one itself, or what it goes on with was not captured.
std::ptrdiff_t Responses::part_before(std::size_t i) const {
  const Sent& now = stream_.sent[i];
  if (dissect::opcode_info(stream_.note_of(now).opcode).starts_message()) return -1;
  constexpr std::size_t late_in_between = 16;
  for (std::size_t k = i; k-- > 0 && i - k <= late_in_between;) {
    const Sent& last = stream_.sent[k];
    if (static_cast<std::ptrdiff_t>(k) == now.before) break;  // that one was the next
    if (asked_between(stream_.note_of(now).psn, last.note, now.note)) break;
    if (last.psn + 1 == now.psn) return static_cast<std::ptrdiff_t>(k);
    if (last.psn < now.psn && known_[i].own && known_[i].own == known_[k].own)
      return static_cast<std::ptrdiff_t>(k);
  }
  return -1;
}

/// How much each takes to be given again, late or shown twice.
void Responses::weigh() {
  for (std::size_t i = 0; i < stream_.sent.size(); ++i) {
    Sent& sent = stream_.sent[i];
    Response& known = known_[i];
    const std::int64_t psn = stream_.note_of(sent).psn;
    Asks asks = asks_for(psn, sent.note);
    // An answer begins with a first or only one, also the answer to the rest of a READ.
    asks.begins = asks.begins && dissect::opcode_info(stream_.note_of(sent).opcode).starts_message();
    known.asked = asks.times;
    sent.not_first = 0;
    sent.told_by = asks.last;
    // Of what came before the episode not all is remembered: who asks again since then had asked before.
    const bool again = asks.last >= 0 && !scene_.note_at(asks.last).before &&
                       scene_.ruling_at(asks.last).what == Ruling::What::repeat;
    known.forgotten = again && sent.before < 0 && psn < scene_.facts.answered;
    if (known.forgotten) known.asked = std::max<std::size_t>(known.asked, 2);
    known.given = sent.before < 0 ? 0 : known_[static_cast<std::size_t>(sent.before)].given + 1;
    const bool owed = known.asked > known.given || asks.more;
    constexpr float against = 6;
    constexpr float begins = 1, head_missing = 4, broken_off = 9, unasked = 13, not_seen_to_be_asked = 10;
    sent.back = known.asked == 0 ? not_seen_to_be_asked : unasked;
    if (owed && known.asked > 1) {
      const std::int64_t from = begins_pass(i);
      const float more = std::log2(static_cast<float>(std::max<std::int64_t>(sent.psn - from, 1))) / 2;
      sent.back = asks.begins ? begins : from < sent.psn ? head_missing + more : broken_off;
      if (!asks.begins && from < sent.psn) sent.back_from = from;
    }
    if (owed && known.given > 0) sent.copy += 2 * against;
    if (known.counted_earlier()) {
      sent.back += against;
      sent.late = std::min(sent.late, 1.0F);
    } else if (known.forgotten || (known.asked > 1 && known.counted_since() && !scene_.facts.counts_early)) {
      sent.not_first = against;
    } else if (known.given == 0 && known.executed_just_now()) {
      sent.back += against;
    }
  }
}

void Responses::explain() {
  for (std::size_t i = 0; i < scene_.notes.size(); ++i) {
    const Note& note = scene_.notes[i];
    if (!is_response(note)) continue;
    Sent sent;
    sent.psn = numbers_.of_psn(note.psn);
    sent.end = sent.psn + 1;
    sent.time_ns = note.time_ns;
    sent.note = static_cast<std::int32_t>(i);
    sent.again = note.before && note.cause != Cause::none;
    stream_.sent.push_back(sent);
  }
  if (stream_.sent.empty()) return;
  StreamFact& fact = scene_.facts.responses;
  stream_.put_in_order(fact);
  note_counts();
  scene_.facts.counts_early = scene_.facts.counts_early || counts_early();
  const auto tell = [&] {
    stream_.weigh(fact, scene_.facts.mirror);
    weigh();
    stream_.tell(stream_.sent.front().psn, stream_.sent.front().psn, scene_.facts.keeps > 0 ? 1.0F : 5.0F);
  };
  tell();
  if (!scene_.facts.counts_early && counts_unsent()) {
    scene_.facts.counts_early = true;
    tell();
  }
  stream_.learn(fact, scene_.facts.back);
  count_given();
  find_passed_over();
  rule();
  lose_upstream();
  lose_downstream();
}

void Responses::count_given() {
  for (std::size_t i = 0; i < stream_.sent.size(); ++i) {
    if (stream_.story[i].move != Move::copy) ++given_[stream_.sent[i].psn];
  }
}

/// Whether it came as often as it was asked for, which is more than once: each request is answered once, so
/// the first answer is among them, however late.
bool Responses::all_came(std::int64_t number) const {
  const auto given = given_.find(number);
  if (given == given_.end() || given->second < 2) return false;
  const Asks asks = asks_for(numbers_.psn_of(number), static_cast<std::int32_t>(scene_.notes.size()) - 1);
  return !asks.more && asks.times > 1 && given->second >= asks.times;
}

/// Whether its responder had sent it before, or executed its message. `reached`: it had the time to.
bool Responses::given_again(std::size_t i, bool late, bool reached) const {
  const Placed& told = stream_.story[i];
  const Response& known = known_[i];
  const bool asked_once = known.asked == 1;
  if (needed_again_.contains(stream_.sent[i].note)) return true;
  if (known.given == 0 && known.asked != 0) {
    if (asked_once || known.counted_earlier() || all_came(stream_.sent[i].psn)) return false;
    // That it was executed when it was sent says nothing: its first answer may be this one.
    if (known.own && known.before && !late && !scene_.facts.counts_early)
      return reached && *known.before >= *known.own;
  }
  if (told.move == Move::late) return !told.of_first || known.forgotten;
  if (stream_.sent[i].psn < told.top) return true;
  if (late || known.asked < 2) return false;
  // Confirmed by another answer before, it had been executed, and answered.
  return scene_.answers.acked_before(stream_.sent[i].note) > stream_.note_of(stream_.sent[i]).psn;
}

/// Whether it was asked for once, and what was sent after it came first: a responder answers in order.
bool Responses::behind_confirmation(std::size_t i) const {
  const Sent& sent = stream_.sent[i];
  return known_[i].asked == 1 && scene_.answers.acked_before(sent.note) > stream_.note_of(sent).psn;
}

/// Why it was given again: why it had been asked for again.
Cause Responses::cause_of(const Note& note, std::int32_t at) const {
  const bool read = dissect::opcode_info(note.opcode).operation == Operation::read_response;
  for (auto issue = scene_.issues.rbegin(); issue != scene_.issues.rend(); ++issue) {
    if (issue->note >= at || note.psn < issue->first || note.psn >= issue->end) continue;
    const Ruling& asked = scene_.said.rulings[static_cast<std::size_t>(issue->note)];
    if (asked.what == Ruling::What::repeat && asked.cause != Cause::unknown) return asked.cause;
    break;
  }
  return read ? Cause::read_retry : Cause::timeout;
}

void Responses::rule() {
  Reach reach(stream_, numbers_, scene_.facts);
  for (std::size_t i = 0; i < stream_.sent.size(); ++i) {
    const Sent& sent = stream_.sent[i];
    const Placed& told = stream_.story[i];
    const Note& note = stream_.note_of(sent);
    Ruling& ruling = scene_.ruling_at(sent.note);
    if (const std::int32_t original = stream_.original_of(i); original >= 0)
      ruling.original = stream_.note_of(stream_.sent[static_cast<std::size_t>(original)]).frame;
    if (told.move == Move::copy) {
      ruling.what = Ruling::What::copy;
      ruling.rule = Rule::in_turn;
      continue;
    }
    ruling.begins_pass = told.move == Move::back;
    reach.pass(i, known_[i].asked);
    const bool late = told.move == Move::late || stream_.overtaken(i) ||
                      (known_[i].given == 0 && (known_[i].counted_earlier() || behind_confirmation(i)));
    if (!given_again(i, late, reach.has(sent.psn))) {
      const bool behind = late || sent.psn < told.top;
      ruling.what = behind ? Ruling::What::late : Ruling::What::first;
      ruling.rule = known_[i].counted_earlier()            ? Rule::counted_earlier
                    : stream_.overtaken(i)                 ? Rule::sent_earlier
                    : behind                               ? Rule::fills_gap
                    : known_[i].asked > 1 && known_[i].own ? Rule::executed_just_now
                                                           : Rule::first;
      continue;
    }
    ruling.what = Ruling::What::repeat;
    ruling.rule = known_[i].given == 0 ? Rule::executed_before : Rule::responds_again;
    ruling.cause = cause_of(note, sent.note);
  }
}

void explain_responses(Scene& scene) {
  Responses(scene).explain();
}

}  // namespace roce::analyze::episode
