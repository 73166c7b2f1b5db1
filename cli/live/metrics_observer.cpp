// SPDX-License-Identifier: Apache-2.0
#include "cli/live/metrics_observer.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include "cli/core/output.hpp"
#include "cli/live/live_figures.hpp"

namespace roce::cli {
namespace {

double seconds_of(std::int64_t ns) noexcept {
  return static_cast<double>(ns) / 1e9;
}

}  // namespace

/// Shared with the server's threads.
struct MetricsObserver::Latest {
  std::mutex mutex;
  std::shared_ptr<const analyze::Snapshot> snapshot = std::make_shared<const analyze::Snapshot>();
  MetricFacts facts;
  LiveTally tally;
  RisingCounters rising;

  void take(std::shared_ptr<const analyze::Snapshot> next, std::int64_t time_ns) {
    const std::lock_guard lock(mutex);
    facts.totals = tally.add(*next);
    facts.snapshot_seconds = seconds_of(time_ns);
    snapshot = std::move(next);
  }
  [[nodiscard]] std::vector<Metric> values() {
    const std::lock_guard lock(mutex);
    std::vector<Metric> metrics = metric_values(*snapshot, facts);
    rising.keep(metrics);
    for (Metric& metric : process_metrics()) metrics.push_back(std::move(metric));
    return metrics;
  }
};

MetricsObserver::MetricsObserver(MetricsAddress address, LiveClock clock)
    : address_(std::move(address)), clock_(clock), latest_(std::make_shared<Latest>()) {}
MetricsObserver::~MetricsObserver() = default;

capture::Expected<void> MetricsObserver::on_start(const CaptureStart& start) {
  latest_->facts.device = start.device;
  latest_->facts.start_seconds = latest_->facts.snapshot_seconds = seconds_of(clock_.time_of_day_ns());
  auto server = MetricsServer::listen(address_, [latest = latest_] { return latest->values(); });
  if (!server) return tl::unexpected(std::move(server.error()));
  server_ = std::move(*server);
  print_error("metrics at " + server_->url());
  return {};
}

void MetricsObserver::on_snapshot(const std::shared_ptr<const analyze::Snapshot>& snapshot) {
  latest_->take(snapshot, clock_.time_of_day_ns());
}

void MetricsObserver::on_finding(const analyze::FindingNews& news, const analyze::Snapshot&) {
  const std::lock_guard lock(latest_->mutex);
  ++latest_->facts.reports[{news.finding.id, news.finding.severity}];
}

}  // namespace roce::cli
