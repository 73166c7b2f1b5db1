// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "capture/core/bytes.hpp"

// Internal: the option lists of pcapng blocks (draft-ietf-opsawg-pcapng section 3.5).
namespace roce::capture {

/// opt_comment: allowed in every block, any number of times.
inline constexpr std::uint16_t option_comment = 1;

struct PcapngOption {
  std::uint16_t code = 0;
  const std::uint8_t* value = nullptr;
  std::size_t size = 0;
};

/// Iterates over an option list; stops at opt_endofopt, at the end, or at an option that overruns the list.
class PcapngOptions {
 public:
  PcapngOptions(const std::uint8_t* data, std::size_t size, bool swapped) noexcept
      : at_(data), left_(size), swapped_(swapped) {}

  [[nodiscard]] bool next(PcapngOption& option) noexcept {
    if (left_ == 0) return false;
    if (left_ < 4) return overrun();
    option.code = load<std::uint16_t>(at_, swapped_);
    option.size = load<std::uint16_t>(at_ + 2, swapped_);
    option.value = at_ + 4;
    if (option.code == 0) return false;
    const std::size_t whole = 4 + (option.size + 3) / 4 * 4;
    if (whole > left_) return overrun();
    at_ += whole;
    left_ -= whole;
    return true;
  }

  /// An option overran the list; iteration stopped there.
  [[nodiscard]] bool damaged() const noexcept { return damaged_; }

 private:
  bool overrun() noexcept {
    damaged_ = true;
    return false;
  }

  const std::uint8_t* at_;
  std::size_t left_;
  bool swapped_;
  bool damaged_ = false;
};

/// The text of an option up to the first NUL; borrows the option's bytes.
[[nodiscard]] inline std::string_view option_view(const PcapngOption& option) {
  // reinterpret_cast: bytes seen as characters, which is what string_view needs and allowed.
  const std::string_view text(reinterpret_cast<const char*>(option.value), option.size);
  return text.substr(0, text.find('\0'));
}
/// The text of an option up to the first NUL, at most `limit` bytes.
[[nodiscard]] inline std::string option_text(const PcapngOption& option, std::size_t limit) {
  return std::string(option_view(option).substr(0, limit));
}

}  // namespace roce::capture
