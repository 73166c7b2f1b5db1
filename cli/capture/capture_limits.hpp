// SPDX-License-Identifier: Apache-2.0
// Values of -a, -b and --trigger-limit: NAME:VALUE, as in dumpcap and tshark.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roce::cli {

/// Limits; 0 = none.
struct CaptureLimits {
  std::uint64_t duration_ns = 0;
  std::uint64_t bytes = 0;  ///< given as filesize, in kB of 1000 bytes
  std::uint64_t packets = 0;
  std::uint64_t files = 0;
};

/// Parses limits; of several with the same name the last one counts. None if one of the texts is invalid.
[[nodiscard]] std::optional<CaptureLimits> parse_limits(const std::vector<std::string>& texts);
/// Error message with the valid forms; empty for a valid limit.
[[nodiscard]] std::string limit_error(const std::string& text);

}  // namespace roce::cli
