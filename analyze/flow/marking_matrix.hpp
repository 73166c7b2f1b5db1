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

/// One cell of the matrix of class, direction and marks: packets of listed flows, without duplicates of the
/// capture.
struct Marking {
  TrafficClass traffic_class = TrafficClass::other;
  std::optional<dissect::IpAddress> src;  ///< absent: of any sender
  std::optional<dissect::IpAddress> dst;  ///< absent: to anybody
  std::uint8_t dscp = 0;
  std::uint8_t ecn = 0;  ///< dissect::Ecn
  std::optional<std::uint8_t> pcp;
  std::uint64_t packets = 0;
  std::uint64_t flows = 0;  ///< that have such packets
  std::uint64_t first_packet = 0;
  // A policy fills these; empty: there is none, or it says nothing of this class.
  std::string expected;
  std::string verdict;
};

/// How packets are marked, by class and direction. A direction is from one address to another while there
/// are few; with many it is all that one address sends, and with very many all there is: so the matrix has
/// at most `row_limit` rows, or, where even one direction has more, every mark there is (16 128).
struct MarkingMatrix {
  static constexpr std::size_t pair_limit = 256;     ///< directions from one address to another
  static constexpr std::size_t sender_limit = 1024;  ///< addresses
  static constexpr std::size_t row_limit = 4096;

  enum class Directions : std::uint8_t { pairs, senders, all };

  std::vector<Marking> rows;  ///< by class, source, destination, DSCP, PCP, ECN
  Directions directions = Directions::pairs;
  std::uint64_t others = 0;  ///< packets of flows with more marks than a flow keeps: in no row

  [[nodiscard]] static MarkingMatrix of(const std::vector<Flow>& flows);
  /// The row that counts these packets of the flow; nullptr for a flow that was not among those of of().
  [[nodiscard]] Marking* find(const Flow& flow, const MarkRow& row) noexcept;
};

/// "10.0.0.1 -> 10.0.0.2", "10.0.0.1 -> any", "any -> any".
[[nodiscard]] std::string direction_text(const Marking& marking);
/// "DSCP 26, ECT(0), PCP 3"; "untagged" is left out.
[[nodiscard]] std::string marks_text(const Marking& marking);

}  // namespace roce::analyze
