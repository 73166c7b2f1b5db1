// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace roce::analyze {

/// Counts per small key. Nearly every flow shows one to three values (one DSCP, one source port,
/// a few opcodes): those stay inside the object; more go to the heap, `Limit` keys at most, what
/// comes after them is counted as `others()`.
template <class Key, std::size_t Inline, std::size_t Limit>
class SmallCounts {
 public:
  struct Entry {
    Key key{};
    std::uint64_t count = 0;
  };

  void add(Key key, std::uint64_t n = 1) {
    for (std::size_t i = 0; i < used_; ++i) {
      if (inline_[i].key == key) {
        inline_[i].count += n;
        return;
      }
    }
    add_slowly(key, n);
  }

  void merge(const SmallCounts& other) {
    for (const Entry& entry : other.sorted()) add(entry.key, entry.count);
    others_ += other.others_;
  }

  /// By key, ascending.
  [[nodiscard]] std::vector<Entry> sorted() const {
    std::vector<Entry> all(inline_.begin(), inline_.begin() + used_);
    if (more_) all.insert(all.end(), more_->begin(), more_->end());
    std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.key < b.key; });
    return all;
  }

  [[nodiscard]] std::uint64_t others() const noexcept { return others_; }
  [[nodiscard]] std::size_t distinct() const noexcept { return used_ + (more_ ? more_->size() : 0); }

 private:
  void add_slowly(Key key, std::uint64_t n) {
    if (used_ < Inline) {
      inline_[used_++] = {key, n};
      return;
    }
    if (!more_) more_ = std::make_unique<std::vector<Entry>>();
    for (Entry& entry : *more_) {
      if (entry.key == key) {
        entry.count += n;
        return;
      }
    }
    if (distinct() < Limit) {
      more_->push_back({key, n});
    } else {
      others_ += n;
    }
  }

  std::array<Entry, Inline> inline_{};
  std::uint8_t used_ = 0;
  std::unique_ptr<std::vector<Entry>> more_;
  std::uint64_t others_ = 0;
};

}  // namespace roce::analyze
