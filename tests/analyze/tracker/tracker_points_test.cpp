// SPDX-License-Identifier: Apache-2.0
// One connection captured at several points: followed at one, compared at the others.
#include <algorithm>
#include <random>
#include <set>

#include "tracker_support.hpp"

namespace roce::analyze {
namespace tracker_points_test {
namespace {

constexpr End a{1, 0x11}, b{2, 0x22};
constexpr std::int64_t ms = 1'000'000;

/// What two capture points show of one traffic: the first stands at a, the second at b, on the way between
/// them for a while.
class TwoPoints {
 public:
  explicit TwoPoints(std::int64_t ahead_ns, bool copies_expected = true)
      : wire(FlowTable::default_limit, copies_expected), ahead_ns_(ahead_ns) {}

  /// A packet passes both points, or gets lost between them, or held back there.
  std::size_t pass(PacketRecord record, bool lost = false, std::int64_t held_ns = 0) {
    const bool from_a = record.key.src == tracker_host(a.host);
    constexpr std::int64_t way_ns = 5'000;
    const std::int64_t sent = record.time_ns;
    if (from_a || !lost) show(record, 0, from_a ? sent : sent + way_ns + held_ns);
    if (!from_a || !lost) show(record, 1, (from_a ? sent + way_ns + held_ns : sent) + ahead_ns_);
    wire.now_ns = std::max(wire.now_ns, sent + 2 * way_ns);
    return packets_++;
  }
  std::size_t request(std::uint32_t psn, bool lost = false, std::int64_t held_ns = 0) {
    PacketRecord r = wire.make(a, b, write_only, psn);
    r.flags |= PacketRecord::ack_requested;
    return pass(r, lost, held_ns);
  }
  /// One that the capture at a holds twice.
  std::size_t request_twice(std::uint32_t psn, bool lost = false) {
    PacketRecord r = wire.make(a, b, write_only, psn);
    r.flags |= PacketRecord::ack_requested;
    r.time_ns += 1;
    show(r, 0, r.time_ns);
    return pass(r, lost);
  }
  std::size_t answer(std::uint32_t psn, std::uint32_t msn, std::uint8_t syndrome = 0x1f, bool lost = false) {
    PacketRecord r = wire.make(b, a, acknowledge, psn);
    r.flags |= PacketRecord::has_aeth;
    r.aeth = std::uint32_t{syndrome} << 24U | msn;
    return pass(r, lost);
  }
  /// One that the capture at b holds twice.
  std::size_t answer_twice(std::uint32_t psn, std::uint32_t msn, bool lost = false) {
    PacketRecord r = wire.make(b, a, acknowledge, psn);
    r.flags |= PacketRecord::has_aeth;
    r.aeth = 0x1fU << 24U | msn;
    r.time_ns += 1;
    show(r, 1, r.time_ns + ahead_ns_);
    return pass(r, lost);
  }
  void talk(std::uint32_t from, std::uint32_t times) {
    for (std::uint32_t i = 0; i < times; ++i) {
      request(from + i);
      answer(from + i, from + i + 1);
    }
  }
  /// Feeds all of it as files of both points are merged: by time.
  void finish() {
    std::stable_sort(shown_.begin(), shown_.end(),
                     [](const Shown& x, const Shown& y) { return x.record.time_ns < y.record.time_ns; });
    for (const Shown& one : shown_) frames_[{one.packet, one.record.point}] = wire.send(one.record);
    wire.finish(100 * ms);
  }
  /// Frame number of a packet at a point; 0 if it was not seen there.
  [[nodiscard]] std::uint32_t frame(std::size_t packet, std::uint32_t point) const {
    const auto found = frames_.find({packet, point});
    return found == frames_.end() ? 0 : found->second;
  }
  [[nodiscard]] std::size_t packets() const { return packets_; }

  Wire wire;

 private:
  struct Shown {
    PacketRecord record;
    std::size_t packet = 0;
  };
  void show(PacketRecord record, std::uint32_t point, std::int64_t time_ns) {
    record.point = point;
    record.path = 7 + point;
    record.time_ns = time_ns;
    shown_.push_back({record, packets_});
  }
  std::int64_t ahead_ns_;
  std::size_t packets_ = 0;
  std::vector<Shown> shown_;
  std::map<std::pair<std::size_t, std::uint32_t>, std::uint32_t> frames_;
};

void expect_nothing_wrong(const Wire& wire) {
  for (const Flow& flow : wire.result.flows) {
    EXPECT_EQ(flow.sequence().retransmitted_packets(), 0U);
    EXPECT_EQ(flow.sequence().out_of_order, 0U);
    EXPECT_EQ(flow.sequence().gaps, 0U);
    EXPECT_EQ(flow.sequence().duplicate_network, 0U);
    for (const Lost where : {Lost::before_capture, Lost::after_capture, Lost::by_capture}) {
      EXPECT_EQ(Wire::lost(flow, where), 0U);
    }
  }
}

constexpr std::int64_t offsets[] = {0, 3 * ms, -3 * ms, 2000 * ms, -2000 * ms};

TEST(TrackerPoints, ClocksThatDifferChangeNothing) {
  for (const std::int64_t ahead : offsets) {
    SCOPED_TRACE(ahead);
    TwoPoints both(ahead);
    both.talk(0, 300);
    both.finish();
    expect_nothing_wrong(both.wire);
    both.wire.expect_all_counted();
    EXPECT_EQ(both.wire.connection().packets[0], 300U);
    EXPECT_EQ(both.wire.connection().packets[1], 300U);
    ASSERT_EQ(both.wire.result.clocks.size(), 1U);
    const ClockOffset& clock = both.wire.result.clocks[0];
    EXPECT_NEAR(static_cast<double>(clock.offset_ns), static_cast<double>(ahead),
                static_cast<double>(clock.error_ns));
    EXPECT_LE(clock.error_ns, 10'000);
    EXPECT_EQ(clock.sure(), ahead != 0);
    EXPECT_EQ(clock.copies, 600U);
    // Times of one point only.
    const OperationStats* writes = both.wire.connection().requester[0].operation(OperationKind::write);
    ASSERT_NE(writes, nullptr);
    EXPECT_EQ(writes->latency_ns.count(), 300U);
    EXPECT_LT(writes->latency_ns.max(), 50'000U);
  }
}

// Nobody said that there will be copies, and they come when the connection is long over.
TEST(TrackerPoints, CopiesOfLongAgoAreNotFollowed) {
  for (const std::int64_t ahead : offsets) {
    SCOPED_TRACE(ahead);
    TwoPoints both(ahead, false);
    both.talk(0, 2000);
    both.finish();
    expect_nothing_wrong(both.wire);
    both.wire.expect_all_counted();
    EXPECT_EQ(both.wire.connection().packets[0], 2000U);
  }
}

TEST(TrackerPoints, ALossBetweenTwoPointsIsProved) {
  for (const std::int64_t ahead : offsets) {
    SCOPED_TRACE(ahead);
    TwoPoints both(ahead);
    both.talk(0, 50);
    std::vector<std::size_t> lost;
    for (std::uint32_t psn = 50; psn < 60; ++psn) {
      const bool gone = psn == 52 || psn == 55;  // of 55 no single capture at a would know
      const std::size_t packet = both.request(psn, gone);
      if (gone) lost.push_back(packet);
    }
    both.answer(51, 52);
    both.answer(52, 52, nak_sequence);
    std::vector<std::size_t> again;
    for (std::uint32_t psn = 52; psn < 60; ++psn) again.push_back(both.request(psn));
    both.answer(59, 60);
    both.talk(60, 50);
    both.finish();
    const Connection& c = both.wire.connection();
    const EventLog* log = c.sent[0].find(Event::lost_between_points);
    ASSERT_NE(log, nullptr);
    EXPECT_EQ(log->count, 2U);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(log->frames[i], both.frame(lost[i], 0));
      EXPECT_EQ(both.wire.verdict(both.frame(lost[i], 0)).lost(Lost::after_capture), 1U);
    }
    EXPECT_EQ(c.sent[0].count(Event::lost_after_capture), 0U);
    EXPECT_EQ(c.sent[0].count(Event::lost_before_capture), 0U);
    EXPECT_EQ(c.sent[1].count(Event::lost_between_points), 0U);
    const Flow& flow = both.wire.flow(a, b);
    EXPECT_EQ(Wire::lost(flow, Lost::before_capture) + Wire::lost(flow, Lost::after_capture), 2U);
    EXPECT_EQ(flow.sequence().out_of_order, 0U);
    ASSERT_EQ(c.points.size(), 2U);
    for (const std::size_t packet : again) {
      const bool at_a = c.points[0] == 0;
      const Verdict followed = both.wire.verdict(both.frame(packet, at_a ? 0 : 1));
      const Verdict copy = both.wire.verdict(both.frame(packet, at_a ? 1 : 0));
      EXPECT_TRUE(followed.has(Verdict::retransmission));
      EXPECT_EQ(followed.cause, Cause::nak);
      EXPECT_FALSE(copy.has(Verdict::retransmission));  // a copy, not a repeat of its own original
      EXPECT_TRUE(copy.has(Verdict::duplicate_capture));
      EXPECT_EQ(copy.original, both.frame(packet, at_a ? 0 : 1));
    }
  }
}

// A responder does not acknowledge what never came: what was not sent again came, and the capture there
// missed it. So does the last of several transmissions that a NAK asked for.
TEST(TrackerPoints, WhatWasAcknowledgedAndNeverRepeatedWasMissedThere) {
  for (const std::int64_t ahead : offsets) {
    SCOPED_TRACE(ahead);
    TwoPoints both(ahead);
    both.talk(0, 50);
    for (std::uint32_t psn = 50; psn < 60; ++psn) {
      both.request(psn, psn == 53 || psn == 57);
      both.answer(psn, psn + 1);
    }
    const std::size_t lost = both.request(60, true);
    for (std::uint32_t psn = 61; psn < 66; ++psn) both.request(psn);
    both.answer(60, 60, nak_sequence);
    for (std::uint32_t psn = 60; psn < 66; ++psn) both.request(psn, psn == 63);
    both.answer(65, 66);
    both.talk(66, 50);
    both.finish();
    const EventLog* log = both.wire.connection().sent[0].find(Event::lost_between_points);
    ASSERT_NE(log, nullptr);
    EXPECT_EQ(log->count, 1U);
    EXPECT_EQ(log->frames[0], both.frame(lost, 0));
    both.wire.expect_all_counted();
  }
}

// The same of what only the point before shows, and of answers with data.
TEST(TrackerPoints, WhatWasMissedWhereItIsFollowedIsNotLost) {
  for (const std::int64_t ahead : offsets) {
    SCOPED_TRACE(ahead);
    TwoPoints both(ahead);
    both.talk(0, 50);
    constexpr std::uint32_t other = 0x5000;  // the requests of b
    for (std::uint32_t i = 0; i < 50; ++i) {
      PacketRecord r = both.wire.make(b, a, write_only, other + i);
      r.flags |= PacketRecord::ack_requested;
      both.pass(r, i == 20);
      PacketRecord ack = both.wire.make(a, b, acknowledge, other + i);
      ack.flags |= PacketRecord::has_aeth;
      ack.aeth = 0x1fU << 24U | (i + 1);
      both.pass(ack);
    }
    for (std::uint32_t i = 0; i < 150; ++i) {
      both.pass(both.wire.make(a, b, read_request, 50 + i));
      PacketRecord r = both.wire.make(b, a, read_response_only, 50 + i);
      r.flags |= PacketRecord::has_aeth;
      r.aeth = 0x1fU << 24U | (51 + i);
      both.pass(r, i == 30);
    }
    both.finish();
    for (const Events& sent : both.wire.connection().sent) {
      EXPECT_EQ(sent.count(Event::lost_between_points), 0U);
    }
  }
}

TEST(TrackerPoints, ARecordThatIsThereTwiceIsLostOnceAtMost) {
  for (const std::int64_t ahead : offsets) {
    SCOPED_TRACE(ahead);
    TwoPoints both(ahead);
    both.talk(0, 50);
    for (std::uint32_t psn = 50; psn < 60; ++psn) both.request_twice(psn, psn == 52);
    both.answer(51, 52);
    both.answer(52, 52, nak_sequence);
    for (std::uint32_t psn = 52; psn < 60; ++psn) both.request_twice(psn, psn == 57);
    both.answer(56, 57);
    both.answer(57, 57, nak_sequence);
    for (std::uint32_t psn = 57; psn < 60; ++psn) both.request(psn);
    both.answer(59, 60);
    both.talk(60, 50);
    both.finish();
    const Connection& c = both.wire.connection();
    EXPECT_EQ(c.sent[0].count(Event::lost_between_points), 2U);
    std::uint64_t repeats = 0;
    for (std::uint32_t frame = 1; frame <= both.wire.sent(); ++frame) {
      const Verdict verdict = both.wire.verdict(frame);
      repeats += verdict.has(Verdict::retransmission) && !verdict.has(Verdict::duplicate_capture) ? 1U : 0U;
    }
    EXPECT_EQ(repeats, 11U);
    EXPECT_EQ(both.wire.flow(a, b).sequence().retransmitted_packets(), repeats);
  }
}

TEST(TrackerPoints, SoIsOneOfThePointBefore) {
  for (const std::int64_t ahead : offsets) {
    SCOPED_TRACE(ahead);
    TwoPoints both(ahead);
    both.talk(0, 50);
    for (std::uint32_t psn = 50; psn < 60; ++psn) {
      both.request(psn);
      both.answer_twice(psn, psn + 1, psn == 55);
    }
    both.talk(60, 50);
    both.finish();
    EXPECT_EQ(both.wire.connection().sent[0].count(Event::lost_between_points), 0U);
    EXPECT_EQ(both.wire.connection().sent[1].count(Event::lost_between_points), 1U);
    both.wire.expect_all_counted();
  }
}

TEST(TrackerPoints, ALostAcknowledgementIsProvedToo) {
  for (const std::int64_t ahead : offsets) {
    SCOPED_TRACE(ahead);
    TwoPoints both(ahead);
    both.talk(0, 50);
    both.request(50);
    const std::size_t lost = both.answer(50, 51, 0x1f, true);
    both.talk(51, 50);
    both.finish();
    EXPECT_EQ(both.wire.connection().sent[1].count(Event::lost_between_points), 1U);
    EXPECT_EQ(both.wire.connection().sent[1].find(Event::lost_between_points)->frames[0],
              both.frame(lost, 1));
    EXPECT_EQ(both.wire.flow(a, b).sequence().retransmitted_packets(), 0U);
  }
}

// Only what stands between packets that both showed: one capture may have begun later or ended earlier.
TEST(TrackerPoints, WhatOnePointCapturedLongerIsNotLost) {
  for (const std::int64_t ahead : offsets) {
    SCOPED_TRACE(ahead);
    TwoPoints both(ahead);
    both.request(0, true);
    both.request(1, true);
    both.talk(2, 100);
    both.request(102, true);
    both.request(103, true);
    both.finish();
    EXPECT_EQ(both.wire.connection().sent[0].count(Event::lost_between_points), 0U);
  }
}

TEST(TrackerPoints, OvertakenBetweenThePointsIsNotLost) {
  for (const std::int64_t ahead : offsets) {
    SCOPED_TRACE(ahead);
    TwoPoints both(ahead);
    both.talk(0, 50);
    for (std::uint32_t psn = 50; psn < 60; ++psn) both.request(psn, false, psn == 53 ? ms : 0);
    both.wire.now_ns += 2 * ms;
    both.answer(52, 53);
    both.answer(53, 53, nak_sequence);
    for (std::uint32_t psn = 53; psn < 60; ++psn) both.request(psn);
    both.answer(59, 60);
    both.talk(60, 50);
    both.finish();
    const Flow& flow = both.wire.flow(a, b);
    for (const Lost where : {Lost::before_capture, Lost::after_capture, Lost::by_capture}) {
      EXPECT_EQ(Wire::lost(flow, where), 0U);
    }
    EXPECT_EQ(both.wire.connection().sent[0].count(Event::lost_between_points), 0U);
    EXPECT_EQ(both.wire.connection().sent[0].count(Event::out_of_order), 1U);
    EXPECT_EQ(Wire::resent(flow, Cause::nak), 7U);
  }
}

TEST(TrackerPoints, RunsOfEqualAcknowledgementsAreMatchedOneByOne) {
  for (const std::int64_t ahead : offsets) {
    SCOPED_TRACE(ahead);
    TwoPoints both(ahead);
    both.talk(0, 50);
    std::vector<std::size_t> equal;
    for (int i = 0; i < 12; ++i) equal.push_back(both.answer(49, 50));
    both.talk(50, 50);
    both.finish();
    const unsigned followed = both.wire.connection().points.at(0);
    for (const std::size_t packet : equal) {
      const Verdict copy = both.wire.verdict(both.frame(packet, 1 - followed));
      EXPECT_TRUE(copy.has(Verdict::duplicate_capture));
      EXPECT_EQ(copy.original, both.frame(packet, followed));
    }
    EXPECT_EQ(both.wire.connection().sent[1].count(Event::lost_between_points), 0U);
  }
}

// The same on two ways past one point: a mirror.
TEST(TrackerPoints, RunsOfEqualAcknowledgementsOfAMirror) {
  Wire wire;
  wire.talk(a, b, 0, 50);
  std::vector<PacketRecord> equal;
  std::vector<std::uint32_t> originals;
  for (int i = 0; i < 4; ++i) {
    PacketRecord r = wire.make(b, a, acknowledge, 49);
    r.flags |= PacketRecord::has_aeth;
    r.aeth = 0x1f000000U | 50U;
    equal.push_back(r);
    originals.push_back(wire.send(r));
  }
  std::vector<std::uint32_t> copies;
  for (PacketRecord& r : equal) {
    r.path = 99;
    r.time_ns = wire.now_ns += 100;
    copies.push_back(wire.send(r));
  }
  wire.finish();
  for (std::size_t i = 0; i < copies.size(); ++i) {
    EXPECT_TRUE(wire.verdict(copies[i]).has(Verdict::duplicate_capture));
    EXPECT_EQ(wire.verdict(copies[i]).original, originals[i]);
  }
}

// Each direction on an interface of its own: nothing is a copy.
TEST(TrackerPoints, DirectionsOfTwoInterfacesAreOneConnection) {
  Wire wire;
  for (std::uint32_t psn = 0; psn < 1000; ++psn) {
    PacketRecord request = wire.make(a, b, write_only, psn);
    request.flags |= PacketRecord::ack_requested;
    wire.send(request);
    PacketRecord answer = wire.make(b, a, acknowledge, psn);
    answer.flags |= PacketRecord::has_aeth;
    answer.aeth = 0x1f000000U | ((psn + 1) & 0xffffffU);
    answer.point = 1;
    wire.send(answer);
  }
  wire.finish();
  expect_nothing_wrong(wire);
  EXPECT_EQ(wire.connection().packets[0], 1000U);
  EXPECT_EQ(wire.connection().packets[1], 1000U);
  EXPECT_TRUE(wire.connection().split);
  wire.expect_all_counted();
}

// Two interfaces that share the load: packets go by turns, and nothing is a copy.
TEST(TrackerPoints, InterfacesThatShareTheLoad) {
  Wire wire;
  for (std::uint32_t psn = 0; psn < 2000; ++psn) {
    PacketRecord request = wire.make(a, b, write_only, psn);
    request.flags |= PacketRecord::ack_requested;
    request.point = psn / 3 % 2;
    wire.send(request);
    if (psn % 8 == 7) wire.answer(b, a, psn);
  }
  wire.finish();
  expect_nothing_wrong(wire);
  EXPECT_EQ(wire.connection().packets[0], 2000U);
  wire.expect_all_counted();
}

// The link of one interface fails: another goes on.
TEST(TrackerPoints, AnotherInterfaceGoesOn) {
  Wire wire;
  for (std::uint32_t psn = 0; psn < 3000; ++psn) {
    PacketRecord request = wire.make(a, b, write_only, psn);
    request.flags |= PacketRecord::ack_requested;
    PacketRecord answer = wire.make(b, a, acknowledge, psn);
    answer.flags |= PacketRecord::has_aeth;
    answer.aeth = 0x1f000000U | ((psn + 1) & 0xffffffU);
    request.point = answer.point = psn < 1500 ? 0 : 1;
    wire.send(request);
    wire.send(answer);
  }
  wire.finish();
  expect_nothing_wrong(wire);
  EXPECT_EQ(wire.connection().packets[0], 3000U);
  wire.expect_all_counted();
}

// Two captures, of which the first one ends in the middle of the connection.
TEST(TrackerPoints, TheOtherPointGoesOnWhereTheFirstEnded) {
  Wire wire(FlowTable::default_limit, true);
  std::vector<PacketRecord> records;
  for (std::uint32_t psn = 0; psn < 3000; ++psn) {
    PacketRecord request = wire.make(a, b, write_only, psn);
    request.flags |= PacketRecord::ack_requested;
    PacketRecord answer = wire.make(b, a, acknowledge, psn);
    answer.flags |= PacketRecord::has_aeth;
    answer.aeth = 0x1f000000U | ((psn + 1) & 0xffffffU);
    for (PacketRecord r : {request, answer}) {
      if (psn < 1500) wire.send(r);
      if (psn < 1000) continue;  // the second capture begins
      r.point = 1;
      r.time_ns += 300;
      wire.send(r);
    }
  }
  wire.finish();
  expect_nothing_wrong(wire);
  EXPECT_EQ(wire.connection().packets[0], 3000U);
  EXPECT_EQ(wire.flow(a, b).sequence().duplicate_captures, 500U);
  wire.expect_all_counted();
}

// A record that stands in two files, or twice in one: no network delivers two in the same nanosecond.
TEST(TrackerPoints, TheSameRecordTwiceIsNoNetworksDuplicate) {
  Wire wire;
  wire.talk(a, b, 0, 200);
  std::vector<std::uint32_t> copies;
  for (std::uint32_t psn = 200; psn < 210; ++psn) {
    PacketRecord r = wire.make(a, b, write_only, psn);
    r.flags |= PacketRecord::ack_requested;
    r.time_ns += 1;
    wire.send(r);
    copies.push_back(wire.send(r));
  }
  wire.finish();
  for (const std::uint32_t copy : copies) {
    EXPECT_TRUE(wire.verdict(copy).has(Verdict::duplicate_capture));
    EXPECT_FALSE(wire.verdict(copy).has(Verdict::duplicate_network));
  }
  EXPECT_EQ(wire.flow(a, b).sequence().duplicate_captures, 10U);
  EXPECT_EQ(wire.flow(a, b).sequence().duplicate_network, 0U);
}

TEST(TrackerPoints, RecordsThatGoBackInTimeAreNoted) {
  Wire wire;
  wire.talk(a, b, 0, 50);
  std::vector<PacketRecord> swapped;
  for (std::uint32_t psn = 50; psn < 60; ++psn) swapped.push_back(wire.make(a, b, write_only, psn));
  for (std::size_t i = 0; i < swapped.size(); i += 2) {
    wire.send(swapped[i + 1]);
    wire.send(swapped[i]);
  }
  wire.finish();
  EXPECT_EQ(wire.connection().sent[0].count(Event::time_backwards), 5U);
}

TEST(TrackerPoints, DatagramsOfTwoPointsAreCountedOnce) {
  for (const std::int64_t ahead : offsets) {
    TwoPoints both(ahead);
    for (std::uint32_t psn = 0; psn < 100; ++psn)
      both.pass(both.wire.make(a, b, ud_send_only, psn), psn == 50);
    both.finish();
    EXPECT_EQ(both.wire.flow(a, b).packets, 100U);
    EXPECT_EQ(both.wire.flow(a, b).sequence().duplicate_captures, 99U);
  }
}

// Whatever comes from however many points, everything is somewhere.
TEST(TrackerPoints, AnythingFromAnywhereIsCounted) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    Wire wire(64, round % 2 != 0);
    for (int i = 0; i < 5000; ++i) {
      const auto any = [&](unsigned below) { return static_cast<unsigned>(random() % below); };
      const End from = any(2) != 0 ? a : b, to{from.host == 1 ? 2U : 1U, 0x11 * (1 + any(3))};
      const std::uint8_t opcodes[] = {write_only,         send_only,    acknowledge, read_request,
                                      read_response_only, ud_send_only, uc_send_only};
      PacketRecord r = wire.make(from, to, opcodes[any(7)], any(64));
      r.point = any(round < 10 ? 3 : 12);
      r.aeth = static_cast<std::uint32_t>(random());
      r.flags |= PacketRecord::has_aeth;
      r.time_ns += static_cast<std::int64_t>(random() % 4000) - 2000;
      r.ip_id = static_cast<std::uint16_t>(random() % 16);
      wire.send(r);
    }
    wire.finish();
    wire.expect_all_counted();
  }
}

/// Where no ID tells, the copy of the repeat is not a late one of what was lost.
TEST(TrackerPoints, LossesAndRepeatsWithoutIds) {
  for (const std::int64_t reaction_ns : {2'000, 20'000, 200'000, 2'000'000}) {
    TwoPoints points(0);
    const auto request = [&](std::uint32_t psn, bool lost) {
      PacketRecord r = points.wire.make(a, b, write_only, psn);
      r.flags |= PacketRecord::ack_requested;
      r.more = static_cast<std::uint8_t>(r.more & ~PacketRecord::has_ip_id);
      points.pass(r, lost);
    };
    std::uint32_t msn = 1;
    const auto answer = [&](std::uint32_t psn, std::uint8_t syndrome = 0x1f) {
      points.answer(psn, syndrome == 0x1f ? ++msn : msn, syndrome);
    };
    for (std::uint32_t psn = 100; psn < 120; ++psn) {
      request(psn, false);
      answer(psn);
    }
    for (std::uint32_t psn = 120; psn < 200; psn += 16) {
      for (std::uint32_t i = 0; i < 16; ++i) request(psn + i, i == 5);
      answer(psn + 5, nak_sequence);
      points.wire.now_ns += reaction_ns;
      for (std::uint32_t i = 5; i < 16; ++i) request(psn + i, false);
      answer(psn + 15);
    }
    for (std::uint32_t psn = 200; psn < 220; ++psn) {
      request(psn, false);
      answer(psn);
    }
    points.finish();
    const Connection& c = points.wire.connection();
    EXPECT_EQ(c.sent[0].count(Event::lost_between_points), 5U) << reaction_ns;
    EXPECT_EQ(c.sent[0].count(Event::out_of_order), 0U) << reaction_ns;
    EXPECT_EQ(Wire::resent(points.wire.flow(a, b), Cause::nak), 55U) << reaction_ns;
  }
}

}  // namespace
}  // namespace tracker_points_test
}  // namespace roce::analyze
