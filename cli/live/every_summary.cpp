// SPDX-License-Identifier: Apache-2.0
#include "cli/live/every_summary.hpp"

#include <utility>

#include "analyze/results/severity_counts.hpp"
#include "cli/live/live_summary.hpp"

namespace roce::cli {
namespace {

constexpr std::size_t worst_connections = 5;

std::int64_t nanoseconds(EverySummary::Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

/// Now, in nanoseconds since the epoch.
std::int64_t time_of_day() {
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(wall).count();
}

}  // namespace

EverySummary::EverySummary(std::chrono::nanoseconds interval, bool json, bool findings,
                           std::function<Clock::time_point()> clock)
    : interval_(interval), json_(json), findings_(findings), clock_(std::move(clock)) {}

capture::Expected<void> EverySummary::on_start(const CaptureStart& start) {
  output_ = start.output;
  const Clock::time_point now = clock_();
  begin_ = now;
  next_ = now + std::chrono::duration_cast<Clock::duration>(interval_);
  meter_.emplace(nanoseconds(now));
  return {};
}

void EverySummary::on_finding(const analyze::FindingNews& news, const analyze::Snapshot& snapshot) {
  if (!findings_) return;
  const std::int64_t elapsed = (clock_() - begin_) / std::chrono::nanoseconds(1);
  (void)output_->post(
      json_ ? finding_json(news, time_of_day(), elapsed)
            : elapsed_text(elapsed) + "  " +
                  finding_line(news.finding, analyze::shown_severity(news.finding, snapshot)) + "\n");
}

void EverySummary::on_tick() {
  const Clock::time_point now = clock_();
  if (now < next_) return;
  // Intervals missed while the machine was suspended are skipped.
  while (next_ <= now) next_ += std::chrono::duration_cast<Clock::duration>(interval_);
  const analyze::Snapshot nothing;
  const analyze::Snapshot& snapshot = latest_ ? *latest_ : nothing;
  const LiveMeter::Reading reading = meter_->read(snapshot, nanoseconds(now), worst_connections);
  (void)output_->post(json_ ? summary_json(snapshot, reading, time_of_day())
                            : summary_line(snapshot, reading) + "\n");
}

}  // namespace roce::cli
