// SPDX-License-Identifier: Apache-2.0
#include "cli/core/background_writer.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

namespace roce::cli {

/// Outlives the writer if its thread is blocked.
struct BackgroundWriter::State {
  Write write;
  std::size_t most_bytes = 0;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> waiting;
  std::size_t waiting_bytes = 0;
  bool writing = false;
  bool ending = false;
  bool given_up = false;  ///< patience is over: the thread is detached
  std::uint64_t dropped = 0;

  [[nodiscard]] bool idle() const { return waiting.empty() && !writing; }
  void work() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return ending || !waiting.empty(); });
      if (waiting.empty()) return;
      const std::string text = std::move(waiting.front());
      waiting.pop_front();
      waiting_bytes -= text.size();
      writing = true;
      lock.unlock();
      write(text);
      lock.lock();
      writing = false;
      changed.notify_all();
    }
  }
};

BackgroundWriter::BackgroundWriter(Write write, std::size_t most_bytes,
                                   std::optional<std::chrono::milliseconds> patience)
    : state_(std::make_shared<State>()), patience_(patience) {
  state_->write = std::move(write);
  state_->most_bytes = most_bytes;
  thread_ = std::thread([state = state_] { state->work(); });
}

BackgroundWriter::~BackgroundWriter() {
  const bool written = flush();
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
  }
  state_->changed.notify_all();
  if (written) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

bool BackgroundWriter::post(std::string text) {
  const std::lock_guard lock(state_->mutex);
  State& state = *state_;
  if (state.given_up || (!state.idle() && state.waiting_bytes + text.size() > state.most_bytes)) {
    ++state.dropped;
    return false;
  }
  state.waiting_bytes += text.size();
  state.waiting.push_back(std::move(text));
  state.changed.notify_all();
  return true;
}

bool BackgroundWriter::idle(std::chrono::milliseconds within) const {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, within, [this] { return state_->idle(); });
}

bool BackgroundWriter::flush() {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  const auto all_written = [&state] { return state.idle(); };
  if (!patience_) {
    state.changed.wait(lock, all_written);
  } else if (!state.given_up && !state.changed.wait_for(lock, *patience_, all_written)) {
    state.given_up = true;
    state.dropped += state.waiting.size() + (state.writing ? 1 : 0);
    state.waiting.clear();
    state.waiting_bytes = 0;
  }
  return !state.given_up;
}

std::uint64_t BackgroundWriter::dropped() const {
  const std::lock_guard lock(state_->mutex);
  return state_->dropped;
}

}  // namespace roce::cli
