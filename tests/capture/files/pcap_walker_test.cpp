// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/capture/bytes_builder.hpp"

namespace roce::capture::test {
namespace {

constexpr std::uint32_t ns_magic = 0xA1B23C4D;

// A whole file in literal bytes: tcpdump's own layout, one frame of 4 bytes of 60 on the wire.
TEST(Pcap, LiteralLittleEndianMicroseconds) {
  const Bytes bytes = {0xD4, 0xC3, 0xB2, 0xA1, 0x02, 0x00, 0x04, 0x00, 0, 0,    0,    0,    0,    0,    0,
                       0,    0x00, 0x00, 0x04, 0x00, 0x01, 0x00, 0,    0, 0x80, 0x6B, 0x5C, 0x65, 0x40, 0xE2,
                       0x01, 0x00, 0x04, 0,    0,    0,    0x3C, 0,    0, 0,    0xDE, 0xAD, 0xBE, 0xEF};
  const Everything all = read_capture(bytes);
  ASSERT_TRUE(all.errors.empty()) << all.errors[0].describe();
  ASSERT_EQ(all.frames.size(), 1U);
  const Copy expected{1'700'555'648'123'456'000, 4, 60, 0, 1, 0, {0xDE, 0xAD, 0xBE, 0xEF}};
  EXPECT_EQ(all.frames[0].time_ns, expected.time_ns);
  EXPECT_TRUE(all.frames[0] == expected);
  EXPECT_EQ(all.files[0].format, "pcap (µs, little-endian)");
  EXPECT_EQ(all.files[0].bytes, bytes.size());
  EXPECT_EQ(all.files[0].bytes_read, bytes.size());
  EXPECT_EQ(all.files[0].packets, 1U);
  ASSERT_EQ(all.interfaces.size(), 1U);
  EXPECT_EQ(all.interfaces[0].link_type, 1U);
  EXPECT_EQ(all.interfaces[0].snap_length, 0x40000U);
  EXPECT_EQ(all.interfaces[0].packets, 1U);
  EXPECT_EQ(all.statistics.frames, 1U);
  EXPECT_EQ(all.all_incidents(), 0U);
}

TEST(Pcap, EveryResolutionInBothByteOrders) {
  for (const bool big : {false, true}) {
    for (const bool ns : {false, true}) {
      Builder file(big);
      file.pcap_header(ns ? ns_magic : 0xA1B2C3D4, 228).pcap_record(4'000'000'000U, 999'999, {1, 2, 3});
      const Everything all = read_capture(file.bytes);
      ASSERT_EQ(all.frames.size(), 1U);
      EXPECT_EQ(all.frames[0].time_ns, 4'000'000'000'000'000'000 + (ns ? 999'999 : 999'999'000))
          << "after 2038";
      EXPECT_EQ(all.frames[0].link_type, 228U);
      EXPECT_EQ(all.interfaces[0].ticks_per_second, ns ? 1'000'000'000U : 1'000'000U);
      EXPECT_EQ(all.files[0].format,
                std::string(ns ? "pcap (ns, " : "pcap (µs, ") + (big ? "big-endian)" : "little-endian)"));
    }
  }
}

TEST(Pcap, NoFramesIsNoError) {
  const Everything all = read_capture(Builder().pcap_header().bytes);
  EXPECT_TRUE(all.errors.empty());
  EXPECT_TRUE(all.frames.empty());
}

TEST(Pcap, VersionsAsLibpcapAndWiresharkTakeThem) {
  for (const std::uint16_t minor : std::initializer_list<std::uint16_t>{0, 1, 2, 3, 4, 5}) {
    EXPECT_TRUE(read_capture(Builder().pcap_header(0xA1B2C3D4, 1, 2, minor).bytes).errors.empty()) << minor;
  }
  EXPECT_TRUE(read_capture(Builder().pcap_header(0xA1B2C3D4, 1, 543, 0).bytes).errors.empty());
  for (const std::uint16_t major : std::initializer_list<std::uint16_t>{0, 1, 3, 543}) {
    const Everything all = read_capture(Builder().pcap_header(0xA1B2C3D4, 1, major, 4).bytes);
    ASSERT_EQ(all.errors.size(), 1U) << major;
    EXPECT_EQ(all.errors[0].kind, ErrorKind::unsupported);
    EXPECT_EQ(all.errors[0].offset, 4U);
  }
}

TEST(Pcap, OldVersionsHaveTheLengthsSwapped) {
  Builder always;
  always.pcap_header(0xA1B2C3D4, 1, 2, 2).u32(1).u32(0).u32(60).u32(2).raw({7, 8});
  Everything all = read_capture(always.bytes);
  ASSERT_EQ(all.frames.size(), 1U);
  EXPECT_EQ(all.frames[0].captured, 2U);
  EXPECT_EQ(all.frames[0].wire, 60U);

  Builder sometimes;
  sometimes.pcap_header(0xA1B2C3D4, 1, 2, 3);
  sometimes.u32(1).u32(0).u32(60).u32(2).raw({7, 8}).u32(1).u32(0).u32(1).u32(60).raw({9});
  all = read_capture(sometimes.bytes);
  ASSERT_EQ(all.frames.size(), 2U);
  EXPECT_EQ(all.frames[0].captured, 2U);
  EXPECT_EQ(all.frames[1].captured, 1U);
  EXPECT_EQ(all.count(Incident::captured_more_than_wire), 0U);
}

TEST(Pcap, LinkTypeFieldHasMoreThanTheLinkType) {
  const Everything with_fcs = read_capture(Builder().pcap_header(0xA1B2C3D4, 0x24000001).bytes);
  ASSERT_TRUE(with_fcs.errors.empty());
  EXPECT_EQ(with_fcs.interfaces[0].link_type, 1U);
  EXPECT_EQ(with_fcs.interfaces[0].fcs_bytes, 4U) << "two 16-bit words";
  const Everything reserved = read_capture(Builder().pcap_header(0xA1B2C3D4, 0x00010001).bytes);
  ASSERT_EQ(reserved.errors.size(), 1U);
  EXPECT_EQ(reserved.errors[0].kind, ErrorKind::unsupported);
  EXPECT_EQ(reserved.errors[0].offset, 20U);
}

TEST(Pcap, CutAnywhereGivesTheWholeRecordsAndThePlace) {
  Builder file;
  file.pcap_header().pcap_record(1, 0, {1, 2, 3, 4}).pcap_record(2, 0, {5, 6, 7});
  for (std::size_t size = 1; size < file.bytes.size(); ++size) {
    const Everything all =
        read_capture(Bytes(file.bytes.begin(), file.bytes.begin() + static_cast<long>(size)));
    if (size == 24 || size == 44) {
      EXPECT_TRUE(all.errors.empty()) << size;
      continue;
    }
    ASSERT_EQ(all.errors.size(), 1U) << size;
    EXPECT_EQ(all.errors[0].kind, size < 4 ? ErrorKind::not_a_capture : ErrorKind::cut_short) << size;
    EXPECT_EQ(all.errors[0].offset, size < 24 ? 0U : size < 44 ? 24U : 44U) << size;
    EXPECT_EQ(all.frames.size(), size < 44 ? 0U : 1U) << size;
    if (size > 24) {
      EXPECT_EQ(all.count(Incident::cut_short), 1U);
    }
  }
}

TEST(Pcap, LyingLengthStopsWithThePlace) {
  Builder file;
  file.pcap_header().pcap_record(1, 0, {1, 2}).u32(2).u32(0).u32(262'145).u32(262'145).raw(Bytes(64));
  const Everything all = read_capture(file.bytes);
  EXPECT_EQ(all.frames.size(), 1U);
  ASSERT_EQ(all.errors.size(), 1U);
  EXPECT_EQ(all.errors[0].kind, ErrorKind::damaged);
  EXPECT_EQ(all.errors[0].offset, 42U);
  EXPECT_NE(all.errors[0].describe().find("at byte 42: a record has a captured length of 262145 bytes"),
            std::string::npos);
  EXPECT_EQ(all.count(Incident::oversized_record), 1U);
}

TEST(Pcap, TheLargestFrameIsRead) {
  Builder file;
  file.pcap_header().pcap_record(1, 0, Bytes(262'144, 0x5A));
  for (const std::size_t slab : {4096U, 1U << 20U}) {
    const Everything all = read_capture(file.bytes, {slab});
    ASSERT_EQ(all.frames.size(), 1U);
    EXPECT_EQ(all.frames[0].data, Bytes(262'144, 0x5A));
  }
}

TEST(Pcap, MoreCapturedThanOnTheWireIsRaised) {
  Builder file;
  file.pcap_header().pcap_record(1, 0, {1, 2, 3, 4}, 2);
  const Everything all = read_capture(file.bytes);
  ASSERT_EQ(all.frames.size(), 1U);
  EXPECT_EQ(all.frames[0].wire, 4U);
  EXPECT_EQ(all.count(Incident::captured_more_than_wire), 1U);
}

TEST(Pcap, TimeGoingBackIsCountedAndDelivered) {
  Builder file;
  file.pcap_header().pcap_record(5, 0, {1}).pcap_record(4, 0, {2}).pcap_record(4, 0, {3}).pcap_record(3, 9,
                                                                                                      {4});
  const Everything all = read_capture(file.bytes);
  ASSERT_EQ(all.frames.size(), 4U);
  EXPECT_EQ(all.frames[1].data, Bytes{2});
  EXPECT_EQ(all.count(Incident::time_backwards), 2U);
}

// Nokia and patched libpcaps wrote the ordinary magic with 4 or 8 more bytes in each record header.
TEST(Pcap, LongerRecordHeadersAreRefusedByName) {
  for (const std::size_t extra : {std::size_t{4}, std::size_t{8}}) {
    Builder file;
    file.pcap_header();
    for (std::uint32_t i = 0; i < 12; ++i) {
      file.u32(1'700'000'000 + i).u32(i).u32(60).u32(60).raw(Bytes(extra, 0x11)).raw(Bytes(60, 0xFF));
    }
    const Everything all = read_capture(file.bytes);
    ASSERT_EQ(all.errors.size(), 1U);
    EXPECT_EQ(all.errors[0].kind, ErrorKind::unsupported) << all.errors[0].describe();
  }
}

}  // namespace
}  // namespace roce::capture::test
