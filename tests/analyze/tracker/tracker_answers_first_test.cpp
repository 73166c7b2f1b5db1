// SPDX-License-Identifier: Apache-2.0
// Answers that are captured before what they answer: nothing is lost, late or sent again.
#include "analyze/tracker/tracker.hpp"
#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace tracker_answers_first_test {
namespace {

constexpr End a{1, 0x11};
constexpr End b{2, 0x22};

constexpr std::uint8_t first = 0x0d;
constexpr std::uint8_t middle = 0x0e;
constexpr std::uint8_t last = 0x0f;

/// With IPv4 IDs that rise, and without.
class TrackerAnswersFirst : public ::testing::TestWithParam<bool> {
 protected:
  std::uint32_t send(PacketRecord r) {
    if (!GetParam()) {
      r.more = static_cast<std::uint8_t>(r.more & ~PacketRecord::has_ip_id);
      r.ip_id = 0;
    }
    return wire.send(r);
  }
  PacketRecord request(std::uint32_t psn) { return wire.make(a, b, write_only, psn); }
  PacketRecord ack(std::uint32_t psn) {
    PacketRecord r = wire.make(b, a, acknowledge, psn);
    r.flags |= PacketRecord::has_aeth;
    r.aeth = 0x1fU << 24U | (psn - 99);
    return r;
  }
  PacketRecord read(std::uint32_t psn, std::uint32_t count) {
    PacketRecord r = wire.make(a, b, read_request, psn);
    r.dma_length = count * 1024;
    return r;
  }
  PacketRecord response(std::uint32_t psn, std::uint8_t opcode) {
    PacketRecord r = wire.make(b, a, opcode, psn);
    r.payload = 1024;
    return r;
  }
  void talk(std::uint32_t psn, std::uint32_t end) {
    for (; psn < end; ++psn) {
      send(request(psn));
      send(ack(psn));
    }
  }
  void expect_nothing_wrong() {
    for (const Flow* flow : {&wire.flow(a, b), &wire.flow(b, a)}) {
      for (const Lost where : {Lost::before_capture, Lost::after_capture, Lost::by_capture}) {
        EXPECT_EQ(Wire::lost(*flow, where), 0U);
      }
      EXPECT_EQ(flow->sequence().out_of_order, 0U);
      EXPECT_EQ(flow->sequence().gaps, 0U);
    }
    for (std::uint32_t number = 1; number <= wire.sent(); ++number) {
      EXPECT_FALSE(wire.verdict(number).has(Verdict::retransmission)) << number;
      EXPECT_FALSE(wire.verdict(number).has(Verdict::ack_unseen)) << number;
      EXPECT_FALSE(wire.verdict(number).has(Verdict::illegal_sequence)) << number;
    }
  }

  Wire wire;
};

TEST_P(TrackerAnswersFirst, OneRequest) {
  talk(100, 120);
  const PacketRecord behind = request(120);
  send(ack(120));
  send(behind);
  talk(121, 125);
  wire.finish();
  expect_nothing_wrong();
  ASSERT_NE(wire.connection().requester[0].operation(OperationKind::write), nullptr);
  EXPECT_EQ(wire.connection().requester[0].operation(OperationKind::write)->count, 25U);
}

/// How many packets a READ takes whose RETH was cut off only the next one tells: what was answered before it
/// came is not missing then.
TEST_P(TrackerAnswersFirst, ReadsWithoutTheirLengths) {
  constexpr std::uint32_t reads = 6, packets = 8;
  const auto respond = [&](std::uint32_t psn) {
    for (std::uint32_t i = 0; i < packets; ++i)
      send(response(psn + i, i == 0 ? first : i + 1 == packets ? last : middle));
  };
  for (std::uint32_t i = 0; i < reads; ++i) respond(100 + i * packets);
  send(response(100 + reads * packets, first));
  for (std::uint32_t i = 0; i <= reads; ++i) {
    PacketRecord cut = read(100 + i * packets, packets);
    cut.more = static_cast<std::uint8_t>(cut.more & ~PacketRecord::has_reth);
    cut.dma_length = 0;
    send(cut);
  }
  for (std::uint32_t i = 1; i < packets; ++i)
    send(response(100 + reads * packets + i, i + 1 == packets ? last : middle));
  wire.finish();
  expect_nothing_wrong();
}

TEST_P(TrackerAnswersFirst, SeveralRequestsInOneBatch) {
  talk(100, 120);
  std::vector<PacketRecord> batch;
  for (std::uint32_t psn = 120; psn < 124; ++psn) batch.push_back(request(psn));
  send(ack(121));
  send(ack(123));
  for (const PacketRecord& r : batch) send(r);
  talk(124, 128);
  wire.finish();
  expect_nothing_wrong();
}

TEST_P(TrackerAnswersFirst, AReadOfSeveralResponses) {
  talk(100, 120);
  send(read(120, 4));
  for (std::uint32_t psn = 120; psn < 124; ++psn) {
    send(response(psn, psn == 120 ? first : psn == 123 ? last : middle));
  }
  const PacketRecord behind = read(124, 4);
  for (std::uint32_t psn = 124; psn < 128; ++psn) {
    send(response(psn, psn == 124 ? first : psn == 127 ? last : middle));
  }
  send(behind);
  send(read(128, 4));
  for (std::uint32_t psn = 128; psn < 132; ++psn) {
    send(response(psn, psn == 128 ? first : psn == 131 ? last : middle));
  }
  wire.finish();
  expect_nothing_wrong();
}

/// The capture missed the request and saw its acknowledgement, which was lost behind it: the timer ran out.
TEST_P(TrackerAnswersFirst, AfterATimerItWasSentAgain) {
  talk(100, 120);
  (void)request(120);
  send(ack(120));
  wire.now_ns += 20'000'000;
  const auto again = send(request(120));
  send(ack(120));
  talk(121, 125);
  wire.finish();
  EXPECT_EQ(wire.verdict(again).cause, Cause::timeout);
}

/// What was captured behind it was sent later, so this was sent again.
TEST_P(TrackerAnswersFirst, BehindALaterRequestItIsNotTheNext) {
  talk(100, 120);
  (void)request(120);
  send(ack(120));
  send(request(121));
  send(ack(121));
  wire.now_ns += 20'000'000;
  const auto again = send(request(120));
  wire.finish();
  EXPECT_TRUE(wire.verdict(again).has(Verdict::retransmission));
}

/// Two clocks stamped the directions: that is said.
TEST_P(TrackerAnswersFirst, WhereMostDoItIsTold) {
  talk(100, 120);
  for (std::uint32_t psn = 120; psn < 160; ++psn) {
    send(ack(psn));
    send(request(psn));
  }
  wire.finish();
  expect_nothing_wrong();
  EXPECT_TRUE(wire.connection().answers_first);
}

TEST_P(TrackerAnswersFirst, AFewTellNothing) {
  talk(100, 120);
  for (std::uint32_t psn = 120; psn < 124; ++psn) {
    send(ack(psn));
    send(request(psn));
  }
  talk(124, 150);
  wire.finish();
  EXPECT_FALSE(wire.connection().answers_first);
}

/// Its path MTU is not known, so neither is how many responses it has: up to the last that came before it.
TEST_P(TrackerAnswersFirst, AReadOfUnknownLengthBehindItsLastResponse) {
  talk(100, 120);
  const PacketRecord asks = read(120, 2);
  const PacketRecord next = read(122, 1);
  const PacketRecord first_response = response(120, first);
  send(response(121, last));
  send(next);
  send(asks);
  send(response(122, 0x10));
  send(first_response);
  talk(123, 220);
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::by_capture), 0U);
}

INSTANTIATE_TEST_SUITE_P(Ids, TrackerAnswersFirst, ::testing::Bool());

}  // namespace
}  // namespace tracker_answers_first_test
}  // namespace roce::analyze
