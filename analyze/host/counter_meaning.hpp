// SPDX-License-Identifier: Apache-2.0
// What drivers' counters mean: one row a counter.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace roce::analyze {

/// Where a counter is read.
enum class CounterSource : std::uint8_t {
  port,      ///< counters/ of an RDMA port: IBTA PortCounters
  hardware,  ///< hw_counters/ of an RDMA port: the driver's own
  ethtool,   ///< statistics of the interface's driver
  kernel,    ///< statistics/ of an interface
};
/// "counters", "hw_counters", "ethtool", "statistics".
[[nodiscard]] std::string_view counter_source_name(CounterSource source) noexcept;

/// What it says when it moves.
enum class CounterNature : std::uint8_t {
  traffic,  ///< that there was traffic
  event,    ///< something that costs time, or that a healthy network does now and then
  fault,    ///< loss, damage or a refused request
  gauge,    ///< a present number, that falls too
};
[[nodiscard]] std::string_view counter_nature_name(CounterNature nature) noexcept;

struct CounterMeaning {
  std::string_view name;  ///< # stands for one digit: a priority or lane
  CounterSource source{};
  std::string_view driver;  ///< of the RDMA device or interface; empty: any
  CounterNature nature{};
  std::string_view unit;     ///< "packets", "bytes", "4 bytes", "times", "us", ...
  std::string_view meaning;  ///< one sentence without a full stop
  std::string_view advice;   ///< what to do when it moves; empty: nothing
};

/// All rows, those of a driver before those of any.
[[nodiscard]] std::span<const CounterMeaning> counters_of_rdma() noexcept;
[[nodiscard]] std::span<const CounterMeaning> counters_of_netdevs() noexcept;

/// The row of a counter; nullptr: none is known.
[[nodiscard]] const CounterMeaning* meaning_of(CounterSource source, std::string_view driver,
                                               std::string_view name) noexcept;

/// The digit that # stands for in a counter of that row.
[[nodiscard]] std::optional<unsigned> priority_of(const CounterMeaning& meaning,
                                                  std::string_view name) noexcept;

}  // namespace roce::analyze
