// SPDX-License-Identifier: Apache-2.0
#include "analyze/numbered/switch_time.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "dissect/dissect.hpp"
#include "tests/dissect/frames.hpp"

namespace roce::analyze {
namespace {

namespace test = dissect::test;
using test::operator+;
using test::Packet;

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t captured_at = 1'700'000'000 * second + 5000;

const Packet roce = test::ipv4(17, test::roce_v2(0x04, test::filled(8)));
const Packet ethernet_roce = test::ethernet(0x0800, roce);

struct Reader {
  SwitchClock clock;
  std::optional<std::int64_t> read(const Packet& bytes, std::int64_t time_ns = captured_at) {
    capture::Frame frame;
    frame.data = bytes.data();
    frame.captured = frame.wire = static_cast<std::uint32_t>(bytes.size());
    frame.time_ns = time_ns;
    frame.link_type = dissect::link_ethernet;
    dissect::Dissection d;
    dissect::dissect({bytes.data(), bytes.size()}, frame.wire, frame.link_type, d);
    return clock.read(frame, d);
  }
};

Packet number(std::uint64_t value, std::size_t bytes) {
  Packet out;
  test::put(out, value, bytes);
  return out;
}

/// ERSPAN III with 100 ns ticks; `platform`: with the upper half in the subheader.
Packet erspan(std::uint64_t ticks, bool platform, unsigned granularity = 1) {
  Packet gre = test::hex("1000 22eb 00000001 2000 0005") + number(ticks & 0xffffffffU, 4) + number(0, 2) +
               number(0x8000U | granularity << 1U | (platform ? 1U : 0U), 2);
  if (platform) gre = gre + number(3U << 26U, 4) + number(ticks >> 32U, 4);
  return test::ethernet(0x0800, test::ipv4(47, gre + ethernet_roce));
}

TEST(SwitchTime, ErspanWithBothHalvesIsATime) {
  Reader reader;
  const std::uint64_t ticks = static_cast<std::uint64_t>(captured_at) / 100 - 33;
  EXPECT_EQ(reader.read(erspan(ticks, true)), static_cast<std::int64_t>(ticks) * 100);
}

TEST(SwitchTime, TicksOf32BitsBeginAtTheTimeOfTheCapture) {
  Reader reader;
  EXPECT_EQ(reader.read(erspan(0xffff'fff0U, false)), captured_at);
  // They wrap after 429 s; the capture saw it a little later than the switch.
  EXPECT_EQ(reader.read(erspan(0x10, false), captured_at + 9000), captured_at + 32 * 100);
  const std::int64_t later = captured_at + 1000 * second;
  const auto ticks = static_cast<std::uint32_t>(0xffff'fff0U + 10'000'000'000U);
  EXPECT_EQ(reader.read(erspan(ticks, false), later + 700), later);
}

TEST(SwitchTime, TicksThatNoTimeHasAreNone) {
  Reader reader;
  EXPECT_EQ(reader.read(erspan(5, true)), captured_at);
  EXPECT_EQ(reader.read(erspan(0xf400'0000'0000'0000U, true)), std::nullopt);
  EXPECT_EQ(reader.read(erspan(15, true)), captured_at + 1000);
}

TEST(SwitchTime, UnitsOfErspan) {
  Reader reader;
  EXPECT_EQ(reader.read(erspan(5, false, 0)), captured_at);
  EXPECT_EQ(reader.read(erspan(8, false, 0), captured_at + 300'000), captured_at + 300'000);
  Reader other;
  EXPECT_EQ(other.read(erspan(5, false, 3)), std::nullopt);
}

TEST(SwitchTime, Arista) {
  Reader reader;
  const Packet macs = test::hex("525400000b01525400000a01 d28b 0001");
  const Packet rest = number(0x0800, 2) + roce;
  const Packet wide = macs + test::hex("1110") + number(1'700'000'000, 4) + number(123, 4) + rest;
  EXPECT_EQ(reader.read(wide), 1'700'000'000 * second + 123);
  const Packet tai = macs + test::hex("0110") + number(1'700'000'037, 4) + number(123, 4) + rest;
  EXPECT_EQ(reader.read(tai), 1'700'000'000 * second + 123);
  const Packet narrow = macs + test::hex("1210") + number(1'699'999'999 & 0xffff, 2) + number(7, 4) + rest;
  EXPECT_EQ(reader.read(narrow), 1'699'999'999 * second + 7);
}

TEST(SwitchTime, TrailersBehindTheDatagram) {
  Reader reader;
  const Packet metamako = number(1'700'000'000, 4) + number(456, 4) + test::hex("00 0001 05");
  EXPECT_EQ(reader.read(ethernet_roce + metamako), 1'700'000'000 * second + 456);
  EXPECT_EQ(reader.read(ethernet_roce + test::hex("deadbeef") + metamako + test::hex("01020304")),
            1'700'000'000 * second + 456);
  const Packet exablaze = test::hex("deadbeef 01 02") + number(1'700'000'000, 4) +
                          number(std::uint64_t{1} << 39U, 5) + number(0, 1);
  EXPECT_EQ(reader.read(ethernet_roce + exablaze), 1'700'000'000 * second + second / 2);
  // A time of another year is none, nor is padding.
  const Packet old = number(1'600'000'000, 4) + number(456, 4) + test::hex("00 0001 05");
  EXPECT_EQ(reader.read(ethernet_roce + old), std::nullopt);
  EXPECT_EQ(reader.read(ethernet_roce + test::filled(16, 0)), std::nullopt);
  EXPECT_EQ(reader.read(ethernet_roce), std::nullopt);
}

TEST(SwitchTime, StampsThatAreCutAreNone) {
  const Packet metamako = number(1'700'000'000, 4) + number(456, 4) + test::hex("00 0001 05");
  const Packet exablaze = test::hex("deadbeef 01 02") + number(1'700'000'000, 4) +
                          number(std::uint64_t{1} << 39U, 5) + number(0, 1);
  const Packet arista = test::hex("525400000b01525400000a01 d28b 0001 1110") + number(1'700'000'000, 4) +
                        number(123, 4) + number(0x0800, 2) + roce;
  for (const Packet& frame : {ethernet_roce + metamako, ethernet_roce + exablaze,
                              erspan(static_cast<std::uint64_t>(captured_at) / 100, true), arista}) {
    for (std::size_t size = 0; size < frame.size(); ++size) {
      const Packet cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size));
      capture::Frame seen;
      seen.data = cut.data();
      seen.captured = static_cast<std::uint32_t>(size);
      seen.wire = static_cast<std::uint32_t>(frame.size());
      seen.time_ns = captured_at;
      seen.link_type = dissect::link_ethernet;
      dissect::Dissection d;
      dissect::dissect({cut.data(), cut.size()}, seen.wire, seen.link_type, d);
      SwitchClock clock;
      const std::optional<std::int64_t> read = clock.read(seen, d);
      // A header is there as soon as it is whole; a trailer only with the whole frame.
      if (d.find(dissect::HeaderId::arista_stamp) == nullptr &&
          d.find(dissect::HeaderId::erspan3) == nullptr) {
        EXPECT_EQ(read, std::nullopt) << size;
      }
    }
  }
}

}  // namespace
}  // namespace roce::analyze
