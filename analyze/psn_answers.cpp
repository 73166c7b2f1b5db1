// SPDX-License-Identifier: Apache-2.0
// The responder's packets: what they confirm, ask for again, refuse (IBTA 9.7.5.1, 9.7.5.2, 9.9.2, 9.9.3).
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

void PsnSpace::answer(Step& s) {
  const PacketRecord& r = s.r;
  const bool first_answer = !answers_seen_;
  answers_seen_ = true;
  if (!requests_seen_ && first_answer) {
    constexpr std::int64_t room = std::int64_t{1} << 32U;
    next_ = room + r.psn;
  }
  const std::int64_t psn = place(r.psn);
  // An acknowledgement of what was acknowledged long ago nobody sends; after that long it is none that was
  // overtaken, but one of another capture that was merged into this one.
  const bool too_late = s.info.operation == Operation::acknowledge && r.time_ns != capture::no_time &&
                        answer_facts_.last_ns != capture::no_time &&
                        r.time_ns - answer_facts_.last_ns >= held_back_at_most_ns;
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
    if ((same == Same::same && tells) || copy) {
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
  const unsigned credits = s.r.aeth >> 24U & 31U;
  if (credits != 31 && s.counts) {
    s.connection.requester[side_].credits_used = true;
    if (credits == 0) happened(s, s.side, Event::zero_credits);
  }
  const std::uint32_t msn = s.r.aeth & msn_mask;
  if (msn_known_ && psn >= acked_ && !rose(msn, last_msn_)) happened(s, s.side, Event::msn_backwards);
  if (!msn_known_ || rose(msn, last_msn_)) last_msn_ = msn;
  msn_known_ = true;

  if (requests_seen_ && psn >= next_) {
    unseen(s, psn);
  } else if (requests_seen_ && psn >= acked_) {
    if (s.counts) ++answered_;
  }
  settle_loss(s, psn);
  skip_answered(s, s.info.operation == Operation::acknowledge ? psn + 1 : psn);
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
  if (not_repeated || unasked) unlose(s, side_, Lost::after_capture, 1, loss_frame_);
  loss_pending_ = false;
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
  const bool taken = taken_ > psn;
  taken_ = std::min(taken_, std::max(psn, acked_));
  if (taken && hole == nullptr && named != nullptr && psn < next_ && named->late == 0 && !no_reaction_yet &&
      (!named_before || named->frame > last_nak_frame)) {
    lose(s, side_, Lost::after_capture, 1);
    loss_pending_ = true;
    loss_psn_ = psn;
    loss_frame_ = s.number;
    loss_of_ = named->frame;
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

/// Path MTU and length of a READ, where only responses tell them.
void PsnSpace::learn_from_response(Step& s, std::int64_t psn) {
  const std::uint32_t bytes = s.r.payload;
  const bool full = s.info.position == Position::first || s.info.position == Position::middle;
  const bool sane = bytes >= 256 && bytes <= 4096 && (bytes & (bytes - 1)) == 0;
  if (full && sane && !s.connection.pmtu_by_cm && bytes > s.connection.pmtu) s.connection.pmtu = bytes;
  Pending* op = pending(psn);
  if (op == nullptr || !op->open_end) return;
  const std::uint32_t pmtu = s.connection.pmtu;
  if (op->has_reth && pmtu != 0) {
    op->last = op->first + std::max<std::int64_t>(1, (std::int64_t{op->length} + pmtu - 1) / pmtu) - 1;
    op->open_end = false;
    next_ = std::max(next_, op->last + 1);
  } else {
    next_ = std::max(next_, psn + 1);
    if (s.info.ends_message()) {
      op->last = psn;
      op->open_end = false;
    }
  }
  if (!op->open_end && issued_head_ < issued_.size() && issued_.back().open_end) {
    issued_.back().end = op->last + 1;
    issued_.back().open_end = false;
  }
}

/// No request packet has a PSN inside a READ: the gap behind one whose number of PSNs was unknown was none.
void PsnSpace::fill_inside_read(Step& s, std::int64_t psn) {
  std::int64_t from = psn;
  std::int64_t end = s.info.starts_message() ? psn : psn + 1;
  if (const Pending* read = pending(psn); read != nullptr && read->kind == OperationKind::read) {
    const std::int64_t pmtu = s.connection.pmtu;
    from = read->first + 1;
    if (read->has_reth && pmtu != 0) {
      end = std::max(end, read->first + std::max<std::int64_t>(1, (read->length + pmtu - 1) / pmtu));
    }
  }
  if (from < end) holes_.fill(from, end - from);
}

/// The request that this response PSN answers: the one for which the fewest responses would be missing,
/// and the first of those. issued_.size() if there is none.
std::size_t PsnSpace::issued_for(std::int64_t psn, const dissect::OpcodeInfo& info) const noexcept {
  std::size_t best = issued_.size();
  std::int64_t fewest = std::int64_t{1} << 23U;
  std::int64_t skipped = 0;  // responses to the requests before
  for (std::size_t i = issued_head_; i < issued_.size() && skipped < fewest; ++i) {
    const Issued& issued = issued_[i];
    // Only the first response to a READ says that it is; Soft-RoCE's, given again, does not even then.
    const bool fits =
        info.operation != Operation::read_response || !info.starts_message() || psn == issued.first;
    const bool has_it = fits && issued.next <= psn && (psn < issued.end || issued.open_end);
    if (has_it && skipped + psn - issued.next < fewest) {
      fewest = skipped + psn - issued.next;
      best = i;
    }
    if (!issued.open_end) skipped += issued.end - issued.next;
  }
  return best;
}

/// A responder answers in order: what it had to answer before `psn` with responses of its own it has
/// answered, and what did not come is missing.
void PsnSpace::skip_answered(Step& s, std::int64_t psn) {
  std::int64_t missing = 0;
  while (issued_head_ < issued_.size()) {
    const Issued& issued = issued_[issued_head_];
    if (issued.cause != Cause::none || issued.open_end || issued.end > psn) break;
    missing += issued.end - issued.next;
    response_holes_.add(
        {issued.next, issued.end, s.r.time_ns, s.number, issued.next < response_next_, false});
    response_next_ = std::max(response_next_, issued.end);
    ++issued_head_;
  }
  if (missing > 0) note_missing_answers(s, missing);
}

/// Requests from `psn` on were thrown away by the responder: they are not answered before they come
/// again.
void PsnSpace::forget_refused(std::int64_t psn) {
  const auto front = issued_.begin() + static_cast<std::ptrdiff_t>(issued_head_);
  if (!goes_back_) {
    // Unless it keeps what comes early.
    for (auto issued = front; issued != issued_.end(); ++issued) {
      if (issued->next >= psn) give_up(*issued);
    }
  }
  issued_.erase(
      std::remove_if(front, issued_.end(), [&](const Issued& issued) { return issued.next >= psn; }),
      issued_.end());
}

/// The responses between what was expected and `psn` of request `index` are missing. Returns how many.
std::int64_t PsnSpace::skip_to(Step& s, std::size_t index, std::int64_t psn) {
  std::int64_t missing = 0;
  for (std::size_t i = issued_head_; i <= index; ++i) {
    const Issued& skipped = issued_[i];
    const std::int64_t end = i == index ? psn : skipped.open_end ? skipped.next : skipped.end;
    if (skipped.next >= end) continue;
    missing += end - skipped.next;
    const bool seen_before = skipped.repeated || skipped.next < response_next_;
    response_holes_.add({skipped.next, end, s.r.time_ns, s.number, seen_before, false});
  }
  issued_head_ = index;
  return missing;
}

void PsnSpace::mark_repeated_answer(Step& s, Cause cause, const Seen* seen) {
  s.verdict.set(Verdict::retransmission);
  s.verdict.cause = cause;
  if (seen != nullptr) s.verdict.original = static_cast<std::uint32_t>(seen->frame);
  if (!s.counts) return;
  constexpr std::array<Event, cause_count> events{
      Event::retransmitted_unknown, Event::retransmitted_nak,        Event::retransmitted_timeout,
      Event::retransmitted_rnr,     Event::retransmitted_read_retry, Event::retransmitted_unknown};
  happened(s, s.side, events[static_cast<std::size_t>(cause)]);
  if (Flow* flow = s.flow(s.side)) {
    SequenceCounts& sequence = flow->sequence_to_change();
    ++sequence.retransmitted[static_cast<std::size_t>(cause)];
    sequence.retransmitted_bytes += s.r.wire;
  }
  if (Series::Bucket* bucket = s.bucket()) ++bucket->retransmitted;
}

/// An atomic's answer: it has a PSN of its own, as READ responses have.
void PsnSpace::own_answer(Step& s, std::int64_t psn, const Seen* before) {
  if (response_next_ < 0) response_next_ = psn;
  const std::size_t index = issued_for(psn, s.info);
  Seen* now = answers_.find(psn);
  if (index >= issued_.size()) {
    response_holes_.fill(psn, 1);  // late
    if (before != nullptr && before->guessed != 0) {
      Seen first = *before;
      take_back_guess(s, first);
      take_back_guesses(s, psn);
      mark_repeated_answer(s, Cause::timeout, before);
    }
    return;
  }
  const Issued issued = issued_[index];
  const std::int64_t missing = skip_to(s, index, psn);
  if (missing > 0) note_missing_answers(s, missing);
  issued_head_ = index + 1;
  const Hole* hole = response_holes_.find(psn);
  if (issued.repeated) {
    if (now != nullptr && issued.instead && before == nullptr) now->guessed = 1;
    guesses_open_ = guesses_open_ || issued.instead;
    mark_repeated_answer(s, issued.cause, before);
    if (hole != nullptr) lose(s, s.side, Lost::before_capture, response_holes_.missing(psn));
  }
  response_holes_.fill(psn, 1);
  response_next_ = std::max(response_next_, psn + 1);
}

void PsnSpace::note_missing_answers(Step& s, std::int64_t missing) {
  s.verdict.gap = static_cast<std::uint32_t>(std::min<std::int64_t>(missing, 0xffffff));
  happened(s, s.side, Event::gap, static_cast<std::uint64_t>(missing));
  if (s.counts && s.flow(s.side) != nullptr) {
    s.flow(s.side)->sequence_to_change().gaps += static_cast<std::uint64_t>(missing);
  }
}

/// The answer came a second time: the first one did answer the first request, slowly. So did all that
/// came between the two.
void PsnSpace::take_back_guesses(Step& s, std::int64_t psn) {
  for (std::int64_t at = psn; guesses_open_ && at < response_next_; ++at) {
    if (Seen* seen = answers_.find(at); seen != nullptr && seen->guessed != 0) take_back_guess(s, *seen);
  }
  if (guesses_open_) expect_both(psn + 1);
  guesses_open_ = false;  // once for each time that answers were given up: this loop is long
}

/// The answer to this request may still come.
void PsnSpace::give_up(const Issued& issued) {
  constexpr std::size_t limit = 512;
  if (issued.repeated || issued.open_end || given_up_.size() >= limit) return;
  given_up_.push_back(issued);
}

/// Nothing was answered for long: what comes now is taken for answers to the requests that are sent again.
void PsnSpace::give_up_answers() {
  std::erase_if(given_up_, [&](const Issued& issued) { return issued.end <= response_next_; });
  for (std::size_t i = issued_head_; i < issued_.size(); ++i) give_up(issued_[i]);
  issued_head_ = issued_.size();
}

/// They were answers to the first requests: a responder that keeps what comes early was waiting for one
/// before. The repeats from `from` on may be answered as well, and the first requests behind the last answer
/// still are.
void PsnSpace::expect_both(std::int64_t from) {
  std::vector<Issued> queue;
  for (Issued& issued : given_up_) {
    if (issued.end <= response_next_) continue;
    issued.next = std::max(issued.next, response_next_);
    queue.push_back(issued);
  }
  given_up_.clear();
  for (std::size_t i = 0; i < issued_.size(); ++i) {
    Issued issued = issued_[i];
    if (issued.instead && issued.end > from) {
      issued.next = std::max(issued.first, from);
    } else if (i < issued_head_) {
      continue;
    }
    queue.push_back(issued);
  }
  std::stable_sort(queue.begin(), queue.end(),
                   [](const Issued& a, const Issued& b) { return a.next < b.next; });
  issued_ = std::move(queue);
  issued_head_ = 0;
}

void PsnSpace::take_back_guess(Step& s, Seen& seen) {
  seen.guessed = 0;
  seen.cause = 0;
  if (s.shared.verdicts != nullptr) {
    if (Verdict* verdict = s.shared.verdicts->at(seen.frame)) {
      verdict->clear(Verdict::retransmission);
      verdict->cause = Cause::none;
    }
  }
  if (!s.counts) return;
  const bool read = dissect::opcode_info(seen.opcode).operation == Operation::read_response;
  s.connection.sent[s.side].take_back(read ? Event::retransmitted_read_retry : Event::retransmitted_timeout,
                                      seen.frame);
  if (Flow* flow = s.flow(s.side)) {
    SequenceCounts& sequence = flow->sequence_to_change();
    std::uint64_t& sum =
        sequence.retransmitted[static_cast<std::size_t>(read ? Cause::read_retry : Cause::timeout)];
    if (sum > 0) --sum;
    sequence.retransmitted_bytes -= std::min<std::uint64_t>(sequence.retransmitted_bytes, s.r.wire);
  }
}

void PsnSpace::read_response(Step& s, std::int64_t psn) {
  const PacketRecord& r = s.r;
  const unsigned responder = s.side;
  Seen* seen = answers_.find(psn);
  if (seen != nullptr && dissect::opcode_info(seen->opcode).operation != Operation::read_response) {
    seen = nullptr;
  }
  const bool earlier = sent_earlier(answer_facts_, r);
  if (!earlier) answer_facts_.learn(r);
  learn_from_response(s, psn);
  if (!holes_.empty()) fill_inside_read(s, psn);
  point_at_request(s, psn);
  last_answer_ns_ = r.time_ns;
  if (response_next_ < 0) response_next_ = psn;

  const auto goodput = [&] {
    if (!s.counts) return;
    new_bytes_ += r.payload;
    if (Series::Bucket* bucket = s.bucket()) bucket->goodput_bytes += r.payload;
  };
  Hole* hole = response_holes_.find(psn);
  const bool first_copy = hole != nullptr && !hole->of_repeat;
  // A responder answers in order: what confirms it, or is behind it, was sent after its first copy.
  const bool in_order = !earlier && answer_facts_.ids_rise(r);  // so it is not the first copy, late
  const bool given_before =
      (!first_copy || in_order) && acked_known_ && psn < acked_ && (psn >= first_ || seen != nullptr);
  bool filled = false;
  bool guessed = false;
  bool late = false;
  if (earlier) ++answer_facts_.late;
  if (earlier && seen != nullptr && seen->filled != 0) {
    unlose_filled(s, *seen, responder);
    if (seen->of_repeat != 0) {
      mark_repeated_answer(s, Cause::read_retry, seen);
    } else {
      mark_late(s);
    }
    return;
  }
  if (earlier && first_copy) {
    goodput();
    mark_late(s);
    late = true;
  } else if (earlier && psn < response_next_) {
    // Overtaken by others: it says nothing of what the responder works on now.
    if (seen != nullptr || hole != nullptr) mark_repeated_answer(s, Cause::read_retry, seen);
  } else if (const std::size_t index = issued_for(psn, s.info); index < issued_.size()) {
    const std::int64_t missing = skip_to(s, index, psn);
    if (missing > 0) {
      note_missing_answers(s, missing);
      hole = response_holes_.find(psn);
    }
    Issued& issued = issued_[index];
    issued.next = psn + 1;
    const bool repeated = issued.repeated || (issued.cause != Cause::none && given_before);
    const Cause cause = issued.repeated ? issued.cause : Cause::read_retry;
    if ((!issued.open_end && issued.next >= issued.end) || (issued.open_end && s.info.ends_message())) {
      issued_head_ = index + 1;
    }
    if (repeated) {
      guessed = issued.instead && seen == nullptr;
      guesses_open_ = guesses_open_ || guessed;
      mark_repeated_answer(s, cause, seen);
      if (hole != nullptr) lose(s, responder, Lost::before_capture, response_holes_.missing(psn));
      filled = hole != nullptr;
      if (first_copy || psn >= response_next_) goodput();
    } else {
      if (first_copy) mark_late(s);
      late = first_copy;
      goodput();
    }
  } else if ((first_copy && !given_before) || (earlier && psn >= response_next_ && psn >= repeated_to_)) {
    goodput();
    mark_late(s);
    late = true;
  } else if (seen != nullptr && seen->guessed != 0) {
    take_back_guess(s, *seen);
    take_back_guesses(s, psn);
    mark_repeated_answer(s, Cause::read_retry, seen);
  } else if (given_before) {
    mark_repeated_answer(s, requests_seen_ ? Cause::read_retry : Cause::unknown, seen);
    if (first_copy) goodput();
  } else {
    goodput();
  }
  response_holes_.fill(psn, 1);
  response_next_ = std::max(response_next_, psn + 1);
  Seen now = seen_of(s, psn);
  now.cause = static_cast<std::uint8_t>(s.verdict.cause) & 7U;
  now.filled = filled ? 1 : 0;
  now.of_repeat = filled && !first_copy ? 1 : 0;
  now.late = late ? 1 : 0;
  now.guessed = guessed ? 1 : 0;
  const std::int64_t outstanding = !pending_.empty() ? pending_.front().first : psn - 64;
  // Where some come late a requester asks for them again, long after.
  const std::int64_t kept = answer_facts_.doubled > 0 ? 4096 : answer_facts_.late > 0 ? 512 : 0;
  answers_.put(now, kept > 0 ? std::min(outstanding, psn - kept) : outstanding, s.shared.budget);

  if (requests_seen_ && psn >= next_) {
    unseen(s, psn);
  } else if (requests_seen_ && psn >= acked_ && s.counts) {
    ++answered_;
  }
  Pending* op = pending(psn);
  if (op != nullptr && psn == op->last && !op->done) {
    if (!response_holes_.any_in(op->first, op->last + 1)) complete(s.r, s.counts, *op, true);
  }
  progress(s, psn + 1);
}

}  // namespace roce::analyze
