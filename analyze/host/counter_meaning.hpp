// SPDX-License-Identifier: Apache-2.0
// Meanings of drivers' counters: one row per counter in counters_of_rdma.cpp and counters_of_netdevs.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace roce::analyze {

/// Source of a counter.
enum class CounterSource : std::uint8_t {
  port,      ///< counters/ of an RDMA port: IBTA PortCounters
  hardware,  ///< hw_counters/ of an RDMA port: the driver's own
  ethtool,   ///< statistics of the interface's driver
  kernel,    ///< statistics/ of an interface
};
/// "counters", "hw_counters", "ethtool", "statistics".
[[nodiscard]] std::string_view counter_source_name(CounterSource source) noexcept;

/// What an increment of the counter indicates.
enum class CounterNature : std::uint8_t {
  traffic,  ///< traffic
  event,    ///< a delay, or something that occasionally happens in a healthy network
  fault,    ///< loss, damage or a refused request
  gauge,    ///< a current value, which may also decrease
};
[[nodiscard]] std::string_view counter_nature_name(CounterNature nature) noexcept;

struct CounterMeaning {
  std::string_view name;  ///< # is one digit: a priority or lane
  CounterSource source{};
  std::string_view driver;  ///< of the RDMA device or interface; empty: any
  CounterNature nature{};
  std::string_view unit;     ///< "packets", "bytes", "4 bytes", "times", "us", ...
  std::string_view meaning;  ///< a phrase without a full stop
  std::string_view advice;   ///< what to do when it increments; may be empty
};

/// All rows; those of a specific driver come before those of any driver.
[[nodiscard]] std::span<const CounterMeaning> counters_of_rdma() noexcept;
[[nodiscard]] std::span<const CounterMeaning> counters_of_netdevs() noexcept;

/// The row of a counter, or nullptr.
[[nodiscard]] const CounterMeaning* meaning_of(CounterSource source, std::string_view driver,
                                               std::string_view name) noexcept;

/// The digit in the place of # in the counter's name.
[[nodiscard]] std::optional<unsigned> priority_of(const CounterMeaning& meaning,
                                                  std::string_view name) noexcept;

}  // namespace roce::analyze
