// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "analyze/pipeline/analysis.hpp"

// Internal to the pipeline.
namespace roce::analyze {

/// Publishes interim snapshots while a capture is followed: copies what is known between two batches, and
/// turns the copy into a snapshot on a thread of its own. The thread that follows copies, for only it knows
/// when nothing changes; where nothing has come for a while the other one does. Thread-safe as said below.
class Interim {
 public:
  /// Turns a copy into a snapshot. Called once, on the thread that publishes.
  using Conclude = std::function<std::shared_ptr<const Snapshot>()>;
  /// Copies what is known. Called while nothing is followed: with hold() held.
  using Copy = std::function<Conclude()>;

  /// `options` with `publish` set, which outlive it.
  Interim(const AnalysisOptions& options, Copy copy);
  /// Waits until a call of `publish` under way has returned.
  ~Interim();
  Interim(const Interim&) = delete;
  Interim& operator=(const Interim&) = delete;

  /// To be held by the thread that follows while it does: what it changes is not copied meanwhile.
  [[nodiscard]] std::unique_lock<std::mutex> hold() { return std::unique_lock(following_); }
  /// A batch has been followed: copies if it is time to. With hold() held.
  void followed();
  /// Publishes no more and waits as the destructor does. Rethrows what publishing has thrown.
  void end();
  /// A snapshot is being made or published.
  [[nodiscard]] bool busy();

 private:
  using Time = std::chrono::steady_clock::time_point;

  void run();
  void copy();
  void copy_in_silence(std::unique_lock<std::mutex>& lock);
  void publish_one(std::unique_lock<std::mutex>& lock);
  void rest();
  void stop();
  [[nodiscard]] bool may_copy() const { return !ended_ && !busy_ && options_.clock() >= next_; }

  const AnalysisOptions& options_;
  const Copy copy_;
  std::mutex following_;  ///< locked before the other one

  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;
  bool changed_ = false;  ///< something was followed since the last copy
  bool busy_ = false;     ///< a copy is made, waits, is being concluded or published
  Conclude waiting_;
  Time copy_began_;
  Time next_;  ///< not before
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace roce::analyze
