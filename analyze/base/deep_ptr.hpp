// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace roce::analyze {

/// A std::unique_ptr that can be copied: the copy owns a copy of the value. For parts of an object that are
/// kept outside of it only to keep it small. A type with internal pointers provides clone().
template <class T>
class DeepPtr : public std::unique_ptr<T> {
  using Base = std::unique_ptr<T>;

 public:
  DeepPtr() noexcept = default;
  DeepPtr(std::nullptr_t) noexcept {}                         // as a std::unique_ptr
  DeepPtr(Base&& other) noexcept : Base(std::move(other)) {}  // of std::make_unique()
  DeepPtr(const DeepPtr& other) : Base(copy_of(other)) {}
  DeepPtr(DeepPtr&&) noexcept = default;
  DeepPtr& operator=(const DeepPtr& other) {
    if (this != &other) Base::operator=(copy_of(other));
    return *this;
  }
  DeepPtr& operator=(DeepPtr&&) noexcept = default;
  ~DeepPtr() = default;

 private:
  static Base copy_of(const DeepPtr& other) {
    if (other == nullptr) return nullptr;
    if constexpr (requires { other->clone(); }) {
      return other->clone();
    } else {
      return std::make_unique<T>(*other);
    }
  }
};

}  // namespace roce::analyze
