// SPDX-License-Identifier: Apache-2.0
// What the requests carry: messages and operations, which opcode may follow which, and lengths
// (IBTA 9.7.4.1).
#include <algorithm>
#include <array>
#include <bit>
#include <iterator>

#include "analyze/connection/operation_kind.hpp"
#include "analyze/transport/psn_fast_path.hpp"

namespace roce::analyze {

using dissect::Operation;
using dissect::Position;

/// PSNs that a READ request takes (IBTA 9.7.5.2.1); 0 = not known before the path MTU is.
std::int64_t PsnSpace::read_packets(Step& s) const noexcept {
  if (!s.r.has(PacketRecord::has_reth)) return 0;
  if (s.r.dma_length <= pmtu_at_least_) return 1;
  if (s.connection.pmtu == 0) return 0;
  return packets_of(s.r.dma_length, s.connection.pmtu);
}

/// So many bytes came in one packet, or have one PSN.
void PsnSpace::fit_in_one(Connection& connection, std::uint32_t bytes) noexcept {
  if (bytes <= pmtu_at_least_ || bytes > largest_pmtu) return;
  pmtu_at_least_ = static_cast<std::uint16_t>(std::bit_ceil(bytes));
  // Two losses behind READs looked like longer ones.
  if (connection.pmtu == pmtu_taught_ && pmtu_taught_ < pmtu_at_least_) connection.pmtu = 0;
}

/// A READ whose length in PSNs was unknown ends where the next request begins, if some path MTU explains
/// that. What is missing there may have been lost as well: only the second that says the same is believed.
bool PsnSpace::close_open_read(Step& s, std::int64_t psn) {
  if (pending_.empty() || !pending_.back().open_end) return false;
  Pending& read = pending_.back();
  const std::int64_t count = psn - read.first;
  if (count <= 0 || count > std::int64_t{1} << 23U) return false;
  if (read.has_reth && count == 1) {
    fit_in_one(s.connection, read.length);
  } else if (read.has_reth) {
    bool fits = false;
    for (std::uint32_t pmtu = pmtu_at_least_; pmtu <= largest_pmtu; pmtu *= 2) {
      if (packets_of(read.length, pmtu) != count) continue;
      fits = true;
      // Several may fit a short READ; only a clear case teaches.
      if (packets_of(read.length, pmtu * 2) == count) continue;
      if (pmtu_guess_ == pmtu && !s.connection.pmtu_by_cm && s.connection.pmtu == 0)
        s.connection.pmtu = pmtu_taught_ = pmtu_guess_;
      pmtu_guess_ = static_cast<std::uint16_t>(pmtu);
    }
    if (!fits) return false;
  }
  read.open_end = false;
  read.last = psn - 1;
  close_issued(read.first, psn);
  next_ = psn;
  return true;
}

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
void PsnSpace::complete_rest(const PacketBrief& r, bool counts) {
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    Pending& op = pending_[i];
    if (op.done) continue;
    if (op.last < 0 || op.last >= acked_) break;
    // A READ is complete with its last response; a later acknowledgement says that it was sent, not
    // that it came.
    const bool own_answer = op.answered_by_response() || op.kind == OperationKind::atomic;
    if (own_answer && response_holes_.any_in(op.first, op.last + 1)) continue;
    // What was answered before and asked for again waits for the answers, not for those of others.
    constexpr std::int64_t awaited_at_most = 4096;
    if (own_answer && op.ended && acked_ - op.last < awaited_at_most) continue;
    if (op.broken) {
      // What follows may still come, unless it is confirmed without.
      const bool last = i + 1 == pending_.size();
      if (!op.ended && (last || pending_[i + 1].first > acked_)) break;
      if (counts && !count_part(i)) {
        op.done = true;
        continue;
      }
    }
    complete(r, counts, op, !own_answer);
  }
  pop_done();
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
    // Never acknowledged: counted at its end, but not with those that were destroyed.
    if (s.info.starts_message()) broken_ = false;
    if (s.counts && s.info.ends_message()) {
      OperationStats& kind = stats_of(operation_kind_of(s.info.operation));
      kind.count += broken_ ? 0 : 1;
      ++kind.packets;
      kind.bytes += s.r.payload;
    } else if (s.counts) {
      OperationStats& kind = stats_of(operation_kind_of(s.info.operation));
      ++kind.packets;
      kind.bytes += s.r.payload;
    }
    return;
  }
  const OperationKind kind = operation_kind_of(s.info.operation);
  if (!in_order && !pending_.empty() && pending_.back().last < 0) {
    Pending& open = pending_.back();
    // A READ is in its request; only where it ends is not known.
    open.broken = !open.open_end;
    open.last = open.open_end ? psn - 1 : open.end() - 1;
    open.open_end = false;
  }
  const bool starts = s.info.starts_message();
  if (!starts && !pending_.empty()) {
    // The part that seemed to end there goes on.
    Pending& part = pending_.back();
    if (part.broken && !part.ended && !part.done && part.kind == kind && part.last + 1 == psn) {
      part.last = -1;
      part.broken = !part.begun();
    }
  }
  if (starts || pending_.empty() || pending_.back().last >= 0) {
    Pending& op = start_message(s.r, kind, psn, s.number);
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
    op.ended = true;
    if (!op.broken && s.counts) finish_message(op);
  }
  pop_done();
}

/// A request that was missing takes its place among the messages: parts that meet are one. Of one that comes
/// `again` nobody knows when it was sent first.
void PsnSpace::mend_message(Step& s, std::int64_t psn, std::int64_t count, bool again) {
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
  part.add_packet(s.r.payload);
  part.ended = s.info.ends_message();
  part.broken = !part.begun() || !part.ended;
  if (part.kind == OperationKind::read) {
    if (count == 0) return;  // nobody knows where it ends
    part.last = psn + count - 1;
    part.bytes = s.r.dma_length;
  }
  if (acked_known_ && psn < acked_) {
    // What was around it is complete and counted as it was.
    if (s.counts && !part.broken) finish_message(part);
    return;
  }
  std::size_t place = pending_.size();
  while (place > 0 && pending_[place - 1].first > psn) --place;
  if (place > 0 && (pending_[place - 1].open_end || psn < pending_[place - 1].end())) return;  // known
  const auto goes_on = [](const Pending& a, const Pending& b) {
    return a.broken && b.broken && !a.ended && !b.begun() && a.kind == b.kind && a.end() == b.first &&
           !a.done && !b.done;
  };
  const bool joins = part.broken;
  if (!pending_.insert(place, part)) return;
  if (joins && place + 1 < pending_.size() && goes_on(pending_[place], pending_[place + 1])) {
    pending_[place].append(pending_[place + 1]);
    pending_.erase(place + 1);
  }
  if (joins && place > 0 && goes_on(pending_[place - 1], pending_[place])) {
    --place;
    pending_[place].append(pending_[place + 1]);
    pending_.erase(place + 1);
  }
  Pending& op = pending_[place];
  if (!op.broken && op.last >= 0 && s.counts) finish_message(op);
}

/// Its requester may yet ask again: what it says is counted when others have come in its place.
void PsnSpace::keep_answered(const PacketBrief& r, bool counts, const Pending& op, bool measured) {
  std::vector<AnsweredOperation>& kept = *answered_operations_;
  const std::size_t most =
      std::clamp(pending_.room(), AnsweredOperation::kept, AnsweredOperation::kept_of_many);
  if (kept.size() >= most) {
    settle_answered(kept.front());
    kept.erase(kept.begin());
  }
  kept.push_back({op.first, op.last, op.start_ns, measured ? r.time_ns : capture::no_time, op.frame, op.kind,
                  op.opcode, op.retried, counts});
}

void PsnSpace::settle_answered(const AnsweredOperation& op) {
  if (!op.counts) return;
  OperationStats& kind = stats_of(op.kind);
  if (op.retried) ++kind.retried;
  if (op.end_ns == capture::no_time || op.start_ns == capture::no_time || op.end_ns < op.start_ns) return;
  kind.latency_ns.add(static_cast<std::uint64_t>(op.end_ns - op.start_ns));
}

/// The operation that this PSN is part of, which is under way again although all answers to it were captured;
/// nullptr if it was not or is forgotten.
Pending* PsnSpace::asked_again(std::int64_t psn) {
  if (!answered_operations_.there()) return nullptr;
  std::vector<AnsweredOperation>& kept = *answered_operations_;
  const AnsweredOperation* const found = find_answered(kept, psn);
  if (found == nullptr) return nullptr;
  const AnsweredOperation answered = *found;
  std::size_t place = pending_.size();
  while (place > 0 && pending_[place - 1].first > answered.first) --place;
  const bool there = place > 0 && pending_[place - 1].first == answered.first;
  if (there) {
    --place;
    pending_[place].done = false;
  } else {
    Pending op;
    op.first = answered.first;
    op.last = answered.last;
    op.start_ns = answered.start_ns;
    op.frame = answered.frame;
    op.kind = answered.kind;
    op.opcode = answered.opcode;
    op.packets = 1;
    if (!pending_.insert(place, op)) return nullptr;
  }
  kept.erase(kept.begin() + (found - kept.data()));
  pending_[place].ended = true;
  return &pending_[place];
}

/// A part of a message of which the rest will not come: with the message's end, its own or that the next
/// message tells of, an operation. False if it is none; then the next part is repeated where this is.
bool PsnSpace::count_part(std::size_t i) {
  const Pending& op = pending_[i];
  const bool next = i + 1 < pending_.size();
  const bool whole = op.ended || (next && pending_[i + 1].begun());
  OperationStats& kind = stats_of(op.kind);
  kind.count += whole ? 1 : 0;
  kind.packets += op.packets;
  kind.bytes += op.bytes;
  if (!whole && next && op.retried) pending_[i + 1].retried = true;
  return whole;
}

}  // namespace roce::analyze
