// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/mrc/mrc.hpp"
#include "analyze/mrc/mrc_packet.hpp"
#include "analyze/mrc/mrc_stream.hpp"

namespace roce::analyze {

/// Follows packets of MRC in the order of the capture: finds the stream that SACKs and NACKs answer, and has
/// it say what was lost. Bounded; not thread-safe; a copy is independent.
class MrcTracker {
 public:
  static constexpr std::size_t directions_at_most = 16 * std::size_t{1024},
                               held_at_most = 64 * std::size_t{1024};

  /// `capture_began_ns` is the time of the first frame of all.
  void see(const MrcPacket& packet, std::uint64_t number, std::int64_t capture_began_ns);
  [[nodiscard]] bool any() const noexcept { return found_.packets != 0; }
  /// What was seen so far.
  [[nodiscard]] Mrc finish() &&;

 private:
  static constexpr std::uint32_t none = 0xffff'ffff;
  static constexpr std::size_t reports_held_at_most = 256;

  /// All from one address to one queue pair of another: data, and answers to the data of the other direction.
  struct Direction {
    FlowKey key;
    std::uint32_t stream = none;                            ///< of its data
    std::uint32_t answered = none;                          ///< stream whose answers come this way
    std::vector<std::pair<MrcPacket, std::uint64_t>> held;  ///< answers whose stream is not known yet
    std::map<std::uint32_t, std::uint32_t> votes;  ///< by stream: answers that name one of its packets
  };
  struct KeyHash {
    std::size_t operator()(const FlowKey& key) const noexcept { return key.hash(); }
  };
  using Hosts = std::pair<dissect::IpAddress, dissect::IpAddress>;

  [[nodiscard]] std::uint32_t direction_of(const FlowKey& key);
  void see_data(std::uint32_t direction, const MrcPacket& packet, std::uint64_t number,
                std::int64_t capture_began_ns);
  void see_answer(std::uint32_t direction, const MrcPacket& packet, std::uint64_t number);
  void vote(Direction& direction, const MrcPacket& packet);
  /// The stream that has nearly all votes, or none.
  [[nodiscard]] static std::uint32_t elected(const Direction& direction);

  Mrc found_;  ///< without streams
  std::vector<Direction> directions_;
  std::vector<MrcStreamState> streams_;
  std::unordered_map<FlowKey, std::uint32_t, KeyHash> places_;
  std::map<Hosts, std::vector<std::uint32_t>> streams_between_;  ///< from the first to the second
  MrcBudget budget_;
  std::size_t held_ = 0;  ///< answers, of all directions
};

}  // namespace roce::analyze
