// SPDX-License-Identifier: Apache-2.0
// One broken policy for every place in which a policy can be broken: the message points at it.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/analyze/policy/policy_support.hpp"

namespace roce::analyze {
namespace {

struct Broken {
  const char* text;
  std::size_t line, column;
  const char* words;  ///< in the message
};

const Broken broken[] = {
    // What is no TOML.
    {"trust = ", 1, 9, "not TOML"},
    {"trust = \"dscp\"\ntrust = \"pcp\"", 2, 9, "cannot redefine"},
    {"[class.data\ndscp = 1", 1, 12, "not TOML"},
    {"[class.data]\ndscp = [1, 2\n", 2, 14, "not TOML"},
    {"name = \"\xff\"", 1, 8, "utf-8"},
    {"[class.data]\ndscp = 26\n[class.data]\n", 3, 1, "cannot redefine existing table"},
    {"trust = \"dscp\"\n[\x01", 2, 2, "not TOML: a control character"},
    {"# \x7f", 1, 3, "not TOML: a control character"},
    {"[/class.data]\n", 1, 2, "not TOML"},
    // Keys that do not exist, and what was meant.
    {"trsut = \"dscp\"", 1, 1, "no key 'trsut' in a policy; did you mean 'trust'?"},
    {"  loss_less = 3", 1, 3, "did you mean 'lossless'?"},
    {"[clas.data]\ndscp = 1", 1, 2, "did you mean 'class'?"},
    {"zzzzzz = 1", 1, 1, "no key 'zzzzzz' in a policy"},
    {"\"$6$salt$hash\" = 1", 1, 1, "no key of this name in a policy"},
    {"[class.\"10.0.0.1 secret\"]\ndscp = 1", 1, 8, "no class of this name: expected data"},
    {"key = trustno1", 1, 10, "expected 'true', saw something else"},
    {"pin = 98765432109876543210", 1, 27, "something else is not representable"},
    {"[class.data]\ndsp = 26", 2, 1, "no key 'dsp' in [class.data]; did you mean 'dscp'?"},
    {"[class.data]\necn = \"ce\"\nprio = 3", 3, 1, "did you mean 'priority'?"},
    {"[class.response]\nvlan_id = 3", 2, 1, "did you mean 'vlan'?"},
    {"[class.dta]\ndscp = 26", 1, 8, "no class 'dta'"},
    {"[class.dta]\ndscp = 26", 1, 8, "did you mean 'data'?"},
    {"[[rule]]\nscr = \"10.0.0.1\"\ndscp = 1", 2, 1, "no key 'scr' in [[rule]]; did you mean 'src'?"},
    {"[[rule]]\nDSCP = 1", 2, 1, "did you mean 'dscp'?"},
    {"[allow]\naddress = \"10.0.0.1\"", 2, 1, "no key 'address' in [allow]; did you mean 'addresses'?"},
    {"[checks]\npcp_from_tso = true", 2, 1,
     "no key 'pcp_from_tso' in [checks]; did you mean 'pcp_from_tos'?"},
    {"class.data = { dscp = 26, ecm = \"ce\" }", 1, 27, "did you mean 'ecn'?"},
    // Texts and words.
    {"name = 3", 1, 8, "expected a string in quotes, not a whole number"},
    {"description = [\"x\"]", 1, 15, "expected a string in quotes, not a list"},
    {"trust = \"dcsp\"", 1, 9, "expected \"dscp\" or \"pcp\", not \"dcsp\"; did you mean 'dscp'?"},
    {"trust = true", 1, 9, "expected \"dscp\" or \"pcp\", not true or false"},
    {"roce_version = \"v3\"", 1, 16, "expected \"v1\" or \"v2\", not \"v3\""},
    {"roce_version = [\"v2\", 1]", 1, 23, "a whole number is not a valid RoCE version"},
    {"roce_version = []", 1, 16, "an empty list"},
    {"roce_version = 2", 1, 16, "a whole number is not a valid RoCE version"},
    // Tables where something else stands.
    {"class = 3", 1, 9, "expected a table, [class.data], not a whole number"},
    {"class.data = 26", 1, 14, "expected a table, [class.data], not a whole number"},
    {"class.ack = [1]", 1, 13, "expected a table, [class.ack], not a list"},
    {"dscp_to_priority = [3]", 1, 20, "expected a table, [dscp_to_priority], not a list"},
    {"rule = 1", 1, 8, "expected tables, [[rule]], not a whole number"},
    {"rule = [1]", 1, 9, "expected a table, [[rule]], not a whole number"},
    {"[rule]\ndscp = 1", 1, 1, "expected tables, [[rule]], not a table"},
    {"allow = \"all\"", 1, 9, "expected a table, [allow], not a string"},
    {"checks = true", 1, 10, "expected a table, [checks], not true or false"},
    // DSCP, in every form.
    {"[class.data]\ndscp = 64", 2, 8, "64 is not a valid DSCP: expected 0 to 63"},
    {"[class.data]\ndscp = -1", 2, 8, "-1 is not a valid DSCP"},
    {"[class.data]\ndscp = 26.5", 2, 8, "a fraction or a date is not a valid DSCP"},
    {"[class.data]\ndscp = true", 2, 8, "true or false is not a valid DSCP"},
    {"[class.data]\ndscp = \"af99\"", 2, 8, "\"af99\" is not a valid DSCP"},
    {"[class.data]\ndscp = \"\"", 2, 8, "\"\" is not a valid DSCP"},
    {"[class.data]\ndscp = \"28-24\"", 2, 8, "the range \"28-24\" ends before it begins"},
    {"[class.data]\ndscp = \"24-64\"", 2, 8, "\"24-64\" is not a valid DSCP"},
    {"[class.data]\ndscp = \"24-\"", 2, 8, "\"24-\" is not a valid DSCP"},
    {"[class.data]\ndscp = \"70\"", 2, 8, "\"70\" is not a valid DSCP"},
    {"[class.data]\ndscp = []", 2, 8, "an empty list allows no DSCP: leave the key out"},
    {"[class.data]\ndscp = [24,\n  66]", 3, 3, "66 is not a valid DSCP"},
    {"[class.data]\ndscp = [24, [26]]", 2, 13, "a list in a list"},
    {"[class.data]\ndscp = { a = 1 }", 2, 8, "a table is not a valid DSCP"},
    // The other marks.
    {"[class.data]\necn = \"ect3\"", 2, 7, "\"ect3\" is not a valid ECN: expected \"not_ect\", \"ect0\""},
    {"[class.data]\necn = 4", 2, 7, "4 is not a valid ECN"},
    {"[class.data]\npcp = 8", 2, 7, "8 is not a valid PCP: expected 0 to 7"},
    {"[class.data]\npcp = [3, \"x\"]", 2, 11, "\"x\" is not a valid PCP"},
    {"[class.data]\npriority = 8", 2, 12, "8 is not a valid priority"},
    {"[class.data]\nvlan = 4095", 2, 8,
     "4095 is not a valid VLAN: expected \"required\", \"forbidden\", \"any\""},
    {"[class.data]\nvlan = \"reqired\"", 2, 8, "\"reqired\" is not a valid VLAN"},
    {"[class.data]\nvlan = true", 2, 8, "true or false is not a valid VLAN"},
    {"[class.data]\nvlan = [\"required\", 3]", 2, 9, "\"required\" is not a valid VLAN"},
    {"[class.data]\nttl = 0", 2, 7, "0 is not a valid TTL: expected 1 to 255"},
    {"[class.data]\nttl = 256", 2, 7, "256 is not a valid TTL"},
    {"lossless = 3\n[class.data]\nlossless = \"yes\"", 3, 12, "expected true or false, not a string"},
    {"[class.data]\nlossless = true", 2, 1, "does not define the lossless priorities"},
    {"[[rule]]\nlossless = true", 2, 1, "does not define the lossless priorities"},
    {"lossless = 8", 1, 12, "8 is not a valid priority"},
    {"lossless = \"3-9\"", 1, 12, "\"3-9\" is not a valid priority"},
    // The map.
    {"[dscp_to_priority]\n64 = 3", 2, 1, "\"64\" is not a valid DSCP"},
    {"[dscp_to_priority]\nafx = 3", 2, 1, "\"afx\" is not a valid DSCP"},
    {"[dscp_to_priority]\n26 = 8", 2, 6, "DSCP 26 maps to one priority: expected 0 to 7"},
    {"[dscp_to_priority]\n26 = [3, 4]", 2, 6, "DSCP 26 maps to one priority"},
    {"[dscp_to_priority]\n26 = 3\naf31 = 4", 3, 1, "DSCP 26 is mapped twice"},
    {"[dscp_to_priority]\n26 = 3\n\"20-30\" = 4", 3, 1, "DSCP 26 is mapped twice"},
    // Rules.
    {"[[rule]]\nsrc = \"10.0.0.1\"", 1, 1, "a rule without markings"},
    {"[[rule]]\nname = \"a b\"\ndscp = 1", 2, 8, "expected a name of letters, digits, _ and -"},
    {"[[rule]]\nname = 3\ndscp = 1", 2, 8, "expected a name"},
    {"[[rule]]\nname = \"x\"\ndscp = 1\n[[rule]]\nname = \"x\"\ndscp = 2", 5, 8,
     "a second rule with the name 'x'"},
    {"[[rule]]\nname = \"all\"\nttl = 64\n[[rule]]\nname = \"x\"\nsrc = \"10.0.0.1\"\ndscp = 2", 4, 1,
     "the rule 'x' can never apply: rules without src, dst, p_key and qp ('all') are evaluated first"},
    {"[[rule]]\nsrc = \"10.0.0.1\"\ndscp = 2\n[[rule]]\nttl = 64", 1, 1, "the rule '1' can never apply"},
    {"[[rule]]\nclass = \"data\"\nttl = 64\n[[rule]]\nclass = \"data\"\ndscp = 2", 4, 1,
     "the rule '2' can never apply"},
    {"[[rule]]\nsrc = \"10.0.0.1\"\ndst = [\"fe80::1\", \"fe80::/64\"]\ndscp = 2", 1, 1,
     "src and dst are not of the same IP version"},
    {"[[rule]]\nname = \"2\"\ndscp = 1\n[[rule]]\ndscp = 2", 4, 1, "a second rule with the name '2'"},
    {"[[rule]]\nsrc = \"10.0.0.300\"\ndscp = 1", 2, 7, "\"10.0.0.300\" is not a valid address"},
    {"[[rule]]\ndst = [\"10.0.0.1\", \"10.0.0.0/33\"]\ndscp = 1", 2, 20,
     "\"10.0.0.0/33\" is not a valid address"},
    {"[[rule]]\ndst = \"fe80::/129\"\ndscp = 1", 2, 7, "is not a valid address"},
    {"[[rule]]\ndst = \"fe80::/\"\ndscp = 1", 2, 7, "is not a valid address"},
    {"[[rule]]\nsrc = 10\ndscp = 1", 2, 7, "a whole number is not a valid address"},
    {"[[rule]]\nsrc = []\ndscp = 1", 2, 7, "an empty list"},
    {"[[rule]]\np_key = 0x10000\ndscp = 1", 2, 9, "65536 is not a valid P_Key"},
    {"[[rule]]\nqp = 0x1000000\ndscp = 1", 2, 6, "16777216 is not a valid queue pair"},
    {"[[rule]]\nqp = \"9-3\"\ndscp = 1", 2, 6, "ends before it begins"},
    {"[[rule]]\nclass = \"dat\"\ndscp = 1", 2, 9, "not \"dat\"; did you mean 'data'?"},
    {"[[rule]]\nclass = [\"data\", 3]\ndscp = 1", 2, 18, "a whole number is not a valid class of traffic"},
    {"[[rule]]\nclass = []\ndscp = 1", 2, 9, "an empty list"},
    {"[[rule]]\ndscp = 99", 2, 8, "99 is not a valid DSCP"},
    {"[[rule]]\necn = \"x\"", 2, 7, "is not a valid ECN"},
    {"[[rule]]\npcp = 9", 2, 7, "is not a valid PCP"},
    {"[[rule]]\nvlan = 9999", 2, 8, "is not a valid VLAN"},
    {"[[rule]]\nttl = \"0-3\"", 2, 7, "is not a valid TTL"},
    {"[[rule]]\npriority = 8", 2, 12, "is not a valid priority"},
    {"lossless = 3\n[[rule]]\nlossless = 1", 3, 12, "expected true or false, not a whole number"},
    // Allow lists and checks.
    {"[allow]\naddresses = [\"10.0.0.0/8\", \"host\"]", 2, 28, "\"host\" is not a valid address"},
    {"[allow]\naddresses = []", 2, 13, "an empty list"},
    {"[allow]\np_keys = []", 2, 10, "an empty list allows no P_Key"},
    {"[allow]\np_keys = \"0xfffff\"", 2, 10, "is not a valid P_Key"},
    {"[checks]\npcp_from_tos = 1", 2, 16, "expected true or false, not a whole number"},
    {"[checks]\npcp_from_dscp = \"yes\"", 2, 17, "expected true or false, not a string"},
    // traffic_class lines inside.
    {"traffic_class = 106", 1, 17, "a whole number is not a valid line of a traffic_class file"},
    {"traffic_class = [\n \"tclass=106\",\n \"tclas=1\"]", 3, 3, "'tclas' is neither tclass"},
    {"traffic_class = \"tclass=16,src_ip=1.1.1\"", 1, 35, "'1.1.1' is not an IPv4 address"},
    {"traffic_class_file = \"absent\"", 1, 22, "absent: No such file or directory"},
    {"traffic_class_file = 3", 1, 22, "a whole number is not a valid path of a traffic_class file"},
    // Behind characters of several bytes: columns count characters.
    {"name = \"k\u00e4se\u20ac\" \ntrust = \"\u00e4\"", 2, 9, "expected \"dscp\" or \"pcp\""},
    {"class.data = { vlan = \"\u00e4\u20ac\", dscp = 99 }", 1, 36, "99 is not a valid DSCP"},
};

TEST(PolicyErrors, PointAtEveryMistakeInEveryPlace) {
  for (const Broken& b : broken) {
    const auto model = parse_policy(b.text, "p.toml", reader_of({}));
    ASSERT_FALSE(model.has_value()) << b.text;
    const bool told = std::any_of(model.error().begin(), model.error().end(), [&](const PolicyError& e) {
      return e.line == b.line && e.column == b.column && e.message.find(b.words) != std::string::npos;
    });
    EXPECT_TRUE(told) << b.text << "\nexpected at " << b.line << ':' << b.column << ": " << b.words
                      << "\ngot\n"
                      << describe_all(model.error());
    EXPECT_EQ(model.error().front().file, "p.toml");
  }
}

TEST(PolicyErrors, RulesThatCanApplyAreNone) {
  for (const std::string_view text :
       {"[[rule]]\nclass = \"data\"\nttl = 64\n[[rule]]\nsrc = \"10.0.0.1\"\ndscp = 2",
        "[[rule]]\nsrc = \"10.0.0.1\"\ndscp = 1\n[[rule]]\nsrc = \"10.0.0.1\"\ndst = \"10.0.0.2\"\ndscp = 2",
        "[[rule]]\nsrc = [\"10.0.0.1\", \"fe80::1\"]\ndst = \"fe80::2\"\ndscp = 2",
        "[[rule]]\nsrc = \"10.0.0.1\"\ndst = \"::/0\"\ndscp = 2"}) {
    const auto model = parse_policy(text, "p.toml", {});
    EXPECT_TRUE(model.has_value()) << text << '\n' << (model ? "" : describe_all(model.error()));
  }
}

TEST(PolicyErrors, EveryMistakeOfAFileIsToldInOrder) {
  const auto model = parse_policy("trust = \"x\"\n[class.data]\ndscp = 64\necn = 9\n", "dir/p.toml", {});
  ASSERT_FALSE(model.has_value());
  ASSERT_EQ(model.error().size(), 3U);
  EXPECT_EQ(model.error()[0].describe(), "dir/p.toml:1:9: expected \"dscp\" or \"pcp\", not \"x\"");
  EXPECT_EQ(model.error()[1].line, 3U);
  EXPECT_EQ(model.error()[2].line, 4U);
}

/// `part` repeated.
std::string times(std::size_t count, std::string_view part) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += part;
  return text;
}

TEST(PolicyErrors, NestingIsBoundedHoweverItIsWritten) {
  // Each nests exactly as deep as is allowed, then the same deeper, far deeper, and with its first error's
  // place.
  struct Nested {
    const char* before;
    const char* part;
    const char* after;
    std::size_t parts;  ///< with which the limit is reached
    std::size_t line, column;
  };
  const Nested nested[] = {
      {"", "a.", "a = 1", 63, 1, 128},
      {"", "a . ", "a = 1", 63, 1, 255},
      {"", "\"a.b\".", "a = 1", 63, 1, 384},
      {"[", "a.", "a]\nb = 1", 62, 1, 127},
      {"[[", "a.", "a]]\nb = 1", 62, 1, 128},
      {"[class.data]\n", "a.", "a = 1", 61, 2, 124},
      {"a = ", "[", "", 63, 1, 68},
      {"name = \"k\u00e4se\"\r\na = ", "[\n", "", 63, 65, 1},
      {"a = ", "{a=", "", 63, 1, 194},
      {"a = [\"[[{\", '.{\\', \"\"\"\n\\\"\"\"\\\"{{\"\"\"\"\", ", "[", "", 62, 2, 78},
      {"a.b = ", "{a.b.c=", "", 20, 1, 151},
  };
  for (const Nested& n : nested) {
    SCOPED_TRACE(std::string(n.before) + n.part);
    const auto errors = [&](std::size_t count) {
      const auto model = parse_policy(n.before + times(count, n.part) + n.after, "p.toml", {});
      return model ? PolicyErrors{} : model.error();
    };
    const std::string words = "tables and lists nest deeper than 64";
    ASSERT_FALSE(errors(n.parts).empty());
    EXPECT_NE(errors(n.parts).front().message, words);
    for (const std::size_t count : {n.parts + 1, std::size_t{50'000}}) {
      ASSERT_EQ(errors(count).size(), 1U);
      EXPECT_EQ(errors(count).front().describe(),
                (PolicyError{"p.toml", n.line, n.column, words}.describe()));
    }
  }
  // Long, but not deep.
  const std::string wide = "a.b = [" + times(5'000, "{a.b = [1.5], \"c.d\".e = '.'}, ") + "]\n" +
                           times(500, "[[r.s]]\nx.y.z = 1.5 # ...[[[\n");
  const auto model = parse_policy(wide, "p.toml", {});
  ASSERT_FALSE(model.has_value());
  EXPECT_EQ(model.error().front().message.find("deeper"), std::string::npos)
      << model.error().front().describe();
}

TEST(PolicyErrors, AreBounded) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "unknown" + std::to_string(i) + " = 1\n";
  const auto model = parse_policy(text, "p.toml", {});
  ASSERT_FALSE(model.has_value());
  EXPECT_EQ(model.error().size(), policy_errors_kept);
  std::string rules;
  for (int i = 0; i < 1001; ++i) rules += "[[rule]]\ndscp = 1\n";
  const auto many = parse_policy(rules, "p.toml", {});
  ASSERT_FALSE(many.has_value());
  EXPECT_EQ(many.error().front().describe(), "p.toml:2001:1: more than 1000 rules");
}

const Broken broken_lines[] = {
    {"tclass=256", 1, 8, "'256' is not a tclass: expected 0 to 255"},
    {"tclass=-2", 1, 8, "'-2' is not a tclass"},
    {"tclass = 300", 1, 10, "'300' is not a tclass"},
    {"tclass=", 1, 8, "'' is not a tclass"},
    {"tclass=x", 1, 8, "'x' is not a tclass"},
    {"tclass=16,,", 1, 11, "nothing before this comma"},
    {"tclass=16, ,src_ip=1.1.1.1", 1, 12, "nothing before this comma"},
    {"tclass=16,src_ip=1.1.1.2,dst_ip=1.1.1.0/33", 1, 33, "'1.1.1.0/33' is not an IPv4 address"},
    {"# hosts\n\ntclass=16,  src_ip=1.1.1", 3, 20, "'1.1.1' is not an IPv4 address"},
    {"tclass=16,src_ip=fe80::1", 1, 18, "'fe80::1' is an IPv6 address: use src_ip6"},
    {"tclass=16,dst_ip6=1.1.1.1", 1, 19, "'1.1.1.1' is an IPv4 address: use dst_ip"},
    {"tclass=16,src_ip=1.1.1.1,dst_ip6=fe80::1", 1, 1, "an IPv4 and an IPv6 address in one rule"},
    {"tclass=16,sorc_ip=1.1.1.1", 1, 11, "'sorc_ip' is neither tclass, src_ip, dst_ip, src_ip6 nor dst_ip6"},
    {"tclass=16,scr_ip=1.1.1.1", 1, 11, "did you mean 'src_ip'?"},
    {"src_ip=1.1.1.1", 1, 1, "no tclass"},
    {"tclass=16,tclass=17", 1, 11, "tclass twice"},
    {"tclass=16,src_ip=1.1.1.1,src_ip=1.1.1.2", 1, 26, "src_ip twice"},
    {"Global tclass=300", 1, 15, "'300' is not a tclass"},
    {"Global tclass=16,src_ip=1.1.1.1", 1, 8, "a global value has no addresses"},
    {"106\nx\n", 2, 1, "this is neither tclass"},
    // Of a file that has no rules nothing is quoted: it may be a list of passwords.
    {"106\nroot:$6$salt$hash:19000:0:99999:7:::\n", 2, 1, "this is neither tclass"},
    {"106\npassword=secret\n", 2, 1, "this is neither tclass"},
    {"4711\n", 1, 1, "this number is not a tclass"},
    {"tclass=1\r\ntclass=999\r\n", 2, 8, "'999' is not a tclass"},
};

TEST(PolicyErrors, PointAtEveryMistakeOfATrafficClassFile) {
  for (const Broken& b : broken_lines) {
    const auto model = parse_policy(b.text, "traffic_class", {});
    ASSERT_FALSE(model.has_value()) << b.text;
    const PolicyError& e = model.error().front();
    EXPECT_EQ(e.line, b.line) << b.text << '\n' << e.describe();
    EXPECT_EQ(e.column, b.column) << b.text << '\n' << e.describe();
    EXPECT_NE(e.message.find(b.words), std::string::npos) << e.describe();
    EXPECT_EQ(e.file, "traffic_class");
  }
}

// What no packet can obey would be broken by all.
TEST(PolicyErrors, MarksThatExcludeEachOther) {
  struct {
    std::string_view text;
    std::string_view error;
  } const bad[] = {
      {"[class.data]\ndscp = 26\npriority = 4\n",
       "p.toml:3:12: no DSCP allowed here maps to an allowed priority"},
      {"trust = \"pcp\"\n[class.data]\npcp = 3\npriority = [4, 5]\n",
       "p.toml:4:12: no PCP allowed here maps to an allowed priority"},
      {"lossless = [3]\n[dscp_to_priority]\n26 = 5\n[class.data]\ndscp = 26\nlossless = true\n",
       "p.toml:6:12: no priority allowed here by its DSCP is lossless"},
      {"lossless = [3]\n[[rule]]\nsrc = \"10.0.0.1\"\npriority = 3\nlossless = false\n",
       "p.toml:5:12: no priority allowed here is not lossless"},
  };
  for (const auto& each : bad) {
    const auto model = parse_policy(each.text, "p.toml", {});
    ASSERT_FALSE(model.has_value()) << each.text;
    EXPECT_EQ(model.error().front().describe().substr(0, each.error.size()), each.error);
  }
  // Some packet can; RoCE v1 has no DSCP that would decide.
  for (const std::string_view good : {"[class.data]\ndscp = [26, 34]\npriority = 4\n",
                                      "trust = \"pcp\"\n[class.data]\ndscp = 26\npriority = 4\n",
                                      "roce_version = \"v1\"\n[class.data]\ndscp = 26\npriority = 4\n",
                                      "lossless = [3]\n[class.data]\ndscp = [26, 0]\nlossless = true\n"}) {
    EXPECT_TRUE(parse_policy(good, "p.toml", {}).has_value()) << good;
  }
}

TEST(PolicyErrors, OfAFileThatAPolicyNamesAreThoseOfThatFile) {
  const PolicyFiles files{{"etc/tc", "tclass=106\ntclass=1,dst_ip=x\n"}};
  const auto model = parse_policy("traffic_class_file = \"tc\"", "etc/p.toml", reader_of(files));
  ASSERT_FALSE(model.has_value());
  EXPECT_EQ(model.error().front().describe(),
            "etc/tc:2:17: 'x' is not an IPv4 address, alone or with a /length");
}

TEST(PolicyErrors, NamesAndFilesThatDoNotExist) {
  const auto policy = load_policy("nvidai");
  ASSERT_FALSE(policy.has_value());
  EXPECT_NE(policy.error().front().describe().find("nvidai: No such file or directory; nor is it one of"),
            std::string::npos)
      << policy.error().front().describe();
  EXPECT_NE(policy.error().front().message.find("did you mean 'nvidia'?"), std::string::npos);
  const auto folder = load_policy("/");
  ASSERT_FALSE(folder.has_value());
  EXPECT_NE(folder.error().front().message.find("is a folder"), std::string::npos);
}

}  // namespace
}  // namespace roce::analyze
