// SPDX-License-Identifier: Apache-2.0
// What a connection's packets mean: new, repeated, lost, late.
#include "analyze/tracker/tracker.hpp"

#include "analyze/record/common_packet.hpp"
#include "tests/analyze/record/header_cache_book.hpp"
#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace tracker_test {
namespace {

constexpr End a{1, 0x11};
constexpr End b{2, 0x22};
constexpr std::int64_t ms = 1'000'000;

// --- repeats and losses ---------------------------------------------------------------------------

TEST(Tracker, ACleanConnectionHasNothingToReport) {
  Wire wire;
  wire.talk(a, b, 0xfffff0, 40);  // round the end of the numbers
  wire.finish(10 * ms);
  ASSERT_EQ(wire.result.connections.size(), 1U);
  const Connection& c = wire.connection();
  for (const Events& events : c.sent) EXPECT_TRUE(events.empty());
  EXPECT_EQ(c.requester[0].first_psn, 0xfffff0U);
  EXPECT_EQ(c.requester[0].next_psn, 0x18U);
  EXPECT_EQ(c.requester[0].new_bytes, 40U * 64U);
  EXPECT_EQ(c.requester[0].in_flight_max, 1U);
  EXPECT_FALSE(c.requester[0].retries_exhausted);
  const OperationStats* writes = c.requester[0].operation(OperationKind::write);
  ASSERT_NE(writes, nullptr);
  EXPECT_EQ(writes->count, 40U);
  EXPECT_EQ(writes->latency_ns.count(), 40U);
  EXPECT_EQ(writes->latency_ns.max(), 1000U);
  EXPECT_EQ(wire.result.departed.flows, 0U);
}

TEST(Tracker, AGapThatANakAsksForWasLostBeforeTheCapture) {
  Wire wire;
  wire.talk(a, b, 100, 10);
  wire.request(a, b, 110);
  const auto after_gap = wire.request(a, b, 112);  // 111 is missing
  wire.request(a, b, 113);
  wire.answer(b, a, 111, nak_sequence);
  const auto first_again = wire.request(a, b, 111);
  const auto second_again = wire.request(a, b, 112);
  wire.request(a, b, 113);
  wire.answer(b, a, 113);
  wire.talk(a, b, 114, 5);
  wire.finish();
  const Flow& flow = wire.flow(a, b);
  EXPECT_EQ(Wire::lost(flow, Lost::before_capture), 1U);
  EXPECT_EQ(Wire::lost(flow, Lost::after_capture), 0U);
  EXPECT_EQ(Wire::lost(flow, Lost::by_capture), 0U);
  EXPECT_EQ(Wire::resent(flow, Cause::nak), 3U);
  EXPECT_EQ(flow.sequence().retransmitted_packets(), 3U);
  EXPECT_EQ(flow.sequence().gaps, 1U);
  EXPECT_EQ(flow.sequence().wasted_packets, 2U);  // 112 and 113 came, and were thrown away
  EXPECT_EQ(wire.verdict(after_gap).gap, 1U);
  EXPECT_EQ(wire.verdict(first_again).cause, Cause::nak);
  EXPECT_EQ(wire.verdict(first_again).lost(Lost::before_capture), 1U);
  EXPECT_EQ(wire.verdict(first_again).original, 0U);
  EXPECT_EQ(wire.verdict(second_again).original, after_gap);
  const Connection& c = wire.connection();
  EXPECT_EQ(c.requester[0].trouble->naks[0], 1U);
  EXPECT_EQ(c.sent[1].count(Event::nak_sequence_error), 1U);
  EXPECT_EQ(c.sent[0].count(Event::go_back_n), 1U);
  EXPECT_TRUE(c.pairing.has(Evidence::nak));
  EXPECT_EQ(c.requester[0].new_bytes, 19U * 64U);
}

TEST(Tracker, ANakOfACapturedPacketWasLostBehindIt) {
  Wire wire;
  wire.talk(a, b, 100, 10);
  const auto lost = wire.request(a, b, 110);
  wire.request(a, b, 111);
  const auto nak = wire.answer(b, a, 110, nak_sequence);
  const auto again = wire.request(a, b, 110);
  wire.request(a, b, 111);
  wire.answer(b, a, 111);
  wire.finish();
  const Flow& flow = wire.flow(a, b);
  EXPECT_EQ(Wire::lost(flow, Lost::after_capture), 1U);
  EXPECT_EQ(Wire::lost(flow, Lost::before_capture), 0U);
  EXPECT_EQ(Wire::resent(flow, Cause::nak), 2U);
  EXPECT_EQ(wire.verdict(nak).lost(Lost::after_capture), 1U);
  EXPECT_EQ(wire.verdict(again).original, lost);
  EXPECT_EQ(flow.sequence().gaps, 0U);
}

TEST(Tracker, AGapThatIsAcknowledgedWasMissedByTheCapture) {
  Wire wire;
  wire.talk(a, b, 100, 10);
  wire.request(a, b, 112);
  wire.answer(b, a, 112);
  wire.talk(a, b, 113, 10);
  wire.finish();
  const Flow& flow = wire.flow(a, b);
  EXPECT_EQ(Wire::lost(flow, Lost::by_capture), 2U);
  EXPECT_EQ(Wire::lost(flow, Lost::before_capture), 0U);
  EXPECT_EQ(flow.sequence().retransmitted_packets(), 0U);
}

TEST(Tracker, AnAckOfWhatWasNeverSeenSaysSo) {
  Wire wire;
  wire.talk(a, b, 100, 10);
  const auto ack = wire.answer(b, a, 112);
  wire.talk(a, b, 113, 3);
  wire.finish();
  EXPECT_TRUE(wire.verdict(ack).has(Verdict::ack_unseen));
  EXPECT_EQ(wire.connection().sent[1].count(Event::ack_unseen), 1U);
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::by_capture), 3U);
}

TEST(Tracker, AnOlderIpIdIsLateNotRepeated) {
  Wire wire;
  wire.talk(a, b, 100, 10);
  const PacketRecord early = wire.make(a, b, write_only, 110);
  wire.request(a, b, 111);
  wire.request(a, b, 112);
  PacketRecord late = early;
  late.time_ns = wire.now_ns += 1000;
  const auto came_late = wire.send(late);
  wire.answer(b, a, 112);
  wire.finish();
  EXPECT_TRUE(wire.verdict(came_late).has(Verdict::out_of_order));
  EXPECT_FALSE(wire.verdict(came_late).has(Verdict::retransmission));
  const Flow& flow = wire.flow(a, b);
  EXPECT_EQ(flow.sequence().out_of_order, 1U);
  EXPECT_EQ(flow.sequence().retransmitted_packets(), 0U);
  for (const Lost where : {Lost::before_capture, Lost::after_capture, Lost::by_capture}) {
    EXPECT_EQ(Wire::lost(flow, where), 0U);
  }
  EXPECT_EQ(wire.connection().requester[0].new_bytes, 13U * 64U);
}

TEST(Tracker, AGapBehindAReadOfUnknownLengthEndsWithTheRead) {
  Wire wire;
  wire.talk(a, b, 100, 10);
  PacketRecord read = wire.make(a, b, read_request, 110);
  read.dma_length = 834;  // 4 PSNs, or 2, or 1: the path MTU is not known yet
  wire.send(read);
  const PacketRecord early = wire.make(a, b, write_only, 114);
  wire.request(a, b, 115);
  for (std::uint32_t i = 0; i < 3; ++i) {
    PacketRecord response = wire.make(b, a, i == 0 ? 0x0d : 0x0e, 110 + i);
    response.payload = 256;
    wire.send(response);
  }
  PacketRecord late = early;
  late.time_ns = wire.now_ns += 1000;
  wire.send(late);
  wire.answer(b, a, 115);
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::by_capture), 0U);
}

TEST(Tracker, MirrorCopiesAreNotCountedInTheFlow) {
  Wire wire;
  std::vector<std::uint32_t> firsts;
  for (std::uint32_t i = 0; i < 20; ++i) {
    PacketRecord request = wire.make(a, b, write_only, 100 + i);
    firsts.push_back(wire.send(request));
    request.path = 1;  // the other port of the mirror
    request.time_ns = wire.now_ns += 100;
    wire.send(request);
    PacketRecord ack = wire.make(b, a, acknowledge, 100 + i);
    ack.flags |= PacketRecord::has_aeth;
    ack.aeth = 0x1f000000U + i;
    wire.send(ack);
    ack.path = 1;
    ack.time_ns = wire.now_ns += 100;
    wire.send(ack);
  }
  wire.finish();
  for (const std::uint32_t first : firsts) {
    EXPECT_TRUE(wire.verdict(first + 1).has(Verdict::duplicate_capture));
    EXPECT_EQ(wire.verdict(first + 1).original, first);
  }
  EXPECT_EQ(wire.flow(a, b).packets, 20U);
  EXPECT_EQ(wire.flow(a, b).sequence().duplicate_captures, 20U);
  EXPECT_EQ(wire.flow(b, a).packets, 20U);
  EXPECT_EQ(wire.flow(b, a).sequence().duplicate_captures, 20U);
  EXPECT_EQ(wire.flow(a, b).sequence().retransmitted_packets(), 0U);
  EXPECT_EQ(wire.connection().packets[0], 20U);
  EXPECT_EQ(wire.connection().requester[0].acks, 20U);
  wire.expect_all_counted();
}

TEST(Tracker, ARareCopyOnTheSameWayWasMadeByTheNetwork) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  const PacketRecord request = wire.make(a, b, write_only, 120);
  const auto first = wire.send(request);
  const auto copy = wire.send(request);
  wire.answer(b, a, 120);
  wire.talk(a, b, 121, 20);
  wire.finish();
  EXPECT_TRUE(wire.verdict(copy).has(Verdict::duplicate_network));
  EXPECT_EQ(wire.verdict(copy).original, first);
  EXPECT_EQ(wire.flow(a, b).sequence().duplicate_network, 1U);
  EXPECT_EQ(wire.flow(a, b).packets, 42U);  // it was on the network
  EXPECT_EQ(wire.flow(a, b).sequence().retransmitted_packets(), 0U);
}

TEST(Tracker, ARetryAfterSilenceIsATimeout) {
  Wire wire;
  wire.talk(a, b, 100, 10);
  const auto first = wire.request(a, b, 110);
  wire.now_ns += 70 * ms;
  const auto again = wire.request(a, b, 110);
  wire.answer(b, a, 110);
  wire.talk(a, b, 111, 5);
  wire.finish(2000 * ms);
  EXPECT_EQ(Wire::resent(wire.flow(a, b), Cause::timeout), 1U);
  EXPECT_EQ(wire.verdict(again).original, first);
  const Requester& r = wire.connection().requester[0];
  EXPECT_EQ(r.trouble->worst_chain.resends, 1U);
  EXPECT_TRUE(r.trouble->worst_chain.answered);
  EXPECT_FALSE(r.retries_exhausted);
  EXPECT_EQ(wire.connection().state, Connection::State::open);
}

TEST(Tracker, RetriesUntilTheEndAreExhausted) {
  Wire wire;
  wire.talk(a, b, 100, 10);
  const auto first = wire.request(a, b, 110);
  std::vector<std::uint32_t> retries;
  for (int i = 0; i < 4; ++i) {
    wire.now_ns += 67 * ms;
    retries.push_back(wire.request(a, b, 110));
  }
  wire.finish(1000 * ms);
  for (const std::uint32_t retry : retries) EXPECT_EQ(wire.verdict(retry).cause, Cause::timeout);
  const Connection& c = wire.connection();
  const Requester& r = c.requester[0];
  EXPECT_TRUE(r.retries_exhausted);
  EXPECT_EQ(c.state, Connection::State::failed);
  EXPECT_EQ(r.trouble->worst_chain.resends, 4U);
  EXPECT_EQ(r.trouble->worst_chain.psn, 110U);
  EXPECT_EQ(r.trouble->worst_chain.first_frame, first);
  EXPECT_EQ(r.trouble->worst_chain.last_frame, retries.back());
  EXPECT_NEAR(static_cast<double>(r.trouble->worst_chain.min_spacing_ns), 67e6, 1e5);
  EXPECT_FALSE(r.trouble->worst_chain.answered);
  EXPECT_EQ(c.sent[0].count(Event::retries_exhausted), 1U);
}

TEST(Tracker, RetriesAtTheVeryEndMayStillBeAnswered) {
  Wire wire;
  wire.talk(a, b, 100, 10);
  wire.request(a, b, 110);
  for (int i = 0; i < 3; ++i) {
    wire.now_ns += 67 * ms;
    wire.request(a, b, 110);
  }
  wire.finish(10 * ms);
  EXPECT_FALSE(wire.connection().requester[0].retries_exhausted);
}

TEST(Tracker, ARepeatOfTheAcknowledgedIsSpurious) {
  Wire wire;
  wire.talk(a, b, 100, 10);
  wire.now_ns += 70 * ms;
  const auto again = wire.request(a, b, 109);
  wire.answer(b, a, 109);
  wire.finish();
  EXPECT_TRUE(wire.verdict(again).has(Verdict::spurious));
  EXPECT_EQ(wire.flow(a, b).sequence().spurious, 1U);
}

TEST(Tracker, AnRnrNakMakesTheSenderWait) {
  Wire wire;
  wire.talk(a, b, 100, 10);
  wire.request(a, b, 110, send_only);
  std::vector<std::uint32_t> retries;
  for (int i = 0; i < 3; ++i) {
    wire.answer(b, a, 110, rnr_code_14);
    wire.now_ns += 2 * ms;
    retries.push_back(wire.request(a, b, 110, send_only));
  }
  wire.answer(b, a, 110);
  wire.talk(a, b, 111, 5);
  wire.finish(1000 * ms);
  for (const std::uint32_t retry : retries) EXPECT_EQ(wire.verdict(retry).cause, Cause::rnr);
  const Requester& r = wire.connection().requester[0];
  ASSERT_NE(r.trouble->rnr, nullptr);
  EXPECT_EQ(r.trouble->rnr->naks, 3U);
  EXPECT_EQ(r.trouble->rnr->longest_chain, 3U);
  EXPECT_EQ(r.trouble->rnr->timer_code, 14U);
  EXPECT_EQ(r.trouble->rnr->coded_wait_ns, 1'280'000U);
  EXPECT_EQ(r.trouble->rnr->wait_ns.count(), 3U);
  EXPECT_EQ(r.trouble->naks[5], 3U);
  EXPECT_FALSE(r.rnr_exhausted);
  EXPECT_EQ(Wire::resent(wire.flow(a, b), Cause::rnr), 3U);
  for (const Lost where : {Lost::before_capture, Lost::after_capture, Lost::by_capture}) {
    EXPECT_EQ(Wire::lost(wire.flow(a, b), where), 0U);
  }
}

TEST(Tracker, RnrNaksWithNothingAfterThemAreExhausted) {
  Wire wire;
  wire.talk(a, b, 100, 10);
  for (int i = 0; i < 4; ++i) {
    wire.request(a, b, 110, send_only);
    wire.answer(b, a, 110, rnr_code_14);
    wire.now_ns += 2 * ms;
  }
  wire.finish(1000 * ms);
  EXPECT_TRUE(wire.connection().requester[0].rnr_exhausted);
  EXPECT_EQ(wire.connection().state, Connection::State::failed);
}

TEST(Tracker, AnAccessErrorIsTiedToItsRequest) {
  Wire wire;
  wire.talk(a, b, 100, 10);
  const auto request = wire.request(a, b, 110);
  const auto nak = wire.answer(b, a, 110, nak_access);
  wire.finish();
  const Connection& c = wire.connection();
  ASSERT_EQ(c.requester[0].trouble->refused.size(), 1U);
  const RefusedRequest& refused = c.requester[0].trouble->refused.front();
  EXPECT_EQ(refused.syndrome, nak_access);
  EXPECT_EQ(refused.opcode, write_only);
  EXPECT_TRUE(refused.has_reth);
  EXPECT_EQ(refused.psn, 110U);
  EXPECT_EQ(refused.r_key, 0xabcU);
  EXPECT_EQ(refused.length, 64U);
  EXPECT_EQ(refused.virtual_address, 0x7f0000000000U + 110);
  EXPECT_EQ(refused.request_frame, request);
  EXPECT_EQ(refused.nak_frame, nak);
  EXPECT_EQ(c.state, Connection::State::failed);
  EXPECT_EQ(c.requester[0].trouble->naks[2], 1U);
}

TEST(Tracker, AReadIsCompleteWithItsResponse) {
  Wire wire;
  std::vector<std::uint32_t> requests;
  for (std::uint32_t i = 0; i < 10; ++i) {
    requests.push_back(wire.request(a, b, 100 + i, read_request));
    PacketRecord response = wire.make(b, a, read_response_only, 100 + i);
    response.flags |= PacketRecord::has_aeth;
    response.aeth = 0x1f000000U + i;
    wire.send(response);
  }
  wire.finish();
  for (const std::uint32_t request : requests) EXPECT_EQ(wire.verdict(request + 1).request, request);
  const OperationStats* reads = wire.connection().requester[0].operation(OperationKind::read);
  ASSERT_NE(reads, nullptr);
  EXPECT_EQ(reads->count, 10U);
  EXPECT_EQ(reads->bytes, 640U);
  EXPECT_EQ(reads->latency_ns.count(), 10U);
  for (const Events& events : wire.connection().sent) EXPECT_TRUE(events.empty());
}

TEST(Tracker, AUcGapIsALostMessage) {
  Wire wire;
  for (std::uint32_t i = 0; i < 10; ++i) wire.send(wire.make(a, b, uc_send_only, 100 + i));
  wire.send(wire.make(a, b, uc_send_only, 112));
  for (std::uint32_t i = 113; i < 120; ++i) wire.send(wire.make(a, b, uc_send_only, i));
  wire.finish();
  const Connection& c = wire.connection();
  EXPECT_EQ(c.service, dissect::Service::uc);
  EXPECT_EQ(c.sent[0].count(Event::uc_message_lost), 1U);
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::before_capture), 2U);
  EXPECT_EQ(wire.flow(a, b).sequence().retransmitted_packets(), 0U);
}

// --- what counts ----------------------------------------------------------------------------------

TEST(Tracker, WhatAFilterLeavesOutIsFollowedButNotCounted) {
  Wire wire;
  for (std::uint32_t i = 0; i < 30; ++i) {
    PacketRecord request = wire.make(a, b, write_only, 100 + i);
    if (i >= 10) request.flags &= static_cast<std::uint8_t>(~PacketRecord::selected);
    wire.send(request);
    wire.answer(b, a, 100 + i);
  }
  const auto next = wire.request(a, b, 130);  // follows those that were left out: no gap
  wire.finish();
  EXPECT_EQ(wire.verdict(next).gap, 0U);
  EXPECT_EQ(wire.flow(a, b).packets, 11U);
  EXPECT_EQ(wire.flow(a, b).sequence().gaps, 0U);
  EXPECT_EQ(wire.connection().packets[0], 11U);
  EXPECT_EQ(wire.connection().requester[0].requests, 11U);
  EXPECT_EQ(wire.connection().sent[1].count(Event::ack_unseen), 0U);
}

TEST(Tracker, AConnectionThatNothingSelectsIsNotListed) {
  Wire wire;
  PacketRecord request = wire.make(a, b, write_only, 1);
  request.flags &= static_cast<std::uint8_t>(~PacketRecord::selected);
  wire.send(request);
  wire.finish();
  EXPECT_TRUE(wire.result.connections.empty());
  EXPECT_TRUE(wire.result.flows.empty());
}

TEST(Tracker, DamagedPacketsAreCountedAndNotBelieved) {
  Wire wire;
  wire.talk(a, b, 100, 10);
  PacketRecord damaged = wire.make(a, b, write_only, 7'654'321);
  damaged.icrc = static_cast<std::uint8_t>(dissect::CrcStatus::mismatch);
  wire.send(damaged);
  wire.talk(a, b, 110, 10);
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 1U);
  EXPECT_EQ(wire.flow(a, b).packets, 21U);
  EXPECT_EQ(wire.flow(a, b).sequence().gaps, 0U);
  EXPECT_EQ(wire.connection().sent[0].count(Event::icrc_mismatch), 1U);
  EXPECT_EQ(wire.connection().requester[0].next_psn, 120U);
}

TEST(Tracker, EvenPacketsThatWaitAreCountedInTheEnd) {
  Wire wire;
  wire.port = 4791;
  for (std::uint32_t i = 0; i < 300; ++i) wire.request({1, 0x100 + i}, {2, 0x200 + i}, i);
  for (std::uint32_t i = 0; i < 300; ++i) wire.answer({4, 0x100 + i}, {3, 0x200 + i}, i);
  wire.finish();
  EXPECT_EQ(wire.result.flows.size(), 600U);
  wire.expect_all_counted();
}

TEST(Tracker, GroupsAndSinglesSayTheSame) {
  std::vector<PacketRecord> records;
  Wire wire;
  for (std::uint32_t i = 0; i < 500; ++i) {
    records.push_back(wire.make({1, 0x10 + i % 7}, {2, 0x20 + i % 7}, write_only, i / 7));
    PacketRecord ack = wire.make({2, 0x20 + i % 7}, {1, 0x10 + i % 7}, acknowledge, i / 7);
    ack.flags |= PacketRecord::has_aeth;
    ack.aeth = 0x1f000000U + i / 7;
    if (i % 11 != 0) records.push_back(ack);
  }
  Tracker groups;
  ImageBook book;
  for (PacketRecord& r : records) r.common = static_cast<std::uint8_t>(common_of(r));
  for (std::size_t from = 0; from < records.size(); from += Tracker::group) {
    const std::size_t count = std::min(records.size() - from, Tracker::group);
    book.track(groups, std::span(records).subspan(from, count), from + 1);
  }
  EXPECT_GT(book.known, records.size() * 8 / 10);
  const Tracker::Result together = groups.finish();
  for (const PacketRecord& r : records) wire.send(r);
  wire.finish();
  ASSERT_EQ(together.flows.size(), wire.result.flows.size());
  ASSERT_EQ(together.connections.size(), wire.result.connections.size());
  for (std::size_t i = 0; i < together.flows.size(); ++i) {
    EXPECT_TRUE(together.flows[i].key == wire.result.flows[i].key);
    EXPECT_EQ(together.flows[i].packets, wire.result.flows[i].packets);
  }
  for (std::size_t i = 0; i < together.connections.size(); ++i) {
    EXPECT_EQ(together.connections[i].packets, wire.connection(i).packets);
    EXPECT_EQ(together.connections[i].pairing.answered, wire.connection(i).pairing.answered);
  }
}

}  // namespace
}  // namespace tracker_test
}  // namespace roce::analyze
