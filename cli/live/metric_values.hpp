// SPDX-License-Identifier: Apache-2.0
// A snapshot as metrics, named by the conventions of Prometheus. docs/metrics.md is their documentation.
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

/// One name with all its samples.
struct Metric {
  std::string name;
  std::string_view help;
  MetricType type = MetricType::counter;
  std::vector<MetricSample> samples;
};

/// How often a finding was reported as new or as worse, by id and severity: as many as there are rules.
using FindingReports = std::map<std::pair<std::string_view, analyze::Severity>, std::uint64_t>;

/// What is not in a snapshot.
struct MetricFacts {
  std::string device;
  double start_seconds = 0;     ///< when the capture began, since the epoch
  double snapshot_seconds = 0;  ///< when the snapshot was made
  FindingReports reports;
  LiveTotals totals;  ///< of all snapshots so far
};

/// Every metric there is, with the same label sets for the same tables: what did not happen is 0. Label sets
/// are bounded by these tables: protocols, priorities, rules, one device; never by addresses or connections.
[[nodiscard]] std::vector<Metric> metric_values(const analyze::Snapshot& snapshot, const MetricFacts& facts);

/// Keeps counters from falling: a snapshot may correct what an earlier one said, and the rate of a counter
/// that falls is taken for a restart. Bounded as the label sets are.
class RisingCounters {
 public:
  void keep(std::vector<Metric>& metrics);

 private:
  std::map<std::string, double> last_;
};

/// Memory, processor time and open files of this process, by their usual names ("process_..."); what the
/// system does not say is left out.
[[nodiscard]] std::vector<Metric> process_metrics();

}  // namespace roce::cli
