// SPDX-License-Identifier: Apache-2.0
// What is said once: signs, their causes, and what many pairs of hosts have in common.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "analyze/diagnosis/pattern.hpp"
#include "analyze/diagnosis/root_causes.hpp"
#include "analyze/diagnosis/troubles.hpp"
#include "analyze/results/diagnosis.hpp"
#include "tests/analyze/diagnosis/diagnosis_support.hpp"

namespace roce::analyze {
namespace {

using diagnosis::RootCause;

TEST(Diagnosis, NothingWrongIsNoDiagnosis) {
  DiagnosisMaker maker;
  maker.connect(1, 2);
  EXPECT_TRUE(maker.say().empty());
}

TEST(Diagnosis, LossIsToldOnceWithItsSymptomsAsEvidence) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  maker.lose(c, 40);
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 1U);
  const Diagnosis& d = said.front();
  EXPECT_EQ(d.cause, "loss");
  EXPECT_EQ(d.severity, Consequence::degraded);
  EXPECT_EQ(d.level, Level::connection);
  EXPECT_EQ(d.seen, Whereabouts::upstream);
  EXPECT_EQ(d.pattern, Pattern::single);
  EXPECT_EQ(
      d.sentence.find("10.0.0.1 → 10.0.0.2 loses 40 of 10040 packets (0.4 %) upstream of this capture; "), 0U)
      << d.sentence;
  EXPECT_EQ(d.findings.size(), maker.snapshot.findings.size());
  EXPECT_EQ(d.incident_count, 40U);
}

TEST(Diagnosis, HeavyLossIsALowerBoundUpstreamToo) {
  DiagnosisMaker maker;
  maker.lose(maker.connect(1, 2), 2000);
  const auto& said = maker.say();
  ASSERT_FALSE(said.empty());
  EXPECT_EQ(
      said[0].sentence.find("10.0.0.1 → 10.0.0.2 loses at least 2000 packets upstream of this capture; "), 0U)
      << said[0].sentence;
  EXPECT_NE(said[0].sentence.find(" % of what 10.0.0.1 sends are repeats"), std::string::npos);
}

TEST(Diagnosis, DownstreamALowerBoundIsNoRate) {
  DiagnosisMaker maker;
  maker.lose(maker.connect(1, 2), 40, false);
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].sentence.find("10.0.0.1 → 10.0.0.2 loses at least 40 packets downstream of this capture"),
            0U)
      << said[0].sentence;
  EXPECT_FALSE(said[0].would_decide.empty());
}

/// A loss that both of two points show, or neither, has its place; one that one point shows has none.
TEST(Diagnosis, ACaptureOfTwoPointsHidesNoLossThatBothShow) {
  DiagnosisMaker maker;
  Connection& both = maker.connect(1, 2);
  for (unsigned side = 0; side < 2; ++side) {
    for (std::uint64_t i = 0; i < both.packets[side]; ++i)
      both.sent[side].add(Event::duplicate_capture, i + 1, 0);
  }
  maker.lose(both, 40);
  maker.lose(maker.connect(3, 4), 40);
  What what{.what = IncidentKind::loss, .place = IncidentPlace::not_known};
  maker.happened(both, what).lost_at_most = 1;
  maker.snapshot.completeness.doubled = 0.5;
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].sentence.find("10.0.0.1 → 10.0.0.2 loses 40 of 10040 packets (0.4 %) upstream"), 0U)
      << said[0].sentence;
}

TEST(Diagnosis, TimersBetweenTheSameHostsArePartOfALoss) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  maker.lose(c, 40);
  What timer{.what = IncidentKind::timeout, .place = IncidentPlace::not_known, .learned = LearnedBy::timer};
  for (int i = 0; i < 100; ++i) maker.happened(c, timer, static_cast<unsigned>(i) % 2);
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].cause, "loss");
  EXPECT_EQ(said[0].at_least, 40U);
}

TEST(Diagnosis, TimersOfOtherHostsAreNot) {
  DiagnosisMaker maker;
  maker.lose(maker.connect(1, 2), 40);
  Connection& other = maker.connect(3, 4);
  What timer{.what = IncidentKind::timeout, .place = IncidentPlace::not_known, .learned = LearnedBy::timer};
  for (int i = 0; i < 5; ++i) maker.happened(other, timer);
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[1].cause, "request_or_answer_lost");
  EXPECT_EQ(said[1].alternatives.size(), 3U);
}

TEST(Diagnosis, TwoQueuePairsAreADirectionAndManyPairsTheirHost) {
  DiagnosisMaker maker;
  for (unsigned i = 0; i < 2; ++i) maker.lose(maker.connect(1, 2), 20);
  EXPECT_EQ(maker.say().at(0).level, Level::direction);
  for (unsigned from = 3; from < 6; ++from) maker.lose(maker.connect(from, 2), 20);
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].level, Level::host);
  EXPECT_EQ(said[0].host, host(2));
  EXPECT_EQ(said[0].sentence.find("4 hosts → 10.0.0.2 lose 100 of "), 0U) << said[0].sentence;
}

TEST(Diagnosis, WhatEverybodyShowsIsNobodysOwn) {
  DiagnosisMaker maker;
  for (unsigned i = 1; i < 5; ++i) maker.lose(maker.connect(i, i + 10), 20);
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].level, Level::capture);
  EXPECT_FALSE(said[0].from);
}

TEST(Diagnosis, AnswersThatComeAsLateAsTheTimerAreNotLost) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  OperationStats sends;
  sends.count = 100;
  for (int i = 0; i < 100; ++i) sends.latency_ns.add(9'000'000);
  c.requester[0].operations.push_back(sends);
  What repeat{.what = IncidentKind::needless_repeat,
              .place = IncidentPlace::after_capture,
              .learned = LearnedBy::timer};
  repeat.learned_after_ns = 8'400'000;
  repeat.confirmed_ago_ns = 400'000;
  repeat.of_responses = true;
  for (int i = 0; i < 20; ++i) maker.happened(c, repeat);
  const auto& said = maker.say();
  ASSERT_FALSE(said.empty());
  EXPECT_EQ(said[0].cause, "timer_too_short");
  EXPECT_NE(said[0].sentence.find("its timer expires after 8.40 ms"), std::string::npos) << said[0].sentence;
}

TEST(Diagnosis, ManyMissingOnceAmongSinglesMayBeTheCapture) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  maker.lose(c, 40);
  happen(c.sent[0], Event::lost_before_capture, 70);
  maker.snapshot.incidents[20].lost_before = 30;
  const auto& said = maker.say();
  ASSERT_FALSE(said.empty());
  EXPECT_EQ(said[0].cause, "loss");
  ASSERT_EQ(said[0].alternatives.size(), 2U);
  EXPECT_EQ(said[0].alternatives[0],
            "30 of them, missing together by packet 300, not captured rather than lost");
}

TEST(Diagnosis, AnswersThatAreQuickAsARuleAreHeldUp) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  OperationStats sends;
  sends.count = 100;
  for (int i = 0; i < 100; ++i) sends.latency_ns.add(5'000);
  c.requester[0].operations.push_back(sends);
  What late{
      .what = IncidentKind::slow_responder, .place = IncidentPlace::responder, .learned = LearnedBy::timer};
  late.learned_after_ns = 1'050'000;
  for (int i = 0; i < 3; ++i) maker.happened(c, late);
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].sentence.find("(median), but some come later than 1.05 ms, when its timer expires"),
            std::string::npos)
      << said[0].sentence;
  EXPECT_EQ(said[0].advice.find("Find what held 10.0.0.2 up now and then"), 0U);
}

/// An answer right behind the repeat, where the timer takes ages, answers the repeat.
TEST(Diagnosis, AnswersRightBehindTheirRepeatAreNotLate) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  OperationStats sends;
  sends.count = 100;
  for (int i = 0; i < 100; ++i) sends.latency_ns.add(5'000);
  c.requester[0].operations.push_back(sends);
  What late{
      .what = IncidentKind::slow_responder, .place = IncidentPlace::responder, .learned = LearnedBy::timer};
  late.learned_after_ns = 998'000;
  for (int i = 0; i < 3; ++i) maker.happened(c, late);
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].cause, "request_or_answer_lost");
}

/// A loss would hit some of the repeats.
TEST(Diagnosis, WhoSendsEverythingTwiceHasATimerThatIsTooShort) {
  for (const std::uint64_t retried : {95U, 50U}) {
    DiagnosisMaker maker;
    Connection& c = maker.connect(1, 2);
    OperationStats sends;
    sends.count = 100;
    sends.retried = retried;
    for (int i = 0; i < 100; ++i) sends.latency_ns.add(1'500'000);
    c.requester[0].operations.push_back(sends);
    What timeout{
        .what = IncidentKind::timeout, .place = IncidentPlace::not_known, .learned = LearnedBy::timer};
    timeout.learned_after_ns = 1'350'000;
    for (int i = 0; i < 20; ++i) maker.happened(c, timeout).retries = 1;
    const auto& said = maker.say();
    ASSERT_EQ(said.size(), 1U);
    EXPECT_EQ(said[0].cause, retried == 95 ? "timer_too_short" : "request_or_answer_lost");
  }
}

/// A queue pair that gave up is in the error state, and answers nothing more.
TEST(Diagnosis, WhatAQueuePairThatEndedDoesNotAnswerIsPartOfItsEnd) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  What silent{
      .what = IncidentKind::path_silent, .place = IncidentPlace::not_known, .learned = LearnedBy::timer};
  maker.happened(c, silent);
  silent.start_ns += 2'000'000;
  maker.happened(c, silent, 1);
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].from, host(1));
  EXPECT_EQ(said[0].to, host(2));
  EXPECT_EQ(said[0].cost.failed, 1U);
  EXPECT_EQ(said[0].incident_count, 2U);
}

/// What may be lost or late is what is known of the others, in their number.
TEST(Diagnosis, LostOrLateGoesWithWhatIsKnownMoreOften) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  maker.lose(c, 1, false);
  What late{.what = IncidentKind::reordering, .place = IncidentPlace::after_capture};
  for (int i = 0; i < 3; ++i) maker.happened(c, late);
  What open{.what = IncidentKind::loss_or_reordering, .place = IncidentPlace::after_capture};
  for (int i = 0; i < 30; ++i) maker.happened(c, open);
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].cause, "reordering");
  EXPECT_EQ(said[0].at_least, 3U);
  EXPECT_EQ(said[0].at_most, 34U);
}

/// A NAK names what was lost and what is late: one that is known to be lost tells nothing of thirty others.
TEST(Diagnosis, OneKnownLossDoesNotTellOfMany) {
  for (const int known : {1, 10}) {
    DiagnosisMaker maker;
    Connection& c = maker.connect(1, 2);
    maker.lose(c, static_cast<std::uint64_t>(known), false);
    What open{.what = IncidentKind::loss_or_reordering, .place = IncidentPlace::after_capture};
    for (int i = 0; i < 30; ++i) maker.happened(c, open);
    const auto& said = maker.say();
    ASSERT_EQ(said.size(), 1U);
    EXPECT_EQ(said[0].cause, known == 1 ? "loss_or_reordering" : "loss");
  }
}

/// Nor are those lost that are asked for where many are known to be late.
TEST(Diagnosis, WhereManyAreLateOthersAreNotKnownToBeLost) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  maker.lose(c, 22, false);
  What late{.what = IncidentKind::reordering, .place = IncidentPlace::after_capture};
  for (int i = 0; i < 7; ++i) maker.happened(c, late);
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].cause, "reordering");
  EXPECT_EQ(said[0].at_least, 7U);
  EXPECT_EQ(said[0].at_most, 29U);
  ASSERT_EQ(said[0].alternatives.size(), 1U);
}

/// What was captured late is late for its receiver, too.
TEST(Diagnosis, WhatWasCapturedLateIsNotLostBehindTheCapture) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::out_of_order, 26);
  happen(c.sent[0], Event::retransmitted_nak, 800);
  What open{.what = IncidentKind::loss_or_reordering, .place = IncidentPlace::after_capture};
  for (int i = 0; i < 23; ++i) maker.happened(c, open);
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].cause, "reordering");
  EXPECT_EQ(said[0].seen, Whereabouts::upstream);
  EXPECT_NE(said[0].sentence.find("takes late ones for lost, up to 23 times"), std::string::npos)
      << said[0].sentence;
}

/// No packet suffers from a mark, however many have it.
TEST(Diagnosis, WhatHitsTrafficStandsBeforeSettings) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  What open{.what = IncidentKind::loss_or_reordering, .place = IncidentPlace::after_capture};
  maker.happened(c, open);
  c.sent[0].add(Event::illegal_sequence, 7, test_second);
  for (int i = 0; i < 100; ++i) c.sent[0].add(Event::illegal_sequence, 7, test_second);
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0].severity, said[1].severity);
  EXPECT_EQ(said[0].cause, "loss_or_reordering");
  EXPECT_EQ(said[1].cause, "protocol");
}

TEST(Diagnosis, TimersOfTwoHostsAreToldOnce) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  What late;
  late.what = IncidentKind::slow_responder;
  late.place = IncidentPlace::responder;
  late.learned = LearnedBy::timer;
  late.learned_after_ns = 4'200'000;
  for (const unsigned side : {0U, 1U, 0U, 1U}) maker.happened(c, late, side);
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].sentence,
            "10.0.0.1 and 10.0.0.2 send each other requests again before they are answered, 4 times: their "
            "timers expire after 4.20 ms, answers take longer");
  EXPECT_EQ(said[0].level, Level::connection);
  EXPECT_EQ(said[0].advice.find("Raise the local ACK timeout of 10.0.0.1 and 10.0.0.2"), 0U);
}

TEST(Diagnosis, AnswersThatWereThereInTimeAre) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  What repeat{.what = IncidentKind::needless_repeat,
              .place = IncidentPlace::after_capture,
              .learned = LearnedBy::timer};
  repeat.learned_after_ns = 8'400'000;
  repeat.confirmed_ago_ns = 8'390'000;
  repeat.of_responses = true;
  for (int i = 0; i < 20; ++i) maker.happened(c, repeat);
  const auto& said = maker.say();
  ASSERT_FALSE(said.empty());
  EXPECT_EQ(said[0].cause, "answers_lost");
  EXPECT_EQ(said[0].from, host(2));
  EXPECT_EQ(said[0].to, host(1));
  EXPECT_EQ(said[0].seen, Whereabouts::downstream);
}

TEST(Diagnosis, AQueuePairThatEndedIsFatalAndStandsFirst) {
  DiagnosisMaker maker;
  maker.lose(maker.connect(1, 2), 200);
  Connection& refused = maker.connect(3, 4);
  refused.requester[0].refused_fatally = true;
  refused.state = Connection::State::failed;
  maker.happened(refused, {.what = IncidentKind::refused_request,
                           .place = IncidentPlace::responder,
                           .learned = LearnedBy::fatal_nak});
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0].cause, "request_refused");
  EXPECT_EQ(said[0].severity, Consequence::fatal);
  EXPECT_EQ(said[0].cost.failed, 1U);
}

TEST(Diagnosis, TwiceMayBeChance) {
  DiagnosisMaker maker;
  maker.lose(maker.connect(1, 2), 2);
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].severity, Consequence::odd);
}

TEST(Diagnosis, ReadsAskedAgainForDamagedResponsesArePartOfTheDamage) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::icrc_mismatch, 20);
  for (int i = 0; i < 20; ++i)
    maker.happened(c, {.what = IncidentKind::corruption, .place = IncidentPlace::before_capture});
  for (int i = 0; i < 6; ++i) {
    maker.happened(c, {.what = IncidentKind::loss_or_reordering,
                       .place = IncidentPlace::after_capture,
                       .learned = LearnedBy::missing_response,
                       .of_responses = true});
  }
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].cause, "corruption");
}

TEST(Diagnosis, TimersOfFurtherHostsArePartOfWhatManyShow) {
  DiagnosisMaker maker;
  for (unsigned i = 1; i < 5; ++i) maker.lose(maker.connect(i, i + 10), 20);
  Connection& other = maker.connect(5, 15);
  What timer{.what = IncidentKind::timeout, .place = IncidentPlace::not_known, .learned = LearnedBy::timer};
  for (int i = 0; i < 5; ++i) maker.happened(other, timer);
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].cause, "loss");
}

TEST(Diagnosis, WhatMayBeLateIsLostWhereTheSameHostLosesPacketsToOthers) {
  DiagnosisMaker maker;
  for (unsigned to = 2; to < 4; ++to) maker.lose(maker.connect(1, to), 20, false);
  Connection& open = maker.connect(1, 4);
  for (int i = 0; i < 12; ++i) {
    maker.happened(open, {.what = IncidentKind::loss_or_reordering, .place = IncidentPlace::after_capture});
  }
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].sentence.find("10.0.0.1 → 3 hosts lose at least 40 packets downstream of this capture"),
            0U)
      << said[0].sentence;
}

TEST(Diagnosis, LatePacketsAreNoReasonToStopALoss) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::retransmitted_nak, 4000);
  for (int i = 0; i < 40; ++i) {
    maker.happened(c, {.what = IncidentKind::reordering, .place = IncidentPlace::after_capture});
  }
  const auto& said = maker.say();
  ASSERT_FALSE(said.empty());
  EXPECT_EQ(said[0].cause, "reordering");
  EXPECT_EQ(said[0].advice.find("Packets of one queue pair take several paths"), 0U) << said[0].advice;
}

TEST(Diagnosis, TheCommandShowsThePacketsOfAllItsConnections) {
  DiagnosisMaker maker;
  for (unsigned i = 0; i < 2; ++i) maker.lose(maker.connect(1, 2), 20);
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].connection_count, 2U);
  EXPECT_EQ(said[0].advice.find("roce.connection"), std::string::npos) << said[0].advice;
  EXPECT_NE(said[0].advice.find("10.0.0.1"), std::string::npos) << said[0].advice;
}

TEST(Diagnosis, AFewAnswersWithoutEffectAreNoRule) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  What repeat{.what = IncidentKind::needless_repeat,
              .place = IncidentPlace::after_capture,
              .learned = LearnedBy::timer};
  repeat.learned_after_ns = 8'400'000;
  repeat.confirmed_ago_ns = 8'390'000;
  repeat.of_responses = true;
  for (int i = 0; i < 2; ++i) maker.happened(c, repeat);
  const auto& said = maker.say();
  ASSERT_FALSE(said.empty());
  EXPECT_EQ(said[0].sentence,
            "10.0.0.1 sent requests to 10.0.0.2 again, twice, although the answers had passed this capture");
}

TEST(Diagnosis, RnrTroublesCountNaks) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[1], Event::rnr_nak, 60);
  for (int i = 0; i < 12; ++i)
    maker.happened(
        c, {.what = IncidentKind::rnr, .place = IncidentPlace::responder, .learned = LearnedBy::rnr_nak});
  const auto& said = maker.say();
  ASSERT_FALSE(said.empty());
  EXPECT_NE(said[0].sentence.find("RNR NAK 60 times"), std::string::npos) << said[0].sentence;
  EXPECT_EQ(said[0].incident_count, 12U);
}

TEST(Diagnosis, ALostRepeatLeavesTheTimer) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  maker.lose(c, 40);
  maker.snapshot.incidents[3].lost_again = 1;
  maker.snapshot.incidents[5].lost_again = 1;
  const auto& said = maker.say();
  const bool told = std::any_of(said.at(0).facts.begin(), said[0].facts.end(), [](const std::string& fact) {
    return fact.find("At least twice the repeat was lost as well") == 0;
  });
  EXPECT_TRUE(told);
}

TEST(Diagnosis, LossInATunnelNamesItsQueue) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  maker.lose(c, 40);
  OuterRow row;
  row.outer.from = host(101);
  row.outer.to = host(102);
  row.inner = 26 << 2;
  row.packets = 9'000;
  row.first_packet = 1;
  maker.snapshot.flows[*c.flow[0]].outer_to_change().push_back(row);
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 1U) << "the marks are evidence of the loss";
  const bool told = std::any_of(said[0].facts.begin(), said[0].facts.end(), [](const std::string& fact) {
    return fact.find("Between the tunnel ends 10.0.0.101 and 10.0.0.102 they are best effort") == 0;
  });
  EXPECT_TRUE(told);
}

TEST(Diagnosis, PausesOfASwitchAreAnAlternativeOfTimers) {
  for (const bool meanwhile : {true, false}) {
    DiagnosisMaker maker;
    Connection& c = maker.connect(1, 2);
    for (int i = 0; i < 12; ++i) {
      What what;
      what.what = IncidentKind::timeout;
      what.learned = LearnedBy::timer;
      what.start_ns = test_second + 10'000'000 * i;
      maker.happened(c, what);
    }
    PausePort& port = maker.snapshot.pauses.ports.emplace_back();
    port.mac = 0x0200000000ff;
    PauseLane lane;
    lane.pauses = 1;
    lane.longest_ns = 300'000'000;
    lane.xoff.count = 1;
    lane.xoff.first_time_ns = lane.xoff.last_time_ns = meanwhile ? test_second : 8 * test_second;
    port.lanes[3] = std::make_unique<PauseLane>(lane);
    const auto& said = maker.say();
    const auto timers = std::find_if(said.begin(), said.end(),
                                     [](const Diagnosis& d) { return d.cause == "request_or_answer_lost"; });
    ASSERT_NE(timers, said.end());
    EXPECT_EQ(timers->alternatives.at(0).find("held up by pauses: port 02:00:00:00:00:ff") == 0, meanwhile)
        << timers->alternatives[0];
  }
}

TEST(Diagnosis, WhatAMirrorLostIsWhatTheCaptureLacks) {
  DiagnosisMaker maker;
  Connection& connection = maker.connect(1, 2);
  happen(connection.sent[0], Event::lost_by_capture, 12);
  NumberedStream mirror;
  mirror.key.kind = NumberedKind::erspan;
  mirror.counts = true;
  mirror.packets = 4000;
  mirror.missing = 16;
  mirror.first_packet = 7;
  mirror.first_ns = 0;
  mirror.last_ns = test_second;
  maker.snapshot.numbered.streams.push_back(mirror);
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].sentence.find("lost 16 of 4016 packets"), std::string::npos) << said[0].sentence;
  EXPECT_EQ(said[0].advice.find("larger buffer"), std::string::npos) << said[0].advice;
  EXPECT_EQ(said[0].findings.size(), 2U);
}

TEST(RootCauses, EveryFindingHasARoleAndEveryRoleAFinding) {
  for (const FindingRule& rule : finding_rules())
    EXPECT_NE(diagnosis::role_of(rule.id), nullptr) << rule.id << " has no row in root_causes.cpp";
  for (const diagnosis::FindingRole& role : diagnosis::finding_roles())
    EXPECT_NE(find_rule(role.id), nullptr) << role.id << " is no finding";
}

TEST(RootCauses, NoSymptomIsItsOwnCause) {
  // A cause that is explained away must be tried as a symptom before what it would have explained is looked
  // at; so the graph has no cycle of unconditional rows.
  for (const diagnosis::Explains& row : diagnosis::explanations()) {
    EXPECT_NE(row.symptom, row.cause);
    for (const diagnosis::Explains& back : diagnosis::explanations()) {
      const bool cycle = back.symptom == row.cause && back.cause == row.symptom && row.way == back.way;
      EXPECT_FALSE(cycle && row.share == 0 && back.share == 0)
          << diagnosis::root_cause_names[row.symptom] << " and " << diagnosis::root_cause_names[row.cause];
    }
  }
}

/// READs show that answers come late; of requests that ACKs answer nobody knows. The host's timers are the
/// same.
TEST(DiagnosisCauses, TimersThatAreTooShortAreSoTowardsOthers) {
  for (const unsigned requester : {1U, 9U}) {
    DiagnosisMaker maker;
    const auto timers_ran_out = [&](unsigned from, unsigned to, IncidentKind kind) {
      Connection& c = maker.connect(from, to);
      for (int i = 0; i < 4; ++i) {
        What what;
        what.what = kind;
        what.place =
            kind == IncidentKind::slow_responder ? IncidentPlace::responder : IncidentPlace::not_known;
        what.learned = LearnedBy::timer;
        what.start_ns = test_second + i * test_second / 10;
        what.learned_after_ns = 1'000'000;
        maker.happened(c, what);
      }
    };
    for (unsigned to = 11; to < 14; ++to) timers_ran_out(1, to, IncidentKind::slow_responder);
    for (unsigned to = 14; to < 18; ++to) timers_ran_out(requester, to, IncidentKind::timeout);
    const auto& said = maker.say();
    ASSERT_EQ(said.size(), requester == 1 ? 1U : 2U);
    EXPECT_EQ(said[requester == 1 ? 0 : 1].cause, "timer_too_short");
  }
}

/// A queue that trims may drop as well: findings of what was found to be part of a trouble are its evidence.
TEST(DiagnosisCauses, WhatATrimmingQueueDropsIsNotToldAgain) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::lost_trimmed, 100);
  maker.lose(c, 8);
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].cause, "trimming");
  EXPECT_TRUE(std::any_of(said[0].findings.begin(), said[0].findings.end(), [&](std::size_t i) {
    return maker.snapshot.findings[i].id == "loss_before_capture";
  }));
}

/// Where many are lost, one that is taken for late is no trouble of its own; nor is a timer where many are
/// late.
TEST(DiagnosisCauses, OneAmongManyIsNoTroubleOfItsOwn) {
  DiagnosisMaker lossy;
  Connection& c = lossy.connect(1, 2);
  lossy.lose(c, 40);
  lossy.happened(c, {.what = IncidentKind::reordering});
  EXPECT_EQ(lossy.say().size(), 1U);
  EXPECT_EQ(lossy.say()[0].cause, "loss");

  DiagnosisMaker late;
  Connection& d = late.connect(1, 2);
  for (int i = 0; i < 40; ++i) late.happened(d, {.what = IncidentKind::reordering});
  late.happened(
      d,
      {.what = IncidentKind::slow_responder, .place = IncidentPlace::responder, .learned = LearnedBy::timer});
  EXPECT_EQ(late.say().size(), 1U);
  EXPECT_EQ(late.say()[0].cause, "reordering");
}

/// Line LIMITED says it already.
TEST(DiagnosisOfTheCapture, OneDirectionIsToldOnce) {
  for (const bool limited : {true, false}) {
    DiagnosisMaker maker;
    Connection& c = maker.connect_half(1, 2);
    if (limited) maker.snapshot.completeness.one_direction = {c.id};
    const auto found = maker.run("asymmetric_capture");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(maker.say().empty(), limited);
  }
}

/// A message of UC is lost with a packet that is missing, or that came late.
TEST(Diagnosis, MessagesOfUcAreNoLossesBesideTheirPackets) {
  for (const Event packet : {Event::lost_before_capture, Event::lost_trimmed, Event::out_of_order}) {
    DiagnosisMaker maker;
    Connection& c = maker.connect_half(1, 2, dissect::Service::uc);
    happen(c.sent[0], packet, 3);
    happen(c.sent[0], Event::uc_message_lost, 3);
    const auto& said = maker.say();
    ASSERT_EQ(said.size(), 1U) << static_cast<int>(packet);
    EXPECT_EQ(said[0].at_least, 3U);
    EXPECT_EQ(said[0].cause, packet == Event::lost_trimmed   ? "trimming"
                             : packet == Event::out_of_order ? "reordering"
                                                             : "loss");
  }
}

/// Passes that a paused link held back leave it together: what lies between them is no timer.
TEST(Troubles, NoTimerIsShorterThanThatOfCodeOne) {
  diagnosis::Trouble trouble;
  trouble.cause = diagnosis::RootCause::timer_too_short;
  trouble.waits_ns = {1080, 1080};
  EXPECT_EQ(trouble.timer_ns(), 0U);
  trouble.waits_ns = {1080, 8192};
  EXPECT_EQ(trouble.timer_ns(), 8192U);
  trouble.cause = diagnosis::RootCause::pause;
  EXPECT_EQ(trouble.timer_ns(), 1080U);
}

/// Two halves: what one sends may be the answers that the other waits for.
TEST(Diagnosis, AnswersOfWhichNobodyKnowsWhoseTheyAreAreAnswers) {
  const auto said = [](unsigned from, unsigned to, std::uint64_t acks) {
    DiagnosisMaker maker;
    Connection& asks = maker.connect_half(1, 2);
    Connection& half = maker.connect_half(from, to);
    half.requester[1].acks = acks;
    What timer{.what = IncidentKind::timeout, .place = IncidentPlace::not_known, .learned = LearnedBy::timer};
    for (int i = 0; i < 5; ++i) maker.happened(asks, timer);
    for (const Diagnosis& d : maker.say()) {
      if (d.cause == "request_or_answer_lost") return d.sentence;
    }
    return std::string();
  };
  const std::string known = "10.0.0.2 sent answers that could not be matched to a queue pair";
  EXPECT_NE(said(2, 1, 7).find(known), std::string::npos) << said(2, 1, 7);
  EXPECT_NE(said(2, 1, 0).find("no answer to them came in time"), std::string::npos) << said(2, 1, 0);
  EXPECT_NE(said(3, 1, 7).find("no answer to them came in time"), std::string::npos) << said(3, 1, 7);
}

}  // namespace
}  // namespace roce::analyze
