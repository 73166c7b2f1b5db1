// SPDX-License-Identifier: Apache-2.0
// Wrong ICRCs: of packets that their receiver throws away, or of a capture that saw them before their NIC
// wrote it (all of a direction).
#include <functional>

#include "analyze/flow/marking_matrix.hpp"
#include "analyze/tracker/tracker.hpp"
#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace tracker_icrc_test {
namespace {

constexpr End a{1, 0x11};
constexpr End b{2, 0x22};
constexpr auto wrong = static_cast<std::uint8_t>(dissect::CrcStatus::mismatch);
constexpr auto unknown = static_cast<std::uint8_t>(dissect::CrcStatus::not_checkable);

/// What a sends has such an ICRC; b's are right.
class OneSided {
 public:
  OneSided(Wire& wire, std::uint8_t icrc) : wire_(wire), icrc_(icrc) {}

  std::uint32_t request(std::uint32_t psn, End from = a, End to = b) {
    PacketRecord r = wire_.make(from, to, write_only, psn);
    r.flags |= PacketRecord::ack_requested;
    r.icrc = icrc_;
    return wire_.send(r);
  }
  void talk(std::uint32_t psn, std::uint32_t times, End from = a, End to = b) {
    for (std::uint32_t i = 0; i < times; ++i) {
      request(psn + i, from, to);
      wire_.answer(to, from, psn + i);
    }
  }
  /// Three packets, the second of them lost on the way to b, which asks for it.
  void lose_one(std::uint32_t psn) {
    for (std::uint32_t i = 0; i < 3; ++i) request(psn + i);
    wire_.answer(b, a, psn + 1, nak_sequence);
    for (std::uint32_t i = 1; i < 3; ++i) request(psn + i);
    wire_.answer(b, a, psn + 2);
  }

 private:
  Wire& wire_;
  std::uint8_t icrc_;
};

void expect_followed(const Wire& wire, std::uint64_t requests, std::uint64_t losses) {
  ASSERT_EQ(wire.result.connections.size(), 1U);
  const Flow& flow = wire.flow(a, b);
  EXPECT_TRUE(wire.connection().paired());
  EXPECT_EQ(wire.connection().requester[0].requests, requests);
  EXPECT_EQ(Wire::lost(flow, Lost::by_capture), 0U);
  EXPECT_EQ(Wire::lost(flow, Lost::before_capture), 0U);
  EXPECT_EQ(Wire::lost(flow, Lost::after_capture), losses);
  EXPECT_EQ(Wire::resent(flow, Cause::nak), 2 * losses);
  EXPECT_EQ(flow.sequence().gaps, 0U);
  EXPECT_EQ(wire.connection().sent[1].count(Event::ack_unseen), 0U);
}

TEST(TrackerIcrc, ADirectionThatIsWrongFromTheFirstPacketIsFollowed) {
  for (const std::uint8_t icrc : {wrong, unknown}) {  // as with --no-icrc
    Wire wire;
    OneSided sent(wire, icrc);
    sent.talk(100, 4);
    sent.lose_one(104);
    sent.talk(107, 16);
    sent.lose_one(123);
    wire.finish();
    expect_followed(wire, 30, 2);
    EXPECT_EQ(wire.flow(a, b).icrc_mismatches, icrc == wrong ? 30U : 0U);
    EXPECT_EQ(wire.connection().sent[0].count(Event::icrc_mismatch), icrc == wrong ? 30U : 0U);
    wire.expect_all_counted();
  }
}

TEST(TrackerIcrc, WhereAnswersComeFirstItIsFollowedToo) {
  Wire wire;
  OneSided sent(wire, wrong);
  sent.talk(100, 1);  // b's flow is there before it is known what a's are like
  sent.talk(101, 9);
  sent.lose_one(110);
  wire.finish();
  expect_followed(wire, 15, 1);
}

/// Both directions share a port that follows from nothing.
TEST(TrackerIcrc, ItsAnswersAreFoundByWhatTheySay) {
  Wire wire;
  wire.port = 0xc001;
  OneSided sent(wire, wrong);
  sent.talk(5'000'000, 60);
  sent.lose_one(5'000'060);
  wire.finish();
  expect_followed(wire, 65, 1);
}

TEST(TrackerIcrc, TheFirstPacketsOfADirectionMayBeDamaged) {
  Wire wire;
  for (const std::uint32_t psn : {100U, 101U}) {
    PacketRecord damaged = wire.make(a, b, write_only, psn);
    damaged.icrc = wrong;
    wire.send(damaged);
  }
  wire.request(a, b, 102);
  wire.answer(b, a, 100, nak_sequence);
  for (std::uint32_t psn = 100; psn < 103; ++psn) wire.request(a, b, psn);
  wire.answer(b, a, 102);
  wire.talk(a, b, 103, 10);
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 1U);
  EXPECT_EQ(wire.connection().requester[0].requests, 14U);  // the damaged ones are not believed
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::after_capture), 0U);
  EXPECT_EQ(wire.connection().sent[0].count(Event::icrc_mismatch), 2U);
  wire.expect_all_counted();
}

TEST(TrackerIcrc, OnceRightADirectionIsNotTheCapturesFault) {
  Wire wire;
  wire.talk(a, b, 100, 1);
  OneSided(wire, wrong).talk(101, 9);
  wire.finish();
  EXPECT_EQ(wire.connection().requester[0].requests, 1U);
}

/// Too short to tell; the host's other flow does.
TEST(TrackerIcrc, AShortFlowIsLikeItsHostsOthers) {
  constexpr End c{1, 0x33};
  constexpr End d{2, 0x44};
  const auto requests_of_short = [&](std::uint8_t other) {
    Wire wire;
    OneSided(wire, other).talk(100, 10);
    OneSided(wire, wrong).talk(7000, 2, c, d);
    wire.finish();
    wire.expect_all_counted();
    std::uint64_t requests = 0;
    for (const Connection& each : wire.result.connections) {
      if (each.paired() && each.ends[0].qp == c.qpn) requests += each.requester[0].requests;
    }
    return requests;
  };
  EXPECT_EQ(requests_of_short(wrong), 2U);
  EXPECT_EQ(requests_of_short(static_cast<std::uint8_t>(dissect::CrcStatus::match)), 0U);
}

/// Nothing waits for a verdict for ever.
TEST(TrackerIcrc, OneDamagedPacketBeforeSomeThatCannotBeCheckedHoldsNothingUp) {
  Wire wire;
  PacketRecord damaged = wire.make(a, b, write_only, 99);
  damaged.icrc = wrong;
  wire.send(damaged);
  OneSided(wire, unknown).talk(100, 40);
  EXPECT_TRUE(wire.is_followed(static_cast<std::uint32_t>(wire.sent())));
  wire.finish();
  EXPECT_EQ(wire.connection().requester[0].requests, 40U);
  wire.expect_all_counted();
}

// --- a damaged packet shows nothing but its damage ---

TEST(TrackerIcrc, ADamagedPacketIsNoEvidenceOfMarkingsOrPaths) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  PacketRecord damaged = wire.make(a, b, write_only, 120);
  damaged.icrc = wrong;
  damaged.traffic_class = 0x6b;  // DSCP 26, CE
  damaged.source_mac ^= 0x10;
  damaged.udp_source ^= 0x4;
  damaged.flags |= PacketRecord::tagged;
  damaged.tag = 0x6064;
  const std::uint32_t frame = wire.send(damaged);
  PacketRecord notice = wire.make(a, b, dissect::opcode_cnp, 0);
  notice.icrc = wrong;
  wire.send(notice);
  wire.talk(a, b, 120, 20);
  wire.finish();
  const Connection& c = wire.connection();
  EXPECT_EQ(c.sent[0].count(Event::icrc_mismatch), 2U);
  for (const Event none : {Event::ce_marked, Event::mac_changed, Event::cnp})
    EXPECT_EQ(c.sent[0].count(none), 0U) << static_cast<int>(none);
  EXPECT_EQ(c.cnps[0], 0U);
  EXPECT_FALSE(wire.verdict(frame).has(Verdict::source_mac_changed));
  const Flow& flow = wire.flow(a, b);
  EXPECT_EQ(flow.packets, 42U);
  EXPECT_EQ(flow.icrc_mismatches, 2U);
  EXPECT_EQ(flow.ecn[3], 0U);
  EXPECT_EQ(flow.dscp.of(0), 40U);
  EXPECT_EQ(flow.dscp.distinct(), 1U);
  EXPECT_EQ(flow.udp_sports.distinct(), 1U);
  EXPECT_EQ(flow.pcp.distinct(), 0U);
  EXPECT_FALSE(flow.vlan);
  EXPECT_EQ(flow.marks().size(), 1U);
  EXPECT_EQ(MarkingMatrix::of(wire.result.flows).others, 0U);
  EXPECT_EQ(flow.opcodes.distinct(), 1U);
  wire.expect_all_counted();
}

TEST(TrackerIcrc, ADamagedPacketMakesNoFlow) {
  for (const std::uint8_t opcode : {write_only, acknowledge, ud_send_only, dissect::opcode_cnp}) {
    Wire wire;
    wire.talk(a, b, 100, 20);
    PacketRecord damaged = wire.make(a, {2, 0x80022}, opcode, 120);
    damaged.icrc = wrong;
    wire.send(damaged);
    wire.talk(a, b, 120, 20);
    wire.finish();
    EXPECT_EQ(wire.result.flows.size(), 2U);
    EXPECT_EQ(wire.result.connections.size(), 1U);
    ASSERT_EQ(wire.result.strays.size(), 1U);
    EXPECT_EQ(wire.result.strays[0].src, tracker_host(1));
    EXPECT_EQ(wire.result.strays[0].dst, tracker_host(2));
    EXPECT_EQ(wire.result.strays[0].packets, 1U);
    wire.expect_all_counted();
  }
}

/// The first packet of a flow has another opcode because it is damaged.
TEST(TrackerIcrc, ADamagedOpcodeDoesNotSayWhatKindOfFlowItIs) {
  Wire wire;
  wire.talk({1, 0x33}, {2, 0x44}, 7000, 2);
  PacketRecord damaged = wire.make(a, b, ud_send_only, 100);
  damaged.icrc = wrong;
  damaged.traffic_class = 0x68;
  wire.send(damaged);
  wire.talk(a, b, 100, 10);
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 2U);
  EXPECT_TRUE(wire.connection(1).paired());
  const Flow& flow = wire.flow(a, b);
  EXPECT_EQ(flow.packets, 11U);
  EXPECT_EQ(flow.service, dissect::Service::rc);
  EXPECT_EQ(flow.dscp.of(0), 10U);
  EXPECT_EQ(flow.dscp.distinct(), 1U);
  EXPECT_EQ(flow.first_psn, 100U);
}

}  // namespace
}  // namespace tracker_icrc_test
}  // namespace roce::analyze
