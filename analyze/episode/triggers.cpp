// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/triggers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analyze/episode/scratch.hpp"
#include "analyze/episode/thresholds.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze::episode {

using dissect::Operation;

namespace {

/// How much it takes for so many in a row to be missing.
float missing_bits(std::int64_t count) noexcept {
  constexpr float some = 10, at_most = 13;
  return std::min(some + static_cast<float>(std::log2(static_cast<double>(count))) / 2, at_most);
}

}  // namespace

Triggers::Triggers(Scene& scene, const Stream& stream)
    : scene_(scene), stream_(stream), known_(stream.sent.size()) {
  look_through();
  follow_responses();
  measure_answers();
  learn_reactions();
  learn_patience();
  learn_timer();
}

std::int64_t Triggers::since(std::int32_t note, std::int32_t at) const noexcept {
  if (note < 0) return 0;
  const Note& then = scene_.note_at(note);
  const Note& now = scene_.note_at(at);
  return timed(then, now) ? std::clamp<std::int64_t>(now.time_ns - then.time_ns, 0, longest_ns) : 0;
}

/// A stamp that is late makes the time since then too short by as much.
std::int64_t Triggers::heard_since(const Asked& asked, std::int32_t at) const noexcept {
  const ClockFact& clocks = scene_.facts.clocks;
  return since(asked.note, at) + (clocks.answers_late() ? clocks.latest_ns() : 0);
}

Triggers::Moment Triggers::moment_of(std::size_t i) const {
  const Sent& sent = stream_.sent[i];
  Moment now{sent};
  now.index = i;
  now.at = stream_.by_then[i];
  now.before = sent.previous >= 0 ? stream_.by_then[static_cast<std::size_t>(sent.previous)] : -1;
  now.acked = scene_.answers.acked_before(now.at);
  const auto at = static_cast<std::size_t>(now.at);
  now.silence_ns = since(request_before_[at], now.at);
  const std::int64_t time_ns = scene_.note_at(now.at).time_ns;
  if (time_ns != capture::no_time && armed_ns_[at] != capture::no_time)
    now.stall_ns = std::clamp<std::int64_t>(time_ns - armed_ns_[at], 0, longest_ns);
  const std::int64_t long_ns =
      scene_.facts.timer.witnesses > 1 ? scene_.facts.timer.typical_ns / 4 * 3 : 8 * usual_answer_ns_;
  now.silent = now.silence_ns >= std::max(long_ns, shortest_timer_ns);
  // What was confirmed before the episode had been sent, though that is forgotten.
  now.sent_before = sent.previous >= 0 || (sent.psn < scene_.facts.acked && sent.psn >= scene_.facts.first) ||
                    inside_read_[at];
  if (!now.sent_before) {  // or in a pass for a NAK, which lost its head
    const auto asked = scene_.answers.asked_before(now.at);
    now.sent_before = std::any_of(asked.begin(), asked.end(), [&](const Asked& each) {
      return !each.rnr && each.psn == sent.psn && reacted(now, each);
    });
  }
  const Operation operation = dissect::opcode_info(stream_.note_of(sent).opcode).operation;
  now.read = operation == Operation::read_request;
  now.own_answer = answered_on_its_own(operation);
  return now;
}

std::int64_t Triggers::done_before(std::int32_t note) const noexcept {
  const std::int64_t acked = scene_.answers.acked_before(note);
  const std::int64_t lacks = lacks_[static_cast<std::size_t>(note)];
  if (lacks < 0 || scene_.facts.capture.has_holes()) return acked;
  return scene_.answers.response_before(lacks, note) < 0 ? std::min(acked, lacks) : acked;
}

/// Whether the message that takes `psn` begins at `first`.
bool Triggers::begins_message_of(std::int64_t psn, std::int64_t first) const {
  const auto start = message_starts_.upper_bound(psn);
  return start != message_starts_.begin() && *std::prev(start) == first;
}

bool Triggers::in_one_message(std::int64_t psn, std::int64_t later) const {
  return message_starts_.upper_bound(psn) == message_starts_.upper_bound(later);
}

/// Who goes back to just where a NAK asked, and nothing else had confirmed so much, has heard it. A pass that
/// was under way when it came goes on for a while.
bool Triggers::heard(const Moment& now, const Asked& asked) const {
  if (!first_to_confirm(asked) || outlasted(now, asked)) return false;
  if (stream_.ids == Ids::order && now.sent.psn == asked.psn) return true;
  return now.acked == asked.psn && !reacted(now, asked);
}

/// Whether its timer ran out just then, many times as long as it takes to react: the NAK, or what it made the
/// requester send, did not arrive.
bool Triggers::outlasted(const Moment& now, const Asked& asked) const {
  constexpr float many = 5;  // octaves
  const TimeFact& timer = scene_.facts.timer;
  if (!now.silent || scene_.facts.nak_reaction.witnesses == 0) return false;
  const bool just_then = timer.witnesses == 0 || (now.stall_ns >= timer.typical_ns / 8 * 7 &&
                                                  now.stall_ns <= timer.typical_ns / 8 * 9);
  return just_then && octaves(since(asked.note, now.at), scene_.facts.nak_reaction.typical_ns) > many;
}

bool Triggers::first_to_confirm(const Asked& asked) const noexcept {
  return scene_.answers.acked_before(asked.note) < asked.psn;
}

/// How unusual it is for a reaction to take so long.
float Triggers::reaction_bits(std::int64_t took_ns, bool may_be_late) const noexcept {
  constexpr float at_most = 7;
  constexpr float usual = 1.5F;  // octaves
  constexpr std::int64_t unknown_ns = 50'000;
  if (scene_.facts.nak_reaction.witnesses == 0) {
    const std::int64_t long_ns =
        16 * std::max({scene_.facts.slow_answer_ns, scene_.facts.reaction_ns, unknown_ns});
    return took_ns > long_ns ? 3.0F : 0.0F;
  }
  const float longer = octaves(took_ns, scene_.facts.nak_reaction.typical_ns);
  if (longer > usual) return std::min(1.5F * (longer - usual), at_most);
  // What comes sooner than reactions do was only late.
  const bool soon = may_be_late && longer < -1 && scene_.facts.nak_reaction.witnesses > 1;
  return soon ? at_most : 0.0F;
}

/// Whether reactions take just about so long.
bool Triggers::is_due(std::int64_t took_ns) const noexcept {
  return scene_.facts.nak_reaction.witnesses > 1 && took_ns * 4 >= scene_.facts.nak_reaction.typical_ns * 3 &&
         took_ns * 2 <= scene_.facts.nak_reaction.typical_ns * 3;
}

/// Whether the sender has gone back since, no sooner than it reacts.
bool Triggers::reacted(const Moment& now, const Asked& asked) const {
  const std::int64_t soonest = scene_.facts.nak_reaction.typical_ns / 2;
  const auto at = [&](std::size_t i) { return stream_.by_then[i]; };
  const auto last = std::partition_point(steps_back_.begin(), steps_back_.end(),
                                         [&](std::size_t i) { return at(i) < now.at; });
  return last != steps_back_.begin() && at(*std::prev(last)) > asked.note &&
         since(asked.note, at(*std::prev(last))) >= soonest;
}

void Triggers::offer_nak(const Moment& now, const Asked& asked, Trigger& best) const {
  const Sent& sent = now.sent;
  const std::int64_t took = since(asked.note, now.at);
  const bool may_be_late = stream_.ids != Ids::order && !now.silent;
  const float unusual = reaction_bits(took, may_be_late);
  const bool due = is_due(took);
  const auto offer = [&](Rule rule, float bits) {
    if (bits < best.bits) best = {rule, bits, asked.note};
  };
  if (asked.psn == sent.psn) {
    const bool sure = heard(now, asked) && (took >= scene_.facts.nak_reaction.typical_ns / 2 || !may_be_late);
    const float used = reacted(now, asked) ? 5.0F : 0.0F;  // by a pass whose head is missing
    offer(Rule::sequence_nak, due ? 0.5F : sure ? 1.0F : 1 + used + unusual);
    return;
  }
  if (asked.psn > sent.psn) {
    constexpr float not_this_one = 6;  // its requester goes on within messages
    if (begins_message_of(asked.psn, sent.psn) && now.before < asked.note)
      offer(Rule::nak_of_message, 2 + unusual + (scene_.facts.within > 1 ? not_this_one : 0.0F));
    return;
  }
  // More was confirmed before the sender reacted: it goes on from there.
  const bool again = reacted(now, asked);  // the NAK came twice, behind the capture
  const std::int32_t told = scene_.answers.confirmed_at(sent.psn - 1);
  const bool outrun = told > asked.note && told < now.at && scene_.answers.acked_before(told + 1) == sent.psn;
  const bool long_since = now.acked > sent.psn;  // and still more
  // Of the READ that it asks for, which is being answered: with what had not come by then.
  const bool rest = now.read && in_one_message(asked.psn, sent.psn - 1) &&
                    scene_.answers.response_before(sent.psn - 1, now.at) > asked.note;
  if (rest && !again) offer(Rule::sequence_nak, 2 + unusual);
  if (outrun && !(long_since && now.own_answer))
    offer(Rule::sequence_nak, (long_since ? 5.0F : 2.0F) + (again ? 5.0F + unusual : 0.0F) + unusual);
  // What was sent since tells, unless the reaction is due just now, or nobody has reacted yet.
  const auto repeats = [&](std::int32_t note) { return repeats_before_[static_cast<std::size_t>(note)]; };
  if (now.before >= asked.note && !due && repeats(now.at) != repeats(asked.note)) return;
  if (again) return;
  // Or its head is missing.
  if (now.acked >= sent.psn) return;
  const std::int64_t from = std::max(asked.psn, now.acked);
  // That it is due is chance where what is late comes at any time, unless passes lose their heads as a rule.
  const bool tells = due && (!may_be_late || sent.psn == from + 1 || much_missing_);
  constexpr float just_then = 6;
  const float bits = 1 + missing_bits(sent.psn - from) +
                     (heard(now, asked) && (now.silent || !may_be_late) ? 0 : unusual) -
                     (tells ? just_then : 0.0F);
  if (bits < best.bits) best = {Rule::sequence_nak, bits, asked.note, from};
}

void Triggers::offer_rnr_nak(const Moment& now, const Asked& asked, Trigger& best) const {
  const Sent& sent = now.sent;
  const bool has_time = timed(scene_.note_at(asked.note), scene_.note_at(now.at));
  const bool waits = has_time && heard_since(asked, now.at) * 2 < asked.wait_ns;
  const auto offer = [&](float bits) {
    if (bits < best.bits) best = {Rule::rnr_nak, bits, asked.note};
  };
  // The retry timer stands still meanwhile (IBTA 9.7.5.2.8); some wait less than they are told.
  const bool about = has_time && heard_since(asked, now.at) * 8 >= asked.wait_ns;
  if (asked.psn == sent.psn) offer(!waits ? 1.0F : about ? 1.5F : 9.0F);
  if (waits) return;
  if (asked.psn > sent.psn && begins_message_of(asked.psn, sent.psn) && now.before < asked.note) offer(1.5F);
  if (asked.psn >= sent.psn || now.acked > asked.psn) return;
  const float bits = 1 + missing_bits(sent.psn - asked.psn);
  if (bits < best.bits) best = {Rule::rnr_nak, bits, asked.note, asked.psn};
}

/// Whether only a pass that was under way when the NAK came sent its PSN since: that was no reaction to it.
/// What stands alone beside that is shown twice, unless IDs tell copies.
bool Triggers::passed(const Moment& now, const Asked& asked) const {
  constexpr int looked_at = 16;
  int alone = 0;
  bool under_way = false;
  std::int32_t k = now.sent.previous;
  for (int i = 0; i < looked_at && k >= 0; ++i) {
    const auto index = static_cast<std::size_t>(k);
    if (stream_.by_then[index] <= asked.note) break;
    k = stream_.sent[index].previous;
    // Of what was sent again before the episode only the last is remembered: neighbours may be of two passes.
    const bool in_pass =
        index > 0 && stream_.sent[index - 1].end == now.sent.psn &&
        stream_.note_of(stream_.sent[index - 1]).cause == stream_.note_of(stream_.sent[index]).cause;
    // Who goes back to just where it asked has heard it, if nothing else had confirmed so much.
    const bool heard = stream_.ids == Ids::order && index > 0 && stream_.sent[index - 1].end > now.sent.psn &&
                       first_to_confirm(asked);
    const bool soon = !heard && scene_.facts.nak_reaction.witnesses > 1 &&
                      since(asked.note, stream_.by_then[index]) * 2 < scene_.facts.nak_reaction.typical_ns;
    if (in_pass || soon) {
      under_way = true;
      continue;
    }
    const bool goes_on = stream_.sent[index + 1].psn == stream_.sent[index].end;
    if (stream_.ids != Ids::nothing || goes_on || ++alone > 1) return false;
  }
  return under_way;
}

Trigger Triggers::named_by(std::size_t i, std::int64_t from, std::int32_t began, const Used& used) const {
  const Moment now = moment_of(i);
  const std::int64_t soonest = scene_.facts.nak_reaction.typical_ns / 2;
  const auto asked = scene_.answers.asked_before(now.at);
  for (std::size_t k = asked.size(); k-- > 0 && asked[k].note > now.before;) {
    const Asked& one = asked[k];
    if (used.contains(one.note)) continue;
    const bool heard =
        one.rnr ? heard_since(one, now.at) >= one.wait_ns / 2 : since(one.note, now.at) >= soonest;
    const bool lasts = one.rnr || one.note > began || reaction_bits(since(one.note, began), false) < 1;
    // Who had heard it when the pass began would have begun with it: that it was heard just then, between two
    // packets, is a coincidence the more the longer reactions take. But who lacks the answer to a READ or
    // atomic before it begins with that.
    const bool awaits = answered_on_its_own(dissect::opcode_info(scene_.note_at(began).opcode).operation);
    const bool between = one.note < began && from == now.sent.psn && !awaits;
    constexpr std::int64_t coincidence = 8;
    if (between && since(began, now.at) * coincidence < scene_.facts.nak_reaction.typical_ns) continue;
    if (from <= one.psn && one.psn <= now.sent.psn && heard && lasts)
      return {one.rnr ? Rule::rnr_nak : Rule::sequence_nak, 0, one.note};
  }
  return {Rule::none};
}

/// Whether a sequence NAK that was captured before that note names just that PSN.
bool Triggers::was_asked_for(std::int64_t psn, std::int32_t before) const {
  const auto asked = scene_.answers.asked_before(before);
  return std::any_of(asked.begin(), asked.end(),
                     [&](const Asked& each) { return !each.rnr && each.psn == psn; });
}

void Triggers::offer_naks(const Moment& now, const Used& used, Trigger& best) const {
  // A NAK that comes twice makes a sender go back twice; so does an RNR NAK and the sequence NAK of what came
  // behind it. Of what was sent again before the episode, what was sent before that is forgotten.
  std::size_t times_sent = 0;
  constexpr std::size_t looked_back = 8;
  for (std::int32_t k = now.sent.previous; k >= 0 && times_sent < looked_back; ++times_sent) {
    const auto index = static_cast<std::size_t>(k);
    const Sent& each = stream_.sent[index];
    const Note& note = stream_.note_of(each);
    k = each.previous;
    if (k >= 0) continue;
    const bool forgotten = note.before && note.cause != Cause::none;
    // What begins a pass, and was asked for before it came at all, had been sent: it was lost, or comes late.
    const bool goes_on = stream_.sent[index + 1].psn == each.end && stream_.sent[index + 1].before >= 0;
    if (forgotten || (goes_on && was_asked_for(each.psn, stream_.by_then[index]))) ++times_sent;
  }
  std::size_t twins = 0;
  constexpr std::int64_t behind = 1024, ahead = 4096;
  constexpr float used_up = 6;
  for (const Asked& asked : scene_.answers.asked_before(now.at)) {
    if (asked.psn > now.sent.psn + ahead || asked.psn < now.sent.psn - behind) continue;
    const bool sent_since = asked.psn == now.sent.psn && now.before > asked.note;
    const bool twin = sent_since && ++twins >= times_sent;
    Trigger one;
    offer_asked(now, asked, twin, one);
    if (used.contains(asked.note)) one.bits += used_up;
    if (one.bits < best.bits) best = one;
  }
}

void Triggers::offer_asked(const Moment& now, const Asked& asked, bool twin, Trigger& best) const {
  const bool sent_since = asked.psn == now.sent.psn && now.before > asked.note;
  if (asked.rnr) {
    // What was sent sooner than it may react is no reaction, nor what a pass that was under way came to.
    if (!sent_since || heard_since(asked, now.before) * 2 < asked.wait_ns || passed(now, asked))
      offer_rnr_nak(now, asked, best);
  } else if (!sent_since) {
    offer_nak(now, asked, best);
  } else if (const bool in_pass = passed(now, asked); twin || in_pass) {
    const bool sure = stream_.ids == Ids::order && first_to_confirm(asked);
    const float bits = !in_pass ? 4.0F
                       : sure   ? 1.0F
                                : 1.5F + reaction_bits(since(asked.note, now.at), stream_.ids != Ids::order);
    if (bits < best.bits) best = {Rule::sequence_nak, bits, asked.note};
  }
}

void Triggers::offer_timer(const Moment& now, Trigger& best) const {
  const Sent& sent = now.sent;
  const auto offer = [&](Rule rule, float bits) {
    if (bits < best.bits) best = {rule, bits, -1};
  };
  // An acknowledgement that the capture cut may have been a NAK.
  const Rule rule = now.read ? Rule::read_asked_again : answers_cut_ ? Rule::not_captured : Rule::timer;
  const TimeFact& timer = scene_.facts.timer;
  // A sender that may still send new packets goes back without having been silent.
  const bool ran_out =
      timer.witnesses > 1 && now.stall_ns >= timer.typical_ns / 4 * 3 && sent.psn == now.acked;
  // It goes back to the oldest that is not confirmed, or not answered.
  const std::int64_t done = done_before(now.at);
  const bool known = done >= scene_.facts.first;
  const bool head_missing = known && sent.psn > done;
  constexpr float impatient = 8;
  const bool too_soon = now.stall_ns > 0 && now.stall_ns < patience_ns() / 8 * 7;
  const float head = (head_missing ? missing_bits(sent.psn - done) : 0.0F) + (too_soon ? impatient : 0.0F);
  const auto offer_from = [&](float bits) {
    if (bits + head < best.bits) best = {rule, bits + head, -1, head_missing ? done : -1};
  };
  if (now.silent || ran_out) {
    offer_from(known && sent.psn >= done ? 2.0F : 3.0F);
  } else {
    // Slow hosts answer no sooner than timers expire.
    if (now.sent_before && now.silence_ns >= pause_ns())
      offer_from(3 + octaves(8 * usual_answer_ns_, now.silence_ns) * 1.5F);
    const bool nobody_knows = !now.read && !scene_.facts.answers_captured;
    // The timer starts no sooner than a packet is sent.
    const bool no_timer = now.before >= 0 && !scene_.facts.capture.has_holes() &&
                          timed(scene_.note_at(now.before), scene_.note_at(now.at)) &&
                          since(now.before, now.at) < shortest_timer_ns;
    // Of what the capture began with nobody knows what was confirmed before.
    const bool first = now.acked < scene_.facts.first && sent.psn == scene_.facts.first;
    const bool oldest = (sent.psn == now.acked || first) && now.sent_before && !no_timer;
    // Where IDs tell that the sender went back, it had a reason, and may not know yet what the capture knows.
    const bool went_back =
        stream_.ids == Ids::order && now.index > 0 && !no_timer && stream_.sent[now.index - 1].end > sent.psn;
    if (went_back && !nobody_knows) offer_from(5);
    const bool perhaps_asked = nobody_knows && now.sent_before && now.silence_ns >= shortest_rnr_ns;
    offer(nobody_knows ? Rule::not_captured : rule, oldest || perhaps_asked ? 9.0F : 15.0F);
  }
}

Trigger Triggers::of(std::size_t i, const Used& used) const {
  const Moment now = moment_of(i);
  Trigger best;
  offer_naks(now, used, best);
  const auto offer = [&](Rule rule, float bits) {
    if (bits < best.bits) best = {rule, bits, -1};
  };
  const bool missing =
      now.read && now.sent_before &&
      scene_.answers.response_missing(now.sent.psn, std::min(now.sent.end, now.acked), now.at);
  // Whatever else it was told, a requester goes back to the first response that it lacks.
  const bool lacks = now.read && lacks_[static_cast<std::size_t>(now.at)] == now.sent.psn &&
                     (now.acked > now.sent.psn || now.silent);
  // Unless a NAK asks for that READ: then it lacks the response because the responder lacks the request.
  const bool named = best.rule == Rule::sequence_nak && best.bits <= 1 && now.acked <= now.sent.psn &&
                     scene_.note_at(best.note).psn == now.sent.psn;
  if (missing || lacks) offer(Rule::read_asked_again, lacks && !named ? 0.9F : 2);
  // Its answer was lost behind the capture, or comes late; what is confirmed no further begins further back.
  const bool others_answered = now.acked > now.sent.psn;
  if (now.own_answer && now.sent_before && now.acked >= now.sent.psn)
    offer(now.read ? Rule::read_asked_again : Rule::timer, others_answered ? 3.0F : 9.0F);
  offer_timer(now, best);
  best.told_by = best.note;
  best.silent = now.silent && now.at > 0 && since(now.at - 1, now.at) >= shortest_timer_ns;
  if (best.note < 0 && now.silent) best.told_by = now.at;
  return best;
}

}  // namespace roce::analyze::episode
