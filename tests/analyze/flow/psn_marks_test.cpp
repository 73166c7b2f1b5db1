// SPDX-License-Identifier: Apache-2.0
#include "analyze/flow/psn_marks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "dissect/types.hpp"

namespace roce::analyze {
namespace {

constexpr std::uint8_t write_middle = 0x07;
constexpr std::uint8_t read_response_middle = 0x0e;
constexpr std::uint8_t acknowledge = 0x11;
constexpr std::uint32_t psn_mask = 0xffffff;
constexpr std::int64_t begin = 1'795'176'000'000'000'000;
constexpr std::int64_t settled = begin + PsnMarks::settle_ns;

PacketRecord packet(std::uint32_t psn, std::int64_t time_ns, std::uint8_t opcode = write_middle) {
  PacketRecord record;
  const std::array<std::uint8_t, 4> a{10, 0, 0, 1}, b{10, 0, 0, 2};
  record.key.src = dissect::IpAddress::v4(a.data());
  record.key.dst = dissect::IpAddress::v4(b.data());
  record.key.dst_qp = 71;
  record.flags = PacketRecord::valid;
  record.opcode = opcode;
  record.psn = psn & psn_mask;
  record.time_ns = time_ns;
  return record;
}

constexpr std::int64_t long_after = settled + 3'600'000'000'000;

PsnSpaceMarks requests(const PsnMarks& marks, std::int64_t end_ns = long_after) {
  return marks.find(packet(0, 0).key, end_ns)->requests;
}

/// What was lost between two points by the first and the last PSN that both have, and these.
struct Compared {
  std::uint32_t first = 0, last = 0;
  std::int64_t lost = 0;
};
std::optional<Compared> compare(const PsnMarks& a, const PsnMarks& b) {
  std::map<std::uint32_t, PsnMark> of_a;
  for (const PsnMark& mark : requests(a).marks) of_a[mark.psn] = mark;
  std::vector<std::pair<PsnMark, PsnMark>> both;
  for (const PsnMark& mark : requests(b).marks) {
    if (of_a.count(mark.psn) != 0) both.emplace_back(of_a[mark.psn], mark);
  }
  if (both.size() < 2) return std::nullopt;
  const auto between = [&](PsnMark std::pair<PsnMark, PsnMark>::*end) {
    return static_cast<std::int64_t>((both.back().*end).packets - (both.front().*end).packets);
  };
  return Compared{
      both.front().first.psn, both.back().first.psn,
      between(&std::pair<PsnMark, PsnMark>::first) - between(&std::pair<PsnMark, PsnMark>::second)};
}

TEST(PsnMarks, count_what_passed_before) {
  PsnMarks marks(8);
  for (std::uint32_t psn = 5; psn < 10; ++psn) marks.see(packet(psn, settled + psn * 20'000'000), begin);
  marks.see(packet(7, settled + 220'000'000), begin);  // a repeat: counted, passes nothing
  marks.see(packet(10, settled + 240'000'000), begin);
  const PsnSpaceMarks space = requests(marks);
  EXPECT_EQ(space.packets, 7U);
  EXPECT_EQ(space.psns, 6U);
  EXPECT_EQ(space.psn_next, 11U);
  EXPECT_EQ(space.marks.front().psn, 5U);
  EXPECT_EQ(space.marks.front().packets, 0U);
  EXPECT_EQ(space.marks.back().psn, 10U);
  EXPECT_EQ(space.marks.back().packets, 6U);
  EXPECT_EQ(space.end().psn, 11U);
  EXPECT_EQ(space.end().packets, 7U);
  // What was the last packet of a capture may have been followed by others.
  EXPECT_EQ(requests(marks, settled + 240'000'000).marks.back().psn, 9U);
}

TEST(PsnMarks, none_where_packets_are_overtaken) {
  PsnMarks marks(64);
  for (std::uint32_t i = 0; i < 100; ++i) {
    // 63 comes after 66.
    const std::uint32_t psn = i == 63 ? 64 : i == 64 ? 65 : i == 65 ? 66 : i == 66 ? 63 : i;
    marks.see(packet(psn, settled + i * 1'000'000), begin);
  }
  for (const PsnMark& mark : requests(marks).marks) EXPECT_TRUE(mark.psn < 57 || mark.psn > 66) << mark.psn;
  EXPECT_GT(requests(marks).marks.size(), 40U);
}

TEST(PsnMarks, the_roundest_stay_over_the_wrap) {
  PsnMarks marks(4);
  for (std::uint32_t i = 0; i < 10000; ++i) marks.see(packet(0xfff000 + i, settled + i * 10'000), begin);
  const PsnSpaceMarks space = requests(marks);
  ASSERT_LE(space.marks.size(), 8U);
  bool zero = false;
  for (std::size_t i = 1; i + 1 < space.marks.size(); ++i) {
    zero = zero || space.marks[i].psn == 0;
    EXPECT_EQ(space.marks[i].psn % 512, 0U);
  }
  EXPECT_TRUE(zero);
  EXPECT_EQ(space.marks.back().packets, 9999U);
}

TEST(PsnMarks, nothing_of_the_first_second) {
  PsnMarks marks(8);
  marks.see(packet(5, begin), begin);
  marks.see(packet(6, settled - 1), begin);
  EXPECT_TRUE(requests(marks).marks.empty());
  marks.see(packet(7, settled), begin);
  ASSERT_EQ(requests(marks).marks.size(), 1U);
  EXPECT_EQ(requests(marks).marks[0].packets, 2U);
}

TEST(PsnMarks, a_queue_pair_that_was_made_anew_begins_anew) {
  PsnMarks marks(8);
  marks.see(packet(5, settled), begin);
  marks.see(packet(6, settled), begin);
  marks.see(packet(0x900000, settled + 5), begin);
  EXPECT_EQ(requests(marks).epoch, 1U);
  EXPECT_EQ(requests(marks).packets, 1U);
  EXPECT_EQ(requests(marks).start_ns, settled + 5);
  ASSERT_EQ(requests(marks).marks.size(), 1U);
}

TEST(PsnMarks, responses_are_a_space_of_their_own_and_acknowledgements_none) {
  PsnMarks marks(8);
  marks.see(packet(5, settled), begin);
  marks.see(packet(1000, settled, read_response_middle), begin);
  marks.see(packet(900, settled, acknowledge), begin);
  EXPECT_EQ(requests(marks).packets, 1U);
  EXPECT_EQ(marks.find(packet(0, 0).key, long_after)->responses.packets, 1U);
  EXPECT_EQ(marks.find(packet(0, 0).key, long_after)->responses.marks.at(0).psn, 1000U);
}

TEST(PsnMarks, what_the_receiver_discards_is_not_counted) {
  PsnMarks marks(8);
  PacketRecord damaged = packet(5, settled);
  damaged.icrc = static_cast<std::uint8_t>(dissect::CrcStatus::mismatch);
  marks.see(damaged, begin);
  EXPECT_FALSE(marks.find(damaged.key, long_after).has_value());
}

/// Go-back-N over a path that loses packets and lets some overtake others, seen at both ends: the difference
/// between two marks is the truth, also where PSNs wrap, clocks differ, and a point keeps fewer marks.
TEST(PsnMarks, the_difference_of_two_points_is_what_was_lost) {
  unsigned compared = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    std::bernoulli_distribution lost(std::array{0.0, 0.0001, 0.002, 0.01, 0.03}[seed % 5]);
    std::bernoulli_distribution late(seed % 2 == 0 ? 0.0 : 0.001);
    PsnMarks a(64), b(seed % 3 == 0 ? 16 : 64);
    const std::int64_t skew = seed % 7 == 0 ? 300'000'000 : 0;
    const std::uint32_t base = random() & psn_mask;
    constexpr std::uint32_t all = 20'000;
    std::uint32_t next = 0, expected = 0, passed = 0;  // without the base
    std::int64_t time = settled;
    std::vector<std::int64_t> truth_at(all);  // lost before a PSN was sent first
    std::int64_t truth = 0;
    std::vector<std::pair<std::int64_t, std::uint32_t>> arrivals;
    while (expected < all) {
      for (unsigned burst = 0; burst < 64 && next < all; ++burst, ++next) {
        time += 20'000;
        a.see(packet(base + next, time), begin);
        if (next == passed) truth_at[passed++] = truth;
        if (lost(random)) {
          ++truth;
          continue;
        }
        const bool is_late = late(random);
        arrivals.emplace_back(time + 50'000 + (is_late ? 2'000'000 : 0), next);
        if (next == expected && !is_late) ++expected;
      }
      if (next > expected) {
        next = expected;
        time += 4'000'000;  // the NAK, and until it is acted upon
      }
    }
    std::stable_sort(arrivals.begin(), arrivals.end());
    for (const auto& [at, psn] : arrivals) b.see(packet(base + psn, at + skew), begin);
    const auto counted = compare(a, b);
    if (!counted) continue;
    ++compared;
    EXPECT_EQ(counted->lost,
              truth_at[(counted->last - base) & psn_mask] - truth_at[(counted->first - base) & psn_mask])
        << seed;
    // With the end of both, nothing is left out.
    EXPECT_EQ(static_cast<std::int64_t>(requests(a).end().packets - requests(b).end().packets), truth)
        << seed;
  }
  EXPECT_GT(compared, 45U);
}

}  // namespace
}  // namespace roce::analyze
