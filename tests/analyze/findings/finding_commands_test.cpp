// SPDX-License-Identifier: Apache-2.0
// The command that shows the packets of a finding: the narrowest filter that shows these and no others.
#include "analyze/findings/shared/commands.hpp"
#include "tests/analyze/findings/findings_support.hpp"

namespace roce::analyze {
namespace {

std::string advice_of(const SnapshotMaker& maker, std::string_view id, std::size_t which = 0) {
  const std::vector<Finding> found = maker.run(id);
  if (which < found.size()) return found[which].advice;
  ADD_FAILURE() << "no finding";
  return {};
}

bool ends_with(const std::string& text, std::string_view end) {
  return text.ends_with(end);
}

TEST(FindingCommand, NamesTheDirectionOnlyWhereTheOtherHasSuchPacketsToo) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::spurious, 30);
  std::string advice = advice_of(maker, "spurious_retransmission");
  EXPECT_TRUE(ends_with(
      advice, " The packets: roceanalyze packets FILE -Y 'roce.connection == 0 && roce.analysis.spurious'"))
      << advice;
  happen(c.sent[1], Event::spurious, 20);
  advice = advice_of(maker, "spurious_retransmission");
  EXPECT_TRUE(
      ends_with(advice, "-Y 'roce.connection == 0 && roce.direction == a_to_b && roce.analysis.spurious'"))
      << advice;
}

TEST(FindingCommand, WhatTheOtherSideSendsGoesTheOtherWay) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::lost_after_capture, 30);
  happen(c.sent[1], Event::lost_after_capture, 20, 1000);
  const std::string advice = advice_of(maker, "loss_after_capture");
  EXPECT_TRUE(ends_with(advice,
                        "The packets that show them: roceanalyze packets FILE -Y 'roce.connection == 0 && "
                        "roce.direction == b_to_a && roce.analysis.lost == after_capture'"))
      << advice;
}

TEST(FindingCommand, ManyConnectionsOfAPairAreNamedByTheirAddressesInTheirDirection) {
  SnapshotMaker maker;
  for (int i = 0; i < 5; ++i) happen(maker.connect(1, 2).sent[0], Event::out_of_order, 30);
  std::string advice = advice_of(maker, "reordering");
  EXPECT_TRUE(ends_with(advice,
                        "-Y 'roce.src == 10.0.0.1 && roce.dst == 10.0.0.2 && "
                        "roce.analysis.out_of_order'"))
      << advice;
  maker.flow(7, 8, 0x11, dissect::Service::ud);  // packets without a connection may have such flags too
  advice = advice_of(maker, "reordering");
  EXPECT_NE(advice.find("-Y 'roce.connection && roce.src == 10.0.0.1"), std::string::npos) << advice;
}

TEST(FindingCommand, WhereAddressesShowOthersTooItNamesTheConnections) {
  SnapshotMaker maker;
  // Given up for silence: one of the repeats that only belongs to the finding of the others.
  for (int i = 0; i < 6; ++i) {
    Connection& c = maker.connect(1, 2);
    happen(c.sent[0], Event::retransmitted_timeout, 40);
    if (i == 3) happen(c.sent[0], Event::spurious, 40);  // needless ones are another finding's
  }
  std::string advice = advice_of(maker, "timeouts");
  EXPECT_TRUE(ends_with(advice,
                        "-Y 'roce.connection in {0, 1, 2, 4, 5} && "
                        "roce.analysis.retransmission.cause == timeout'"))
      << advice;
  for (int i = 0; i < 20; ++i) happen(maker.connect(1, 2).sent[0], Event::retransmitted_timeout, 40);
  advice = advice_of(maker, "timeouts");
  EXPECT_NE(advice.find("The packets, among those of other connections: roceanalyze"), std::string::npos)
      << advice;
}

TEST(FindingCommand, LeavesOutCopiesAndDamagedPacketsThatNoCounterHas) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[1], Event::rnr_nak, 200);
  happen(c.sent[1], Event::duplicate_capture, 4);
  happen(c.sent[1], Event::icrc_mismatch, 4);
  const std::string advice = advice_of(maker, "rnr");
  EXPECT_TRUE(ends_with(advice,
                        "'roce.connection == 0 && infiniband.aeth.syndrome.opcode == \"RNR NAK\" && "
                        "!roce.analysis.duplicate_capture && !(roce.icrc.status == mismatch)'"))
      << advice;
}

TEST(FindingCommand, SaysHowManyPacketsItShowsWhereThatIsNotTheFigure) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  RetryChain& chain = c.requester[0].trouble->worst_chain;
  chain.psn = 4711;
  chain.opcode = 10;
  chain.resends = 7;
  chain.first_frame = 100;
  chain.last_frame = 900;
  chain.first_seen = true;
  c.requester[0].retries_exhausted = true;
  c.sent[0].add(Event::retries_exhausted, 900, 1);
  happen(c.sent[0], Event::retransmitted_timeout, 300);
  const std::vector<Finding> found = maker.run("retries_exhausted");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(
      ends_with(found[0].advice,
                " The request (8): roceanalyze packets FILE -Y 'roce.connection == 0 && infiniband.bth.psn "
                "== 4711 && infiniband.bth.opcode == 10 && frame.number >= 100 && frame.number <= 900'"))
      << found[0].advice;
  EXPECT_EQ(found[0].packets, (std::vector<std::uint64_t>{100, 900}));
  EXPECT_TRUE(says(found[0], "was sent 8 times (from packet 100 to 900)")) << found[0].explanation;
}

TEST(FindingCommand, APacketThatShowsSeveralLossesIsAnnounced) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::lost_before_capture, 30);
  EXPECT_NE(advice_of(maker, "loss_before_capture").find("The packets that show them: "), std::string::npos);
  c.sent[0].add(Event::lost_before_capture, 5000, 1, 3);
  EXPECT_NE(advice_of(maker, "loss_before_capture")
                .find("The packets that show them, some of them more than one: "),
            std::string::npos);
}

TEST(FindingCommand, LooksAtTheSamePacketsInTheSameWay) {
  Snapshot snapshot;
  EXPECT_EQ(packets_command(snapshot, "vlan"), "roceanalyze packets FILE -Y 'vlan'");
  snapshot.filter = "infiniband.bth.opcode == 'A' or ip";
  snapshot.same_packets = " --from +1 --no-icrc";
  EXPECT_EQ(
      packets_command(snapshot, "vlan or udp"),
      "roceanalyze packets FILE --from +1 --no-icrc -Y '(infiniband.bth.opcode == '\\''A'\\'' or ip) && "
      "(vlan or udp)'");
}

TEST(FindingTexts, OneIsNotMany) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::spurious, 1);
  happen(c.sent[0], Event::lost_by_capture, 1);
  happen(c.sent[0], Event::lost_before_capture, 1);
  happen(c.sent[0], Event::mac_changed, 1);
  EXPECT_TRUE(says(maker.run("spurious_retransmission")[0], "sent by 10.0.0.1 is a retransmission of what"));
  EXPECT_TRUE(says(maker.run("loss_by_capture")[0], "is not in the capture, but was acknowledged without"));
  EXPECT_TRUE(says(maker.run("loss_before_capture")[0], "it was missed and retransmitted"));
  EXPECT_TRUE(says(maker.run("loss_before_capture")[0], "The packets that show it: "));
  EXPECT_TRUE(says(maker.run("source_mac_changed")[0], "source MAC address once."));
  Connection& late = maker.connect(3, 4);
  RetryChain& chain = late.requester[0].trouble->worst_chain;
  chain.psn = 12;
  chain.opcode = 10;
  chain.resends = 1;
  chain.first_frame = chain.last_frame = 288;
  late.requester[0].trouble->chains = 1;
  late.requester[0].trouble->timeouts = 1;
  happen(late.sent[0], Event::retransmitted_timeout, 1, 288);
  const std::vector<Finding> found = maker.run("timeouts");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0], "the timer expired once")) << found[0].explanation;
  EXPECT_TRUE(says(found[0], "was sent at least twice (packet 288; the first transmission is unknown)"))
      << found[0].explanation;
}

}  // namespace
}  // namespace roce::analyze
