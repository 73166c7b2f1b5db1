// SPDX-License-Identifier: Apache-2.0
// The responder's packets: what they confirm, ask for again, refuse (IBTA 9.7.5.1, 9.9.2, 9.9.3).
#include <algorithm>
#include <array>

#include "analyze/psn_short.hpp"
#include "dissect/aeth.hpp"

namespace roce::analyze {

using dissect::Operation;
using dissect::Position;

namespace {

/// Codes of NAKs in the AETH (IBTA table 58).
enum NakCode : unsigned { sequence_error = 0, last_nak_code = 4 };

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
  if (replaced_answers_ == nullptr || !answer_facts_.ids_tell(r)) return nullptr;
  const auto found =
      std::find_if(replaced_answers_->begin(), replaced_answers_->end(), [&](const Seen& seen) {
        return seen.psn == psn && seen.opcode == r.opcode && seen.ip_id == r.ip_id &&
               !long_since(seen.time_ns, r.time_ns, 64);
      });
  return found == replaced_answers_->end() ? nullptr : &*found;
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
  if (const Seen* seen = find_replaced(psn, r)) {
    duplicate(s, answer_facts_, seen);
    return;
  }
  if (const Seen* seen = answers_.find(psn)) {
    const Same same = same_transmission(answer_facts_, *seen, r);
    // Answers are repeated by rule: without an ID to tell, the same answer on the same way is another.
    const bool tells = answer_facts_.ids_tell(r) || seen->path != r.path;
    // But READ responses only on a request that comes again.
    constexpr std::int64_t copied_ns = 20'000;
    const bool soon = r.time_ns != capture::no_time && seen->time_ns != capture::no_time &&
                      r.time_ns - seen->time_ns < copied_ns;
    const bool copy = same == Same::unknown && soon && requests_seen_ && psn >= repeated_to_ &&
                      s.info.operation == Operation::read_response &&
                      issued_for(psn, s.info) == issued_.size();
    if ((same == Same::same && tells) || copy || same_record(*seen, r)) {
      duplicate(s, answer_facts_, seen);
      // A sender reacts to a NAK as often as it comes.
      if (s.verdict.has(Verdict::duplicate_network) && last_nak_.psn == psn &&
          last_nak_.frame == seen->frame) {
        naks_.push(last_nak_);
      }
      return;
    }
  } else if (psn < acked_ - 1 && answer_facts_.single > 0 &&
             (r.path != answer_facts_.path ||
              (answer_facts_.is_behind(r) && (answer_facts_.doubled > 0 || too_late))) &&
             response_holes_.find(psn) == nullptr) {
    // Long confirmed, and seen at another place or with an ID from then: the capture's other view of it.
    duplicate(s, answer_facts_, nullptr);
    return;
  }
  last_packet_ns_ = r.time_ns;
  last_packet_ = s.number;

  if (s.info.operation == Operation::read_response) {
    read_response(s, psn);
    return;
  }
  const bool earlier = sent_earlier(answer_facts_, r);
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
  if (!r.has(PacketRecord::has_aeth)) return;  // cut by the capture: it may be anything

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
  const std::uint32_t msn = s.r.aeth & msn_mask;
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
    return;
  }
  s.verdict.set(Verdict::ack_unseen);
  happened(s, s.side, Event::ack_unseen);
  holes_.add({next_, psn + 1, s.r.time_ns, s.number, false, false, false, 0, false});
  if (!pending_.empty() && pending_.back().last < 0) {
    pending_.back().broken = true;
    pending_.back().last = psn;
  }
  message_known_ = false;
  next_ = psn + 1;
}

/// A packet that a NAK named was captured, so it was lost behind the capture point, unless it only came
/// late: then the responder confirms it before it was sent again, or confirms the repeat as a duplicate
/// at once, although nobody asked for an acknowledgement (IBTA 9.7.5.1.4).
void PsnSpace::settle_loss(Step& s, std::int64_t psn) {
  if (!loss_pending_ || psn < loss_psn_) return;
  const Seen* latest = sent_.find(loss_psn_);
  const bool not_repeated = latest != nullptr && latest->frame == loss_of_;
  const bool ack = s.info.operation == Operation::acknowledge && (s.r.aeth >> 29U & 3U) == 0;
  const bool unasked = psn == loss_psn_ && latest != nullptr && latest->ask == 0 && ack;
  // What came behind it before it was repeated, a receiver that takes in order only had thrown away.
  const Seen* confirmed = psn > loss_psn_ ? sent_.find(psn) : nullptr;
  const bool taken_before =
      goes_back_ && confirmed != nullptr && latest != nullptr && confirmed->frame < latest->frame;
  const bool late = not_repeated || unasked || taken_before;
  // A NAK for what follows says only that it came, with the repeat or before; a duplicate may yet be
  // confirmed.
  if (!late && !ack) return;
  loss_pending_ = false;
  if (!late) {
    ++named_->lost;
    return;
  }
  take_back_loss(s, loss_frame_);
  // What was asked for just before came late as well, or its repeat would have been followed by this one's.
  if (loss_earlier_ != 0) take_back_loss(s, loss_earlier_);
}

/// A NAK proves a loss where packets keep their order. Where most that were named came late after all, it
/// proves nothing.
void PsnSpace::claim_loss(Step& s, std::int64_t psn, const Seen& named) {
  loss_earlier_ = loss_pending_ && psn == loss_psn_ + 1 ? loss_frame_ : 0;
  if (loss_pending_ && loss_earlier_ == 0) ++named_->lost;
  loss_pending_ = true;
  loss_psn_ = psn;
  loss_frame_ = s.number;
  loss_of_ = named.frame;
  if (named_->unreliable()) return;
  lose(s, side_, Lost::after_capture, 1);
  constexpr std::size_t kept = 32;
  if (named_->claimed.size() == kept) named_->claimed.erase(named_->claimed.begin());
  named_->claimed.push_back({s.number, s.counts});
}

void PsnSpace::take_back_loss(Step& s, std::uint64_t frame) {
  ++named_->late;
  std::vector<NamedByNaks::Claim>& claimed = named_->claimed;
  const auto claim = std::find_if(claimed.begin(), claimed.end(),
                                  [&](const NamedByNaks::Claim& one) { return one.frame == frame; });
  if (claim != claimed.end()) {
    unlose(s, side_, Lost::after_capture, 1, frame, claim->counted);
    claimed.erase(claim);
  }
  if (!named_->unreliable()) return;
  for (const NamedByNaks::Claim& other : claimed) {
    unlose(s, side_, Lost::after_capture, 1, other.frame, other.counted);
  }
  claimed.clear();
}

std::vector<NamedByNaks::Claim> PsnSpace::settled_elsewhere(std::uint64_t nak, bool late) {
  std::vector<NamedByNaks::Claim> others;
  if (again_frame_ == nak) again_claimed_ = false;
  if (!named_.there()) return others;
  const bool open = loss_pending_ && loss_frame_ == nak;
  if (open) loss_pending_ = false;
  if (loss_earlier_ == nak) loss_earlier_ = 0;
  std::vector<NamedByNaks::Claim>& claimed = named_->claimed;
  const std::size_t before = claimed.size();
  std::erase_if(claimed, [&](const NamedByNaks::Claim& one) { return one.frame == nak; });
  if (!open && claimed.size() == before) return others;  // forgotten
  if (!open && late && named_->lost > 0) --named_->lost;
  if (open || late) ++(late ? named_->late : named_->lost);
  if (late && named_->unreliable()) others.swap(claimed);
  return others;
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
  acked_ = std::max(acked_, acked);
  acked_known_ = true;
  take_confirmed();
  if (chain_open_ && acked_ > chain_psn_) {
    chain_->answered = true;
    Requester& requester = s.connection.requester[side_];
    if (s.counts && chain_->resends >= requester.trouble->worst_chain.resends)
      requester.trouble->worst_chain = *chain_;
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
  std::erase_if(holes_.list(), [&](const Hole& hole) { return hole.of_repeat && hole.to <= psn; });
}

void PsnSpace::nak(Step& s, std::int64_t psn, unsigned code) {
  Requester& requester = s.connection.requester[side_];
  if (code > last_nak_code) return;
  if (s.counts) ++requester.trouble->naks[code];
  constexpr std::array<Event, 5> events{Event::nak_sequence_error, Event::nak_invalid_request,
                                        Event::nak_remote_access_error, Event::nak_remote_operational_error,
                                        Event::nak_invalid_rd_request};
  happened(s, s.side, events[code]);
  if (requests_seen_ && psn > next_) {
    unseen(s, psn - 1);
  } else if (requests_seen_ && psn >= acked_ && s.counts) {
    ++answered_;
    s.connection.pairing.evidence =
        static_cast<std::uint8_t>(s.connection.pairing.evidence | 1U << static_cast<unsigned>(Evidence::nak));
  }
  if (loss_pending_ && psn > loss_psn_) settle_loss(s, psn - 1);
  skip_answered(s, psn);
  if (code == sequence_error) judge_keeping();
  forget_refused(psn);
  progress(s, psn);
  if (code != sequence_error) {
    refuse(s, psn, code);
    return;
  }
  const bool for_rnr = rnr_psn_ == psn;
  const bool named_before = last_nak_.psn == psn;
  const std::uint64_t last_nak_frame = last_nak_.frame;
  // One NAK after another with nothing sent again between them: packets come late, not never.
  const bool no_reaction_yet = !naks_.empty() && psn > naks_.newest().psn;
  last_nak_ = {psn, s.r.time_ns, s.number, for_rnr};
  naks_.push(last_nak_);
  if (for_rnr || !requests_seen_) return;
  nak_behind_ = next_;

  // When did the capture see the packet that made the responder ask?
  const Hole* hole = holes_.find(psn);
  const Seen* named = sent_.find(psn);
  std::int64_t since = capture::no_time;
  if (hole != nullptr) {
    since = hole->time_ns;
  } else if (const Seen* next = sent_.find(psn + 1)) {
    since = next->time_ns;
  }
  if (s.counts && since != capture::no_time && s.r.time_ns != capture::no_time && s.r.time_ns >= since) {
    requester.trouble->nak_generation_ns.add(static_cast<std::uint64_t>(s.r.time_ns - since));
  }
  // A receiver here would have taken it, so it was lost behind the capture: unless it came before its turn.
  // One that keeps what comes early asks for each that it lacks.
  const bool taken = keeps_all() || taken_ > psn;
  taken_ = std::min(taken_, std::max(psn, acked_));
  if (taken && hole == nullptr && named != nullptr && psn < next_ && named->late == 0 &&
      (!no_reaction_yet || keeps_all()) && (!named_before || named->frame > last_nak_frame)) {
    claim_loss(s, psn, *named);
  }
}

void PsnSpace::rnr_nak(Step& s, std::int64_t psn, unsigned code) {
  Requester& requester = s.connection.requester[side_];
  happened(s, s.side, Event::rnr_nak);
  if (requests_seen_ && psn > next_) unseen(s, psn - 1);
  if (requests_seen_ && psn >= acked_ && psn < next_ && s.counts) ++answered_;
  skip_answered(s, psn);
  forget_refused(psn);
  progress(s, psn);
  rnr_in_a_row_ = static_cast<std::uint16_t>(rnr_psn_ == psn ? std::min(rnr_in_a_row_ + 1, 0xffff) : 1);
  rnr_psn_ = psn;
  rnr_open_ = true;
  rnr_time_ns_ = s.r.time_ns;
  rnr_wait_ns_ = dissect::rnr_timer_ns(static_cast<std::uint8_t>(code));
  rnr_frame_ = s.number;
  if (!s.counts) return;
  ++requester.trouble->naks[5];
  if (!requester.trouble->rnr) requester.trouble->rnr = std::make_unique<RnrStats>();
  RnrStats& stats = *requester.trouble->rnr;
  ++stats.naks;
  stats.longest_chain = std::max<std::uint64_t>(stats.longest_chain, rnr_in_a_row_);
  stats.timer_code = static_cast<std::uint8_t>(code);
  stats.coded_wait_ns = rnr_wait_ns_;
}

/// A NAK that ends the connection, tied to the request it answers.
void PsnSpace::refuse(Step& s, std::int64_t psn, unsigned code) {
  static_cast<void>(code);
  if (!s.counts) return;
  Requester& requester = s.connection.requester[side_];
  requester.refused_fatally = true;
  constexpr std::size_t kept = 4;
  if (requester.trouble->refused.size() >= kept) return;
  RefusedRequest refused;
  refused.syndrome = static_cast<std::uint8_t>(s.r.aeth >> 24U);
  refused.psn = s.r.psn;
  refused.nak_frame = s.number;
  if (const Pending* op = pending(psn)) {
    refused.opcode = op->opcode;
    refused.has_reth = op->has_reth;
    refused.virtual_address = op->virtual_address;
    refused.r_key = op->r_key;
    refused.length = op->length;
    refused.request_frame = op->frame;
  } else if (const Seen* seen = sent_.find(psn)) {
    refused.opcode = seen->opcode;
    refused.request_frame = seen->frame;
  }
  requester.trouble->refused.push_back(refused);
}

}  // namespace roce::analyze
