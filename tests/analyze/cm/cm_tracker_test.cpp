// SPDX-License-Identifier: Apache-2.0
#include "analyze/cm/cm_tracker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tests/analyze/cm/cm_messages.hpp"

namespace roce::analyze {
namespace cm_tracker_test {
namespace {

using State = CmExchange::State;

TEST(CmTracker, FollowsAConnectionFromBeginningToEnd) {
  CmWire wire;
  EXPECT_EQ(wire.from_client(req()), nullptr);
  EXPECT_EQ(wire.tracker.exchange_of(ip(client_address), 0x100)->state, State::requested);
  const CmExchange* made = wire.from_server(rep());
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->state, State::replied);
  EXPECT_EQ(wire.tracker.index_of(*made), 0U);
  EXPECT_EQ(wire.tracker.exchange_of(ip(server_address), 0x200), made);
  EXPECT_EQ(wire.from_client(rtu()), nullptr);
  EXPECT_EQ(wire.tracker.exchange_of(ip(server_address), 0x200)->state, State::established);
  EXPECT_EQ(wire.tracker.ulp_of(ip(server_address), 0x200), dissect::Ulp::nvme_of);
  EXPECT_EQ(wire.tracker.ulp_of(ip(client_address), 0x100), dissect::Ulp::nvme_of);
  EXPECT_EQ(wire.tracker.ulp_of(ip(client_address), 0x200), dissect::Ulp::none);
  wire.from_client(dreq());
  wire.from_server(drep());

  const auto exchanges = wire.tracker.take_exchanges();
  ASSERT_EQ(exchanges.size(), 1U);
  const CmExchange& x = exchanges[0];
  EXPECT_EQ(x.state, State::disconnected);
  EXPECT_EQ(x.transport, dissect::Transport::roce_v2_ipv4);
  EXPECT_EQ(x.service, dissect::CmTransport::rc);
  EXPECT_EQ(x.client, ip(client_address));
  EXPECT_EQ(x.server, ip(server_address));
  EXPECT_EQ(x.client_comm_id, 0x11U);
  EXPECT_EQ(x.server_comm_id, 0x22U);
  EXPECT_EQ(x.client_qpn, 0x100U);
  EXPECT_EQ(x.server_qpn, 0x200U);
  EXPECT_EQ(x.client_psn, 2000U);
  EXPECT_EQ(x.server_psn, 1000U);
  EXPECT_EQ(x.pmtu, 1024U);
  EXPECT_EQ(x.retry_count, 6);
  EXPECT_EQ(x.rnr_retry, 7);
  EXPECT_EQ(x.ack_timeout_code, 14);
  EXPECT_EQ(x.traffic_class, 0x68);
  EXPECT_EQ(x.sl, 3);
  EXPECT_EQ(x.response_timeout_code, 20);
  EXPECT_EQ(x.max_cm_retries, 15);
  EXPECT_FALSE(x.reject_reason);
  EXPECT_EQ(x.req.frame, 1U);
  EXPECT_EQ(x.rtu.frame, 3U);
  EXPECT_EQ(x.drep.frame, 5U);
  EXPECT_EQ(x.req.count, 1U);
  EXPECT_FALSE(x.mra);
  EXPECT_EQ(connect_time_ns(x), 2U * CmWire::second);
  EXPECT_EQ(answer_time_ns(x), 1U * CmWire::second);
  EXPECT_FALSE(unanswered(x));
}

TEST(CmTracker, AnyOrderLeadsToTheSame) {
  struct Step {
    bool from_client;
    CmMad mad;
  };
  const std::array<Step, 5> steps = {{{true, req()},
                                      {false, rep()},
                                      {true, rtu()},
                                      {false, dreq({0x22, 0x11}, 0x100)},
                                      {true, drep({0x11, 0x22})}}};
  std::array<std::size_t, 5> order{0, 1, 2, 3, 4};
  do {
    CmWire wire;
    const std::int64_t start = wire.time;
    int made = 0;
    for (const std::size_t i : order) {
      wire.time = start + static_cast<std::int64_t>(i) * CmWire::second;
      wire.psn = static_cast<std::uint32_t>(i);
      const auto& [from, to] = steps[i].from_client ? std::pair(client_address, server_address)
                                                    : std::pair(server_address, client_address);
      if (wire.again(steps[i].mad, from, to) != nullptr) ++made;
    }
    const auto exchanges = wire.tracker.take_exchanges();
    // A DREP that comes before anything else says nothing and is not kept.
    ASSERT_EQ(exchanges.size(), 1U) << order[0] << order[1] << order[2] << order[3] << order[4];
    const CmExchange& x = exchanges[0];
    EXPECT_EQ(x.state, State::disconnected);
    EXPECT_EQ(x.client, ip(client_address));
    EXPECT_EQ(x.client_comm_id, 0x11U);
    EXPECT_EQ(x.server_comm_id, 0x22U);
    EXPECT_EQ(x.client_qpn, 0x100U);
    EXPECT_EQ(x.server_qpn, 0x200U);
    EXPECT_EQ(x.client_psn, 2000U);
    EXPECT_EQ(x.server_psn, 1000U);
    EXPECT_EQ(connect_time_ns(x), 2U * CmWire::second);
    EXPECT_LE(made, 1);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(CmTracker, AReqBehindItsRepMakesTheConnection) {
  CmWire wire;
  EXPECT_EQ(wire.from_server(rep()), nullptr);
  const CmExchange* half = wire.tracker.exchange_of(ip(server_address), 0x200);
  ASSERT_NE(half, nullptr);
  EXPECT_FALSE(half->client_qpn);
  EXPECT_EQ(half->client_comm_id, 0x11U);
  wire.time -= 2 * CmWire::second;
  const CmExchange* made = wire.from_client(req());
  EXPECT_EQ(made, half);
  EXPECT_EQ(wire.from_client(req()), nullptr);  // once
  EXPECT_FALSE(connect_time_ns(*half) > 5U * CmWire::second);
}

TEST(CmTracker, CountsRepeatsButNotCopies) {
  CmWire wire;
  wire.from_client(req());
  wire.again(req(), client_address, server_address);  // mirrored
  wire.time += 300'000'000;
  wire.again(req(), client_address, server_address);  // and mirrored with delay
  wire.from_client(req());                            // the next PSN: a repeat
  wire.again(req(), client_address, server_address);
  wire.time += 4 * CmWire::second;
  wire.again(req(), client_address, server_address);  // a sender that does not count PSNs
  ++wire.ip_id;
  wire.again(req(), client_address, server_address);  // or only IPv4 packets
  const CmExchange x = wire.tracker.take_exchanges().at(0);
  EXPECT_EQ(x.req.count, 4U);
  EXPECT_EQ(x.req.frame, 1U);
  EXPECT_TRUE(unanswered(x));
  EXPECT_FALSE(connect_time_ns(x));
}

TEST(CmTracker, FramesWithoutATimeAreCopiesByTheirNumbers) {
  CmWire wire;
  wire.time = capture::no_time;
  wire.again(req(), client_address, server_address);
  wire.again(req(), client_address, server_address);
  ++wire.psn;
  wire.again(req(), client_address, server_address);
  wire.again(rep(), server_address, client_address);
  const CmExchange x = wire.tracker.take_exchanges().at(0);
  EXPECT_EQ(x.req.count, 2U);
  EXPECT_EQ(x.req.time_ns, capture::no_time);
  EXPECT_FALSE(connect_time_ns(x));
  EXPECT_FALSE(answer_time_ns(x));
}

TEST(CmTracker, KnowsWhoRejectedAndWhy) {
  CmWire wire;
  wire.from_client(req());
  wire.from_server(rej({0, 0x11}, 0, 8));  // invalid service id: the server made no id
  CmExchange x = wire.tracker.take_exchanges().at(0);
  EXPECT_EQ(x.state, State::rejected);
  EXPECT_EQ(x.reject_reason, 8);
  EXPECT_TRUE(x.rejected_by_server);
  EXPECT_FALSE(unanswered(x));
  EXPECT_EQ(answer_time_ns(x), 1U * CmWire::second);

  wire.from_client(req());
  wire.from_server(rep());
  wire.from_client(rej({0x11, 0x22}, 1, 28));
  x = wire.tracker.take_exchanges().at(0);
  EXPECT_EQ(x.state, State::rejected);
  EXPECT_EQ(x.reject_reason, 28);
  EXPECT_FALSE(x.rejected_by_server);
}

TEST(CmTracker, TheServersWordOutweighsATimeout) {
  CmWire wire;
  wire.from_client(req());
  wire.from_client(rej({0x11, 0}, 2, 4));
  const CmExchange* x = wire.tracker.exchange_of(ip(client_address), 0x100);
  EXPECT_EQ(x->reject_reason, 4);
  EXPECT_FALSE(x->rejected_by_server);
  EXPECT_TRUE(unanswered(*x));
  wire.from_server(rej({0, 0x11}, 0, 28));
  EXPECT_EQ(x->reject_reason, 28);
  EXPECT_TRUE(x->rejected_by_server);
  EXPECT_EQ(x->rej.frame, 3U);
  wire.from_client(rej({0x11, 0}, 2, 4));
  EXPECT_EQ(x->reject_reason, 28);
  EXPECT_EQ(x->rej.count, 1U);
  EXPECT_EQ(wire.tracker.take_exchanges().size(), 1U);
}

TEST(CmTracker, KeepsRejectsOfWhatWasNotCaptured) {
  CmWire wire;
  wire.from_server(rej({0, 0x11}, 0, 8));
  wire.from_client(rej({0x12, 0}, 2, 4));
  wire.from_client(rej({0x13, 0x23}, 1, 28));
  wire.from_client(rej({0, 0}, 2, 4));  // says nothing at all
  const auto x = wire.tracker.take_exchanges();
  ASSERT_EQ(x.size(), 3U);
  for (const CmExchange& exchange : x) {
    EXPECT_EQ(exchange.client, ip(client_address));
    EXPECT_EQ(exchange.state, State::rejected);
    EXPECT_FALSE(unanswered(exchange));
  }
  EXPECT_TRUE(x[0].rejected_by_server);
  EXPECT_EQ(x[0].client_comm_id, 0x11U);
  EXPECT_EQ(x[1].client_comm_id, 0x12U);
  EXPECT_EQ(x[2].server_comm_id, 0x23U);
}

TEST(CmTracker, BothSidesMayDisconnectAtOnce) {
  CmWire wire;
  wire.from_client(req());
  wire.from_server(rep());
  wire.from_client(rtu());
  wire.from_server(dreq({0x22, 0x11}, 0x100, 7));
  wire.from_client(dreq({0x11, 0x22}, 0x200, 8));
  wire.from_server(drep());
  wire.from_client(drep({0x11, 0x22}));
  wire.from_server(dreq({0x22, 0x11}, 0x100, 7));
  const auto x = wire.tracker.take_exchanges();
  ASSERT_EQ(x.size(), 1U);
  EXPECT_EQ(x[0].dreq.frame, 4U);
  EXPECT_EQ(x[0].dreq.count, 2U);  // the server's
  EXPECT_EQ(x[0].drep.count, 1U);
  EXPECT_EQ(x[0].state, State::disconnected);
}

TEST(CmTracker, BeginsInTheMiddle) {
  CmWire wire;
  wire.from_server(mra({0x22, 0x11}, 0));  // of nothing known
  wire.from_server(drep());
  EXPECT_EQ(wire.from_client(rtu()), nullptr);
  EXPECT_EQ(wire.from_client(dreq()), nullptr);
  // The other side's DREQ names the client's queue pair: both are known now, but nothing begins.
  EXPECT_EQ(wire.from_server(dreq({0x22, 0x11}, 0x100)), nullptr);
  EXPECT_EQ(wire.from_server(rep()), nullptr);
  const CmExchange* x = wire.tracker.exchange_of(ip(client_address), 0x100);
  ASSERT_NE(x, nullptr);
  EXPECT_EQ(x, wire.tracker.exchange_of(ip(server_address), 0x200));
  EXPECT_EQ(x->client, ip(client_address));
  EXPECT_EQ(x->state, State::disconnected);
  EXPECT_EQ(wire.tracker.take_exchanges().size(), 1U);
}

TEST(CmTracker, ADreqAloneDoesNotTellTheClient) {
  CmWire wire;
  wire.from_server(dreq({0x22, 0x11}, 0x100));
  const CmExchange* x = wire.tracker.exchange_of(ip(client_address), 0x100);
  ASSERT_NE(x, nullptr);
  EXPECT_EQ(x->client, ip(server_address));  // for want of better
  wire.from_server(dreq({0x22, 0x11}, 0x100));
  wire.from_server(rep());
  EXPECT_EQ(x->client, ip(client_address));
  EXPECT_EQ(x->client_qpn, 0x100U);
  EXPECT_EQ(x->server_comm_id, 0x22U);
  wire.from_server(dreq({0x22, 0x11}, 0x100));
  EXPECT_EQ(x->dreq.count, 3U);
  EXPECT_EQ(wire.tracker.take_exchanges().size(), 1U);
}

TEST(CmTracker, OneDirectionIsEnoughForTheQueuePairs) {
  CmWire client_only;
  client_only.from_client(req());
  client_only.from_client(rtu());
  EXPECT_EQ(client_only.tracker.exchange_of(ip(server_address), 0x200), nullptr);
  client_only.from_client(dreq());
  const CmExchange* x = client_only.tracker.exchange_of(ip(server_address), 0x200);
  ASSERT_NE(x, nullptr);
  EXPECT_EQ(x->client_qpn, 0x100U);
  EXPECT_FALSE(unanswered(*x));

  CmWire server_only;
  server_only.from_server(rep());
  server_only.from_server(dreq({0x22, 0x11}, 0x100));
  server_only.from_server(drep());
  x = server_only.tracker.exchange_of(ip(client_address), 0x100);
  ASSERT_NE(x, nullptr);
  EXPECT_EQ(x->server_qpn, 0x200U);
  EXPECT_EQ(x->state, State::disconnected);
}

TEST(CmTracker, AnIdUsedAgainIsANewExchange) {
  CmWire wire;
  wire.from_client(req());
  wire.from_server(rep());
  wire.from_client(rtu());
  wire.from_client(dreq());
  wire.from_server(drep());
  Req next;
  next.psn = 5000;  // the same id, transaction id and queue pair
  wire.from_client(req(next));
  const CmExchange* made = wire.from_server(rep({0x22, 0x11}, 0x200, 6000));
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(wire.tracker.index_of(*made), 1U);
  EXPECT_EQ(wire.tracker.exchange_of(ip(client_address), 0x100), made);
  EXPECT_EQ(wire.tracker.exchange_of(ip(server_address), 0x200), made);
  wire.from_client(rtu());
  EXPECT_EQ(made->state, State::established);
  // The first exchange's DREQ comes late once more: it does not take the queue pair back.
  const auto x = wire.tracker.take_exchanges();
  ASSERT_EQ(x.size(), 2U);
  EXPECT_EQ(x[0].state, State::disconnected);
  EXPECT_EQ(x[1].client_psn, 6000U);
}

TEST(CmTracker, AServersIdUsedAgainWithoutItsReq) {
  CmWire wire;
  wire.from_client(req());
  wire.from_server(rep());
  wire.from_server(rep({0x22, 0x11}, 0x201, 3000));  // both ids again, another queue pair
  wire.from_server(rep({0x23, 0x11}, 0x202, 4000));  // the client's id, another server id
  const auto x = wire.tracker.take_exchanges();
  ASSERT_EQ(x.size(), 3U);
  EXPECT_EQ(x[0].server_qpn, 0x200U);
  EXPECT_FALSE(x[1].client_qpn);
  EXPECT_EQ(x[2].server_comm_id, 0x23U);
}

TEST(CmTracker, ARepWithoutReqDoesNotSwallowALaterReq) {
  CmWire wire;
  wire.from_server(rep());
  wire.time += 3600 * CmWire::second;
  wire.from_client(req());
  EXPECT_EQ(wire.tracker.take_exchanges().size(), 2U);
}

TEST(CmTracker, QueuePairNumbersUsedAgainBelongToTheLast) {
  CmWire wire;
  wire.from_client(req());
  wire.from_server(rep());
  Req other;
  other.id = 0x31;
  wire.from_client(req(other));  // the same queue pair after a reject, say
  EXPECT_EQ(wire.tracker.exchange_of(ip(client_address), 0x100)->client_comm_id, 0x31U);
  EXPECT_EQ(wire.tracker.exchange_of(ip(server_address), 0x200)->client_comm_id, 0x11U);
  // A DREQ of a connection whose beginning was not captured takes nothing from a living one ...
  wire.from_client(dreq({0x77, 0x88}, 0x200));
  EXPECT_EQ(wire.tracker.exchange_of(ip(server_address), 0x200)->client_comm_id, 0x11U);
  wire.from_client(dreq());
  // ... but from one that has ended.
  wire.from_client(dreq({0x79, 0x8a}, 0x200));
  EXPECT_EQ(wire.tracker.exchange_of(ip(server_address), 0x200)->client_comm_id, 0x79U);
}

TEST(CmTracker, TheSameIdsOnOtherHostsAreOthers) {
  constexpr support::Ipv4Address third{10, 0, 0, 3};
  CmWire wire;
  wire.from_client(req());
  wire.send(req(), third, server_address);
  wire.send(req(), client_address, third);
  wire.send(rep(), server_address, third);
  const auto x = wire.tracker.take_exchanges();
  ASSERT_EQ(x.size(), 3U);
  EXPECT_EQ(x[0].state, State::requested);
  EXPECT_EQ(x[1].state, State::replied);
  EXPECT_EQ(x[2].state, State::requested);
}

TEST(CmTracker, MraAnswersButDoesNotReply) {
  CmWire wire;
  wire.from_client(req());
  wire.from_server(mra({0x22, 0x11}, 0));
  wire.from_server(mra({0x22, 0x11}, 2));  // of a LAP
  const CmExchange* x = wire.tracker.exchange_of(ip(client_address), 0x100);
  EXPECT_EQ(x->mra.frame, 2U);
  EXPECT_EQ(x->mra.count, 1U);
  EXPECT_EQ(x->server_comm_id, 0x22U);
  EXPECT_EQ(x->state, State::requested);
  EXPECT_FALSE(unanswered(*x));
}

TEST(CmTracker, SidrLooksUpAQueuePair) {
  constexpr std::uint64_t service = 0x0000000001110000 + 7174;
  CmWire wire;
  wire.from_client(sidr_req(5, service));
  wire.from_client(sidr_req(5, service));
  EXPECT_EQ(wire.from_server(sidr_rep(5, 0, 0x300, service)), nullptr);  // no connection
  wire.from_client(sidr_req(6, service));
  wire.from_server(sidr_rep(6, 2, 0, service));
  wire.from_server(sidr_rep(7, 0, 0x301, service));  // its SIDR_REQ was not captured
  wire.time += 300 * CmWire::second;
  wire.from_client(sidr_req(5, service));  // another with the same id
  EXPECT_EQ(wire.tracker.exchange_of(ip(server_address), 0x300)->number, 0U);
  const auto x = wire.tracker.take_exchanges();
  ASSERT_EQ(x.size(), 4U);
  EXPECT_TRUE(x[0].sidr);
  EXPECT_EQ(x[0].state, State::replied);
  EXPECT_EQ(x[0].req.count, 2U);
  EXPECT_EQ(x[0].sidr_status, 0);
  EXPECT_EQ(x[0].server_qpn, 0x300U);
  EXPECT_EQ(x[1].state, State::rejected);
  EXPECT_EQ(x[1].sidr_status, 2);
  EXPECT_FALSE(x[1].server_qpn);
  EXPECT_EQ(x[2].service_id, service);
  EXPECT_EQ(x[2].client, ip(client_address));
  EXPECT_EQ(x[3].state, State::requested);
  EXPECT_TRUE(unanswered(x[3]));
}

// Linux puts the number of an XRC target where IBTA had the EE context's.
TEST(CmTracker, XrcTargetsStandInTheEeContext) {
  CmWire wire;
  Req xrc;
  xrc.transport = 3;
  xrc.extended = 1;
  wire.from_client(req(xrc));
  const CmExchange* x = wire.from_server(rep({0x22, 0x11}, 0).put(16, 3, 0x234).put(27, 1, 0x10));
  ASSERT_NE(x, nullptr);
  EXPECT_EQ(x->service, dissect::CmTransport::xrc);
  EXPECT_EQ(x->server_qpn, 0x234U);
}

TEST(CmTracker, IgnoresPathChangesAndWhatIsCut) {
  CmWire wire;
  wire.from_client(CmMad(0x19, 1).put(0, 4, 0x11));
  wire.from_server(CmMad(0x1a, 1).put(0, 4, 0x22));
  wire.from_client(CmMad(0x99, 1));
  const std::vector<std::uint8_t> whole = cm_frame(req(), client_address, server_address, 1);
  for (std::size_t n = 0; n < 14 + 20 + 8 + 12 + 8 + 24 + 140; ++n) {
    wire.learn({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)});
  }
  EXPECT_TRUE(wire.tracker.take_exchanges().empty());
}

TEST(CmTracker, UlpOfRepAndRejIsWhatTheReqAskedFor) {
  CmWire wire;
  wire.from_client(req());
  const auto reject = cm_frame(rej({0, 0x11}, 0, 28), server_address, client_address, 9);
  wire.learn(reject);
  EXPECT_EQ(wire.tracker.ulp_of({reject.data(), reject.size()}, wire.dissection), dissect::Ulp::nvme_of);
  const auto other = cm_frame(rej({0, 0x12}, 0, 28), server_address, client_address, 9);
  wire.learn(other);
  EXPECT_EQ(wire.tracker.ulp_of({other.data(), other.size()}, wire.dissection), dissect::Ulp::none);
}

TEST(CmExchange, StatesHaveNames) {
  EXPECT_EQ(cm_state_name(State::requested), "requested");
  EXPECT_EQ(cm_state_name(State::disconnected), "disconnected");
}

}  // namespace
}  // namespace cm_tracker_test
}  // namespace roce::analyze
