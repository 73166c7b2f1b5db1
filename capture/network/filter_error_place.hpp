// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

// Internal: finds the position of an error in a capture filter, which libpcap's compiler does not report.
namespace roce::capture {

struct FilterPlace {
  std::size_t begin =
      0;  ///< offset of the first word that is not allowed there; the filter's size: its end is missing
  std::size_t size = 0;  ///< of that word in bytes; 0 at the end
};

/// `goes_on`: whether this beginning of the filter is valid so far.
[[nodiscard]] FilterPlace find_filter_error(std::string_view filter,
                                            const std::function<bool(std::string_view)>& goes_on);

/// The filter, and below it a line with ^ under the error; no newline at the end. Bytes that are not
/// printable ASCII become question marks.
[[nodiscard]] std::string mark_filter(std::string_view filter, FilterPlace place);

}  // namespace roce::capture
