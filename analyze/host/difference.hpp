// SPDX-License-Identifier: Apache-2.0
// Changes of a host's counters and settings between two snapshots.
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
  bool backwards = false;  ///< decreased although it is no gauge: driver reloaded or counters reset
  const CounterMeaning* meaning = nullptr;  ///< null: unknown

  /// The increment; after a reset the current value.
  [[nodiscard]] std::uint64_t moved() const noexcept { return after < before ? after : after - before; }
};

struct SettingChange {
  std::string place, name;
  std::string before, after;  ///< empty: did not exist
};

struct HostDifference {
  std::int64_t before_ns = 0, after_ns = 0;
  std::vector<CounterChange> counters;  ///< changed ones: faults first, then events, traffic and gauges
  std::vector<SettingChange> settings;
  std::uint64_t counters_compared = 0;
  std::uint64_t counters_alone = 0;  ///< only in one of the two snapshots
};

/// Compares two snapshots. They need not be of the same host or version: counters that only one has are
/// counted, settings are reported.
[[nodiscard]] HostDifference difference(const capture::HostFacts& before, const capture::HostFacts& after);

/// One setting of a host by its place and name.
struct SettingRow {
  std::string place, name, value;
};
/// All settings (no counters), in a fixed order.
[[nodiscard]] std::vector<SettingRow> settings_of(const capture::HostFacts& host);

/// Findings: fault counters that incremented, counters that decreased, changed settings, different hosts,
/// wrong order of times.
[[nodiscard]] std::vector<HostFinding> difference_findings(const capture::HostFacts& before,
                                                           const capture::HostFacts& after,
                                                           const HostDifference& difference);

/// "mlx5_0:1", as for -i.
[[nodiscard]] std::string place_of(const capture::RdmaDevice& device, const capture::RdmaPort& port);

}  // namespace roce::analyze
