// SPDX-License-Identifier: Apache-2.0
// Episodes written down as text, and the incidents that they are made of.
#include "analyze/episode/incidents.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/analyze/episode/episode_text.hpp"

namespace roce::analyze::episode {
namespace incidents_test {
namespace {

/// Of each line what follows '|' is the number of its incident, from 1, or nothing.
struct Told {
  std::vector<EpisodeLine> lines;
  Explanation said;
  Incidents found;
};

Told tell(const std::string& text, std::vector<Damaged> damaged = {}, Facts facts = {}) {
  Told told;
  told.lines = parse_episode(text);
  std::vector<Note> notes;
  for (const EpisodeLine& line : told.lines) notes.push_back(line.note);
  facts.first = notes.front().psn;
  facts.acked = facts.acked == 0 ? notes.front().psn : facts.acked;
  Facts learning = facts;
  told.said = explain(notes, learning);
  told.found = incidents_of(notes, told.said, facts, damaged);
  std::uint32_t repeats = 0;
  for (const Ruling& ruling : told.said.rulings) repeats += ruling.what == Ruling::What::repeat ? 1U : 0U;
  std::uint32_t counted = 0;
  for (const Incident& incident : told.found.all) counted += incident.repeated_packets;
  EXPECT_EQ(counted, repeats) << "every repeat is of one incident";
  for (std::size_t i = 0; i < told.lines.size(); ++i) {
    const std::int32_t of = told.found.of_note[i];
    EXPECT_EQ(of < 0 ? "" : std::to_string(of + 1), told.lines[i].expected) << "line " << i + 1;
  }
  return told;
}

std::int64_t us(std::int64_t microseconds) {
  return 1'000'000'000 + microseconds * 1000;
}

TEST(Incidents, ALossItsNakAndItsPassAreOne) {
  const Told told = tell(
      "0 write 10 | \n"
      "2 write 12 | 1\n"
      "3 write 13 | 1\n"
      "20 nak 11  | 1\n"
      "25 write 11 | 1\n"
      "26 write 12 | 1\n"
      "27 write 13 | 1\n"
      "50 ack 13   | \n");
  ASSERT_EQ(told.found.all.size(), 1U);
  const Incident& incident = told.found.all[0];
  EXPECT_EQ(incident.what, IncidentKind::loss);
  EXPECT_EQ(incident.place, IncidentPlace::before_capture);
  EXPECT_TRUE(incident.is_known_by(PlaceEvidence::gap_sent_again));
  EXPECT_EQ(incident.lost_before, 1U);
  EXPECT_EQ(incident.lost_after, 0U);
  EXPECT_EQ(incident.repeated_packets, 3U);
  EXPECT_EQ(incident.repeated_bytes, 3000U);
  EXPECT_EQ(incident.discarded_packets, 2U) << "what came behind the gap";
  EXPECT_EQ(incident.learned, LearnedBy::sequence_nak);
  EXPECT_EQ(incident.learned_after_ns, 18'000) << "from the first packet behind the gap";
  EXPECT_EQ(incident.start_ns, us(2));
  EXPECT_EQ(incident.end_ns, us(50));
  EXPECT_EQ(incident.stalled_ns, 23'000);
  EXPECT_EQ(incident.recovery_ns, 48'000);
  EXPECT_TRUE(incident.over);
  EXPECT_EQ(incident.first_frame, 2U);
  EXPECT_EQ(incident.last_frame, 8U);
  EXPECT_EQ(incident.undecided, 0U);
}

/// Of two interfaces whose clocks differ: the answers are stamped, and stand in the file, before their
/// requests.
TEST(Incidents, AnswersThatStandInFrontOfTheirRequestsAreWithinIt) {
  std::vector<Note> notes;
  for (const EpisodeLine& line : parse_episode("0 write 10 | \n"
                                               "2 write 12 | \n"
                                               "20 nak 11  | \n"
                                               "25 write 11 | \n"
                                               "26 write 12 | \n"
                                               "50 ack 12   | \n"))
    notes.push_back(line.note);
  for (Note& note : notes) note.frame += note.request ? 100 : 0;
  Facts facts;
  facts.first = facts.acked = notes.front().psn;
  Facts learning = facts;
  const Explanation said = explain(notes, learning);
  const Incidents found = incidents_of(notes, said, facts, {});
  ASSERT_EQ(found.all.size(), 1U);
  EXPECT_EQ(found.all[0].first_frame, 3U) << "the NAK";
  EXPECT_EQ(found.all[0].last_frame, 105U) << "the last repeat";
}

TEST(Incidents, TwoLossesWithAPassEachAreTwo) {
  const Told told = tell(
      "0 write 10 | \n"
      "2 write 12 | 1\n"
      "20 nak 11  | 1\n"
      "25 write 11 | 1\n"
      "26 write 12 | 1\n"
      "50 ack 12   | \n"
      "60 write 13 | \n"
      "62 write 15 | 2\n"
      "80 nak 14   | 2\n"
      "85 write 14 | 2\n"
      "86 write 15 | 2\n"
      "99 ack 15   | \n");
  ASSERT_EQ(told.found.all.size(), 2U);
  EXPECT_EQ(told.found.all[1].lost_before, 1U);
  EXPECT_EQ(told.found.all[1].start_ns, us(62));
}

TEST(Incidents, WhatIsLostInTheRepairIsAnotherOnceTheFirstIsRepaired) {
  const Told told = tell(
      "0 write 10  | \n"
      "2 write 12  | 1\n"
      "3 write 13  | 1\n"
      "20 nak 11   | 1\n"
      "25 write 11 | 1\n"
      "27 write 13 | 1\n"
      "40 nak 12   | 2\n"
      "45 write 12 | 2\n"
      "46 write 13 | 2\n"
      "70 ack 13   | \n");
  ASSERT_EQ(told.found.all.size(), 2U);
  EXPECT_EQ(told.found.all[0].lost_before, 1U);
  EXPECT_EQ(told.found.all[0].recovery_ns, 38'000) << "the next NAK confirms it";
  EXPECT_EQ(told.found.all[1].lost_before, 1U);
  EXPECT_EQ(told.found.all[1].start_ns, us(27)) << "the first packet behind what is missing";
  EXPECT_EQ(told.found.all[1].stalled_ns, 18'000);
  EXPECT_EQ(told.found.all[1].learned_after_ns, 13'000);
}

TEST(Incidents, WhatIsLostAgainIsTheSame) {
  const Told told = tell(
      "0 write 10  | \n"
      "2 write 12  | 1\n"
      "20 nak 11   | 1\n"
      "25 write 11 | 1\n"
      "26 write 12 | 1\n"
      "50 nak 11   | 1\n"
      "55 write 11 | 1\n"
      "56 write 12 | 1\n"
      "80 ack 12   | \n");
  ASSERT_EQ(told.found.all.size(), 1U);
  EXPECT_EQ(told.found.all[0].retries, 2U);
}

TEST(Incidents, UpstreamOfALossItIsALowerBound) {
  const Told told = tell(
      "0 write 10  | \n"
      "1 write 11  | 1\n"
      "2 write 12  | 1\n"
      "3 write 13  | 1\n"
      "20 nak 11   | 1\n"
      "25 write 11 | 1\n"
      "26 write 12 | 1\n"
      "27 write 13 | 1\n"
      "50 ack 13   | \n");
  ASSERT_EQ(told.found.all.size(), 1U);
  const Incident& incident = told.found.all[0];
  EXPECT_EQ(incident.place, IncidentPlace::after_capture);
  EXPECT_TRUE(incident.is_known_by(PlaceEvidence::nak_names_it));
  EXPECT_EQ(incident.lost_at_least(), 1U);
  EXPECT_EQ(incident.lost_at_most, 3U);
  EXPECT_EQ(incident.discarded_packets, 2U);
  EXPECT_TRUE(incident.is_undecided(Undecided::further_losses));
}

TEST(Incidents, WhatCameLateAndWasAskedForIsReordering) {
  const Told told = tell(
      "0 write 10 #100 | \n"
      "1 write 11 #101 | \n"
      "3 write 13 #103 | 1\n"
      "4 write 12 #102 | 1\n"
      "20 nak 12       | 1\n"
      "25 write 12 #104 | 1\n"
      "26 write 13 #105 | 1\n"
      "50 ack 13 | \n");
  ASSERT_EQ(told.found.all.size(), 1U);
  EXPECT_EQ(told.found.all[0].what, IncidentKind::reordering);
  EXPECT_EQ(told.found.all[0].lost_at_most, 0U);
}

TEST(Incidents, WhatWasConfirmedBeforeItWasSentAgainWasNotLost) {
  const Told told = tell(
      "0 write 10  | \n"
      "1 write 11  | 1\n"
      "2 write 12  | 1\n"
      "20 nak 11   | 1\n"
      "22 ack 12   | \n"
      "25 write 11 | 1\n"
      "26 write 12 | 1\n"
      "50 ack 12   | \n");
  ASSERT_EQ(told.found.all.size(), 1U);
  EXPECT_EQ(told.found.all[0].what, IncidentKind::reordering);
  EXPECT_EQ(told.found.all[0].place, IncidentPlace::after_capture);
}

TEST(Incidents, ATimerChainOfOnePsnIsOne) {
  const Told told = tell(
      "0 write 10      | \n"
      "1 write 11      | 1\n"
      "20 ack 10       | \n"
      "67000 write 11  | 1\n"
      "134000 write 11 | 1\n"
      "134020 ack 11   | \n");
  ASSERT_EQ(told.found.all.size(), 1U);
  const Incident& incident = told.found.all[0];
  EXPECT_EQ(incident.what, IncidentKind::timeout);
  EXPECT_EQ(incident.learned, LearnedBy::timer);
  EXPECT_EQ(incident.learned_after_ns, 66'999'000);
  EXPECT_EQ(incident.retries, 2U);
  EXPECT_TRUE(incident.is_undecided(Undecided::request_or_answer));
  EXPECT_EQ(incident.lost_at_least(), 0U);
  EXPECT_EQ(incident.stalled_ns, 133'999'000);
}

/// What a host that was held up sends at once tells of no time.
TEST(Incidents, NoTimerIsShort) {
  std::string text;
  for (int psn = 10; psn < 16; ++psn)
    text += std::to_string(psn) + " write " + std::to_string(psn) + " #" + std::to_string(psn) + " | \n";
  const Told told = tell(text +
                         "40 ack 15       | \n"
                         "50000 write 16 #20 | 1\n"
                         "50001 write 16 #21 | 1\n"
                         "50100 ack 16    | \n"
                         "50101 ack 16    | \n");
  ASSERT_EQ(told.found.all.size(), 1U);
  EXPECT_EQ(told.found.all[0].learned, LearnedBy::timer);
  EXPECT_EQ(told.found.all[0].learned_after_ns, Incident::unknown_ns);
}

TEST(Incidents, ALostRepeatWaitsForTheTimer) {
  // The responder has sent its NAK for the gap (IBTA 9.7.5.2.8).
  const Told told = tell(
      "0 write 10      | \n"
      "2 write 12      | 1\n"
      "20 nak 11       | 1\n"
      "26 write 12     | 1\n"
      "67000 write 11  | 1\n"
      "67001 write 12  | 1\n"
      "67030 ack 12    | \n");
  ASSERT_EQ(told.found.all.size(), 1U);
  EXPECT_EQ(told.found.all[0].what, IncidentKind::loss);
  EXPECT_EQ(told.found.all[0].lost_before, 2U);
  EXPECT_EQ(told.found.all[0].lost_again, 1U);
  EXPECT_EQ(told.found.all[0].lost_least_bytes, 1000U);
}

TEST(Incidents, WithoutAnAnswerItIsNotOver) {
  const Told told = tell(
      "0 write 10      | \n"
      "1 write 11      | 1\n"
      "20 ack 10       | \n"
      "67000 write 11  | 1\n");
  ASSERT_EQ(told.found.all.size(), 1U);
  EXPECT_FALSE(told.found.all[0].over);
  EXPECT_TRUE(told.found.all[0].is_undecided(Undecided::end_not_captured));
  EXPECT_EQ(told.found.all[0].recovery_ns, Incident::unknown_ns);
}

TEST(Incidents, WhatHadBeenConfirmedHereIsSentAgainInVain) {
  const Told told = tell(
      "0 write 10      | \n"
      "1 write 11      | 1\n"
      "20 ack 11       | \n"
      "67000 write 11  | 1\n"
      "67020 ack 11    | \n");
  ASSERT_EQ(told.found.all.size(), 1U);
  EXPECT_EQ(told.found.all[0].what, IncidentKind::needless_repeat);
  EXPECT_TRUE(told.found.all[0].of_responses);
  EXPECT_EQ(told.found.all[0].place, IncidentPlace::after_capture) << "where the answer went";
}

/// A duplicate is confirmed sooner than what has to be executed: that is not the answer to the first one.
TEST(Incidents, WhoConfirmsADuplicateAtOnceHadNotBeenSlow) {
  Facts facts;
  facts.fastest_answer_ns = 19'000;
  const Told told = tell(
      "0 write 10      | \n"
      "1 write 11      | 1\n"
      "20 ack 11       | \n"
      "67000 write 11  | 1\n"
      "67002 ack 11    | \n",
      {}, facts);
  ASSERT_EQ(told.found.all.size(), 1U);
  EXPECT_EQ(told.found.all[0].what, IncidentKind::needless_repeat);
  EXPECT_EQ(told.found.all[0].place, IncidentPlace::after_capture);
}

TEST(Incidents, AReceiverThatIsNotReady) {
  const Told told = tell(
      "0 write 10   | 1\n"
      "1 write 11   | 1\n"
      "20 rnr 10    | 1\n"
      "2020 write 10 | 1\n"
      "2021 write 11 | 1\n"
      "2050 ack 11  | \n");
  ASSERT_EQ(told.found.all.size(), 1U);
  EXPECT_EQ(told.found.all[0].what, IncidentKind::rnr);
  EXPECT_EQ(told.found.all[0].learned, LearnedBy::rnr_nak);
  EXPECT_EQ(told.found.all[0].rnr_wait_ns, 10'000);
  EXPECT_EQ(told.found.all[0].place, IncidentPlace::responder);
}

TEST(Incidents, AMissingResponseIsTheImpliedNak) {
  const Told told = tell(
      "0 read 10     | \n"
      "1 read 11     | 1\n"
      "2 read 12     | 1\n"
      "20 response 10 | \n"
      "21 response 12 | 1\n"
      "30 read 11     | 1\n"
      "31 read 12     | 1\n"
      "50 response 11 | 1\n"
      "51 response 12 | 1\n");
  ASSERT_EQ(told.found.all.size(), 1U);
  const Incident& incident = told.found.all[0];
  EXPECT_EQ(incident.what, IncidentKind::loss);
  EXPECT_TRUE(incident.of_responses);
  EXPECT_EQ(incident.learned, LearnedBy::missing_response);
  EXPECT_EQ(incident.learned_after_ns, 9'000);
  EXPECT_EQ(incident.cause, Cause::read_retry);
}

TEST(Incidents, ARefusedRequestNeedsNoRepeat) {
  const Told told = tell(
      "0 write 10    | 1\n"
      "20 refused 10 | 1\n");
  ASSERT_EQ(told.found.all.size(), 1U);
  EXPECT_EQ(told.found.all[0].what, IncidentKind::refused_request);
  EXPECT_EQ(told.found.all[0].learned, LearnedBy::fatal_nak);
  EXPECT_TRUE(told.found.all[0].over);
}

TEST(Incidents, WhatCameDamagedIsCorruptionNotLoss) {
  const Told told = tell(
      "0 write 10 | \n"
      "2 write 12 | 1\n"
      "20 nak 11  | 1\n"
      "25 write 11 | 1\n"
      "26 write 12 | 1\n"
      "50 ack 12   | \n",
      {{.psn = 11, .time_ns = us(1), .frame = 1, .request = true},
       {.psn = 77, .time_ns = us(1), .frame = 1, .request = true}});
  ASSERT_EQ(told.found.all.size(), 1U);
  EXPECT_EQ(told.found.all[0].what, IncidentKind::corruption);
  EXPECT_TRUE(told.found.all[0].is_known_by(PlaceEvidence::icrc_wrong));
  EXPECT_EQ(told.found.of_damaged, (std::vector<std::int32_t>{0, -1}));
}

TEST(Incidents, WhatTheCaptureMissedIsNone) {
  const Told told = tell(
      "0 write 10 | \n"
      "2 write 12 | \n"
      "20 ack 12  | \n"
      "21 write 13 | \n");
  EXPECT_TRUE(told.found.all.empty());
}

TEST(Incidents, ACleanEpisodeOfLatePacketsIsNone) {
  const Told told = tell(
      "0 write 10 | \n"
      "1 write 12 | \n"
      "2 write 11 | \n"
      "3 write 13 | \n"
      "20 ack 13  | \n");
  EXPECT_TRUE(told.found.all.empty());
}

}  // namespace
}  // namespace incidents_test
}  // namespace roce::analyze::episode
