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

/// Where a key is, or would be, in a sorted list. Nearly always that is where the last one was, or just
/// behind: passes go through the PSNs in order, and so do those who look at them.
template <class List, class Key, class KeyOf>
[[nodiscard]] std::size_t place_of(const List& list, const Key& key, KeyOf key_of,
                                   std::size_t& last) noexcept {
  const auto before = [&](const auto& each) { return key_of(each) < key; };
  for (const std::size_t at : {last, last + 1}) {
    if (at <= list.size() && (at == list.size() || !before(list[at])) && (at == 0 || before(list[at - 1])))
      return last = at;
  }
  return last =
             static_cast<std::size_t>(std::partition_point(list.begin(), list.end(), before) - list.begin());
}

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
    const auto key_of = [](const Entry& each) -> const Key& { return each.first; };
    return begin() + static_cast<std::ptrdiff_t>(place_of(entries_, key, key_of, last_));
  }
  [[nodiscard]] auto upper_bound(const Key& key) const noexcept {
    const auto at = lower_bound(key);
    return at != end() && at->first == key ? std::next(at) : at;
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
  mutable std::size_t last_ = 0;  ///< where was looked last
};

/// Keys in order.
template <class Key>
class Set {
 public:
  [[nodiscard]] auto begin() const noexcept { return keys_.begin(); }
  [[nodiscard]] auto end() const noexcept { return keys_.end(); }
  [[nodiscard]] auto lower_bound(const Key& key) const noexcept {
    return begin() + static_cast<std::ptrdiff_t>(index_of(key));
  }
  [[nodiscard]] auto upper_bound(const Key& key) const noexcept {
    const auto at = lower_bound(key);
    return at != end() && *at == key ? std::next(at) : at;
  }
  [[nodiscard]] std::size_t size() const noexcept { return keys_.size(); }
  /// How many lie before it.
  [[nodiscard]] std::size_t index_of(const Key& key) const noexcept {
    return place_of(keys_, key, std::identity{}, last_);
  }
  [[nodiscard]] bool contains(const Key& key) const noexcept {
    const auto at = lower_bound(key);
    return at != end() && *at == key;
  }
  /// False: it was there.
  bool insert(const Key& key) {
    if (keys_.empty() || keys_.back() < key) {
      keys_.push_back(key);
      return true;
    }
    const auto at = lower_bound(key);
    if (*at == key) return false;
    keys_.insert(at, key);
    return true;
  }

 private:
  List<Key> keys_;
  mutable std::size_t last_ = 0;  ///< where was looked last
};

}  // namespace roce::analyze::episode
