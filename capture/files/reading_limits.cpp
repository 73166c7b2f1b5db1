// SPDX-License-Identifier: Apache-2.0
#include "capture/files/reading_limits.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "capture/core/forwarding_source.hpp"

namespace roce::capture {
namespace {

class BoundedSource final : public ForwardingSource {
 public:
  BoundedSource(std::unique_ptr<CaptureSource> source, const ReadingLimits& limits)
      : ForwardingSource(std::move(source)),
        left_(limits.frames != 0 ? limits.frames : std::numeric_limits<std::uint64_t>::max()),
        counts_(limits.frames != 0) {
    if (limits.deadline)
      timer_ = std::jthread([this, at = *limits.deadline](const std::stop_token& end) { wait(end, at); });
  }

  Expected<std::size_t> next_batch(FrameBatch& batch, std::size_t limit) override {
    if (left_ == 0) {
      look_for_more();
      return 0;
    }
    const std::size_t before = batch.frames.size();
    auto got = source_->next_batch(batch, static_cast<std::size_t>(std::min<std::uint64_t>(limit, left_)));
    left_ -= batch.frames.size() - before;
    if (counts_) count(batch, before);
    return got;
  }

  [[nodiscard]] const std::vector<InterfaceInfo>& interfaces() const override {
    return facts_ ? facts_->interfaces : source_->interfaces();
  }
  [[nodiscard]] const std::vector<FileInfo>& files() const override {
    return facts_ ? facts_->files : source_->files();
  }
  [[nodiscard]] const Statistics& statistics() const override {
    return facts_ ? facts_->statistics : source_->statistics();
  }
  void request_stop() noexcept override {
    requested_ = true;
    source_->request_stop();
  }
  [[nodiscard]] bool stopped() const noexcept override { return more_ || source_->stopped(); }
  [[nodiscard]] StopReason stop_reason() const noexcept override {
    if (more_) return StopReason::frame_limit;
    return late_ ? StopReason::time_limit : StopReason::request;
  }

 private:
  /// What the source reports, without frames that it has read and not delivered: the one that was tried, and
  /// those of files whose turn would have been later.
  struct Facts {
    std::vector<InterfaceInfo> interfaces;
    std::vector<FileInfo> files;
    Statistics statistics;
  };

  void count(const FrameBatch& batch, std::size_t from) {
    of_interface_.resize(source_->interfaces().size());
    of_file_.resize(source_->files().size());
    for (std::size_t i = from; i < batch.frames.size(); ++i) {
      const Frame& frame = batch.frames[i];
      if (frame.interface < of_interface_.size()) ++of_interface_[frame.interface];
      if (frame.file < of_file_.size()) ++of_file_[frame.file];
      ++frames_;
    }
  }

  void look_for_more() {
    if (looked_) return;
    looked_ = true;
    Facts facts{source_->interfaces(), source_->files(), source_->statistics()};
    if (!source_->may_wait()) {
      FrameBatch one;
      const auto got = source_->next_batch(one, 1);
      if (got && *got == 0) return;
    }
    more_ = true;
    for (std::size_t i = 0; i < of_interface_.size(); ++i) facts.interfaces[i].packets = of_interface_[i];
    for (std::size_t i = 0; i < of_file_.size(); ++i) facts.files[i].packets = of_file_[i];
    facts.statistics.frames = frames_;
    facts_ = std::move(facts);
  }

  void wait(const std::stop_token& end, std::chrono::steady_clock::time_point at) {
    std::mutex mutex;
    std::condition_variable_any ended;
    std::unique_lock lock(mutex);
    ended.wait_until(lock, end, at, [] { return false; });
    if (end.stop_requested() || requested_) return;
    late_ = true;
    source_->request_stop();
  }

  std::uint64_t left_;
  bool counts_;  ///< frames are counted, since they are limited:
  std::uint64_t frames_ = 0;
  std::vector<std::uint64_t> of_interface_, of_file_;
  bool looked_ = false;
  bool more_ = false;  ///< the limit of frames has left something unread
  std::optional<Facts> facts_;
  std::atomic<bool> requested_{false};
  std::atomic<bool> late_{false};
  static_assert(std::atomic<bool>::is_always_lock_free);  // request_stop() may be called by a signal handler
  std::jthread timer_;                                    // the last member: ends before the others
};

}  // namespace

std::unique_ptr<CaptureSource> within(std::unique_ptr<CaptureSource> source, const ReadingLimits& limits) {
  if (limits.frames == 0 && !limits.deadline) return source;
  return std::make_unique<BoundedSource>(std::move(source), limits);
}

}  // namespace roce::capture
