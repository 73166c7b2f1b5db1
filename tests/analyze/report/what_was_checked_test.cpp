// SPDX-License-Identifier: Apache-2.0
#include "analyze/report/what_was_checked.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "analyze/mrc/mrc.hpp"

namespace roce::analyze {
namespace {

TEST(WhatWasChecked, StreamsOfMrcWhoseReceiverWasHeard) {
  auto mrc = std::make_shared<Mrc>();
  mrc->packets = 20;
  mrc->streams.resize(2);
  mrc->streams[0].sacks = 3;
  Snapshot s;
  s.mrc = mrc;
  EXPECT_EQ(what_was_checked(s), "losses, repeats and paths of 1 of 2 MRC streams");
  EXPECT_NE(what_was_not_checked(s).find("losses in 1 MRC stream, of which no SACK was captured"),
            std::string::npos);
}

}  // namespace
}  // namespace roce::analyze
