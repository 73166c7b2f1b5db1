// SPDX-License-Identifier: Apache-2.0
// What the requester did: its passes, why each began, and which of its packets were lost.
#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "analyze/episode/scene.hpp"
#include "analyze/episode/stream.hpp"
#include "analyze/episode/triggers.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze::episode {

using dissect::Operation;

namespace {

class Requests {
 public:
  explicit Requests(Scene& scene) : scene_(scene) {}
  void explain();

 private:
  [[nodiscard]] std::int64_t end_of_read(std::size_t read) const;
  void rule_requests(const Stream& stream);
  void lose_requests(const Stream& stream);
  void lose_named(const Stream& stream);
  void learn_keeping(const Stream& stream);
  [[nodiscard]] bool went_back_between(const Stream& stream, std::int32_t from, std::int32_t to) const;
  [[nodiscard]] bool came_late(const Asked& asked, std::int32_t repeat, const ByPsn& sent) const;
  [[nodiscard]] bool inside_issue(std::int64_t psn) const noexcept;

  Scene& scene_;
  std::vector<Trigger> triggers_;  ///< by note
  /// READs by first PSN, each with the furthest end of those up to it.
  std::vector<std::pair<std::int64_t, std::int64_t>> read_ends_;
};

/// Of a READ of which nobody knows how many responses it has: up to the last that came, or the next request.
std::int64_t Requests::end_of_read(std::size_t read) const {
  const std::int64_t first = scene_.notes[read].psn;
  std::int64_t next = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = first;
  for (const Note& note : scene_.notes) {
    if (note.psn <= first) continue;
    const dissect::OpcodeInfo& info = dissect::opcode_info(note.opcode);
    if (note.request) {
      next = std::min(next, note.psn);
    } else if (info.operation == Operation::read_response && info.ends_message()) {
      next = std::min(next, note.psn + 1);
    } else if (info.operation == Operation::read_response) {
      last = std::max(last, note.psn);
    }
  }
  return next != std::numeric_limits<std::int64_t>::max() ? next : last + 1;
}

void Requests::explain() {
  Stream stream;
  stream.notes = scene_.notes;
  triggers_.resize(scene_.notes.size());
  for (std::size_t i = 0; i < scene_.notes.size(); ++i) {
    const Note& note = scene_.notes[i];
    if (!note.request) {
      scene_.facts.answers_captured = true;
      continue;
    }
    const dissect::OpcodeInfo& info = dissect::opcode_info(note.opcode);
    Sent sent;
    sent.psn = note.psn;
    sent.end = note.count > 0 ? note.psn + note.count : end_of_read(i);
    sent.time_ns = note.time_ns;
    sent.note = static_cast<std::int32_t>(i);
    stream.sent.push_back(sent);
    if (answered_on_its_own(info.operation)) scene_.issues.push_back({sent.psn, sent.end, sent.note});
  }
  if (stream.sent.empty()) return;
  for (const Issue& issue : scene_.issues) read_ends_.emplace_back(issue.first, issue.end);
  std::sort(read_ends_.begin(), read_ends_.end());
  for (std::size_t i = 1; i < read_ends_.size(); ++i)
    read_ends_[i].second = std::max(read_ends_[i].second, read_ends_[i - 1].second);
  stream.put_in_order(scene_.facts.requests);
  const Triggers triggers(scene_, stream);
  for (std::size_t i = 0; i < stream.sent.size(); ++i) {
    const Trigger trigger = triggers.of(i);
    stream.sent[i].back = trigger.bits;
    triggers_[static_cast<std::size_t>(stream.sent[i].note)] = trigger;
  }
  stream.tell(scene_.facts.requests, scene_.facts.first, scene_.facts.acked,
              scene_.facts.keeps > 0 ? 1.0F : 5.0F);
  stream.learn(scene_.facts.requests);
  rule_requests(stream);
  learn_keeping(stream);
  lose_requests(stream);
  lose_named(stream);
}

[[nodiscard]] Cause cause_by(Rule rule, Operation operation) noexcept {
  const bool read = operation == Operation::read_request;
  switch (rule) {
    case Rule::sequence_nak:
    case Rule::nak_of_message:
      return Cause::nak;
    case Rule::rnr_nak:
      return Cause::rnr;
    case Rule::not_captured:
      return read ? Cause::read_retry : Cause::unknown;
    default:
      return read ? Cause::read_retry : Cause::timeout;
  }
}

[[nodiscard]] Rule rule_of(Cause cause) noexcept {
  switch (cause) {
    case Cause::nak:
      return Rule::sequence_nak;
    case Cause::rnr:
      return Rule::rnr_nak;
    case Cause::read_retry:
      return Rule::read_asked_again;
    case Cause::timeout:
      return Rule::timer;
    default:
      return Rule::not_captured;
  }
}

void Requests::rule_requests(const Stream& stream) {
  for (const std::int32_t copy : stream.copies)
    scene_.ruling_at(copy) = {.what = Ruling::What::copy, .rule = Rule::same_id};
  std::vector<Rule> passes(1, Rule::none);
  std::unordered_map<std::int64_t, std::uint64_t> last_frame;
  for (std::size_t i = 0; i < stream.sent.size(); ++i) {
    const Sent& sent = stream.sent[i];
    const Placed& told = stream.story[i];
    const Note& note = stream.note_of(sent);
    const Operation operation = dissect::opcode_info(note.opcode).operation;
    Ruling& ruling = scene_.ruling_at(sent.note);
    if (told.move == Move::copy) {
      ruling.what = Ruling::What::copy;
      ruling.rule = Rule::in_turn;
      if (const auto known = last_frame.find(sent.psn); known != last_frame.end())
        ruling.original = known->second;
      continue;
    }
    const Trigger& trigger = triggers_[static_cast<std::size_t>(sent.note)];
    const auto pass = static_cast<std::size_t>(told.pass);
    if (passes.size() <= pass) passes.resize(pass + 1, Rule::none);
    if (told.move == Move::back) {
      passes[pass] = trigger.rule;
      ruling.begins_pass = true;
      ruling.trigger = trigger.note;
    }
    const auto known = last_frame.find(sent.psn);
    if (known != last_frame.end()) ruling.original = known->second;
    last_frame[sent.psn] = note.frame;
    const bool again = told.move == Move::late ? !told.of_first : sent.psn < told.top;
    if (!again) {
      const bool late = told.move == Move::late || stream.overtaken(i);
      ruling.what = late ? Ruling::What::late : Ruling::What::first;
      ruling.rule = told.move == Move::late ? Rule::fills_gap : late ? Rule::sent_earlier : Rule::first;
      continue;
    }
    ruling.what = Ruling::What::repeat;
    if (note.before) {
      ruling.cause = note.cause;
      passes[pass] = rule_of(note.cause);
      continue;
    }
    // A NAK that comes while the pass is under way explains the rest of it.
    constexpr float sure = 1;
    const bool named =
        trigger.bits <= sure && (trigger.rule == Rule::sequence_nak || trigger.rule == Rule::rnr_nak);
    if (told.move != Move::late && named && !trigger.long_ago) passes[pass] = trigger.rule;
    ruling.rule = passes[pass] == Rule::none ? trigger.rule : passes[pass];
    ruling.cause = cause_by(ruling.rule, operation);
  }
}

/// What a pass left out was lost upstream if it was needed again, and not captured if nobody missed it.
void Requests::lose_requests(const Stream& stream) {
  std::unordered_map<std::int64_t, std::vector<std::size_t>> by_psn;
  for (std::size_t i = 0; i < stream.sent.size(); ++i) {
    if (stream.story[i].move != Move::copy) by_psn[stream.sent[i].psn].push_back(i);
  }
  // The gaps of a pass, and what came late into them.
  const auto came_late = [&](std::int64_t psn, std::size_t after, std::int32_t pass) {
    const auto all = by_psn.find(psn);
    if (all == by_psn.end()) return false;
    return std::any_of(all->second.begin(), all->second.end(), [&](std::size_t i) {
      return i > after && stream.story[i].move == Move::late && stream.story[i].pass == pass;
    });
  };
  const auto next_sent = [&](std::int64_t psn, std::size_t after) -> std::ptrdiff_t {
    const auto all = by_psn.find(psn);
    if (all == by_psn.end()) return -1;
    const auto next = std::upper_bound(all->second.begin(), all->second.end(), after);
    return next == all->second.end() ? -1 : static_cast<std::ptrdiff_t>(*next);
  };
  constexpr std::int64_t looked_at = 4096;
  for (std::size_t i = 0; i < stream.sent.size(); ++i) {
    const Placed& told = stream.story[i];
    const Sent& shows = stream.sent[i];
    if (told.move != Move::ahead || shows.psn - told.cursor > looked_at) continue;
    if (stream.note_of(shows).before) continue;
    for (std::int64_t psn = told.cursor; psn < shows.psn; ++psn) {
      if (inside_issue(psn) || came_late(psn, i, told.pass)) continue;
      const bool first = psn >= told.top;
      const std::ptrdiff_t next = next_sent(psn, i);
      const std::int32_t confirmed = scene_.answers.confirmed_at(psn);
      if (next < 0) {
        if (confirmed >= 0 && first) scene_.lose({Lost::by_capture, true, psn, -1, confirmed, -1});
        continue;
      }
      const Sent& repeat = stream.sent[static_cast<std::size_t>(next)];
      const Note& again = stream.note_of(repeat);
      const bool confirmed_before = confirmed >= 0 && confirmed < repeat.note &&
                                    (!timed(again, scene_.note_at(confirmed)) ||
                                     again.time_ns - scene_.note_at(confirmed).time_ns >= 0);
      if (!first && scene_.answers.acked_before(shows.note) > psn) continue;  // no need to send it any more
      if (confirmed_before && first) {
        scene_.lose({Lost::by_capture, true, psn, -1, confirmed, repeat.note});
      } else if (!confirmed_before) {
        scene_.lose({Lost::before_capture, true, psn, -1, repeat.note, repeat.note});
      }
    }
  }
}

/// Whether what a NAK asked for had come all the same, late: the responder confirms it before it was sent
/// again, or confirms the repeat as a duplicate at once, although nobody asked for an acknowledgement
/// (IBTA 9.7.5.1.4).
bool Requests::came_late(const Asked& asked, std::int32_t repeat, const ByPsn& sent) const {
  const std::int32_t confirmed = scene_.answers.confirmed_at(asked.psn);
  if (confirmed < 0) return false;
  const Note& ack = scene_.note_at(confirmed);
  if (repeat < 0 || confirmed < repeat) return true;
  if (timed(ack, scene_.note_at(repeat)) &&
      ack.time_ns - scene_.note_at(repeat).time_ns < scene_.facts.fastest_answer_ns / 2)
    return true;
  const bool plain = dissect::opcode_info(ack.opcode).operation == Operation::acknowledge && ack.has_aeth &&
                     (ack.aeth >> 29U & 3U) == 0;
  if (!plain) return false;
  if (ack.psn == asked.psn) return !scene_.note_at(repeat).asks;
  // What came behind it before it was repeated, a responder that takes in order only had thrown away.
  if (scene_.facts.keeps > 0) return false;
  const std::int32_t last = sent.last_before(ack.psn, confirmed);
  return last >= 0 && last < repeat;
}

/// Whether anything was sent again between two notes.
bool Requests::went_back_between(const Stream& stream, std::int32_t from, std::int32_t to) const {
  return std::any_of(stream.sent.begin(), stream.sent.end(), [&](const Sent& sent) {
    return sent.note > from && sent.note < to &&
           scene_.said.rulings[static_cast<std::size_t>(sent.note)].what == Ruling::What::repeat;
  });
}

/// A responder that keeps what comes early asks for one packet, and its requester sends just that.
void Requests::learn_keeping(const Stream& stream) {
  for (std::size_t i = 0; i + 1 < stream.sent.size(); ++i) {
    const Ruling& ruling = scene_.said.rulings[static_cast<std::size_t>(stream.sent[i].note)];
    if (!ruling.begins_pass || ruling.rule != Rule::sequence_nak || stream.sent[i].end >= stream.story[i].top)
      continue;
    const Move next = stream.story[i + 1].move;
    if (next == Move::home || next == Move::back) scene_.facts.keeps = std::min(scene_.facts.keeps + 1, 4);
    if (next == Move::next) scene_.facts.keeps = std::max(scene_.facts.keeps - 1, -4);
  }
}

/// A sequence NAK names what was lost behind the capture, if it was captured in time.
void Requests::lose_named(const Stream& stream) {
  const ByPsn sent(stream);
  std::unordered_map<std::int64_t, std::int32_t> claimed;  // PSN -> transmission (note) that was lost
  std::vector<Loss> lost;
  std::int64_t rnr_psn = -1;
  const Asked* last_nak = nullptr;
  for (const Asked& asked : scene_.answers.asked()) {
    if (asked.rnr) {
      rnr_psn = asked.psn;
      continue;
    }
    if (asked.psn == rnr_psn || scene_.note_at(asked.note).before) continue;
    const std::int32_t named = sent.last_before(asked.psn, asked.note);
    // One NAK after another, and nothing sent again between them: packets come late, not never.
    const bool no_reaction_yet = last_nak != nullptr && last_nak->psn < asked.psn &&
                                 !went_back_between(stream, last_nak->note, asked.note);
    last_nak = &asked;
    if (no_reaction_yet && scene_.facts.keeps <= 0) continue;
    if (named < 0 || (claimed.contains(asked.psn) && claimed[asked.psn] == named)) continue;
    if (scene_.said.rulings[static_cast<std::size_t>(named)].what == Ruling::What::late) continue;
    // What made the responder ask: it is of a pass in which the named one came by as well, or it lies in a
    // gap.
    const Placed* const shown_by = sent.last_beyond(asked.psn, named, asked.note);
    if (shown_by == nullptr) continue;
    const Placed& how = *sent.told(named);
    if (how.pass != shown_by->pass && sent.begins_at(shown_by->pass) <= asked.psn) continue;
    claimed[asked.psn] = named;
    const std::int32_t repeat = sent.first_behind(asked.psn, asked.note);
    if (came_late(asked, repeat, sent)) {
      ++scene_.facts.named_late;
    } else {
      ++scene_.facts.named_lost;
      lost.push_back({Lost::after_capture, true, asked.psn, named, asked.note, repeat});
    }
  }
  // Where most that were named came late after all, a NAK proves nothing.
  constexpr std::uint32_t some = 4;
  if (scene_.facts.named_late >= some && scene_.facts.named_late > 2 * scene_.facts.named_lost) return;
  for (const Loss& loss : lost) scene_.lose(loss);
}

/// No request has a PSN behind the first of a READ.
bool Requests::inside_issue(std::int64_t psn) const noexcept {
  const auto behind = std::upper_bound(
      read_ends_.begin(), read_ends_.end(), psn,
      [](std::int64_t at, const std::pair<std::int64_t, std::int64_t>& read) { return at <= read.first; });
  return behind != read_ends_.begin() && psn < std::prev(behind)->second;
}

}  // namespace

void explain_requests(Scene& scene) {
  Requests(scene).explain();
}

}  // namespace roce::analyze::episode
