// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "analyze/compare/align.hpp"
#include "analyze/compare/compare.hpp"
#include "analyze/compare/packet_window.hpp"
#include "analyze/compare/path_book.hpp"
#include "analyze/compare/point_reader.hpp"
#include "analyze/compare/sent_before.hpp"
#include "analyze/compare/spray_book.hpp"

// Internal to compare: one run of a comparison.
namespace roce::analyze {

class Comparison {
 public:
  Comparison(const ComparePoint& a, const ComparePoint& b, const CompareOptions& options);
  [[nodiscard]] CompareResult run();

 private:
  [[nodiscard]] std::optional<unsigned> next_side();
  void take(unsigned side);
  void mark_if_doubled(PacketSeen& seen);
  void handle_front(bool early);
  void handle_matched(PacketSeen& seen, PacketSeen& fellow);
  void handle_alone(std::uint64_t place, bool early);
  /// What became of the packet, and its marks; `direction`: it passes `first` first.
  [[nodiscard]] Outcome note_passage(unsigned direction, const PacketSeen& first, const PacketSeen& second,
                                     bool corrupted);
  [[nodiscard]] static bool is_trimmed_between(const PacketSeen& first, const PacketSeen& second) noexcept {
    return second.has(PointPacket::trimmed) && !first.has(PointPacket::trimmed);
  }
  [[nodiscard]] static bool is_sprayed(const PacketSeen& seen) noexcept;
  void note_sprayed(const PacketSeen& seen, unsigned direction);
  void finish_sprayed();
  [[nodiscard]] LostPacket lost_packet(const PacketSeen& seen, unsigned direction) const;
  [[nodiscard]] bool has_matched_copy(const PacketSeen& seen);
  [[nodiscard]] std::optional<std::uint64_t> find_damaged(const PacketSeen& seen);
  [[nodiscard]] bool is_covered(const PacketSeen& seen, unsigned direction) const;
  [[nodiscard]] std::optional<std::uint32_t> list_lost(const PacketSeen& seen, unsigned direction,
                                                       AddressPair& pair);
  void learn_times(unsigned direction, const PacketSeen& a, const PacketSeen& b);
  void compare_marks(unsigned direction, const PacketSeen& a, const PacketSeen& b);
  void count_change(MarkField field, unsigned direction, std::optional<std::uint16_t> from,
                    std::optional<std::uint16_t> to, const PacketSeen& a, const PacketSeen& b);
  [[nodiscard]] std::int64_t corrected(const PacketSeen& seen) const noexcept {
    return seen.point == 0 ? seen.time_ns : seen.time_ns - shift_.value();
  }
  void finish_pairs();
  void finish_lost();
  /// Counts no loss where the capture that lacks the packets is known to lack others that did arrive.
  void settle_lost();
  void finish_times();
  void note_matched_path(std::uint32_t flow, unsigned direction, const PacketSeen& a, const PacketSeen& b);
  /// `missed`: packets listed as lost that arrived.
  void finish_paths(const std::vector<LostPacket>& missed);
  /// What the time differences of a direction are delays above; nullopt: there are none.
  [[nodiscard]] std::optional<std::int64_t> delay_base(unsigned direction) const;

  const CompareOptions options_;
  const ComparePoint points_[2];
  PointReader readers_[2];
  SentBefore book_;
  PathBook paths_;
  SprayBook sprayed_;
  Alignment alignment_;
  ClockShift shift_{0, false};
  CompareWindow window_;
  CompareResult result_;
  DelayTrack tracks_[2];
  /// Deviation of matched packets' time difference from the estimated clock shift at that time.
  struct Excess {
    std::int64_t least = 0, largest = 0;
  };
  Excess excess_[2];
  /// How often a packet of a direction that both points show follows one that the second does not show.
  struct Mixture {
    std::uint64_t rows = 0;
    bool alone = false;  ///< the last one
    void note(bool is_alone) noexcept {
      rows += alone && !is_alone ? 1 : 0;
      alone = is_alone;
    }
  };
  Mixture mixtures_[2];
  std::int64_t usual_[2] = {0, 0};  ///< moving mean of the deviation
  bool ended_[2] = {false, false};
  std::uint64_t taken_[2] = {0, 0};
  std::int64_t now_ns_ = INT64_MIN / 2;                          ///< by A's clock
  std::deque<std::pair<std::uint32_t, std::uint64_t>> damaged_;  ///< ICRC and place of the last damaged ones
};

void merge(Counted& into, const Counted& from);

/// The findings, most severe first.
[[nodiscard]] std::vector<CompareFinding> compare_findings(const CompareResult& result);

}  // namespace roce::analyze
