// SPDX-License-Identifier: Apache-2.0
// Which responses were lost on their way to the capture, and which behind it.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "analyze/episode/responses.hpp"
#include "analyze/episode/scratch.hpp"
#include "analyze/episode/thresholds.hpp"

namespace roce::analyze::episode {
namespace {

constexpr std::int64_t looked_at = 4096;

}  // namespace

/// The first response of the pass that shows itself by sent[i]: the requester's pass before it began there.
std::int64_t Responses::begins_pass(std::size_t i) const {
  const Sent& shows = stream_.sent[i];
  std::int64_t begins = shows.psn;
  for (auto issue = scene_.issues.rbegin(); issue != scene_.issues.rend(); ++issue) {
    const Ruling& how = scene_.said.rulings[static_cast<std::size_t>(issue->note)];
    if (!may_be_answered(*issue, shows.note) || how.what != Ruling::What::repeat || !how.begins_pass)
      continue;
    const std::int64_t first = numbers_.of_psn(issue->first);
    // Nothing of it was sent before.
    const bool fresh = i == 0 || stream_.sent[i - 1].note < issue->note;
    if (fresh && first < shows.psn) begins = first;
    break;
  }
  return begins;
}

/// Whether it belongs to the answer of which sent[i] shows a later part, or the one before an earlier part: a
/// responder gives an answer without leaving out anything. Another request, whose answer is missing as a
/// whole, may have been lost or overtaken behind the capture: a responder executes duplicates in any order
/// and does not miss one (IBTA 9.7.5.1.4), so a request that did not arrive leaves no trace.
bool Responses::within_answer(std::int64_t number, std::size_t i) const {
  const Sent& shows = stream_.sent[i];
  std::int64_t begins = std::numeric_limits<std::int64_t>::min();
  std::int64_t ends = begins;
  for (const Issue& issue : scene_.issues) {
    if (issue.note >= shows.note) break;
    const std::int64_t first = numbers_.of_psn(issue.first);
    const std::int64_t end = first + issue.end - issue.first;
    if (first <= shows.psn && shows.psn < end) begins = std::max(begins, first);
    if (first < stream_.story[i].cursor && stream_.story[i].cursor <= end) ends = std::max(ends, end);
  }
  const bool goes_on = stream_.story[i].move == Move::ahead && number < ends;
  return goes_on || (begins != std::numeric_limits<std::int64_t>::min() && number >= begins);
}

/// Whether the READ or atomic is asked again because an ACK of what was sent behind it came, and none of its
/// answer: a responder answers in order, so that had been sent (IBTA 9.7.5.2.8, implied NAK).
bool Responses::passed_over(std::size_t issue) const {
  const Issue& again = scene_.issues[issue];
  const Ruling& how = scene_.said.rulings[static_cast<std::size_t>(again.note)];
  const Note& now = scene_.note_at(again.note);
  if (how.rule != Rule::read_asked_again || !how.begins_pass || now.before) return false;
  const Issue* first = nullptr;
  for (std::size_t k = 0; k < issue; ++k) {
    const Issue& before = scene_.issues[k];
    if (before.first >= again.end || again.first >= before.end) continue;
    if (first != nullptr || before.first != again.first || before.end != again.end) return false;
    first = &before;
  }
  if (first == nullptr) return false;
  const Note& request = scene_.note_at(first->note);
  const Ruling& once = scene_.said.rulings[static_cast<std::size_t>(first->note)];
  if (request.count == 0 || request.answered || once.what != Ruling::What::first) return false;
  std::int32_t by = first->note + 1;
  while (by < again.note && (!is_acknowledgement(scene_.note_at(by)) || scene_.note_at(by).psn < first->end))
    ++by;
  if (by == again.note || scene_.answers.acked_before(again.note) <= first->end) return false;
  const Note& ack = scene_.note_at(by);
  if (nak_of(ack) != Nak::none || ack.mirror_gaps != now.mirror_gaps) return false;
  if (!timed(now, ack) || now.time_ns - ack.time_ns >= at_once_ns) return false;
  for (std::int64_t psn = first->first; psn < first->end; ++psn) {
    if (scene_.answers.response_before(psn, again.note) >= 0) return false;
  }
  return true;
}

/// Finds what an ACK passed over. It was lost, unless it came late: then it comes again without being asked
/// for again, or sooner than an answer can.
void Responses::find_passed_over() {
  if (scene_.facts.disorder_ns != 0 || scene_.facts.back.shuffles()) return;
  for (std::size_t i = 0; i < scene_.issues.size(); ++i) {
    if (!passed_over(i)) continue;
    const Issue& issue = scene_.issues[i];
    for (std::int64_t psn = issue.first; psn < issue.end; ++psn) {
      const std::int64_t number = numbers_.of_psn(psn);
      std::int32_t again = -1;  // the first one
      stream_.back_through(number, [&](std::size_t k) {
        again = stream_.sent[k].note;
        return false;
      });
      if (again < 0 || !may_be_answered(issue, again) || all_came(number)) break;
      passed_over_.push_back({Lost::before_capture, false, psn, -1, again, again, psn != issue.first});
      needed_again_.insert(again);
    }
  }
}

/// `sent_times`: of those that were captured, or are lost already.
void Responses::lose_passed_over(const Map<std::int64_t, std::size_t>& sent_times, List<Row>& rows) const {
  const auto end = static_cast<std::int32_t>(scene_.notes.size());
  Row row;
  row.asked = true;
  for (const Loss& loss : passed_over_) {
    const auto times = sent_times.find(numbers_.of_psn(loss.psn));
    const std::size_t known = times == sent_times.end() ? 0 : times->second;
    if (known < asks_for(loss.psn, end, false).times && !scene_.among_copies(false, loss.psn))
      row.lost.push_back(loss);
  }
  if (!row.lost.empty() && !scene_.facts.capture.is_sample()) rows.push_back(std::move(row));
}

/// What a pass of the responder lacks was lost, if the requester needed it again. Each pass has its own
/// losses. If nobody asks for it again, it was delivered: the end of the capture tells.
void Responses::lose_upstream() {
  Map<std::int64_t, std::size_t> sent_times;
  List<Loss> missed;
  List<Row> rows;
  const bool count_alone = stream_.count_alone();
  for (std::size_t i = 0; i < stream_.sent.size(); ++i) {
    const Placed& told = stream_.story[i];
    const Sent& shows = stream_.sent[i];
    if (told.move == Move::copy) continue;
    ++sent_times[shows.psn];
    const bool jumps = told.move == Move::ahead || told.move == Move::home;
    if (!jumps && told.move != Move::back) continue;
    const std::int64_t from = jumps ? told.cursor : begins_pass(i);
    if (shows.psn - from > looked_at) continue;
    std::int64_t room = stream_.room_before(i);
    Row& row = rows.emplace_back();
    row.at = i;
    const std::int32_t answered = from < shows.psn ? next_pass(i) : 0;
    for (std::int64_t at = from; at < shows.psn && room > 0; ++at) {
      const std::ptrdiff_t next = stream_.next_of(at, i);
      if (stream_.comes_late(at, i)) continue;
      if (!sent_times.contains(at) && all_came(at)) continue;
      if (next < 0) {
        if (told.move == Move::ahead && !stream_.note_of(shows).before && !sent_times.contains(at) &&
            was_taken(at, shows)) {
          const std::int64_t psn = numbers_.psn_of(at);
          if (scene_.among_copies(false, psn)) {
            scene_.said.losses.push_back({Lost::undecided, false, psn, -1, shows.note, -1});
          } else {
            missed.push_back({Lost::by_capture, false, psn, -1, shows.note, -1});
          }
          --room;
        } else {
          scene_.said.holes.push_back({numbers_.psn_of(at), shows.note, false});
        }
        continue;
      }
      const std::size_t asked = asks_for(numbers_.psn_of(at), shows.note).times;
      const bool of_first = told.move == Move::ahead && at >= told.top;
      const std::int32_t again = stream_.sent[static_cast<std::size_t>(next)].note;
      // Each answers a request of its own; else that request was overtaken behind the capture.
      if ((!of_first && sent_times[at] >= asked) ||
          sent_times[at] + 2 > asks_for(numbers_.psn_of(at), again, false).times) {
        scene_.said.holes.push_back({numbers_.psn_of(at), shows.note, false});
        continue;
      }
      if (!of_first && !count_alone && !within_answer(at, i)) {
        if (!stream_.note_of(shows).before)
          scene_.said.losses.push_back({Lost::undecided, false, numbers_.psn_of(at), -1, again, again});
        continue;
      }
      ++sent_times[at];
      --room;
      if (stream_.note_of(shows).before || stream_.mirror_gap_before(i)) continue;
      const std::int64_t psn = scene_.note_at(again).psn;
      const bool or_missed =
          !stream_.mirror_had_all_before(i) && !asked_from(psn, shows.note, std::min(again, answered));
      row.asked = row.asked || !or_missed;
      row.lost.push_back({Lost::before_capture, false, psn, -1, again, again, or_missed});
    }
    if (row.lost.empty()) rows.pop_back();
  }
  lose_passed_over(sent_times, rows);
  lose_rows(rows);
  if (scene_.facts.capture.is_sample()) return;
  for (const Loss& each : missed) scene_.lose(each);
}

/// Many in a row, of which none was asked for itself, may as well not be captured, if nothing else was
/// captured meanwhile and no so many were lost anywhere else.
void Responses::lose_rows(const List<Row>& rows) {
  constexpr std::size_t many = 6, more = 4;
  std::array<std::size_t, 2> most{scene_.facts.back.row, 0};  // and second
  for (const Row& row : rows) {
    std::size_t lost = row.lost.size();
    if (lost > most[0]) std::swap(most[0], lost);
    most[1] = std::max(most[1], lost);
  }
  scene_.facts.back.row = static_cast<std::uint32_t>(most[0]);
  for (const Row& row : rows) {
    const std::size_t size = row.lost.size();
    const std::size_t elsewhere = size == most[0] ? most[1] : most[0];
    if (size < many || size < more * elsewhere || row.asked || !stream_.stops_before(row.at, size)) {
      scene_.facts.responses_lost += static_cast<std::uint32_t>(size);
      for (const Loss& loss : row.lost) scene_.lose(loss);
    } else if (!scene_.facts.capture.is_sample()) {
      scene_.said.missing.push_back({stream_.sent[row.at - 1].note, stream_.sent[row.at].note,
                                     static_cast<std::uint32_t>(size), false});
      for (const Loss& loss : row.lost) scene_.said.holes.push_back({loss.psn, loss.shown, false});
    }
  }
}

/// The first note of the next pass of the responder behind sent[i] that has what is missing there in it, or
/// should: what that one lacks as well is asked for again. If there is none, the number of all notes.
std::int32_t Responses::next_pass(std::size_t i) const noexcept {
  for (std::size_t k = i + 1; k < stream_.sent.size(); ++k) {
    if (stream_.story[k].move == Move::back && stream_.sent[k].psn <= stream_.sent[i].psn)
      return stream_.sent[k].note;
  }
  return static_cast<std::int32_t>(scene_.notes.size());
}

/// Whether the requester went back to that response itself between the two notes: all behind it comes again
/// as well, whether it lacked it or not.
bool Responses::asked_from(std::int64_t psn, std::int32_t from, std::int32_t until) const {
  return std::any_of(scene_.issues.begin(), scene_.issues.end(), [&](const Issue& issue) {
    const Ruling& how = scene_.said.rulings[static_cast<std::size_t>(issue.note)];
    return issue.note > from && issue.note < until && issue.first == psn && how.what == Ruling::What::repeat;
  });
}

/// Whether a response that was not captured reached the requester: it went on, and did not ask again.
bool Responses::was_taken(std::int64_t number, const Sent& shows) const {
  const auto again = [&](const Issue& issue) {
    const std::int64_t first = numbers_.of_psn(issue.first);
    return issue.note > shows.note && first <= number && number < first + issue.end - issue.first;
  };
  if (numbers_.psn_of(number) < scene_.facts.acked) return false;  // captured before, and forgotten
  if (std::any_of(scene_.issues.begin(), scene_.issues.end(), again)) return false;
  // Where the capture is known to miss packets less has to speak for it.
  const std::size_t many = scene_.facts.capture.has_holes() ? 64 : 512;
  const auto after = static_cast<std::size_t>(shows.note) + 1;
  const bool went_on = std::any_of(scene_.notes.begin() + static_cast<std::ptrdiff_t>(after),
                                   scene_.notes.end(), [](const Note& note) { return note.request; });
  const Note& last = scene_.notes.back();
  const bool long_ago = scene_.notes.size() - after >= many ||
                        (last.time_ns != capture::no_time && last.time_ns - shows.time_ns >= at_once_ns);
  return went_on && long_ago;
}

/// Whether all of the request before it lies before it, too: a pass that leaves out what came meanwhile is no
/// step back to what is missing.
bool Responses::goes_on(const Issue& issue) const {
  std::int32_t last = issue.note - 1;
  while (last >= 0 && !scene_.note_at(last).request) --last;
  if (last < 0) return false;
  const auto asked = std::find_if(scene_.issues.begin(), scene_.issues.end(),
                                  [last](const Issue& other) { return other.note == last; });
  return (asked != scene_.issues.end() ? asked->end : scene_.note_at(last).psn + 1) <= issue.first;
}

/// A second step back, beyond the first, before any response to that one was captured: what the first asked
/// for came late.
bool Responses::asked_for_more_at_once(std::size_t i) const {
  const Issue& first = scene_.issues[i];
  for (std::size_t k = i + 1; k < scene_.issues.size(); ++k) {
    const Issue& second = scene_.issues[k];
    const Ruling& how = scene_.said.rulings[static_cast<std::size_t>(second.note)];
    if (how.what != Ruling::What::repeat || !how.begins_pass) continue;
    const std::int32_t response = scene_.answers.response_before(first.first, second.note);
    return second.first > first.first && response < first.note;
  }
  return false;
}

/// Whether a response before `number` was captured between the two notes: what came before that one, a
/// requester that takes responses in order has thrown away.
bool Responses::overtook(std::int64_t number, std::int32_t given, std::int32_t until) const {
  return std::any_of(stream_.sent.begin(), stream_.sent.end(), [&](const Sent& sent) {
    return sent.note > given && sent.note < until && sent.psn < number;
  });
}

/// The first response behind `number` that was captured between the two notes; -1: there is none.
std::int32_t Responses::captured_next(std::int64_t number, std::int32_t given, std::int32_t until) const {
  std::int32_t next = -1;
  for (const Sent& sent : stream_.sent) {
    if (sent.note > given && sent.note < until && sent.psn > number && (next < 0 || sent.note < next))
      next = sent.note;
  }
  return next;
}

/// Whether the READ was asked again by a timer that ran since it had been asked for before, while its
/// answers were on the way: they took longer than the requester waits.
bool Responses::crossed(std::size_t i, std::int32_t given) const {
  const Issue& issue = scene_.issues[i];
  const Note& now = scene_.note_at(issue.note);
  const Note& answer = scene_.note_at(given);
  std::int32_t progress = -1;
  for (std::int32_t k = given - 1; k >= 0 && progress < 0; --k) {
    if (!scene_.note_at(k).request) progress = k;
    for (const Issue& before : scene_.issues) {
      if (before.note == k && before.first <= issue.first && issue.first < before.end) progress = k;
    }
  }
  if (progress < 0 || !timed(now, answer) || !timed(answer, scene_.note_at(progress))) return false;
  const std::int64_t silence = answer.time_ns - scene_.note_at(progress).time_ns;
  const std::int64_t slow = std::max(quiet_ns / 4, 2 * scene_.facts.fastest_answer_ns);
  return silence >= slow && now.time_ns - answer.time_ns < silence;
}

/// Whether the response before the one that is asked for again was awaited and captured along with it: the
/// requester has that one, or it would ask for it too.
bool Responses::others_arrived(std::size_t i, std::int32_t given) const {
  const Issue& issue = scene_.issues[i];
  const std::int32_t before = scene_.answers.response_before(issue.first - 1, issue.note);
  std::int32_t asked = -1;
  for (std::size_t k = 0; k < i; ++k) {
    if (issue.first >= scene_.issues[k].first && issue.first < scene_.issues[k].end)
      asked = scene_.issues[k].note;
  }
  if (before < 0 || before < asked) return false;
  const Note& now = scene_.note_at(issue.note);
  const Note& answer = scene_.note_at(given);
  if (!timed(now, answer) || !timed(answer, scene_.note_at(before))) return false;
  return now.time_ns - answer.time_ns > 2 * (answer.time_ns - scene_.note_at(before).time_ns);
}

/// How a READ that is asked again shows that a response which was captured did not arrive. At once: it was
/// lost or overtaken. By a timer: one that lacked nothing before it would have taken it however late it came,
/// for nothing is overtaken by so much; others may have thrown it away, because one before it came late.
Responses::Missed Responses::how_missed(std::size_t i, std::int32_t given) const {
  const Issue& issue = scene_.issues[i];
  const Note& answer = scene_.note_at(given);
  const Note& now = scene_.note_at(issue.note);
  if (!timed(now, answer) || now.time_ns - answer.time_ns < shortest_timer_ns) return Missed::at_once;
  for (std::int32_t k = given - 1; k >= 0; --k) {
    const Note& note = scene_.note_at(k);
    const Ruling& how = scene_.said.rulings[static_cast<std::size_t>(k)];
    const bool asked_then = note.request && note.psn == issue.first && how.begins_pass;
    const bool long_before = timed(answer, note) && answer.time_ns - note.time_ns >= shortest_timer_ns;
    if (asked_then || long_before) return Missed::lost;
    if (is_response(note) && note.psn < issue.first) return Missed::waited_for;
  }
  return Missed::waited_for;
}

/// How long after the first answer that it had not seen before the requester goes on with a new request.
Responses::Reacts Responses::requester_reacts() const {
  List<std::int64_t> took;
  const Note* answer = nullptr;
  for (std::size_t i = 0; i < scene_.notes.size(); ++i) {
    const Note& note = scene_.notes[i];
    if (!note.request && answer == nullptr) answer = &note;
    if (!note.request || answer == nullptr) continue;
    const bool fresh = scene_.said.rulings[i].what == Ruling::What::first;
    if (fresh && timed(note, *answer)) took.push_back(note.time_ns - answer->time_ns);
    answer = nullptr;
  }
  if (took.empty()) return {};
  std::sort(took.begin(), took.end());
  constexpr std::size_t seldom = 16;  // one of so many may have had nothing to ask for
  const std::size_t slow = took.size() - 1 - took.size() / seldom;
  return {std::max<std::int64_t>(took[took.size() / 2], 0), std::max<std::int64_t>(took[slow], 0)};
}

/// Whether an earlier transmission of the response arrived, for all that is known: then it is not missed, and
/// a slow requester has not looked at it yet. Unless it went back further since: then it threw that one away.
bool Responses::arrived_before(std::int64_t psn, std::int32_t given, const Set<std::int32_t>& lost) const {
  bool arrived = false;
  stream_.back_through(numbers_.of_psn(psn), [&](std::size_t k) {
    const std::int32_t earlier = stream_.sent[k].note;
    if (earlier >= given || lost.contains(earlier) || scene_.note_at(earlier).before) return false;
    arrived = std::none_of(scene_.issues.begin(), scene_.issues.end(), [&](const Issue& back) {
      const Ruling& how = scene_.said.rulings[static_cast<std::size_t>(back.note)];
      return back.note > earlier && back.note < given && back.first < psn && how.begins_pass;
    });
    return arrived;
  });
  return arrived;
}

/// Whether some of the answer was not captured since it was asked for.
bool Responses::lacks_the_rest(const Issue& issue, std::int32_t asked) const {
  for (std::int64_t psn = issue.first + 1; psn < issue.end; ++psn) {
    if (scene_.answers.response_before(psn, issue.note) <= asked) return true;
  }
  return false;
}

/// Counts by which response the answer to `last` was lacking, where a timer asked again for it.
void Responses::count_whole(const Issue& last, const Issue& again, std::int32_t given) {
  const Note& now = scene_.note_at(again.note);
  const Note& answer = scene_.note_at(given);
  const std::int64_t responses = last.end - last.first;
  if (responses < 2 || last.end != again.end || lacks_the_rest(again, last.note)) return;
  if (!timed(now, answer) || now.time_ns - answer.time_ns < shortest_timer_ns) return;
  constexpr std::uint64_t at_most = 1024 * PathFact::one_due;
  PathFact& path = scene_.facts.back;
  if (path.whole_due >= at_most) return;
  if (again.first == last.first) ++path.whole;
  path.whole_due += PathFact::one_due / static_cast<std::uint64_t>(responses);
}

/// A READ that is asked again names the response that its requester lacks. If that one was captured, and
/// nothing else explains it, it was lost behind the capture.
void Responses::lose_downstream() {
  PathFact& path = scene_.facts.back;
  const auto [reacts_ns, slowly_ns] = requester_reacts();
  Map<std::int64_t, std::int32_t> claimed;
  Set<std::int32_t> lost;  // notes
  for (std::size_t i = 0; i < scene_.issues.size(); ++i) {
    const Issue& issue = scene_.issues[i];
    const Ruling& how = scene_.said.rulings[static_cast<std::size_t>(issue.note)];
    if (how.what != Ruling::What::repeat || !how.begins_pass || scene_.note_at(issue.note).before) continue;
    if (how.cause == Cause::nak || how.cause == Cause::rnr) continue;
    const std::int64_t psn = issue.first;
    if (goes_on(issue)) continue;
    const std::int32_t given = scene_.answers.response_before(psn, issue.note);
    if (given < 0) scene_.said.holes.push_back({psn, issue.note, false});
    if (given < 0 || (claimed.contains(psn) && claimed[psn] == given)) continue;
    if (scene_.note_at(given).trimmed) continue;  // it was lost before it came here
    const auto at = std::find_if(stream_.sent.begin(), stream_.sent.end(),
                                 [&](const Sent& sent) { return sent.note == given; });
    if (at == stream_.sent.end()) continue;  // a copy
    const auto place = static_cast<std::size_t>(at - stream_.sent.begin());
    if (stream_.story[place].move == Move::late || stream_.overtaken(place)) continue;
    // Since it was asked for last, or it is not what is missed now.
    std::int32_t asked = -1;
    bool within = false;
    const Issue* last = nullptr;
    for (std::size_t k = 0; k < i; ++k) {
      if (psn < scene_.issues[k].first || psn >= scene_.issues[k].end) continue;
      last = &scene_.issues[k];
      asked = last->note;
      within = within || last->first < psn;
    }
    if (given < asked) {  // it, or the request before
      scene_.said.holes.push_back({psn, issue.note, false});
      continue;
    }
    if (last != nullptr) count_whole(*last, issue, given);
    if (!within && lacks_the_rest(issue, asked)) continue;  // for that it asks again, and for all at once
    const std::int32_t next = captured_next(at->psn, given, issue.note);
    const Note& now = scene_.note_at(issue.note);
    const std::int64_t since_next = next < 0 ? 0 : now.time_ns - scene_.note_at(next).time_ns;
    const bool soon = next >= 0 && since_next < at_once_ns && since_next >= reacts_ns / 4;
    if (!within && !soon && !others_arrived(i, given)) continue;
    // A slow requester's timer runs out before it has looked at what arrived. Of the READ that it asks for
    // the rest of it has looked at some.
    const std::int64_t since_given = now.time_ns - scene_.note_at(given).time_ns;
    if (!soon && since_given < (within ? 4 : 6) * reacts_ns / 3) continue;
    // It has been as slow before.
    const bool slow = !soon && !within && since_given < slowly_ns;
    if (overtook(at->psn, given, issue.note) || crossed(i, given)) continue;
    if (arrived_before(psn, given, lost)) continue;
    if (asked_for_more_at_once(i)) {
      ++path.late;
      continue;
    }
    if (scene_.said.rulings[static_cast<std::size_t>(given)].what == Ruling::What::repeat &&
        timed(now, scene_.note_at(given)) && scene_.facts.ask_again_ns != 0 &&
        now.time_ns - scene_.note_at(given).time_ns < scene_.facts.ask_again_ns)
      continue;
    claimed[psn] = given;
    lost.insert(given);
    if (timed(now, scene_.note_at(given))) {
      std::int64_t& least = scene_.facts.ask_again_ns;
      const std::int64_t took = now.time_ns - scene_.note_at(given).time_ns;
      least = least == 0 ? took : std::min(least, took);
    }
    // The one behind it would have made it ask at once (implied NAK, IBTA 9.7.5.1.1), unless that was asked
    // for again already: what it waited for was all lost, or all late, as to a host that stood still.
    const bool in_order = scene_.facts.disorder_ns == 0 && !path.shuffles();
    const bool asked_once =
        asked < 0 || scene_.said.rulings[static_cast<std::size_t>(asked)].what != Ruling::What::repeat;
    const bool all_waited_for = next >= 0 && since_next >= std::max(shortest_timer_ns, 8 * reacts_ns) &&
                                in_order && asked_once && !within && !others_arrived(i, given);
    const Missed missed = how_missed(i, given);
    if (all_waited_for || slow) {
      scene_.leave_open(given, issue.note, Doubt::all_waited_for);
    } else if (missed == Missed::lost) {
      ++path.lost;
      scene_.lose({Lost::after_capture, false, psn, given, issue.note, -1});
    } else {
      const bool waited = missed == Missed::waited_for;
      if (!waited) ++path.soon;
      scene_.leave_open(given, issue.note, waited ? Doubt::waited_for : Doubt::asked_for_at_once);
    }
  }
}

}  // namespace roce::analyze::episode
