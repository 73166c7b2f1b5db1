// SPDX-License-Identifier: Apache-2.0
// What a requester's packets carry: the messages in flight, and the operations that they were (IBTA 9.7.4.1).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analyze/base/lazy.hpp"
#include "analyze/connection/connection.hpp"
#include "analyze/connection/operation_kind.hpp"
#include "analyze/record/packet_record.hpp"
#include "analyze/transport/pending_messages.hpp"
#include "analyze/transport/psn_ring.hpp"
#include "dissect/opcode.hpp"

// Internal to the tracker.
namespace roce::analyze {

inline constexpr std::uint32_t every_pmtu = 256;  ///< no path MTU is less (IBTA 9.4)

struct Step;

/// PSNs of a READ of so many bytes.
[[nodiscard]] constexpr std::int64_t packets_of(std::uint32_t bytes, std::uint32_t pmtu) noexcept {
  return std::max<std::int64_t>(1, (std::int64_t{bytes} + pmtu - 1) / pmtu);
}

/// A READ, or another operation with answers of its own, of which all answers were captured: complete, unless
/// its requester asks for some again, for they were lost behind the capture.
struct AnsweredOperation {
  /// Of one side, before what they say is counted: what was in flight together may be asked for again, and
  /// more than that not (128 is max_rd_atomic of Soft-RoCE).
  static constexpr std::size_t kept = 16;
  static constexpr std::size_t kept_of_many = 128;
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t start_ns = capture::no_time;
  std::int64_t end_ns = capture::no_time;  ///< no_time: not measured
  std::uint64_t frame = 0;
  OperationKind kind = OperationKind::read;
  std::uint8_t opcode = 0;
  bool retried = false;
  bool counts = false;
};

/// An operation is counted when it leaves the queue of those in flight: accepted by its responder, or at the
/// end, unless it was refused.
class Messages {
 public:
  Messages() = default;
  Messages(const Messages& other);
  Messages(Messages&&) = delete;
  Messages& operator=(const Messages&) = delete;
  Messages& operator=(Messages&&) = delete;
  ~Messages() = default;

  // The short way.
  /// Whether the lengths of a message of one packet leave nothing to learn and nothing to say.
  [[nodiscard]] static bool plain_message(const PacketBrief& r, OperationKind kind,
                                          const Connection& connection) noexcept;
  /// The same of a packet of a longer one.
  [[nodiscard]] bool plain_part(const PacketBrief& r, const dissect::OpcodeInfo& info,
                                const Connection& connection) noexcept;
  /// The next request, of which that is known.
  void add_plain(const PacketBrief& r, const dissect::OpcodeInfo& info, std::int64_t psn,
                 std::uint64_t number);
  /// The next READ or atomic, of so many PSNs.
  void add_own(const PacketBrief& r, const dissect::OpcodeInfo& info, std::int64_t psn, std::int64_t count,
               std::uint64_t number);
  /// Those before `acked` are complete.
  void complete_acknowledged(const PacketBrief& r, bool counts, std::int64_t acked, const PsnGaps& missing);

  /// IBTA 9.7.4.1.2: which opcode may follow which; 9.7.4.1.3-5: how long their payload must be.
  void check_order(Step& s) const;
  /// A request for the first time. `count`: PSNs; 0: not known.
  void track(Step& s, std::int64_t psn, std::int64_t count, bool in_order);
  /// A request that was missing takes its place. Of one that comes `again` nobody knows when it was sent
  /// first. Everything before `acked` is complete and counted as it was.
  void mend(Step& s, std::int64_t psn, std::int64_t count, bool again, std::int64_t acked);
  /// All answers to it came.
  void complete(const PacketBrief& r, bool counts, Pending& op, bool measured);
  /// The operation that this PSN is part of is under way again.
  void retry(std::int64_t psn, bool own_answer);
  /// What follows was not captured.
  void lose_track() noexcept { known_ = false; }
  void believe(bool known) noexcept { known_ = known; }
  void break_off() noexcept;
  /// The last packet sent: which one may follow hangs on it.
  void sent_last(const dissect::OpcodeInfo& info, bool known) noexcept {
    operation_sent_ = info.operation;
    inside_ = !info.ends_message();
    known_ = known;
  }
  void pop_done() noexcept {
    while (!queue_.empty() && queue_.front().done) queue_.pop_front();
  }
  /// The message in flight that has this PSN; nullptr if there is none.
  [[nodiscard]] Pending* find(std::int64_t psn) noexcept;
  /// The one that was answered last with this PSN; nullptr if there is none.
  [[nodiscard]] const AnsweredOperation* find_answered(std::int64_t psn) const noexcept;
  [[nodiscard]] PendingQueue& queue() noexcept { return queue_; }
  [[nodiscard]] const PendingQueue& queue() const noexcept { return queue_; }
  /// A READ whose end is not known is the last one.
  [[nodiscard]] bool open_end() const noexcept { return !queue_.empty() && queue_.back().open_end; }
  [[nodiscard]] bool known() const noexcept { return known_; }
  [[nodiscard]] bool inside() const noexcept { return inside_; }

  /// UC: a gap destroys at least the message that it begins in, the one that it ends in, or one between.
  /// Whether that is another one than was counted last.
  [[nodiscard]] bool destroyed_by_gap(const dissect::OpcodeInfo& info) noexcept;

  /// The end: what is in flight counts unless it was `refused`. Returns the bytes of it that did not.
  std::uint64_t finish(bool refused, bool captured);
  [[nodiscard]] std::vector<OperationStats> take() noexcept { return std::move(operations_); }

  void fetch_operation() const noexcept {
    if (operation_ != nullptr) prefetch(operation_);
  }
  void fetch_histogram() const noexcept {
    if (operation_ != nullptr) operation_->latency_ns.fetch();
  }
  /// The counts of the latencies that an answer at this time would show.
  void fetch_latency(std::int64_t time_ns) const noexcept {
    if (operation_ == nullptr || queue_.empty()) return;
    const std::size_t last = std::min(queue_.size(), PendingQueue::completed_at_once) - 1;
    for (const std::size_t i : {std::size_t{0}, last}) {
      // Unsigned: only asked for, whatever comes out; a message may have had no time.
      operation_->latency_ns.fetch(static_cast<std::uint64_t>(time_ns) -
                                   static_cast<std::uint64_t>(queue_[i].start_ns));
    }
  }

 private:
  [[nodiscard]] OperationStats& stats_of(OperationKind kind) {
    return operation_ != nullptr && operation_->kind == kind ? *operation_ : other_stats(kind);
  }
  [[nodiscard]] OperationStats& other_stats(OperationKind kind);
  Pending& start(const PacketBrief& r, OperationKind kind, std::int64_t psn, std::uint64_t number);
  void book(Pending& op);
  void settle_alike();
  void complete_rest(const PacketBrief& r, bool counts, std::int64_t acked, const PsnGaps& missing);
  bool book_part(std::size_t i);
  void keep_answered(const PacketBrief& r, bool counts, const Pending& op, bool measured);
  void settle(const AnsweredOperation& op);

  PendingQueue queue_;
  OperationStats* operation_ = nullptr;  ///< in operations_, the one counted last
  // Messages of one packet, alike, that are not in operations_ yet:
  std::uint32_t alike_ = 0;
  std::uint32_t alike_bytes_ = 0;
  OperationKind alike_kind_ = OperationKind::send;
  dissect::Operation operation_sent_ = dissect::Operation::unknown;
  bool known_ = false;   ///< which opcode may come next is
  bool inside_ = false;  ///< the last packet was not the end of its message
  bool broken_ = false;  ///< UC: a packet of the message under way is missing, and it is counted
  std::vector<OperationStats> operations_;
  Lazy<std::vector<AnsweredOperation>> answered_;  ///< the last ones
};

inline Pending& Messages::start(const PacketBrief& r, OperationKind kind, std::int64_t psn,
                                std::uint64_t number) {
  if (queue_.full()) [[unlikely]]
    book(queue_.front());
  return queue_.add({.first = psn,
                     .last = -1,
                     .start_ns = r.time_ns,
                     .frame = number,
                     .virtual_address = r.virtual_address,
                     .r_key = r.r_key,
                     .length = r.dma_length,
                     .bytes = 0,
                     .packets = 0,
                     .opcode = r.opcode,
                     .kind = kind,
                     .has_reth = r.has(PacketBrief::has_reth)});
}

inline bool Messages::plain_message(const PacketBrief& r, OperationKind kind,
                                    const Connection& connection) noexcept {
  if (r.payload > every_pmtu && connection.pmtu_by_cm && r.payload > connection.pmtu) return false;
  return kind != OperationKind::write || !r.has(PacketBrief::has_reth) || r.dma_length == r.payload;
}

inline bool Messages::plain_part(const PacketBrief& r, const dissect::OpcodeInfo& info,
                                 const Connection& connection) noexcept {
  const bool ends = info.ends_message();
  if (connection.pmtu == 0) return false;
  if (ends ? r.payload == 0 || r.payload > connection.pmtu : r.payload != connection.pmtu) return false;
  if (info.starts_message()) return true;
  if (operation_sent_ != info.operation || queue_.empty()) return false;
  const Pending& op = queue_.back();
  if (op.last >= 0 || op.broken) return false;
  return !ends || info.operation != dissect::Operation::write || !op.has_reth ||
         std::uint64_t{op.bytes} + r.payload == op.length;
}

inline void Messages::add_plain(const PacketBrief& r, const dissect::OpcodeInfo& info, std::int64_t psn,
                                std::uint64_t number) {
  const OperationKind kind =
      info.operation == dissect::Operation::write ? OperationKind::write : OperationKind::send;
  Pending& op = info.starts_message() ? start(r, kind, psn, number) : queue_.back();
  op.add_packet(r.payload);
  if (info.ends_message()) {
    op.last = psn;
    op.counts = true;
  }
  inside_ = !info.ends_message();
  operation_sent_ = info.operation;
  pop_done();
}

inline void Messages::add_own(const PacketBrief& r, const dissect::OpcodeInfo& info, std::int64_t psn,
                              std::int64_t count, std::uint64_t number) {
  const bool read = info.operation == dissect::Operation::read_request;
  Pending& op = start(r, read ? OperationKind::read : OperationKind::atomic, psn, number);
  op.last = psn + count - 1;
  op.packets = 1;
  op.bytes = read ? r.dma_length : r.payload;
  op.counts = true;
  op.ended = !read;
  sent_last(info, true);
  pop_done();
}

inline void Messages::complete_acknowledged(const PacketBrief& r, bool counts, std::int64_t acked,
                                            const PsnGaps& missing) {
  while (!queue_.empty()) {
    Pending& op = queue_.front();
    if (op.last < 0 || op.last >= acked) {
      if (op.done) pop_done();
      return;
    }
    if (!op.plain() || !counts || op.start_ns < 0 || r.time_ns < op.start_ns) {
      complete_rest(r, counts, acked, missing);
      return;
    }
    if (op.packets == 1) {
      if (op.bytes != alike_bytes_ || op.kind != alike_kind_ || alike_ == 0xffffffff) {
        settle_alike();
        alike_bytes_ = op.bytes;
        alike_kind_ = op.kind;
      }
      ++alike_;
    } else {
      book(op);
    }
    stats_of(op.kind).latency_ns.add(static_cast<std::uint64_t>(r.time_ns - op.start_ns));
    queue_.pop_front();
  }
}

}  // namespace roce::analyze
