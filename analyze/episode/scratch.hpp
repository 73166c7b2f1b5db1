// SPDX-License-Identifier: Apache-2.0
// Containers of an explanation, in its memory. All are flat: most hold some dozens of PSNs, in order or
// nearly, and are made for one walk over the notes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include "analyze/episode/scratch_memory.hpp"

// Internal to the tracker.
namespace roce::analyze::episode {

/// By key, in order: a sorted list. What comes behind all others, as most PSNs do, is appended.
template <class Key, class Value>
class Map {
 public:
  using Entry = std::pair<Key, Value>;

  [[nodiscard]] auto begin() const noexcept { return entries_.begin(); }
  [[nodiscard]] auto end() const noexcept { return entries_.end(); }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] auto lower_bound(const Key& key) const noexcept {
    return std::partition_point(begin(), end(), [&](const Entry& each) { return each.first < key; });
  }
  [[nodiscard]] auto upper_bound(const Key& key) const noexcept {
    return std::partition_point(begin(), end(), [&](const Entry& each) { return !(key < each.first); });
  }
  [[nodiscard]] auto find(const Key& key) const noexcept {
    const auto at = lower_bound(key);
    return at != end() && at->first == key ? at : end();
  }
  /// Whether it is new, and where it is.
  std::pair<typename List<Entry>::iterator, bool> try_emplace(const Key& key, const Value& value = {}) {
    if (entries_.empty() || entries_.back().first < key) {
      entries_.emplace_back(key, value);
      return {std::prev(entries_.end()), true};
    }
    const auto at = entries_.begin() + (lower_bound(key) - begin());
    if (at->first == key) return {at, false};
    return {entries_.insert(at, {key, value}), true};
  }
  Value& operator[](const Key& key) { return try_emplace(key).first->second; }

 private:
  List<Entry> entries_;
};

/// Keys in order.
template <class Key>
class Set {
 public:
  [[nodiscard]] auto begin() const noexcept { return keys_.begin(); }
  [[nodiscard]] auto end() const noexcept { return keys_.end(); }
  [[nodiscard]] auto lower_bound(const Key& key) const noexcept {
    return std::lower_bound(begin(), end(), key);
  }
  [[nodiscard]] auto upper_bound(const Key& key) const noexcept {
    return std::upper_bound(begin(), end(), key);
  }
  [[nodiscard]] std::size_t size() const noexcept { return keys_.size(); }
  /// How many lie before it.
  [[nodiscard]] std::size_t index_of(const Key& key) const noexcept {
    return static_cast<std::size_t>(lower_bound(key) - begin());
  }
  [[nodiscard]] bool contains(const Key& key) const noexcept {
    return std::binary_search(begin(), end(), key);
  }
  /// False: it was there.
  bool insert(const Key& key) {
    if (keys_.empty() || keys_.back() < key) {
      keys_.push_back(key);
      return true;
    }
    const auto at = std::lower_bound(keys_.begin(), keys_.end(), key);
    if (*at == key) return false;
    keys_.insert(at, key);
    return true;
  }

 private:
  List<Key> keys_;
};

/// By a number, in the order in which they were put in. Nothing is taken out.
template <class Key, class Value>
class HashMap {
  static_assert(std::is_integral_v<Key>);

 public:
  struct Entry {
    Key first;
    Value second;
  };

  [[nodiscard]] auto begin() const noexcept { return entries_.begin(); }
  [[nodiscard]] auto end() const noexcept { return entries_.end(); }
  [[nodiscard]] auto end() noexcept { return entries_.end(); }
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  [[nodiscard]] auto find(Key key) const noexcept { return begin() + place_of(key); }
  [[nodiscard]] auto find(Key key) noexcept { return entries_.begin() + place_of(key); }
  [[nodiscard]] bool contains(Key key) const noexcept { return find(key) != end(); }
  /// Of one that is there.
  [[nodiscard]] const Value& at(Key key) const noexcept { return find(key)->second; }
  /// Whether it is new, and where it is until the next is put in.
  std::pair<typename List<Entry>::iterator, bool> try_emplace(Key key, Value value = {}) {
    if (2 * entries_.size() >= slots_.size()) grow();
    std::size_t slot = slot_of(key);
    for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
      const auto at = entries_.begin() + (slots_[slot] - 1);
      if (at->first == key) return {at, false};
    }
    entries_.push_back({key, std::move(value)});
    slots_[slot] = static_cast<std::uint32_t>(entries_.size());
    return {std::prev(entries_.end()), true};
  }
  Value& operator[](Key key) { return try_emplace(key).first->second; }
  void reserve(std::size_t count) {
    entries_.reserve(count);
    while (slots_.size() < 2 * count + 2) grow();
  }

 private:
  static constexpr std::size_t least = 32;

  [[nodiscard]] std::size_t slot_of(Key key) const noexcept {
    constexpr std::uint64_t golden = 0x9e37'79b9'7f4a'7c15U;  // neighbours come apart
    return (static_cast<std::uint64_t>(key) * golden) >> 32U & (slots_.size() - 1);
  }
  [[nodiscard]] std::ptrdiff_t place_of(Key key) const noexcept {
    if (slots_.empty()) return 0;
    for (std::size_t slot = slot_of(key); slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
      if (entries_[slots_[slot] - 1].first == key) return static_cast<std::ptrdiff_t>(slots_[slot]) - 1;
    }
    return static_cast<std::ptrdiff_t>(entries_.size());
  }
  void grow() {
    slots_.assign(std::max(least, 2 * slots_.size()), 0);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      std::size_t slot = slot_of(entries_[i].first);
      while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = static_cast<std::uint32_t>(i) + 1;
    }
  }

  List<Entry> entries_;
  List<std::uint32_t> slots_;  ///< index of the entry, and one; 0: none
};

template <class Key>
class HashSet {
 public:
  [[nodiscard]] bool contains(Key key) const noexcept { return keys_.contains(key); }
  /// False: it was there.
  bool insert(Key key) { return keys_.try_emplace(key).second; }

 private:
  struct Nothing {};
  HashMap<Key, Nothing> keys_;
};

}  // namespace roce::analyze::episode
