// SPDX-License-Identifier: Apache-2.0
// How often a timer ran out: resends after silence, READs that stood still among them.
#include <initializer_list>
#include <utility>

#include "analyze/tracker/tracker.hpp"
#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace tracker_timeouts_test {
namespace {

constexpr End a{1, 0x11};
constexpr End b{2, 0x22};
constexpr std::int64_t timer_ns = 67'000'000;

const RequesterTrouble& trouble(const Wire& wire) {
  return *wire.connection().requester[0].trouble;
}

/// A READ of so many responses, from the i-th of which on it is answered.
void answer_read(Wire& wire, std::uint32_t psn, std::uint32_t count, std::uint32_t from = 0) {
  for (std::uint32_t i = from; i < count; ++i) {
    const std::uint8_t opcode = count == 1 ? 0x10 : i == 0 ? 0x0d : i == count - 1 ? 0x0f : 0x0e;
    PacketRecord r = wire.make(b, a, opcode, psn + i);
    r.payload = 1024;
    if (opcode != 0x0e) {
      r.flags |= PacketRecord::has_aeth;
      r.aeth = 0x1f000000U + psn;
    }
    wire.send(r);
  }
}
void ask(Wire& wire, std::uint32_t psn, std::uint32_t count) {
  PacketRecord r = wire.make(a, b, read_request, psn);
  r.dma_length = count * 1024;
  wire.send(r);
}
std::uint32_t read_well(Wire& wire, std::uint32_t psn, unsigned times) {
  for (unsigned i = 0; i < times; ++i, psn += 4) {
    ask(wire, psn, 4);
    answer_read(wire, psn, 4);
  }
  return psn;
}

// A later ACK tells the requester that the answer to its ATOMIC is missing (implied NAK): no timer ran out.
// The first time is known although it is long ago.
TEST(TrackerTimeouts, AnAtomicWhoseAnswerIsMissingIsAskedForAgain) {
  constexpr std::uint8_t fetch_add = 0x14, atomic_acknowledge = 0x12;
  Wire wire;
  wire.talk(a, b, 0, 50);
  const auto answer = [&] {
    PacketRecord r = wire.make(b, a, atomic_acknowledge, 50);
    r.flags |= PacketRecord::has_aeth;
    r.aeth = 0x1fU << 24U | 51U;
    wire.send(r);
  };
  const std::uint32_t first = wire.request(a, b, 50, fetch_add);
  wire.request(a, b, 51);
  answer();  // lost behind the capture
  wire.answer(b, a, 51);
  wire.now_ns += 5'000;
  const std::uint32_t again = wire.request(a, b, 50, fetch_add);
  wire.request(a, b, 51);
  answer();
  wire.answer(b, a, 51);
  wire.talk(a, b, 52, 20);
  wire.finish();
  EXPECT_EQ(wire.verdict(again).original, first);
  EXPECT_TRUE(wire.verdict(again).has(Verdict::spurious));
  EXPECT_EQ(trouble(wire).needless[static_cast<std::size_t>(SpuriousReason::atomic_answer)], 2U);
  EXPECT_EQ(trouble(wire).needless[static_cast<std::size_t>(SpuriousReason::timer)], 0U);
}

// The sender waits far less than the RNR NAK says. No timer runs meanwhile.
TEST(TrackerTimeouts, WhoRepeatsTooSoonAfterAnRnrNakRepeatsForIt) {
  Wire wire;
  wire.talk(a, b, 0, 50);
  wire.request(a, b, 50);
  std::vector<std::uint32_t> repeats;
  for (int i = 0; i < 4; ++i) {
    wire.answer(b, a, 50, rnr_code_14);  // 1.28 ms
    wire.now_ns += 300'000;
    repeats.push_back(wire.request(a, b, 50));
  }
  wire.answer(b, a, 50);
  wire.talk(a, b, 51, 20);
  wire.finish();
  for (const std::uint32_t repeat : repeats) EXPECT_EQ(wire.verdict(repeat).cause, Cause::rnr);
  EXPECT_EQ(Wire::resent(wire.flow(a, b), Cause::rnr), 4U);
  EXPECT_EQ(wire.flow(a, b).sequence().retransmitted_packets(), 4U);
}

// Sent again before the RNR NAK came to its sender: the reaction to that is still to come.
TEST(TrackerTimeouts, WhatWasUnderWayWhenAnRnrNakCameIsNoReaction) {
  Wire wire;
  wire.talk(a, b, 0, 50);
  wire.request(a, b, 50);
  wire.now_ns += 5'000'000;
  wire.answer(b, a, 50, rnr_code_14);
  const std::uint32_t by_timer = wire.request(a, b, 50);
  wire.now_ns += 1'300'000;
  const std::uint32_t reaction = wire.request(a, b, 50);
  wire.answer(b, a, 50);
  wire.talk(a, b, 51, 20);
  wire.finish();
  EXPECT_NE(wire.verdict(by_timer).cause, Cause::rnr);
  EXPECT_EQ(wire.verdict(reaction).cause, Cause::rnr);
  EXPECT_EQ(Wire::resent(wire.flow(a, b), Cause::rnr), 1U);
}

TEST(TrackerTimeouts, EachResendOfAChainIsOne) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  for (int i = 0; i < 5; ++i) {
    wire.request(a, b, 120);
    wire.request(a, b, 121);
    wire.now_ns += timer_ns;
  }
  wire.request(a, b, 120);
  wire.request(a, b, 121);
  wire.answer(b, a, 121);
  wire.talk(a, b, 122, 3);
  wire.finish();
  EXPECT_EQ(trouble(wire).chains, 1U);
  EXPECT_EQ(trouble(wire).timeouts, 5U);
  EXPECT_EQ(trouble(wire).read_timeouts, 0U);
  EXPECT_FALSE(trouble(wire).worst_chain.needless);
}

/// Adaptive timers wait twice as long each time: the shortest wait, the first, is the timer that was set.
TEST(TrackerTimeouts, WhereWaitsDoubleTheFirstIsTheTimer) {
  constexpr std::int64_t ms = 1'000'000;
  const auto spacings = [&](std::initializer_list<std::int64_t> waits) {
    Wire wire;
    wire.talk(a, b, 100, 20);
    wire.request(a, b, 120);
    for (const std::int64_t wait : waits) {
      wire.now_ns += wait - 1000;
      wire.request(a, b, 120);
    }
    wire.finish();
    const RetryChain& chain = trouble(wire).worst_chain;
    return std::pair(chain.min_spacing_ns, chain.max_spacing_ns);
  };
  using Pair = std::pair<std::uint64_t, std::uint64_t>;
  EXPECT_EQ(spacings({4 * ms, 8 * ms, 16 * ms, 32 * ms}), Pair(4 * ms, 32 * ms));
  // A timer that was running already when the packet was sent.
  EXPECT_EQ(spacings({4 * ms, 67 * ms, 67 * ms, 67 * ms}), Pair(67 * ms, 67 * ms));
  EXPECT_EQ(spacings({4 * ms}), Pair(0, 0));
}

/// One PSN never comes to the capture, and the responder waits for it.
TEST(TrackerTimeouts, APacketThatNeverPasses) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  for (int i = 0; i < 5; ++i) {
    for (std::uint32_t psn = 120; psn < 124; ++psn) {
      if (psn == 121) {
        static_cast<void>(wire.make(a, b, write_only, psn));
      } else if (psn != 120 || i == 0) {
        wire.request(a, b, psn);
      }
    }
    if (i == 0) wire.answer(b, a, 121, nak_sequence);
    wire.now_ns += timer_ns;
  }
  wire.finish();
  const RetryChain& chain = trouble(wire).worst_chain;
  EXPECT_EQ(chain.psn, 122U);
  EXPECT_EQ(chain.missing_before, 1U);
}

TEST(TrackerTimeouts, AReadThatNothingAnswersStandsStill) {
  Wire wire;
  std::uint32_t psn = read_well(wire, 100, 20);
  for (int i = 0; i < 3; ++i) {
    ask(wire, psn, 4);
    wire.now_ns += timer_ns;
    ask(wire, psn, 4);
    answer_read(wire, psn, 4);
    psn = read_well(wire, psn + 4, 5);
  }
  wire.finish();
  EXPECT_EQ(trouble(wire).timeouts, 3U);
  EXPECT_EQ(trouble(wire).read_timeouts, 3U);
}

TEST(TrackerTimeouts, AReadThatMissesAResponseDoesNot) {
  Wire wire;
  std::uint32_t psn = read_well(wire, 100, 20);
  for (int i = 0; i < 3; ++i) {
    ask(wire, psn, 4);
    answer_read(wire, psn, 1);
    answer_read(wire, psn, 4, 2);  // the second is missing
    wire.now_ns += 3'000'000;      // a slow host
    ask(wire, psn + 1, 3);
    answer_read(wire, psn + 1, 3);
    psn = read_well(wire, psn + 4, 5);
  }
  wire.finish();
  EXPECT_EQ(trouble(wire).chains, 3U);
  EXPECT_EQ(trouble(wire).timeouts, 0U);
}

/// A READ is reissued as a whole, then its rest: that waited for the second request, not for the first.
TEST(TrackerTimeouts, TheRestOfAReadWaitedForTheReadAsItWasReissued) {
  Wire wire;
  const std::uint32_t psn = read_well(wire, 100, 20);
  ask(wire, psn, 32);
  wire.now_ns += timer_ns;
  ask(wire, psn, 32);
  const std::uint64_t reissued = wire.sent();
  for (std::uint32_t i = 0; i < 14; ++i) {
    PacketRecord r = wire.make(b, a, i == 0 ? 0x0d : 0x0e, psn + i);
    r.payload = 1024;
    wire.send(r);
  }
  wire.now_ns += 2 * timer_ns;
  ask(wire, psn + 14, 18);
  const std::uint64_t rest = wire.sent();
  answer_read(wire, psn + 14, 18);
  wire.finish();
  const RetryChain& chain = trouble(wire).worst_chain;
  EXPECT_EQ(chain.psn, psn + 14);
  EXPECT_EQ(chain.reissued_after, 14U);
  EXPECT_EQ(chain.first_frame, reissued);
  EXPECT_EQ(chain.last_frame, rest);
}

/// The rest of a READ is requested three times: the second time soon after the first, the last time after a
/// timeout. Each waited for the request before it, which begins earlier.
TEST(TrackerTimeouts, TheRestOfAReadWaitedForTheLastRequestThatCoversIt) {
  Wire wire;
  const std::uint32_t psn = read_well(wire, 100, 20);
  ask(wire, psn, 8);
  answer_read(wire, psn, 2);
  wire.now_ns += timer_ns;
  ask(wire, psn + 2, 6);
  const std::uint64_t covering = wire.sent();
  answer_read(wire, psn + 2, 1);
  wire.now_ns += timer_ns * 2;
  PacketRecord stalled = wire.make(a, b, read_request, psn + 4);
  stalled.dma_length = 4 * 1024;
  const std::uint32_t frame = wire.send(stalled);
  answer_read(wire, psn + 4, 2);
  ask(wire, psn + 6, 2);  // soon: no series of two packets took longer than the one before
  answer_read(wire, psn + 6, 2);
  wire.finish();
  const RetryChain& chain = trouble(wire).worst_chain;
  EXPECT_EQ(chain.psn, psn + 4);
  EXPECT_EQ(chain.resends, 1U);
  EXPECT_TRUE(chain.first_seen);
  EXPECT_EQ(chain.reissued_after, 2U);
  EXPECT_EQ(chain.first_frame, covering);
  EXPECT_EQ(chain.last_frame, frame);
  EXPECT_NEAR(static_cast<double>(chain.last_time_ns - chain.first_time_ns), 2.0 * timer_ns, 1e5);
}

TEST(TrackerTimeouts, ANakedRepeatIsNone) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  wire.request(a, b, 121);
  wire.now_ns += timer_ns;
  wire.answer(b, a, 120, nak_sequence);
  wire.request(a, b, 120);
  wire.request(a, b, 121);
  wire.answer(b, a, 121);
  wire.finish();
  EXPECT_EQ(trouble(wire).timeouts, 0U);
}

TEST(TrackerTimeouts, AChainOfWhatHadBeenAnsweredIsNeedless) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  wire.request(a, b, 120);
  wire.answer(b, a, 120);  // which did not arrive
  wire.now_ns += timer_ns;
  wire.request(a, b, 120);
  wire.answer(b, a, 120);
  wire.talk(a, b, 121, 3);
  wire.finish();
  EXPECT_TRUE(trouble(wire).worst_chain.needless);
}

/// Request 120 and so many repeats of it.
void repeat(Wire& wire, int times) {
  wire.talk(a, b, 100, 20);
  wire.request(a, b, 120);
  for (int i = 0; i < times; ++i) {
    wire.now_ns += timer_ns;
    wire.request(a, b, 120);
  }
}
constexpr std::int64_t long_ns = 20 * timer_ns;

TEST(TrackerTimeouts, WhatIsNeverCompletedWasRetriedAllTheSame) {
  Wire wire;
  repeat(wire, 3);
  wire.finish(long_ns);
  const Requester& requester = wire.connection().requester[0];
  ASSERT_EQ(requester.operations.size(), 1U);
  EXPECT_EQ(requester.operations[0].count, 20U);  // the last was never taken
  EXPECT_EQ(requester.operations[0].retried, 1U);
}

TEST(TrackerTimeouts, AnAnswerToTheLastRepeatEndsAChainWell) {
  Wire wire;
  repeat(wire, 3);
  wire.now_ns += timer_ns / 100;
  wire.answer(b, a, 120);
  wire.finish(long_ns);
  EXPECT_FALSE(wire.connection().requester[0].retries_exhausted);
  EXPECT_EQ(wire.connection().state, Connection::State::open);
}

TEST(TrackerTimeouts, AnAnswerWhenTheNextRepeatWasLongDueComesTooLate) {
  Wire wire;
  repeat(wire, 3);
  wire.now_ns += 3 * timer_ns;
  wire.answer(b, a, 120);
  wire.finish(long_ns);
  EXPECT_TRUE(wire.connection().requester[0].retries_exhausted);
  EXPECT_TRUE(trouble(wire).worst_chain.too_late);
}

TEST(TrackerTimeouts, WhoRepeatsInSpiteOfAnswersHeardNone) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  wire.request(a, b, 120);
  wire.answer(b, a, 120);
  for (int i = 0; i < 7; ++i) {
    wire.now_ns += timer_ns;
    wire.request(a, b, 120);
    wire.answer(b, a, 120);
  }
  wire.finish(long_ns);
  EXPECT_TRUE(wire.connection().requester[0].retries_exhausted);
  EXPECT_TRUE(trouble(wire).worst_chain.needless);
}

/// One retransmission and silence: with retries left, the requester did not give up.
TEST(TrackerTimeouts, RetriesAreExhaustedWhenAllWereMade) {
  for (const std::optional<std::uint8_t> count :
       {std::optional<std::uint8_t>(), std::optional<std::uint8_t>(7), std::optional<std::uint8_t>(1)}) {
    Wire wire;
    if (count) wire.connect(a, b, 0, 0, count);
    wire.talk(a, b, 100, 20);
    wire.request(a, b, 120);
    wire.now_ns += timer_ns;
    wire.request(a, b, 120);
    wire.finish(10 * timer_ns);
    const Connection& c = wire.connection();
    const bool all = count == 1;
    EXPECT_EQ(c.requester[0].retries_exhausted, all);
    EXPECT_EQ(c.sent[0].count(Event::retries_exhausted), all ? 1U : 0U);
    EXPECT_EQ(c.state, all ? Connection::State::failed : Connection::State::open);
  }
}

TEST(TrackerTimeouts, AQueuePairThatStillAnswersHasNotGivenUp) {
  Wire wire;
  wire.talk(b, a, 500, 20);
  repeat(wire, 4);
  wire.now_ns += 4 * timer_ns;
  wire.talk(b, a, 520, 3);
  wire.finish(long_ns);
  for (const Requester& requester : wire.connection().requester) EXPECT_FALSE(requester.retries_exhausted);
}

TEST(TrackerTimeouts, TheLastOfManyRepeatsMayBeAnsweredBehindTheCapture) {
  Wire wire;
  repeat(wire, 7);
  wire.finish(0);
  EXPECT_FALSE(wire.connection().requester[0].retries_exhausted);
}

TEST(TrackerTimeouts, ANakForWhatIsOlderThanTheCaptureSaysThatItWasNotConfirmed) {
  Wire wire;
  for (std::uint32_t psn = 103; psn < 106; ++psn) wire.request(a, b, psn);
  wire.answer(b, a, 100, nak_sequence);
  for (std::uint32_t psn = 100; psn < 106; ++psn) wire.request(a, b, psn);
  wire.answer(b, a, 105);
  wire.talk(a, b, 106, 20);
  wire.finish();
  EXPECT_EQ(wire.flow(a, b).sequence().retransmitted_packets(), 6U);
  EXPECT_EQ(wire.flow(a, b).sequence().spurious, 0U);
}

/// The peer died when only another queue pair had heard of it, and too little to tell whose answers these
/// were: but what it sends would be in the capture. So the silence was real, and the timer ran out.
TEST(TrackerTimeouts, WhereThePeersAnswersAreCapturedItsSilenceIsReal) {
  for (const bool heard : {true, false}) {
    Wire wire;
    wire.port = 4791;
    constexpr End other_a{1, 0x31}, other_b{2, 0x32};
    constexpr std::uint32_t psn = 0x300000, many = 600;
    wire.request(other_a, other_b, 0x200000);
    if (heard) wire.answer(other_b, other_a, 0x200000);
    for (std::uint32_t i = 0; i < many; ++i, wire.now_ns += 50'000) wire.request(a, b, psn + i);
    std::uint32_t again = 0;
    for (std::uint32_t i = 0; i < many; ++i) again = wire.request(a, b, psn + i);
    wire.finish();
    EXPECT_EQ(wire.verdict(again).cause, heard ? Cause::timeout : Cause::unknown);
  }
}

}  // namespace
}  // namespace tracker_timeouts_test
}  // namespace roce::analyze
