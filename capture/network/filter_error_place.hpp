// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

// Internal: where a capture filter is wrong. The compiler of libpcap says what, but not where.
namespace roce::capture {

struct FilterPlace {
  std::size_t begin =
      0;  ///< offset of the first word that cannot stand there; the size at the end: more is missing
  std::size_t size = 0;  ///< 0 at the end
};

/// `goes_on`: whether a beginning of the filter can be followed by something.
[[nodiscard]] FilterPlace find_filter_error(std::string_view filter,
                                            const std::function<bool(std::string_view)>& goes_on);

/// The filter and, below the place, a line of marks; without a newline at the end. What is no printable ASCII
/// is shown as a question mark.
[[nodiscard]] std::string mark_filter(std::string_view filter, FilterPlace place);

}  // namespace roce::capture
