// SPDX-License-Identifier: Apache-2.0
// What is published while a capture is read, against the report of a capture that ends there: on every real
// capture, and on pairs of captures of one traffic, the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "analyze/pipeline/analysis.hpp"
#include "analyze/report/json/json_report.hpp"
#include "capture/core/source.hpp"

namespace roce::analyze {
namespace interim_snapshots_of_samples_test {
namespace {

using Time = std::chrono::steady_clock::time_point;

std::string json_of(const Snapshot& snapshot) {
  std::string all, piece;
  const auto take = [&] {
    all += piece;
    piece.clear();
  };
  report_json(snapshot, true, {piece, take});
  take();
  return all;
}

/// Reads another source up to some frame. Asked for the next batch it waits until the one before was
/// published; then a second passes.
class Paced final : public capture::CaptureSource {
 public:
  Paced(std::unique_ptr<capture::CaptureSource> source, std::uint64_t frames)
      : source_(std::move(source)), left_(frames) {}

  capture::Expected<std::size_t> next_batch(capture::FrameBatch& batch, std::size_t limit) override {
    std::unique_lock lock(mutex_);
    published_.wait(lock, [&] { return !waits_ || publications_ == batches_; });
    ++seconds_;
    const std::size_t before = batch.frames.size();
    auto got = source_->next_batch(batch, static_cast<std::size_t>(std::min<std::uint64_t>(limit, left_)));
    const std::size_t frames = batch.frames.size() - before;
    left_ -= frames;
    if (frames != 0) ++batches_;
    return got;
  }
  [[nodiscard]] bool may_wait() const noexcept override { return waits_ || source_->may_wait(); }
  [[nodiscard]] bool shows_copies() const noexcept override { return source_->shows_copies(); }
  [[nodiscard]] const std::vector<capture::InterfaceInfo>& interfaces() const override {
    return source_->interfaces();
  }
  [[nodiscard]] const std::vector<capture::FileInfo>& files() const override { return source_->files(); }
  [[nodiscard]] const capture::Statistics& statistics() const override { return source_->statistics(); }
  void request_stop() noexcept override { source_->request_stop(); }

  void wait_for_publications() { waits_ = true; }
  void publish() {
    const std::lock_guard lock(mutex_);
    ++publications_;
    published_.notify_one();
  }
  /// On any thread.
  [[nodiscard]] Time now() const { return Time(std::chrono::seconds(seconds_.load())); }

 private:
  std::unique_ptr<capture::CaptureSource> source_;
  std::uint64_t left_;
  std::mutex mutex_;
  std::condition_variable published_;
  bool waits_ = false;
  std::uint64_t batches_ = 0, publications_ = 0;
  std::atomic<int> seconds_ = 0;
};

struct Analysed {
  std::string report;
  std::uint64_t frames = 0;
  std::map<std::uint64_t, std::string> interim;  ///< by frames
};

Analysed analyse(const std::vector<std::string>& paths, std::uint64_t frames, std::size_t epoch,
                 bool publish) {
  Analysed result;
  auto opened = capture::open_files(paths);
  if (!opened) return result;
  Paced source(std::move(*opened), frames);
  AnalysisOptions options;
  options.jobs = 2;
  options.epoch_frames = epoch;
  options.clock = [&] { return source.now(); };
  options.publish_every = std::chrono::seconds(1);
  if (publish) {
    source.wait_for_publications();
    options.publish = [&](const std::shared_ptr<const Snapshot>& snapshot) {
      EXPECT_FALSE(snapshot->final);
      result.interim[snapshot->frames_read] = json_of(*snapshot);
      source.publish();
    };
  }
  const auto snapshot = analyze(source, options);
  EXPECT_TRUE(snapshot->final);
  result.report = json_of(*snapshot);
  result.frames = snapshot->frames_read;
  return result;
}

/// As if it were the end.
std::string finally(std::string interim) {
  const std::string no = "\"final\": false", yes = "\"final\": true";
  const std::size_t at = interim.find(no);
  EXPECT_NE(at, std::string::npos);
  return at == std::string::npos ? interim : interim.replace(at, no.size(), yes);
}

/// Several files are read ahead of their packets: without how far each has been.
std::string without_reading(const std::string& report) {
  std::istringstream lines(report);
  std::string result;
  bool ahead = true;
  for (std::string line; std::getline(lines, line);) {
    ahead = ahead && line.find("\"roce\"") == std::string::npos;
    if (!ahead || line.find("        \"packets\"") != 0) result += line + '\n';
  }
  return result;
}

constexpr std::uint64_t all = ~std::uint64_t{0};

std::size_t check(const std::vector<std::string>& paths) {
  const Analysed whole = analyse(paths, all, 4096, false);
  const std::size_t epoch = whole.frames / 4 + 1;
  const Analysed watched = analyse(paths, all, epoch, true);
  EXPECT_EQ(watched.report, whole.report) << paths[0];
  for (const auto& [frames, report] : watched.interim) {
    std::string shown = finally(report), wanted = analyse(paths, frames, 1000, false).report;
    if (paths.size() > 1) shown = without_reading(shown), wanted = without_reading(wanted);
    EXPECT_EQ(shown, wanted) << paths[0] << " after " << frames;
  }
  return watched.interim.size();
}

TEST(InterimSnapshots, SaysWhatTheReportWouldIfTheCaptureEndedThere) {
  std::size_t published = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ROCE_SAMPLES)) {
    const std::string path = entry.path().string();
    if (path.find(".pcap") != std::string::npos) published += check({path});
  }
  EXPECT_GT(published, 300U);
}

TEST(InterimSnapshots, SaysSoOfSeveralCapturePointsToo) {
  const std::string samples = ROCE_SAMPLES;
  EXPECT_GE(check({samples + "/04_write_loss1.ca.pcap.zst", samples + "/04_write_loss1.cb.pcap.zst"}), 3U);
  EXPECT_GE(check({samples + "/04_write_reorder.ca.pcap.zst", samples + "/04_write_reorder.cb.pcap.zst"}),
            3U);
}

}  // namespace
}  // namespace interim_snapshots_of_samples_test
}  // namespace roce::analyze
