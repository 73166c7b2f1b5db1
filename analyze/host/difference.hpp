// SPDX-License-Identifier: Apache-2.0
// What changed on a host between two readings of its facts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/host/counter_meaning.hpp"
#include "analyze/host/host_finding.hpp"
#include "capture/host/facts.hpp"

namespace roce::analyze {

struct CounterChange {
  std::string place;   ///< "mlx5_0:1", "eth0"
  std::string driver;  ///< of the device or interface
  CounterSource source{};
  std::string name;
  std::uint64_t before = 0, after = 0;
  bool backwards = false;  ///< fell though it is no gauge: the driver was loaded anew or counters were reset
  const CounterMeaning* meaning = nullptr;  ///< null: not known

  /// By how much it moved; what it holds now where it began anew.
  [[nodiscard]] std::uint64_t moved() const noexcept { return after < before ? after : after - before; }
};

struct SettingChange {
  std::string place, name;
  std::string before, after;  ///< empty: was not there
};

struct HostDifference {
  std::int64_t before_ns = 0, after_ns = 0;
  std::vector<CounterChange> counters;  ///< moved, faults first, then events, traffic and gauges
  std::vector<SettingChange> settings;
  std::uint64_t counters_compared = 0;
  std::uint64_t counters_alone = 0;  ///< in one of the two only
};

/// The facts need not be of the same host or version; what only one has is counted, or said as a setting.
[[nodiscard]] HostDifference difference(const capture::HostFacts& before, const capture::HostFacts& after);

/// One setting of a host by its place and name.
struct SettingRow {
  std::string place, name, value;
};
/// All settings, in a fixed order; a counter is none.
[[nodiscard]] std::vector<SettingRow> settings_of(const capture::HostFacts& host);

/// Faults that moved, counters that fell, settings that changed, another host, no time between.
[[nodiscard]] std::vector<HostFinding> difference_findings(const capture::HostFacts& before,
                                                           const capture::HostFacts& after,
                                                           const HostDifference& difference);

/// "mlx5_0:1", as -i takes it.
[[nodiscard]] std::string place_of(const capture::RdmaDevice& device, const capture::RdmaPort& port);

}  // namespace roce::analyze
