// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyze/compare/compare.hpp"
#include "analyze/compare/delay_track.hpp"

// Internal to compare: what each path carries, loses and delays between the points.
namespace roce::analyze {

/// Packets between two addresses with one UDP source port. Bounded.
class PathBook {
 public:
  static constexpr std::size_t most_paths = std::size_t{1} << 12U;

  struct Path {
    std::uint32_t pair = 0;  ///< of addresses
    std::uint16_t port = 0;
    std::uint64_t matched = 0;
    std::uint64_t ce_added = 0;
    std::uint64_t trimmed = 0;
    std::array<std::uint64_t, 2> alone{};  ///< as AddressPair::alone
    std::array<Counted, 2> unproven{};     ///< of MRC: seen at this point only, which is no loss yet
    std::array<DelaySamples, 2> delays{DelaySamples(samples), DelaySamples(samples)};  ///< by direction
  };

  /// The path, added if there is room; nullptr otherwise: then the packet is counted as omitted.
  [[nodiscard]] Path* at(std::uint32_t pair, std::uint16_t port);
  [[nodiscard]] std::vector<Path>& paths() noexcept { return paths_; }
  [[nodiscard]] std::uint64_t omitted() const noexcept { return omitted_; }

 private:
  static constexpr std::size_t samples = 256;  ///< of each path

  tsl::robin_map<std::uint64_t, std::uint32_t> places_;
  std::vector<Path> paths_;
  std::uint64_t omitted_ = 0;
};

}  // namespace roce::analyze
