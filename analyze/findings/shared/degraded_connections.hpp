// SPDX-License-Identifier: Apache-2.0
// Which connections are degraded, and how: for the rules that look for a common location.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "analyze/findings/shared/common.hpp"

namespace roce::analyze {

enum class Trouble : std::uint8_t { loss, silence, unready, refusal, corruption, count_ };
inline constexpr std::size_t trouble_count = static_cast<std::size_t>(Trouble::count_);

/// The troubles of one connection; by side (0 or 1): whose packets were lost, or whose requests are affected.
struct ConnectionTrouble {
  std::array<std::array<std::uint64_t, 2>, trouble_count> counts{};
  bool fatal = false;  ///< the connection failed because of it
  Proof proof;

  [[nodiscard]] bool any() const noexcept { return !proof.frames.empty(); }
};

/// Only troubles that deserve a warning: 1 packet in 10 000 lost, repeated timeouts and so on.
[[nodiscard]] ConnectionTrouble sickness_of(const Connection& connection);

/// Sums over degraded connections that have something in common.
struct SicknessSum {
  std::size_t connections = 0;
  std::size_t fatal = 0;
  std::array<std::uint64_t, trouble_count> towards{};  ///< packets lost on the way to the host, ...
  std::array<std::uint64_t, trouble_count> from{};
  Proof proof;
  std::vector<std::uint32_t> ids;  ///< the first few

  /// Whether any of it can come from the path between the hosts; RNR NAKs and refusals are answers of one
  /// host.
  [[nodiscard]] bool may_be_path() const noexcept;
  /// `host_side`: the side of the host that the sum is about.
  void add(const Connection& connection, const ConnectionTrouble& sickness, unsigned host_side);
};

/// "312 packets lost on the way to 10.0.0.9, 40 packets retransmitted without an answer from 10.0.0.9".
[[nodiscard]] std::string sickness_text(const SicknessSum& sum, const std::string& host);

}  // namespace roce::analyze
