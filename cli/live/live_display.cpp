// SPDX-License-Identifier: Apache-2.0
#include "cli/live/live_display.hpp"

#include <chrono>
#include <utility>

#include "analyze/results/severity_counts.hpp"
#include "cli/live/live_summary.hpp"

namespace roce::cli {
namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t between_drawings = second / 4;
constexpr std::int64_t time_for_a_report = 5 * second;
constexpr std::chrono::milliseconds time_for_a_drawing{100};
constexpr std::size_t found_kept = 100;
constexpr std::size_t connections_kept = 100;

}  // namespace

LiveDisplay::LiveDisplay(bool color, LiveClock clock)
    : color_(color), clock_(clock), snapshot_(std::make_shared<const analyze::Snapshot>()) {}

capture::Expected<void> LiveDisplay::on_start(const CaptureStart& start) {
  output_ = start.output;
  title_ = start.device;
  if (!start.write.empty()) title_ += ", written to " + start.write;
  begin_ns_ = clock_.now_ns();
  meter_ = LiveMeter(begin_ns_);
  measured_ = snapshot_;
  reading_ = meter_.read(*measured_, begin_ns_, connections_kept);
  terminal_ = std::make_unique<LiveTerminal>();
  draw();
  return {};
}

void LiveDisplay::on_snapshot(const std::shared_ptr<const analyze::Snapshot>& snapshot) {
  snapshot_ = snapshot;
}

void LiveDisplay::on_finding(const analyze::FindingNews& news, const analyze::Snapshot& snapshot) {
  const analyze::Severity severity = analyze::shown_severity(news.finding, snapshot);
  found_.push_back({clock_.now_ns() - begin_ns_, severity, finding_line(news.finding, severity)});
  if (found_.size() > found_kept) found_.pop_front();
}

void LiveDisplay::on_tick() {
  const std::int64_t now = clock_.now_ns();
  if (measured_ == nullptr) return;  // no packet yet
  if (now - drawn_ns_ < between_drawings || now < away_until_ns_) return;
  if (!output_->idle()) return;  // Ctrl-S or a stalled connection: do not queue outdated screens
  if (terminal_ == nullptr) terminal_ = std::make_unique<LiveTerminal>();
  draw();
}

void LiveDisplay::on_report() {
  // Restoring a stopped terminal would block; the report is queued after the drawing anyway.
  if (!output_->idle(time_for_a_drawing)) return;
  terminal_.reset();
  away_until_ns_ = clock_.now_ns() + time_for_a_report;
}

void LiveDisplay::draw() {
  const std::int64_t now = clock_.now_ns();
  drawn_ns_ = now;
  if (now - begin_ns_ - reading_.elapsed_ns >= second) {
    measured_ = snapshot_;
    reading_ = meter_.read(*measured_, now, connections_kept);
  }
  std::string text = terminal_->drawing(
      live_screen({*measured_, reading_, title_, now - begin_ns_, found_}, LiveTerminal::style(color_)));
  if (!text.empty()) (void)output_->post(std::move(text));
}

}  // namespace roce::cli
