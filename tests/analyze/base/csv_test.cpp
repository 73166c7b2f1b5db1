// SPDX-License-Identifier: Apache-2.0
#include "analyze/base/csv.hpp"

#include <gtest/gtest.h>

namespace roce::analyze {
namespace {

std::string csv_cell(std::string_view cell) {
  std::string out;
  append_csv(out, cell);
  return out;
}

TEST(Csv, QuotesWhatNeedsIt) {
  EXPECT_EQ(csv_cell("plain"), "plain");
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(csv_cell(""), "");
}

TEST(Csv, FormulasBecomeText) {
  EXPECT_EQ(csv_cell("=1+1"), "'=1+1");
  EXPECT_EQ(csv_cell("=HYPERLINK(\"http://x\",\"y\")"), "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\"");
  EXPECT_EQ(csv_cell("@SUM(A1)"), "'@SUM(A1)");
  EXPECT_EQ(csv_cell("\t=1"), "'\t=1");
  EXPECT_EQ(csv_cell("\r=1"), "\"'\r=1\"");
  for (const char* formula :
       {"+1+1", "-1-1", "-", "+", "--5", "+-5", "-A1", "-1:2", "+0x10", "-inf", "-nan", "-1e", "+1 "})
    EXPECT_EQ(csv_cell(formula), std::string("'") + formula);
  for (const char* number :
       {"-5", "+5", "-0.25", "+1.5e3", "-1e-7", "-1E+400", "-.5", "5", "10.0.0.1", "a=b", "1-2", " =1"})
    EXPECT_EQ(csv_cell(number), number);
}

}  // namespace
}  // namespace roce::analyze
