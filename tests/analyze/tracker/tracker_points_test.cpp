// SPDX-License-Identifier: Apache-2.0
// One connection captured at two points: followed at one, compared at the other.
#include <algorithm>

#include "two_points.hpp"

namespace roce::analyze::tracker_points_test {
namespace {

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

// Two dozen READs later, each of which had waited for the one before, and however much the requester answers
// itself since.
TEST(TrackerPoints, AMissedResponseIsNotLostWhateverFollows) {
  const auto read = [](TwoPoints& both, End from, End to, std::uint32_t psn, bool missed) {
    both.pass(both.wire.make(from, to, read_request, psn));
    PacketRecord r = both.wire.make(to, from, read_response_only, psn);
    r.flags |= PacketRecord::has_aeth;
    r.aeth = 0x1fU << 24U | (psn & 0xfffU);
    both.pass(r, missed);
  };
  constexpr std::uint32_t other = 0x5000;  // the requests of b
  for (const std::int64_t ahead : offsets) {
    for (const std::uint32_t of_b : {0U, 90U}) {
      SCOPED_TRACE(ahead);
      SCOPED_TRACE(of_b);
      TwoPoints both(ahead);
      for (std::uint32_t i = 0; i < 24; ++i) read(both, b, a, other + i, false);
      for (std::uint32_t i = 0; i < 24; ++i) read(both, a, b, i, i == 2);
      for (std::uint32_t i = 0; i < of_b; ++i) read(both, b, a, other + 24 + i, false);
      both.finish();
      for (const Events& sent : both.wire.connection().sent) {
        EXPECT_EQ(sent.count(Event::lost_between_points), 0U);
      }
    }
  }
}

// Many READs were open when it was lost, and that one is asked again in vain.
TEST(TrackerPoints, ALostResponseThatIsAskedForAgainIsProvedWhateverWasSentBefore) {
  for (const std::int64_t ahead : offsets) {
    SCOPED_TRACE(ahead);
    TwoPoints both(ahead);
    both.talk(0, 50);
    for (std::uint32_t psn = 50; psn < 130; ++psn) both.pass(both.wire.make(a, b, read_request, psn));
    std::size_t lost = 0;
    for (std::uint32_t psn = 50; psn < 130; ++psn) {
      PacketRecord r = both.wire.make(b, a, read_response_only, psn);
      r.flags |= PacketRecord::has_aeth;
      r.aeth = 0x1fU << 24U | (psn + 1);
      const std::size_t packet = both.pass(r, psn == 60);
      if (psn == 60) lost = packet;
    }
    for (int times = 0; times < 3; ++times) {
      both.wire.now_ns += 5 * ms;
      both.pass(both.wire.make(a, b, read_request, 60));
    }
    both.finish();
    const EventLog* log = both.wire.connection().sent[1].find(Event::lost_between_points);
    ASSERT_NE(log, nullptr);
    EXPECT_EQ(log->count, 1U);
    EXPECT_EQ(log->frames[0], both.frame(lost, 1));
  }
}

// Of the READs around one that is asked for again the responses arrived: of those that were open with it, and
// of those that were asked for later.
TEST(TrackerPoints, OnlyTheResponseThatIsAskedForAgainIsProvedLost) {
  for (const std::int64_t ahead : offsets) {
    SCOPED_TRACE(ahead);
    TwoPoints both(ahead);
    const auto respond = [&](std::uint32_t psn, bool missed) {
      PacketRecord r = both.wire.make(b, a, read_response_only, psn);
      r.flags |= PacketRecord::has_aeth;
      r.aeth = 0x1fU << 24U | (psn + 1);
      return both.pass(r, missed);
    };
    both.talk(0, 50);
    for (std::uint32_t psn = 50; psn < 66; ++psn) both.pass(both.wire.make(a, b, read_request, psn));
    std::size_t lost = 0;
    for (std::uint32_t psn = 50; psn < 66; ++psn) {
      const std::size_t packet = respond(psn, psn == 60 || psn == 62);
      if (psn == 60) lost = packet;
    }
    both.wire.now_ns += 5 * ms;
    both.pass(both.wire.make(a, b, read_request, 60));
    respond(60, false);
    for (std::uint32_t psn = 66; psn < 180; ++psn) {
      both.pass(both.wire.make(a, b, read_request, psn));
      respond(psn, psn == 70);
    }
    both.finish();
    const EventLog* log = both.wire.connection().sent[1].find(Event::lost_between_points);
    ASSERT_NE(log, nullptr);
    EXPECT_EQ(log->count, 1U);
    EXPECT_EQ(log->frames[0], both.frame(lost, 1));
  }
}

// A capture that misses requests misses ACKs as well: that it does not show one proves nothing.
TEST(TrackerPoints, OfACaptureThatMissesPacketsAMissingAckProvesNothing) {
  for (const std::int64_t ahead : offsets) {
    for (const bool misses : {false, true}) {
      SCOPED_TRACE(ahead);
      SCOPED_TRACE(misses);
      TwoPoints both(ahead);
      both.talk(0, 50);
      both.request(50);
      both.answer(50, 51, 0x1f, true);
      both.talk(51, 20);
      both.request(71, misses);
      both.answer(71, 72);
      both.talk(72, 50);
      both.finish();
      EXPECT_EQ(both.wire.connection().sent[0].count(Event::lost_between_points), 0U);
      EXPECT_EQ(both.wire.connection().sent[1].count(Event::lost_between_points), misses ? 0U : 1U);
      both.wire.expect_all_counted();
    }
  }
}

// What a requester sends again on its own, as it has no answer to it, was lost, even if that capture misses
// another packet.
TEST(TrackerPoints, WhatWasSentAgainIsProvedLostWhateverTheCaptureMisses) {
  for (const std::int64_t ahead : offsets) {
    SCOPED_TRACE(ahead);
    TwoPoints both(ahead);
    both.talk(0, 50);
    std::uint32_t psn = 50;
    for (int i = 0; i < 10; ++i, psn += 10) {
      both.request(psn, true);
      both.wire.now_ns += 5 * ms;
      both.talk(psn, 10);
    }
    both.request(psn, true);
    both.answer(psn, psn + 1);
    both.talk(psn + 1, 50);
    both.finish();
    EXPECT_EQ(both.wire.connection().sent[0].count(Event::lost_between_points), 10U);
    EXPECT_EQ(both.wire.connection().sent[1].count(Event::lost_between_points), 0U);
    both.wire.expect_all_counted();
  }
}

// So does one that misses requests which the capture behind it holds.
TEST(TrackerPoints, OfACaptureThatMissesWhatIsSentThereAMissingAckProvesNothing) {
  for (const std::int64_t ahead : offsets) {
    SCOPED_TRACE(ahead);
    TwoPoints both(ahead);
    both.talk(0, 50);
    for (std::uint32_t psn = 50; psn < 150; psn += 10) {
      PacketRecord r = both.wire.make(a, b, write_only, psn);
      r.flags |= PacketRecord::ack_requested;
      both.missed_at_sender(r);
      both.answer(psn, psn + 1);
      both.talk(psn + 1, 3);
      both.request(psn + 4);
      both.answer(psn + 4, psn + 5, 0x1f, true);
      both.talk(psn + 5, 5);
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

// Nobody answers on UC: what one point shows and the next one does not was lost between them. Where only one
// side sends, the point that lacks packets is the one behind.
TEST(TrackerPoints, LossesOfUcAreProved) {
  for (const std::int64_t ahead : offsets) {
    for (const bool both_sides : {false, true}) {
      SCOPED_TRACE(ahead);
      SCOPED_TRACE(both_sides);
      TwoPoints both(ahead);
      std::vector<std::size_t> lost;
      for (std::uint32_t psn = 0; psn < 300; ++psn) {
        const bool gone = psn == 100 || psn == 101 || psn == 200;
        const std::size_t packet = both.pass(both.wire.make(a, b, uc_send_only, psn), gone);
        if (gone) lost.push_back(packet);
        if (both_sides) both.pass(both.wire.make(b, a, uc_send_only, 0x5000 + psn));
      }
      both.finish();
      std::uint64_t between = 0, elsewhere = 0;
      for (const Connection& c : both.wire.result.connections) {
        for (const Events& sent : c.sent) {
          between += sent.count(Event::lost_between_points);
          elsewhere += sent.count(Event::lost_before_capture) + sent.count(Event::lost_after_capture);
        }
      }
      EXPECT_EQ(between, 3U);
      EXPECT_EQ(elsewhere, 0U);
      for (const std::size_t packet : lost)
        EXPECT_TRUE(both.wire.verdict(both.frame(packet, 0)).has(Verdict::lost_between_points));
      const Flow& flow = both.wire.flow(a, b);
      EXPECT_EQ(Wire::lost(flow, Lost::before_capture) + Wire::lost(flow, Lost::after_capture), 3U);
      both.wire.expect_all_counted();
    }
  }
}

TEST(TrackerPoints, DamageIsToldBetweenThePoints) {
  for (const std::int64_t ahead : offsets) {
    for (const bool uc : {false, true}) {
      SCOPED_TRACE(ahead);
      SCOPED_TRACE(uc);
      TwoPoints both(ahead);
      std::size_t packet = 0;
      for (std::uint32_t psn = 0; psn < 100; ++psn) {
        PacketRecord r = both.wire.make(a, b, uc ? uc_send_only : write_only, psn);
        if (!uc) r.flags |= PacketRecord::ack_requested;
        r.icrc = static_cast<std::uint8_t>(dissect::CrcStatus::match);
        if (psn == 50) {
          packet = both.damaged(r);
          if (!uc) both.request(psn);
        } else {
          both.pass(r);
        }
        if (!uc) both.answer(psn, psn + 1);
      }
      both.finish();
      const Connection& c = both.wire.connection();
      EXPECT_EQ(c.sent[0].count(Event::damaged_between_points), 1U);
      ASSERT_NE(c.sent[0].find(Event::damaged_between_points), nullptr);
      EXPECT_EQ(c.sent[0].find(Event::damaged_between_points)->frames[0], both.frame(packet, 1));
      EXPECT_EQ(c.sent[0].count(Event::lost_between_points), 0U);
    }
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
}  // namespace roce::analyze::tracker_points_test
