// SPDX-License-Identifier: Apache-2.0
#include "cli/core/text_table.hpp"

#include <gtest/gtest.h>

namespace roce::cli {
namespace {

TEST(TextTable, PadsAndAligns) {
  TextTable table({{"name", false, 0}, {"n", true, 0}});
  table.add_row({"µs", "1"});
  table.add_row({"longer", "100"});
  EXPECT_EQ(table.render(0, 1), " name      n\n µs        1\n longer  100\n");
}

TEST(TextTable, DropsTheLeastImportantFirst) {
  TextTable table({{"keep", false, 0}, {"often", false, 1}, {"rarely", false, 2}});
  table.add_row({"a", "b", "c"});
  EXPECT_EQ(table.render(100, 0), "keep  often  rarely\na     b      c\n");
  EXPECT_EQ(table.render(15, 0), "keep  often\na     b\n");
  EXPECT_EQ(table.render(3, 0), "keep\na\n");
}

TEST(TextTable, LeavesOutEmptyColumns) {
  TextTable table({{"a", false, 0}, {"vlan", true, 1}});
  table.add_row({"x", ""});
  EXPECT_EQ(table.render(0, 0), "a\nx\n");
}

TEST(Wrap, BreaksAtSpacesOnly) {
  EXPECT_EQ(wrap("one two three", 9, 2), "one two\n  three");
  EXPECT_EQ(wrap("unbreakable-word x", 5, 0), "unbreakable-word\nx");
  EXPECT_EQ(wrap("", 5, 0), "");
  EXPECT_EQ(wrap("a  b", 80, 0), "a b");
}

}  // namespace
}  // namespace roce::cli
