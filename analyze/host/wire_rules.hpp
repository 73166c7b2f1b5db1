// SPDX-License-Identifier: Apache-2.0
// Internal: which counter is held against which figure of a capture.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "analyze/host/counter_meaning.hpp"
#include "analyze/host/wire_check.hpp"

namespace roce::analyze {

/// What a counter may have moved by.
struct Expectation {
  std::uint64_t wire = 0;
  std::uint64_t low = 0, high = 0;
  std::string_view below, above;  ///< why it may be lower or higher than `wire`
};

struct WireRule {
  CounterSource source{};
  std::string_view driver;  ///< empty: any
  std::string_view counter;
  std::string_view quantity;
  Expectation (*expect)(const WireCounts& wire);
};

[[nodiscard]] std::span<const WireRule> wire_rules() noexcept;

/// The hardware counter of a driver that counts how often its host sent again.
struct RetryCounter {
  std::string_view driver;
  std::string_view counter;
  std::uint64_t (*seen)(const WireCounts& wire);  ///< of these, in the capture
};
/// Null: the driver has none.
[[nodiscard]] const RetryCounter* retry_counter_of(std::string_view driver) noexcept;

}  // namespace roce::analyze
