// SPDX-License-Identifier: Apache-2.0
#include "analyze/filter/regex.hpp"

#include <gtest/gtest.h>

#include <string>

namespace roce::analyze {
namespace {

bool found(std::string_view pattern, std::string_view subject) {
  const auto regex = Regex::compile(pattern);
  EXPECT_TRUE(regex) << pattern << ": " << (regex ? "" : regex.error().message);
  return regex && regex->search(subject);
}

std::string error_of(std::string_view pattern) {
  const auto regex = Regex::compile(pattern);
  return regex ? "" : regex.error().message;
}

TEST(Regex, finds_what_pcre_finds) {
  struct Case {
    std::string_view pattern, subject;
    bool match;
  };
  constexpr Case cases[] = {
      {"write", "RDMA WRITE Only", true},
      {"^write", "RDMA WRITE Only", false},
      {"^rdma", "RDMA WRITE Only", true},
      {"only$", "RDMA WRITE Only", true},
      {"^$", "", true},
      {"^$", "x", false},
      {"", "anything", true},
      {"a.c", "abc", true},
      {"a.c", "a\nc", false},
      {"a\\.c", "abc", false},
      {"a\\.c", "a.c", true},
      {"ab*c", "ac", true},
      {"ab*c", "abbbc", true},
      {"ab+c", "ac", false},
      {"ab?c", "abbc", false},
      {"ab*?c", "abbc", true},
      {"(ab)+$", "xxabab", true},
      {"^(ab)+$", "ababa", false},
      {"a{2}", "a", false},
      {"^a{2,3}$", "aaa", true},
      {"^a{2,3}$", "aaaa", false},
      {"^a{2,}$", "aaaaaaa", true},
      {"^a{0,1}b", "b", true},
      {"a{,3}", "a{,3}", true},
      {"x{", "x{", true},
      {"cat|dog", "hotdog", true},
      {"^(cat|dog)$", "cow", false},
      {"(|a)b", "b", true},
      {"[a-c]x", "bx", true},
      {"[^a-c]x", "bx", false},
      {"[^a-c]x", "zx", true},
      {"[]a]", "]", true},
      {"[a-]", "-", true},
      {"[\\d]+z", "12z", true},
      {"[[:digit:][:space:]]$", "x ", true},
      {"[[:alpha:]]", "12", false},
      {"\\d{3}", "ab123", true},
      {"\\D", "123", false},
      {"^\\w+$", "a_1", true},
      {"\\W", "a_1", false},
      {"\\s", "a\tb", true},
      {"\\x41", "a", true},
      {"\\bfoo\\b", "a foo b", true},
      {"\\bfoo\\b", "afoo", false},
      {"\\Bfoo", "afoo", true},
      {"(?:ab|c)d", "cd", true},
      {"(?i)ABC", "abc", true},
      {"(a*)*", "b", true},
      {"(a*)+$", "baaa", true},
      {"(a|b|)*c", "ababc", true},
  };
  for (const Case& c : cases)
    EXPECT_EQ(found(c.pattern, c.subject), c.match) << c.pattern << " on " << c.subject;
}

TEST(Regex, sees_all_bytes) {
  using namespace std::string_view_literals;
  EXPECT_TRUE(found("b\\x00\\xff", "a\0b\0\xff"sv));
  EXPECT_TRUE(found("[\\x80-\\xff]", "\x90"sv));
  EXPECT_TRUE(found("^...$", "\0\0\0"sv));
}

TEST(Regex, says_what_is_wrong) {
  EXPECT_EQ(error_of("(a"), "this '(' of the regular expression is not closed");
  EXPECT_EQ(error_of("a)"), "unexpected ')' in the regular expression");
  EXPECT_EQ(error_of("[a"), "this '[' of the regular expression is not closed");
  EXPECT_EQ(error_of("[z-a]"), "a range in brackets of the regular expression is in the wrong order");
  EXPECT_EQ(error_of("[[:nix:]]"), "unknown class in brackets of the regular expression");
  EXPECT_EQ(error_of("*a"), "'*' in the regular expression repeats nothing");
  EXPECT_EQ(error_of("a\\"), "the regular expression ends with a backslash");
  EXPECT_EQ(error_of("(a)\\1"), "back-references are not supported in regular expressions");
  EXPECT_EQ(error_of("(?=a)"), "look-around and inline options are not supported in regular expressions");
  EXPECT_EQ(error_of("a{3,2}"), "the counts of a repetition are in the wrong order");
  EXPECT_EQ(error_of("a{1001}"), "a count in the regular expression is above 1000");
  EXPECT_EQ(error_of("\\q"), "unknown escape '\\q' in the regular expression");
}

TEST(Regex, bounds_what_a_hostile_pattern_costs) {
  EXPECT_EQ(error_of("((a{100}){100}){100}"), "the regular expression is too large");
  EXPECT_EQ(error_of("((){1000}){1000}"), "the regular expression is too large");
  EXPECT_EQ(error_of(std::string(10'000, '(')), "the regular expression is nested too deeply");
  EXPECT_EQ(error_of("a" + std::string(10'000, '*')), "the regular expression is nested too deeply");
  // Exponential for backtracking matchers.
  EXPECT_FALSE(found("^(a+)+$", std::string(5000, 'a') + "b"));
  EXPECT_FALSE(found("(x+x+)+y", std::string(5000, 'x')));
}

}  // namespace
}  // namespace roce::analyze
