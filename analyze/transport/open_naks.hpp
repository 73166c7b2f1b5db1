// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "analyze/base/deep_ptr.hpp"

// Internal to the tracker.
namespace roce::analyze {

struct OpenNak {
  std::int64_t psn = -1;
  std::int64_t time_ns = 0;
  std::uint64_t frame = 0;
  bool for_rnr = false;   ///< a sequence NAK that only follows an RNR NAK
  bool confirms = false;  ///< nothing else confirmed what is before it
  bool passed = false;  ///< a repeat went by its PSN: that may have been the reaction, or it is still to come
};

/// Sequence NAKs to which the sender has not reacted yet, oldest first. A few at most: a responder
/// sends the next one only when what it asked for has come.
class OpenNaks {
 public:
  void push(const OpenNak& nak) {
    if (count_ == most) consume(std::size_t{0});
    naks()[count_++] = nak;
  }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] const OpenNak& newest() const noexcept { return (*naks_)[count_ - 1]; }
  /// The last one that asks for just this PSN, or nullptr.
  [[nodiscard]] OpenNak* find(std::int64_t psn) noexcept {
    for (std::size_t i = count_; i-- > 0;) {
      if ((*naks_)[i].psn == psn) return &(*naks_)[i];
    }
    return nullptr;
  }
  /// The last one that asks for this PSN or one before it, or nullptr.
  [[nodiscard]] OpenNak* up_to(std::int64_t psn) noexcept {
    for (std::size_t i = count_; i-- > 0;) {
      if ((*naks_)[i].psn <= psn) return &(*naks_)[i];
    }
    return nullptr;
  }
  /// Whether one that came after that frame asks for this PSN or one before it.
  [[nodiscard]] bool any_since(std::uint64_t frame, std::int64_t psn) const noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
      if ((*naks_)[i].psn <= psn && (*naks_)[i].frame > frame) return true;
    }
    return false;
  }
  /// Whether one asks for just this PSN, and a repeat went by it that need not have been the reaction.
  [[nodiscard]] bool passed(std::int64_t psn) const noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
      if ((*naks_)[i].psn == psn && (*naks_)[i].passed) return true;
    }
    return false;
  }
  /// The sender has reacted to this one, and so to those before it.
  void consume(const OpenNak* nak) noexcept { consume(static_cast<std::size_t>(nak - naks_->data())); }
  /// A repeat that began at that frame is through.
  void pass_before(std::uint64_t frame) noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
      if ((*naks_)[i].frame < frame && !(*naks_)[i].for_rnr) (*naks_)[i].passed = true;
    }
  }
  void clear() noexcept { count_ = 0; }

 private:
  void consume(std::size_t index) noexcept {
    const auto end = naks_->begin() + static_cast<std::ptrdiff_t>(count_);
    std::move(naks_->begin() + static_cast<std::ptrdiff_t>(index) + 1, end, naks_->begin());
    count_ -= index + 1;
  }

  static constexpr std::size_t most = 4;
  std::array<OpenNak, most>& naks() {
    if (naks_ == nullptr) naks_ = std::make_unique<std::array<OpenNak, most>>();
    return *naks_;
  }

  DeepPtr<std::array<OpenNak, most>> naks_;  ///< most senders never see one
  std::size_t count_ = 0;
};

}  // namespace roce::analyze
