// SPDX-License-Identifier: Apache-2.0
#include "analyze/transport/messages.hpp"

#include <utility>

#include "analyze/transport/psn_step.hpp"

namespace roce::analyze {

using dissect::Operation;
using dissect::Position;

Messages::Messages(const Messages& other)
    : queue_(other.queue_),
      alike_(other.alike_),
      alike_bytes_(other.alike_bytes_),
      alike_kind_(other.alike_kind_),
      operation_sent_(other.operation_sent_),
      known_(other.known_),
      inside_(other.inside_),
      broken_(other.broken_),
      operations_(other.operations_),
      answered_(other.answered_) {
  if (other.operation_ != nullptr)
    operation_ = operations_.data() + (other.operation_ - other.operations_.data());
}

OperationStats& Messages::other_stats(OperationKind kind) {
  auto place = std::find_if(operations_.begin(), operations_.end(),
                            [&](const OperationStats& stats) { return stats.kind >= kind; });
  if (place == operations_.end() || place->kind != kind) {
    OperationStats stats;
    stats.kind = kind;
    place = operations_.insert(place, std::move(stats));
  }
  operation_ = &*place;
  return *place;
}

/// Counts the whole message as an operation, once.
void Messages::book(Pending& op) {
  if (op.booked || !op.counts) return;
  op.booked = true;
  OperationStats& kind = stats_of(op.kind);
  ++kind.count;
  kind.bytes += op.bytes;
  kind.packets += op.packets;
  kind.size_bytes.add(op.bytes);
}

/// The messages that were only counted so far.
void Messages::settle_alike() {
  if (alike_ == 0) return;
  OperationStats& kind = stats_of(alike_kind_);
  kind.count += alike_;
  kind.packets += alike_;
  kind.bytes += std::uint64_t{alike_} * alike_bytes_;
  kind.size_bytes.add(alike_bytes_, alike_);
  alike_ = 0;
}

Pending* Messages::find(std::int64_t psn) noexcept {
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    Pending& op = queue_[i];
    if (psn < op.first) return nullptr;
    if (psn == op.first || psn <= op.last || op.open_end) return &op;
    if (op.last < 0 && i + 1 == queue_.size()) return &op;
  }
  return nullptr;
}

const AnsweredOperation* Messages::find_answered(std::int64_t psn) const noexcept {
  const std::vector<AnsweredOperation>& kept = *answered_;
  const auto found = std::find_if(kept.rbegin(), kept.rend(), [psn](const AnsweredOperation& op) {
    return op.first <= psn && psn <= op.last;
  });
  return found == kept.rend() ? nullptr : &*found;
}

void Messages::break_off() noexcept {
  known_ = false;
  if (queue_.empty() || queue_.back().last >= 0) return;
  queue_.back().broken = true;
  queue_.back().last = queue_.back().end() - 1;
}

bool Messages::destroyed_by_gap(const dissect::OpcodeInfo& info) noexcept {
  const bool known = known_ && inside_ && broken_;
  broken_ = !info.starts_message();
  return !known;
}

void Messages::complete(const PacketBrief& r, bool counts, Pending& op, bool measured) {
  op.done = true;
  book(op);
  if (op.answered_on_its_own()) {
    keep_answered(r, counts, op, measured);
    return;
  }
  if (!counts || (!op.retried && (!measured || op.broken))) return;
  OperationStats& kind = stats_of(op.kind);
  if (op.retried) ++kind.retried;
  const bool timed = r.time_ns != capture::no_time && op.start_ns != capture::no_time;
  if (measured && !op.broken && timed && r.time_ns >= op.start_ns)
    kind.latency_ns.add(static_cast<std::uint64_t>(r.time_ns - op.start_ns));
}

/// Acknowledged messages among which some are not plain.
void Messages::complete_rest(const PacketBrief& r, bool counts, std::int64_t acked, const PsnGaps& missing) {
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    Pending& op = queue_[i];
    if (op.done) continue;
    if (op.last < 0 || op.last >= acked) break;
    // A READ is complete with its last response; a later acknowledgement says that it was sent, not that it
    // came.
    const bool own_answer = op.answered_on_its_own();
    if (own_answer && missing.any_in(op.first, op.last + 1)) continue;
    // What was answered before and asked for again waits for the answers, not for those of others.
    constexpr std::int64_t awaited_at_most = 4096;
    if (own_answer && op.asked_again && acked - op.last < awaited_at_most) continue;
    if (op.broken) {
      // What follows may still come, unless it is confirmed without.
      const bool last = i + 1 == queue_.size();
      if (!op.ended && (last || queue_[i + 1].first > acked)) break;
      if (counts && !book_part(i)) {
        op.done = true;
        continue;
      }
    }
    complete(r, counts, op, !own_answer);
  }
  pop_done();
}

/// A part of a message of which the rest will not come: with the message's end, its own or that the next
/// message tells of, an operation. False if it is none; then the next part is repeated where this is.
bool Messages::book_part(std::size_t i) {
  Pending& op = queue_[i];
  const bool next = i + 1 < queue_.size();
  const bool whole = op.ended || (next && queue_[i + 1].begun());
  op.booked = true;
  OperationStats& kind = stats_of(op.kind);
  kind.count += whole ? 1U : 0U;
  kind.packets += op.packets;
  kind.bytes += op.bytes;
  if (!whole && next && op.retried) queue_[i + 1].retried = true;
  return whole;
}

void Messages::check_order(Step& s) const {
  const bool starts = s.info.starts_message();
  if (known_) {
    const bool legal = starts ? !inside_ : inside_ && operation_sent_ == s.info.operation;
    if (!legal) {
      s.verdict.set(Verdict::illegal_sequence);
      happened(s, s.side, Event::illegal_sequence);
      return;
    }
  } else if (!starts) {
    return;
  }
  if (!s.info.has_payload) return;
  bool wrong = false;
  const std::uint32_t pmtu = s.connection.pmtu;
  const std::uint32_t bytes = s.r.payload;
  const bool only = s.info.position == Position::only;
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
    const Pending* op = !queue_.empty() ? &queue_[queue_.size() - 1] : nullptr;
    if (only) {
      wrong = wrong || (s.r.has(PacketRecord::has_reth) && s.r.dma_length != bytes);
    } else if (op != nullptr && op->last < 0 && !op->broken && op->has_reth) {
      wrong = wrong || std::uint64_t{op->bytes} + bytes != op->length;
    }
  }
  if (!wrong) return;
  s.verdict.set(Verdict::wrong_length);
  happened(s, s.side, Event::wrong_length);
}

void Messages::track(Step& s, std::int64_t psn, std::int64_t count, bool in_order) {
  const OperationKind kind = operation_kind_of(s.info.operation);
  if (s.info.service == dissect::Service::uc) {
    // Never acknowledged: counted at its end, but not with those that were destroyed.
    if (s.info.starts_message()) broken_ = false;
    if (!s.counts) return;
    OperationStats& stats = stats_of(kind);
    stats.count += s.info.ends_message() && !broken_ ? 1U : 0U;
    ++stats.packets;
    stats.bytes += s.r.payload;
    return;
  }
  if (!in_order && !queue_.empty() && queue_.back().last < 0) {
    Pending& open = queue_.back();
    // A READ is in its request; only where it ends is not known.
    open.broken = !open.open_end;
    open.last = open.open_end ? psn - 1 : open.end() - 1;
    open.open_end = false;
  }
  const bool starts = s.info.starts_message();
  if (!starts && !queue_.empty()) {
    // The part that seemed to end there goes on.
    Pending& part = queue_.back();
    if (part.broken && !part.ended && !part.done && part.kind == kind && part.last + 1 == psn) {
      part.last = -1;
      part.broken = !part.begun();
    }
  }
  if (starts || queue_.empty() || queue_.back().last >= 0) {
    Pending& op = start(s.r, kind, psn, s.number);
    op.broken = !starts;
    if (op.kind == OperationKind::read) {
      op.open_end = count == 0;
      op.last = count == 0 ? -1 : psn + count - 1;
      op.packets = 1;
      op.bytes = s.r.dma_length;
      op.counts = s.counts;
      pop_done();
      return;
    }
  }
  Pending& op = queue_.back();
  op.add_packet(s.r.payload);
  op.counts = s.counts;
  if (s.info.ends_message()) {
    op.last = psn;
    op.ended = true;
  }
  pop_done();
}

void Messages::mend(Step& s, std::int64_t psn, std::int64_t count, bool again, std::int64_t acked) {
  if (s.info.service == dissect::Service::uc) return;
  Pending part;
  part.first = part.last = psn;
  part.start_ns = again ? capture::no_time : s.r.time_ns;
  part.frame = s.number;
  part.virtual_address = s.r.virtual_address;
  part.r_key = s.r.r_key;
  part.length = s.r.dma_length;
  part.opcode = s.r.opcode;
  part.kind = operation_kind_of(s.info.operation);
  part.has_reth = s.r.has(PacketRecord::has_reth);
  part.retried = again;
  part.counts = s.counts;
  part.add_packet(s.r.payload);
  part.ended = s.info.ends_message();
  part.broken = !part.begun() || !part.ended;
  if (part.kind == OperationKind::read) {
    if (count == 0) return;  // nobody knows where it ends
    part.last = psn + count - 1;
    part.bytes = s.r.dma_length;
  }
  if (psn < acked) {
    if (!part.broken) book(part);
    return;
  }
  std::size_t place = queue_.size();
  while (place > 0 && queue_[place - 1].first > psn) --place;
  if (place > 0 && (queue_[place - 1].open_end || psn < queue_[place - 1].end())) return;  // known
  const auto goes_on = [](const Pending& a, const Pending& b) {
    return a.broken && b.broken && !a.ended && !b.begun() && a.kind == b.kind && a.end() == b.first &&
           !a.done && !b.done;
  };
  const bool joins = part.broken;
  if (!queue_.insert(place, part)) return;
  if (joins && place + 1 < queue_.size() && goes_on(queue_[place], queue_[place + 1])) {
    queue_[place].append(queue_[place + 1]);
    queue_.erase(place + 1);
  }
  if (joins && place > 0 && goes_on(queue_[place - 1], queue_[place])) {
    queue_[place - 1].append(queue_[place]);
    queue_.erase(place);
  }
}

/// Its requester may yet ask again: its latency is counted when others have come in its place.
void Messages::keep_answered(const PacketBrief& r, bool counts, const Pending& op, bool measured) {
  std::vector<AnsweredOperation>& kept = *answered_;
  const std::size_t most =
      std::clamp(queue_.room(), AnsweredOperation::kept, AnsweredOperation::kept_of_many);
  if (kept.size() >= most) {
    settle(kept.front());
    kept.erase(kept.begin());
  }
  kept.push_back({op.first, op.last, op.start_ns, measured ? r.time_ns : capture::no_time, op.frame, op.kind,
                  op.opcode, op.retried, counts});
}

void Messages::settle(const AnsweredOperation& op) {
  if (!op.counts) return;
  OperationStats& kind = stats_of(op.kind);
  if (op.retried) ++kind.retried;
  if (op.end_ns == capture::no_time || op.start_ns == capture::no_time || op.end_ns < op.start_ns) return;
  kind.latency_ns.add(static_cast<std::uint64_t>(op.end_ns - op.start_ns));
}

void Messages::retry(std::int64_t psn, bool own_answer) {
  const AnsweredOperation* const found = own_answer ? find_answered(psn) : nullptr;
  if (found == nullptr) {
    if (Pending* op = find(psn)) op->retried = true;
    return;
  }
  // All answers to it were captured, but its requester lacks one.
  const AnsweredOperation answered = *found;
  std::size_t place = queue_.size();
  while (place > 0 && queue_[place - 1].first > answered.first) --place;
  if (place > 0 && queue_[place - 1].first == answered.first) {
    --place;
    queue_[place].done = false;
  } else {
    Pending op;
    op.first = answered.first;
    op.last = answered.last;
    op.start_ns = answered.start_ns;
    op.frame = answered.frame;
    op.kind = answered.kind;
    op.opcode = answered.opcode;
    op.packets = 1;
    op.booked = true;
    if (!queue_.insert(place, op)) return;
  }
  answered_->erase(answered_->begin() + (found - answered_->data()));
  queue_[place].asked_again = true;
  queue_[place].retried = true;
}

std::uint64_t Messages::finish(bool refused, bool captured) {
  settle_alike();
  if (answered_.there()) {
    for (const AnsweredOperation& op : *answered_) settle(op);
    answered_->clear();
  }
  for (OperationStats& kind : operations_) {
    kind.answered = kind.count;
    kind.largest_answered = kind.size_bytes.max();
  }
  // What was never completed was sent again all the same.
  std::uint64_t not_taken = 0;
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    Pending& op = queue_[i];
    if (op.done) continue;
    if (refused && !op.booked && op.kind != OperationKind::read) not_taken += op.bytes;
    if (op.last < 0) continue;
    if (!refused && op.broken && captured && !op.booked && !book_part(i)) continue;
    if (!refused && !op.broken) book(op);
    if (!op.retried) continue;
    OperationStats& kind = stats_of(op.kind);
    kind.retried = std::min(kind.retried + 1, kind.count);
  }
  return not_taken;
}

}  // namespace roce::analyze
