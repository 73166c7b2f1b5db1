// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/capture/bytes_builder.hpp"

namespace roce::capture::test {
namespace {

constexpr std::uint64_t noon = 1'700'000'000'000'000;  // microseconds

// Literal bytes of a section, an interface and a packet, as the draft draws them.
TEST(Pcapng, LiteralLittleEndian) {
  const Bytes bytes = {
      0x0A, 0x0D, 0x0D, 0x0A, 28,   0,    0,    0,    0x4D, 0x3C, 0x2B, 0x1A, 1,    0,    0,    0,     //
      0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 28,   0,    0,    0,                             //
      1,    0,    0,    0,    20,   0,    0,    0,    1,    0,    0,    0,    0x60, 0,    0,    0,     //
      20,   0,    0,    0,                                                                             //
      6,    0,    0,    0,    36,   0,    0,    0,    0,    0,    0,    0,    0x24, 0x0A, 0x06, 0x00,  //
      0x00, 0x00, 0x00, 0x80, 3,    0,    0,    0,    60,   0,    0,    0,    0xAA, 0xBB, 0xCC, 0,     //
      36,   0,    0,    0};
  const Everything all = read_capture(bytes);
  ASSERT_TRUE(all.errors.empty()) << all.errors[0].describe();
  ASSERT_EQ(all.frames.size(), 1U);
  EXPECT_EQ(all.frames[0].time_ns, ((std::int64_t{0x00060A24} << 32) + std::int64_t{0x80000000}) * 1000);
  EXPECT_EQ(all.frames[0].captured, 3U);
  EXPECT_EQ(all.frames[0].wire, 60U);
  EXPECT_EQ(all.frames[0].data, (Bytes{0xAA, 0xBB, 0xCC}));
  EXPECT_EQ(all.files[0].format, "pcapng");
  EXPECT_EQ(all.interfaces[0].snap_length, 96U);
  EXPECT_EQ(all.interfaces[0].packets, 1U);
}

TEST(Pcapng, SectionsOfBothByteOrdersRestartTheInterfaces) {
  Builder file;
  file.section().interface(1).interface(228).enhanced_packet(1, noon, {1});
  Builder other(true);
  other.section().interface(113, 64).enhanced_packet(0, noon + 1, {2, 3}).old_packet(0, 7, noon + 2, {4});
  file.raw(other.bytes);
  file.section().interface(247).enhanced_packet(0, noon + 3, {5});
  const Everything all = read_capture(file.bytes);
  ASSERT_TRUE(all.errors.empty()) << all.errors[0].describe();
  ASSERT_EQ(all.frames.size(), 4U);
  ASSERT_EQ(all.interfaces.size(), 4U);
  const std::uint32_t interfaces[] = {1, 2, 2, 3};
  const std::uint16_t links[] = {228, 113, 113, 247};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(all.frames[i].interface, interfaces[i]);
    EXPECT_EQ(all.frames[i].link_type, links[i]);
    EXPECT_EQ(all.frames[i].time_ns, static_cast<std::int64_t>(noon + i) * 1000);
  }
  EXPECT_EQ(all.interfaces[0].packets, 0U);
  EXPECT_EQ(all.interfaces[2].packets, 2U);
  EXPECT_EQ(all.interfaces[2].dropped_before_packets, 7U);
  EXPECT_EQ(all.all_incidents(), 0U);
}

// opt_comment is option 1 of any block, and may be there several times (draft-ietf-opsawg-pcapng
// section 3.5).
TEST(Pcapng, CommentsBelongToTheirPackets) {
  for (const bool big : {false, true}) {
    for (const std::size_t limit : {std::size_t{1}, std::size_t{2}, std::size_t{100}}) {
      Builder file(big);
      const auto options = [&] { return file.like(); };
      file.section(options().option(1, "of the section").bytes)
          .interface(1, 0, options().option(1, "of it").bytes);
      file.enhanced_packet(0, noon, {1}, 0,
                           options().option(1, "one").option(2, Bytes{0, 0, 0, 1}).option(1, "two").bytes);
      file.enhanced_packet(0, noon + 1, {});
      file.enhanced_packet(0, noon + 2, {}, 0, options().option(1, "of none").bytes);
      file.enhanced_packet(9, noon + 3, {2}, 0, options().option(1, "lost with its packet").bytes);
      file.old_packet(0, 0, noon + 4, {3, 4, 5}, options().option(1, Bytes{'N', 'U', 'L', 0, 'x'}).bytes);
      file.enhanced_packet(0, noon + 5, {6}, 0,
                           options().option(1, "").option(1, "behind an empty one").bytes);
      const Folder folder;
      const Everything all = read_files({folder.write("f", file.bytes)}, {}, limit);
      ASSERT_EQ(all.frames.size(), 5U);
      const std::vector<std::vector<std::string>> expected = {
          {"one", "two"}, {}, {"of none"}, {"NUL"}, {"behind an empty one"}};
      for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(all.frames[i].comments, expected[i]) << i;
      EXPECT_EQ(all.files[0].comment, "of the section");
      EXPECT_EQ(all.count(Incident::bad_option), 0U);
    }
  }
}

TEST(Pcapng, ReadsWhatIsSaidOfSectionAndInterface) {
  for (const bool big : {false, true}) {
    Builder file(big);
    const Bytes filter = {0, 'u', 'd', 'p'};
    file.section(file.like()
                     .option(1, "first")
                     .option(2, "a server")
                     .option(1, "second")
                     .option(3, "Linux 6.1")
                     .option(4, "dumpcap")
                     .u32(0)
                     .bytes);
    file.interface(1, 262144,
                   file.like()
                       .option(2, "ens1f0")
                       .option(3, "port 1")
                       .option64(8, 100'000'000'000)
                       .option(9, Bytes{9})
                       .option(11, filter)
                       .option(12, "Linux")
                       .option(13, Bytes{4})
                       .option64(14, 1'000'000'000)
                       .option(15, "ConnectX")
                       .option(0x8001, "unknown")
                       .u32(0)
                       .bytes);
    file.enhanced_packet(0, 5, {1}, 0, file.like().option(1, "note").option64(4, 3).u32(0).bytes);
    Builder counters(big);
    counters.u32(0).u32(0).u32(9).option64(4, 1000).option64(5, 10).option64(7, 20).u32(0);
    file.block(5, counters.bytes);
    const Everything all = read_capture(file.bytes);
    ASSERT_TRUE(all.errors.empty()) << all.errors[0].describe();
    EXPECT_EQ(all.files[0].comment, "first\nsecond");
    EXPECT_EQ(all.files[0].hardware, "a server");
    EXPECT_EQ(all.files[0].operating_system, "Linux 6.1");
    EXPECT_EQ(all.files[0].application, "dumpcap");
    const InterfaceInfo& one = all.interfaces.at(0);
    EXPECT_EQ(one.name, "ens1f0");
    EXPECT_EQ(one.description, "port 1");
    EXPECT_EQ(one.speed_bps, 100'000'000'000U);
    EXPECT_EQ(one.ticks_per_second, 1'000'000'000U);
    EXPECT_EQ(one.filter, "udp");
    EXPECT_EQ(one.operating_system, "Linux");
    EXPECT_EQ(one.hardware, "ConnectX");
    EXPECT_EQ(one.fcs_bytes, 4U);
    EXPECT_EQ(one.received, 1000U);
    EXPECT_EQ(one.dropped_by_interface, 10U);
    EXPECT_EQ(one.dropped_by_kernel, 20U);
    EXPECT_EQ(one.dropped_before_packets, 3U);
    EXPECT_EQ(all.frames.at(0).time_ns, 1'000'000'000'000'000'005);
    EXPECT_EQ(all.all_incidents(), 0U);
  }
}

TEST(Pcapng, InterfacesHaveTheirOwnResolution) {
  Builder file;
  const auto resolution = [&](std::uint8_t value) { return file.like().option(9, Bytes{value}).bytes; };
  file.section().interface(1, 0, resolution(3)).interface(1, 0, resolution(0x80 | 10)).interface(1);
  file.enhanced_packet(0, 1500, {1}).enhanced_packet(1, 1536, {2}).enhanced_packet(2, 1'500'000, {3});
  const Everything all = read_capture(file.bytes);
  ASSERT_EQ(all.frames.size(), 3U);
  for (const Copy& frame : all.frames) EXPECT_EQ(frame.time_ns, 1'500'000'000);
  EXPECT_EQ(all.interfaces[1].ticks_per_second, 1024U);
  EXPECT_EQ(all.count(Incident::time_backwards), 0U);
}

TEST(Pcapng, SimplePacketsHaveNoTimeAndObeyTheSnapLength) {
  Builder file;
  file.section()
      .interface(1, 4)
      .simple_packet({1, 2, 3, 4}, 60)
      .simple_packet({5, 6})
      .enhanced_packet(0, 1, {7});
  const Everything all = read_capture(file.bytes);
  ASSERT_EQ(all.frames.size(), 3U);
  EXPECT_EQ(all.frames[0].captured, 4U);
  EXPECT_EQ(all.frames[0].wire, 60U);
  EXPECT_EQ(all.frames[0].time_ns, no_time);
  EXPECT_EQ(all.frames[1].data, (Bytes{5, 6}));
  EXPECT_EQ(all.count(Incident::no_timestamp), 2U);
  EXPECT_EQ(all.count(Incident::time_backwards), 0U);
}

TEST(Pcapng, BlocksOfOthersAreSkippedAndUnknownOnesCounted) {
  Builder file;
  file.section().interface();
  for (const std::uint32_t known : {4U, 9U, 10U, 0x0BADU, 0x40000BADU}) file.block(known, Bytes(20, 0xEE));
  file.block(0x12345678, Bytes(16)).block(0x80000001, {}).enhanced_packet(0, noon, {1});
  const Everything all = read_capture(file.bytes);
  ASSERT_TRUE(all.errors.empty()) << all.errors[0].describe();
  EXPECT_EQ(all.frames.size(), 1U);
  EXPECT_EQ(all.count(Incident::unknown_block), 2U);
}

TEST(Pcapng, PacketsOfInterfacesNeverDescribedAreSkipped) {
  Builder file;
  file.section().simple_packet({1}).enhanced_packet(0, noon, {2}).interface();
  file.enhanced_packet(1, noon, {3}).old_packet(9, 0, noon, {4}).enhanced_packet(0, noon, {5});
  Builder counters;
  counters.u32(4).u32(0).u32(0);
  file.block(5, counters.bytes);
  const Everything all = read_capture(file.bytes);
  ASSERT_EQ(all.frames.size(), 1U);
  EXPECT_EQ(all.frames[0].data, Bytes{5});
  EXPECT_EQ(all.count(Incident::unknown_interface), 5U);
}

TEST(Pcapng, OptionsThatRunOutAreIgnoredAndCounted) {
  Builder file;
  file.section(file.like().option(4, "good").u16(1).u16(500).text("abcd").bytes);
  file.interface(1, 0, file.like().option(2, "eth0").u16(3).u16(9).u32(0).bytes);
  file.interface(1, 0, file.like().option(9, Bytes{9, 9}).bytes);
  file.enhanced_packet(0, noon, {1}, 0, file.like().u16(1).u16(5).u32(0).bytes);
  Builder counters;
  counters.u32(0).u32(0).u32(0).option(4, Bytes{1, 2, 3, 4});
  file.block(5, counters.bytes);
  const Everything all = read_capture(file.bytes);
  ASSERT_TRUE(all.errors.empty()) << all.errors[0].describe();
  EXPECT_EQ(all.files[0].application, "good");
  EXPECT_EQ(all.interfaces[0].name, "eth0");
  EXPECT_EQ(all.interfaces[1].ticks_per_second, 1'000'000U);
  EXPECT_FALSE(all.interfaces[0].received.has_value());
  EXPECT_EQ(all.frames.size(), 1U);
  EXPECT_EQ(all.count(Incident::bad_option), 5U);
}

struct Damage {
  const char* name;
  Bytes tail;
  Incident incident;
  ErrorKind kind;
  std::uint64_t offset_in_tail;
};

TEST(Pcapng, DamageStopsThereWithThePlace) {
  const auto little = [] { return Builder(); };
  const std::vector<Damage> cases = {
      {"length below a block's", little().u32(6).u32(28).raw(Bytes(40)).bytes, Incident::damaged_record,
       ErrorKind::damaged, 0},
      {"length zero", little().u32(77).u32(0).raw(Bytes(40)).bytes, Incident::damaged_record,
       ErrorKind::damaged, 0},
      {"length above 16 MiB", little().u32(77).u32(0x01000004).raw(Bytes(40)).bytes,
       Incident::oversized_record, ErrorKind::damaged, 0},
      {"lengths differ", little().u32(77).u32(16).u32(0).u32(20).bytes, Incident::damaged_record,
       ErrorKind::damaged, 0},
      {"more captured than the block has",
       little().u32(6).u32(36).u32(0).u32(0).u32(0).u32(5).u32(5).u32(0).u32(36).bytes,
       Incident::damaged_record, ErrorKind::damaged, 0},
      {"simple packet beyond its block", little().u32(3).u32(20).u32(5).u32(0).u32(20).bytes,
       Incident::damaged_record, ErrorKind::damaged, 0},
      {"byte order magic gone", little().u32(0x0A0D0D0A).u32(28).raw(Bytes(20)).u32(28).bytes,
       Incident::damaged_record, ErrorKind::damaged, 0},
      {"frame above 256 KiB", little().enhanced_packet(0, noon, Bytes(262'148)).bytes,
       Incident::oversized_record, ErrorKind::damaged, 0},
      {"cut", little().u32(6).u32(36).u32(0).bytes, Incident::cut_short, ErrorKind::cut_short, 0},
      {"cut in a length", little().u32(6).bytes, Incident::cut_short, ErrorKind::cut_short, 0},
  };
  for (const Damage& one : cases) {
    for (const std::size_t slab : {64U, 1U << 20U}) {
      Builder file;
      file.section().interface().enhanced_packet(0, noon, {1, 2, 3, 4}).raw(one.tail);
      const std::size_t place = file.bytes.size() - one.tail.size();
      const Everything all = read_capture(file.bytes, {slab});
      EXPECT_EQ(all.frames.size(), 1U) << one.name;
      ASSERT_EQ(all.errors.size(), 1U) << one.name;
      EXPECT_EQ(all.errors[0].kind, one.kind) << one.name;
      EXPECT_GE(all.errors[0].offset, place) << one.name;
      EXPECT_LE(all.errors[0].offset, place + 8) << one.name;
      EXPECT_EQ(all.count(one.incident), 1U) << one.name;
      EXPECT_EQ(all.all_incidents(), 1U) << one.name;
    }
  }
}

TEST(Pcapng, VersionsOtherThanOneAreRefused) {
  EXPECT_TRUE(read_capture(Builder().section({}, 1, 2).bytes).errors.empty()) << "1.2 was written for 1.0";
  const std::pair<std::uint16_t, std::uint16_t> refused[] = {{0, 0}, {2, 0}, {1, 1}, {1, 3}};
  for (const auto& [major, minor] : refused) {
    const Everything all = read_capture(Builder().section({}, major, minor).bytes);
    ASSERT_EQ(all.errors.size(), 1U);
    EXPECT_EQ(all.errors[0].kind, ErrorKind::unsupported);
    EXPECT_EQ(all.errors[0].offset, 12U);
  }
  Builder later;
  later.section().interface().enhanced_packet(0, noon, {1}).section({}, 7, 0);
  const Everything all = read_capture(later.bytes);
  EXPECT_EQ(all.frames.size(), 1U);
  ASSERT_EQ(all.errors.size(), 1U);
  EXPECT_EQ(all.errors[0].kind, ErrorKind::unsupported);
}

TEST(Pcapng, EarlyWritersDidNotCountThePadding) {
  Builder file;
  file.section().interface();
  file.u32(6).u32(35).u32(0).u32(0).u32(7).u32(3).u32(3).raw({1, 2, 3, 0}).u32(35);
  file.enhanced_packet(0, 8, {4});
  const Everything all = read_capture(file.bytes);
  ASSERT_TRUE(all.errors.empty()) << all.errors[0].describe();
  ASSERT_EQ(all.frames.size(), 2U);
  EXPECT_EQ(all.frames[0].data, (Bytes{1, 2, 3}));
}

TEST(Pcapng, TooManyInterfacesAreBoundedAndCounted) {
  Builder file;
  file.section();
  const Bytes one = Builder().interface().bytes;
  for (std::size_t i = 0; i < largest_interface_count + 10; ++i) file.raw(one);
  file.enhanced_packet(65'535, noon, {1}).enhanced_packet(65'536, noon, {2});
  const Everything all = read_capture(file.bytes);
  EXPECT_EQ(all.interfaces.size(), largest_interface_count);
  EXPECT_EQ(all.frames.size(), 1U);
  EXPECT_EQ(all.count(Incident::unknown_interface), 1U);
  EXPECT_EQ(all.statistics.skipped, 1U);
}

TEST(Pcapng, InterfacesOfMoreSectionsThanCanBeToldApartShareTheLastPlace) {
  constexpr std::size_t sections = largest_interface_count + 100;
  Builder file;
  const Bytes head = Builder().section().bytes;
  const Bytes ethernet = Builder().interface().bytes;
  const Bytes raw_ip = Builder().interface(101).bytes;
  for (std::size_t i = 0; i < sections; ++i)
    file.raw(head).raw(i + 1 < sections ? ethernet : raw_ip).enhanced_packet(0, noon + i, {1});
  const Everything all = read_capture(file.bytes);
  ASSERT_TRUE(all.errors.empty()) << all.errors[0].describe();
  EXPECT_EQ(all.interfaces.size(), largest_interface_count);
  ASSERT_EQ(all.frames.size(), sections);  // none is lost
  EXPECT_EQ(all.statistics.skipped, 0U);
  EXPECT_EQ(all.frames.back().interface, largest_interface_count - 1);
  EXPECT_EQ(all.frames.back().link_type, 101U);
  EXPECT_EQ(all.interfaces.back().description, "this and all further interfaces");
  EXPECT_EQ(all.interfaces.back().packets, 101U);
}

TEST(Pcapng, StampsOfZeroBeforeAnyOtherAreNoTimes) {
  Builder file;
  file.section().interface().enhanced_packet(0, 0, {1}).enhanced_packet(0, 0, {2}).enhanced_packet(0, noon,
                                                                                                   {3});
  const Everything all = read_capture(file.bytes);
  ASSERT_EQ(all.frames.size(), 3U);
  EXPECT_EQ(all.frames[1].time_ns, no_time);
  EXPECT_NE(all.frames[2].time_ns, no_time);
  EXPECT_EQ(all.count(Incident::no_timestamp), 2U);
}

TEST(Pcapng, TextsAreBounded) {
  Builder file;
  const Bytes comment = file.like().option(1, std::string(60'000, 'c')).bytes;
  file.section(comment);
  for (int i = 0; i < 5; ++i) file.section(comment);
  file.interface(1, 0, file.like().option(2, std::string(5000, 'n')).bytes);
  const Everything all = read_capture(file.bytes);
  EXPECT_LE(all.files[0].comment.size(), 65'537U);
  EXPECT_EQ(all.interfaces[0].name.size(), 1024U);
}

}  // namespace
}  // namespace roce::capture::test
