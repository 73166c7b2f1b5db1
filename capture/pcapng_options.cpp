// SPDX-License-Identifier: Apache-2.0
#include "capture/pcapng_options.hpp"

#include <algorithm>

namespace roce::capture {

std::string option_text(const PcapngOption& option, std::size_t limit) {
  const std::uint8_t* const end = option.value + std::min(option.size, limit);
  return std::string(option.value, std::find(option.value, end, std::uint8_t{0}));
}

}  // namespace roce::capture
