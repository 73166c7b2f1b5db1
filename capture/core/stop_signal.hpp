// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

// Internal: lets request_stop() end a blocked read.
namespace roce::capture {

class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  /// Async-signal-safe: a store and a write().
  void request() noexcept;
  [[nodiscard]] bool requested() const noexcept { return requested_.load(std::memory_order_relaxed); }
  /// Becomes readable with request(), for poll(); -1 if it could not be created (then blocked reads do not
  /// wake).
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  std::atomic<bool> requested_{false};
  static_assert(std::atomic<bool>::is_always_lock_free);
  int descriptor_;
};

}  // namespace roce::capture
