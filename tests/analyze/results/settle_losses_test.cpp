// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/settle_losses.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "analyze/packet/verdict_store.hpp"
#include "tests/analyze/results/hand_made.hpp"

namespace roce::analyze {
namespace {

std::uint64_t lost(const Snapshot& s, Lost where) {
  return s.flows[0].sequence().lost[static_cast<std::size_t>(where)];
}

/// Three lost upstream, six downstream, and two that were sent again with others, all shown by packet 7.
struct Losses {
  Losses() {
    snapshot.flows[0].sequence_to_change().lost[static_cast<std::size_t>(Lost::undecided)] = 2;
    Events& sent = snapshot.connections[0].sent[0];
    sent = {};
    sent.add(Event::lost_before_capture, 7, 100, 3);
    sent.add(Event::lost_after_capture, 8, 200, 6);
    sent.add(Event::lost_undecided, 9, 300, 2);
    snapshot.incidents.clear();
    Incident incident;
    incident.what = IncidentKind::loss;
    incident.place = IncidentPlace::before_capture;
    incident.lost_before = 2;
    incident.lost_or_missed = 2;
    snapshot.incidents.push_back(incident);
    Verdict& verdict = *verdicts.at(7);
    verdict.connection = 0;
    verdict.lost_before = 3;
    verdict.lost_or_missed = 2;
    verdict.lost_after = 6;
  }
  void settle() { settle_losses(snapshot, &verdicts); }
  [[nodiscard]] std::uint64_t shown(Lost where) { return verdicts.find(7)->lost(where); }
  [[nodiscard]] std::uint64_t count(Event event) const {
    return snapshot.connections[0].sent[0].count(event);
  }

  Snapshot snapshot = hand_made();
  VerdictStore verdicts;
};

TEST(SettleLosses, WhatIsSentAgainWithOthersWasLostWhereTheCaptureMissesNothing) {
  Losses all;
  all.settle();
  EXPECT_EQ(lost(all.snapshot, Lost::before_capture), 5U);
  EXPECT_EQ(lost(all.snapshot, Lost::undecided), 0U);
  EXPECT_EQ(all.count(Event::lost_before_capture), 5U);
  EXPECT_EQ(all.count(Event::lost_undecided), 0U);
  EXPECT_EQ(all.shown(Lost::before_capture), 5U);
  EXPECT_EQ(all.snapshot.incidents[0].what, IncidentKind::loss);
  EXPECT_EQ(all.snapshot.completeness.undecided, 0U);
}

TEST(SettleLosses, ItMayNotHaveBeenCapturedWhereOthersWereNot) {
  Losses all;
  all.snapshot.completeness.missing_elsewhere = 1;
  all.settle();
  EXPECT_EQ(lost(all.snapshot, Lost::before_capture), 3U);
  EXPECT_EQ(lost(all.snapshot, Lost::after_capture), 6U);
  EXPECT_EQ(lost(all.snapshot, Lost::undecided), 2U);
  EXPECT_EQ(all.shown(Lost::undecided), 2U);
  EXPECT_EQ(all.snapshot.completeness.undecided, 2U);
  EXPECT_TRUE(all.snapshot.completeness.limited());
  const Incident& incident = all.snapshot.incidents[0];
  EXPECT_EQ(incident.what, IncidentKind::unexplained);
  EXPECT_EQ(incident.lost_at_least(), 0U);
  EXPECT_EQ(incident.lost_at_most, 2U);
  EXPECT_TRUE(incident.is_undecided(Undecided::capture_incomplete));
}

TEST(SettleLosses, NorWhereNothingIsKnownToBeLostUpstream) {
  Losses all;
  Events& sent = all.snapshot.connections[0].sent[0];
  sent = {};
  sent.add(Event::lost_undecided, 9, 300, 2);
  all.settle();
  EXPECT_EQ(lost(all.snapshot, Lost::undecided), 2U);
  EXPECT_EQ(all.count(Event::lost_undecided), 2U);
}

TEST(SettleLosses, ASampleTellsNoLosses) {
  Losses all;
  all.snapshot.completeness.sampled = Completeness::Sampled{16, true};
  all.settle();
  for (const Lost where : {Lost::before_capture, Lost::after_capture}) {
    EXPECT_EQ(lost(all.snapshot, where), 0U);
    EXPECT_EQ(all.shown(where), 0U);
  }
  EXPECT_EQ(lost(all.snapshot, Lost::undecided), 11U);
  EXPECT_EQ(all.count(Event::lost_undecided), 11U);
  EXPECT_EQ(all.shown(Lost::undecided), 11U);
  EXPECT_EQ(all.snapshot.flows[0].sequence().lost_packets(), 0U);
  EXPECT_EQ(all.snapshot.incidents[0].what, IncidentKind::unexplained);
  EXPECT_EQ(all.snapshot.completeness.undecided, 0U);  // it is said that it is a sample
}

}  // namespace
}  // namespace roce::analyze
