// SPDX-License-Identifier: Apache-2.0
// What a PSN space hands to the explanation of an episode, and what it books of it (docs/decisions/0008).
#include <algorithm>
#include <array>

#include "analyze/transport/psn_fast_path.hpp"

namespace roce::analyze {

using dissect::Operation;
using episode::Note;
using episode::Ruling;

namespace {

constexpr std::uint8_t acknowledge_opcode = 0x11;
constexpr std::uint32_t nak_syndrome = 0x60;

}  // namespace

/// Whether the packet is the next of its side, and nothing is in question: no episode begins with it.
bool PsnSpace::is_steady(const PacketRecord& r, const dissect::OpcodeInfo& info) noexcept {
  const std::int64_t psn = place(r.psn);
  if (info.request)
    return !requests_seen_ ||
           (psn == next_ && !in_run_ && holes_.empty() && !sent_earlier(request_facts_, r));
  // The other direction is not captured, or not yet.
  if (!requests_seen_) return info.operation == Operation::acknowledge || psn >= response_next_;
  if (sent_earlier(answer_facts_, r)) return false;
  if (info.operation != Operation::acknowledge) {
    if (!response_holes_.empty() || issued_head_ >= issued_.size()) return false;
    return issued_[issued_head_].next == psn && !issued_[issued_head_].repeated && psn < next_;
  }
  if (!r.has(PacketRecord::has_aeth)) return true;
  const bool acknowledges = (r.aeth >> 29U & 3U) == 0;
  if (!acked_known_) return acknowledges && psn < next_;
  return acknowledges && psn >= acked_ && psn < next_;
}

std::vector<std::pair<std::int64_t, std::int64_t>> PsnSpace::awaited() const {
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  for (std::size_t i = issued_head_; i < issued_.size(); ++i) {
    const Issued& issued = issued_[i];
    if (!issued.open_end && issued.next < issued.end) ranges.emplace_back(issued.next, issued.end);
  }
  return ranges;
}

Note PsnSpace::note_of(const PacketRecord& r, std::uint64_t number, const dissect::OpcodeInfo& info,
                       std::uint32_t pmtu) const noexcept {
  Note note;
  note.psn = place(r.psn);
  note.time_ns = r.time_ns;
  note.frame = number;
  note.aeth = r.aeth;
  note.path = r.path;
  note.bytes = r.wire;
  note.ip_id = r.ip_id;
  note.opcode = r.opcode;
  note.request = info.request;
  note.has_ip_id = r.has(PacketRecord::has_ip_id);
  note.has_aeth = r.has(PacketRecord::has_aeth);
  note.asks = r.has(PacketRecord::ack_requested);
  if (info.operation == Operation::read_request) {
    const bool known = r.has(PacketRecord::has_reth) && (pmtu != 0 || r.dma_length <= every_pmtu);
    note.count = !known ? 0 : pmtu == 0 ? 1 : static_cast<std::int32_t>(packets_of(r.dma_length, pmtu));
  }
  return note;
}

/// What was captured before, as far as it is remembered and may matter.
void PsnSpace::recall(std::vector<Note>& notes, std::uint32_t pmtu) {
  if (!requests_seen_) return;
  constexpr std::int64_t behind_acked = 1024;
  constexpr std::int64_t most = 4096;
  const std::int64_t from =
      std::max((acked_known_ ? std::min(acked_, next_) : next_) - behind_acked, next_ - most);
  const auto add = [&](const Seen& seen, bool request) {
    const dissect::OpcodeInfo& info = dissect::opcode_info(seen.opcode);
    if (info.operation == Operation::acknowledge) return;
    Note note;
    note.psn = seen.psn;
    note.time_ns = seen.time_ns;
    note.frame = seen.frame;
    note.path = seen.path;
    note.ip_id = seen.ip_id;
    note.opcode = seen.opcode;
    note.request = request;
    note.has_ip_id = (request ? request_facts_ : answer_facts_).known != 0;
    note.asks = request && seen.ask != 0;
    note.before = true;
    note.cause = static_cast<Cause>(seen.cause);
    if (info.operation == Operation::read_request) {
      const Pending* op = pending(seen.psn);
      const bool whole = op != nullptr && op->first == seen.psn && op->last >= op->first && !op->open_end;
      const AnsweredOperation* answered = find_answered(*answered_operations_, seen.psn);
      const bool by_length = op != nullptr && op->first == seen.psn && op->has_reth && pmtu != 0;
      note.count = whole                 ? static_cast<std::int32_t>(op->last - op->first + 1)
                   : answered != nullptr ? static_cast<std::int32_t>(answered->last - seen.psn + 1)
                   : by_length           ? static_cast<std::int32_t>(packets_of(op->length, pmtu))
                                         : 0;
    }
    notes.push_back(note);
  };
  sent_.for_each_in(from, next_, [&](const Seen& seen) { add(seen, true); });
  answers_.for_each_in(from, next_, [&](const Seen& seen) { add(seen, false); });
  const auto add_nak = [&](std::int64_t psn, std::uint64_t frame, std::int64_t time_ns,
                           std::uint32_t syndrome) {
    Note note;
    note.psn = psn;
    note.time_ns = time_ns;
    note.frame = frame;
    note.aeth = syndrome << 24U;
    note.opcode = acknowledge_opcode;
    note.has_aeth = true;
    note.before = true;
    notes.push_back(note);
  };
  if (last_nak_.psn >= from) add_nak(last_nak_.psn, last_nak_.frame, last_nak_.time_ns, nak_syndrome);
  if (rnr_psn_ >= from) add_nak(rnr_psn_, rnr_frame_, rnr_time_ns_, rnr_syndrome_);
  std::sort(notes.begin(), notes.end(), [](const Note& a, const Note& b) { return a.frame < b.frame; });
}

episode::Facts PsnSpace::facts_now() const noexcept {
  episode::Facts facts = facts_;
  const auto add = [](episode::StreamFact& fact, const StreamFacts& stream) {
    fact.id_forward = stream.id_forward;
    fact.id_other = stream.id_other;
    fact.id_constant = stream.id_constant;
    fact.single = std::max(fact.single, stream.single);
  };
  add(facts.requests, request_facts_);
  add(facts.responses, answer_facts_);
  facts.answers_captured = answers_seen_ && !answers_cut_;
  facts.first = std::min(first_, first_late_);
  constexpr std::int64_t unknown = 65536;       // nothing in the capture lies before that
  constexpr std::int64_t none = INT64_MIN / 2;  // nor before any PSN, where none was seen
  facts.acked = acked_known_ ? acked_ : requests_seen_ ? first_ - unknown : none;
  if (!requests_seen_) facts.first = INT64_MAX / 2;
  facts.msn_known = msn_known_ && acked_known_;
  facts.msn = last_msn_;
  facts.reaction_ns = reaction_ns_;
  facts.fastest_answer_ns = fast_answer_ns_;
  facts.slow_answer_ns = slow_answer_ns_;
  facts.ask_again_ns = ask_again_ns_;
  return facts;
}

/// Books what the explanation says of the packet: once, and here alone.
void PsnSpace::book(Step& s) {
  const Ruling& ruling = *s.ruling;
  if (s.info.request || s.info.operation != Operation::acknowledge) book_order(s, ruling);
  const std::array<std::pair<Lost, std::uint32_t>, 2> own{
      {{Lost::before_capture, ruling.lost_before}, {Lost::by_capture, ruling.missed_own}}};
  const std::array<std::pair<Lost, std::uint32_t>, 2> of_peer{
      {{Lost::after_capture, ruling.lost_after}, {Lost::by_capture, ruling.missed_other}}};
  for (const auto& [where, count] : own) {
    if (count != 0) book_loss(s, s.side, where, count);
  }
  for (const auto& [where, count] : of_peer) {
    if (count != 0) book_loss(s, s.side ^ 1U, where, count);
  }
}

void PsnSpace::book_order(Step& s, const Ruling& ruling) {
  Verdict& verdict = s.verdict;
  const bool by_network = verdict.has(Verdict::duplicate_network);
  const bool by_capture = verdict.has(Verdict::duplicate_capture);
  const bool was_repeat = verdict.has(Verdict::retransmission);
  for (const auto flag : {Verdict::retransmission, Verdict::out_of_order, Verdict::duplicate_network,
                          Verdict::duplicate_capture})
    verdict.clear(flag);
  verdict.cause = Cause::none;
  verdict.rule =
      static_cast<std::uint8_t>(ruling.what == Ruling::What::first ? episode::Rule::none : ruling.rule);
  Flow* const flow = s.counts ? s.flow(s.side) : nullptr;
  const auto original = [&] {
    if (ruling.original != 0 && ruling.original < s.number)
      verdict.original = static_cast<std::uint32_t>(ruling.original);
  };
  switch (ruling.what) {
    case Ruling::What::first:
      verdict.original = 0;
      break;
    case Ruling::What::late:
      verdict.original = 0;
      verdict.set(Verdict::out_of_order);
      happened(s, s.side, Event::out_of_order);
      if (flow != nullptr) ++flow->sequence_to_change().out_of_order;
      break;
    case Ruling::What::copy: {
      original();
      StreamFacts& stream = s.info.request ? request_facts_ : answer_facts_;
      if (stream.doubled == 0) stream.count_doubled();  // from now on more is remembered
      const bool capture = by_capture || !by_network;
      verdict.set(capture ? Verdict::duplicate_capture : Verdict::duplicate_network);
      happened(s, s.side, capture ? Event::duplicate_capture : Event::duplicate_network);
      if (flow == nullptr) break;
      SequenceCounts& sequence = flow->sequence_to_change();
      ++(capture ? sequence.duplicate_captures : sequence.duplicate_network);
      break;
    }
    case Ruling::What::repeat:
      if (!was_repeat || verdict.original == 0) original();
      verdict.set(Verdict::retransmission);
      verdict.cause = ruling.cause;
      book_repeat(s, s.side, ruling.cause);
      if (ruling.cause == Cause::read_retry && s.info.operation == Operation::read_response)
        happened(s, s.side, Event::response_repeated);
      break;
  }
  if (ruling.what != Ruling::What::repeat) verdict.clear(Verdict::spurious);
  if (!s.info.request) return;
  Seen* const seen = sent_.find(place(s.r.psn));
  if (seen != nullptr && seen->frame == s.number)
    seen->cause = ruling.what == Ruling::What::repeat ? static_cast<std::uint8_t>(ruling.cause) & 7U : 0U;
}

}  // namespace roce::analyze
