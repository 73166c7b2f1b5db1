// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "analyze/mrc/mrc.hpp"
#include "findings_support.hpp"

namespace roce::analyze {
namespace {

/// A stream of 3200 packets over 32 paths, of which `lost` were lost on one of them, at `place`.
SnapshotMaker sprayed(std::uint64_t lost, MrcPlace place = MrcPlace::after_capture) {
  Mrc mrc;
  mrc.packets = 6400;
  MrcStream& stream = mrc.streams.emplace_back();
  stream.key.src = host(1);
  stream.key.dst = host(2);
  stream.key.dst_qp = 0x111;
  stream.key.transport = dissect::Transport::roce_v2_ipv4;
  stream.first_packet = 1;
  stream.packets = 3200;
  stream.repeats = stream.needed = lost;
  stream.lost[static_cast<std::size_t>(place)] = lost;
  for (std::uint16_t i = 0; i < 32; ++i) {
    MrcPath& path = stream.paths.emplace_back();
    path.udp_source = static_cast<std::uint16_t>(50000 + i);
    path.packets = 100;
  }
  stream.paths[7].lost = lost;
  for (std::uint32_t i = 0; i < lost; ++i) mrc.losses.push_back({0, i, place, 7, 40 + i, i * test_second});
  SnapshotMaker made;
  made.snapshot.totals.roce_packets = 6400;
  made.snapshot.mrc = std::make_shared<const Mrc>(std::move(mrc));
  return made;
}

/// A port that pauses priority 3.
SnapshotMaker paused(SnapshotMaker made) {
  PausePort& port = made.snapshot.pauses.ports.emplace_back();
  port.mac = 0x02;
  port.lanes[3] = std::make_unique<PauseLane>();
  port.lanes[3]->xoff.add(9, test_second);
  return made;
}

TEST(MrcLossFinding, Trigger) {
  const auto found = sprayed(3).run("mrc_loss");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].count, 3U);
  EXPECT_EQ(found[0].packets, (std::vector<std::uint64_t>{40, 41, 42}));
  EXPECT_NE(found[0].explanation.find(
                "3 packets from 10.0.0.1 to 10.0.0.2 over MRC were lost (<0.1 %): 3 behind the "
                "capture point."),
            std::string::npos)
      << found[0].explanation;
}

TEST(MrcLossFinding, NearMissTrimmedAtTheLastHopOnly) {
  EXPECT_TRUE(sprayed(3, MrcPlace::trimmed_last_hop).run("mrc_loss").empty());
  EXPECT_TRUE(sprayed(0).run("mrc_loss").empty());
}

TEST(MrcLossFinding, SingleOnesAreRepairedAtOnce) {
  const auto severity = [](std::uint64_t lost) { return sprayed(lost).run("mrc_loss")[0].severity; };
  EXPECT_EQ(severity(1), Severity::notice);
  EXPECT_EQ(severity(3), Severity::warning);
  EXPECT_EQ(severity(40), Severity::error);
}

/// The same stream, which its receiver refused so many times.
SnapshotMaker refusing(bool of_message, std::uint8_t code, unsigned times) {
  SnapshotMaker made = sprayed(0);
  auto mrc = std::make_shared<Mrc>(*made.snapshot.mrc);
  MrcRefusal& refusal = mrc->streams[0].refusals.emplace_back();
  refusal.of_message = of_message;
  refusal.code = code;
  for (unsigned i = 0; i < times; ++i) refusal.seen.add(90 + i, i * test_second);
  made.snapshot.mrc = std::move(mrc);
  return made;
}

TEST(MrcRefusedFinding, Trigger) {
  const auto nak = refusing(true, 2, 5).run("mrc_refused");
  ASSERT_EQ(nak.size(), 1U);
  EXPECT_EQ(nak[0].severity, Severity::error);
  EXPECT_EQ(nak[0].count, 5U);
  EXPECT_EQ(nak[0].packets.front(), 90U);
  EXPECT_NE(
      nak[0].explanation.find("10.0.0.2 refused what 10.0.0.1 writes to it over MRC, and its queue pair "
                              "ends: NAK remote access error (5 times)."),
      std::string::npos)
      << nak[0].explanation;
  EXPECT_NE(nak[0].advice.find("infiniband.aeth.syndrome == 0x62"), std::string::npos) << nak[0].advice;
  const auto event = refusing(false, 0x19, 20).run("mrc_refused");
  ASSERT_EQ(event.size(), 1U);
  EXPECT_NE(event[0].explanation.find("NACK unexpected event (20 times)"), std::string::npos)
      << event[0].explanation;
}

TEST(MrcRefusedFinding, NearMissNoRoom) {
  EXPECT_TRUE(refusing(false, 7, 20).run("mrc_refused").empty());
  EXPECT_TRUE(sprayed(3).run("mrc_refused").empty());
}

TEST(MrcNackedFinding, Trigger) {
  const auto found = refusing(false, 7, 20).run("mrc_nacked");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_NE(found[0].explanation.find("10.0.0.2 did not take 20 packets that 10.0.0.1 sent to it over MRC"),
            std::string::npos)
      << found[0].explanation;
  EXPECT_NE(found[0].explanation.find("NACK no packet buffer (20 times)"), std::string::npos)
      << found[0].explanation;
  EXPECT_EQ(refusing(false, 0x33, 2).run("mrc_nacked")[0].severity, Severity::notice);
}

TEST(MrcNackedFinding, NearMissFatalOnes) {
  EXPECT_TRUE(refusing(false, 0x19, 20).run("mrc_nacked").empty());
  EXPECT_TRUE(refusing(true, 2, 20).run("mrc_nacked").empty());
}

TEST(MrcUnansweredFinding, Trigger) {
  SnapshotMaker made = sprayed(0);
  auto mrc = std::make_shared<Mrc>(*made.snapshot.mrc);
  mrc->streams[0].unanswered.add(70, test_second);
  made.snapshot.mrc = std::move(mrc);
  const auto found = made.run("mrc_unanswered");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].packets, std::vector<std::uint64_t>{70});
  EXPECT_NE(found[0].explanation.find("10.0.0.2 no longer answers 10.0.0.1: 1 packet of 1 stream over "
                                      "MRC was sent three times and more since its last SACK."),
            std::string::npos)
      << found[0].explanation;
}

TEST(MrcUnansweredFinding, NearMissLosses) {
  EXPECT_TRUE(sprayed(3).run("mrc_unanswered").empty());
}

SnapshotMaker needlessly(unsigned times) {
  SnapshotMaker made = sprayed(0);
  auto mrc = std::make_shared<Mrc>(*made.snapshot.mrc);
  mrc->streams[0].needless = times;
  for (unsigned i = 0; i < times; ++i) mrc->streams[0].needless_shown.add(50 + i, i * test_second);
  made.snapshot.mrc = std::move(mrc);
  return made;
}

TEST(MrcNeedlessFinding, Trigger) {
  const auto found = needlessly(320).run("mrc_needless");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_NE(
      found[0].explanation.find("320 of 3200 packets that 10.0.0.1 sent to 10.0.0.2 over MRC (10.0 %) were "
                                "repeats of what had arrived."),
      std::string::npos)
      << found[0].explanation;
}

TEST(MrcNeedlessFinding, NearMissOne) {
  EXPECT_EQ(needlessly(1).run("mrc_needless")[0].severity, Severity::notice);
  EXPECT_TRUE(needlessly(0).run("mrc_needless").empty());
}

TEST(MrcBadPathFinding, Trigger) {
  const auto found = sprayed(20).run("mrc_bad_path");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].subject, "10.0.0.1 > 10.0.0.2 QP 0x000111, port 50007");
  EXPECT_NE(found[0].explanation.find(
                "loses 20 of its 100 packets (20.0 %), the 31 other paths of that stream none"),
            std::string::npos)
      << found[0].explanation;
}

TEST(MrcBadPathFinding, NearMissOneBurst) {
  EXPECT_TRUE(sprayed(3).run("mrc_bad_path").empty());
}

TEST(MrcTrimmedLastHopFinding, Trigger) {
  const auto found = sprayed(5, MrcPlace::trimmed_last_hop).run("mrc_trimmed_last_hop");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].subject, "10.0.0.2");
  EXPECT_EQ(found[0].count, 5U);
  EXPECT_NE(found[0].explanation.find("from 1 sender"), std::string::npos) << found[0].explanation;
}

TEST(MrcTrimmedLastHopFinding, NearMissTrimmedInTheFabric) {
  EXPECT_TRUE(sprayed(5, MrcPlace::trimmed_after).run("mrc_trimmed_last_hop").empty());
}

TEST(MrcPfcFinding, Trigger) {
  const auto found = paused(sprayed(0)).run("mrc_pfc");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].packets, std::vector<std::uint64_t>{9});
  EXPECT_NE(found[0].explanation.find("priority 3 (1 XOFF)"), std::string::npos) << found[0].explanation;
}

TEST(MrcPfcFinding, NearMissNoMrc) {
  EXPECT_TRUE(paused(SnapshotMaker()).run("mrc_pfc").empty());
}

}  // namespace
}  // namespace roce::analyze
