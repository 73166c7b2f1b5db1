// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

namespace roce::gui {

/// Runs `work` on its own detached thread. Nothing joins it: a thread that was asked to stop may still block
/// in a system call that cannot be woken (opening a pipe without a writer), and the window must not wait for
/// that. `work` must not throw.
void run_in_background(std::function<void()> work);

/// Whether the calling thread is one of these.
[[nodiscard]] bool in_background() noexcept;

/// Releases `last` on another thread: freeing a hundred thousand flows takes tens of milliseconds.
template <class T>
void free_in_background(std::shared_ptr<T> last) {
  if (last) run_in_background([last = std::move(last)] {});
}

/// The same object, destroyed on another thread when its last reference is released.
template <class T>
[[nodiscard]] std::shared_ptr<T> freed_in_background(std::shared_ptr<T> object) {
  T* const plain = object.get();
  return std::shared_ptr<T>(
      plain, [object = std::move(object)](T*) mutable { free_in_background(std::move(object)); });
}

/// Waits for all such threads, at most `limit`; false if one is still running. Call it before main() returns:
/// threads that still run must not outlive static objects.
[[nodiscard]] bool wait_for_background(std::chrono::milliseconds limit);

}  // namespace roce::gui
