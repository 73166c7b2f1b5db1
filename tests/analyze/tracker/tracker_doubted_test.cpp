// SPDX-License-Identifier: Apache-2.0
// All requests from the first one on come again in turn, and no IPv4 ID tells: a mirror, or a sender that
// goes back?
#include "analyze/tracker/tracker.hpp"
#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace tracker_doubted_test {
namespace {

constexpr End a{1, 0x11};
constexpr End b{2, 0x22};
constexpr std::uint32_t first = 5'000'000;
constexpr std::uint32_t count = 8;

class TrackerDoubted : public ::testing::Test {
 protected:
  void send(PacketRecord r) {
    r.more = static_cast<std::uint8_t>(r.more & ~PacketRecord::has_ip_id);
    r.ip_id = 0;
    wire.send(r);
  }
  void requests(std::uint8_t opcode, std::uint32_t from = 0) {
    for (std::uint32_t i = from; i < from + count; ++i) send(wire.make(a, b, opcode, first + i));
  }
  void answer(std::uint8_t opcode, std::uint32_t i, std::uint32_t msn) {
    PacketRecord r = wire.make(b, a, opcode, first + i);
    r.flags |= PacketRecord::has_aeth;
    r.aeth = 0x1f000000U | msn;
    if (opcode == read_response_only) r.payload = 64;
    send(r);
  }
  void answers(std::uint8_t opcode, std::uint32_t from = 0) {
    for (std::uint32_t i = from; i < from + count; ++i) answer(opcode, i, i + 1);
  }
  void goes_on(std::uint8_t opcode, std::uint8_t answer_opcode) {
    for (std::uint32_t i = count; i < 30; ++i) {
      send(wire.make(a, b, opcode, first + i));
      answer(answer_opcode, i, i + 1);
    }
    wire.finish();
  }
  /// Everything once more, 60 µs later.
  void mirror(std::uint8_t opcode, std::uint8_t answer_opcode) {
    for (std::uint32_t from = 0; from < 4 * count; from += count) {
      for (unsigned times = 0; times < 2; ++times) {
        requests(opcode, from);
        answers(answer_opcode, from);
        wire.now_ns += 60'000;
      }
    }
    wire.finish();
  }
  [[nodiscard]] std::uint64_t copies(End from, End to) const {
    const SequenceCounts& counts = wire.flow(from, to).sequence();
    return counts.duplicate_captures + counts.duplicate_network;
  }
  [[nodiscard]] std::uint64_t resent(End from, End to) const {
    std::uint64_t sum = 0;
    for (const std::uint64_t n : wire.flow(from, to).sequence().retransmitted) sum += n;
    return sum;
  }

  Wire wire;
};

/// The capture begins with the window, and its one acknowledgement does not reach the sender.
TEST_F(TrackerDoubted, OneAcknowledgementForAllTheSecondTime) {
  requests(write_only);
  answers(acknowledge);
  wire.now_ns += 60'000;
  requests(write_only);
  answer(acknowledge, count - 1, count);
  goes_on(write_only, acknowledge);
  EXPECT_EQ(copies(a, b), 0U);
  EXPECT_EQ(resent(a, b), count);
  EXPECT_EQ(wire.verdict(2 * count + 1).original, 1U);
}

TEST_F(TrackerDoubted, ReadsAnsweredAgainWithTheCountOfToday) {
  requests(read_request);
  answers(read_response_only);
  wire.now_ns += 60'000;
  requests(read_request);
  for (std::uint32_t i = 0; i < count; ++i) answer(read_response_only, i, count);
  goes_on(read_request, read_response_only);
  EXPECT_EQ(copies(a, b) + copies(b, a), 0U);
  EXPECT_EQ(resent(a, b), count);
  EXPECT_EQ(resent(b, a), count);
}

/// The same, but each answer as it was.
TEST_F(TrackerDoubted, AMirrorShowsTheSameAcknowledgements) {
  mirror(write_only, acknowledge);
  EXPECT_EQ(resent(a, b) + resent(b, a), 0U);
  EXPECT_EQ(copies(a, b), 4 * count);
  EXPECT_EQ(copies(b, a), 4 * count);
}

TEST_F(TrackerDoubted, AMirrorShowsTheSameResponses) {
  mirror(read_request, read_response_only);
  EXPECT_EQ(resent(a, b) + resent(b, a), 0U);
  EXPECT_EQ(copies(a, b), 4 * count);
  EXPECT_EQ(copies(b, a), 4 * count);
}

}  // namespace
}  // namespace tracker_doubted_test
}  // namespace roce::analyze
