// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

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
    if (list().size() == most) consume(std::size_t{0});
    list().push_back(nak);
  }
  [[nodiscard]] bool empty() const noexcept { return naks_ == nullptr || naks_->empty(); }
  [[nodiscard]] const OpenNak& newest() const noexcept { return naks_->back(); }
  /// The last one that asks for just this PSN, or nullptr.
  [[nodiscard]] OpenNak* find(std::int64_t psn) noexcept {
    return last([&](const OpenNak& nak) { return nak.psn == psn; });
  }
  /// The last one that asks for this PSN or one before it, or nullptr.
  [[nodiscard]] OpenNak* up_to(std::int64_t psn) noexcept {
    return last([&](const OpenNak& nak) { return nak.psn <= psn; });
  }
  /// Whether one that came after that frame asks for this PSN or one before it.
  [[nodiscard]] bool any_since(std::uint64_t frame, std::int64_t psn) const noexcept {
    return any([&](const OpenNak& nak) { return nak.psn <= psn && nak.frame > frame; });
  }
  /// Whether one asks for just this PSN, and a repeat went by it that need not have been the reaction.
  [[nodiscard]] bool passed(std::int64_t psn) const noexcept {
    return any([&](const OpenNak& nak) { return nak.psn == psn && nak.passed; });
  }
  /// The sender has reacted to this one, and so to those before it.
  void consume(const OpenNak* nak) noexcept { consume(static_cast<std::size_t>(nak - naks_->data())); }
  /// A repeat that began at that frame is through.
  void pass_before(std::uint64_t frame) noexcept {
    if (naks_ == nullptr) return;
    for (OpenNak& nak : *naks_) {
      if (nak.frame < frame && !nak.for_rnr) nak.passed = true;
    }
  }
  void clear() noexcept {
    if (naks_ != nullptr) naks_->clear();
  }

 private:
  void consume(std::size_t index) noexcept {
    naks_->erase(naks_->begin(), naks_->begin() + static_cast<std::ptrdiff_t>(index) + 1);
  }
  template <class Test>
  [[nodiscard]] OpenNak* last(Test test) noexcept {
    if (naks_ == nullptr) return nullptr;
    const auto found = std::find_if(naks_->rbegin(), naks_->rend(), test);
    return found == naks_->rend() ? nullptr : &*found;
  }
  template <class Test>
  [[nodiscard]] bool any(Test test) const noexcept {
    return naks_ != nullptr && std::any_of(naks_->begin(), naks_->end(), test);
  }

  static constexpr std::size_t most = 4;
  std::vector<OpenNak>& list() {
    if (naks_ == nullptr) naks_ = std::make_unique<std::vector<OpenNak>>();
    return *naks_;
  }

  DeepPtr<std::vector<OpenNak>> naks_;  ///< most senders never see one, and most others one at a time
};

}  // namespace roce::analyze
