// SPDX-License-Identifier: Apache-2.0
// Where nothing gets through: of a size, or for a while.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/analyze/diagnosis/diagnosis_support.hpp"

namespace roce::analyze {
namespace {

/// A request of many bytes that is never answered, and what is asked for all the same.
void never_through(Connection& c, std::uint32_t bytes) {
  RetryChain& chain = c.requester[0].trouble->worst_chain;
  chain.resends = 7;
  chain.bytes = bytes;
  chain.first_frame = 50;
  chain.last_frame = 90;
  c.requester[0].retries_exhausted = true;
  c.sent[1].add(Event::nak_sequence_error, 60, test_second);
}

void went_through(Connection& c, std::uint64_t messages, std::uint64_t bytes) {
  OperationStats& operation = c.requester[0].operations.emplace_back();
  operation.kind = OperationKind::write;
  operation.answered = operation.count = messages;
  operation.largest_answered = bytes;
}

TEST(DiagnosisPattern, NothingFromASizeOnGetsThrough) {
  for (const std::uint64_t largest : {std::uint64_t{256}, std::uint64_t{65'536}}) {
    DiagnosisMaker maker;
    Connection& c = maker.connect(1, 2);
    never_through(c, 4096);
    went_through(c, 100, largest);
    What what;
    what.what = IncidentKind::path_silent;
    what.learned = LearnedBy::timer;
    what.over = false;
    maker.happened(c, what);
    const auto& said = maker.say();
    ASSERT_FALSE(said.empty());
    EXPECT_EQ(said.size(), 1U);
    EXPECT_EQ(said[0].cause, largest == 256 ? "path_mtu" : "no_answer");
    EXPECT_EQ(said[0].severity, Consequence::fatal);
    EXPECT_EQ(said[0].pattern, largest == 256 ? Pattern::by_size : Pattern::none);
    if (largest != 256) continue;
    EXPECT_EQ(
        said[0].sentence,
        "10.0.0.1 → 10.0.0.2: packets of 4096 message bytes and more do not get through downstream of this "
        "capture, smaller ones do; a queue pair ended by it");
    EXPECT_EQ(said[0].facts.at(0).find("100 messages of up to 256 bytes got through. "), 0U);
    EXPECT_EQ(said[0].advice.find("On 10.0.0.1: ping -M do -s "), 0U) << said[0].advice;
  }
}

TEST(DiagnosisPattern, WithoutANakNothingShowsThatOthersGetThrough) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  never_through(c, 4096);
  c.sent[1] = Events{};
  went_through(c, 100, 256);
  const auto& said = maker.say();
  ASSERT_FALSE(said.empty());
  EXPECT_EQ(said[0].cause, "no_answer");
}

/// Seven repeats are all that a queue pair may make (IBTA: 3 bits): the end is near, and seen as such.
TEST(DiagnosisPattern, WhoHasNoRetryLeftEndsUnlessAnswered) {
  for (const std::uint32_t resends : {6U, 7U}) {
    DiagnosisMaker maker;
    Connection& c = maker.connect(1, 2);
    c.requester[0].trouble->worst_chain.resends = resends;
    What what;
    what.what = IncidentKind::timeout;
    what.learned = LearnedBy::timer;
    what.over = false;
    maker.happened(c, what);
    const auto& said = maker.say();
    ASSERT_EQ(said.size(), 1U);
    EXPECT_EQ(said[0].cause, "no_answer");
    EXPECT_EQ(said[0].severity, resends == 7 ? Consequence::fatal : Consequence::degraded);
    if (resends != 7) continue;
    EXPECT_EQ(
        said[0].sentence,
        "10.0.0.1 gets no answer from 10.0.0.2; a queue pair has no retry left and ends unless the last "
        "repeat is answered");
  }
}

/// Two repeats in vain are not enough for one, but for two requesters at once, unless the host is heard
/// again.
TEST(DiagnosisPattern, QueuePairsTellTogetherThatAHostAnswersNoMore) {
  const auto answered_until = [](std::int64_t heard_ns, unsigned requesters) {
    DiagnosisMaker maker;
    for (unsigned i = 0; i < requesters; ++i) maker.connect(1, 2);
    for (Flow& flow : maker.snapshot.flows) {
      if (flow.key.src == host(2)) flow.last_time_ns = heard_ns;
    }
    What what;
    what.what = IncidentKind::timeout;
    what.learned = LearnedBy::timer;
    what.start_ns = test_second;
    what.learned_after_ns = 4'000'000;
    what.over = false;
    for (const Connection& each : maker.snapshot.connections) maker.happened(each, what).retries = 2;
    const auto& said = maker.say();
    return said.empty() ? std::string() : std::string(said[0].cause) + ", " + said[0].sentence;
  };
  EXPECT_EQ(
      answered_until(test_second + 10'000, 2),
      "no_answer, 10.0.0.1 gets no answer from 10.0.0.2: 2 queue pairs asked again and again, up to the "
      "end of this capture");
  EXPECT_EQ(answered_until(test_second + 4'000'000, 2).find("request_or_answer_lost, "), 0U);
  EXPECT_EQ(answered_until(test_second + 10'000, 1).find("request_or_answer_lost, "), 0U);
}

/// All in one stamp of a coarse clock.
TEST(DiagnosisPattern, WhatIsOverWhenItBeginsIsNoOutage) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  c.last_time_ns = test_second + 1'000'000;
  What what;
  what.what = IncidentKind::needless_repeat;
  what.learned = LearnedBy::timer;
  what.confirmed_ago_ns = 4'000'000;
  Incident& incident = maker.happened(c, what);
  incident.end_ns = incident.start_ns;
  for (const Diagnosis& each : maker.say()) EXPECT_NE(each.cause, "outage");
}

/// Both ends began with other PSNs: each request is acknowledged, but as one of long ago.
TEST(DiagnosisPattern, AnswersToOtherPsnsAreNoSilence) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  RetryChain& chain = c.requester[0].trouble->worst_chain;
  chain.resends = 2;
  chain.last_time_ns = test_second;
  c.requester[0].retries_exhausted = true;
  c.sent[0].add(Event::retries_exhausted, 90, test_second);
  c.requester[0].acks = 3;
  c.pairing.answered = 0;
  c.packets[1] = 3;
  Flow& back = maker.snapshot.flows[*c.flow[1]];
  back.any_time = true;
  back.last_time_ns = 2 * test_second;
  const auto& said = maker.say();
  ASSERT_FALSE(said.empty());
  EXPECT_EQ(said[0].cause, "no_answer");
  EXPECT_NE(said[0].sentence.find("answers to other PSNs only"), std::string::npos) << said[0].sentence;
  EXPECT_TRUE(said[0].alternatives.empty());
  EXPECT_NE(said[0].facts.at(0).find("different starting PSNs"), std::string::npos) << said[0].facts[0];
}

constexpr std::int64_t ms = 1'000'000;

/// A requester whose timer ran out, after which nothing of that side came for so long, and then it went on.
Incident& waited(DiagnosisMaker& maker, const Connection& c, std::int64_t from_ns, std::int64_t for_ns,
                 unsigned silent_side = 1, unsigned side = 0) {
  What what;
  what.what = IncidentKind::timeout;
  what.place = IncidentPlace::not_known;
  what.learned = LearnedBy::timer;
  what.start_ns = from_ns;
  what.learned_after_ns = 10 * ms;
  Incident& incident = maker.happened(c, what, side);
  incident.end_ns = from_ns + for_ns;
  incident.silent[silent_side] = {from_ns, from_ns + for_ns};
  incident.retries = static_cast<std::uint32_t>(for_ns / (10 * ms));
  return incident;
}

TEST(DiagnosisOutage, ItIsNamedWithItsLength) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  waited(maker, c, test_second, 6000 * ms);
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].cause, "outage");
  EXPECT_EQ(said[0].pattern, Pattern::outage);
  EXPECT_EQ(said[0].severity, Consequence::degraded);
  EXPECT_EQ(said[0].sentence, "10.0.0.1 got no answer from 10.0.0.2 for 6.00 s, then traffic went on");
  EXPECT_EQ(said[0].since_ns, test_second);
  EXPECT_EQ(said[0].until_ns, 7 * test_second);
  EXPECT_EQ(said[0].alternatives.size(), 1U);
}

TEST(DiagnosisOutage, ARequesterThatIsSilentItselfIsCutOffUpstream) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  for (int i = 1; i < 9; ++i) waited(maker, c, i * test_second / 10, 10 * ms, 0);
  waited(maker, c, test_second, 6000 * ms, 0).learned_after_ns = 6000 * ms;
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0].sentence, "10.0.0.1 → 10.0.0.2: nothing got through for 6.00 s upstream of this capture");
  EXPECT_EQ(said[0].seen, Whereabouts::upstream);
  EXPECT_EQ(said[1].cause, "request_or_answer_lost");
  EXPECT_EQ(said[1].at_least, 8U) << "timers at other times are none of its";
}

TEST(DiagnosisOutage, OneTimerIsNone) {
  DiagnosisMaker maker;
  waited(maker, maker.connect(1, 2), test_second, 10 * ms);
  EXPECT_EQ(maker.say().at(0).cause, "request_or_answer_lost");
}

TEST(DiagnosisOutage, WhatNeverGoesOnIsNone) {
  DiagnosisMaker maker;
  waited(maker, maker.connect(1, 2), test_second, 6000 * ms).over = false;
  EXPECT_NE(maker.say().at(0).cause, "outage");
}

TEST(DiagnosisOutage, WhatGetsThroughMeanwhileDisprovesIt) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  waited(maker, c, test_second, 6000 * ms);
  waited(maker, maker.connect(1, 2), 4 * test_second, 10 * ms);
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].cause, "request_or_answer_lost");
}

/// Behind the repair nobody wants to send, however long nothing is sent.
TEST(DiagnosisOutage, RestBehindARepairIsNone) {
  for (const std::int64_t repaired_after : {6000 * ms, 40 * ms}) {
    DiagnosisMaker maker;
    Connection& c = maker.connect(1, 2);
    Incident& incident = waited(maker, c, test_second, 6000 * ms);
    incident.retries = 4;
    incident.end_ns = test_second + repaired_after;
    EXPECT_EQ(maker.say().at(0).cause, repaired_after == 6000 * ms ? "outage" : "request_or_answer_lost");
  }
}

/// A queue pair between the same hosts that went on in no trouble: its longest rest was shorter.
TEST(DiagnosisOutage, WhatOthersExchangeMeanwhileDisprovesIt) {
  for (const std::uint64_t idle_ns : {std::uint64_t{8'000'000'000}, std::uint64_t{100'000'000}}) {
    DiagnosisMaker maker;
    Connection& c = maker.connect(1, 2);
    maker.connect(2, 1).requester[0].idle_ns = idle_ns;
    waited(maker, c, test_second, 6000 * ms);
    const bool rested = idle_ns > 6'000'000'000;
    EXPECT_EQ(maker.say().at(0).cause, rested ? "outage" : "request_or_answer_lost");
  }
}

/// So is the other requester of the same queue pair, and one that was done before it was over: but not one
/// that was done when it began.
TEST(DiagnosisOutage, WhoWasDoneBeforeItWasOverDisprovesIt) {
  for (const std::int64_t last_ns : {11 * test_second / 10, 4 * test_second}) {
    DiagnosisMaker maker;
    Connection& c = maker.connect(1, 2);
    c.requester[1] = c.requester[0];
    c.requester[1].last_time_ns = last_ns;
    c.requester[1].idle_ns = 100'000'000;
    waited(maker, c, test_second, 6000 * ms);
    EXPECT_EQ(maker.say().at(0).cause, last_ns == 4 * test_second ? "request_or_answer_lost" : "outage");
  }
}

/// Where one timer in ten messages runs out, some do so five times in a row by chance.
TEST(DiagnosisOutage, WhereMuchIsLostSomeRepeatsAreInVainByChance) {
  for (const unsigned timers : {4U, 150U}) {
    DiagnosisMaker maker;
    Connection& c = maker.connect(1, 2);
    c.requester[0].acks = 1000;
    for (unsigned i = 0; i < timers; ++i) waited(maker, c, 2 * test_second + i * 50 * ms, 10 * ms);
    Incident& incident = waited(maker, c, test_second, 50 * ms);
    ASSERT_EQ(incident.retries, 5U);
    EXPECT_EQ(maker.say().at(0).cause, timers == 4 ? "outage" : "request_or_answer_lost");
  }
}

/// Some double the timer with each repeat; nor is the timer shorter than what it hardly ever takes less than.
TEST(DiagnosisOutage, ALongTimerIsNone) {
  for (const bool doubles : {true, false}) {
    DiagnosisMaker maker;
    Connection& c = maker.connect(1, 2);
    for (int i = 1; i < 9; ++i) {
      const std::int64_t timer = doubles || i < 6 ? 10 * ms : 80 * ms;
      waited(maker, c, i * test_second / 10, timer, 0).learned_after_ns = timer;
    }
    Incident& incident = waited(maker, c, test_second, 160 * ms, 0);
    incident.learned_after_ns = 160 * ms;
    incident.retries = doubles ? 5 : 1;
    for (const Diagnosis& d : maker.say()) EXPECT_NE(d.cause, "outage") << d.sentence;
  }
}

TEST(DiagnosisOutage, ManyThatStopAtOnceShowItThoughEachWaitsForOneTimer) {
  for (const bool at_once : {true, false}) {
    DiagnosisMaker maker;
    for (std::int64_t i = 0; i < 1000; ++i) maker.snapshot.series.at(i * 10 * ms).packets += 10;
    for (unsigned i = 0; i < 8; ++i) {
      Connection& c = maker.connect(1 + i % 4, 11 + i % 4);
      waited(maker, c, at_once ? test_second + i * ms / 4 : (i + 1) * test_second, 10 * ms);
    }
    const auto& said = maker.say();
    ASSERT_EQ(said.size(), 1U);
    EXPECT_EQ(said[0].cause, at_once ? "outage" : "request_or_answer_lost");
    EXPECT_EQ(said[0].level, Level::capture);
    // Who waits for one timer does not show when it was over.
    if (!at_once) continue;
    EXPECT_NE(said[0].sentence.find(" for up to "), std::string::npos) << said[0].sentence;
  }
}

}  // namespace
}  // namespace roce::analyze
