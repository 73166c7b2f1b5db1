// SPDX-License-Identifier: Apache-2.0
// Regular expressions whose cost is bounded: time is linear in the subject, memory and depth have
// limits. std::regex recurses per character, regcomp() takes memory without end on {m,n}.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace roce::analyze {

struct RegexError {
  std::size_t offset = 0;  ///< byte of the pattern
  std::string message;
};

/// A pattern in the common part of PCRE and POSIX ERE: . [] () (?:) | * + ? {m,n}, lazy quantifiers
/// (which change nothing about whether there is a match), ^ $ \b \B, \d \w \s and their opposites,
/// [:classes:], \xhh and the usual escapes. Not: back-references, look-around. Works on bytes.
class Regex {
 public:
  static constexpr std::size_t max_instructions = 2000;
  static constexpr std::size_t max_depth = 64;
  static constexpr unsigned max_repeat = 1000;

  [[nodiscard]] static tl::expected<Regex, RegexError> compile(std::string_view pattern);

  /// Whether it matches anywhere in `subject`; upper and lower case of ASCII are the same.
  /// At most size × max_instructions steps. Thread-safe.
  [[nodiscard]] bool search(std::string_view subject) const;

  using Set = std::bitset<256>;
  enum class Op : std::uint8_t { set, split, jump, begin, end, word_edge, no_word_edge, match };
  struct Instruction {
    Op op = Op::match;
    std::uint32_t a = 0;  ///< set: index into sets; split and jump: target
    std::uint32_t b = 0;  ///< split: second target
  };

 private:
  std::vector<Instruction> program_;
  std::vector<Set> sets_;
};

}  // namespace roce::analyze
