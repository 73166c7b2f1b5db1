// SPDX-License-Identifier: Apache-2.0
#include "capture/core/pcapng_options.hpp"

namespace roce::capture {

std::string_view option_view(const PcapngOption& option) {
  // reinterpret_cast: bytes seen as characters, which is what string_view needs and allowed.
  const std::string_view text(reinterpret_cast<const char*>(option.value), option.size);
  return text.substr(0, text.find('\0'));
}

std::string option_text(const PcapngOption& option, std::size_t limit) {
  return std::string(option_view(option).substr(0, limit));
}

}  // namespace roce::capture
