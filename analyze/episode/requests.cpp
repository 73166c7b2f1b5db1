// SPDX-License-Identifier: Apache-2.0
// What the requester did: its passes, why each began, and which of its packets were lost.
#include <algorithm>
#include <limits>
#include <utility>

#include "analyze/episode/losses.hpp"
#include "analyze/episode/scene.hpp"
#include "analyze/episode/scratch.hpp"
#include "analyze/episode/stream.hpp"
#include "analyze/episode/thresholds.hpp"
#include "analyze/episode/triggers.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze::episode {

using dissect::Operation;

namespace {

/// How much it takes for a sender to go on with new packets in the middle of a pass: it sends what is asked
/// for alone, or all the rest was lost.
float home_bits(int keeps) noexcept {
  return keeps > 0 ? 1.0F : keeps < -1 ? 12.0F : 5.0F;
}

/// How long after its PSN, or one behind it, was first sent each comes.
class Latest {
 public:
  /// What lies before `acked` was confirmed by then.
  Latest(std::int64_t acked, std::int64_t time_ns) : tops_{{acked - 1, time_ns}} {}
  std::int64_t behind(const Sent& sent) {
    if (sent.end > tops_.back().first) tops_.emplace_back(sent.end - 1, sent.time_ns);
    const auto beyond = std::lower_bound(tops_.begin(), tops_.end(), sent.psn,
                                         [](const auto& top, std::int64_t psn) { return top.first < psn; });
    return beyond == tops_.end() ? 0 : sent.time_ns - beyond->second;
  }

 private:
  List<std::pair<std::int64_t, std::int64_t>> tops_;  ///< last PSNs that rise, with when they came first
};

class Requests {
 public:
  explicit Requests(Scene& scene) : scene_(scene) {}
  void explain();

 private:
  [[nodiscard]] std::int64_t end_of_read(std::size_t read) const;
  [[nodiscard]] bool confirmed_long_before(const Sent& sent) const;
  [[nodiscard]] bool in_silence(const Sent& sent) const;
  void weigh_named(Stream& stream) const;
  void rule_requests(const Stream& stream, const Triggers& triggers);
  [[nodiscard]] bool kept_behind(const Sent& sent) const;
  void learn_keeping(const Stream& stream);

  Scene& scene_;
};

/// Of a READ of which nobody knows how many responses it has: up to the last that came, or the next request.
/// What begins behind a response that is not the last one asks for the rest of the same READ.
std::int64_t Requests::end_of_read(std::size_t read) const {
  const std::int64_t first = scene_.notes[read].psn;
  std::int64_t next = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = first;
  const auto asks_for_rest = [&](const Note& note) {
    if (dissect::opcode_info(note.opcode).operation != Operation::read_request) return false;
    const std::int32_t before =
        scene_.answers.response_before(note.psn - 1, static_cast<std::int32_t>(scene_.notes.size()));
    return before >= 0 && !dissect::opcode_info(scene_.note_at(before).opcode).ends_message();
  };
  for (const Note& note : scene_.notes) {
    if (note.psn <= first) continue;
    const dissect::OpcodeInfo& info = dissect::opcode_info(note.opcode);
    if (note.request) {
      if (note.psn < next && !asks_for_rest(note)) next = note.psn;
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
  for (std::size_t i = 0; i < scene_.notes.size(); ++i) {
    const Note& note = scene_.notes[i];
    if (!note.request) {
      const bool told =
          note.has_aeth || dissect::opcode_info(note.opcode).operation != Operation::acknowledge;
      scene_.facts.answers_captured = scene_.facts.answers_captured || told;
      continue;
    }
    const dissect::OpcodeInfo& info = dissect::opcode_info(note.opcode);
    Sent sent;
    sent.psn = note.psn;
    sent.end = note.count > 0 ? note.psn + note.count : end_of_read(i);
    sent.time_ns = note.time_ns;
    sent.note = static_cast<std::int32_t>(i);
    sent.again = note.before && note.cause != Cause::none;
    stream.sent.push_back(sent);
    if (answered_on_its_own(info.operation)) scene_.issues.push_back({sent.psn, sent.end, sent.note});
  }
  if (stream.sent.empty()) return;
  stream.put_in_order(scene_.facts.requests);
  if (const Sent& first = stream.sent.front(); !scene_.note_at(first.note).before) {
    // A NAK asks for what was sent, because one behind it came (IBTA 9.7.5.1.1).
    for (const Asked& asked : scene_.answers.asked_before(first.note))
      if (asked.psn == first.psn) stream.sent_to = asked.psn + (asked.rnr ? 1 : 2);
  }
  const Triggers triggers(scene_, stream);
  std::int64_t top = std::max(stream.sent_to, stream.sent.front().psn);
  for (std::size_t i = 0; i < stream.sent.size(); ++i) {
    Sent& sent = stream.sent[i];
    sent.acked = scene_.answers.acked_before(stream.by_then[i]);
    sent.done = triggers.done_before(stream.by_then[i]);
    if (sent.psn < top) {  // else it is new, whatever the story
      const Trigger trigger = triggers.of(i);
      sent.back = trigger.bits;
      sent.back_from = trigger.from;
      sent.told_by = trigger.told_by;
      sent.silent = trigger.silent;
      sent.named = trigger.rule == Rule::sequence_nak && trigger.note >= 0 && i > 0 &&
                   scene_.note_at(trigger.note).psn == sent.psn && trigger.note > stream.by_then[i - 1];
    }
    top = std::max(top, sent.end);
  }
  stream.weigh(scene_.facts.requests, scene_.facts.mirror);
  weigh_named(stream);
  // What the episode shows of the responder may tell another story of its beginning.
  float home = -1;
  for (int times = 0; times < 2 && home != home_bits(scene_.facts.keeps); ++times) {
    home = home_bits(scene_.facts.keeps);
    stream.tell(scene_.facts.first, scene_.facts.acked, home);
    rule_requests(stream, triggers);
    learn_keeping(stream);
  }
  stream.learn(scene_.facts.requests, scene_.facts.there);
  lose_requests(scene_, stream);
}

[[nodiscard]] Cause cause_by(Rule rule, Operation operation) noexcept {
  const bool read = operation == Operation::read_request;
  switch (rule) {
    case Rule::sequence_nak:
    case Rule::nak_of_message:
      return Cause::nak;
    case Rule::rnr_nak:
      return Cause::rnr;
    case Rule::read_asked_again:
      return Cause::read_retry;
    case Rule::not_captured:
      return read ? Cause::read_retry : Cause::unknown;
    default:
      return read ? Cause::read_retry : Cause::timeout;
  }
}

[[nodiscard]] bool by_nak(Rule rule) noexcept {
  return rule == Rule::sequence_nak || rule == Rule::nak_of_message || rule == Rule::rnr_nak;
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

/// Confirmed longer before than stamps may be wrong: its first transmission was not captured.
bool Requests::confirmed_long_before(const Sent& sent) const {
  const Note& note = scene_.note_at(sent.note);
  if (note.before || sent.psn < scene_.facts.acked || scene_.answers.acked_before(sent.note) <= sent.psn)
    return false;
  const std::int32_t by = scene_.answers.confirmed_at(sent.psn);
  const Note& confirms = scene_.note_at(by);
  return timed(confirms, note) && note.time_ns - confirms.time_ns >= shortest_timer_ns;
}

/// Nothing at all was captured before it for as long as a timer takes.
bool Requests::in_silence(const Sent& sent) const {
  if (sent.note == 0 || !timed(scene_.note_at(sent.note - 1), scene_.note_at(sent.note))) return false;
  return sent.time_ns - scene_.note_at(sent.note - 1).time_ns >= shortest_timer_ns;
}

void Requests::rule_requests(const Stream& stream, const Triggers& triggers) {
  List<Rule> passes;
  List<std::int32_t> began;  // notes
  Triggers::Used used;       // one NAK causes one pass
  Triggers::Used claimed;    // ... and those that a pass begins with are not what another only comes to
  List<Trigger> begins;      // of each step back
  for (std::size_t i = 0; i < stream.sent.size(); ++i) {
    if (stream.story[i].move != Move::back) continue;
    begins.push_back(triggers.of(i));
    claimed.insert(begins.back().note);
  }
  auto next_begin = begins.cbegin();
  // Stamps are wrong, or packets late, by as much as an answer takes: the order of capture tells no pass from
  // another. Only what came twice, or later than that, or when nothing had come for as long as a timer, was
  // surely sent twice, and what a pass goes on with that began so.
  const bool disordered = stream.ids != Ids::order && scene_.facts.disorder_ns > triggers.usual_answer_ns();
  const std::int64_t latest_ns = 2 * scene_.facts.disorder_ns;
  Latest latest(scene_.facts.acked, scene_.notes.front().time_ns);
  bool in_sure_pass = false;
  for (std::size_t i = 0; i < stream.sent.size(); ++i) {
    const Sent& sent = stream.sent[i];
    const Placed& told = stream.story[i];
    const Note& note = stream.note_of(sent);
    const Operation operation = dissect::opcode_info(note.opcode).operation;
    Ruling& ruling = scene_.ruling_at(sent.note);
    ruling = {};
    if (const std::int32_t original = stream.original_of(i); original >= 0)
      ruling.original = stream.note_of(stream.sent[static_cast<std::size_t>(original)]).frame;
    if (told.move == Move::copy) {
      ruling.what = Ruling::What::copy;
      ruling.rule = Rule::in_turn;
      continue;
    }
    const bool sure =
        !disordered || latest.behind(sent) > latest_ns || ruling.original != 0 || in_silence(sent);
    if (told.move != Move::late) in_sure_pass = sure || (in_sure_pass && told.move == Move::next);
    const bool again =
        scene_.facts.repeats && (sure || (in_sure_pass && told.move == Move::next)) &&
        (told.move == Move::late ? !told.of_first : sent.psn < told.top || confirmed_long_before(sent));
    Trigger trigger;
    if (told.move == Move::back) {
      trigger = *next_begin++;
    } else if (again) {
      trigger = triggers.of(i);
    }
    const auto pass = static_cast<std::size_t>(told.pass);
    if (passes.size() <= pass) {
      passes.resize(pass + 1, Rule::none);
      began.resize(pass + 1, sent.note);
    }
    if (told.move == Move::back) {
      if (used.contains(trigger.note)) trigger = triggers.of(i, used);
      if (trigger.note >= 0) used.insert(trigger.note);
      // What goes along with a READ that the timer sends again is the timer's, too: the pass had a reason of
      // its own only where an answer beyond the missing response had come (IBTA 9.7.5.2.8, implied NAK).
      const bool implied = scene_.answers.acked_before(stream.by_then[i]) > sent.psn;
      const bool by_timer = trigger.rule == Rule::read_asked_again && (trigger.silent || !implied);
      passes[pass] = by_timer ? Rule::timer : trigger.rule;
      ruling.begins_pass = true;
      ruling.trigger = trigger.note;
    }
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
    // A NAK of what the pass only comes to explains the rest of it.
    if (told.move != Move::late && told.move != Move::back && !by_nak(passes[pass])) {
      const Trigger named = triggers.named_by(i, told.cursor, began[pass], claimed);
      if (named.rule != Rule::none) {
        passes[pass] = named.rule;
        claimed.insert(named.note);
      }
    }
    ruling.rule = passes[pass] == Rule::none ? trigger.rule : passes[pass];
    ruling.cause = cause_by(ruling.rule, operation);
  }
}

/// A NAK makes the requester send again what it asks for. So what comes only once behind it is that, and not
/// the first transmission, late: else it would come twice.
void Requests::weigh_named(Stream& stream) const {
  constexpr float against = 4;
  const Note& last = scene_.notes.back();
  for (const Asked& asked : scene_.answers.asked()) {
    if (asked.rnr) continue;
    std::int32_t only = -1;
    std::size_t times = 0;
    stream.back_through(asked.psn, [&](std::size_t i) {
      if (stream.by_then[i] <= asked.note) return true;
      only = static_cast<std::int32_t>(i);
      return ++times > 1;
    });
    if (times != 1) continue;
    Sent& sent = stream.sent[static_cast<std::size_t>(only)];
    const Note& nak = scene_.note_at(asked.note);
    const Note& note = stream.note_of(sent);
    // Another may come yet.
    if (!timed(nak, note) || last.time_ns - note.time_ns < note.time_ns - nak.time_ns) continue;
    sent.not_first = against;
  }
}

/// Whether several more than that one were confirmed before anything else was sent: few may have been lost.
bool Requests::kept_behind(const Sent& sent) const {
  constexpr std::int64_t several = 4;
  for (auto i = static_cast<std::size_t>(sent.note) + 1; i < scene_.notes.size(); ++i) {
    if (scene_.notes[i].request) return false;
    if (scene_.answers.acked_before(static_cast<std::int32_t>(i) + 1) >= sent.end + several) return true;
  }
  return false;
}

/// A responder that keeps what comes early asks for one packet, and its requester sends just that. Two or
/// three in a row may all have been asked for.
void Requests::learn_keeping(const Stream& stream) {
  constexpr std::size_t some = 4;
  for (std::size_t i = 0; i < stream.sent.size(); ++i) {
    const Ruling& ruling = scene_.said.rulings[static_cast<std::size_t>(stream.sent[i].note)];
    if (!ruling.begins_pass || ruling.rule != Rule::sequence_nak || stream.sent[i].end >= stream.story[i].top)
      continue;
    std::size_t length = 1;
    while (length < some && i + length < stream.sent.size() && stream.story[i + length].move == Move::next)
      ++length;
    const bool last = i + length >= stream.sent.size();
    const Move next = last ? Move::next : stream.story[i + length].move;
    // Who had heard of the next one by then goes there, whatever else there is to send.
    const bool told_on =
        next == Move::back && scene_.ruling_at(stream.sent[i + length].note).trigger < stream.sent[i].note;
    if (length == 1 &&
        (next == Move::home || (next == Move::back && !told_on) || kept_behind(stream.sent[i])))
      scene_.facts.keeps = std::min(scene_.facts.keeps + 1, 4);
    if (last) break;
    if (length == some) scene_.facts.keeps = std::max(scene_.facts.keeps - 1, -4);
  }
}

}  // namespace

void explain_requests(Scene& scene) {
  Requests(scene).explain();
}

}  // namespace roce::analyze::episode
