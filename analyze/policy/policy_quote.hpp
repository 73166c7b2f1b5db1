// SPDX-License-Identifier: Apache-2.0
// What messages quote of a policy. A policy may be, or name, a file that is none (a list of passwords), and
// be read with more rights than those of the reader of the messages: so they quote what looks like the name
// of a key, and values of known keys, but no other content.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace roce::analyze {

/// Whether the text looks like the name of a key: letters, digits, _ and -, from a letter on, not long.
[[nodiscard]] inline bool is_key_like(std::string_view text) noexcept {
  constexpr std::size_t longest = 32;
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  constexpr std::string_view others = "0123456789-";
  return !text.empty() && text.size() <= longest && letters.find(text.front()) != std::string_view::npos &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return letters.find(c) != std::string_view::npos || others.find(c) != std::string_view::npos;
         });
}

/// "'dscp'", or "of this name" if it does not look like the name of a key.
[[nodiscard]] inline std::string key_text(std::string_view key) {
  return is_key_like(key) ? "'" + std::string(key) + "'" : "of this name";
}

}  // namespace roce::analyze
