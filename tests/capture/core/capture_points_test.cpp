// SPDX-License-Identifier: Apache-2.0
// Which interfaces of several files or sections are one place of capture.
#include <gtest/gtest.h>

#include "capture/core/capture_points.hpp"
#include "tests/capture/bytes_builder.hpp"
#include "tests/capture/compress.hpp"

namespace roce::capture::test {
namespace {

Bytes pcap(std::initializer_list<std::uint32_t> times, std::uint32_t link = 1) {
  Builder file;
  file.pcap_header(0xA1B2C3D4, link);
  for (const std::uint32_t time : times) file.pcap_record(time, 0, {1});
  return file.bytes;
}

struct Packet {
  std::uint32_t interface;
  std::uint64_t seconds;
};

Bytes section(const std::vector<std::string>& names, const std::vector<Packet>& packets) {
  Builder file;
  file.section();
  for (const std::string& name : names) {
    file.interface(1, 0, name.empty() ? Bytes{} : file.like().option(2, name).bytes);
  }
  for (const Packet& packet : packets)
    file.enhanced_packet(packet.interface, packet.seconds * 1'000'000, {1});
  return file.bytes;
}

/// The points of all interfaces, in their order.
std::vector<unsigned> points_of(const std::vector<std::pair<std::string, Bytes>>& files,
                                std::size_t limit = 65'536) {
  const Folder folder;
  std::vector<std::string> paths;
  for (const auto& [name, bytes] : files) paths.push_back(folder.write(name, bytes));
  auto source = open_files(paths, OpenOptions{});
  if (!source) return {};
  FrameBatch batch;
  while (true) {
    batch.clear();
    const auto got = (*source)->next_batch(batch, limit);
    if (got && *got == 0) break;
    for (const Frame& frame : batch.frames) {
      EXPECT_EQ(frame.point, (*source)->interfaces()[frame.interface].point);
    }
  }
  std::vector<unsigned> points;
  for (const InterfaceInfo& interface : (*source)->interfaces()) points.push_back(interface.point);
  return points;
}

using Points = std::vector<unsigned>;

TEST(CapturePoints, NumbersDoNotComeRound) {
  CapturePoints points;
  const InterfaceInfo interface;
  const FileInfo file;
  for (std::uint32_t i = 0; i < 65'535; ++i) ASSERT_EQ(points.claim({0, i, 0}, interface, file, true), i);
  for (std::uint32_t i = 0; i < 10; ++i) {
    EXPECT_EQ(points.claim({0, 65'535 + i, 0}, interface, file, true), 65'535U);
  }
}

TEST(CapturePoints, WhatADeviceSendsAndReceivesIsOnePlace) {
  const Bytes both = section({"mlx5_0:1", "mlx5_0:1 (sent)"}, {{0, 1}, {1, 1}, {0, 2}});
  EXPECT_EQ(points_of({{"a", both}}), (Points{0, 0}));
  EXPECT_EQ(points_of({{"a", section({"mlx5_0:1 (sent)", "mlx5_0:1"}, {{0, 1}, {1, 1}})}}), (Points{0, 0}));
  // Two ports at once are two places.
  EXPECT_EQ(
      points_of({{"a", section({"mlx5_0:1", "mlx5_0:2 (sent)", "mlx5_0:2"}, {{0, 1}, {1, 1}, {2, 1}})}}),
      (Points{0, 1, 1}));
  EXPECT_EQ(points_of({{"a", section({"", " (sent)"}, {{0, 1}, {1, 1}})}}), (Points{0, 1}));
  // A ring of files goes on at the same place.
  const Bytes later = section({"mlx5_0:1", "mlx5_0:1 (sent)"}, {{0, 8}, {1, 8}});
  EXPECT_EQ(points_of({{"r_00001", both}, {"r_00002", later}}), (Points{0, 0, 0, 0}));
  // Two files at once are two places, each with both directions.
  const Bytes beside = section({"mlx5_0:1", "mlx5_0:1 (sent)"}, {{0, 1}, {1, 2}, {0, 3}});
  EXPECT_EQ(points_of({{"a", both}, {"b", beside}}).size(), 4U);
}

TEST(CapturePoints, FilesThatFollowEachOtherAreOne) {
  for (const std::size_t limit : {std::size_t{1}, std::size_t{2}, std::size_t{100}}) {
    EXPECT_EQ(points_of({{"a", pcap({1, 2})}, {"b", pcap({2, 3})}, {"c", gzip(pcap({4}))}}, limit),
              (Points{0, 0, 0}));
    EXPECT_EQ(points_of({{"c", pcap({4})}, {"a", pcap({1, 2})}, {"b", pcap({3})}}, limit), (Points{0, 0, 0}));
  }
}

TEST(CapturePoints, FilesThatOverlapAreNot) {
  for (const std::size_t limit : {std::size_t{1}, std::size_t{2}, std::size_t{100}}) {
    EXPECT_EQ(points_of({{"a", pcap({1, 3, 5})}, {"b", pcap({2, 4, 6})}}, limit), (Points{0, 1}));
    EXPECT_EQ(points_of({{"a", pcap({1, 2, 3})}, {"b", pcap({1, 2, 3})}}, limit), (Points{0, 1}));
  }
}

TEST(CapturePoints, WhatIsToldOfThemMustNotDiffer) {
  EXPECT_EQ(points_of({{"a", pcap({1, 2})}, {"b", pcap({3}, 113)}}), (Points{0, 1}));
  EXPECT_EQ(points_of({{"a", section({"eth0"}, {{0, 1}})}, {"b", section({"eth1"}, {{0, 2}})}}),
            (Points{0, 1}));
  EXPECT_EQ(points_of({{"a", section({"eth0"}, {{0, 1}})}, {"b", section({"eth0"}, {{0, 2}})}}),
            (Points{0, 0}));
  EXPECT_EQ(points_of({{"a", section({"eth0"}, {{0, 1}})}, {"b", pcap({2})}}), (Points{0, 0}));
}

TEST(CapturePoints, OfSeveralInterfacesEachGoesOn) {
  const std::vector<Packet> first{{0, 1}, {1, 2}}, second{{0, 3}, {1, 4}};
  EXPECT_EQ(points_of({{"a", section({"x", "y"}, first)}, {"b", section({"x", "y"}, second)}}),
            (Points{0, 1, 0, 1}));
  EXPECT_EQ(points_of({{"a", section({"x", "y"}, first)}, {"b", section({"y", "x"}, second)}}),
            (Points{0, 1, 1, 0}));
  EXPECT_EQ(points_of({{"a", section({"", ""}, first)}, {"b", section({"", ""}, second)}}),
            (Points{0, 1, 0, 1}));
  EXPECT_EQ(points_of({{"a", section({"x", "y"}, first)}, {"b", section({"y"}, {{0, 3}})}}),
            (Points{0, 1, 1}));
}

TEST(CapturePoints, TwoRingsStayTwo) {
  EXPECT_EQ(points_of({{"left_1", pcap({1, 3, 5})},
                       {"left_2", pcap({8, 10, 12})},
                       {"right_1", pcap({2, 4, 6})},
                       {"right_2", pcap({9, 11, 13})}}),
            (Points{0, 0, 1, 1}));
}

// dumpcap writes the packets of several interfaces not quite in order of time.
TEST(CapturePoints, ASmallOverlapAtTheEndIsOneFileThatWasCut) {
  std::vector<Packet> all;
  for (std::uint64_t i = 0; i < 100; ++i) all.push_back({i % 2 == 0 ? 0U : 1U, 100 + i + (i % 2) * 3});
  const auto pieces = [&](std::ptrdiff_t at) {
    return points_of({{"a", section({"x", "y"}, {all.begin(), all.begin() + at})},
                      {"b", section({"x", "y"}, {all.begin() + at, all.end()})}},
                     7);
  };
  EXPECT_EQ(pieces(50), (Points{0, 1, 0, 1}));
  EXPECT_EQ(pieces(51), (Points{0, 1, 0, 1}));
}

TEST(CapturePoints, SectionsThatFollowEachOtherAreOne) {
  Bytes file = section({"x", "y"}, {{0, 1}, {1, 2}});
  const Bytes more = section({"x", "y"}, {{1, 3}, {0, 4}});
  file.insert(file.end(), more.begin(), more.end());
  EXPECT_EQ(points_of({{"a", file}}), (Points{0, 1, 0, 1}));
}

TEST(CapturePoints, SectionsOfOneTimeAreNot) {
  Bytes file = section({"x"}, {{0, 1}, {0, 3}});
  const Bytes more = section({"x"}, {{0, 2}, {0, 4}});
  file.insert(file.end(), more.begin(), more.end());
  const std::vector<unsigned> points = points_of({{"a", file}});
  ASSERT_EQ(points.size(), 2U);
  EXPECT_NE(points[0], points[1]);
}

// Reading ahead to see whether a file is nearly over must not change what is told of damage, nor when.
TEST(CapturePoints, DamageFoundAheadOfTimeIsToldInItsPlace) {
  const Folder folder;
  Bytes first = pcap({1, 4, 5});
  first.resize(first.size() - 1);
  const std::string a = folder.write("a", first);
  const std::string b = folder.write("b", pcap({2, 6}));
  for (const std::size_t limit : {std::size_t{1}, std::size_t{2}, std::size_t{100}}) {
    auto source = open_files({a, b}, OpenOptions{});
    ASSERT_TRUE(source);
    FrameBatch batch;
    std::vector<std::int64_t> seconds;
    bool told = false;
    while (true) {
      batch.clear();
      const auto got = (*source)->next_batch(batch, limit);
      if (!got) {
        EXPECT_EQ(got.error().path, a);
        EXPECT_EQ(seconds, (std::vector<std::int64_t>{1, 2, 4})) << limit;
        told = true;
        continue;
      }
      if (*got == 0) break;
      for (const Frame& frame : batch.frames) seconds.push_back(frame.time_ns / 1'000'000'000);
    }
    EXPECT_TRUE(told);
    EXPECT_EQ(seconds, (std::vector<std::int64_t>{1, 2, 4, 6}));
  }
}

}  // namespace
}  // namespace roce::capture::test
