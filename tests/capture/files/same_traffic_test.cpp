// SPDX-License-Identifier: Apache-2.0
// Files that begin with the same packets show the same traffic, however their clocks differ.
#include "capture/files/same_traffic.hpp"

#include <gtest/gtest.h>

#include "tests/capture/bytes_builder.hpp"
#include "tests/capture/compress.hpp"

namespace roce::capture::test {
namespace {

/// Frames that carry the sign of RoCE v2 and a number.
Bytes roce_file(std::uint32_t from, std::uint32_t count, std::uint32_t seconds, bool roce = true) {
  Builder file;
  file.pcap_header(0xA1B2C3D4, 1);
  for (std::uint32_t i = from; i < from + count; ++i) {
    Bytes frame(64, 0);
    frame[36] = roce ? 0x12 : 0x11;
    frame[37] = 0xb7;
    for (std::size_t at = 0; at < 4; ++at) frame[50 + at] = static_cast<std::uint8_t>(i >> (8 * at));
    file.pcap_record(seconds, i, frame);
  }
  return file.bytes;
}

struct Seen {
  std::vector<unsigned> points;
  bool copies = false;
};

Seen seen_of(const std::vector<Bytes>& files) {
  const Folder folder;
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < files.size(); ++i) {
    paths.push_back(folder.write("file" + std::to_string(i), files[i]));
  }
  auto source = open_files(paths, OpenOptions{});
  if (!source) return {};
  Seen seen;
  seen.copies = (*source)->shows_copies();
  FrameBatch batch;
  for (;;) {
    batch.clear();
    const auto got = (*source)->next_batch(batch, 100);
    if (got && *got == 0) break;
  }
  for (const InterfaceInfo& interface : (*source)->interfaces()) seen.points.push_back(interface.point);
  return seen;
}

TEST(SameTraffic, AClockThatIsAheadMakesNoContinuation) {
  const Seen seen = seen_of({roce_file(0, 100, 10), roce_file(0, 100, 12)});
  EXPECT_TRUE(seen.copies);
  EXPECT_EQ(seen.points, (std::vector<unsigned>{0, 1}));
}

TEST(SameTraffic, OneMayHaveBegunLaterAndMissSome) {
  EXPECT_TRUE(seen_of({roce_file(0, 200, 10), roce_file(100, 200, 12)}).copies);
}

TEST(SameTraffic, AFileThatGoesOnIsNotTheSame) {
  const Seen seen = seen_of({roce_file(0, 100, 10), roce_file(100, 100, 12)});
  EXPECT_FALSE(seen.copies);
  EXPECT_EQ(seen.points, (std::vector<unsigned>{0, 0}));
}

TEST(SameTraffic, PiecesOfACaptureThatShowsAllTwiceGoOn) {
  // Cut where the first view still goes on, and the second one begins soon.
  Bytes second = roce_file(100, 60, 12);
  const Bytes again = roce_file(0, 160, 13);
  constexpr std::size_t pcap_header_bytes = 24;
  second.insert(second.end(), again.begin() + pcap_header_bytes, again.end());
  const Seen seen = seen_of({roce_file(0, 100, 10), second});
  EXPECT_FALSE(seen.copies);
  EXPECT_EQ(seen.points, (std::vector<unsigned>{0, 0}));
  // And what has nothing but copies is a piece of it too.
  EXPECT_EQ(seen_of({roce_file(0, 100, 10), second, roce_file(50, 100, 15)}).points,
            (std::vector<unsigned>{0, 0, 0}));
}

TEST(SameTraffic, WhatIsPeriodicIsNotMeant) {
  EXPECT_FALSE(seen_of({roce_file(0, 100, 10, false), roce_file(0, 100, 12, false)}).copies);
}

TEST(SameTraffic, AFewEqualPacketsProveNothing) {
  EXPECT_FALSE(seen_of({roce_file(0, 100, 10), roce_file(97, 100, 12)}).copies);
  EXPECT_FALSE(seen_of({roce_file(0, 3, 10), roce_file(0, 3, 12)}).copies);
}

TEST(SameTraffic, OneFileIsNotLookedAt) {
  EXPECT_FALSE(seen_of({roce_file(0, 100, 10)}).copies);
}

TEST(SameTraffic, EmptyFilesAndNothing) {
  EXPECT_TRUE(show_the_same({}).empty());
  EXPECT_EQ(show_the_same({{}, {}}), (std::vector<bool>{false, false}));
  EXPECT_FALSE(seen_of({roce_file(0, 0, 10), roce_file(0, 0, 12)}).copies);
}

}  // namespace
}  // namespace roce::capture::test
