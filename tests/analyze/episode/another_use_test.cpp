// SPDX-License-Identifier: Apache-2.0
// Where the numbers of queue pairs are used again, and where what was captured before is only sent or shown
// again.
#include "analyze/episode/another_use.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "tests/analyze/episode/episode_text.hpp"

namespace roce::analyze::episode {
namespace another_use_test {
namespace {

/// Four messages, each acknowledged, from PSN 10 on.
Facts after_four() {
  Facts facts;
  facts.first = 10;
  facts.began_with = 10;
  facts.began_id = 700;
  facts.acked = 14;
  facts.msn_known = true;
  facts.msn = 4;
  facts.requests.id_forward = 100;
  return facts;
}

/// `msn`: of the answers, in order.
Use used(const std::string& before, const std::string& since, const std::vector<std::uint32_t>& msn,
         const Facts& facts = after_four()) {
  std::vector<Note> notes;
  const auto add = [&](const std::string& text, bool remembered) {
    for (const EpisodeLine& line : parse_episode(text)) {
      notes.push_back(line.note);
      notes.back().before = remembered;
    }
  };
  add(before, true);
  const std::size_t begins = notes.size();
  add(since, false);
  auto count = msn.begin();
  for (Note& note : notes) {
    if (note.has_aeth && !note.before) note.aeth |= *count++;
  }
  const std::span<const Note> all(notes);
  AnotherUse watched(all.first(begins), facts);
  for (const Note& note : all.subspan(begins)) {
    if (const Use use = watched.take(note); use != Use::unknown) return use;
  }
  return Use::unknown;
}

TEST(AnotherUse, CountsMessagesAnew) {
  EXPECT_EQ(used("0 write 13 | \n",
                 "9000 write 10 | \n"
                 "9001 ack 10   | \n",
                 {1}),
            Use::another);
}

TEST(AnotherUse, IsNoneWhereTheCountGoesOn) {
  EXPECT_EQ(used("0 write 13 | \n",
                 "9000 write 13 | \n"
                 "9001 ack 13   | \n",
                 {4}),
            Use::same);
}

TEST(AnotherUse, SendsOtherThings) {
  EXPECT_EQ(used("0 write 13 | \n", "9000 read 13 +4 | \n", {}), Use::another);
}

/// The responder has counted four messages, and they are those from PSN 10 on: there was none before.
TEST(AnotherUse, NothingCameBeforeTheFirstMessage) {
  const std::string all = "0 write 10 | \n1 write 11 | \n2 write 12 | \n3 write 13 | \n";
  EXPECT_EQ(used(all, "9000 write 5 | \n", {}), Use::another);
  // With one more the first message was not captured: what comes again may be it.
  Facts more = after_four();
  more.msn = 5;
  EXPECT_EQ(used(all, "9000 write 9 | \n", {}, more), Use::unknown);
  EXPECT_EQ(used(all, "9000 write 12 | \n", {}), Use::unknown);
}

/// A host hands over what it received before what it sent.
TEST(AnotherUse, AnswersMayComeFirst) {
  EXPECT_EQ(used("0 write 13 | \n",
                 "9001 ack 10   | \n"
                 "9000 write 10 | \n",
                 {1}),
            Use::another);
  EXPECT_EQ(used("0 write 13 | \n",
                 "9000 write 10 | \n"
                 "9002 ack 11   | \n"
                 "9001 write 11 | \n",
                 {2}),
            Use::another);
}

TEST(AnotherUse, NobodyFollowsAStray) {
  EXPECT_EQ(used("0 write 13 | \n", "9000 write 9000013 | \n", {}), Use::unknown);
  EXPECT_EQ(used("0 write 13 | \n",
                 "9000 write 9000013 | \n"
                 "9001 write 9000014 | \n",
                 {}),
            Use::another);
}

TEST(AnotherUse, IsNotKnownWithoutAnAnswer) {
  EXPECT_EQ(used("0 write 13 | \n", "9000 write 13 | \n", {}), Use::unknown);
}

/// The capture of another point, merged into this one: the count of messages begins anew there too.
TEST(AnotherUse, HasIdsOfItsOwn) {
  EXPECT_EQ(used("0 write 13 #703 | \n",
                 "640000 write 10 #700 | \n"
                 "640001 ack 10        | \n",
                 {1}),
            Use::shown_again);
  EXPECT_EQ(used("0 write 13 #703 | \n",
                 "640000 write 13 #703 | \n"
                 "640001 ack 13        | \n",
                 {1}),
            Use::shown_again);
  EXPECT_EQ(used("0 write 13 #703 | \n",
                 "640000 write 10 #704 | \n"
                 "640001 ack 10        | \n",
                 {1}),
            Use::another);
  Facts constant = after_four();
  constant.requests = {};
  constant.requests.id_constant = 100;
  EXPECT_EQ(used("0 write 13 #700 | \n",
                 "640000 write 10 #700 | \n"
                 "640001 ack 10        | \n",
                 {1}, constant),
            Use::another);
}

}  // namespace
}  // namespace another_use_test
}  // namespace roce::analyze::episode
