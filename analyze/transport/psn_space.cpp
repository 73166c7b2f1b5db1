// SPDX-License-Identifier: Apache-2.0
#include "analyze/transport/psn_fast_path.hpp"

#include <algorithm>
#include <limits>

namespace roce::analyze {
namespace {

constexpr std::int64_t psn_range = std::int64_t{1} << 24U;
/// Beyond this a PSN belongs to another sequence; the largest messages have as many packets.
constexpr std::int64_t far = std::int64_t{1} << 18U;

constexpr std::array<Event, lost_count> lost_event{Event::gap, Event::lost_before_capture,
                                                   Event::lost_after_capture, Event::lost_by_capture};

/// Adds `change` transmissions to what the packet shows, never below 0. `own`: the packet's sender sent them.
void show_lost(Verdict& verdict, Lost where, bool own, std::int64_t change) noexcept {
  const auto sum = [change](std::uint32_t before, std::int64_t most) {
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(before + change, 0, most));
  };
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  if (where == Lost::before_capture) {
    verdict.lost_before = sum(verdict.lost_before, most);
  } else if (where == Lost::after_capture) {
    verdict.lost_after = static_cast<std::uint8_t>(sum(verdict.lost_after, 0xff));
  } else {
    verdict.miss(own, change);
  }
}

}  // namespace

void happened(Step& s, unsigned side, Event event, std::uint64_t count) {
  if (s.counts) s.connection.sent[side].add(event, s.number, s.r.time_ns, count);
}

void lose(Step& s, unsigned side, Lost where, std::uint64_t count) {
  if (s.ruling == nullptr) book_loss(s, side, where, count);
}

void book_loss(Step& s, unsigned side, Lost where, std::uint64_t count) {
  show_lost(s.verdict, where, side == s.side, static_cast<std::int64_t>(count));
  if (!s.counts) return;
  if (s.flow(side) != nullptr) {
    s.flow(side)->sequence_to_change().lost[static_cast<std::size_t>(where)] += count;
  }
  happened(s, side, lost_event[static_cast<std::size_t>(where)], count);
  if (Series::Bucket* bucket = s.bucket()) bucket->lost += count;
}

void lose_at(Step& s, unsigned side, Lost where, std::uint64_t frame, std::int64_t time_ns) {
  if (s.ruling != nullptr) return;
  if (s.shared.verdicts != nullptr) {
    if (Verdict* verdict = s.shared.verdicts->at(frame)) show_lost(*verdict, where, true, 1);
  }
  if (!s.counts) return;
  if (s.flow(side) != nullptr) ++s.flow(side)->sequence_to_change().lost[static_cast<std::size_t>(where)];
  s.connection.sent[side].add(lost_event[static_cast<std::size_t>(where)], frame, time_ns);
  if (time_ns != capture::no_time) ++s.shared.series.at(time_ns).lost;
}

void count_repeat(Step& s, unsigned side, Cause cause) {
  if (s.ruling == nullptr) book_repeat(s, side, cause);
}

void book_repeat(Step& s, unsigned side, Cause cause) {
  if (!s.counts) return;
  constexpr std::array<Event, cause_count> events{
      Event::retransmitted_unknown, Event::retransmitted_nak,        Event::retransmitted_timeout,
      Event::retransmitted_rnr,     Event::retransmitted_read_retry, Event::retransmitted_unknown};
  happened(s, side, events[static_cast<std::size_t>(cause)]);
  if (Flow* flow = s.flow(side)) {
    SequenceCounts& sequence = flow->sequence_to_change();
    ++sequence.retransmitted[static_cast<std::size_t>(cause)];
    sequence.retransmitted_bytes += s.r.wire;
  }
  if (Series::Bucket* bucket = s.bucket()) ++bucket->retransmitted;
}

void unlose(Step& s, unsigned side, Lost where, std::uint64_t count, std::uint64_t frame, bool counted) {
  if (s.ruling != nullptr) return;
  // Only answers show that requests were missed by the capture.
  const bool own = where == Lost::before_capture;
  if (frame == s.number) {
    show_lost(s.verdict, where, own, -static_cast<std::int64_t>(count));
  } else if (s.shared.verdicts != nullptr) {
    if (Verdict* verdict = s.shared.verdicts->at(frame)) {
      show_lost(*verdict, where, own, -static_cast<std::int64_t>(count));
    }
  }
  if (where == Lost::after_capture && s.shared.unlost != nullptr) s.shared.unlost->push_back(frame);
  if (!counted) return;
  if (s.flow(side) != nullptr) {
    std::uint64_t& sum = s.flow(side)->sequence_to_change().lost[static_cast<std::size_t>(where)];
    sum -= std::min(sum, count);
  }
  s.shared.series.take_back(s.r.time_ns, &Series::Bucket::lost, count);
  s.connection.sent[side].take_back(lost_event[static_cast<std::size_t>(where)], frame, count);
}

void note_gap_at(Step& s, unsigned side, std::uint64_t frame, std::int64_t time_ns, std::int64_t missing) {
  const auto count = static_cast<std::uint32_t>(std::clamp<std::int64_t>(missing, 0, psn_range - 1));
  if (frame == s.number) {
    s.verdict.add_gap(count);
  } else if (s.shared.verdicts != nullptr) {
    if (Verdict* verdict = s.shared.verdicts->at(frame)) verdict->add_gap(count);
  }
  if (!s.counts) return;
  s.connection.sent[side].add(Event::gap, frame, time_ns, count);
  if (s.flow(side) != nullptr) s.flow(side)->sequence_to_change().gaps += count;
}

void note_gap(Step& s, std::int64_t missing) {
  note_gap_at(s, s.side, s.number, s.r.time_ns, missing);
}

void StreamFacts::halve() noexcept {
  for (std::uint32_t* count : {&id_forward, &id_other, &id_constant, &doubled, &single}) *count -= *count / 2;
  late = late - late / 2U;
}

bool StreamFacts::ids_tell(const PacketBrief& r) const noexcept {
  if (!r.has(PacketRecord::has_ip_id)) return false;
  const std::uint32_t changes = id_forward + id_other;
  if (changes + id_constant < 4) return r.ip_id != 0 || changes > 0;
  return changes > id_constant;
}

bool PsnSpace::far_off(const PacketBrief& r) const noexcept {
  if (!requests_seen_) return false;
  const std::int64_t distance = place(r.psn) - next_;
  if (distance > 0 && !pending_.empty() && pending_.back().open_end) return distance > psn_range / 4;
  return distance > far || distance < -far;
}

bool PsnSpace::may_begin_anew(const PacketBrief& r) noexcept {
  constexpr std::int64_t setting_up_ns = 10'000'000;  // of queue pairs takes longer
  if (!requests_seen_ || !acked_known_ || !msn_known_ || answers_cut_) return false;
  const std::int64_t psn = place(r.psn);
  // Long after the timer would have sent it once more.
  const bool gave_up =
      chain_open_ && chain_->resends > 1 && chain_->max_spacing_ns != 0 && r.time_ns > chain_->last_time_ns &&
      static_cast<std::uint64_t>(r.time_ns - chain_->last_time_ns) / 2 > chain_->max_spacing_ns;
  const bool elsewhere = psn < acked_ || psn > next_ || gave_up;
  if (!elsewhere || !dissect::opcode_info(r.opcode).starts_message()) return false;
  if (request_facts_.ids_tell(r)) {  // a copy, of a capture that was merged into this one
    const Seen* seen = sent_.find(psn);
    if ((seen != nullptr && seen->ip_id == r.ip_id) || request_facts_.is_behind(r)) return false;
  }
  // Programs that always begin with the same PSN set their queue pairs up again at once. That takes several
  // system calls; a mirror shows a whole window again sooner.
  constexpr std::int64_t pause_ns = 100'000;
  const std::int64_t needed_ns = begins_at(r.psn) && psn < acked_ ? pause_ns : setting_up_ns;
  const auto silent_since = [&](std::int64_t then_ns) {
    return then_ns == capture::no_time || r.time_ns - then_ns >= needed_ns;
  };
  return r.time_ns != capture::no_time && silent_since(last_request_ns_) && silent_since(last_answer_ns_);
}

bool PsnSpace::begins_anew_unasked(const PacketBrief& r) noexcept {
  constexpr std::int64_t setting_up_ns = 10'000'000, no_copy_ns = 1'000'000'000;
  const dissect::OpcodeInfo& info = dissect::opcode_info(r.opcode);
  if (info.service != dissect::Service::uc || !requests_seen_ || !info.starts_message()) return false;
  if (place(r.psn) >= next_ || r.time_ns == capture::no_time || last_request_ns_ == capture::no_time)
    return false;
  const bool ids = request_facts_.ids_tell(r);
  if (r.time_ns - last_request_ns_ < (ids ? setting_up_ns : no_copy_ns)) return false;
  const Seen* seen = sent_.find(place(r.psn));
  return !ids || ((seen == nullptr || seen->ip_id != r.ip_id) && !request_facts_.is_behind(r));
}

bool PsnSpace::counts_anew(const PacketRecord& r) const noexcept {
  return r.has(PacketRecord::has_aeth) && !rose(r.aeth & serial_mask, last_msn_);
}

bool PsnSpace::differs(const PacketRecord& r) noexcept {
  const Seen* const seen = sent_.find(place(r.psn));
  return seen != nullptr && seen->opcode != r.opcode;
}

bool PsnSpace::unasked(const PacketRecord& r) const noexcept {
  if (!requests_seen_ || !acked_known_ || !msn_known_ || acked_ < next_) return false;
  // What is confirmed once more comes with the count of today.
  const std::int64_t psn = place(r.psn);
  return psn >= next_ || (psn < acked_ && counts_anew(r));
}

bool PsnSpace::fits(std::uint32_t psn) const noexcept {
  if (!requests_seen_) return false;
  const std::int64_t at = place(psn);
  return at < next_ && at >= first_ && at >= next_ - 65536;
}

PsnSpace::Same PsnSpace::same_transmission(const StreamFacts& facts, const Seen& seen,
                                           const PacketBrief& r) const noexcept {
  if (seen.opcode != r.opcode) return Same::other;
  if (facts.ids_tell(r)) return seen.ip_id == r.ip_id ? Same::same : Same::other;
  if (seen.path != r.path) return Same::same;
  return Same::unknown;
}

/// Whether an answer has asked for that PSN again since it was seen.
bool PsnSpace::expected_again(const Seen& seen, std::int64_t psn) const noexcept {
  return (in_run_ && psn >= run_next_) || naks_.any_since(seen.late != 0 ? 0 : seen.frame, psn) ||
         naks_.passed(psn) || (rnr_open_ && psn <= rnr_psn_) || response_holes_.any_in(psn, psn + 1);
}

/// Whether a second packet comes too soon to have been sent again, where nothing on it tells: a sender
/// repeats what an answer asks for, or after its timeout, so not faster than answers come here.
bool PsnSpace::too_soon(const Seen& seen, const PacketBrief& r, std::int64_t psn) const noexcept {
  if (r.time_ns == capture::no_time || seen.time_ns == capture::no_time) return false;
  constexpr std::int64_t longest_ns = 20'000;  // spurious timers of slow hosts are faster than their answers
  const std::int64_t limit = fast_answer_ns_ == 0 ? longest_ns : std::min(fast_answer_ns_, longest_ns);
  return !expected_again(seen, psn) && r.time_ns - seen.time_ns < limit;
}

/// No wire carries two packets in one nanosecond: a record that is there twice. Coarser clocks do not tell.
bool PsnSpace::same_record(const Seen& seen, const PacketBrief& r) const noexcept {
  const auto fine = [](std::int64_t time_ns) { return time_ns % 1000 != 0 && time_ns != capture::no_time; };
  return seen.time_ns == r.time_ns && seen.opcode == r.opcode && r.time_ns != capture::no_time &&
         (fine(r.time_ns) || fine(last_request_ns_) || fine(last_answer_ns_));
}

std::int64_t PsnSpace::lag_of(const Seen* seen, const PacketBrief& r) noexcept {
  const bool timed = seen != nullptr && seen->time_ns != capture::no_time && r.time_ns != capture::no_time;
  return timed && r.time_ns >= seen->time_ns ? r.time_ns - seen->time_ns : CopyQueue::unknown_ns;
}

/// `in_turn`: as copies come where a capture shows everything twice.
void PsnSpace::duplicate(Step& s, StreamFacts& facts, const Seen* seen, bool in_turn) {
  facts.count_doubled();
  // A capture that shows things twice does so nearly all the time; a network now and then.
  const std::uint32_t path = seen != nullptr ? seen->path : facts.path;
  constexpr std::int64_t merged_ns = 100'000'000;  // no network holds a copy back that long
  const bool timed = seen != nullptr && seen->time_ns != capture::no_time && s.r.time_ns != capture::no_time;
  const auto mostly = [](const StreamFacts& stream, unsigned one_of) {
    return stream.doubled != 0 && std::uint64_t{stream.doubled} * one_of >= stream.single;
  };
  // Without IDs not every copy of a READ response is known for one; where all requests come twice, it is.
  const bool as_requests =
      &facts == &answer_facts_ && ((mostly(request_facts_, 2) && mostly(facts, 16)) || copies_.sure());
  const bool by_capture = seen == nullptr || path != s.r.path || in_turn || mostly(facts, 3) || as_requests ||
                          (timed && (s.r.time_ns - seen->time_ns >= merged_ns || same_record(*seen, s.r)));
  if (seen != nullptr) s.verdict.original = static_cast<std::uint32_t>(seen->frame);
  s.verdict.set(by_capture ? Verdict::duplicate_capture : Verdict::duplicate_network);
  if (seen != nullptr && seen->cause != 0) {
    // What holds of a transmission holds of its copy; it is counted once.
    s.verdict.set(Verdict::retransmission);
    s.verdict.cause = static_cast<Cause>(seen->cause);
  }
  if (!s.counts) return;
  if (by_capture && &facts == &request_facts_ && requests_ > 0) --requests_;
  const bool ruled =
      s.ruling != nullptr && (s.info.request || s.info.operation != dissect::Operation::acknowledge);
  if (ruled) return;
  if (Flow* flow = s.flow(s.side)) {
    SequenceCounts& sequence = flow->sequence_to_change();
    ++(by_capture ? sequence.duplicate_captures : sequence.duplicate_network);
  }
  happened(s, s.side, by_capture ? Event::duplicate_capture : Event::duplicate_network);
}

Pending* PsnSpace::pending(std::int64_t psn) noexcept {
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    Pending& op = pending_[i];
    if (psn < op.first) return nullptr;
    if (psn == op.first || psn <= op.last || op.open_end) return &op;
    if (op.last < 0 && i + 1 == pending_.size()) return &op;
  }
  return nullptr;
}

std::unique_ptr<PsnSpace> PsnSpace::clone() const {
  std::unique_ptr<PsnSpace> copy(new PsnSpace(*this));
  if (operation_ != nullptr) copy->operation_ = copy->operations_.data() + (operation_ - operations_.data());
  return copy;
}

void PsnSpace::absorb_answers(const PsnSpace& other) noexcept {
  if (!other.answers_seen_) return;
  acks_ += other.acks_;
  acks_left_out_ += other.acks_left_out_;
  new_bytes_ += other.new_bytes_;
  answered_ += other.answered_;
  unfitting_ += other.unfitting_;
  answers_seen_ = true;
  last_msn_ = other.last_msn_;
  msn_known_ = other.msn_known_;
  answer_facts_ = other.answer_facts_;
  if (requests_seen_ && other.acked_known_) {
    const std::int64_t acked = place(static_cast<std::uint32_t>(other.acked_ & (psn_range - 1)));
    if (acked <= next_ && acked > first_) {
      acked_ = acked;
      acked_known_ = true;
    }
  }
}

void PsnSpace::release(RingBudget& budget) noexcept {
  forget_doubted(budget);
  sent_.release(budget);
  answers_.release(budget);
}

/// Whether the last request was repeated in vain: nothing new after it, and silence for longer than between
/// two of the repeats, or, after as many as the largest count allows, for longer than an answer takes.
bool PsnSpace::gave_up(const Flow* flow, const TrackerShared& shared) const noexcept {
  if (new_since_run_ || answers_cut_ || !chain_.there()) return false;
  const RetryChain& chain = *chain_;
  // Where answers were captured they did not reach the sender, or after it had given up; then a single repeat
  // at the end of a capture proves nothing. One that came in time ended it well.
  constexpr std::uint32_t enough = 3, most = 7;
  if (!chain_open_ && !chain.too_late) return false;
  if (chain.resends < (chain.answered ? enough : 1U)) return false;
  if (!shared.any_time || last_request_ns_ == capture::no_time) return false;
  const auto spacing = static_cast<double>(std::max<std::uint64_t>(chain.max_spacing_ns, 1'000'000));
  const auto since = static_cast<double>(last_request_ns_);
  const double silence = static_cast<double>(shared.last_time_ns) - since;
  // A queue pair that gave up is in error: it answers nothing either.
  if (flow != nullptr && flow->any_time && static_cast<double>(flow->last_time_ns) > since + spacing)
    return false;
  if (silence > 2.0 * spacing) return true;
  // A timer is many times what an answer takes.
  return !chain.answered && chain.resends >= most && silence > spacing / 16;
}

void PsnSpace::finish(Connection& connection, Flow* flow, Flow* back, TrackerShared& shared) {
  Requester& requester = connection.requester[side_];
  requester.seen = requests_seen_ || answers_seen_;
  requester.first_psn = static_cast<std::uint32_t>(first_ & (psn_range - 1));
  requester.next_psn = static_cast<std::uint32_t>(next_ & (psn_range - 1));
  requester.requests = requests_;
  requester.acks = acks_;
  requester.requests_left_out = requests_left_out_;
  requester.acks_left_out = acks_left_out_;
  requester.new_bytes = new_bytes_;
  requester.in_flight_max = in_flight_max_;
  requester.idle_ns = idle_ns_;
  requester.idle_from_frame = idle_from_frame_;
  requester.fastest_answer_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(fast_answer_ns_, 0));
  settle_alike();
  if (answered_operations_.there()) {
    for (const AnsweredOperation& op : *answered_operations_) settle_answered(op);
    answered_operations_->clear();
  }
  // What was never completed was sent again all the same.
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    if (pending_[i].done || pending_[i].last < 0) continue;
    if (pending_[i].broken && requests_ != 0 && !count_part(i)) continue;
    if (!pending_[i].retried) continue;
    OperationStats& kind = stats_of(pending_[i].kind);
    kind.retried = std::min(kind.retried + 1, kind.count);
  }
  requester.operations = std::move(operations_);
  constexpr std::uint64_t no_accident = 8;
  if (behind_answers_ >= no_accident && behind_answers_ >= requests_ / 2) connection.answers_first = true;
  connection.pairing.answered += answered_;
  connection.pairing.unfitting += unfitting_;

  // What UC did not deliver is gone; nobody says whether it was lost or missed by the capture.
  if (connection.service == dissect::Service::uc && !holes_.empty()) {
    for (const Hole& hole : holes_.list()) {
      const auto count = static_cast<std::uint64_t>(hole.to - hole.from);
      if (flow != nullptr) {
        flow->sequence_to_change().lost[static_cast<std::size_t>(Lost::before_capture)] += count;
      }
      connection.sent[side_].add(Event::lost_before_capture, hole.frame, hole.time_ns, count);
      if (hole.time_ns != capture::no_time) shared.series.at(hole.time_ns).lost += count;
      if (shared.verdicts != nullptr) {
        if (Verdict* verdict = shared.verdicts->at(hole.frame)) {
          show_lost(*verdict, Lost::before_capture, true, static_cast<std::int64_t>(count));
        }
      }
    }
  }
  // A READ cannot complete with a response missing, so a requester that went on, for longer than it would
  // take to ask again, had it.
  if (!response_holes_.empty()) {
    for (const Hole& hole : response_holes_.list()) {
      if (hole.of_repeat || next_ - hole.to < 64 || last_request_ns_ <= hole.time_ns) continue;
      if (hole.time_ns != capture::no_time && !long_since(hole.time_ns, last_request_ns_, 1)) continue;
      const auto count = static_cast<std::uint64_t>(hole.to - hole.from);
      if (back != nullptr) {
        back->sequence_to_change().lost[static_cast<std::size_t>(Lost::by_capture)] += count;
      }
      connection.sent[side_ ^ 1U].add(Event::lost_by_capture, hole.frame, hole.time_ns, count);
      if (hole.time_ns != capture::no_time) shared.series.at(hole.time_ns).lost += count;
      if (shared.verdicts != nullptr) {
        if (Verdict* verdict = shared.verdicts->at(hole.frame)) {
          show_lost(*verdict, Lost::by_capture, true, static_cast<std::int64_t>(count));
        }
      }
    }
  }

  if (chain_open_) keep_if_worst(*requester.trouble);
  if (gave_up(flow, shared)) {
    requester.retries_exhausted = true;
    requester.trouble->worst_chain = *chain_;
    connection.sent[side_].add(Event::retries_exhausted, chain_->last_frame, chain_->last_time_ns);
  }
  if (rnr_open_ && rnr_in_a_row_ > 0 && shared.any_time && rnr_time_ns_ != capture::no_time) {
    const double waited = static_cast<double>(shared.last_time_ns) - static_cast<double>(rnr_time_ns_);
    if (rnr_in_a_row_ > 1 && waited > 4.0 * static_cast<double>(rnr_wait_ns_)) {
      requester.rnr_exhausted = true;
      connection.sent[side_ ^ 1U].add(Event::rnr_exhausted, rnr_frame_, rnr_time_ns_);
    }
  }
}

}  // namespace roce::analyze
