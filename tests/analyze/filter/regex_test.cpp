// SPDX-License-Identifier: Apache-2.0
#include "analyze/filter/regex.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace roce::analyze {
namespace {

bool found(std::string_view pattern, std::string_view subject) {
  const auto regex = Regex::compile(pattern);
  EXPECT_TRUE(regex) << pattern << ": " << (regex ? "" : regex.error().message);
  return regex && regex->search(subject);
}

std::string message_of(std::string_view pattern) {
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
      {"(?-i)ABC", "abc", false},
      {"a(?-i:B)c", "AbC", false},
      {"(?s)a.c", "a\nc", true},
      {"\\Aa.c\\z", "abc", true},
      {"\\Qa.c\\E$", "abc", false},
      {"\\Qa.c\\E$", "xA.C", true},
      {"\\101\\01?$", "a\001", true},
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

TEST(Regex, bytes_have_no_case) {
  // 0xe0 and 0xc0 are one letter in Latin-1.
  for (const std::string pattern :
       {"\\xe0", "\xe0", "[\\xe0]", "[\\xe0-\xef]", "\\x{e0}", "\\340", "\\Q\xe0\\E"}) {
    EXPECT_TRUE(found(pattern, "\xe0")) << pattern;
    EXPECT_FALSE(found(pattern, "\xc0")) << pattern;
  }
  EXPECT_TRUE(found("[^\\xe0]", "\xc0"));
  EXPECT_FALSE(found("[^\\xe0]", "\xe0"));
  EXPECT_TRUE(found("^[b-d\xe0]+$", "bC\xe0"));
  EXPECT_FALSE(found("[^b-d\xe0]", "bC\xe0"));
  EXPECT_FALSE(found("(?-i)[b-d\xe0]", "C"));
  EXPECT_FALSE(found("[^\\x00-\\xff]", "a\xe0"));
  EXPECT_TRUE(found("^[[:]\xe0$", "[\xe0")) << "no class of POSIX";
  EXPECT_TRUE(found("^[[:digit:]\xe0:]+$", "1\xe0:"));
  EXPECT_TRUE(found("^\xc3\xa4+\\Q.\xc3\xa4\\E$", "\xc3\xa4\xa4.\xc3\xa4"));
  EXPECT_FALSE(found("\xc3\xa4", "\xe3\xa4"));
  EXPECT_FALSE(found("k", "\xe2\x84\xaa")) << "the sign of Kelvin";
}

TEST(Regex, copies_are_used_by_several_threads) {
  const auto regex = Regex::compile("(a|b)+c$");
  ASSERT_TRUE(regex);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&wrong, copy = *regex] {
      for (std::size_t size = 0; size < 500; ++size) {
        const std::string subject = std::string(size, size % 2 == 0 ? 'a' : 'B') + "c";
        if (copy.search(subject) != (size > 0) || copy.search(subject + "d")) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Regex, says_what_is_wrong) {
  EXPECT_EQ(message_of("(a"), "this '(' of the regular expression is not closed");
  EXPECT_EQ(message_of("a)"), "unexpected ')' in the regular expression");
  EXPECT_EQ(message_of("[a"), "this '[' of the regular expression is not closed");
  EXPECT_EQ(message_of("[z-a]"), "a range in brackets of the regular expression is in the wrong order");
  EXPECT_EQ(message_of("[[:nix:]]"), "unknown class in brackets of the regular expression");
  EXPECT_EQ(message_of("*a"), "'*' in the regular expression repeats nothing");
  EXPECT_EQ(message_of("a\\"), "the regular expression ends with a backslash");
  EXPECT_EQ(message_of("(a)\\1"), "back-references are not supported in regular expressions");
  EXPECT_EQ(message_of("(?=a)"), "'(?=' is not supported in regular expressions");
  EXPECT_EQ(message_of("a*+"), "'*+' in the regular expression repeats a repetition");
  EXPECT_EQ(message_of("a{3,2}"), "the counts of a repetition are in the wrong order");
  EXPECT_EQ(message_of("a{1001}"), "a count in the regular expression is above 1000");
  EXPECT_EQ(message_of("a\\x{"), "the regular expression ends too early");
  EXPECT_EQ(message_of("(?P<n"), "'(?P<n' is not valid in a regular expression");
  EXPECT_EQ(message_of("\\q"), "unknown escape '\\q' in the regular expression");
}

TEST(Regex, says_where) {
  struct Case {
    std::string_view pattern;
    std::size_t offset;
  };
  constexpr Case cases[] = {
      {"a(b", 1},
      {"((a)(b", 4},
      {"(a\\([(]", 0},
      {"a(b))c", 4},
      {"[(](a))", 6},
      {"ab[c(d", 2},
      {"[a][", 3},
      {"\xc3\xa4[b", 2},
      {"b[z-a]", 2},
      {"a[[:alpha:][:nix:]]", 11},
      {"a*b|*c", 4},
      {"(\xe0*|+)", 4},
      {"a\\\\b\\", 4},
      {"(a)\\1", 3},
      {"\\\\1\\1", 3},
      {"a*(?:b)(?=c)", 7},
      {"x(?<=a)", 1},
      {"a{2}b{3,2}", 5},
      {"a{9}b{1,1001}", 5},
      {"a\\\\q\\q", 4},
      {"\\x41\\x4", 4},
      {"x*a**", 3},
      {"(a{40}){40}", 7},
      {"\xe0)", 1},
      {"\\", 0},
  };
  for (const Case& c : cases) {
    const auto regex = Regex::compile(c.pattern);
    ASSERT_FALSE(regex) << c.pattern;
    EXPECT_EQ(regex.error().offset, c.offset) << c.pattern << ": " << regex.error().message;
  }
}

TEST(Regex, bounds_what_a_hostile_pattern_costs) {
  EXPECT_EQ(message_of("((a{100}){100}){100}"), "the regular expression is too large");
  EXPECT_EQ(message_of("((){1000}){1000}"), "the regular expression is too large");
  EXPECT_EQ(message_of("(a{40}){40}"), "the regular expression is too large");
  std::string large;
  for (int i = 0; i < 50; ++i) large += "[a-c]{1000}";
  EXPECT_EQ(message_of(large), "the regular expression is too large");
  EXPECT_EQ(message_of(std::string(10'000, '(')), "this '(' of the regular expression is not closed");
  EXPECT_EQ(message_of("a" + std::string(10'000, '*')),
            "'**' in the regular expression repeats a repetition");
  EXPECT_TRUE(found(std::string(10'000, '(') + "a" + std::string(10'000, ')'), "a"));
  // Exponential for backtracking matchers.
  EXPECT_FALSE(found("^(a+)+$", std::string(5000, 'a') + "b"));
  EXPECT_FALSE(found("(x+x+)+y", std::string(5000, 'x')));
  // More states than there is memory for.
  EXPECT_FALSE(found("a.{900}b", std::string(5000, 'a')));
}

}  // namespace
}  // namespace roce::analyze
