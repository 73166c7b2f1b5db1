// SPDX-License-Identifier: Apache-2.0
// READs of one packet, of which nothing says so but their answers and the requests behind them: the path MTU
// is known only from packets that are full.
#include "analyze/tracker/tracker.hpp"
#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace tracker_small_reads_test {
namespace {

constexpr End a{1, 0x11};
constexpr End b{2, 0x22};

std::uint32_t read(Wire& wire, std::uint32_t psn, std::uint32_t bytes) {
  PacketRecord r = wire.make(a, b, read_request, psn);
  r.dma_length = bytes;
  return wire.send(r);
}

std::uint32_t respond(Wire& wire, std::uint32_t psn, std::uint32_t bytes) {
  PacketRecord r = wire.make(b, a, read_response_only, psn);
  r.payload = bytes;
  return wire.send(r);
}

/// READs of these sizes, eight at a time, and their answers. The one at `lost` never comes here; it is asked
/// for by a NAK, and sent again with those behind it. Returns the packet that shows it missing.
std::uint32_t talk(Wire& wire, const std::vector<std::uint32_t>& sizes, std::uint32_t lost) {
  constexpr std::uint32_t at_once = 8;
  const auto count = static_cast<std::uint32_t>(sizes.size());
  std::uint32_t shown_by = 0;
  for (std::uint32_t from = 0; from < count; from += at_once) {
    const std::uint32_t to = std::min(count, from + at_once);
    for (std::uint32_t i = from; i < to; ++i) {
      if (i == lost) {
        static_cast<void>(wire.make(a, b, read_request, 100 + i));  // has its IP ID
        continue;
      }
      const auto number = read(wire, 100 + i, sizes[i]);
      if (i == lost + 1) shown_by = number;
    }
    for (std::uint32_t i = from; i < std::min(to, lost); ++i) respond(wire, 100 + i, sizes[i]);
    if (lost >= from && lost < to) wire.answer(b, a, 100 + lost, nak_sequence);
    for (std::uint32_t i = std::max(from, lost); i < to && lost < to; ++i) {
      if (lost >= from) read(wire, 100 + i, sizes[i]);
    }
    for (std::uint32_t i = std::max(from, lost < to ? lost : from); i < to && lost < to; ++i) {
      respond(wire, 100 + i, sizes[i]);
    }
  }
  return shown_by;
}

TEST(TrackerSmallReads, ALostOneIsNoLongerRead) {
  for (const std::uint32_t bytes : {200U, 300U, 600U, 1024U, 4000U}) {
    // Later on, and before the first answer.
    for (const std::uint32_t lost : {20U, 1U, 2U}) {
      Wire wire;
      const auto shown_by = talk(wire, std::vector<std::uint32_t>(32, bytes), lost);
      wire.finish();
      const Flow& requests = wire.flow(a, b);
      EXPECT_EQ(Wire::lost(requests, Lost::before_capture), 1U) << bytes << " lost " << lost;
      EXPECT_EQ(Wire::resent(requests, Cause::read_retry), 0U) << bytes << " lost " << lost;
      EXPECT_EQ(Wire::resent(requests, Cause::nak), lost == 20 ? 4U : 8U - lost) << bytes;
      const SequenceCounts& answers = wire.flow(b, a).sequence();
      EXPECT_EQ(answers.retransmitted, SequenceCounts{}.retransmitted) << bytes << " lost " << lost;
      EXPECT_EQ(answers.lost, SequenceCounts{}.lost) << bytes << " lost " << lost;
      EXPECT_EQ(wire.verdict(shown_by).gap, 1U) << bytes << " lost " << lost;
      const auto& operations = wire.connection().requester[0].operations;
      ASSERT_EQ(operations.size(), 1U);
      EXPECT_EQ(operations[0].count, 32U) << bytes << " lost " << lost;
      wire.expect_all_counted();
    }
  }
}

TEST(TrackerSmallReads, OfDifferentLengths) {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t i = 0; i < 32; ++i) sizes.push_back(std::array{600U, 800U, 300U}[i % 3]);
  for (const std::uint32_t lost : {1U, 2U, 20U}) {
    Wire wire;
    talk(wire, sizes, lost);
    wire.finish();
    EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::before_capture), 1U) << lost;
    EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::before_capture), 0U) << lost;
    EXPECT_EQ(wire.flow(b, a).sequence().retransmitted, SequenceCounts{}.retransmitted) << lost;
  }
}

/// Where no answers are captured, READs that agree tell the path MTU.
TEST(TrackerSmallReads, RequestsAloneTellTheirLength) {
  Wire wire;
  for (std::uint32_t i = 0; i < 20; ++i) read(wire, 100 + 4 * i, 4096);
  wire.finish();
  EXPECT_EQ(wire.flow(a, b).sequence().gaps, 0U);
  EXPECT_EQ(wire.connection().pmtu, 1024U);
}

/// Nothing is lost, whatever comes between READs of which nobody knows the length at first.
TEST(TrackerSmallReads, AmongWrites) {
  Wire wire;
  std::uint32_t x = 1;
  std::uint64_t reads = 0;
  for (std::uint32_t psn = 100; psn < 500; psn += 16) {
    std::array<std::uint32_t, 16> bytes{};
    for (std::uint32_t i = 0; i < 16; ++i) {
      x = x * 1664525U + 1013904223U;
      bytes.at(i) = (x >> 30U) == 0 ? 0 : 1 + (x >> 8U) % 4000;  // 0: a WRITE
      if (bytes.at(i) == 0) {
        wire.request(a, b, psn + i);
      } else {
        read(wire, psn + i, bytes.at(i));
        ++reads;
      }
    }
    for (std::uint32_t i = 0; i < 16; ++i) {
      if (bytes.at(i) != 0) {
        respond(wire, psn + i, bytes.at(i));
      } else if (i == 15 || bytes.at(i + 1) != 0) {
        wire.answer(b, a, psn + i);
      }
    }
  }
  wire.finish();
  for (const Flow& flow : wire.result.flows) {
    EXPECT_EQ(flow.sequence().lost, SequenceCounts{}.lost);
    EXPECT_EQ(flow.sequence().retransmitted, SequenceCounts{}.retransmitted);
    EXPECT_EQ(flow.sequence().gaps, 0U);
  }
  for (const OperationStats& operation : wire.connection().requester[0].operations) {
    EXPECT_EQ(operation.latency_ns.count(), operation.count);
    if (operation.kind == OperationKind::read) {
      EXPECT_EQ(operation.count, reads);
    }
  }
  wire.expect_all_counted();
}

/// Hostile: nothing fits anything.
TEST(TrackerSmallReads, CountsStayAboveZero) {
  Wire wire;
  std::uint32_t x = 12345;
  for (unsigned i = 0; i < 20'000; ++i) {
    x = x * 1664525U + 1013904223U;
    const std::uint32_t psn = 100 + (i / 8 + (x >> 28U)) % 400;
    const std::uint32_t bytes = 1U + (x >> 8U) % 5000;
    if ((x >> 5U & 1U) != 0) {
      read(wire, psn, bytes);
    } else {
      respond(wire, psn, std::min(bytes, 4096U));
    }
  }
  wire.finish();
  for (const Flow& flow : wire.result.flows) {
    for (const std::uint64_t lost : flow.sequence().lost) EXPECT_LT(lost, 1U << 30U);
  }
}

}  // namespace
}  // namespace tracker_small_reads_test
}  // namespace roce::analyze
