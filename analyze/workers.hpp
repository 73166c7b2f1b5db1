// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace roce::analyze {

/// A fixed set of threads for parallel loops with a barrier at their end. The calling thread is
/// one of them, so Workers(1) starts none.
class Workers {
 public:
  /// At most `count` threads; fewer where the system does not give them.
  explicit Workers(unsigned count);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  [[nodiscard]] unsigned count() const noexcept { return count_; }

  /// Runs task(0) … task(count() - 1), each on a thread of its own, and waits for all. The first
  /// exception thrown by a task is rethrown here.
  void run(const std::function<void(unsigned)>& task);

 private:
  void loop(unsigned index);

  unsigned count_ = 1;
  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable done_;
  const std::function<void(unsigned)>* task_ = nullptr;
  std::size_t generation_ = 0;
  unsigned running_ = 0;
  bool quit_ = false;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace roce::analyze
