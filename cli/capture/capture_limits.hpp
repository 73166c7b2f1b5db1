// SPDX-License-Identifier: Apache-2.0
// -a, -b and --trigger-limit: NAME:VALUE, as dumpcap and tshark take them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roce::cli {

/// All that can be limited; 0 = not.
struct CaptureLimits {
  std::uint64_t duration_ns = 0;
  std::uint64_t bytes = 0;  ///< given as filesize, in kB of 1000 bytes
  std::uint64_t packets = 0;
  std::uint64_t files = 0;
};

/// The limits named by such texts, the last of each name. Nothing if one of them is none.
[[nodiscard]] std::optional<CaptureLimits> parse_limits(const std::vector<std::string>& texts);
/// What is wrong with one, and which there are; empty for a limit.
[[nodiscard]] std::string limit_error(const std::string& text);

}  // namespace roce::cli
