// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/grouping.hpp"
#include "tests/analyze/findings/findings_support.hpp"

namespace roce::analyze {
namespace {

NumberedStream stream(NumberedKind kind, std::uint64_t packets, std::uint64_t missing) {
  NumberedStream s;
  s.key.kind = kind;
  s.key.id = 0xc0de;
  s.packets = packets;
  s.missing = missing;
  s.counts = true;
  s.first_packet = 7;
  s.first_ns = 0;
  s.last_ns = test_second;
  return s;
}

TEST(EncryptedFinding, TriggerShells) {
  SnapshotMaker maker;
  maker.snapshot.numbered.streams = {stream(NumberedKind::esp, 1000, 3)};
  std::vector<Finding> found = maker.run("encrypted");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::notice);
  EXPECT_EQ(found[0].count, 1000U);
  EXPECT_TRUE(says(found[0], "1000 packets are encrypted (ESP, SPI 0x0000c0de): RoCE may be inside"));
  EXPECT_TRUE(says(found[0], "3 are missing"));
  maker.snapshot.totals.roce_packets = 10;
  found = maker.run("encrypted");
  EXPECT_EQ(found.at(0).severity, Severity::info);
}

TEST(EncryptedFinding, NearMissAhAndMirrors) {
  SnapshotMaker maker;
  maker.snapshot.numbered.streams = {stream(NumberedKind::ah, 1000, 3),
                                     stream(NumberedKind::erspan, 1000, 3)};
  EXPECT_TRUE(maker.run("encrypted").empty());
}

TEST(MirrorLossFinding, TriggerNumbersThatNeverCame) {
  SnapshotMaker maker;
  Connection& connection = maker.connect(1, 2);
  EXPECT_EQ(confidence_in(maker.snapshot, connection), 1);
  maker.snapshot.numbered.streams = {stream(NumberedKind::erspan, 9990, 10)};
  const std::vector<Finding> found = maker.run("mirror_loss");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_TRUE(says(found[0], "lost 10 of 10000 packets (0.1 %) between switch and capture"));
  EXPECT_LT(confidence_in(maker.snapshot, connection), 1);
  maker.snapshot.numbered.streams = {stream(NumberedKind::erspan, 99'999, 1)};
  EXPECT_EQ(maker.run("mirror_loss").at(0).severity, Severity::notice);
}

TEST(MirrorLossFinding, NearMissShellsAndWholeMirrors) {
  SnapshotMaker maker;
  maker.snapshot.numbered.streams = {stream(NumberedKind::erspan, 9990, 0),
                                     stream(NumberedKind::esp, 9990, 10)};
  EXPECT_TRUE(maker.run("mirror_loss").empty());
}

}  // namespace
}  // namespace roce::analyze
