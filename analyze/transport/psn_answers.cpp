// SPDX-License-Identifier: Apache-2.0
// The responder's packets: what they confirm (IBTA 9.7.5.1). What they ask for again: psn_naks.cpp.
#include <algorithm>
#include <array>

#include "analyze/transport/psn_fast_path.hpp"

namespace roce::analyze {

using dissect::Operation;

namespace {

/// No network holds a packet back that long.
constexpr std::int64_t held_back_at_most_ns = 100'000'000;

}  // namespace

/// Whether more time has passed than so many of the slower answers take here.
bool PsnSpace::long_since(std::int64_t then_ns, std::int64_t now_ns, unsigned times) const noexcept {
  if (then_ns == capture::no_time || now_ns == capture::no_time) return false;
  constexpr std::int64_t least_ns = 50'000;
  constexpr std::int64_t unknown_ns = 10'000'000;
  const std::int64_t answer = slow_answer_ns_ == 0 ? unknown_ns : std::max(slow_answer_ns_, least_ns);
  return now_ns - then_ns > answer * times;
}

/// Links answer and request with each other.
void PsnSpace::point_at_request(Step& s, std::int64_t psn) {
  const Seen* request = sent_.find(psn);
  std::uint64_t frame = request != nullptr ? request->frame : 0;
  std::int64_t since = request != nullptr ? request->time_ns : capture::no_time;
  if (request == nullptr) {
    const Pending* op = pending(psn);
    if (op == nullptr || op->kind != OperationKind::read) return;
    frame = op->frame;
    since = op->start_ns;
    // Behind the first response: since the READ was issued last.
    const bool again = op->retried && psn >= again_from_ && psn < again_to_;
    request = op->retried ? sent_.find(again ? again_from_ : op->first) : nullptr;
    if (request != nullptr) {
      frame = request->frame;
      since = request->time_ns;
    }
  }
  s.verdict.request = static_cast<std::uint32_t>(frame);
  // A copy that came late or again may not be the one that is answered.
  const bool sure = request == nullptr || (request->late == 0 && request->cause == 0);
  note_answer_time(s.r, since, sure, s.verdict);
  if (s.shared.verdicts != nullptr) link_request(s.shared, frame, s.number);
}

void PsnSpace::link_request(TrackerShared& shared, std::uint64_t request, std::uint64_t answer) {
  if (Verdict* verdict = shared.verdicts->at(request); verdict != nullptr && verdict->response == 0) {
    verdict->response = static_cast<std::uint32_t>(answer);
  }
}

/// Answers of one PSN come in runs: duplicate requests are acknowledged as often as they come.
void PsnSpace::keep_replaced(const Seen& seen) {
  if (replaced_answers_ == nullptr) replaced_answers_ = std::make_unique<std::array<Seen, 8>>();
  (*replaced_answers_)[replaced_next_] = seen;
  replaced_next_ = static_cast<std::uint8_t>((replaced_next_ + 1U) % replaced_answers_->size());
}

/// The answer of which this one is a copy although another with its PSN came since; nullptr if there is none.
const Seen* PsnSpace::find_replaced(std::int64_t psn, const PacketBrief& r) const noexcept {
  const auto find_in = [&](const auto& replaced) -> const Seen* {
    if (!answer_facts_.ids_tell(r)) return nullptr;
    const auto found = std::find_if(replaced.begin(), replaced.end(), [&](const Seen& seen) {
      return seen.psn == psn && seen.opcode == r.opcode && seen.ip_id == r.ip_id &&
             !long_since(seen.time_ns, r.time_ns, 64);
    });
    return found == replaced.end() ? nullptr : &*found;
  };
  if (dissect::opcode_info(r.opcode).operation != Operation::read_response)
    return replaced_answers_ == nullptr ? nullptr : find_in(*replaced_answers_);
  const Lazy<ReplacedResponses>& replaced = replaced_responses_;
  return !replaced.there() || psn >= replaced->to ? nullptr : find_in(replaced->last);
}

/// A READ response that no request waits for.
bool PsnSpace::unasked_response(const Step& s, std::int64_t psn) const noexcept {
  return s.info.operation == Operation::read_response && issued_for(psn, s.info) == issued_.size();
}

void PsnSpace::answer(Step& s) {
  const PacketRecord& r = s.r;
  const bool first_answer = !answers_seen_;
  answers_seen_ = true;
  if (!requests_seen_ && first_answer) {
    constexpr std::int64_t room = std::int64_t{1} << 32U;
    next_ = room + r.psn;
  }
  note_order(s);
  const std::int64_t psn = place(r.psn);
  // An acknowledgement of what was acknowledged long ago nobody sends; after that long it is none that was
  // overtaken, but one of another capture that was merged into this one.
  const bool too_late = s.info.operation == Operation::acknowledge && r.time_ns != capture::no_time &&
                        answer_facts_.last_ns != capture::no_time &&
                        r.time_ns - answer_facts_.last_ns >= held_back_at_most_ns;
  if (first_answer) {
    first_answer_ = psn;
    first_aeth_ = r.aeth;
    first_answer_point_ = r.point;
  }
  if (doubted_.there() && !doubted_->packets.empty()) judge_doubted(s, psn);
  if (const Seen* seen = find_replaced(psn, r)) {
    duplicate(s, answer_facts_, seen);
    return;
  }
  if (Seen* seen = answers_.find(psn)) {
    const Same same = same_transmission(answer_facts_, *seen, r);
    // Answers are repeated by rule: without an ID to tell, the same answer on the same way is another.
    const bool tells = answer_facts_.ids_tell(r) || seen->path != r.path;
    // But READ responses only on a request that comes again.
    constexpr std::int64_t copied_ns = 20'000;
    const bool soon = r.time_ns != capture::no_time && seen->time_ns != capture::no_time &&
                      r.time_ns - seen->time_ns < copied_ns;
    const bool copy = same == Same::unknown && (soon || copies_.sure()) && requests_seen_ &&
                      (psn >= repeated_to_ || copies_.sure()) && unasked_response(s, psn);
    // Where everything is shown twice so is each answer, once.
    const bool twin = same == Same::unknown && seen->ask == 0 && copies_.may_be_answers(lag_of(seen, r)) &&
                      s.info.operation != Operation::read_response;
    if (twin) seen->ask = 1;
    if ((same == Same::same && tells) || copy || twin || same_record(*seen, r)) {
      duplicate(s, answer_facts_, seen);
      // A sender reacts to a NAK as often as it comes, until that is confirmed.
      if (s.verdict.has(Verdict::duplicate_network) && last_nak_.psn == psn && psn >= acked_ &&
          last_nak_.frame == seen->frame) {
        naks_.push(last_nak_);
      }
      return;
    }
  } else if (psn < acked_ - 1 && answer_facts_.single > 0 && response_holes_.find(psn) == nullptr &&
             (r.path != answer_facts_.path ||
              (answer_facts_.is_behind(r) && (answer_facts_.doubled > 0 || copies_.sure() || too_late)) ||
              (copies_.sure() && !answer_facts_.ids_tell(r) && unasked_response(s, psn)))) {
    // Long confirmed, and seen at another place or with an ID from then: the capture's other view of it.
    duplicate(s, answer_facts_, nullptr);
    return;
  }
  last_packet_ns_ = r.time_ns;
  last_packet_ = s.number;
  if (s.info.operation != Operation::acknowledge) answer_facts_.data = 1;

  if (s.info.operation == Operation::read_response) {
    read_response(s, psn);
    return;
  }
  // What was sent before the others confirms no more than they did: else the host's counter went once around.
  const bool news = acked_known_ && psn >= acked_;
  const bool earlier = !news && sent_earlier(answer_facts_, r);
  if (!earlier) answer_facts_.learn(r);
  const Seen* taken = answers_.find(psn);
  const Seen* before = taken != nullptr && taken->opcode == r.opcode ? taken : nullptr;
  const Seen repeated = before != nullptr ? *before : Seen{};
  const bool keeps_guess = taken != nullptr && taken->guessed != 0 && before == nullptr;
  if (!keeps_guess) {
    if (before != nullptr) keep_replaced(repeated);
    answers_.put(seen_of(s, psn), answers_needed_from(psn, s.shared.budget), s.shared.budget);
  }
  point_at_request(s, psn);
  last_answer_ns_ = r.time_ns;
  if (s.info.operation == Operation::atomic_acknowledge)
    own_answer(s, psn, before != nullptr ? &repeated : nullptr);
  if (!r.has(PacketRecord::has_aeth)) {
    answers_cut_ = answers_cut_ || s.info.operation == Operation::acknowledge;
    return;  // cut by the capture: it may be anything
  }

  const auto syndrome = static_cast<std::uint8_t>(r.aeth >> 24U);
  const unsigned kind = syndrome >> 5U & 3U;
  const unsigned code = syndrome & 31U;
  if (earlier) mark_late(s);
  switch (kind) {
    case 0:
      acknowledge(s, psn);
      break;
    case 1:
      rnr_nak(s, psn, code);
      break;
    case 3:
      nak(s, psn, code);
      break;
    default:
      break;  // reserved
  }
}

void PsnSpace::acknowledge(Step& s, std::int64_t psn) {
  if (s.counts) ++acks_;
  if (s.r.has(PacketRecord::left_out)) ++acks_left_out_;
  const unsigned credits = s.r.aeth >> 24U & 31U;
  if (credits != 31 && s.counts) {
    s.connection.requester[side_].credits_used = true;
    if (credits == 0) happened(s, s.side, Event::zero_credits);
  }
  const std::uint32_t msn = s.r.aeth & serial_mask;
  if (msn_known_ && psn >= acked_ && !rose(msn, last_msn_)) {
    s.verdict.set(Verdict::msn_backwards);
    happened(s, s.side, Event::msn_backwards);
  }
  if (!msn_known_ || rose(msn, last_msn_)) last_msn_ = msn;
  msn_known_ = true;

  if (requests_seen_ && psn >= next_) {
    unseen(s, psn);
  } else if (requests_seen_ && psn >= acked_) {
    if (s.counts) ++answered_;
  }
  settle_loss(s, psn);
  // What it confirms again it confirmed before, and has nothing behind it.
  const bool pure = s.info.operation == Operation::acknowledge;
  if (pure && acked_known_ && psn + 1 == acked_) waited_for_ = acked_;
  skip_answered(s, pure ? psn + 1 : psn);
  if (s.info.operation == Operation::atomic_acknowledge) {
    if (Pending* op = pending(psn); op != nullptr && op->kind == OperationKind::atomic && !op->done) {
      missed_below(s, psn + 1);
      complete(s.r, s.counts, *op, true);
    }
  }
  progress(s, psn + 1);
}

/// An acknowledgement of what was not captured.
void PsnSpace::unseen(Step& s, std::int64_t psn) {
  constexpr std::int64_t believable = 1 << 16U;
  if (psn - next_ >= believable) {
    if (s.counts) ++unfitting_;
    return;
  }
  if (!pending_.empty() && pending_.back().open_end) {
    next_ = psn + 1;  // responses or acknowledgements inside a READ whose length is not known
    message_known_ = false;
    return;
  }
  s.verdict.set(Verdict::ack_unseen);
  happened(s, s.side, Event::ack_unseen);
  holes_.add({next_, psn + 1, s.r.time_ns, s.number, false, false, false, 0, false, true});
  if (!pending_.empty() && pending_.back().last < 0) {
    pending_.back().broken = true;
    pending_.back().last = pending_.back().end() - 1;
  }
  message_known_ = false;
  next_ = psn + 1;
}

/// Everything before `acked` was received.
void PsnSpace::progress(Step& s, std::int64_t acked) {
  if (acked_known_ && acked <= acked_) return;
  if (!requests_seen_) {
    next_ = std::max(next_, acked);
    acked_ = acked;
    acked_known_ = true;
    return;
  }
  if (acked > next_ || acked <= first_ - 65536) return;
  if (acked_known_ || acked > first_) {
    missed_below(s, acked);
  }
  // That all before the capture had been confirmed was taken for granted.
  acked_ = acked_known_ ? std::max(acked_, acked) : acked;
  acked_known_ = true;
  take_confirmed();
  if (chain_open_ && acked_ > chain_psn_) {
    chain_->answered = true;
    const bool timed = s.r.time_ns != capture::no_time && chain_->last_time_ns != capture::no_time;
    chain_->too_late =
        timed && chain_->max_spacing_ns != 0 && s.r.time_ns > chain_->last_time_ns &&
        static_cast<std::uint64_t>(s.r.time_ns - chain_->last_time_ns) / 2 > chain_->max_spacing_ns;
    if (s.counts) keep_if_worst(*s.connection.requester[side_].trouble);
    chain_open_ = false;
  }
  if (rnr_psn_ >= 0 && acked_ > rnr_psn_) {
    rnr_open_ = false;
    rnr_in_a_row_ = 0;
    rnr_psn_ = -1;
  }
  complete_acknowledged(s.r, s.counts);
}

/// What was confirmed the receiver took, and then what had come behind it in order.
void PsnSpace::take_confirmed() noexcept {
  if (taken_ >= acked_) return;
  constexpr std::int64_t in_flight_at_most = 1024;
  taken_ = acked_;
  const std::int64_t end = std::min(next_, acked_ + in_flight_at_most);
  std::uint64_t frame = 0;
  for (const Seen* seen = sent_.find(taken_); seen != nullptr && seen->frame > frame && taken_ < end;
       seen = sent_.find(taken_)) {
    frame = seen->frame;
    ++taken_;
  }
}

/// Requests that were confirmed but never captured.
void PsnSpace::missed_below(Step& s, std::int64_t psn) {
  if (holes_.empty()) return;
  std::vector<Hole>& holes = holes_.list();
  for (std::size_t i = 0; i < holes.size(); ++i) {
    Hole hole = holes[i];
    if (hole.of_repeat || hole.called_missed || hole.from >= psn) continue;
    if (hole.to > psn) {
      Hole rest = hole;
      rest.from = psn;
      hole.to = psn;
      if (holes.size() < Holes::limit) holes.push_back(rest);
    }
    hole.called_missed = true;
    hole.frame = s.number;
    holes[i] = hole;
    lose(s, side_, Lost::by_capture, static_cast<std::uint64_t>(hole.to - hole.from));
  }
  // A responder that takes in order had thrown away what came behind the packet that its NAK names: what it
  // confirms, and nobody sent again, it got from the repeat.
  const bool from_repeat = run_cause_ == Cause::nak && run_nak_ >= 0 && !keeps_all();
  for (const Hole& hole : holes) {
    if (!hole.of_repeat || hole.to > psn || !hole.counted || !from_repeat) continue;
    if (hole.from < run_nak_ || hole.frame < run_frame_) continue;
    // Or from one before, of a timer, that had been under way; not from that of an earlier NAK, in which this
    // one's packet was missing.
    const Seen* seen = sent_.find(hole.from);
    const bool of_nak_before = run_nak_before_ >= 0 && run_nak_before_ < run_nak_;
    const bool thrown_away =
        seen != nullptr &&
        (seen->cause == 0 || (seen->cause == static_cast<unsigned>(Cause::nak) && of_nak_before));
    if (!thrown_away) continue;
    const auto missing = static_cast<std::uint64_t>(hole.to - hole.from);
    unlose(s, side_, Lost::before_capture, missing, hole.frame);
    lose(s, side_, Lost::by_capture, missing);
  }
  std::erase_if(holes_.list(), [&](const Hole& hole) { return hole.of_repeat && hole.to <= psn; });
}

}  // namespace roce::analyze
