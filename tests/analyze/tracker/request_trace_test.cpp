// SPDX-License-Identifier: Apache-2.0
// What a flow has requested lately, asked by the PSN of an answer.
#include "analyze/tracker/request_trace.hpp"

#include <gtest/gtest.h>

#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace request_trace_test {
namespace {

using Place = RequestTrace::Place;
using Answer = RequestTrace::Answer;

constexpr std::uint8_t write_first = 0x06, write_middle = 0x07, write_last = 0x08, fetch_add = 0x14;

struct Trace {
  RequestTrace trace;
  std::size_t budget = std::size_t{1} << 20U;
  std::int64_t now_ns = 0;

  void add(std::uint32_t psn, std::uint8_t opcode = write_only, std::uint32_t length = 64) {
    PacketRecord r;
    r.psn = psn;
    r.opcode = opcode;
    r.dma_length = length;
    r.time_ns = ++now_ns;
    trace.add(r, dissect::opcode_info(opcode), budget);
  }
  [[nodiscard]] Place place(std::uint32_t psn) const { return trace.find(psn).place; }
  [[nodiscard]] std::uint32_t messages(std::uint32_t psn) const {
    return trace.find(psn).messages.value_or(9999);
  }
};

/// Those behind it had been counted without it.
TEST(RequestTrace, AMessageThatComesLateIsCountedBeforeThoseBehindIt) {
  Trace t;
  t.add(10);
  t.add(12);
  t.add(13);
  const std::uint32_t before = t.messages(10);
  t.add(11);
  EXPECT_EQ(t.messages(11), before + 1);
  EXPECT_EQ(t.messages(12), before + 2);
  EXPECT_EQ(t.messages(13), before + 3);
  t.add(14);
  EXPECT_EQ(t.messages(14), before + 4);
}

TEST(RequestTrace, TellsWhereAPsnLies) {
  Trace t;
  EXPECT_EQ(t.place(0), Place::elsewhere);
  for (std::uint32_t psn = 0xfffffe; psn != 10; psn = (psn + 1) & 0xffffffU) t.add(psn);
  EXPECT_EQ(t.place(0xfffffe), Place::among);
  EXPECT_EQ(t.place(9), Place::among);
  EXPECT_EQ(t.place(10), Place::beyond);
  EXPECT_EQ(t.place(0xfffffd), Place::before);
  EXPECT_EQ(t.place(0x800000), Place::elsewhere);
  EXPECT_EQ(t.trace.find(9).time_ns, t.now_ns);
}

TEST(RequestTrace, CountsMessagesNotPackets) {
  Trace t;
  t.add(100);
  t.add(101, write_first);
  t.add(102, write_middle);
  t.add(103, write_last);
  t.add(104, fetch_add);
  EXPECT_EQ(t.messages(100), 1U);
  EXPECT_EQ(t.messages(102), 1U);
  EXPECT_EQ(t.messages(103), 2U);
  EXPECT_EQ(t.messages(104), 3U);
  EXPECT_EQ(t.trace.find(103).answer, Answer::acknowledge);
  EXPECT_EQ(t.trace.find(104).answer, Answer::atomic_acknowledge);
}

TEST(RequestTrace, ARepeatCountsNothingTwiceAndIsTheLatest) {
  Trace t;
  for (std::uint32_t psn = 0; psn < 10; ++psn) t.add(psn);
  for (std::uint32_t psn = 5; psn < 10; ++psn) t.add(psn);
  t.add(10);
  EXPECT_EQ(t.messages(5), 6U);
  EXPECT_EQ(t.messages(10), 11U);
  EXPECT_EQ(t.trace.find(5).time_ns, 11);
}

TEST(RequestTrace, AReadTakesThePsnsUpToTheNextRequest) {
  Trace t;
  t.add(50);
  t.add(51, read_request, 16 * 256);
  EXPECT_EQ(t.place(66), Place::among);
  EXPECT_EQ(t.place(67), Place::beyond) << "more than the smallest path MTU allows";
  t.add(55);  // its path MTU was 1024
  EXPECT_EQ(t.trace.find(54).answer, Answer::read_response);
  EXPECT_EQ(t.messages(54), 2U);
  EXPECT_EQ(t.trace.find(55).answer, Answer::acknowledge);
  EXPECT_EQ(t.messages(55), 3U);
  EXPECT_EQ(t.place(56), Place::beyond);
  t.add(53, read_request, 2 * 1024);  // asked for again from the middle on
  EXPECT_EQ(t.messages(53), 2U);
  EXPECT_EQ(t.messages(54), 2U);
}

TEST(RequestTrace, TheNextRequestEndsTheHighestReadNotTheOneSentAgainLast) {
  Trace t;
  for (std::uint32_t psn = 0; psn < 600; ++psn) t.add(psn);
  t.add(600, read_request, 16 * 256);
  t.add(40, read_request, 16 * 256);  // its first request is forgotten
  t.add(604);
  EXPECT_EQ(t.trace.find(603).answer, Answer::read_response);
  EXPECT_EQ(t.trace.find(604).answer, Answer::acknowledge);
  EXPECT_EQ(t.trace.find(605).place, Place::beyond);
  EXPECT_EQ(t.trace.find(55).answer, Answer::read_response) << "it may take 16";
}

TEST(RequestTrace, OfTwoReadsThatCouldTakeAPsnItIsTheLater) {
  Trace t;
  for (std::uint32_t psn = 0; psn < 600; ++psn) t.add(psn);
  t.add(600, read_request, 4 * 256);
  t.add(604);
  t.add(592, read_request, 16 * 256);  // sent again; at most 16 PSNs, and no more than up to 600
  EXPECT_EQ(t.messages(601), 601U);
  EXPECT_EQ(t.trace.find(601).time_ns, 601);
}

TEST(RequestTrace, ADamagedNumberIsNotBelieved) {
  Trace t;
  for (std::uint32_t psn = 0; psn < 5; ++psn) t.add(psn);
  t.add(0x700000);
  t.add(5);
  EXPECT_EQ(t.place(5), Place::among);
  EXPECT_EQ(t.place(0x700000), Place::elsewhere);
  t.add(0x700000);
  t.add(0x700001);
  EXPECT_EQ(t.place(0x700001), Place::among) << "two that follow each other are another sequence";
  EXPECT_EQ(t.place(5), Place::elsewhere);
}

TEST(RequestTrace, IsBounded) {
  Trace t;
  t.budget = 40'000;
  for (std::uint32_t psn = 0; psn < 100'000; ++psn) t.add(psn, psn % 3 == 0 ? read_request : write_only);
  EXPECT_GE(t.budget, 40'000U - RequestTrace::usual_size * 16);
  EXPECT_EQ(t.trace.find(5).answer, Answer::none) << "forgotten, but it was sent";
  EXPECT_EQ(t.place(5), Place::among);
  EXPECT_EQ(t.trace.find(99'998).answer, Answer::acknowledge);
  t.trace.release(t.budget);
  EXPECT_EQ(t.budget, 40'000U);
  Trace poor;
  poor.budget = 0;
  for (std::uint32_t psn = 0; psn < 100; ++psn) poor.add(psn);
  EXPECT_EQ(poor.place(99), Place::among);
}

}  // namespace
}  // namespace request_trace_test
}  // namespace roce::analyze
