// SPDX-License-Identifier: Apache-2.0
// What a sequence NAK proves of a request that was captured: lost downstream, or only late there.
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "analyze/episode/losses.hpp"
#include "analyze/episode/scratch.hpp"
#include "dissect/aeth.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze::episode {

using dissect::Operation;

namespace {

bool is_plain_ack(const Note& note) noexcept {
  return is_acknowledgement(note) && note.has_aeth && (note.aeth >> 29U & 3U) == 0;
}

class Named {
 public:
  Named(Scene& scene, const Stream& stream) : scene_(scene), stream_(stream), sent_(stream) {
    learn_answers();
    acknowledges_at_will_ = acknowledges_at_will();
  }
  void judge();

 private:
  enum class Fate : std::uint8_t { lost, late, either };

  void learn_answers();
  [[nodiscard]] bool acknowledges_at_will() const;
  [[nodiscard]] bool asked_for_one(std::int64_t psn, std::int32_t answer) const;
  [[nodiscard]] std::int64_t since(std::int32_t sent, std::int32_t answer) const noexcept {
    const Note& then = scene_.note_at(sent);
    const Note& now = scene_.note_at(answer);
    return timed(then, now) ? now.time_ns - then.time_ns : std::numeric_limits<std::int64_t>::max();
  }
  [[nodiscard]] bool reached(std::int32_t sent, std::int32_t answer) const noexcept;
  [[nodiscard]] bool too_soon(std::int32_t sent, std::int32_t answer) const noexcept;
  [[nodiscard]] std::int32_t last_reached(std::int64_t psn, std::int32_t answer) const;
  [[nodiscard]] bool shown(std::int32_t named, const Asked& asked) const;
  [[nodiscard]] bool discarded(std::int32_t named, const Asked* before, std::int32_t answer) const;
  [[nodiscard]] bool answered_more_often(const Asked& asked, std::int32_t repeat) const;
  [[nodiscard]] std::int32_t crossed_by(const Asked& asked, std::int32_t named) const;
  [[nodiscard]] bool waited(const Asked& asked, std::int32_t named) const;
  [[nodiscard]] Fate fate(const Asked& asked, std::int32_t named, std::int32_t repeat) const;
  [[nodiscard]] bool of_duplicate(std::int32_t ack, bool in_order) const;
  [[nodiscard]] bool shows_late(std::int32_t answer, const Asked& asked, std::int32_t repeat) const;
  [[nodiscard]] Fate fate_where_kept(const Asked& asked, std::int32_t repeat) const;
  [[nodiscard]] bool answered_soon(std::int32_t request) const;
  [[nodiscard]] Fate fate_where_discarded(const Asked& asked, std::int32_t named, std::int32_t repeat,
                                          std::int32_t confirmed) const;
  /// Calls `each` with the requests captured between the two notes, until it returns true.
  template <class Each>
  bool any_between(std::int32_t from, std::int32_t to, Each each) const {
    for (std::int32_t note = from + 1; note < to; ++note) {
      const std::int32_t i = sent_.index_of(note);
      if (i >= 0 && each(stream_.sent[static_cast<std::size_t>(i)])) return true;
    }
    return false;
  }

  Scene& scene_;
  const Stream& stream_;
  const ByPsn sent_;
  std::int64_t slowest_ns_ = 0;  ///< from a request to its answer
  bool acknowledges_at_will_ = false;
};

/// The least time from a request to its answer: none is influenced by what was captured later than that
/// before it. A NAK answers one of those that came behind the missing one.
void Named::learn_answers() {
  std::int64_t& least = scene_.facts.fastest_answer_ns;
  slowest_ns_ = scene_.facts.slow_answer_ns;
  const auto took = [&](std::int32_t request, std::int32_t answer) {
    if (request < 0 || !timed(scene_.note_at(request), scene_.note_at(answer))) return;
    const std::int64_t time = scene_.note_at(answer).time_ns - scene_.note_at(request).time_ns;
    if (time > 0 && (least == 0 || time < least)) least = time;
    slowest_ns_ = std::max(slowest_ns_, time);
  };
  for (std::size_t i = 0; i < scene_.notes.size(); ++i) {
    const Note& answer = scene_.notes[i];
    const auto index = static_cast<std::int32_t>(i);
    if (answer.request || !is_plain_ack(answer)) continue;
    const std::int32_t request = sent_.last_before(answer.psn, index);
    if (request >= 0 && sent_.last_before(answer.psn, request) < 0) took(request, index);
  }
  for (const Asked& asked : scene_.answers.asked()) {
    const std::int32_t named = sent_.last_before(asked.psn, asked.note);
    // What was overtaken on its way here: the NAK answers what overtook it.
    const bool late =
        named >= 0 && scene_.said.rulings[static_cast<std::size_t>(named)].what == Ruling::What::late;
    if (asked.rnr || late) continue;
    std::int32_t first = -1;
    static_cast<void>(any_between(named, asked.note, [&](const Sent& sent) {
      if (sent.psn > asked.psn) first = sent.note;
      return first >= 0;
    }));
    took(first, asked.note);
  }
}

/// Whether that transmission may have come before the answer was given. The fastest answer so far need not be
/// the fastest.
bool Named::reached(std::int32_t sent, std::int32_t answer) const noexcept {
  return sent >= 0 && sent < answer && since(sent, answer) >= scene_.facts.fastest_answer_ns / 2;
}

/// Whether no answer that came so soon is known.
bool Named::too_soon(std::int32_t sent, std::int32_t answer) const noexcept {
  return since(sent, answer) < scene_.facts.fastest_answer_ns / 20 * 19;
}

std::int32_t Named::last_reached(std::int64_t psn, std::int32_t answer) const {
  std::int32_t last = sent_.last_before(psn, answer);
  while (last >= 0 && !reached(last, answer)) last = sent_.last_before(psn, last);
  return last;
}

/// What made the responder ask is of a pass in which the named one came by as well, or which began behind it.
bool Named::shown(std::int32_t named, const Asked& asked) const {
  const std::int64_t time_ns = scene_.note_at(asked.note).time_ns;
  const std::int64_t least = scene_.facts.fastest_answer_ns / 20 * 19;
  const Placed* by = nullptr;
  static_cast<void>(any_between(named, asked.note, [&](const Sent& sent) {
    const bool in_time =
        time_ns == capture::no_time || sent.time_ns == capture::no_time || time_ns - sent.time_ns >= least;
    if (sent.psn > asked.psn && in_time) by = sent_.told(sent.note);
    return false;
  }));
  if (by == nullptr) return false;
  return sent_.told(named)->pass == by->pass || sent_.begins_at(by->pass) > asked.psn;
}

/// A responder that takes in order throws away what comes behind a missing packet, until that comes: it then
/// asks for what it has thrown away, if that is not sent again as well.
bool Named::discarded(std::int32_t named, const Asked* before, std::int32_t answer) const {
  if (scene_.facts.keeps > 0) return false;
  const std::int64_t psn = scene_.note_at(named).psn;
  const bool came_early = any_between(named, answer, [&](const Sent& sent) {
    return sent.psn < psn &&
           scene_.said.rulings[static_cast<std::size_t>(sent.note)].what == Ruling::What::late;
  });
  if (came_early || before == nullptr) return came_early;
  const std::int32_t repeat = sent_.first_behind(before->psn, before->note);
  return repeat < 0 || !reached(repeat, answer) || named < repeat;
}

/// It keeps what comes early: had the missing one come, it would have confirmed that with all that it had
/// kept, where one of them asks for it. Where none does, the repeat is confirmed at once as a duplicate if it
/// is one, and not at all if it is not (IBTA 9.7.5.1.4).
Named::Fate Named::fate_where_kept(const Asked& asked, std::int32_t repeat) const {
  std::int64_t next = asked.psn + 1;
  bool asks = false;
  static_cast<void>(any_between(sent_.last_before(asked.psn, asked.note), asked.note, [&](const Sent& sent) {
    if (sent.psn == next && reached(sent.note, asked.note)) {
      next = sent.end;
      asks = asks || stream_.note_of(sent).asks;
    }
    return asks;
  }));
  if (asks) return Fate::lost;
  if (scene_.note_at(repeat).asks) return Fate::either;
  return answered_soon(repeat) ? Fate::either : Fate::lost;
}

/// Whether an acknowledgement may be the answer to that request. Answers keep the order of requests.
bool Named::answered_soon(std::int32_t request) const {
  const Note& then = scene_.note_at(request);
  const std::int64_t longest = slowest_ns_ + slowest_ns_ / 8;
  for (auto i = static_cast<std::size_t>(request) + 1; i < scene_.notes.size(); ++i) {
    const Note& note = scene_.notes[i];
    if (!timed(note, then)) return true;
    if (note.time_ns - then.time_ns > longest) return false;
    const std::int64_t confirmed = nak_of(note) == Nak::sequence ? note.psn - 1 : note.psn;
    if (note.request || confirmed < then.psn || !reached(request, static_cast<std::int32_t>(i))) continue;
    // A NAK so soon may answer what was sent before that.
    const bool perhaps_before = nak_of(note) == Nak::sequence && note.time_ns - then.time_ns <= slowest_ns_ &&
                                sent_.last_before(note.psn - 1, request) >= 0;
    return is_plain_ack(note) || perhaps_before;
  }
  return true;
}

/// Whether a transmission of `psn` before that answer asked for an acknowledgement.
bool Named::asked_for_one(std::int64_t psn, std::int32_t answer) const {
  for (std::int32_t each = sent_.last_before(psn, answer); each >= 0; each = sent_.last_before(psn, each)) {
    if (scene_.note_at(each).asks) return true;
  }
  return false;
}

/// Whether the responder also acknowledges what does not ask for it and is no duplicate, as it may.
bool Named::acknowledges_at_will() const {
  if (!any_between(-1, static_cast<std::int32_t>(scene_.notes.size()),
                   [&](const Sent& sent) { return stream_.note_of(sent).asks; }))
    return true;
  const auto asked = scene_.answers.asked();
  const std::int32_t until = asked.empty() ? 0 : asked.front().note;
  for (std::int32_t i = 0; i < until; ++i) {
    const Note& note = scene_.note_at(i);
    if (note.request || note.before || !is_plain_ack(note)) continue;
    if (sent_.last_before(note.psn, i) >= 0 && !asked_for_one(note.psn, i)) return true;
  }
  return false;
}

/// Whether that acknowledgement answers nothing but a duplicate: what it names did not ask for one, or had
/// been acknowledged before and was not sent since (IBTA 9.7.5.1.4).
bool Named::of_duplicate(std::int32_t ack, bool in_order) const {
  const std::int64_t psn = scene_.note_at(ack).psn;
  const std::int32_t last = sent_.last_before(psn, ack);
  if (last < 0) return false;
  if (!acknowledges_at_will_ && !asked_for_one(psn, ack)) return true;
  // What is sent again from further back holds duplicates of its own.
  for (std::int32_t i = ack - 1; in_order && i > last; --i) {
    const Note& before = scene_.note_at(i);
    if (!before.request && before.psn == psn && is_plain_ack(before) && reached(last, i)) return true;
  }
  return false;
}

/// Whether an answer that comes behind the repeat shows that the named one had come late, or soon will. A
/// responder that takes in order only acknowledges what was sent behind it before the repeat; or it asks for
/// the next, which it had thrown away (IBTA 9.7.5.1.1); or it acknowledges a duplicate, which the repeat is
/// then, or the late one becomes (9.7.5.1.4).
bool Named::shows_late(std::int32_t answer, const Asked& asked, std::int32_t repeat) const {
  const Note& note = scene_.note_at(answer);
  const bool ack = is_plain_ack(note);
  const std::int64_t confirmed = ack ? note.psn : note.psn - 1;
  if (!(ack || nak_of(note) == Nak::sequence) || confirmed < asked.psn) return false;
  // What is sent again by whole messages may be so because other messages are kept.
  const bool in_order = sent_.begins_at(sent_.pass_of(repeat)) >= asked.psn;
  if (in_order && answer == scene_.answers.confirmed_at(asked.psn + 1)) {
    const std::int32_t last = last_reached(confirmed, answer);
    if (last >= 0 && last < repeat) return true;
  }
  return ack && reached(repeat, answer) && of_duplicate(answer, in_order);
}

Named::Fate Named::fate_where_discarded(const Asked& asked, std::int32_t named, std::int32_t repeat,
                                        std::int32_t confirmed) const {
  const Note& again = scene_.note_at(repeat);
  if (!timed(again, scene_.note_at(named)) || !timed(again, scene_.note_at(confirmed))) return Fate::either;
  constexpr std::int64_t later = 4;  // times what the repair took: nothing is overtaken by more
  const std::int64_t until_ns = again.time_ns + later * (again.time_ns - scene_.note_at(named).time_ns);
  const std::int32_t pass = sent_.told(repeat)->pass;
  bool asks_on = false;
  for (std::int32_t i = repeat + 1; i < static_cast<std::int32_t>(scene_.notes.size()); ++i) {
    const Note& note = scene_.note_at(i);
    if (timed(note, again) && note.time_ns > until_ns && i > confirmed) break;
    // The next pass makes duplicates of its own.
    if (note.request && sent_.pass_of(i) > pass) break;
    if (note.request) continue;
    if (shows_late(i, asked, repeat)) return Fate::late;
    asks_on = asks_on || (nak_of(note) == Nak::sequence && note.psn == asked.psn + 1);
  }
  if (asks_on) return Fate::either;  // or the repeat of the next was lost
  // Had it come before, it would have been acknowledged then, if it asked for that.
  if (scene_.note_at(named).asks && !too_soon(repeat, confirmed)) return Fate::lost;
  return again.asks || answered_soon(repeat) ? Fate::either : Fate::lost;
}

/// Each READ and ATOMIC that comes is answered, also when it comes again: more answers than were sent since
/// it was asked for answer what was sent before.
bool Named::answered_more_often(const Asked& asked, std::int32_t repeat) const {
  std::int32_t sent = 0;
  for (auto i = static_cast<std::size_t>(std::min(asked.note, repeat)); i < scene_.notes.size(); ++i) {
    const Note& note = scene_.notes[i];
    if (note.psn != asked.psn) continue;
    const Operation operation = dissect::opcode_info(note.opcode).operation;
    if (note.request) {
      ++sent;
    } else if (operation != Operation::acknowledge && --sent < 0) {
      return true;
    }
  }
  return false;
}

/// Where the requester's timer was faster than a NAK, the last one before the NAK is the repeat already: it
/// is confirmed, and nobody sent it again for the NAK. The NAK asked for the one before, which something
/// behind it showed to be missing. -1: that is not so.
std::int32_t Named::crossed_by(const Asked& asked, std::int32_t named) const {
  const std::int32_t confirmed = scene_.answers.confirmed_at(asked.psn);
  const std::int32_t repeat = sent_.first_behind(asked.psn, asked.note);
  if (confirmed < 0 || (repeat >= 0 && reached(repeat, confirmed))) return -1;
  const std::int32_t earlier = sent_.last_before(asked.psn, named);
  if (earlier < 0) return -1;
  const Cause cause = scene_.said.rulings[static_cast<std::size_t>(named)].cause;
  if (cause != Cause::timeout && cause != Cause::read_retry) return -1;
  if (scene_.facts.there.shuffles()) return -1;  // overtaken as well
  const bool missed = any_between(earlier, named, [&](const Sent& sent) { return sent.psn > asked.psn; });
  return missed ? earlier : -1;
}

/// Whether the NAK waited behind READ responses while the named one, a repeat, passed it: answers leave in
/// the order of the requests (IBTA 9.7.5.1.1), so a NAK comes behind all that is read before its PSN, and
/// says nothing of what came since something behind an earlier hole made the responder ask. One NAK is sent
/// for a hole (9.7.5.2.8): so only where none had come for that, nor for one before it, unless the responder
/// keeps what comes early: until that is repaired the others are thrown away, and no hole among them.
bool Named::waited(const Asked& asked, std::int32_t named) const {
  const std::int32_t earlier = sent_.last_before(asked.psn, named);
  if (!any_between(earlier, named, [&](const Sent& sent) { return sent.psn > asked.psn; })) return false;
  for (const Asked& other : scene_.answers.asked()) {
    if (other.note >= named) break;
    const bool thrown_away = other.psn < asked.psn && scene_.facts.keeps <= 0;
    if (other.note > earlier && (other.psn == asked.psn || thrown_away)) return false;
  }
  bool behind_response = false;
  for (std::int32_t i = named + 1; i < asked.note; ++i) {
    const Note& note = scene_.note_at(i);
    if (note.request) continue;
    if (is_acknowledgement(note)) return false;
    behind_response = true;
  }
  return behind_response;
}

Named::Fate Named::fate(const Asked& asked, std::int32_t named, std::int32_t repeat) const {
  const std::int32_t confirmed = scene_.answers.confirmed_at(asked.psn);
  if (confirmed < 0) return Fate::either;
  // Confirmed before a repeat can have come.
  if (repeat < 0 || !reached(repeat, confirmed)) return Fate::late;
  if (answered_more_often(asked, repeat)) return Fate::late;
  if (scene_.facts.keeps > 0) return fate_where_kept(asked, repeat);
  return fate_where_discarded(asked, named, repeat, confirmed);
}

void Named::judge() {
  Map<std::int64_t, std::int32_t> judged;  // PSN -> the transmission (note)
  std::int64_t rnr_psn = -1;
  const Asked* before = nullptr;
  for (const Asked& asked : scene_.answers.asked()) {
    if (asked.rnr) {
      rnr_psn = asked.psn;
      continue;
    }
    if (asked.psn == rnr_psn || scene_.note_at(asked.note).before) continue;
    const Asked* const last = before;
    if (before == nullptr || asked.psn != before->psn) before = &asked;
    std::int32_t named = last_reached(asked.psn, asked.note);
    std::int32_t repeat = sent_.first_behind(asked.psn, asked.note);
    const std::int32_t earlier = named < 0 ? -1 : crossed_by(asked, named);
    if (named >= 0 && earlier < 0 && waited(asked, named)) {
      scene_.said.late_behind.push_back(named);
      continue;
    }
    if (earlier >= 0) repeat = std::exchange(named, earlier);
    if (named < 0 || scene_.said.rulings[static_cast<std::size_t>(named)].what == Ruling::What::late)
      continue;
    if (scene_.note_at(named).trimmed) continue;  // it was lost before it came here
    const auto known = judged.find(asked.psn);
    // What was sent again for an earlier one and not once more has come: this one answers what came before.
    const bool for_earlier = known != judged.end() && repeat < 0;
    if (for_earlier || (known != judged.end() && known->second == named)) continue;
    if (earlier < 0 && !shown(named, asked)) continue;
    const bool behind = last != nullptr && last->psn < asked.psn;
    if (discarded(named, behind ? last : nullptr, asked.note)) continue;
    judged[asked.psn] = named;
    const Loss loss{Lost::after_capture, true, asked.psn, named, asked.note, repeat};
    switch (fate(asked, named, repeat)) {
      case Fate::late:
        ++scene_.facts.there.late;
        scene_.said.late_behind.push_back(named);
        break;
      case Fate::lost:
        // Where a NAK and the timer's repeat crossed, the first may have come late as well.
        if (earlier < 0) ++scene_.facts.there.lost;
        if (earlier < 0 && scene_.facts.there.late == 0) {
          scene_.lose(loss);
        } else {
          scene_.leave_open(named, asked.note, Doubt::unanswered);
        }
        break;
      case Fate::either:
        ++scene_.facts.there.open;
        scene_.said.late_behind.push_back(named);
        scene_.leave_open(named, asked.note, Doubt::named);
        break;
    }
  }
}

}  // namespace

void lose_named(Scene& scene, const Stream& stream) {
  Named(scene, stream).judge();
}

}  // namespace roce::analyze::episode
