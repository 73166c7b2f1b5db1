// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/flow/marking.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

struct Flow;

/// One row of the marking matrix, by class, direction and markings: packets of listed flows, without
/// duplicates made by the capture.
struct Marking {
  TrafficClass traffic_class = TrafficClass::other;
  std::optional<dissect::IpAddress> src;  ///< absent: any
  std::optional<dissect::IpAddress> dst;  ///< absent: any
  std::uint8_t dscp = 0;
  std::uint8_t ecn = 0;  ///< dissect::Ecn
  std::optional<std::uint8_t> pcp;
  std::uint64_t packets = 0;
  std::uint64_t flows = 0;  ///< flows with such packets
  std::uint64_t first_packet = 0;
  // Filled by a policy; empty without one, or if it does not cover this class.
  std::string expected;
  std::string verdict;
};

/// Markings of packets by class and direction. A direction is a pair of addresses; if there are too many, it
/// is everything that one address sends, and then all traffic. So the matrix has at most `row_limit` rows, or
/// 16 128 (all possible markings) if all traffic together needs more.
struct MarkingMatrix {
  static constexpr std::size_t pair_limit = 256;     ///< directions from one address to another
  static constexpr std::size_t sender_limit = 1024;  ///< addresses
  static constexpr std::size_t row_limit = 4096;

  enum class Directions : std::uint8_t { pairs, senders, all };

  std::vector<Marking> rows;  ///< by class, source, destination, DSCP, PCP, ECN
  Directions directions = Directions::pairs;
  std::uint64_t others = 0;  ///< packets beyond MarkCounts::limit of their flow: in no row

  [[nodiscard]] static MarkingMatrix of(const std::vector<Flow>& flows);
  /// The row that contains these packets of the flow; nullptr if the flow was not passed to of().
  [[nodiscard]] Marking* find(const Flow& flow, const MarkRow& row) noexcept;
  [[nodiscard]] const Marking* find(const Flow& flow, const MarkRow& row) const noexcept;
};

/// "10.0.0.1 -> 10.0.0.2", "10.0.0.1 -> any", "any -> any".
[[nodiscard]] std::string direction_text(const Marking& marking);
/// "DSCP 26, ECT(0), PCP 3"; without PCP if untagged.
[[nodiscard]] std::string marks_text(const Marking& marking);

}  // namespace roce::analyze
