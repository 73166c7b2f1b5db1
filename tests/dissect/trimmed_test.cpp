// SPDX-License-Identifier: Apache-2.0
// Packets that are shorter than their headers say: cut by the capture, trimmed by the network, or
// contradicting themselves. No capture of a switch that trims was at hand: the frames follow SAI's proposal
// (IP length renewed) and the tests of SONiC (IP length kept).
#include <gtest/gtest.h>

#include "dissect/dissect.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/headers/ip.hpp"
#include "dissect/icrc.hpp"
#include "tests/dissect/frames.hpp"

namespace roce::dissect {
namespace trimmed_test {
namespace {

using namespace test;

constexpr std::size_t trim_size = 128, ethernet_size = 14, ipv4_size = 20;
constexpr std::uint8_t dscp_11 = 11 << 2 | 2;
const Packet datagram = roce_v2(0x08, filled(1024));  // WRITE Last
const auto whole_size = static_cast<std::uint32_t>(ethernet_size + ipv4_size + datagram.size());

Packet cut_to(Packet frame, std::size_t size) {
  frame.resize(size);
  return frame;
}

/// As SAI has it: total length and checksum are those of what is left.
Packet renewed(std::uint8_t tos = 0x02) {
  const int lie = static_cast<int>(trim_size) - static_cast<int>(whole_size);
  return cut_to(ethernet(0x0800, ipv4(17, datagram, {.length_lie = lie, .tos = tos})), trim_size);
}
/// As SONiC's tests expect it of Spectrum.
Packet kept(std::uint8_t tos, bool damaged = false) {
  return cut_to(ethernet(0x0800, ipv4(17, datagram, {.tos = tos, .damaged = damaged})), trim_size);
}

struct Seen {
  Dissection d;
  IcrcResult icrc;
};
Seen seen(const Packet& frame, std::uint32_t wire = 0, std::uint64_t dscps = 0) {
  Seen result;
  Options options;
  options.trimmed_dscps = dscps;
  dissect({frame.data(), frame.size()}, wire == 0 ? static_cast<std::uint32_t>(frame.size()) : wire,
          link_ethernet, result.d, options);
  result.icrc = check_icrc({frame.data(), frame.size()}, result.d);
  return result;
}
constexpr std::uint64_t eleven = std::uint64_t{1} << 11U;

void expect_trimmed(const Seen& s, std::uint32_t was = whole_size) {
  EXPECT_TRUE(s.d.has(Note::trimmed));
  EXPECT_FALSE(s.d.has(Note::udp_length_mismatch));
  EXPECT_FALSE(s.d.has(Note::cut_on_the_way));
  EXPECT_EQ(s.d.stop, Stop::trimmed);
  EXPECT_EQ(s.d.declared_end, was);
  EXPECT_EQ(s.d.payload_length, 1024U);
  ASSERT_TRUE(s.d.is_transport());
  EXPECT_EQ(s.icrc.status, CrcStatus::not_checkable);
  EXPECT_EQ(s.icrc.obstacle, CrcObstacle::trimmed);
}

TEST(Trimmed, a_renewed_ip_length_below_the_udp_length_needs_no_dscp) {
  expect_trimmed(seen(renewed()));
  expect_trimmed(seen(renewed(dscp_11), 0, eleven));
  const Packet v6 =
      cut_to(ethernet(0x86dd, ipv6(17, datagram, 128 - 14 - 40 - static_cast<int>(datagram.size()))), 128);
  expect_trimmed(seen(v6), whole_size + 20);
}

TEST(Trimmed, a_kept_ip_length_needs_the_dscp) {
  expect_trimmed(seen(kept(dscp_11), 0, eleven));
  expect_trimmed(seen(kept(dscp_11, true), 0, eleven));  // its header checksum is not renewed
  for (const std::uint64_t dscps : {std::uint64_t{0}, std::uint64_t{1} << 12U}) {
    const Seen mirrored = seen(kept(dscp_11), 0, dscps);
    EXPECT_FALSE(mirrored.d.has(Note::trimmed));
    EXPECT_TRUE(mirrored.d.has(Note::cut_on_the_way));
    EXPECT_EQ(mirrored.icrc.obstacle, CrcObstacle::cut);
  }
  EXPECT_TRUE(seen(kept(dscp_11, true)).d.has(Note::cut_on_the_way))
      << "two lengths agree: neither is damaged";
}

/// Written over, without renewing the checksum.
Packet left_stale(Packet frame, std::uint8_t tos, bool length_too) {
  frame[ethernet_size + 1] = tos;
  constexpr std::size_t length_at = ethernet_size + 2;
  const std::size_t length = trim_size - ethernet_size;
  if (length_too) {
    frame[length_at] = static_cast<std::uint8_t>(length >> 8U);
    frame[length_at + 1] = static_cast<std::uint8_t>(length);
  }
  return frame;
}

TEST(Trimmed, a_checksum_of_the_packet_before_it_was_trimmed_vouches_for_it) {
  for (unsigned dscp = 0; dscp < 64; ++dscp) {
    const auto tos = static_cast<std::uint8_t>(dscp << 2U | 2U);
    expect_trimmed(seen(left_stale(kept(26 << 2 | 2), tos, true)));
    if (dscp != 26) expect_trimmed(seen(left_stale(kept(26 << 2 | 2), tos, false)));
  }
  // ECN is not what a switch that trims changes.
  EXPECT_FALSE(seen(left_stale(kept(26 << 2 | 2), 11 << 2 | 1, true)).d.has(Note::trimmed));
  EXPECT_FALSE(seen(left_stale(kept(26 << 2 | 2), 11 << 2 | 1, false)).d.has(Note::trimmed));
}

TEST(Trimmed, dscp_0_says_nothing) {
  EXPECT_FALSE(seen(kept(0x02)).d.has(Note::trimmed));
}

TEST(Trimmed, the_snap_length_cuts_and_does_not_trim) {
  const Packet whole = ethernet(0x0800, ipv4(17, datagram, {.tos = dscp_11}));
  const Seen cut = seen(cut_to(whole, trim_size), whole_size, eleven);
  EXPECT_EQ(cut.d.stop, Stop::cut_by_capture);
  EXPECT_FALSE(cut.d.has(Note::trimmed));
  // What a switch had trimmed is that also where the capture has less of it.
  const Seen both = seen(cut_to(renewed(), 80), trim_size);
  EXPECT_EQ(both.d.stop, Stop::cut_by_capture);
  EXPECT_TRUE(both.d.has(Note::trimmed));
  EXPECT_EQ(both.d.declared_end, whole_size);
}

TEST(Trimmed, what_was_short_stays_whole_and_is_checked) {
  const Packet whole = ethernet(0x0800, ipv4(17, roce_v2(0x0a, filled(16)), {.tos = dscp_11}));
  const Seen short_one = seen(whole, 0, eleven);
  EXPECT_EQ(short_one.d.stop, Stop::complete);
  EXPECT_FALSE(short_one.d.has(Note::trimmed));
  EXPECT_NE(short_one.icrc.status, CrcStatus::not_checkable);
}

TEST(Trimmed, lengths_that_contradict_each_other_are_not_trimmed) {
  // The frame has room for what the UDP length says.
  const Seen whole = seen(ethernet(0x0800, ipv4(17, datagram, {.length_lie = -10})));
  EXPECT_FALSE(whole.d.has(Note::trimmed));
  EXPECT_TRUE(whole.d.has(Note::udp_length_mismatch));
  // The checksum does not vouch for the IP length.
  const int lie = static_cast<int>(trim_size) - static_cast<int>(whole_size);
  const Packet damaged =
      cut_to(ethernet(0x0800, ipv4(17, datagram, {.length_lie = lie, .damaged = true})), trim_size);
  EXPECT_FALSE(seen(damaged).d.has(Note::trimmed));
  // The first fragment of a datagram has its UDP length.
  const Packet fragment =
      cut_to(ethernet(0x0800, ipv4(17, datagram, {.length_lie = lie, .fragment = 0x2000})), trim_size);
  EXPECT_FALSE(seen(fragment).d.has(Note::trimmed));
}

TEST(Trimmed, a_mirror_cuts_and_does_not_trim) {
  const Packet vxlan = hex("0800000000002a00");
  const auto mirrored = [&](const Packet& inner) {
    return ethernet(0x0800, ipv4(17, udp(4789, vxlan + inner)));
  };
  // Even if the DSCP is one of those: others of the stream must tell.
  const Seen cut = seen(mirrored(kept(dscp_11)), 0, eleven);
  EXPECT_FALSE(cut.d.has(Note::trimmed));
  EXPECT_TRUE(cut.d.has(Note::cut_on_the_way));
  const Seen trimmed = seen(mirrored(renewed()));
  EXPECT_TRUE(trimmed.d.has(Note::trimmed));
  EXPECT_FALSE(trimmed.d.has(Note::cut_on_the_way));
}

TEST(Trimmed, in_a_tunnel_the_outer_packet_is_what_is_trimmed) {
  const Packet inner = ethernet(0x0800, ipv4(17, datagram));
  const Packet payload = udp(4789, hex("0800000000002a00") + inner);
  const int lie = 160 - 14 - 20 - static_cast<int>(payload.size());
  const Seen s = seen(cut_to(ethernet(0x0800, ipv4(17, payload, {.length_lie = lie})), 160));
  EXPECT_TRUE(s.d.has(Note::trimmed));
  EXPECT_TRUE(s.d.is_transport());
  EXPECT_EQ(s.d.payload_length, 1024U);
}

TEST(Trimmed, at_every_size) {
  const int whole = static_cast<int>(whole_size);
  for (int size = 64; size < whole; ++size) {
    Packet frame = ethernet(0x0800, ipv4(17, datagram, {.length_lie = size - whole}));
    frame.resize(static_cast<std::size_t>(size));
    for (std::size_t captured = 0; captured <= frame.size(); captured += size < 130 ? 1 : 97) {
      const Seen s = seen(cut_to(frame, captured), static_cast<std::uint32_t>(size), eleven);
      ASSERT_FALSE(s.d.has(Note::cut_before_bth) && s.d.has(Note::trimmed));
      ASSERT_NE(s.d.stop, Stop::contradicts_itself) << size << ' ' << captured;
      if (captured >= ethernet_size + ipv4_size + Udp::size) {
        ASSERT_TRUE(s.d.has(Note::trimmed)) << size << ' ' << captured;
      }
    }
  }
}

}  // namespace
}  // namespace trimmed_test
}  // namespace roce::dissect
