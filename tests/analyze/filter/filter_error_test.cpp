// SPDX-License-Identifier: Apache-2.0
// Where and how display filters complain.
#include <gtest/gtest.h>

#include <string>

#include "analyze/filter/filter.hpp"

namespace roce::analyze {
namespace {

struct Case {
  std::string expression;
  std::size_t column, length;
  std::string message;  ///< its beginning
};

void expect_errors(std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    const auto filter = Filter::compile(c.expression);
    ASSERT_FALSE(filter) << c.expression;
    const FilterError& error = filter.error();
    EXPECT_EQ(error.column, c.column) << error.describe(c.expression);
    EXPECT_EQ(error.length, c.length) << error.describe(c.expression);
    EXPECT_TRUE(error.message.starts_with(c.message)) << error.message << "\nexpected: " << c.message;
  }
}

TEST(FilterError, words) {
  expect_errors({
      {"ip = 3", 4, 1, "'=' is not an operator; did you mean '=='?"},
      {"ip | udp", 4, 1, "'|' is not an operator; did you mean '||'?"},
      {"ip ^ udp", 4, 1, "'^' is not an operator; did you mean '^^'?"},
      {"ip ]", 4, 1, "unexpected ']' without '['"},
      {"ip and @", 8, 1, "unexpected character '@'"},
      {"ip and é", 8, 1, "unexpected character 'é'"},
      {"ip\x01", 3, 1, "unexpected control character"},
      {"frame.protocols == \"abc", 20, 1, "this string is not closed"},
      {"frame.protocols == r\"abc\\\"", 20, 2, "this string is not closed"},
      {"frame.number == 'a", 17, 1, "this character is not closed"},
      {"frame.number == 'ab'", 17, 4, "expected exactly one character"},
      {"frame.number == ''", 17, 2, "expected exactly one character"},
      {"frame.protocols == \"a\\.b\"", 22, 2, "unknown escape '\\.'; write \\\\ for a backslash"},
  });
}

TEST(FilterError, grammar) {
  expect_errors({
      {"ip and", 7, 1, "expected a field name, found the end"},
      {"and ip", 1, 3, "expected a field name, found 'and'"},
      {"ip &&", 6, 1, "expected a field name, found the end"},
      {"not", 4, 1, "expected a field name, found the end"},
      {"!", 2, 1, "expected a field name, found the end"},
      {"()", 2, 1, "expected a field name, found ')'"},
      {"(ip", 1, 1, "this '(' is not closed: expected ')'"},
      {"ip and (udp or (vlan)", 8, 1, "this '(' is not closed: expected ')'"},
      {"ip)", 3, 1, "unexpected ')' without '('"},
      {"(ip udp)", 5, 3, "expected 'and', 'or' or ')', found 'udp'"},
      {"ip udp", 4, 3, "expected 'and', 'or' or the end, found 'udp'"},
      {"\"text\" == ip.src", 1, 6, "expected a field name, found '\"text\"'; the field must be on the left"},
      {"5 == ip.ttl", 1, 1, "no field '5'"},
      {"ip.ttl ==", 10, 1, "expected a value after '==', found the end"},
      {"ip.ttl == and ip", 11, 3, "expected a value after '==', found 'and'"},
      {"ip.ttl == (3)", 11, 1, "expected a value after '==', found '('"},
      {"ip.ttl == 3 4", 13, 1, "expected 'and', 'or' or the end, found '4'"},
      {"1 < ip.ttl < 5", 1, 1, "no field '1'"},
      {"ip.ttl > 1 < 5", 12, 1, "expected 'and', 'or' or the end, found '<'"},
      {"ip.ttl not 3", 12, 1, "expected 'in' after 'not', found '3'"},
      {"any ip.ttl", 11, 1, "expected a comparison after 'any', found the end"},
      {"ip.ttl in 3", 11, 1, "expected '{' after 'in', found '3'"},
      {"ip.ttl in {", 11, 1, "this '{' is not closed: expected '}'"},
      {"ip.ttl in {}", 12, 1, "expected a value between '{' and '}'"},
      {"ip.ttl in {1, 2", 11, 1, "this '{' is not closed: expected '}'"},
      {"ip.ttl in {1..}", 15, 1, "expected a value after '..', found '}'"},
      {"ip.ttl in {..5}", 12, 2, "expected a value or '}', found '..'"},
      {"ip.ttl in {5..1}", 15, 1, "the range ends before it begins"},
  });
}

TEST(FilterError, fields) {
  expect_errors({
      {"infiniband.bth.psm == 5", 1, 18, "no field 'infiniband.bth.psm'; did you mean infiniband.bth.psn"},
      {"ip and IP", 8, 2, "no field 'IP'; did you mean ip"},
      {"tcp.flags.syn == 1", 1, 13, "no field 'tcp.flags.syn'"},
      {"ip.src == udp.port", 11, 8, "ip.src and udp.port are not of comparable types"},
      {"ip.src contains ip.dst", 17, 6, "expected a constant, not the field 'ip.dst'"},
      {"ip.ttl[0] == 1", 7, 1, "ip.ttl is a number: only bytes"},
      {"eth.src[ == 1", 8, 1, "this '[' is not closed: expected ']'"},
      {"eth.src[] == 1", 8, 1, "expected a slice such as"},
      {"eth.src[x] == 1", 9, 1, "expected a slice such as"},
      {"eth.src[0:0] == 1", 9, 3, "expected a slice such as"},
      {"eth.src[3-2] == 1", 9, 3, "expected a slice such as"},
      {"eth.src[0,2] == 1", 9, 3, "expected a slice such as"},
      {"eth.src[-99:99] == 1", 9, 6, "[-99:99] is outside of eth.src, which has 6 bytes"},
      {"eth.src[7] == 1", 9, 1, "[7] is outside of eth.src"},
      {"eth.src[6] == 1", 9, 1, "[6] is outside of eth.src"},
      {"eth.src[6:1] == 1", 9, 3, "[6:1] is outside of eth.src"},
      {"eth.src[5:2] == 1", 9, 3, "[5:2] is outside of eth.src"},
      {"eth.src[6:] == 1", 9, 2, "[6:] is outside of eth.src"},
      {"eth.src[:7] == 1", 9, 2, "[:7] is outside of eth.src"},
      {"eth.src[0-6] == 1", 9, 3, "[0-6] is outside of eth.src"},
      {"eth.src[-7]", 9, 2, "[-7] is outside of eth.src"},
      {"eth.src[-4-1] == 1", 9, 4, "[-4-1] is outside of eth.src"},
      {"eth.addr[6] == 1", 10, 1, "[6] is outside of eth.addr"},
      {"ip.src == ip.dst[4]", 18, 1, "[4] is outside of ip.dst, which has 4 bytes"},
      {"ipv6.src[16] == 1", 10, 2, "[16] is outside of ipv6.src, which has 16 bytes"},
      {"roce.src[16] == 1", 10, 2, "[16] is outside of roce.src, which has at most 16 bytes"},
      {"roce.direction[6] == b", 16, 1, "[6] is outside of roce.direction, which has 6 bytes"},
      {"eth.src & 1", 9, 1, "eth.src is not a number: '&' needs one"},
      {"ip.ttl & x", 10, 1, "expected a number after '&', found 'x'"},
  });
}

TEST(FilterError, dates) {
  expect_errors({
      {"frame.time > 5", 14, 1, "5 is not a date in quotes"},
      {"frame.time > \"1795171687\"", 14, 12, "\"1795171687\" is not a date"},
      {"frame.time >= \"10:48:07\"", 15, 10, "\"10:48:07\" is not a date"},
      {"frame.time contains \"Nov\"", 21, 5, "frame.time is a number"},
      {"frame.time[0:3] == \"Nov\"", 11, 1, "frame.time is a number: only bytes"},
      {"frame.time & 1", 12, 1, "frame.time is not a number"},
      {"frame.time == frame.time_epoch", 15, 16,
       "frame.time and frame.time_epoch are not of comparable types"},
  });
}

TEST(FilterError, slices_of_fields_without_a_fixed_length_are_accepted) {
  for (const std::string_view expression :
       {"infiniband.payload[9999] == 00", "frame[70:2] == 00:00", "infiniband.bth[12] == 00", "tcp[40] == 00",
        "frame.comment[5] == x", "roce.src[4:4] == 00:00:00:00", "roce.src[-16:4] == 00:00:00:00",
        "roce.analysis.lost[13] == e", "eth.src[0:6]", "eth.src[-6:6]", "eth.src[-6-5]"}) {
    const auto filter = Filter::compile(expression);
    EXPECT_TRUE(filter) << (filter ? std::string() : filter.error().describe(expression));
  }
}

TEST(FilterError, constants) {
  expect_errors({
      {"infiniband.bth.opcode == 256", 26, 3, "256 is more than infiniband.bth.opcode can hold (255)"},
      {"infiniband.bth.psn == 0x1000000", 23, 9,
       "0x1000000 is more than infiniband.bth.psn can hold (16777215)"},
      {"infiniband.reth.va == 18446744073709551616", 23, 20,
       "18446744073709551616 is more than 64 bits can hold"},
      {"ip.ttl == -1", 11, 2, "-1 is negative, ip.ttl is not"},
      {"ip.ttl == 08", 11, 2, "08 is not a number, e.g. 17 or 0x11"},
      {"ip.ttl == 0x", 11, 2, "0x is not a number"},
      {"ip.ttl == \"64\"", 11, 4, "\"64\" is not a number"},
      {"ip.ttl == 64x", 11, 3, "64x is not a number"},
      {"ip.flags.df == yes", 16, 3, "yes is not a boolean: 1, 0, true or false"},
      {"infiniband.bth.opcode == \"RDMA WRITE\"", 26, 12,
       "\"RDMA WRITE\" is not a number or name of infiniband.bth.opcode; known are \"RDMA WRITE First\""},
      {"infiniband.bth.opcode > \"SEND Only\"", 25, 11,
       "\"SEND Only\" is the name of several numbers, '>' needs one"},
      {"infiniband.bth.opcode in {\"SEND Only\" .. 5}", 27, 11, "a range needs one number at each end"},
      {"infiniband.aeth.syndrome.error_code == 9x", 40, 2,
       "9x is not a number or name of infiniband.aeth.syndrome.error_code; known are \"PSN sequence "
       "error\", "},
      {"ip.src == 10.0.0", 11, 6, "10.0.0 is not an IPv4 address, e.g. 10.0.0.1 or 10.0.0.0/8"},
      {"ip.src == 10.0.0.1/33", 11, 11, "the prefix length 33 is above 32"},
      {"ip.src == 10.0.0.1/", 11, 9, "expected a prefix length after '/', 0 to 32"},
      {"ip.src == fe80::1", 11, 7, "fe80::1 is not an IPv4 address"},
      {"ipv6.src == fe80:::1", 13, 8, "fe80:::1 is not an IPv6 address or GID"},
      {"ipv6.src == fe80::/129", 13, 10, "the prefix length 129 is above 128"},
      {"eth.src == 52:54:00", 12, 8, "52:54:00 is not a MAC address"},
      {"eth.src == 5254000000001", 12, 13, "5254000000001 is not a MAC address"},
      {"infiniband.aeth == abc", 20, 3, "abc is not bytes, e.g. aa:bb:cc"},
      {"infiniband.aeth contains xyz", 26, 3, "xyz is neither a string in quotes nor bytes such as aa:bb:cc"},
      {"frame.time_epoch > \"2026-02-30\"", 20, 12, "\"2026-02-30\" is not a time in seconds"},
      {"frame.time_relative > 1.5m", 23, 4, "1.5m is not a time in seconds"},
      {"ip.ttl contains 3", 17, 1, "ip.ttl is a number: 'contains' needs text or bytes"},
      {"ip.ttl matches \"3\"", 16, 3, "ip.ttl is a number: 'matches' needs text or bytes"},
      {"frame.protocols matches eth", 25, 3, "expected a regular expression in double quotes"},
      {"frame.protocols matches xyz", 25, 3, "expected a regular expression in double quotes"},
      {"frame.protocols matches \"a(b\"", 25, 5,
       "this '(' of the regular expression is not closed (at its character 2)"},
  });
}

TEST(FilterError, counts_characters_not_bytes) {
  expect_errors({{"frame.protocols == \"äöü\" and x.y", 30, 3, "no field 'x.y'"},
                 {"frame.protocols == \"\xff\xfe\" and x.y", 29, 3, "no field 'x.y'"}});
}

TEST(FilterError, bounds_depth) {
  const auto deep = Filter::compile(std::string(10'000, '(') + "ip" + std::string(10'000, ')'));
  ASSERT_FALSE(deep);
  EXPECT_EQ(deep.error().message, "parentheses nest deeper than 200");
  EXPECT_EQ(deep.error().column, 200U);
  EXPECT_TRUE(Filter::compile(std::string(199, '(') + "ip" + std::string(199, ')')));
  // Long, but not deep.
  std::string chain = "ip";
  for (int i = 0; i < 20'000; ++i) chain += i % 3 == 0 ? " and ip" : i % 3 == 1 ? " or udp" : " xor vlan";
  EXPECT_TRUE(Filter::compile(chain));
  EXPECT_TRUE(Filter::compile(std::string(20'000, '!') + "ip"));
}

TEST(FilterError, describes_with_a_caret) {
  const std::string expression = "ip and infiniband.bth.opcode == 256";
  EXPECT_EQ(Filter::compile(expression).error().describe(expression),
            "ip and infiniband.bth.opcode == 256\n"
            "                                ^~~\n"
            "column 33: 256 is more than infiniband.bth.opcode can hold (255)");
  const std::string umlauts = "frame.protocols == \"ä\tö\" and\n@";
  EXPECT_EQ(Filter::compile(umlauts).error().describe(umlauts),
            "frame.protocols == \"ä ö\" and @\n"
            "                             ^\n"
            "column 30: unexpected character '@'");
  EXPECT_EQ(Filter::compile("ip and").error().describe("ip and"),
            "ip and\n"
            "      ^\n"
            "column 7: expected a field name, found the end");
}

TEST(FilterError, shows_a_window_of_a_long_expression) {
  std::string expression;
  for (int i = 0; i < 100; ++i) expression += "ip.ttl == 64 and ";
  expression += "ip.ttl == 999";
  for (int i = 0; i < 100; ++i) expression += " and ip.ttl == 64";
  const auto filter = Filter::compile(expression);
  ASSERT_FALSE(filter);
  EXPECT_EQ(filter.error().column, 1711U);
  const std::string text = filter.error().describe(expression);
  const std::size_t first_end = text.find('\n'), second_end = text.find('\n', first_end + 1);
  const std::string line = text.substr(0, first_end);
  const std::string caret = text.substr(first_end + 1, second_end - first_end - 1);
  EXPECT_EQ(line.size(), 106U);
  EXPECT_TRUE(line.starts_with("...") && line.ends_with("...")) << line;
  EXPECT_EQ(line.substr(caret.find('^'), 3), "999");
  EXPECT_EQ(caret.substr(caret.find('^')), "^~~");
}

}  // namespace
}  // namespace roce::analyze
