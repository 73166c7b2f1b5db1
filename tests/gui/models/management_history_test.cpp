// SPDX-License-Identifier: Apache-2.0
#include "gui/models/management_history.hpp"

#include <cstdint>
#include <vector>

#include "dissect/ulp.hpp"
#include "tests/gui/support.hpp"

namespace roce::gui {
namespace {

using analyze::CmTracker;
using dissect::Ulp;

struct Told {
  std::size_t packets = 0;
  std::size_t carrying = 0;  ///< of these, more than nothing
};

/// Asks for each packet of a capture, the last first, and compares with a tracker that read all in order.
Told compare(const std::string& name, std::size_t limit) {
  Told told;
  auto source = capture::open_files({sample(name)});
  if (!source) return told;
  capture::FrameBatch batch;
  while (*(*source)->next_batch(batch, 4096) > 0) {
  }
  CmTracker tracker(limit);
  ManagementHistory history(limit);
  std::vector<Ulp> expected;
  dissect::Dissection dissection;
  const auto bytes_of = [&](const capture::Frame& frame) {
    const dissect::Bytes bytes{frame.data, frame.captured};
    dissect::dissect(bytes, frame.wire, frame.link_type, dissection);
    return bytes;
  };
  for (const capture::Frame& frame : batch.frames) {
    const dissect::Bytes bytes = bytes_of(frame);
    const std::uint64_t number = expected.size() + 1;
    static_cast<void>(tracker.learn(number, frame, dissection));
    expected.push_back(tracker.ulp_of(bytes, dissection));
    if (dissection.mad != dissect::Dissection::none) history.learn(number, frame);
    // While it is being read, too.
    EXPECT_EQ(history.ulp_of(number, bytes, dissection), expected.back()) << name << ", packet " << number;
  }
  history.complete();
  for (std::size_t i = expected.size(); i-- > 0;) {
    const dissect::Bytes bytes = bytes_of(batch.frames[i]);
    EXPECT_EQ(history.ulp_of(i + 1, bytes, dissection), expected[i]) << name << ", packet " << i + 1;
    ++told.packets;
    if (expected[i] != Ulp::none) ++told.carrying;
  }
  return told;
}

TEST(ManagementHistory, SaysOfEachPacketWhatReadingAllBeforeItSays) {
  std::size_t carrying = 0;
  for (const std::string& name : all_samples()) {
    const Told told = compare(name, CmTracker::default_limit);
    EXPECT_GT(told.packets, 0U) << name;
    carrying += told.carrying;
  }
  EXPECT_GT(carrying, 1000U);
}

TEST(ManagementHistory, ForgetsWhatTheTrackerForgets) {
  for (const std::string& name : all_samples()) {
    if (name.starts_with("03_") || name.starts_with("08_")) {
      compare(name, 1);
      compare(name, 3);
    }
  }
}

}  // namespace
}  // namespace roce::gui
