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

/// Publishes interim snapshots of a running analysis: copies the state between two batches, and makes a
/// snapshot of the copy on a separate thread. The analysis thread copies, because only it knows when the
/// state is consistent; if no frames come for a while, the other thread does. Thread rules are below.
class InterimSnapshots {
 public:
  /// Makes a snapshot of a copy. Called once, on the publishing thread.
  using Conclude = std::function<std::shared_ptr<const Snapshot>()>;
  /// Copies the state. Called with hold() held.
  using Copy = std::function<Conclude()>;

  /// `options` have `publish` set and must outlive this object.
  InterimSnapshots(const AnalysisOptions& options, Copy copy);
  /// Waits until a running call of `publish` has returned.
  ~InterimSnapshots();
  InterimSnapshots(const InterimSnapshots&) = delete;
  InterimSnapshots& operator=(const InterimSnapshots&) = delete;

  /// Must be held by the analysis thread while it changes the state.
  [[nodiscard]] std::unique_lock<std::mutex> hold() { return std::unique_lock(following_); }
  /// After each batch: copies if it is due. Call with hold() held.
  void followed();
  /// Ends publishing and waits as the destructor does. Rethrows an exception of publishing.
  void end();
  /// Whether a snapshot is being made or published.
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
  std::mutex following_;  ///< locked before mutex_

  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;
  bool changed_ = false;  ///< the state has changed since the last copy
  bool busy_ = false;     ///< a copy is being made, waits, or is being concluded or published
  Conclude waiting_;
  Time copy_began_;
  Time next_;  ///< earliest time of the next copy
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace roce::analyze
