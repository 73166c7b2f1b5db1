// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>

#include "analyze/flow/flow.hpp"
#include "analyze/record/packet_record.hpp"

// Internal to the tracker.
namespace roce::analyze {

/// Who cut the packets that are shorter than their IP length says, where their DSCP is not known to tell: a
/// switch that trims makes frames of one size of packets of any, and lets others pass whole; whoever cuts
/// what he shows cuts all that is longer. By capture point.
class Trims {
 public:
  /// Whether packet `number` of that flow, which was cut, was trimmed as far as is known by now.
  [[nodiscard]] bool are_trimmed(const PacketRecord& record, std::uint64_t number, const Flow* flow);
  /// So many of each DSCP were, with those before that was known.
  [[nodiscard]] std::array<std::uint64_t, 64> by_dscp() const;

 private:
  /// Of one size are those that were cut: one row each.
  struct Cut {
    std::uint32_t packets = 0;
    std::uint32_t least_payload = 0;
    std::uint32_t most_payload = 0;
    bool longer_pass = false;
    std::array<std::uint32_t, 64> dscp{};
    [[nodiscard]] bool by_switch() const noexcept;
  };
  static constexpr std::size_t rows_at_most = 1024;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Cut> cuts_;  ///< by point and size on the wire
  std::uint64_t counted_ = 0;                                    ///< up to that packet
};

}  // namespace roce::analyze
