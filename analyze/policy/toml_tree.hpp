// SPDX-License-Identifier: Apache-2.0
// A TOML document with the position of each part. Hides toml++.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "analyze/policy/policy_error.hpp"

namespace roce::analyze {

struct TextPlace {
  std::size_t line = 0;    ///< from 1
  std::size_t column = 0;  ///< from 1, in characters
};

struct TomlEntry;

struct TomlNode {
  enum class Kind : std::uint8_t { table, array, string, integer, boolean, other };

  Kind kind = Kind::other;
  TextPlace place;
  std::string text;                ///< of a string
  std::int64_t number = 0;         ///< of an integer; 0 or 1 of a boolean
  std::vector<TomlNode> items;     ///< of an array
  std::vector<TomlEntry> entries;  ///< of a table, in the order of the file
};

struct TomlEntry {
  std::string key;
  TextPlace place;  ///< of the key
  TomlNode value;
};

/// "a table", "a number with a fraction" ...: for messages.
[[nodiscard]] std::string_view kind_text(const TomlNode& node) noexcept;

/// The document's table, or the position of a syntax error, or of what nests deeper than toml_depth_max.
[[nodiscard]] tl::expected<TomlNode, PolicyError> parse_toml(std::string_view text);

/// The text as a TOML string, with its quotes.
[[nodiscard]] std::string toml_string(std::string_view text);

}  // namespace roce::analyze
