// SPDX-License-Identifier: Apache-2.0
// What a responder answers that is asked again, or keeps what came early.
#include "tests/analyze/tracker/reads.hpp"

namespace roce::analyze::tracker_reads_test {
namespace {

/// A NAK makes the sender repeat one packet alone; the responder keeps what came behind it.
TEST(TrackerReadsRepeated, AResponderThatKeepsEarlyRequestsAnswersThemOnceTheHoleIsFilled) {
  Wire wire;
  warm_up(wire);
  const auto asked = wire.request(a, b, 124);
  wire.request(a, b, 125, read_request);
  wire.request(a, b, 126, read_request);
  wire.answer(b, a, 124, nak_sequence);
  wire.request(a, b, 124);     // also lost
  wire.now_ns += 100'000'000;  // timer
  const auto again = wire.request(a, b, 124);
  wire.request(a, b, 125, read_request);
  const auto kept = wire.send(wire.make(b, a, read_response_only, 125));
  wire.request(a, b, 126, read_request);
  const auto kept_too = wire.send(wire.make(b, a, read_response_only, 126));
  const auto second = wire.send(wire.make(b, a, read_response_only, 125));
  const auto second_too = wire.send(wire.make(b, a, read_response_only, 126));
  wire.finish();
  EXPECT_FALSE(wire.verdict(asked).has(Verdict::retransmission));
  EXPECT_EQ(wire.verdict(again).cause, Cause::timeout);
  EXPECT_FALSE(wire.verdict(kept).has(Verdict::retransmission));
  EXPECT_FALSE(wire.verdict(kept_too).has(Verdict::retransmission));
  EXPECT_EQ(wire.verdict(second).cause, Cause::read_retry);
  EXPECT_EQ(wire.verdict(second_too).cause, Cause::read_retry);
}

TEST(TrackerReadsRepeated, WhatSeemedLostButWasKeptIsAnsweredTwice) {
  Wire wire;
  warm_up(wire);
  wire.request(a, b, 124);
  for (std::uint32_t psn = 125; psn < 129; ++psn) wire.request(a, b, psn, read_request);
  wire.now_ns += 100'000'000;  // 124 was lost, and the responder kept the READs
  wire.request(a, b, 124);
  for (std::uint32_t psn = 125; psn < 129; ++psn) wire.request(a, b, psn, read_request);
  std::array<std::uint32_t, 2> kept{};
  kept[0] = wire.send(wire.make(b, a, read_response_only, 125));
  kept[1] = wire.send(wire.make(b, a, read_response_only, 126));
  const auto repeat = wire.send(wire.make(b, a, read_response_only, 125));
  wire.send(wire.make(b, a, read_response_only, 126));
  const auto first_one = wire.send(wire.make(b, a, read_response_only, 127));
  wire.finish();
  EXPECT_FALSE(wire.verdict(kept[0]).has(Verdict::retransmission));
  EXPECT_FALSE(wire.verdict(kept[1]).has(Verdict::retransmission));
  EXPECT_EQ(wire.verdict(repeat).cause, Cause::read_retry);
  EXPECT_FALSE(wire.verdict(first_one).has(Verdict::retransmission));
}

/// Nothing shows whether the READ was lost or its responses were. Of a READ the later responses answer the
/// request that was issued last, too: else one standstill is taken for how long answers take, and the next
/// one for no silence.
TEST(TrackerReadsRepeated, TheFirstResponsesToAReadThatTheTimerSentAgainAreNoRepeats) {
  Wire wire;
  warm_up(wire);
  constexpr std::uint32_t reads = 20;
  std::uint32_t psn = 124;
  for (std::uint32_t i = 0; i < reads; ++i, psn += 8) {
    read(wire, psn, 8);
    if (i % 4 == 3) {
      wire.now_ns += 134'000'000;
      read(wire, psn, 8);
    }
    respond(wire, psn, psn + 8);
  }
  wire.finish();
  EXPECT_EQ(Wire::resent(wire.flow(b, a), Cause::read_retry), 0U);
  EXPECT_EQ(Wire::resent(wire.flow(a, b), Cause::read_retry), reads / 4);
  EXPECT_EQ(wire.flow(b, a).sequence().gaps, 0U);
  EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::before_capture), 0U);
}

/// The first request was answered, slowly, or the second one: one set of responses is no proof of another.
TEST(TrackerReadsRepeated, OneSetOfResponsesToAReadSentTwiceHasNoGap) {
  Wire wire;
  warm_up(wire);
  read(wire, 124, 8);
  wire.now_ns += 1'100'000;
  read(wire, 124, 8);
  respond(wire, 124, 132);
  read(wire, 132, 8);
  respond(wire, 132, 140);
  wire.finish();
  EXPECT_EQ(wire.flow(b, a).sequence().gaps, 0U);
}

/// A response behind the missing one asks for it, and for all requests behind the READ: no timer did.
TEST(TrackerReadsRepeated, WhatGoesWithAReadAskedForAgainAtOnceIsNoTimeout) {
  for (const bool at_once : {true, false}) {
    Wire wire;
    warm_up(wire);
    read(wire, 124, 4);
    wire.request(a, b, 128);
    wire.send(response(wire, 124, first));
    wire.send(response(wire, 126, middle));
    wire.send(response(wire, 127, last));
    wire.now_ns += at_once ? 5000 : 67'000'000;
    read(wire, 125, 3);
    const auto write = wire.request(a, b, 128);
    respond(wire, 125, 128);
    wire.answer(b, a, 128);
    wire.finish();
    EXPECT_EQ(wire.verdict(write).cause, at_once ? Cause::read_retry : Cause::timeout);
  }
}

TEST(TrackerReadsRepeated, ResponsesGivenAgainAreToldFromRequestsSentAgain) {
  Wire wire;
  warm_up(wire);
  read(wire, 124, 8);
  respond(wire, 124, 132);
  wire.now_ns += 10'000;
  read(wire, 126, 6);
  respond(wire, 126, 132, false);
  wire.finish();
  const Connection& c = wire.connection();
  EXPECT_EQ(c.sent[0].count(Event::retransmitted_read_retry), 1U);
  EXPECT_EQ(c.sent[0].count(Event::response_repeated), 0U);
  EXPECT_EQ(c.sent[1].count(Event::retransmitted_read_retry), 6U);
  EXPECT_EQ(c.sent[1].count(Event::response_repeated), 6U);
}

TEST(TrackerReadsRepeated, ALateCopyOfAResponseGivenAgainSinceIsACopy) {
  Wire wire;
  warm_up(wire);
  read(wire, 124, 4);
  wire.send(response(wire, 124, first));
  wire.send(response(wire, 125, middle));
  PacketRecord doubled = response(wire, 126, middle);
  const auto original = wire.send(doubled);
  wire.send(response(wire, 127, last));
  wire.now_ns += 10'000;
  read(wire, 125, 3);
  respond(wire, 125, 128, false);
  doubled.time_ns = wire.now_ns += 1000;
  const auto copy = wire.send(doubled);
  wire.finish();
  EXPECT_TRUE(wire.verdict(copy).has(Verdict::duplicate_network));
  EXPECT_FALSE(wire.verdict(copy).has(Verdict::retransmission));
  EXPECT_EQ(wire.verdict(copy).original, original);
  EXPECT_EQ(Wire::resent(wire.flow(b, a), Cause::read_retry), 3U);
}

/// Its answers came for the first time: the READ had not been executed, for it was behind what a NAK asked
/// for.
TEST(TrackerReadsRepeated, AReadBehindANakIsAnsweredWhenItComesAgain) {
  Wire wire;
  warm_up(wire);
  constexpr std::uint8_t fetch_add = 0x14, atomic_acknowledge = 0x12;
  const auto answer_atomic = [&] {
    PacketRecord r = wire.make(b, a, atomic_acknowledge, 124);
    r.flags |= PacketRecord::has_aeth;
    r.aeth = 0x1f000018U;
    wire.send(r);
  };
  wire.request(a, b, 124, fetch_add);
  for (std::uint32_t psn = 125; psn < 130; ++psn) wire.request(a, b, psn);
  answer_atomic();
  wire.answer(b, a, 125, nak_sequence);
  read(wire, 130, 4);
  wire.request(a, b, 134);
  wire.now_ns += 5'000;
  wire.request(a, b, 124, fetch_add);  // its answer was lost behind the capture
  for (std::uint32_t psn = 125; psn < 128; ++psn) wire.request(a, b, psn);
  answer_atomic();
  for (std::uint32_t psn = 128; psn < 130; ++psn) wire.request(a, b, psn);
  read(wire, 130, 4);
  wire.request(a, b, 134);
  wire.answer(b, a, 129);
  respond(wire, 130, 134);
  wire.answer(b, a, 134);
  wire.talk(a, b, 135, 5);
  wire.finish();
  EXPECT_EQ(wire.flow(b, a).sequence().out_of_order, 0U);
  EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::before_capture), 0U);
}

/// Eight READs come twice and are answered once, the first with that count of messages (MSN), each by `step`
/// more.
std::uint64_t responses_anew(std::uint32_t msn, std::uint32_t step) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  for (unsigned times = 0; times < 2; ++times) {
    for (std::uint32_t i = 0; i < 8; ++i) read(wire, 120 + i, 1);
    wire.now_ns += 4'000'000;
  }
  for (std::uint32_t i = 0; i < 8; ++i, msn += step) {
    PacketRecord r = response(wire, 120 + i, read_response_only);
    r.flags |= PacketRecord::has_aeth;
    r.aeth = 0x1f000000U | msn;
    wire.send(r);
  }
  wire.finish();
  // Whether the first of them had been sent before nobody knows: a responder may execute long before it
  // answers.
  EXPECT_EQ(Wire::resent(wire.flow(b, a), Cause::read_retry), step != 0 ? 0U : 7U);
  return wire.connection().requester[0].trouble->responses_anew;
}

TEST(TrackerReadsRepeated, WhatIsExecutedWhenItComesAgainIsKnownByItsCount) {
  EXPECT_EQ(responses_anew(21, 1), 8U) << "the READs were lost";
  EXPECT_LE(responses_anew(28, 0), 1U) << "the responses were, and are given again";
}

TEST(TrackerReadsRepeated, ItLastsUntilWhatIsAskedForAgainHasCome) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  PacketRecord read = wire.make(a, b, read_request, 120);
  read.dma_length = 4096;
  const auto respond = [&](std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t i = from; i < to; ++i) {
      PacketRecord r = wire.make(b, a, i == from ? 0x0d : i == 3 ? 0x0f : 0x0e, 120 + i);
      r.payload = 1024;
      if (i == from || i == 3) {
        r.flags |= PacketRecord::has_aeth;
        r.aeth = 0x1f000000U | 21;
      }
      wire.send(r);
    }
  };
  const std::int64_t began = read.time_ns;
  wire.send(read);
  respond(0, 4);
  wire.now_ns += timer_ns;
  PacketRecord again = wire.make(a, b, read_request, 122);
  again.dma_length = 2048;
  wire.send(again);
  respond(2, 4);
  const std::int64_t ended = wire.now_ns;
  wire.talk(a, b, 124, 5);
  wire.finish();
  for (const OperationStats& stats : wire.connection().requester[0].operations) {
    if (stats.kind != OperationKind::read) continue;
    EXPECT_EQ(stats.count, 1U);
    EXPECT_EQ(stats.retried, 1U);
    EXPECT_EQ(stats.latency_ns.count(), 1U);
    EXPECT_EQ(stats.latency_ns.max(), static_cast<std::uint64_t>(ended - began));
  }
  EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::after_capture), 1U);
}

/// A requester that keeps what it got asks for what is missing alone.
TEST(TrackerReadsRepeated, OneMissingResponseEndsTheRead) {
  for (const bool before : {true, false}) {
    Wire wire;
    warm_up(wire);
    const std::int64_t began_ns = wire.now_ns + 1000;
    read(wire, 124, 8);
    for (std::uint32_t psn = 124; psn < 132; ++psn) {
      const PacketRecord r = response(wire, psn, psn == 124 ? first : psn == 131 ? last : middle);
      if (psn != 127 || !before) wire.send(r);
    }
    wire.now_ns += 5'000;
    read(wire, 127, 1);
    wire.send(response(wire, 127, read_response_only));
    const auto took = static_cast<std::uint64_t>(wire.now_ns - began_ns);
    for (std::uint32_t psn = 132; psn < 260; psn += 4) {
      read(wire, psn, 4);
      respond(wire, psn, psn + 4);
    }
    wire.finish();
    const auto& operations = wire.connection().requester[0].operations;
    const auto reads = std::find_if(operations.begin(), operations.end(),
                                    [](const OperationStats& o) { return o.kind == OperationKind::read; });
    ASSERT_NE(reads, operations.end());
    EXPECT_EQ(reads->count, 34U) << before;
    EXPECT_EQ(reads->latency_ns.count(), 34U) << before;
    EXPECT_EQ(reads->latency_ns.max(), took) << before;
    EXPECT_EQ(reads->retried, 1U) << before;
  }
}

/// A responder that is asked again leaves what it was sending, and goes on from there: the rest was not sent
/// before.
TEST(TrackerReadsRepeated, AResponderThatGoesBackAtOnce) {
  for (const bool ids : {true, false}) {
    Wire wire;
    const auto send = [&](PacketRecord r) {
      if (!ids) r.more = static_cast<std::uint8_t>(r.more & ~PacketRecord::has_ip_id);
      return wire.send(r);
    };
    warm_up(wire);
    read(wire, 124, 400);
    for (std::uint32_t psn = 124; psn < 324; ++psn) {
      const PacketRecord r = response(wire, psn, psn == 124 ? first : middle);
      if (psn != 300) send(r);
    }
    read(wire, 300, 224);
    for (std::uint32_t psn = 300; psn < 524; ++psn)
      send(response(wire, psn, psn == 300 ? first : psn == 523 ? last : middle));
    for (std::uint32_t psn = 524; psn < 700; psn += 4) {
      read(wire, psn, 4);
      respond(wire, psn, psn + 4);
    }
    wire.finish();
    EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::before_capture), 1U) << ids;
    EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::by_capture), 0U) << ids;
    EXPECT_EQ(Wire::resent(wire.flow(b, a), Cause::read_retry), 24U) << ids;
  }
}

/// The response of one READ never came, those behind it did. A requester that asks for it again, time after
/// time and in vain, does not have it.
TEST(TrackerReadsRepeated, WhatIsAskedForAgainInVainWasNotDelivered) {
  Wire wire;
  warm_up(wire);
  const auto ask = [&] {
    read(wire, 124, 1);
    read(wire, 125, 40);
    read(wire, 165, 40);
    read(wire, 205, 1);
  };
  ask();
  respond(wire, 125, 165);
  ask();
  for (int times = 0; times < 3; ++times) {
    wire.now_ns += 100 * timer_ns;
    ask();
    wire.send(response(wire, 205, read_response_only));
  }
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::by_capture), 0U);
}

/// The capture misses most of an answer, and one packet of what it misses was lost. A READ that is asked
/// again from that one on says that all before it had come.
TEST(TrackerReadsRepeated, WhatIsBeforeAReadAskedAgainInPartWasDelivered) {
  for (const bool ids : {true, false}) {
    SCOPED_TRACE(ids);
    Wire wire;
    const auto send = [&](PacketRecord r) {
      if (!ids) r.more = static_cast<std::uint8_t>(r.more & ~PacketRecord::has_ip_id);
      return wire.send(r);
    };
    warm_up(wire);
    read(wire, 124, 200);
    for (std::uint32_t psn = 124; psn < 324; ++psn) {
      const PacketRecord r = response(wire, psn, psn == 124 ? first : psn == 323 ? last : middle);
      if (psn < 129 || psn >= 314) send(r);
    }
    wire.now_ns += 20'000;
    read(wire, 309, 15);
    for (std::uint32_t psn = 309; psn < 324; ++psn)
      send(response(wire, psn, psn == 309 ? first : psn == 323 ? last : middle));
    wire.now_ns += 5 * timer_ns;
    for (std::uint32_t psn = 324; psn < 444; ++psn) {
      read(wire, psn, 1);
      send(response(wire, psn, read_response_only));
    }
    wire.finish();
    const auto& rows = wire.result.gaps.rows;
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].psns, 180U);
    EXPECT_TRUE(rows[0].delivered);
    EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::by_capture), 180U);
  }
}

}  // namespace
}  // namespace roce::analyze::tracker_reads_test
