// SPDX-License-Identifier: Apache-2.0
// Which connections are sick, and with what: for the rules that look for a common place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "analyze/findings/shared/common.hpp"

namespace roce::analyze {

enum class Trouble : std::uint8_t { loss, silence, unready, refusal, corruption, count_ };
inline constexpr std::size_t trouble_count = static_cast<std::size_t>(Trouble::count_);

/// What ails one connection; by side, that is whose packets were lost or whose requests suffer.
struct Sickness {
  std::array<std::array<std::uint64_t, 2>, trouble_count> counts{};
  bool fatal = false;  ///< it ended by it
  Proof proof;

  [[nodiscard]] bool any() const noexcept { return !proof.frames.empty(); }
};

/// Only what deserves a warning: a packet in ten thousand lost, repeated silence and so on.
[[nodiscard]] Sickness sickness_of(const Snapshot& snapshot, const Connection& connection);

/// Sums of sick connections that have something in common.
struct SicknessSum {
  std::size_t connections = 0;
  std::size_t fatal = 0;
  std::array<std::uint64_t, trouble_count> towards{};  ///< packets lost on the way to the host, ...
  std::array<std::uint64_t, trouble_count> from{};
  Proof proof;
  std::vector<std::uint32_t> ids;  ///< the first few

  /// Whether any of it can come from what is between the hosts; RNR NAKs and refusals are answers of one.
  [[nodiscard]] bool may_be_path() const noexcept;
  /// `host_side`: the side of the host that the sum is about.
  void add(const Connection& connection, const Sickness& sickness, unsigned host_side);
};

/// "312 packets lost on the way to 10.0.0.9 and 2 from it; 40 timeouts waiting for it".
[[nodiscard]] std::string sickness_text(const SicknessSum& sum, const std::string& host);

}  // namespace roce::analyze
