// SPDX-License-Identifier: Apache-2.0
// Internal: counters and the figures of a capture to compare them with.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "analyze/host/counter_meaning.hpp"
#include "analyze/host/wire_check.hpp"

namespace roce::analyze {

/// Expected increment of a counter.
struct Expectation {
  std::uint64_t wire = 0;
  std::uint64_t low = 0, high = 0;
  std::string_view below, above;  ///< reasons why it may be lower or higher than `wire`
};

struct WireRule {
  CounterSource source{};
  std::string_view driver;  ///< empty: any
  std::string_view counter;
  std::string_view quantity;
  Expectation (*expect)(const WireCounts& wire);
};

[[nodiscard]] std::span<const WireRule> wire_rules() noexcept;

/// The hardware counter of a driver for the host's retries.
struct RetryCounter {
  std::string_view driver;
  std::string_view counter;
  std::uint64_t (*seen)(const WireCounts& wire);  ///< retries seen in the capture
};
/// The retry counter of a driver, or null.
[[nodiscard]] const RetryCounter* retry_counter_of(std::string_view driver) noexcept;

}  // namespace roce::analyze
