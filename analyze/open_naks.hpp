// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

// Internal to the tracker.
namespace roce::analyze {

struct OpenNak {
  std::int64_t psn = -1;
  std::int64_t time_ns = 0;
  std::uint64_t frame = 0;
  bool for_rnr = false;  ///< a sequence NAK that only follows an RNR NAK
};

/// Sequence NAKs to which the sender has not reacted yet, oldest first. A few at most: a responder
/// sends the next one only when what it asked for has come.
class OpenNaks {
 public:
  void push(const OpenNak& nak) noexcept {
    if (count_ == naks_.size()) consume(std::size_t{0});
    naks_[count_++] = nak;
  }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] const OpenNak& newest() const noexcept { return naks_[count_ - 1]; }
  /// The last one that asks for just this PSN, or nullptr.
  [[nodiscard]] const OpenNak* find(std::int64_t psn) const noexcept {
    for (std::size_t i = count_; i-- > 0;) {
      if (naks_[i].psn == psn) return &naks_[i];
    }
    return nullptr;
  }
  /// The last one that asks for this PSN or one before it, or nullptr.
  [[nodiscard]] const OpenNak* up_to(std::int64_t psn) const noexcept {
    for (std::size_t i = count_; i-- > 0;) {
      if (naks_[i].psn <= psn) return &naks_[i];
    }
    return nullptr;
  }
  /// The sender has reacted to this one, and so to those before it.
  void consume(const OpenNak* nak) noexcept { consume(static_cast<std::size_t>(nak - naks_.data())); }
  /// Those captured before that frame have had their reaction.
  void drop_before(std::uint64_t frame) noexcept {
    while (count_ > 0 && naks_[0].frame < frame && !naks_[0].for_rnr) consume(std::size_t{0});
  }
  void clear() noexcept { count_ = 0; }

 private:
  void consume(std::size_t index) noexcept {
    const auto end = naks_.begin() + static_cast<std::ptrdiff_t>(count_);
    std::move(naks_.begin() + static_cast<std::ptrdiff_t>(index) + 1, end, naks_.begin());
    count_ -= index + 1;
  }

  std::array<OpenNak, 4> naks_{};
  std::size_t count_ = 0;
};

}  // namespace roce::analyze
