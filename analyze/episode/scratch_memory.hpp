// SPDX-License-Identifier: Apache-2.0
// Memory of an explanation: all that it works on is taken one after the other, and given back at its end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <vector>

// Internal to the tracker.
namespace roce::analyze::episode {

/// While one exists on a thread, the containers of scratch.hpp may be used there. Those made within one must
/// not outlive it, and those made before it must not grow within.
class Scratch {
 public:
  Scratch() {
    if (kept_.users == 0 && kept_.end - kept_.begin < kept_.wanted) [[unlikely]]
      keep(kept_.wanted);
    before_ = kept_.next;
    ++kept_.users;
  }
  ~Scratch() {
    kept_.next = before_;
    if (--kept_.users == 0 && kept_.overflowed) give_back();
  }
  Scratch(const Scratch&) = delete;
  Scratch(Scratch&&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  Scratch& operator=(Scratch&&) = delete;

  [[nodiscard]] static void* take(std::size_t bytes, std::size_t alignment) {
    const std::uintptr_t at = (kept_.next + alignment - 1) & ~(alignment - 1);
    if (at > kept_.end || bytes > kept_.end - at) [[unlikely]]
      return take_more(bytes, alignment);
    kept_.next = at + bytes;
    return reinterpret_cast<void*>(at);  // NOLINT(performance-no-int-to-ptr)
  }
  /// What was taken last can be taken again.
  static void leave(void* memory, std::size_t bytes) noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(memory);
    if (at + bytes == kept_.next) kept_.next = at;
  }

 private:
  /// Enough for most episodes. Where longer ones come, more is kept.
  static constexpr std::size_t least_kept = std::size_t{512} << 10U;
  static constexpr std::size_t most_kept = 16 * least_kept;
  struct Kept {
    std::uintptr_t begin, next, end;
    std::size_t wanted;
    unsigned users;
    bool overflowed;
  };
  static void keep(std::size_t bytes) {
    thread_local std::unique_ptr<std::byte[]> buffer;
    buffer = std::make_unique_for_overwrite<std::byte[]>(bytes);
    kept_.begin = kept_.next = reinterpret_cast<std::uintptr_t>(buffer.get());
    kept_.end = kept_.begin + bytes;
  }
  static void* take_more(std::size_t bytes, std::size_t alignment) {
    kept_.overflowed = true;
    return overflow().allocate(bytes, alignment);
  }
  static void give_back() noexcept {
    kept_.overflowed = false;
    kept_.wanted = std::min(2 * kept_.wanted, most_kept);
    overflow().release();
  }
  static std::pmr::monotonic_buffer_resource& overflow() {
    thread_local std::pmr::monotonic_buffer_resource memory{least_kept};
    return memory;
  }
  static inline constinit thread_local Kept kept_{0, 0, 0, least_kept, 0, false};
  std::uintptr_t before_ = 0;
};

template <class T>
struct ScratchAllocator {
  using value_type = T;
  ScratchAllocator() noexcept = default;
  template <class Other>
  ScratchAllocator(const ScratchAllocator<Other>& /*other*/) noexcept {
  }  // NOLINT(google-explicit-constructor)
  [[nodiscard]] T* allocate(std::size_t n) {
    return static_cast<T*>(Scratch::take(n * sizeof(T), alignof(T)));
  }
  void deallocate(T* memory, std::size_t n) noexcept { Scratch::leave(memory, n * sizeof(T)); }
  template <class Other>
  [[nodiscard]] bool operator==(const ScratchAllocator<Other>& /*other*/) const noexcept {
    return true;
  }
};

template <class T>
using List = std::vector<T, ScratchAllocator<T>>;

}  // namespace roce::analyze::episode
