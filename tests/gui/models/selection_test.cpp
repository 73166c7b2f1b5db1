// SPDX-License-Identifier: Apache-2.0
#include "gui/models/selection.hpp"

#include <gtest/gtest.h>

namespace roce::gui {
namespace {

/// What nobody has chosen follows the worst finding, but only once all of the capture is known.
TEST(SelectionOfFindings, TheWorstIsOfferedUntilOneIsChosen) {
  Selection selection;
  selection.offer_finding(QStringLiteral("first read"), false);
  EXPECT_EQ(selection.finding(), QStringLiteral("first read"));
  selection.offer_finding(QStringLiteral("worse, read later"), false);
  EXPECT_EQ(selection.finding(), QStringLiteral("first read"));
  selection.offer_finding(QStringLiteral("worst of all"), true);
  EXPECT_EQ(selection.finding(), QStringLiteral("worst of all"));
  selection.choose_finding(QStringLiteral("chosen"));
  selection.offer_finding(QStringLiteral("worst of all"), true);
  EXPECT_EQ(selection.finding(), QStringLiteral("chosen"));
}

}  // namespace
}  // namespace roce::gui
