// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "analyze/base/deep_ptr.hpp"

namespace roce::analyze {

/// A part that few objects use: it is allocated when it is first changed, and until then it reads as a
/// default-constructed T.
template <class T>
class Lazy {
 public:
  [[nodiscard]] bool there() const noexcept { return value_ != nullptr; }
  T& operator*() {
    if (value_ == nullptr) value_ = std::make_unique<T>();
    return *value_;
  }
  const T& operator*() const {
    static const T nothing;
    return value_ != nullptr ? *value_ : nothing;
  }
  T* operator->() { return &**this; }
  const T* operator->() const { return &**this; }

 private:
  DeepPtr<T> value_;
};

}  // namespace roce::analyze
