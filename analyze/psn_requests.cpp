// SPDX-License-Identifier: Apache-2.0
// The requester's packets: what is new, what is repeated, what is missing (IBTA 9.7.2, 9.7.3, 9.7.5).
#include <algorithm>
#include <array>

#include "analyze/psn_short.hpp"

namespace roce::analyze {

using dissect::Operation;
using dissect::Position;

namespace {

OperationKind kind_of(Operation operation) noexcept {
  switch (operation) {
    case Operation::write:
      return OperationKind::write;
    case Operation::read_request:
      return OperationKind::read;
    case Operation::compare_swap:
    case Operation::fetch_add:
      return OperationKind::atomic;
    case Operation::flush:
      return OperationKind::flush;
    case Operation::atomic_write:
      return OperationKind::atomic_write;
    default:
      return OperationKind::send;
  }
}

/// Less than retry timers take.
constexpr std::int64_t silence_ns = 1'000'000;

/// Not just acknowledged: its answer carries something, and must come.
bool answered_on_its_own(Operation operation) noexcept {
  return operation == Operation::read_request || operation == Operation::compare_swap ||
         operation == Operation::fetch_add || operation == Operation::flush ||
         operation == Operation::atomic_write;
}

bool is_pmtu(std::uint32_t bytes) noexcept {
  return bytes >= 256 && bytes <= 4096 && (bytes & (bytes - 1)) == 0;
}

std::int64_t packets_of(std::uint32_t bytes, std::uint32_t pmtu) noexcept {
  return std::max<std::int64_t>(1, (std::int64_t{bytes} + pmtu - 1) / pmtu);
}

void learn_pmtu(Step& s) noexcept {
  // First and Middle packets are full (IBTA 9.7.4.1.3): their size is the path MTU.
  if (s.connection.pmtu_by_cm || !is_pmtu(s.r.payload) || s.r.payload <= s.connection.pmtu) return;
  if (s.info.position == Position::first || s.info.position == Position::middle) {
    s.connection.pmtu = s.r.payload;
  }
}

}  // namespace

OperationStats& PsnSpace::other_stats(OperationKind kind) {
  const auto same = std::find_if(operations_.begin(), operations_.end(),
                                 [&](const OperationStats& stats) { return stats.kind >= kind; });
  auto place = same;
  if (same == operations_.end() || same->kind != kind) {
    OperationStats stats;
    stats.kind = kind;
    place = operations_.insert(same, std::move(stats));
  }
  operation_ = &*place;
  return *place;
}

void PsnSpace::count_goodput(Step& s) noexcept {
  if (!s.counts) return;
  new_bytes_ += s.r.payload;
  if (Series::Bucket* bucket = s.bucket()) bucket->goodput_bytes += s.r.payload;
}

/// PSNs that a READ request takes (IBTA 9.7.5.2.1); 0 = not known before the path MTU is.
std::int64_t PsnSpace::read_packets(Step& s) const noexcept {
  if (!s.r.has(PacketRecord::has_reth)) return 0;
  if (s.r.dma_length <= 256) return 1;
  if (s.connection.pmtu == 0) return 0;
  return packets_of(s.r.dma_length, s.connection.pmtu);
}

void PsnSpace::begin(const PacketRecord& r) {
  constexpr std::int64_t room = std::int64_t{1} << 32U;  // so that nothing before the first is negative
  if (answers_seen_ && acked_known_) {
    // Answers to earlier requests told the place.
    next_ = place(r.psn);
    acked_ = std::min(acked_, next_);
  } else {
    next_ = room + r.psn;
    acked_ = next_;
  }
  first_ = next_;
  taken_ = first_;
  if (response_next_ < 0) response_next_ = first_;
  requests_seen_ = true;
}

void PsnSpace::damaged_request(Step& s) {
  // Only what fits exactly where it should come is believed.
  if (!requests_seen_ || !in_run_) return;
  const std::int64_t psn = place(s.r.psn);
  if (psn != run_next_) return;
  const Seen* seen = sent_.find(psn);
  if (seen != nullptr && seen->opcode != s.r.opcode) return;
  s.verdict.set(Verdict::retransmission);
  s.verdict.cause = run_cause_;
  if (seen != nullptr) s.verdict.original = static_cast<std::uint32_t>(seen->frame);
  if (!s.counts || s.flow(side_) == nullptr) return;
  SequenceCounts& sequence = s.flow(side_)->sequence_to_change();
  ++sequence.retransmitted[static_cast<std::size_t>(run_cause_)];
  sequence.retransmitted_bytes += s.r.wire;
}

void PsnSpace::request(Step& s) {
  const PacketRecord& r = s.r;
  if (s.counts) ++requests_;
  learn_pmtu(s);
  if (!requests_seen_) begin(r);
  const std::int64_t psn = place(r.psn);
  std::int64_t count = 1;
  if (s.info.operation == Operation::read_request) count = read_packets(s);
  if (psn == taken_) taken_ = psn + count;

  if (s.counts && r.time_ns != capture::no_time) note_idle(r);

  // A new packet that the packets of a repeat have overtaken does not end the repeat.
  const bool overtaken = psn >= next_ && in_run_ && sent_earlier(request_facts_, r);
  if (overtaken) mark_late(s);
  if (sent_earlier(request_facts_, r)) ++request_facts_.late;
  if (psn >= next_ && in_run_ && !overtaken) take_back_lone_repeat(s);
  if (psn >= next_ && in_run_ && !overtaken && run_next_ < next_) {
    holes_.add({run_next_, next_, r.time_ns, s.number, true, false, false, 0,
                false});  // the end of what was sent again
  }
  if (psn == next_) [[likely]] {
    accept(s, psn, count, true);
  } else if (psn > next_) {
    const bool explained = close_open_read(s, psn);
    if (explained) {
      accept(s, psn, count, true);
    } else {
      const std::int64_t missing = psn - next_;
      s.verdict.gap = static_cast<std::uint32_t>(missing);
      if (s.counts && s.flow(side_) != nullptr) {
        s.flow(side_)->sequence_to_change().gaps += static_cast<std::uint64_t>(missing);
      }
      happened(s, side_, Event::gap, static_cast<std::uint64_t>(missing));
      holes_.add({next_, psn, r.time_ns, s.number, false, false, true, r.ip_id, false});
      if (s.info.service == dissect::Service::uc) {
        // At least the message that the gap begins in, or the one that it ends in.
        happened(s, side_, Event::uc_message_lost);
      }
      accept(s, psn, count, false);
    }
  } else {
    repeat(s, psn, count == 0 ? 1 : count);
  }

  last_request_ns_ = r.time_ns;
  last_packet_ns_ = r.time_ns;
  last_packet_ = s.number;
  note_in_flight(s.verdict);
  if (s.counts && s.verdict.has(Verdict::in_flight_known)) {
    in_flight_max_ = std::max(in_flight_max_, s.verdict.in_flight);
    Series::Bucket* const bucket = s.bucket();
    if (bucket != nullptr) bucket->in_flight_max = std::max(bucket->in_flight_max, s.verdict.in_flight);
  }
}

/// The messages that were only counted so far.
void PsnSpace::settle_alike() {
  if (alike_ == 0) return;
  OperationStats& kind = stats_of(alike_kind_);
  kind.count += alike_;
  kind.packets += alike_;
  kind.bytes += std::uint64_t{alike_} * alike_bytes_;
  kind.size_bytes.add(alike_bytes_, alike_);
  alike_ = 0;
}

/// Acknowledged messages among which some are not plain.
void PsnSpace::complete_rest(const PacketRecord& r, bool counts) {
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    Pending& op = pending_[i];
    if (op.done) continue;
    if (op.last < 0 || op.last >= acked_) break;
    // A READ is complete with its last response; a later acknowledgement says that it was sent, not
    // that it came.
    const bool own_answer = op.answered_by_response() || op.kind == OperationKind::atomic;
    if (own_answer && response_holes_.any_in(op.first, op.last + 1)) continue;
    complete(r, counts, op, !own_answer);
  }
  pop_done();
}

/// A READ whose length in PSNs was unknown ends where the next request begins, if some path MTU
/// explains that; then the path MTU is known too.
bool PsnSpace::close_open_read(Step& s, std::int64_t psn) {
  if (pending_.empty() || !pending_.back().open_end) return false;
  Pending& read = pending_.back();
  const std::int64_t count = psn - read.first;
  if (count > std::int64_t{1} << 23U) return false;
  if (read.has_reth) {
    if (count > packets_of(read.length, 256)) return false;
    for (std::uint32_t pmtu = 256; pmtu <= 4096; pmtu *= 2) {
      if (packets_of(read.length, pmtu) == count && !s.connection.pmtu_by_cm && s.connection.pmtu == 0) {
        // Several may fit a short READ; only a clear case teaches.
        if (packets_of(read.length, pmtu * 2) != count) s.connection.pmtu = pmtu;
      }
    }
  }
  read.open_end = false;
  read.last = psn - 1;
  if (issued_head_ < issued_.size() && issued_.back().open_end) {
    issued_.back().end = psn;
    issued_.back().open_end = false;
  }
  next_ = psn;
  return true;
}

/// Without IDs a packet that comes after its NAK looks repeated. But a sender that goes back goes on from
/// there; where it goes on as before, the packet was only late.
void PsnSpace::take_back_lone_repeat(Step& s) {
  Seen* seen = sent_.find(run_start_);
  const bool lone = run_cause_ == Cause::nak && lone_ && seen != nullptr && seen->filled != 0 &&
                    seen->frame == run_frame_ && last_nak_.psn == run_start_;
  // Selective repeat sends it alone.
  const bool selective = !goes_back_ && reactions_ > 1;
  if (!lone || selective || request_facts_.ids_rise(s.r)) return;
  in_run_ = false;
  if (reactions_ < 2) {
    reactions_ = 0;
    reaction_ns_ = 0;
  }
  unlose_filled(s, *seen, side_);
  seen->late = 1;
  seen->cause = 0;
  if (naks_.find(last_nak_.psn) == nullptr) naks_.push(last_nak_);
  if (s.shared.verdicts != nullptr) {
    if (Verdict* verdict = s.shared.verdicts->at(run_frame_)) {
      verdict->clear(Verdict::retransmission);
      verdict->cause = Cause::none;
      verdict->set(Verdict::out_of_order);
    }
  }
  if (!s.counts) return;
  Events& sent = s.connection.sent[side_];
  sent.take_back(Event::retransmitted_nak, run_frame_);
  sent.take_back(Event::go_back_n, run_frame_);
  sent.add(Event::out_of_order, run_frame_, seen->time_ns);
  if (s.flow(side_) == nullptr) return;
  SequenceCounts& sequence = s.flow(side_)->sequence_to_change();
  std::uint64_t& sum = sequence.retransmitted[static_cast<std::size_t>(Cause::nak)];
  if (sum > 0) --sum;
  sequence.retransmitted_bytes -= std::min<std::uint64_t>(sequence.retransmitted_bytes, s.r.wire);
  ++sequence.out_of_order;
}

void PsnSpace::interrupt_run(const Step& s) {
  if (in_run_ && !request_facts_.ids_rise(s.r)) {
    interrupted_ = std::make_unique<Interrupted>(
        Interrupted{run_start_, run_next_, run_nak_, run_frame_, s.number, run_cause_});
  } else {
    interrupted_.reset();
  }
}

void PsnSpace::resume_interrupted() {
  in_run_ = true;
  lone_ = false;
  run_cause_ = interrupted_->cause;
  run_start_ = interrupted_->start;
  run_next_ = interrupted_->next;
  run_nak_ = interrupted_->nak;
  run_frame_ = interrupted_->frame;
  if (!holes_.empty()) {
    std::erase_if(holes_.list(),
                  [&](const Hole& hole) { return hole.of_repeat && hole.frame == interrupted_->by; });
  }
  interrupted_.reset();
}

void PsnSpace::accept(Step& s, std::int64_t psn, std::int64_t count, bool in_order) {
  new_since_run_ = true;
  if (s.verdict.has(Verdict::out_of_order)) {
    ++request_facts_.single;
  } else {
    if (in_run_) {
      naks_.pass_before(run_frame_);
      interrupt_run(s);
    }
    in_run_ = false;
    request_facts_.learn(s.r);
  }
  if (in_order) {
    check_order(s);
  } else {
    message_known_ = false;
  }
  sent_.put(seen_of(s, psn), needed_from(psn), s.shared.budget);
  next_ = psn + std::max<std::int64_t>(count, 1);
  track_message(s, psn, count, in_order);
  issue(s, psn, count, Cause::none);
  count_goodput(s);
  message_operation_ = s.info.operation;
  inside_message_ = !s.info.ends_message();
  message_known_ = true;
}

/// IBTA 9.7.4.1.2: which opcode may follow which; 9.7.4.1.3-5: how long their payload must be.
void PsnSpace::check_order(Step& s) {
  const bool starts = s.info.starts_message();
  if (message_known_) {
    const bool legal = starts ? !inside_message_ : inside_message_ && message_operation_ == s.info.operation;
    if (!legal) {
      s.verdict.set(Verdict::illegal_sequence);
      happened(s, side_, Event::illegal_sequence);
      return;
    }
  } else if (!starts) {
    return;
  }
  if (!s.info.has_payload) return;
  bool wrong = false;
  const std::uint32_t pmtu = s.connection.pmtu;
  const std::uint32_t bytes = s.r.payload;
  switch (s.info.position) {
    case Position::first:
    case Position::middle:
      wrong = pmtu != 0 && bytes != pmtu;
      break;
    case Position::last:
      wrong = bytes == 0 || (pmtu != 0 && bytes > pmtu);
      break;
    case Position::only:
      wrong = pmtu != 0 && s.connection.pmtu_by_cm && bytes > pmtu;
      break;
  }
  if (s.info.ends_message() && s.info.operation == Operation::write) {
    const bool only = s.info.position == Position::only;
    const Pending* op = !pending_.empty() ? &pending_.back() : nullptr;
    if (only) {
      wrong = wrong || (s.r.has(PacketRecord::has_reth) && s.r.dma_length != bytes);
    } else if (op != nullptr && op->last < 0 && !op->broken && op->has_reth) {
      wrong = wrong || std::uint64_t{op->bytes} + bytes != op->length;
    }
  }
  if (wrong) {
    s.verdict.set(Verdict::wrong_length);
    happened(s, side_, Event::wrong_length);
  }
}

void PsnSpace::track_message(Step& s, std::int64_t psn, std::int64_t count, bool in_order) {
  if (s.info.service == dissect::Service::uc) {
    // Never acknowledged: counted at its end.
    if (s.counts && s.info.ends_message()) {
      OperationStats& kind = stats_of(kind_of(s.info.operation));
      ++kind.count;
      ++kind.packets;
      kind.bytes += s.r.payload;
    } else if (s.counts) {
      OperationStats& kind = stats_of(kind_of(s.info.operation));
      ++kind.packets;
      kind.bytes += s.r.payload;
    }
    return;
  }
  if (!in_order && !pending_.empty() && pending_.back().last < 0) {
    Pending& open = pending_.back();
    open.broken = true;
    open.open_end = false;
    open.last = psn - 1;
  }
  const bool starts = s.info.starts_message();
  if (starts || pending_.empty() || pending_.back().last >= 0) {
    if (!starts && s.info.ends_message()) {
      // Only the end of the message was captured.
      if (s.counts) ++stats_of(kind_of(s.info.operation)).count;
    }
    Pending& op = start_message(s.r, kind_of(s.info.operation), psn, s.number);
    op.broken = !starts;
    if (op.kind == OperationKind::read) {
      op.open_end = count == 0;
      op.last = count == 0 ? -1 : psn + count - 1;
      op.packets = 1;
      op.bytes = s.r.dma_length;
      if (s.counts) finish_message(op);
      pop_done();
      return;
    }
  }
  Pending& op = pending_.back();
  op.add_packet(s.r.payload);
  if (s.info.ends_message()) {
    op.last = psn;
    if (!op.broken && s.counts) finish_message(op);
  }
  pop_done();
}

bool PsnSpace::silent_before(std::int64_t time_ns) const noexcept {
  return time_ns != capture::no_time && last_request_ns_ != capture::no_time &&
         time_ns - last_request_ns_ >= silence_ns;
}

/// Whether the PSN is taken by a READ, behind its first. Then no other request can have it.
bool PsnSpace::inside_read(std::int64_t psn) noexcept {
  const Pending* op = pending(psn);
  return op != nullptr && op->kind == OperationKind::read && psn > op->first;
}

void PsnSpace::repeat(Step& s, std::int64_t psn, std::int64_t count) {
  const PacketRecord& r = s.r;
  // The same again, as the first of a run: that was not the reaction yet.
  const bool copies_are_rare = std::uint64_t{request_facts_.doubled} * 8 < request_facts_.single;
  if (in_run_ && psn == run_start_ && copies_are_rare) take_back_lone_repeat(s);
  if (interrupted_ && psn == interrupted_->next &&
      (in_run_ ? lone_ && psn != run_next_ : last_packet_ == interrupted_->by)) {
    // On as before: no run began or ended in between, but a packet of another came, late or doubled.
    if (in_run_) take_back_lone_repeat(s);
    resume_interrupted();
  }
  Seen* seen = sent_.find(psn);
  Hole* hole = holes_.find(psn);
  if (hole != nullptr && !hole->of_repeat) seen = nullptr;  // a leftover of another lap
  const Same same = seen != nullptr ? same_transmission(request_facts_, *seen, r) : Same::other;
  if (same == Same::same || (same == Same::unknown && too_soon(*seen, r, psn))) {
    duplicate(s, request_facts_, seen);
    // A request that comes twice is answered twice, unless the first was refused: as if a NAK asked for it.
    if (s.verdict.has(Verdict::duplicate_network)) issue(s, psn, count, Cause::nak);
    return;
  }
  if (seen == nullptr && hole == nullptr && request_facts_.doubled == 0 && r.path == request_facts_.path &&
      sent_earlier(request_facts_, r) && (psn < first_ || inside_read(psn))) {
    late(s, psn, count, nullptr);  // before the first one captured, or its gap was taken for a READ's PSNs
    return;
  }
  if (seen == nullptr && hole == nullptr && request_facts_.single > 0 &&
      (r.path != request_facts_.path || request_facts_.is_behind(r))) {
    // Long ago, and seen at another place or with an ID from then: the capture's other view of it.
    duplicate(s, request_facts_, nullptr);
    return;
  }

  // A NAK made the sender repeat that one alone. What is still missing after silence the timer sends.
  const bool timer_after_lone = in_run_ && lone_ && run_cause_ == Cause::nak && psn == acked_ &&
                                silent_before(r.time_ns) && !reacts_by(last_nak_, r.time_ns);
  const bool continuing = in_run_ && psn == run_next_ && !timer_after_lone;
  const bool ids_rise = request_facts_.ids_rise(r);
  const bool earlier = sent_earlier(request_facts_, r);
  if (hole != nullptr && !hole->of_repeat) {
    const OpenNak* asked = naks_.find(psn);
    const bool asked_for = asked != nullptr && !sooner_than_reactions(*asked, r.time_ns);
    const bool expected_again = (rnr_open_ && psn <= rnr_psn_) || asked_for || continuing;
    // What was not sent before the packet that showed the hole is sent again, and was overtaken as well.
    const bool original = earlier && (!hole->shown || behind(r.ip_id, hole->ip_id));
    const bool is_late = ids_rise ? original : !expected_again && !silent_before(r.time_ns);
    if (is_late || s.info.service == dissect::Service::uc) {
      late(s, psn, count, hole);
      return;
    }
  }
  // The first packets captured may have overtaken others, long before it is sure that IDs rise.
  if (psn < first_ && request_facts_.id_other == 0 && r.has(PacketRecord::has_ip_id) &&
      behind(r.ip_id, request_facts_.last_id)) {
    late(s, psn, count, nullptr);
    return;
  }
  if (s.info.service == dissect::Service::uc) return;  // never sends again: a stray

  if (earlier && seen != nullptr && seen->filled != 0 && behind(r.ip_id, seen->ip_id)) {
    // The original comes after its repeat: nothing was lost.
    unlose_filled(s, *seen, side_);
    mark_late(s);
    ++request_facts_.single;
    return;
  }
  const std::uint16_t id_before = request_facts_.last_id;
  const std::uint16_t step_before = request_facts_.last_step;
  if (!ids_rise) request_facts_.learn(r);
  if (ids_rise && !earlier) request_facts_.passed(r);

  // A repeat that was overtaken by others of its run keeps the run's cause.
  const bool late_repeat = earlier && run_start_ >= 0;
  if (!continuing && !late_repeat) {
    // Asked for itself, or what was asked for is in the gap before it.
    const OpenNak* asked = naks_.up_to(psn);
    const bool asked_for =
        asked != nullptr &&
        (asked->psn == psn ? !stale(*asked, r.time_ns) : asked->psn >= run_next_ && !asked->passed);
    // What is the oldest unconfirmed after silence the timer sends.
    const bool timer = psn == acked_ && silent_before(r.time_ns);
    const bool run_goes_on =
        in_run_ && psn > run_next_ && !timer && !asked_for && !(rnr_open_ && psn <= rnr_psn_);
    if (run_goes_on) {
      // Where the IDs leave room for just these, they were sent: a sender that is told of progress may also
      // skip what it need not repeat.
      const std::int64_t missing = psn - run_next_;
      const bool in_order = request_facts_.late * 64U < request_facts_.single;  // it will not come yet
      const bool were_sent = ids_rise && in_order && step_before == 1 &&
                             static_cast<std::uint16_t>(r.ip_id - id_before) == missing + 1;
      if (were_sent) lose(s, side_, Lost::before_capture, static_cast<std::uint64_t>(missing));
      holes_.add({run_next_, psn, r.time_ns, s.number, true, false, false, 0, were_sent});
      hole = holes_.find(psn);
      s.verdict.gap = static_cast<std::uint32_t>(psn - run_next_);
    } else {
      start_run(s, psn, seen);
      id_before_run_ = id_before;
      hole = holes_.find(psn);
    }
  }
  if (continuing && run_cause_ == Cause::nak && !goes_back_) {
    goes_back_ = true;
    given_up_.clear();
  }
  if (run_frame_ != s.number) lone_ = false;
  if (!late_repeat) run_next_ = psn + count;
  repeated_to_ = std::max(repeated_to_, psn + count);
  if (OpenNak* nak = naks_.up_to(psn);
      nak != nullptr && joins_run(*nak, psn, r.time_ns) &&
      (nak->frame < run_frame_ || seen == nullptr || seen->frame < nak->frame)) {
    // It began earlier for an answer that is missing; from here on the NAK asked for it. Or the NAK is
    // still on its way, and the sender will go back once more.
    run_cause_ = Cause::nak;
    run_nak_ = psn;
    nak->passed = true;
  } else if (continuing && rnr_open_ && psn == rnr_psn_ && !rnr_waits(r.time_ns)) {
    run_cause_ = Cause::rnr;
    rnr_open_ = false;
  }

  // What was overtaken by the beginning of the present run belongs to the one before, or is its head.
  const bool head_of_run = psn < run_start_ && !behind(r.ip_id, id_before_run_);
  const bool of_last_run =
      late_repeat && !head_of_run && last_run_cause_ != Cause::none && behind(r.ip_id, run_id_);
  Cause cause = of_last_run ? last_run_cause_ : run_cause_;
  const bool read = s.info.operation == Operation::read_request;
  if (read && (cause == Cause::timeout || cause == Cause::unknown)) cause = Cause::read_retry;
  if (!read && cause == Cause::read_retry) cause = Cause::timeout;
  s.verdict.set(Verdict::retransmission);
  s.verdict.cause = cause;
  if (seen != nullptr) {
    s.verdict.original = static_cast<std::uint32_t>(seen->frame);
  } else if (const Pending* op = read ? pending(psn) : nullptr) {
    s.verdict.original = static_cast<std::uint32_t>(op->frame);  // issued again from its middle
  }
  const bool has_answer = answered_on_its_own(s.info.operation);
  const bool answer_missing = has_answer && answer_asked_again(s, psn, count);
  if (run_start_ == psn) run_for_answer_ = answer_missing;
  // What goes with a request whose answer is missing is repeated for good reason.
  const bool spurious = acked_known_ && psn + count <= acked_ && !(has_answer && run_for_answer_) &&
                        (hole == nullptr || hole->of_repeat);
  if (spurious) s.verdict.set(Verdict::spurious);

  if (hole != nullptr && (!late_repeat || !hole->of_repeat)) {
    const bool first_copy = !hole->of_repeat;
    if (hole->called_missed) unlose(s, side_, Lost::by_capture, 1, hole->frame);
    // Overtaken, it fills its own place in the run.
    const std::uint64_t missing = late_repeat ? holes_.missing(psn, run_frame_) : holes_.missing(psn);
    if (missing > 0) lose(s, side_, Lost::before_capture, missing);
    if (first_copy) count_goodput(s);
  }
  if (late_repeat) {
    const std::uint64_t shown_by = holes_.counted_by(psn);
    if (shown_by >= run_frame_) unlose(s, side_, Lost::before_capture, 1, shown_by);
  }
  Seen again = seen_of(s, psn);
  again.cause = static_cast<std::uint8_t>(cause) & 7U;
  again.filled = hole != nullptr && !hole->of_repeat ? 1 : 0;
  again.late = late_repeat ? 1 : 0;
  holes_.fill(psn, count);
  issue(s, psn, count, cause);

  sent_.put(again, needed_from(psn), s.shared.budget);
  if (Pending* op = pending(psn)) op->retried = true;

  if (s.counts) {
    constexpr std::array<Event, cause_count> events{
        Event::retransmitted_unknown, Event::retransmitted_nak,        Event::retransmitted_timeout,
        Event::retransmitted_rnr,     Event::retransmitted_read_retry, Event::retransmitted_unknown};
    happened(s, side_, events[static_cast<std::size_t>(cause)]);
    if (spurious) happened(s, side_, Event::spurious);
    const bool thrown_away = cause == Cause::nak && seen != nullptr && psn != run_nak_ && !spurious;
    if (thrown_away) happened(s, side_, Event::wasted);
    if (Flow* flow = s.flow(side_)) {
      SequenceCounts& sequence = flow->sequence_to_change();
      ++sequence.retransmitted[static_cast<std::size_t>(cause)];
      sequence.retransmitted_bytes += r.wire;
      if (spurious) ++sequence.spurious;
      if (thrown_away) {
        ++sequence.wasted_packets;
        sequence.wasted_bytes += r.wire;
      }
    }
    if (Series::Bucket* bucket = s.bucket()) ++bucket->retransmitted;
  }
  if (run_next_ >= next_) {
    in_run_ = false;
    naks_.pass_before(run_frame_);
    next_ = std::max(next_, psn + count);
    message_known_ = true;
    inside_message_ = !s.info.ends_message();
    message_operation_ = s.info.operation;
  }
}

/// Whether a run that began for another reason is the reaction to a NAK as well, from its PSN on.
bool PsnSpace::joins_run(const OpenNak& nak, std::int64_t psn, std::int64_t time_ns) const noexcept {
  if (nak.passed || nak.psn <= run_start_ || run_cause_ == Cause::nak || run_cause_ == Cause::rnr)
    return false;
  const bool exact = nak.psn == psn && !nak.for_rnr;
  const bool before = nak.frame < run_frame_;
  const bool asked = exact || (before && nak.psn >= acked_);
  return asked && !(before && run_after_silence_) && !stale(nak, time_ns);
}

void PsnSpace::mark_late(Step& s) {
  s.verdict.set(Verdict::out_of_order);
  happened(s, s.side, Event::out_of_order);
  if (s.counts && s.flow(s.side) != nullptr) ++s.flow(s.side)->sequence_to_change().out_of_order;
}

/// What `seen` repeated was not lost after all.
void PsnSpace::unlose_filled(Step& s, Seen& seen, unsigned side) {
  unlose(s, side, Lost::before_capture, 1, seen.frame);
  seen.filled = 0;
}

void PsnSpace::late(Step& s, std::int64_t psn, std::int64_t count, const Hole* hole) {
  if (hole != nullptr && hole->called_missed) unlose(s, side_, Lost::by_capture, 1, hole->frame);
  if (psn < first_) {
    // No answer to anything before is known either.
    if (response_next_ >= 0 && !answers_seen_) response_next_ = std::min(response_next_, psn);
    if (!acked_known_) acked_ = std::min(acked_, psn);
  }
  holes_.fill(psn, count);
  Seen seen = seen_of(s, psn);
  seen.late = 1;
  sent_.put(seen, needed_from(psn), s.shared.budget);
  ++request_facts_.single;
  count_goodput(s);
  issue(s, psn, count, Cause::none);
  mark_late(s);
}

/// Notes a request whose answer has PSNs of its own.
void PsnSpace::issue(Step& s, std::int64_t psn, std::int64_t count, Cause cause) {
  if (!answered_on_its_own(s.info.operation)) return;
  constexpr std::size_t limit = 512;
  if (issued_.size() - issued_head_ >= limit) ++issued_head_;
  if (issued_head_ >= 64 && issued_head_ * 2 >= issued_.size()) {
    issued_.erase(issued_.begin(), issued_.begin() + static_cast<std::ptrdiff_t>(issued_head_));
    issued_head_ = 0;
  }
  Issued issued;
  issued.first = psn;
  issued.next = psn;
  issued.end = psn + std::max<std::int64_t>(count, 1);
  issued.frame = s.number;
  issued.open_end = count == 0;
  issued.cause = cause;
  // What was asked for with a NAK had never been executed.
  issued.instead = cause != Cause::none && answers_given_up_;
  issued.repeated = cause != Cause::none && cause != Cause::nak && cause != Cause::rnr;
  // A request that was overtaken still stands where its PSN puts it.
  auto place = issued_.end();
  const auto front = issued_.begin() + static_cast<std::ptrdiff_t>(issued_head_);
  // So does a repeat of what the responder has kept, but could not answer yet.
  const bool in_place = cause == Cause::none || (keeps_early_ && issued.repeated);
  while (in_place && place != front && (keeps_early_ || !std::prev(place)->repeated) &&
         std::prev(place)->next > psn) {
    --place;
  }
  issued_.insert(place, issued);
}

/// A NAK that is long past did not reach the sender, or had its reaction: it goes back for its own reasons.
bool PsnSpace::stale(const OpenNak& nak, std::int64_t time_ns) const noexcept {
  return nak.passed ? !reacts_by(nak, time_ns) : long_since(nak.time_ns, time_ns, 16);
}

/// Nothing is sent again before the RNR timer ends; half of it, for clocks that differ.
bool PsnSpace::rnr_waits(std::int64_t time_ns) const noexcept {
  const bool timed = time_ns != capture::no_time && rnr_time_ns_ != capture::no_time;
  return timed && time_ns - rnr_time_ns_ < static_cast<std::int64_t>(rnr_wait_ns_ / 2);
}

bool PsnSpace::sooner_than_reactions(const OpenNak& nak, std::int64_t time_ns) const noexcept {
  return nak.time_ns != capture::no_time && time_ns != capture::no_time &&
         (time_ns - nak.time_ns) * 2 < reaction_ns_;
}

/// Whether a reaction to this NAK would come at about this time.
bool PsnSpace::reacts_by(const OpenNak& nak, std::int64_t time_ns) const noexcept {
  if (nak.time_ns == capture::no_time || time_ns == capture::no_time) return true;
  return reaction_ns_ == 0 ? !long_since(nak.time_ns, time_ns, 2) : time_ns - nak.time_ns < 4 * reaction_ns_;
}

/// Back to where the last NAK made the sender go, at once: no timer is that fast. The NAK came twice.
bool PsnSpace::nak_came_twice(std::int64_t psn, std::int64_t time_ns) const noexcept {
  const bool too_late = silent_before(time_ns) && !reacts_by(last_nak_, time_ns);
  if (in_run_ && run_cause_ == Cause::nak && psn == run_nak_) return !too_late;
  const bool there = psn == last_nak_.psn || (psn == acked_ && last_nak_.psn <= psn);
  return last_nak_.psn >= 0 && there && time_ns != capture::no_time && !last_nak_.for_rnr &&
         reacts_by(last_nak_, time_ns) && !silent_before(time_ns) && last_answer_ns_ != capture::no_time &&
         time_ns - last_answer_ns_ < silence_ns;
}

/// Whether a NAK would have been captured. Where nothing of the other direction was, long silence
/// still tells.
bool PsnSpace::hears_answers(const Step& s) const noexcept {
  constexpr std::int64_t long_silence_ns = 10'000'000;
  if (answers_seen_ || s.flow(side_ ^ 1U) != nullptr) return true;
  return s.r.time_ns != capture::no_time && last_request_ns_ != capture::no_time &&
         s.r.time_ns - last_request_ns_ >= long_silence_ns;
}

/// A stretch of requests is sent again, beginning here. Why?
void PsnSpace::start_run(Step& s, std::int64_t psn, const Seen* seen) {
  const PacketRecord& r = s.r;
  constexpr std::int64_t skipped_at_most = 1024;
  // The sender goes back to what was asked for, or to before it (its own oldest), or, when more was
  // confirmed since, to that; if none of these, the head of the run is missing.
  const auto reacts_to = [&](std::int64_t asked) {
    return psn <= asked || (acked_known_ && acked_ >= psn) || psn - asked <= skipped_at_most;
  };
  OpenNak* asked = naks_.find(psn);
  // Not just the one, but nothing before it either; unless a missing answer explains it better.
  const bool answer_missing =
      s.info.operation == Operation::read_request &&
      ((psn < acked_ && answers_.find(psn) == nullptr) || response_holes_.find(psn) != nullptr);
  if (asked == nullptr && !answer_missing) asked = naks_.up_to(psn);
  // Answered here, and what the NAK asked for has come: in doubt only what comes as soon as reactions do.
  const bool answered = answered_on_its_own(s.info.operation) && psn < acked_;
  if (asked != nullptr && asked->psn < psn && answered && !reacts_by(*asked, r.time_ns)) asked = nullptr;
  if (asked != nullptr && !reacts_to(asked->psn)) asked = nullptr;
  if (asked != nullptr && asked->passed && asked->psn != psn && acked_ != psn) asked = nullptr;
  if (asked != nullptr && stale(*asked, r.time_ns)) asked = nullptr;
  std::int64_t expected = -1;
  // Only what a NAK asked for was sent again: the responder keeps what comes early.
  const bool selective = in_run_ && lone_ && run_cause_ == Cause::nak && run_next_ < next_ && !goes_back_;
  keeps_early_ = selective && acked_known_ && psn == acked_;
  interrupt_run(s);
  last_run_cause_ = run_cause_;
  run_id_ = r.ip_id;
  if (rnr_open_ && !rnr_waits(r.time_ns) && reacts_to(rnr_psn_)) {
    run_cause_ = Cause::rnr;
    rnr_open_ = false;
    run_nak_ = expected = rnr_psn_;
    // The twin of an RNR NAK makes the sender go back once more.
    if (!naks_.empty() && !naks_.newest().for_rnr) naks_.clear();
    Requester& requester = s.connection.requester[side_];
    if (s.counts && requester.trouble->rnr && r.time_ns != capture::no_time && r.time_ns >= rnr_time_ns_) {
      requester.trouble->rnr->wait_ns.add(static_cast<std::uint64_t>(r.time_ns - rnr_time_ns_));
    }
  } else if (asked != nullptr) {
    run_cause_ = Cause::nak;
    run_nak_ = expected = asked->psn;
    if (asked->psn == psn && !asked->passed && r.time_ns > asked->time_ns &&
        asked->time_ns != capture::no_time) {
      const std::int64_t took = r.time_ns - asked->time_ns;
      if (reactions_ < 2) ++reactions_;
      reaction_ns_ = reaction_ns_ == 0 ? took : reaction_ns_ + (took - reaction_ns_) / 8;
    }
    if (s.counts && !asked->for_rnr && r.time_ns != capture::no_time && r.time_ns >= asked->time_ns) {
      s.connection.requester[side_].trouble->nak_reaction_ns.add(
          static_cast<std::uint64_t>(r.time_ns - asked->time_ns));
    }
    // Not back but on: this may still be the run before, and the reaction to come. Nor is it sure without
    // IDs that this is not the packet itself, late.
    if ((in_run_ && psn > run_next_) || !request_facts_.ids_rise(r)) {
      asked->passed = true;
    } else {
      naks_.consume(asked);
    }
  } else if (!answer_missing && nak_came_twice(psn, r.time_ns)) {
    run_cause_ = Cause::nak;
    expected = run_nak_ = psn;
  } else {
    run_nak_ = -1;
    run_cause_ = s.info.operation == Operation::read_request ? Cause::read_retry
                 : hears_answers(s)                          ? Cause::timeout
                                                             : Cause::unknown;
    if (acked_known_ && psn > acked_ && psn - acked_ <= skipped_at_most) expected = acked_;
  }
  if (acked_known_) expected = std::max(expected, std::min(acked_, psn));
  // Nobody answers any more: the requests, or the responses, are gone. What comes now answers the repeats.
  const bool no_answers =
      long_since(last_answer_ns_, r.time_ns, 4) && long_since(last_request_ns_, r.time_ns, 4);
  if (run_cause_ == Cause::nak || run_cause_ == Cause::rnr) forget_refused(psn);
  answers_given_up_ = no_answers && run_cause_ != Cause::nak && run_cause_ != Cause::rnr && !keeps_early_;
  if (answers_given_up_) give_up_answers();
  if (keeps_early_) expect_both(psn);
  happened(s, side_, Event::go_back_n);
  if (run_start_ == psn && run_acked_ == acked_) happened(s, side_, Event::go_back_n_no_progress);
  // A run that does not begin where it must: its head was lost on the way here.
  if (expected >= 0 && expected < psn) {
    holes_.add({expected, psn, r.time_ns, s.number, true, false, false, 0, false});
    s.verdict.gap = static_cast<std::uint32_t>(psn - expected);
  }
  run_start_ = psn;
  run_frame_ = s.number;
  lone_ = true;
  run_after_silence_ = silent_before(r.time_ns);
  run_acked_ = acked_;
  in_run_ = true;
  new_since_run_ = false;
  follow_chain(s, psn, seen);
}

void PsnSpace::follow_chain(Step& s, std::int64_t psn, const Seen* seen) {
  if (run_cause_ == Cause::nak || run_cause_ == Cause::rnr) {
    chain_open_ = false;
    return;
  }
  const PacketRecord& r = s.r;
  Requester& requester = s.connection.requester[side_];
  if (!chain_open_ || chain_psn_ != psn) {
    *chain_ = RetryChain{};
    chain_->psn = r.psn;
    chain_->opcode = r.opcode;
    chain_->first_frame = seen != nullptr ? seen->frame : s.number;
    chain_->first_time_ns = seen != nullptr ? seen->time_ns : r.time_ns;
    chain_->last_time_ns = chain_->first_time_ns;
    chain_psn_ = psn;
    chain_open_ = true;
    chain_->answered = acked_known_ && acked_ > psn;  // before it was repeated at all
    if (s.counts) ++requester.trouble->chains;
  }
  const bool timed = r.time_ns != capture::no_time && chain_->last_time_ns != capture::no_time;
  // The first resend is timed from the last packet sent, not from the one that is repeated.
  if (timed && chain_->resends > 0 && r.time_ns >= chain_->last_time_ns) {
    const auto spacing = static_cast<std::uint64_t>(r.time_ns - chain_->last_time_ns);
    chain_->min_spacing_ns =
        chain_->min_spacing_ns == 0 ? spacing : std::min(chain_->min_spacing_ns, spacing);
    chain_->max_spacing_ns = std::max(chain_->max_spacing_ns, spacing);
  }
  ++chain_->resends;
  chain_->last_frame = s.number;
  chain_->last_time_ns = r.time_ns;
  if (s.counts && chain_->resends > requester.trouble->worst_chain.resends)
    requester.trouble->worst_chain = *chain_;
}

/// A READ or another request with answers of its own was issued again, for what is still missing of it
/// (IBTA 9.7.5.1.9). Whether an answer to it is known to be missing.
bool PsnSpace::answer_asked_again(Step& s, std::int64_t psn, std::int64_t count) {
  if (s.verdict.cause == Cause::nak || s.verdict.cause == Cause::rnr)
    return false;  // the responder never saw the first one
  const bool begins_run = run_start_ == psn;
  const Seen* before = sent_.find(psn);
  if (begins_run && before != nullptr && before->cause != 0 && before->time_ns != capture::no_time &&
      last_answer_ns_ != capture::no_time && last_answer_ns_ < before->time_ns) {
    return run_for_answer_;  // no answer since it was issued last: nothing that was not known then
  }
  if (begins_run) {
    // A second step back before any response to the first: what that one asked for came late.
    const Seen* came = answers_.find(again_from_);
    const bool responded = came != nullptr && came->frame > again_frame_;
    const bool again_too_soon = again_claimed_ && psn > again_from_ && psn <= again_to_ && !responded;
    if (again_too_soon) unlose(s, side_ ^ 1U, Lost::after_capture, 1, again_frame_);
    again_claimed_ = false;
    again_from_ = psn;
    again_to_ = psn + count;
    again_frame_ = s.number;
    if (again_too_soon) return true;
  }
  const Hole* missing = response_holes_.find(psn);
  if (missing != nullptr) {
    const bool timed = s.r.time_ns != capture::no_time && missing->time_ns != capture::no_time;
    if (timed && begins_run && s.r.time_ns > missing->time_ns)
      asked_again_after(s.r.time_ns - missing->time_ns);
    if (s.counts && timed && s.r.time_ns >= missing->time_ns && !missing->of_repeat) {
      s.connection.requester[side_].trouble->read_rerequest_ns.add(
          static_cast<std::uint64_t>(s.r.time_ns - missing->time_ns));
    }
    return true;
  }
  if (response_next_ <= psn) return true;  // no response yet
  const Seen* answer = answers_.find(psn);
  if (answer != nullptr && answer->late != 0) return true;
  if (!begins_run) return false;  // only goes with the one that is missing
  // The response was captured, and the requester asks for it again. It has the ones before, or it
  // would ask for them too; or it saw a later one: this one was lost on the rest of the way.
  const Pending* op = pending(psn);
  const Seen* answer_before = answers_.find(psn - 1);
  // It went by with this one, when both were awaited, and much closer together than it took to ask again.
  const bool timed =
      answer != nullptr && s.r.time_ns != capture::no_time && answer->time_ns != capture::no_time;
  const bool both_awaited = timed && answer_before != nullptr && before != nullptr &&
                            answer_before->time_ns != capture::no_time &&
                            answer_before->time_ns >= before->time_ns;
  const bool went_together =
      both_awaited && s.r.time_ns - answer->time_ns > 2 * (answer->time_ns - answer_before->time_ns);
  const bool within_read = op != nullptr
                               ? psn > op->first
                               : answer != nullptr && !dissect::opcode_info(answer->opcode).starts_message();
  const bool has_those_before = within_read || went_together;
  constexpr std::int64_t at_once_ns = 10'000'000;  // a slow host's reaction; less than most timeouts
  const bool later_ones_went_by = response_next_ > psn + 1 && s.r.time_ns != capture::no_time &&
                                  last_answer_ns_ != capture::no_time &&
                                  s.r.time_ns - last_answer_ns_ < at_once_ns;
  if (!has_those_before && !later_ones_went_by) return false;
  // What shows that it is missing is the next one.
  const Seen* next = answers_.find(psn + 1);
  const bool next_timed = next != nullptr && next->time_ns != capture::no_time;
  const std::int64_t since =
      timed ? s.r.time_ns - (next_timed ? std::max(next->time_ns, answer->time_ns) : answer->time_ns) : 0;
  if (answer != nullptr && answer->cause != 0) {
    // It was given again, but too late to be what is missed: the request crossed it.
    if (!timed || ask_again_ns_ == 0 || since < ask_again_ns_) return true;
  } else if (since > 0) {
    asked_again_after(since);
  }
  lose(s, side_ ^ 1U, Lost::after_capture, 1);
  again_claimed_ = true;
  return true;
}

}  // namespace roce::analyze
