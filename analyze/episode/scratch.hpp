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
  [[nodiscard]] auto end() noexcept { return entries_.end(); }
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  void reserve(std::size_t count) { entries_.reserve(count); }
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
  [[nodiscard]] auto find(const Key& key) noexcept {
    return entries_.begin() + (std::as_const(*this).find(key) - std::as_const(*this).begin());
  }
  [[nodiscard]] bool contains(const Key& key) const noexcept { return find(key) != end(); }
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
  void erase_to(const Key& key) {
    entries_.erase(entries_.begin(), entries_.begin() + (upper_bound(key) - begin()));
  }

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

}  // namespace roce::analyze::episode
