// SPDX-License-Identifier: Apache-2.0
// The tree of a regular expression. Internal to analyze.
#pragma once

#include <limits>

#include "analyze/filter/regex.hpp"

namespace roce::analyze {

struct RegexNode {
  enum class Kind : std::uint8_t {
    empty,
    set,
    begin,
    end,
    word_edge,
    no_word_edge,
    sequence,
    choice,
    repeat
  };
  static constexpr unsigned unlimited = std::numeric_limits<unsigned>::max();

  Kind kind = Kind::empty;
  std::uint32_t set = 0;                ///< index into RegexTree::sets
  std::vector<std::uint32_t> children;  ///< indices into RegexTree::nodes
  unsigned at_least = 0, at_most = 0;   ///< of repeat
};

struct RegexTree {
  std::vector<RegexNode> nodes;
  std::vector<Regex::Set> sets;
  std::uint32_t root = 0;
};

/// Depth is at most Regex::max_depth; sets hold both cases of letters.
[[nodiscard]] tl::expected<RegexTree, RegexError> parse_regex(std::string_view pattern);

}  // namespace roce::analyze
