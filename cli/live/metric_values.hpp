// SPDX-License-Identifier: Apache-2.0
// A snapshot as metrics, with names by the conventions of Prometheus; documented in docs/metrics.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/results/finding.hpp"
#include "analyze/results/snapshot.hpp"
#include "cli/live/live_figures.hpp"

namespace roce::cli {

enum class MetricType : std::uint8_t { counter, gauge };

struct MetricSample {
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;
};

/// One metric with all its samples.
struct Metric {
  std::string name;
  std::string_view help;
  MetricType type = MetricType::counter;
  std::vector<MetricSample> samples;
};

/// How often a finding was reported as new or worse, by id and severity; bounded by the number of rules.
using FindingReports = std::map<std::pair<std::string_view, analyze::Severity>, std::uint64_t>;

/// Values that are not in a snapshot.
struct MetricFacts {
  std::string device;
  double start_seconds = 0;     ///< when the capture began, since the epoch
  double snapshot_seconds = 0;  ///< when the snapshot was made
  FindingReports reports;
  LiveTotals totals;  ///< of all snapshots so far
};

/// All metrics. Label sets come from fixed tables (protocols, priorities, rules, one device), never from
/// addresses or connections, and do not change: what did not occur is 0.
[[nodiscard]] std::vector<Metric> metric_values(const analyze::Snapshot& snapshot, const MetricFacts& facts);

/// Keeps counters from decreasing: a snapshot may correct an earlier one, but Prometheus takes a decreasing
/// counter for a restart. Bounded like the label sets.
class RisingCounters {
 public:
  void keep(std::vector<Metric>& metrics);

 private:
  std::map<std::string, double> last_;
};

/// Memory, processor time and open files of this process, by their usual names ("process_..."); values that
/// cannot be read are left out.
[[nodiscard]] std::vector<Metric> process_metrics();

}  // namespace roce::cli
