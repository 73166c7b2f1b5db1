// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/completeness.hpp"

#include <gtest/gtest.h>

#include <string>

#include "analyze/results/capture_health.hpp"
#include "tests/analyze/results/hand_made.hpp"

namespace roce::analyze {
namespace {

/// One of RC with both directions, in which nothing is wrong.
Snapshot healthy() {
  Snapshot s = hand_made();
  s.connections.resize(1);
  s.flows.resize(2);
  s.flows[0].sequence_to_change().duplicate_captures = 0;
  s.gaps.acknowledged = {.spaces = 1, .span = 1000, .firsts = 1000};
  return s;
}

/// As if a mirror had passed one packet of `one_in`, by `distances` between two captured ones.
Snapshot sampled(std::uint64_t one_in, const std::vector<std::uint64_t>& distances) {
  Snapshot s = healthy();
  const std::uint64_t captured = 101;
  s.gaps.acknowledged = {
      .spaces = 1, .span = 1 + one_in * (captured - 1), .firsts = captured, .breaks = captured - 1};
  for (std::uint64_t i = 0; i + 1 < captured; ++i)
    s.gaps.add(SequenceStep{distances[i % distances.size()] - 1, 1});
  return s;
}

std::string limits_of(Snapshot s) {
  s.completeness = completeness_of(s);
  return capture_limits_text(s);
}

TEST(Completeness, a_whole_capture_has_no_limits) {
  Snapshot s = healthy();
  s.completeness = completeness_of(s);
  EXPECT_FALSE(s.completeness.limited());
  EXPECT_TRUE(s.completeness.may_judge_losses());
  EXPECT_EQ(capture_limits_text(s), "");
  EXPECT_TRUE(capture_health(s).good());
}

TEST(Completeness, sampling_by_count_has_even_distances) {
  const Completeness found = completeness_of(sampled(16, {16}));
  ASSERT_TRUE(found.sampled);
  EXPECT_DOUBLE_EQ(found.sampled->one_in, 16);
  EXPECT_EQ(found.sampled->regular, true);
  EXPECT_FALSE(found.may_judge_losses());
  EXPECT_EQ(
      limits_of(sampled(16, {16})),
      "This capture is sampled, about 1 packet in 16, counted off regularly: losses, retransmissions and "
      "answers cannot be judged");
}

TEST(Completeness, sampling_at_random_has_distances_of_all_sizes) {
  const Completeness found = completeness_of(sampled(16, {1, 3, 5, 8, 11, 14, 17, 22, 29, 50}));
  ASSERT_TRUE(found.sampled);
  EXPECT_EQ(found.sampled->regular, false);
  EXPECT_NE(limits_of(sampled(16, {1, 3, 5, 8, 11, 14, 17, 22, 29, 50})).find("1 packet in 16 at random"),
            std::string::npos);
}

TEST(Completeness, a_few_packets_do_not_tell_how_they_were_sampled) {
  Snapshot s = sampled(100, {100});
  s.gaps.acknowledged = {.spaces = 1, .span = 201, .firsts = 3, .breaks = 2};
  s.gaps.steps.resize(2);
  const Completeness found = completeness_of(s);
  ASSERT_TRUE(found.sampled);
  EXPECT_FALSE(found.sampled->regular);
}

TEST(Completeness, what_was_lost_and_sent_again_was_not_sampled) {
  Snapshot s = healthy();
  // Every second packet is lost upstream, and sent again until it is there.
  s.gaps.acknowledged = {
      .spaces = 1, .span = 1000, .firsts = 500, .refilled = 490, .repeats = 700, .breaks = 250};
  EXPECT_FALSE(completeness_of(s).sampled);
  // The same, sampled.
  s.gaps.acknowledged.refilled = 200;
  EXPECT_TRUE(completeness_of(s).sampled);
}

TEST(Completeness, what_is_missing_in_one_piece_was_not_sampled) {
  Snapshot s = healthy();
  s.gaps.acknowledged = {.spaces = 1, .span = 3000, .firsts = 1000, .breaks = 1};
  EXPECT_FALSE(completeness_of(s).sampled);
}

TEST(Completeness, a_hole_is_where_all_jump_at_once) {
  Snapshot s = healthy();
  s.gaps.add(UnseenRow{.before = 98, .frame = 101, .before_ns = 10, .ns = 40, .psns = 5});
  s.gaps.add(UnseenRow{.before = 100, .frame = 102, .before_ns = 20, .ns = 50, .psns = 7});
  s.gaps.add(UnseenRow{.before = 300, .frame = 310, .psns = 1});  // dropped somewhere
  const Completeness found = completeness_of(s);
  ASSERT_EQ(found.holes.size(), 1U);
  EXPECT_EQ(found.holes[0].after, 100U);
  EXPECT_EQ(found.holes[0].before, 101U);
  EXPECT_EQ(found.holes[0].packets, 12U);
  EXPECT_EQ(found.holes[0].from_ns, 20);
  EXPECT_EQ(found.holes[0].to_ns, 40);
  EXPECT_TRUE(found.may_judge_losses());
  EXPECT_TRUE(found.limited());
  EXPECT_TRUE(found.explains_missing(110));
  EXPECT_FALSE(found.explains_missing(5000));
}

TEST(Completeness, what_only_unreliable_connections_lack_may_be_lost) {
  Snapshot s = healthy();
  s.gaps.add(UnseenRow{.before = 100, .frame = 101, .psns = 30, .delivered = false});
  EXPECT_TRUE(completeness_of(s).holes.empty());
}

TEST(Completeness, what_nobody_missed_is_not_captured_or_lost_all_at_once) {
  Snapshot s = healthy();
  s.gaps.add(UnseenRow{.before = 100, .frame = 101, .psns = 30, .delivered = false, .odd = true});
  const Completeness found = completeness_of(s);
  ASSERT_EQ(found.holes.size(), 1U);
  EXPECT_FALSE(found.holes[0].delivered);
  EXPECT_TRUE(found.limited());
}

TEST(Completeness, messages_without_an_end_were_filtered) {
  Snapshot s = healthy();
  s.totals.opcodes[0x06] = 40;  // RC RDMA WRITE First
  s.totals.opcodes[0x11] = 40;
  s.gaps.acknowledged = {.spaces = 1, .span = 640, .firsts = 40, .breaks = 39, .breaks_at_start = 39};
  const Completeness found = completeness_of(s);
  EXPECT_EQ(found.opcode_filtered, (std::vector<std::string>{"RC RDMA WRITE Middle", "RC RDMA WRITE Last"}));
  EXPECT_FALSE(found.sampled);
  EXPECT_FALSE(found.may_judge_losses());
  // A long message that does not end in the capture lacks nothing.
  s.totals.opcodes[0x07] = 600;
  s.gaps.acknowledged = {.spaces = 40, .span = 640, .firsts = 640};
  EXPECT_TRUE(completeness_of(s).opcode_filtered.empty());
}

TEST(Completeness, sends_that_nobody_acknowledges_were_filtered) {
  Snapshot s = healthy();
  s.connections[0].requester[0].requests = 100;
  s.totals.opcodes[0x04] = 100;  // RC SEND Only
  EXPECT_EQ(completeness_of(s).opcode_filtered, std::vector<std::string>{"RC Acknowledge"});
  // Who sends the same again and again has no answer.
  Connection& c = s.connections[0];
  const std::uint64_t packets = c.packets[0];
  c.requester[0].trouble->worst_chain.resends = 7;
  c.requester[0].trouble->worst_chain.answered = false;
  c.packets[0] = 100;
  for (int i = 0; i < 80; ++i) c.sent[0].add(Event::retransmitted_timeout, 1, capture::no_time);
  EXPECT_TRUE(completeness_of(s).opcode_filtered.empty());
  c.packets[0] = packets;
  c.sent[0] = Events{};
  s.totals.opcodes[0x11] = 10;
  EXPECT_TRUE(completeness_of(s).opcode_filtered.empty());
  // Who selects packets here does not filter the capture.
  s.totals.opcodes[0x11] = 0;
  ++s.frames_read;
  EXPECT_TRUE(completeness_of(s).opcode_filtered.empty());
}

/// A responder that is asked for the rest of a READ begins that answer with a First, and breaks off the one
/// before, of which no Last is left.
TEST(Completeness, answers_to_the_rest_of_one_read_need_no_end) {
  Snapshot s = healthy();
  s.totals.opcodes[0x0c] = 30;  // RC RDMA READ Request
  s.totals.opcodes[0x0d] = 12;  // ... Response First
  s.totals.opcodes[0x0e] = 900;
  s.gaps.acknowledged = {.spaces = 1, .span = 1000, .firsts = 940, .responses = 940, .breaks = 20};
  EXPECT_EQ(completeness_of(s).opcode_filtered, std::vector<std::string>{"RC RDMA READ Response Last"});
  for (int i = 0; i < 27; ++i)
    s.connections[0].sent[0].add(Event::retransmitted_read_retry, 1, capture::no_time);
  EXPECT_TRUE(completeness_of(s).opcode_filtered.empty());
}

/// Who sends all again, for whatever reason, had no answer: no filter makes a sender repeat.
TEST(Completeness, reads_that_nobody_answers_may_be_sent_to_the_dead) {
  Snapshot s = healthy();
  Connection& c = s.connections[0];
  c.requester[0].requests = 100;
  c.packets[0] = 100;
  s.totals.opcodes[0x0c] = 20;
  s.totals.opcodes[0x11] = 3;
  EXPECT_EQ(completeness_of(s).opcode_filtered, std::vector<std::string>{"RC RDMA READ Response Only"});
  for (int i = 0; i < 80; ++i) c.sent[0].add(Event::retransmitted_unknown, 1, capture::no_time);
  EXPECT_TRUE(completeness_of(s).opcode_filtered.empty());
}

/// WRITEs go on beside them, so that little is sent again. Only answers larger than an ACK do not come back.
TEST(Completeness, reads_that_are_asked_again_in_vain_were_not_filtered) {
  Snapshot s = healthy();
  Connection& c = s.connections[0];
  c.requester[0].requests = 100;
  c.packets[0] = 100;
  s.totals.opcodes[0x0c] = 20;
  s.totals.opcodes[0x11] = 80;
  const auto ask_again = [&](int times) {
    for (int i = 0; i < times; ++i) c.sent[0].add(Event::retransmitted_read_retry, 1, capture::no_time);
  };
  ask_again(3);
  EXPECT_EQ(completeness_of(s).opcode_filtered, std::vector<std::string>{"RC RDMA READ Response Only"});
  ask_again(12);
  EXPECT_TRUE(completeness_of(s).opcode_filtered.empty());
}

TEST(Completeness, one_direction_is_judged_no_further) {
  Snapshot s = healthy();
  Connection& c = s.connections[0];
  c.flow[1].reset();
  c.packets = {1000, 0};
  c.sent = {};
  s.flows.resize(1);
  s.completeness = completeness_of(s);
  EXPECT_EQ(s.completeness.one_direction, std::vector<std::uint32_t>{0});
  EXPECT_FALSE(s.completeness.bears(Need::directions, c));
  EXPECT_TRUE(s.completeness.bears(Need::packets, c));
  EXPECT_TRUE(s.completeness.unheard.contains({ipv4(2), ipv4(1)}));
  EXPECT_FALSE(capture_health(s).good());

  // It repeats the same over and over: nobody answers, and that is judged.
  c.sent[0].add(Event::retransmitted_timeout, 20, made_start, 900);
  EXPECT_TRUE(completeness_of(s).one_direction.empty());
  // But not if it goes back to what lies behind the first requests: these were confirmed.
  c.requester[0].went_back_later = true;
  EXPECT_EQ(completeness_of(s).one_direction.size(), 1U);
}

TEST(Completeness, a_queue_pair_that_something_reaches_has_both_directions) {
  Snapshot s = healthy();
  Connection& c = s.connections[0];
  c.flow[1].reset();
  c.packets = {1000, 0};
  c.requester[0].went_back_later = true;
  c.ends[0].qp = 5;
  s.flows.resize(1);
  EXPECT_EQ(completeness_of(s).one_direction.size(), 1U);
  // The answers are with another use of the same queue pairs.
  Flow back;
  back.key = {.src = c.ends[1].address, .dst = c.ends[0].address, .dst_qp = 5};
  s.flows.push_back(back);
  EXPECT_TRUE(completeness_of(s).one_direction.empty());
}

TEST(Completeness, a_nak_shows_that_it_was_answered_however_short_the_capture) {
  Snapshot s = healthy();
  Connection& c = s.connections[0];
  c.flow[1].reset();
  c.packets = {1000, 0};
  c.last_time_ns = c.first_time_ns + 50'000;
  s.flows.resize(1);
  EXPECT_TRUE(completeness_of(s).one_direction.empty());
  c.requester[0].went_back_later = true;
  EXPECT_EQ(completeness_of(s).one_direction.size(), 1U);
}

TEST(Completeness, connections_that_pause_show_a_hole_together) {
  Snapshot s = healthy();
  s.frames_read = 10'000;
  // Each misses little, and sent neither just before the hole nor just behind it.
  for (std::uint64_t i = 0; i < 5; ++i)
    s.gaps.add(UnseenRow{5000 - 10 * i, 5060 + 7 * i, made_start, made_start + 900, 2, true});
  const Completeness found = completeness_of(s);
  ASSERT_EQ(found.holes.size(), 1U);
  EXPECT_EQ(found.holes[0].after, 5000U);
  EXPECT_EQ(found.holes[0].before, 5060U);
  EXPECT_EQ(found.holes[0].packets, 10U);
  // As much is missing elsewhere.
  for (std::uint64_t i = 0; i < 400; ++i)
    s.gaps.add(UnseenRow{10 * i + 2, 10 * i + 4, made_start, made_start + 900, 1, true});
  EXPECT_TRUE(completeness_of(s).holes.empty());
}

TEST(Completeness, what_a_small_capture_lacks_is_said) {
  Snapshot s = healthy();
  s.gaps.acknowledged = {.spaces = 1, .span = 18, .firsts = 16, .breaks = 2};
  s.gaps.add(UnseenRow{11, 12, made_start, made_start + 900, 1, true});
  s.gaps.add(UnseenRow{14, 15, made_start, made_start + 900, 1, true});
  s.completeness = completeness_of(s);
  EXPECT_TRUE(s.completeness.limited());
  EXPECT_EQ(capture_limits_text(s),
            "2 of 18 packets that the network did deliver are not in the capture, here and there: losses and "
            "answers are not sure");
}

TEST(Completeness, missing_datagrams_are_lost_or_not_captured) {
  Snapshot s;
  s.frames_read = s.totals.packets = s.totals.roce_packets = 100;
  Flow flow;
  flow.key = {.src = ipv4(1), .dst = ipv4(2), .dst_qp = 17};
  flow.service_known = true;
  flow.service = dissect::Service::ud;
  flow.first_psn = 0xfffff0;
  flow.last_psn = 103;
  flow.packets = 100;
  s.flows.push_back(flow);
  s.completeness = completeness_of(s);
  EXPECT_EQ(s.completeness.datagrams, 120U);
  EXPECT_FALSE(s.completeness.sampled);
  EXPECT_TRUE(s.completeness.limited());
  EXPECT_EQ(
      capture_limits_text(s),
      "20 of 120 UD packets are not in the capture: lost on the way or not captured, UD does not tell which");
  s.flows[0].packets = 30;
  ASSERT_TRUE(completeness_of(s).sampled);
  EXPECT_DOUBLE_EQ(completeness_of(s).sampled->one_in, 4);
  // To two queue pairs: which of them the missing ones went to is not known.
  flow.key.dst_qp = 18;
  s.flows.push_back(flow);
  EXPECT_FALSE(completeness_of(s).limited());
}

TEST(Completeness, copies_leave_open_where_packets_are_lost) {
  Snapshot s = healthy();
  s.flows[0].sequence_to_change().duplicate_captures = 1000;
  s.flows[1].sequence_to_change().duplicate_captures = 200;
  s.completeness = completeness_of(s);
  EXPECT_DOUBLE_EQ(s.completeness.doubled, 0.5);
  EXPECT_FALSE(s.completeness.bears(needs::losses_at_a_place));
  EXPECT_TRUE(s.completeness.bears(needs::both_directions));
  EXPECT_NE(capture_limits_text(s).find("50 % of the packets are copies of others: doubled by the mirror"),
            std::string::npos);
  // Several capture points that are told apart are wanted.
  s.connections[0].points = {0, 1};
  EXPECT_DOUBLE_EQ(completeness_of(s).doubled, 0);
}

/// What two points both show was lost behind both; of a connection of which one shows a part nothing tells.
TEST(Completeness, two_points_that_both_show_a_connection_leave_nothing_open) {
  Snapshot s = healthy();
  s.completeness.doubled = 0.5;
  Connection& c = s.connections[0];
  c.packets = {400, 100};
  const auto show_twice = [&](unsigned side, std::uint64_t copies) {
    while (c.sent[side].count(Event::duplicate_capture) < copies)
      c.sent[side].add(Event::duplicate_capture, 1, 0);
  };
  show_twice(0, 390);
  EXPECT_FALSE(s.completeness.bears(needs::losses_at_a_place, c));
  show_twice(1, 60);
  EXPECT_FALSE(s.completeness.bears(needs::losses_at_a_place, c));
  show_twice(1, 90);
  EXPECT_TRUE(s.completeness.bears(needs::losses_at_a_place, c));
  EXPECT_FALSE(s.completeness.bears(needs::losses_at_a_place));
  show_twice(0, 420);  // repeats that passed for copies
  EXPECT_TRUE(s.completeness.bears(needs::losses_at_a_place, c));
  show_twice(0, 501);
  EXPECT_FALSE(s.completeness.bears(needs::losses_at_a_place, c));
}

TEST(Completeness, a_clock_is_coarse_for_what_is_as_short_as_its_steps) {
  for (const std::uint64_t answer_ns : {2'000U, 20'000U}) {
    Snapshot s = healthy();
    Connection& c = s.connections[0];
    c.first_time_ns = made_start;
    c.last_time_ns = made_start + 7'000;
    for (Requester& requester : c.requester) requester.operations.clear();
    c.requester[0].operations.resize(1);
    c.requester[0].operations[0].latency_ns.add(answer_ns);
    s.totals.equal_stamps = 1000;
    EXPECT_EQ(limits_of(s).find("the clock is too coarse") != std::string::npos, answer_ns < 10'000)
        << answer_ns;
  }
}

/// Of what is no RoCE nothing is judged by AETHs and latencies.
TEST(Completeness, without_roce_nothing_is_said_of_acks_and_clocks) {
  Snapshot s;
  s.frames_read = 10;
  s.totals.packets = 10;
  s.totals.equal_stamps = 9;
  s.totals.diagnostics.add(DiagnosticId::cut_by_capture, 1);
  s.interfaces.resize(1);
  s.interfaces[0].snap_length = 35;
  EXPECT_EQ(limits_of(s), "Packets are cut at 35 bytes: what lies behind is not checked");
}

TEST(Completeness, the_clock_is_said) {
  Snapshot s = healthy();
  s.totals.equal_stamps = 1000;
  s.totals.stepped_back = 2;
  s.completeness = completeness_of(s);
  EXPECT_FALSE(s.completeness.limited());
  EXPECT_EQ(capture_limits_text(s),
            "The clock was set 2 times during the capture. 77 % of the packets have the timestamp of the one "
            "before: "
            "the clock is too coarse for latencies");
}

}  // namespace
}  // namespace roce::analyze
