// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace roce::analyze {

/// The middle one; of two the lower. None of nothing.
template <class T>
[[nodiscard]] std::optional<T> median_of(std::vector<T> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace roce::analyze
