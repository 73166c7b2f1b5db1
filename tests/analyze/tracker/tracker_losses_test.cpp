// SPDX-License-Identifier: Apache-2.0
// What a receiver behind the capture missed, and what was only late or thrown away.
#include "analyze/tracker/tracker.hpp"

#include <vector>

#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace tracker_losses_test {
namespace {

constexpr End a{1, 0x11};
constexpr End b{2, 0x22};

TEST(TrackerLosses, ANakOfTheNextPacketAfterTheRepeatTakesNothingBack) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  for (std::uint32_t psn = 120; psn < 126; ++psn) {
    PacketRecord r = wire.make(a, b, write_only, psn);
    wire.send(r);
  }
  wire.answer(b, a, 121, nak_sequence);
  for (std::uint32_t psn = 121; psn < 126; ++psn) {
    PacketRecord r = wire.make(a, b, write_only, psn);
    wire.send(r);
  }
  wire.answer(b, a, 122, nak_sequence);  // of the repeat
  for (std::uint32_t psn = 122; psn < 126; ++psn) wire.request(a, b, psn);
  wire.answer(b, a, 125);
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::after_capture), 2U);
}

TEST(TrackerLosses, WhatCameBeforeItsTurnWasThrownAwayNotLost) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  const PacketRecord early = wire.make(a, b, write_only, 120);
  wire.request(a, b, 121);
  wire.request(a, b, 122);
  PacketRecord late = early;
  late.time_ns = wire.now_ns += 1000;
  wire.send(late);
  wire.answer(b, a, 121, nak_sequence);  // 121 was there, when 120 was not
  wire.request(a, b, 121);
  wire.request(a, b, 122);
  wire.answer(b, a, 122);
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::after_capture), 0U);
}

TEST(TrackerLosses, AHoleInARepeatOfDeliveredDataIsALossOfTheRepeat) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  for (std::uint32_t psn = 120; psn < 126; ++psn) wire.request(a, b, psn);
  wire.answer(b, a, 125);
  wire.now_ns += 67'000'000;  // which did not reach the sender
  wire.request(a, b, 120);
  wire.request(a, b, 121);
  const PacketRecord gone = wire.make(a, b, write_only, 122);
  static_cast<void>(gone);
  const auto shows = wire.request(a, b, 123);
  wire.request(a, b, 124);
  wire.request(a, b, 125);
  wire.answer(b, a, 125);
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::before_capture), 1U);
  EXPECT_GE(wire.verdict(shows).lost(Lost::before_capture), 1U);
}

TEST(TrackerLosses, WhatASenderSkipsIsNotLost) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  for (std::uint32_t psn = 120; psn < 126; ++psn) wire.request(a, b, psn);
  wire.answer(b, a, 125);
  wire.now_ns += 67'000'000;
  wire.request(a, b, 120);
  wire.request(a, b, 121);
  wire.request(a, b, 124);  // no ID is missing
  wire.request(a, b, 125);
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::before_capture), 0U);
}

TEST(TrackerLosses, BehindWhatTheCaptureMissedALossStillShows) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  wire.request(a, b, 121);  // 120 went by unseen
  wire.answer(b, a, 121);
  wire.talk(a, b, 122, 5);
  wire.request(a, b, 127);
  wire.request(a, b, 128);
  wire.answer(b, a, 127, nak_sequence);
  wire.request(a, b, 127);
  wire.request(a, b, 128);
  wire.answer(b, a, 128);
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::by_capture), 1U);
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::after_capture), 1U);
}

/// Its count of messages begins again, but its IDs are those of the first one: no other use of the queue
/// pairs.
TEST(TrackerLosses, TheSecondOfTwoMergedCapturesShowsCopiesFromItsFirstPacketOn) {
  Wire wire;
  std::vector<PacketRecord> packets;
  for (std::uint32_t psn = 100; psn < 420; ++psn) {
    packets.push_back(wire.make(a, b, write_only, psn));
    if (psn % 16 != 15) continue;
    PacketRecord ack = wire.make(b, a, acknowledge, psn);
    ack.flags |= PacketRecord::has_aeth;
    ack.aeth = 0x1f000000U + (psn - 99);
    packets.push_back(ack);
  }
  for (const PacketRecord& r : packets) wire.send(r);
  std::vector<std::uint32_t> copies;
  for (PacketRecord r : packets) {  // of another clock
    r.time_ns += 600'000'000;
    copies.push_back(wire.send(r));
  }
  wire.finish();
  for (const std::uint32_t copy : copies) {
    EXPECT_TRUE(wire.verdict(copy).has(Verdict::duplicate_capture)) << "frame " << copy;
  }
  EXPECT_EQ(wire.flow(b, a).sequence().duplicate_captures, wire.flow(b, a).packets);
}

/// Two interfaces: in order of time, so not by number.
TEST(TrackerLosses, FrameNumbersOutOfOrderDoNotTakeALossBack) {
  Wire wire;
  Tracker tracker;
  const auto track = [&](End from, End to, std::uint8_t opcode, std::uint32_t psn, std::uint64_t number,
                         std::uint32_t aeth = 0) {
    PacketRecord r = wire.make(from, to, opcode, psn);
    if (opcode == acknowledge) r.flags |= PacketRecord::has_aeth;
    r.aeth = aeth;
    tracker.track_one(r, number);
  };
  for (std::uint32_t i = 0; i < 20; ++i) {
    track(a, b, write_only, 100 + i, 2 * i + 1);
    track(b, a, acknowledge, 100 + i, 2 * i + 2, 0x1f000001U + i);
  }
  for (std::uint32_t i = 0; i < 4; ++i) track(a, b, write_only, 120 + i, 50 + i);
  track(b, a, acknowledge, 121, 90, std::uint32_t{nak_sequence} << 24U | 21U);  // written later
  for (std::uint32_t i = 1; i < 4; ++i) track(a, b, write_only, 120 + i, 60 + i);
  track(b, a, acknowledge, 123, 91, 0x1f000000U + 24);
  const Tracker::Result result = tracker.finish(wire.now_ns);
  std::uint64_t lost = 0;
  for (const Flow& flow : result.flows) lost += Wire::lost(flow, Lost::after_capture);
  EXPECT_EQ(lost, 1U);
}

/// A sender that goes back: two packets sent again after a NAK.
void lose_one(Wire& wire, std::uint32_t psn) {
  for (std::uint32_t i = 0; i < 5; ++i) wire.send(wire.make(a, b, write_only, psn + i));
  wire.answer(b, a, psn + 1, nak_sequence);
  for (std::uint32_t i = 1; i < 5; ++i) wire.request(a, b, psn + i);
  wire.answer(b, a, psn + 4);
}

TEST(TrackerLosses, WhatIsConfirmedBeforeItsRepeatCouldArriveWasLate) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  for (const std::uint32_t psn : {120U, 125U, 130U}) lose_one(wire, psn);
  for (std::uint32_t psn = 135; psn < 140; ++psn) wire.send(wire.make(a, b, write_only, psn));
  wire.answer(b, a, 136, nak_sequence);
  wire.send(wire.make(a, b, write_only, 136));
  wire.answer(b, a, 138);  // 137 and 138 had come behind 136, which was late
  for (std::uint32_t psn = 137; psn < 140; ++psn) wire.request(a, b, psn);
  wire.answer(b, a, 139);
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::after_capture), 3U);
}

TEST(TrackerLosses, WhereMostThatIsNamedWasLateANakProvesNothing) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  lose_one(wire, 120);
  std::uint32_t psn = 125;
  for (int i = 0; i < 6; ++i, psn += 4) {
    for (std::uint32_t k = 0; k < 4; ++k) wire.send(wire.make(a, b, write_only, psn + k));
    wire.answer(b, a, psn + 1, nak_sequence);
    wire.answer(b, a, psn + 3);  // nothing had to be sent again
  }
  lose_one(wire, psn);
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::after_capture), 0U);
  EXPECT_EQ(wire.connection().sent[0].count(Event::lost_after_capture), 0U);
}

/// Its receiver's IP layer discards it, whatever its ICRC says.
TEST(TrackerLosses, APacketWithAWrongIpHeaderIsLostBeforeTheCapture) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  PacketRecord damaged = wire.make(a, b, write_only, 120);
  damaged.more |= PacketRecord::bad_header;
  wire.send(damaged);
  for (std::uint32_t psn = 121; psn < 124; ++psn) wire.request(a, b, psn);
  wire.answer(b, a, 120, nak_sequence);
  for (std::uint32_t psn = 120; psn < 124; ++psn) wire.request(a, b, psn);
  wire.answer(b, a, 123);
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::before_capture), 1U);
  EXPECT_EQ(Wire::resent(wire.flow(a, b), Cause::nak), 4U);
  EXPECT_EQ(wire.flow(a, b).icrc_mismatches, 0U);
}

/// Captured on the sender, before its NIC writes the checksums.
TEST(TrackerLosses, WrongIpHeadersOfAllPacketsOfASenderMeanNothing) {
  Wire wire;
  const std::uint32_t first = 100;
  for (std::uint32_t psn = first; psn < 140; ++psn) {
    PacketRecord unfilled = wire.make(a, b, write_only, psn);
    unfilled.more |= PacketRecord::bad_header;
    wire.send(unfilled);
    wire.answer(b, a, psn);
  }
  wire.finish();
  const Flow& flow = wire.flow(a, b);
  EXPECT_EQ(Wire::lost(flow, Lost::before_capture), 0U);
  EXPECT_EQ(Wire::lost(flow, Lost::after_capture), 0U);
  EXPECT_LE(Wire::lost(flow, Lost::by_capture), 3U);  // the first ones, when nothing else was known yet
  EXPECT_GE(wire.connection().requester[0].requests, 36U);
}

/// What answers say is behind the end of what was captured of them: each may have been a NAK, or an ACK.
TEST(TrackerLosses, AnswersWithoutAethTellNeitherATimeoutNorThatNobodyAnswered) {
  for (const bool cut : {true, false}) {
    Wire wire;
    const auto acknowledged = [&](std::uint32_t psn) {
      PacketRecord r = wire.make(b, a, acknowledge, psn);
      if (!cut) r.flags |= PacketRecord::has_aeth;
      r.aeth = 0x1fU << 24U | (psn - 99);
      wire.send(r);
    };
    for (std::uint32_t psn = 100; psn < 120; ++psn) {
      wire.request(a, b, psn);
      acknowledged(psn);
    }
    wire.request(a, b, 120);
    std::uint32_t again = 0;
    for (int i = 0; i < 8; ++i) {
      wire.now_ns += 67'000'000;
      again = wire.request(a, b, 120);
      if (cut) acknowledged(120);
    }
    wire.finish(1'000'000'000);
    EXPECT_EQ(wire.verdict(again).cause, cut ? Cause::unknown : Cause::timeout);
    EXPECT_EQ(wire.connection().requester[0].retries_exhausted, !cut);
  }
}

/// As with IPv6: no ID, and a link that failed between a NAK and what is sent again.
TEST(TrackerLosses, WhatWasAskedForAndComesOnAnotherWayWasSentAgain) {
  Wire wire;
  const auto send = [&](std::uint32_t psn, std::uint32_t path) {
    PacketRecord r = wire.make(a, b, write_only, psn);
    r.more &= static_cast<std::uint8_t>(~PacketRecord::has_ip_id);
    r.ip_id = 0;
    r.path = path;
    return wire.send(r);
  };
  for (std::uint32_t psn = 100; psn < 120; ++psn) {
    send(psn, 1);
    wire.answer(b, a, psn);
  }
  for (std::uint32_t psn = 120; psn < 126; ++psn) send(psn, 1);
  wire.answer(b, a, 120, nak_sequence);
  for (std::uint32_t psn = 120; psn < 126; ++psn) send(psn, 2);
  wire.answer(b, a, 125);
  for (std::uint32_t psn = 126; psn < 130; ++psn) {
    send(psn, 2);
    wire.answer(b, a, psn);
  }
  wire.finish();
  const SequenceCounts& counts = wire.flow(a, b).sequence();
  EXPECT_EQ(counts.retransmitted_packets(), 6U);
  EXPECT_EQ(counts.duplicate_captures, 0U);
}

/// A mirror that holds its copies back: those of what was sent first come behind what was sent again.
TEST(TrackerLosses, CopiesOfTheFirstBehindARepeatAreNoOtherRepeat) {
  Wire wire;
  const auto send = [&](std::uint32_t psn) {
    const PacketRecord r = wire.make(a, b, write_only, psn);
    wire.send(r);
    return r;
  };
  for (std::uint32_t psn = 100; psn < 120; ++psn) {
    const PacketRecord sent = send(psn);
    wire.answer(b, a, psn);
    wire.send(sent);
  }
  std::vector<PacketRecord> first;
  for (std::uint32_t psn = 120; psn < 126; ++psn) first.push_back(send(psn));
  wire.answer(b, a, 120, nak_sequence);
  for (std::uint32_t psn = 120; psn < 126; ++psn) send(psn);
  for (PacketRecord copy : first) {
    copy.time_ns = wire.now_ns += 1000;
    wire.send(copy);
  }
  wire.answer(b, a, 125);
  wire.talk(a, b, 126, 5);
  wire.finish();
  const SequenceCounts& counts = wire.flow(a, b).sequence();
  EXPECT_EQ(counts.retransmitted_packets(), 6U);
  EXPECT_EQ(counts.spurious, 0U);
  EXPECT_EQ(counts.duplicate_captures + counts.duplicate_network, 26U);
}

TEST(TrackerLosses, AfterSilenceAnIdThatSeemsOldIsNone) {
  // A timer repeats what was confirmed here long ago; the host's counter has gone once around meanwhile.
  Wire wire;
  wire.talk(a, b, 100, 60);
  const std::uint16_t last_id = wire.make(a, b, write_only, 0).ip_id;
  wire.now_ns += 2'000'000;
  std::uint32_t again = 0;
  for (std::uint32_t psn = 110; psn < 114; ++psn) {
    PacketRecord r = wire.make(a, b, write_only, psn);
    r.ip_id = static_cast<std::uint16_t>(last_id - 30'000 + psn);
    const std::uint32_t frame = wire.send(r);
    if (psn == 110) again = frame;
  }
  wire.finish();
  EXPECT_TRUE(wire.verdict(again).has(Verdict::retransmission));
  EXPECT_EQ(wire.verdict(again).cause, Cause::timeout);
  EXPECT_EQ(wire.flow(a, b).sequence().duplicate_captures, 0U);
}

TEST(TrackerLosses, AnRnrNakWithoutATimeTellsNoWait) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  wire.request(a, b, 120);
  PacketRecord nak = wire.make(b, a, acknowledge, 120);
  nak.flags |= PacketRecord::has_aeth;
  nak.aeth = std::uint32_t{0x20 | 1} << 24U;  // RNR NAK, the timer's code 1
  nak.time_ns = capture::no_time;
  wire.send(nak);
  wire.now_ns += 1'000'000;
  const auto again = wire.request(a, b, 120);
  wire.answer(b, a, 120);
  wire.finish();
  EXPECT_EQ(wire.verdict(again).cause, Cause::rnr);
  const auto& rnr = wire.connection().requester[0].trouble->rnr;
  ASSERT_NE(rnr, nullptr);
  EXPECT_EQ(rnr->wait_ns.count(), 0U);
}

/// The capture misses one packet of a repeat that its NAK's responder needed, and confirms.
TEST(TrackerLosses, WhatARepeatLacksAndIsConfirmedTheCaptureMissed) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  for (std::uint32_t psn = 120; psn < 132; ++psn) wire.request(a, b, psn);
  wire.answer(b, a, 123, nak_sequence);
  for (std::uint32_t psn = 123; psn < 132; ++psn) {
    if (psn == 127) {
      static_cast<void>(wire.make(a, b, write_only, psn));
    } else {
      wire.request(a, b, psn);
    }
  }
  wire.answer(b, a, 131);
  wire.talk(a, b, 132, 5);
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::by_capture), 1U);
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::before_capture), 0U);
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::after_capture), 1U);
}

}  // namespace
}  // namespace tracker_losses_test
}  // namespace roce::analyze
