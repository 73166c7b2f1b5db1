// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "analyze/base/deep_ptr.hpp"

namespace roce::analyze {

/// Counts by a small key. Nearly every flow has one to three values (one DSCP, one source port, a few
/// opcodes): `Inline` of them are stored inside the object, more on the heap. At most `Limit` keys; further
/// keys are counted in others().
template <class Key, std::size_t Inline, std::size_t Limit>
class SmallCounts {
 public:
  struct Entry {
    Key key{};
    std::uint64_t count = 0;
  };

  void add(Key key, std::uint64_t n = 1) {
    for (std::size_t i = 0; i < used_; ++i) {
      if (keys_[i] == key) {
        counts_[i] += n;
        return;
      }
    }
    add_slowly(key, n);
  }

  void merge(const SmallCounts& other) {
    for (const Entry& entry : other.sorted()) add(entry.key, entry.count);
    if (other.others() != 0) more().others += other.others();
  }

  /// All entries, ascending by key.
  [[nodiscard]] std::vector<Entry> sorted() const {
    std::vector<Entry> all;
    for (std::size_t i = 0; i < used_; ++i) all.push_back({keys_[i], counts_[i]});
    if (more_) all.insert(all.end(), more_->entries.begin(), more_->entries.end());
    std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.key < b.key; });
    return all;
  }

  /// The count of this key; 0 if it has no entry.
  [[nodiscard]] std::uint64_t of(Key key) const noexcept {
    for (std::size_t i = 0; i < used_; ++i) {
      if (keys_[i] == key) return counts_[i];
    }
    if (!more_) return 0;
    for (const Entry& entry : more_->entries) {
      if (entry.key == key) return entry.count;
    }
    return 0;
  }

  [[nodiscard]] std::uint64_t others() const noexcept { return more_ ? more_->others : 0; }
  [[nodiscard]] std::size_t distinct() const noexcept {
    return used_ + (more_ ? more_->entries.size() : std::size_t{0});
  }

 private:
  struct More {
    std::vector<Entry> entries;
    std::uint64_t others = 0;
  };

  More& more() {
    if (!more_) more_ = std::make_unique<More>();
    return *more_;
  }

  void add_slowly(Key key, std::uint64_t n) {
    if (used_ < Inline) {
      keys_[used_] = key;
      counts_[used_++] = n;
      return;
    }
    More& rest = more();
    for (Entry& entry : rest.entries) {
      if (entry.key == key) {
        entry.count += n;
        return;
      }
    }
    if (distinct() < Limit) {
      rest.entries.push_back({key, n});
    } else {
      rest.others += n;
    }
  }

  std::array<std::uint64_t, Inline> counts_{};
  DeepPtr<More> more_;
  std::array<Key, Inline> keys_{};
  std::uint8_t used_ = 0;
};

}  // namespace roce::analyze
