// SPDX-License-Identifier: Apache-2.0
// What a PSN space hands to the explanation of an episode (docs/decisions/0012).
#include <algorithm>

#include "analyze/episode/thresholds.hpp"
#include "analyze/transport/psn_fast_path.hpp"

namespace roce::analyze {

using dissect::Operation;
using episode::Note;

namespace {

constexpr std::int64_t most_recalled = 4096;  ///< PSNs

}  // namespace

bool PsnSpace::is_steady(const PacketRecord& r, const dissect::OpcodeInfo& info) const noexcept {
  if (r.trimmed()) return false;
  const std::int64_t psn = place(r.psn);
  if (info.request)
    return !req_.seen || (psn == req_.next && req_.cursor == req_.next && !sent_earlier(request_facts_, r));
  if (sent_earlier(answer_facts_, r)) return false;
  if (info.operation != Operation::acknowledge) {
    if (!req_.seen)
      return resp_.answered < 0 || psn == resp_.answered || (psn > resp_.answered && info.starts_message());
    return awaits() && first_awaited().next == psn && psn < req_.next;
  }
  if (!r.has(PacketRecord::has_aeth)) return true;
  if (!req_.seen) return !resp_.acked_known || psn >= resp_.acked;
  const bool acknowledges = (r.aeth >> 29U & 3U) == 0;
  return acknowledges && psn < req_.next && gaps_.empty() && (!resp_.acked_known || psn >= resp_.acked);
}

std::vector<std::pair<std::int64_t, std::int64_t>> PsnSpace::awaited() const {
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  for (std::size_t i = awaited_head_; i < awaited_.size(); ++i) {
    const Awaited& one = awaited_[i];
    if (!one.open_end && one.next < one.end) ranges.emplace_back(one.next, one.end);
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
  note.content = content_of(r);
  note.opcode = r.opcode;
  note.request = info.request;
  note.has_ip_id = r.has(PacketRecord::has_ip_id);
  note.has_aeth = r.has(PacketRecord::has_aeth);
  note.asks = r.has(PacketRecord::ack_requested);
  note.trimmed = r.trimmed();
  if (info.operation == Operation::read_request) {
    const bool known = r.has(PacketRecord::has_reth) && (pmtu != 0 || r.dma_length <= every_pmtu);
    note.count = !known ? 0 : pmtu == 0 ? 1 : static_cast<std::int32_t>(packets_of(r.dma_length, pmtu));
  }
  return note;
}

/// Where the PSNs begin that may matter to an episode whose lowest one is that.
std::int64_t PsnSpace::remembered_from(std::int64_t lowest) const noexcept {
  constexpr std::int64_t behind_acked = 1024;
  // What is usual on this path shows in what was in order.
  const std::int64_t context = std::max<std::int64_t>(64, 2 * std::int64_t{req_.in_flight_max});
  const std::int64_t acked = resp_.acked_known ? std::min(resp_.acked, req_.next) : req_.next;
  const std::int64_t forgotten = resp_.acked_known ? acked - behind_acked : INT64_MIN;
  return std::max({forgotten, req_.next - most_recalled, std::min(acked, lowest) - context});
}

/// What was captured before from that PSN on, as far as it is remembered. So many other notes will follow.
void PsnSpace::recall(episode::List<Note>& notes, std::uint32_t pmtu, std::int64_t from, std::size_t others) {
  const auto add = [&](const Seen& seen, bool request) {
    const dissect::OpcodeInfo& info = dissect::opcode_info(seen.opcode);
    Note& note = notes.emplace_back();
    note.psn = seen.psn;
    note.time_ns = seen.time_ns;
    note.frame = seen.frame;
    note.path = seen.path;
    note.ip_id = seen.ip_id;
    note.content = static_cast<std::uint16_t>(seen.content);
    note.opcode = seen.opcode;
    note.request = request;
    note.has_ip_id = (request ? request_facts_ : answer_facts_).known;
    note.asks = request && seen.ask != 0;
    note.before = true;
    note.trimmed = seen.trimmed != 0;
    note.cause = static_cast<Cause>(seen.cause);
    if (!episode::answered_on_its_own(info.operation)) return;
    const AnsweredOperation* const answered = messages_.find_answered(seen.psn);
    note.answered = answered != nullptr && answered->first == seen.psn;
    if (info.operation == Operation::read_request) {
      const Pending* op = messages_.find(seen.psn);
      if (op != nullptr && op->first != seen.psn) op = nullptr;
      const bool whole = op != nullptr && op->last >= op->first && !op->open_end;
      const bool by_length = op != nullptr && op->has_reth && pmtu != 0;
      const std::int64_t asked = by_length ? packets_of(op->length, pmtu) : INT32_MAX;
      // It was taken to reach as far as the next request, before the path MTU was known: one between may come
      // late.
      note.count = whole ? static_cast<std::int32_t>(std::min(op->last - op->first + 1, asked))
                   : answered != nullptr ? static_cast<std::int32_t>(answered->last - seen.psn + 1)
                   : by_length           ? static_cast<std::int32_t>(asked)
                                         : 0;
    }
  };
  notes.reserve(others + static_cast<std::size_t>(std::clamp<std::int64_t>(2 * (req_.next - from), 0, 512)));
  sent_.for_each_in(from, req_.next, [&](const Seen& seen) { add(seen, true); });
  const auto sent = static_cast<std::ptrdiff_t>(notes.size());
  // Where clocks differ, answers may be captured long before what they answer.
  const std::int64_t answered = std::max({req_.next, resp_.answered, resp_.acked_known ? resp_.acked : 0});
  answers_.for_each_in(from, std::min(answered, req_.next + most_recalled),
                       [&](const Seen& seen) { add(seen, false); });
  // The last NAKs: their AETH counts.
  for (const LastNak& nak : {nak_, rnr_}) {
    if (nak.frame == 0 || nak.psn < from) continue;
    const auto known =
        std::find_if(notes.begin(), notes.end(), [&](const Note& note) { return note.frame == nak.frame; });
    Note& note = known != notes.end() ? *known : notes.emplace_back();
    note.psn = nak.psn;
    note.time_ns = nak.time_ns;
    note.frame = nak.frame;
    note.aeth = nak.syndrome << 24U;
    constexpr std::uint8_t acknowledge_opcode = 0x11;
    note.opcode = acknowledge_opcode;
    note.has_aeth = true;
    note.before = true;
  }
  // Each half is in order, or nearly.
  const auto by_frame = [](const Note& a, const Note& b) { return a.frame < b.frame; };
  for (const auto& [begin, end] :
       {std::pair{notes.begin(), notes.begin() + sent}, std::pair{notes.begin() + sent, notes.end()}}) {
    if (!std::is_sorted(begin, end, by_frame)) std::sort(begin, end, by_frame);
  }
  std::inplace_merge(notes.begin(), notes.begin() + sent, notes.end(), by_frame);
}

episode::Facts PsnSpace::facts_now() const noexcept {
  episode::Facts facts;
  static_cast<episode::SpaceFacts&>(facts) = facts_;
  const auto add = [](episode::StreamFact& fact, const StreamFacts& stream) {
    fact.id_forward = stream.id_forward;
    fact.id_other = stream.id_other;
    fact.id_constant = stream.id_constant;
    fact.single = std::max(fact.single, stream.single);
    fact.captured = stream.single;
    fact.copied = stream.doubled;
  };
  add(facts.requests, request_facts_);
  add(facts.responses, answer_facts_);
  facts.answers_captured = resp_.seen && !resp_.cut;
  constexpr std::int64_t unknown = 65536;       // nothing in the capture lies before that
  constexpr std::int64_t none = INT64_MIN / 2;  // nor before any PSN, where none was seen
  facts.first = req_.seen ? std::min(req_.first, first_late_) : INT64_MAX / 2;
  facts.began_with = req_.first;
  facts.began_id = req_.first_id;
  facts.acked = resp_.acked_known ? resp_.acked : req_.seen ? req_.first - unknown : none;
  facts.answered = resp_.answered;
  facts.answered_ns = resp_.last_ns;
  facts.msn_known = resp_.msn_known && resp_.acked_known;
  facts.msn = resp_.msn;
  facts.counts_early = facts.counts_early || resp_.counts_early;
  facts.reaction_ns = std::min(reaction_ns_, episode::longest_ns);
  facts.fastest_answer_ns = std::min(resp_.fast_ns, episode::longest_ns);
  facts.slow_answer_ns = std::min(resp_.slow_ns, episode::longest_ns);
  facts.ask_again_ns = std::min(ask_again_ns_, episode::longest_ns);
  return facts;
}

}  // namespace roce::analyze
