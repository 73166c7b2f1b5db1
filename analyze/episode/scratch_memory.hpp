// SPDX-License-Identifier: Apache-2.0
// Memory of an explanation: all that it works on is taken one after the other, and given back at its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <vector>

// Internal to the tracker.
namespace roce::analyze::episode {

/// While one exists on a thread, the containers of scratch.hpp may be used there. Those made within one must
/// not outlive the outermost.
class Scratch {
 public:
  Scratch() noexcept { ++kept_.users; }
  ~Scratch() {
    if (--kept_.users != 0) return;
    kept_.next = kept_.begin;
    if (kept_.overflowed) overflow().release();
    kept_.overflowed = false;
  }
  Scratch(const Scratch&) = delete;
  Scratch(Scratch&&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  Scratch& operator=(Scratch&&) = delete;

  [[nodiscard]] static void* take(std::size_t bytes, std::size_t alignment) {
    const std::uintptr_t at = (kept_.next + alignment - 1) & ~(alignment - 1);
    if (bytes > kept_.end - at || at > kept_.end) [[unlikely]]
      return take_more(bytes, alignment);
    kept_.next = at + bytes;
    return reinterpret_cast<void*>(at);  // NOLINT(performance-no-int-to-ptr)
  }

 private:
  /// Enough for most episodes; longer ones take more, and give it back.
  static constexpr std::size_t kept_bytes = std::size_t{512} << 10U;
  struct Kept {
    std::uintptr_t begin, next, end;
    unsigned users;
    bool overflowed;
  };
  static void* take_more(std::size_t bytes, std::size_t alignment) {
    if (kept_.begin == 0) {
      thread_local const auto buffer = std::make_unique_for_overwrite<std::byte[]>(kept_bytes);
      kept_.begin = kept_.next = reinterpret_cast<std::uintptr_t>(buffer.get());
      kept_.end = kept_.begin + kept_bytes;
      return take(bytes, alignment);
    }
    kept_.overflowed = true;
    return overflow().allocate(bytes, alignment);
  }
  static std::pmr::monotonic_buffer_resource& overflow() {
    thread_local std::pmr::monotonic_buffer_resource memory{kept_bytes};
    return memory;
  }
  static inline constinit thread_local Kept kept_{};
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
  void deallocate(T* /*memory*/, std::size_t /*n*/) noexcept {}
  template <class Other>
  [[nodiscard]] bool operator==(const ScratchAllocator<Other>& /*other*/) const noexcept {
    return true;
  }
};

template <class T>
using List = std::vector<T, ScratchAllocator<T>>;

}  // namespace roce::analyze::episode
