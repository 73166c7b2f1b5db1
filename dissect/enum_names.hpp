// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace roce {

/// Names of an enumeration's values 0 ... size - 1, one row each, so that value and name stand together. A
/// row that is missing or out of order does not compile.
template <class Enum, std::size_t size>
class EnumNames {
 public:
  struct Row {
    Enum value;
    std::string_view name;
  };

  // NOLINTNEXTLINE(google-explicit-constructor)
  consteval EnumNames(const Row (&rows)[size]) {
    for (std::size_t i = 0; i < size; ++i) {
      if (static_cast<std::size_t>(rows[i].value) != i) throw "a row is missing or out of order";
      names_[i] = rows[i].name;
    }
  }

  /// Empty for what is no value of the enumeration.
  [[nodiscard]] constexpr std::string_view operator[](Enum value) const noexcept {
    const auto i = static_cast<std::size_t>(value);
    return i < size ? names_[i] : std::string_view{};
  }
  /// In the order of the values.
  [[nodiscard]] constexpr const std::array<std::string_view, size>& all() const noexcept { return names_; }

 private:
  std::array<std::string_view, size> names_{};
};

}  // namespace roce
