// SPDX-License-Identifier: Apache-2.0
#include "dissect/headers/mac_control.hpp"

#include "literal_frame.hpp"

namespace roce::dissect {
namespace {

const std::string to_control = "0180c2000001 001122334455 8808";

TEST(MacControl, PfcPausesPriorityThree) {
  const std::string text = to_control + "0101 0008 0000 0000 0000 ffff 0000 0000 0000 0000" + zeros(26);
  const LiteralFrame frame(text);
  ASSERT_EQ(frame.ids(HeaderId::mac_pause), std::vector{HeaderId::mac_pfc});
  EXPECT_EQ(frame.d.stop, Stop::complete);
  EXPECT_EQ(frame.number("macc.opcode"), 0x0101U);
  EXPECT_EQ(frame.number("macc.cbfc.enbv"), 0x0008U);
  EXPECT_EQ(frame.number("macc.cbfc.enbv.c3"), 1U);
  EXPECT_EQ(frame.number("macc.cbfc.enbv.c2"), 0U);
  EXPECT_EQ(frame.number("macc.cbfc.pause_time.c3"), 65535U);
  EXPECT_EQ(frame.number("macc.cbfc.pause_time.c4"), 0U);
  const Layer* layer = frame.d.find(HeaderId::mac_pfc);
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(MacPfc::priorities(frame.bytes.data() + layer->offset), 0x08U);
  EXPECT_EQ(MacPfc::quanta(frame.bytes.data() + layer->offset, 3), 65535U);
  check_truncations(frame.bytes);
}

TEST(MacControl, PfcTimesStandInTheOrderOfPriorities) {
  const LiteralFrame frame(to_control + "0101 00ff 0001 0002 0003 0004 0005 0006 0007 0008");
  for (unsigned priority = 0; priority < 8; ++priority) {
    const std::string digit = std::to_string(priority);
    EXPECT_EQ(frame.number("macc.cbfc.enbv.c" + digit), 1U);
    EXPECT_EQ(frame.number("macc.cbfc.pause_time.c" + digit), priority + 1);
  }
}

TEST(MacControl, PauseHasOneTime) {
  const LiteralFrame frame(to_control + "0001 1234" + zeros(42));
  ASSERT_EQ(frame.ids(HeaderId::mac_pause), std::vector{HeaderId::mac_pause});
  EXPECT_EQ(frame.number("macc.pause_time"), 0x1234U);
  check_truncations(frame.bytes);
}

TEST(MacControl, BehindATag) {
  const LiteralFrame frame("0180c2000001 001122334455 8100 6005 8808 0001 0010" + zeros(42));
  EXPECT_EQ(frame.number("macc.pause_time"), 16U);
}

TEST(MacControl, OtherOpcodesShowTheirNumber) {
  const LiteralFrame frame(to_control + "0002 0000 0000" + zeros(40));
  ASSERT_EQ(frame.ids(HeaderId::mac_pause), std::vector{HeaderId::mac_control});
  EXPECT_EQ(frame.number("macc.opcode"), 2U);
}

TEST(MacControl, ShortOnTheWireContradictsAndShortInTheFileIsCut) {
  const std::vector<std::uint8_t> bytes = hex(to_control + "0101 0008 0000");
  const LiteralFrame wire(bytes);
  EXPECT_EQ(wire.d.stop, Stop::contradicts_itself);
  EXPECT_EQ(wire.d.stopped_at, HeaderId::mac_pfc);
  const LiteralFrame file(bytes, 60);
  EXPECT_EQ(file.d.stop, Stop::cut_by_capture);
  EXPECT_EQ(file.d.stopped_at, HeaderId::mac_pfc);
}

}  // namespace
}  // namespace roce::dissect
