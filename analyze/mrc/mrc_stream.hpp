// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analyze/mrc/mrc.hpp"
#include "analyze/mrc/mrc_packet.hpp"

// Internal to this room.
namespace roce::analyze {

/// How far `a` is behind `b` in the circle of PSNs; negative: before it.
[[nodiscard]] inline std::int32_t mrc_distance(std::uint32_t a, std::uint32_t b) noexcept {
  constexpr unsigned above = 8;
  return static_cast<std::int32_t>((a - b) << above) >> above;
}
[[nodiscard]] inline std::uint32_t mrc_next(std::uint32_t psn) noexcept {
  return (psn + 1) & mrc_psn_mask;
}

/// What all streams together may have.
struct MrcBudget {
  std::size_t slots = 4 * std::size_t{1024} * 1024;
  std::size_t paths = 256 * std::size_t{1024};
  std::size_t repeats = 256 * std::size_t{1024};  ///< open at a time
  std::size_t losses = 64 * std::size_t{1024};
  std::size_t answers = 16 * std::size_t{1024};  ///< streams that remember theirs
  std::uint64_t losses_dropped = 0;
};

/// Follows the PSNs of one stream. No order is expected of them: packets take many paths. What is known of
/// order is that packets of one path keep theirs.
class MrcStreamState {
 public:
  explicit MrcStreamState(const FlowKey& key) { found.key = key; }

  void see_data(const MrcPacket& packet, std::uint64_t number, std::int64_t capture_began_ns,
                MrcBudget& budget);
  /// A SACK, NACK, or acknowledgement of messages of its receiver.
  void see_answer(const MrcPacket& packet, std::uint64_t number, MrcBudget& budget);
  void see_probe(const MrcPacket& packet);
  /// Whether the answer names a packet of this stream, by PSN and path.
  [[nodiscard]] bool is_named_by(const MrcPacket& answer) const noexcept;
  /// `index`: of the stream. Its losses are added to `losses`.
  [[nodiscard]] MrcStream finish(std::uint32_t index, MrcBudget& budget, std::vector<MrcLoss>& losses) &&;

  MrcStream found;

 private:
  static constexpr std::uint32_t no_psn = 0xffff'ffff;
  static constexpr std::uint16_t no_path = 0xffff;
  static constexpr std::size_t first_size = 1024, largest_size = 65536;
  static constexpr std::size_t paths_at_most = 4096;
  static constexpr std::size_t copies_at_most = 16;

  /// What is known of a PSN that was sent once.
  enum State : std::uint8_t {
    seen = 1,
    received = 2,  ///< the receiver said so
    repeated = 4,  ///< the rest is in repeats_
    lost = 8,      ///< shown by the order on its path, or by a NACK
    trimmed_here = 16,
    trimmed_behind = 32,
    trimmed_last = 64,  ///< by the last switch: with trimmed_behind
    refused = 128
  };
  struct Slot {
    std::int64_t time_ns = 0;
    std::uint64_t number = 0;
    std::uint32_t psn = no_psn;
    std::uint16_t path = no_path;
    std::uint8_t state = 0;
  };
  /// One time that a PSN was sent.
  struct Copy {
    std::int64_t time_ns = 0;
    std::uint64_t number = 0;
    std::uint16_t path = no_path;
    std::uint8_t state = 0;
    bool rtx = false;
    std::uint16_t ip_id = 0;
    std::uint32_t place = 0;  ///< MrcPacket::place
  };
  struct Repeat {
    std::vector<Copy> copies;  ///< as they came; the first one has no `seen` if it never came here
    std::int64_t acked_ns = capture::no_time;  ///< when the receiver first said that it has it
    bool acked_before = false;                 ///< before it was sent again
  };
  /// What is known of the order on a path, by the times at which its packets passed here.
  struct Way {
    std::int64_t arrived_ns =
        capture::no_time;  ///< of the latest that arrived, by reports older than any to come
    std::int64_t waiting_ns = capture::no_time;  ///< likewise, by a report that is not that old yet,
    std::int64_t reported_ns = 0;                ///< of then
    std::int64_t just_ns = capture::no_time;     ///< by the last report,
    std::int64_t just_now = capture::no_time;    ///< of then

    void settle(std::int64_t now, std::int64_t spread) noexcept {
      if (waiting_ns == capture::no_time || now - reported_ns <= spread) return;
      arrived_ns = std::max(arrived_ns, waiting_ns);
      waiting_ns = capture::no_time;
    }
  };
  struct Fresh {
    std::uint16_t path;
    std::int64_t sent_ns;
  };

  [[nodiscard]] Slot* at(std::uint32_t psn) noexcept;
  [[nodiscard]] const Slot* at(std::uint32_t psn) const noexcept;
  [[nodiscard]] Slot& advance_to(std::uint32_t psn, MrcBudget& budget);
  void grow(MrcBudget& budget);
  [[nodiscard]] std::uint16_t path_of(const MrcPacket& packet, MrcBudget& budget);
  /// The path that a report of the receiver names, or none.
  [[nodiscard]] std::uint16_t path_named(std::uint32_t ev) const noexcept;
  /// Whether the capture shows one once more: on its path, and sooner than anybody sends it again.
  [[nodiscard]] bool is_copy(const MrcPacket& packet) noexcept;
  [[nodiscard]] bool is_copy_of_answer(const MrcPacket& packet, MrcBudget& budget);
  void begin_anew(MrcBudget& budget);
  void see_repeat(Slot& slot, const Copy& copy, MrcBudget& budget);
  void see_sack(const MrcPacket& packet);
  void see_nack(const MrcPacket& packet);
  void note_refusal(const MrcPacket& packet, std::uint64_t number);
  void note_hint(const MrcPacket& packet, std::uint16_t path);
  void acknowledged(Slot& slot, std::int64_t now, std::uint16_t named);
  void note_hole(Slot& slot, std::int64_t now);
  void time_answer(const Slot& slot, std::uint16_t path, std::int64_t now);
  [[nodiscard]] bool is_overdue(std::int64_t sent, std::int64_t now) const noexcept;
  [[nodiscard]] bool overtaken(std::uint16_t path, std::int64_t sent, std::int64_t now) noexcept;
  void note_arrival(const Fresh& arrival, std::int64_t now);
  /// By how much ways there and back differ.
  [[nodiscard]] std::int64_t spread_ns() const noexcept {
    return static_cast<std::int64_t>(found.rtt_ns.max() - found.rtt_ns.min());
  }
  [[nodiscard]] bool is_judged(std::uint32_t psn) const noexcept;
  /// Nothing more is learned of this PSN.
  void settle(Slot& slot, bool for_good, MrcBudget& budget);
  void settle_repeat(Repeat& repeat, std::uint32_t psn, MrcBudget& budget);
  /// Whether it was sent in vain: nothing was heard of the receiver since.
  void note_unanswered(const Repeat& repeat);
  void count_lost(const Copy& copy, std::uint32_t psn, MrcBudget& budget);
  void keep(const MrcLoss& loss, MrcBudget& budget);

  std::vector<Slot> ring_;
  std::unordered_map<std::uint32_t, Repeat> repeats_;            ///< by PSN
  std::unordered_map<std::uint32_t, std::uint16_t> path_index_;  ///< by port << 16 | label
  std::vector<Way> ways_;                                        ///< of found.paths
  std::unordered_map<std::uint16_t, std::int64_t> probes_;       ///< by ID: when
  std::vector<Fresh> fresh_;                                     ///< arrivals by the SACK at hand
  std::vector<MrcLoss> losses_;
  std::unordered_map<std::uint32_t, std::uint32_t> unseen_;  ///< by EV: SACKs of packets that never came
  std::vector<std::uint64_t> answers_;                       ///< hashes of the last ones
  std::int64_t copied_within_ns_ = 0;                        ///< so late came what surely was a copy, at most
  std::uint32_t top_ = no_psn;                               ///< highest PSN
  std::uint32_t base_ = no_psn;    ///< lowest PSN of this use that was seen for the first time,
  std::uint32_t lowest_ = no_psn;  ///< and of all
  std::uint32_t cack_ = no_psn;
  std::uint32_t judged_from_ = no_psn;  ///< what is missing from here on was sent after the capture began
  std::int64_t answered_ns_ = capture::no_time;  ///< when the receiver last said anything
  std::int64_t quiet_ns_ = 0;                    ///< how long the capture had run before the first packet
  std::uint64_t lost_before_ = 0;                ///< that hold if nothing was missed by the capture,
  std::uint64_t needed_by_them_ = 0;             ///< and repeats that were needed then
  bool icrc_matched_ = false;
};

}  // namespace roce::analyze
