// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

namespace roce::gui {

/// Runs `work` on a thread of its own. Nobody has to wait for it: a thread that was told to stop may still be
/// inside of a system call that nothing wakes (opening a pipe that nobody writes to), and the window shall
/// not stand still for that. Exceptions may not leave `work`.
void run_in_background(std::function<void()> work);

/// Lets go of it there: what a hundred thousand flows are made of takes tens of milliseconds to free.
template <class T>
void free_in_background(std::shared_ptr<T> last) {
  if (last) run_in_background([last = std::move(last)] {});
}

/// The same object, freed there by whoever lets go of it last.
template <class T>
[[nodiscard]] std::shared_ptr<T> freed_in_background(std::shared_ptr<T> object) {
  T* const plain = object.get();
  return std::shared_ptr<T>(
      plain, [object = std::move(object)](T*) mutable { free_in_background(std::move(object)); });
}

/// Waits until no such thread runs, at most so long; false if one still does. To be called before the program
/// ends: threads that still run then must not see its static objects go.
[[nodiscard]] bool wait_for_background(std::chrono::milliseconds limit);

}  // namespace roce::gui
