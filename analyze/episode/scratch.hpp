// SPDX-License-Identifier: Apache-2.0
// Memory of an explanation: all that it works on is taken one after the other, and given back at its end.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory_resource>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

// Internal to the tracker.
namespace roce::analyze::episode {

/// While one exists on a thread, the containers below may be used there. Those made within one must not
/// outlive the outermost.
class Scratch {
 public:
  Scratch() noexcept { ++of_thread().users; }
  ~Scratch() {
    if (--of_thread().users == 0) of_thread().memory.release();
  }
  Scratch(const Scratch&) = delete;
  Scratch(Scratch&&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  Scratch& operator=(Scratch&&) = delete;

  [[nodiscard]] static void* take(std::size_t bytes, std::size_t alignment) {
    return of_thread().memory.allocate(bytes, alignment);
  }

 private:
  /// Enough for most episodes; longer ones take more, and give it back.
  struct OfThread {
    static constexpr std::size_t kept = std::size_t{512} << 10U;
    std::vector<std::byte> buffer = std::vector<std::byte>(kept);
    std::pmr::monotonic_buffer_resource memory{buffer.data(), buffer.size()};
    unsigned users = 0;
  };
  static OfThread& of_thread() {
    thread_local OfThread one;
    return one;
  }
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
template <class Key, class Value>
using Map = std::map<Key, Value, std::less<Key>, ScratchAllocator<std::pair<const Key, Value>>>;
template <class Key>
using Set = std::set<Key, std::less<Key>, ScratchAllocator<Key>>;
template <class Key, class Value>
using HashMap = std::unordered_map<Key, Value, std::hash<Key>, std::equal_to<Key>,
                                   ScratchAllocator<std::pair<const Key, Value>>>;
template <class Key>
using HashSet = std::unordered_set<Key, std::hash<Key>, std::equal_to<Key>, ScratchAllocator<Key>>;

}  // namespace roce::analyze::episode
