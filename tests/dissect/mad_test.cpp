// SPDX-License-Identifier: Apache-2.0
// Frames of rdma_cm applications between two Linux hosts; every value compared with tshark 4.0.
#include "dissect/headers/mad.hpp"

#include "cm_frames.hpp"

namespace roce::dissect {
namespace {

TEST(Mad, ReqToAnIpService) {
  const LiteralFrame frame(cm_frames::req);
  EXPECT_EQ(frame.d.stop, Stop::complete);
  EXPECT_EQ(frame.ids(HeaderId::mad), (std::vector{HeaderId::mad, HeaderId::cm_req, HeaderId::ip_cm}));
  ASSERT_LT(frame.d.mad, frame.d.layer_count);
  EXPECT_EQ(frame.d.layers[frame.d.mad].offset, 62U);
  EXPECT_EQ(frame.d.layers[frame.d.mad].length, 24U);

  EXPECT_EQ(frame.number("infiniband.mad.baseversion"), 1U);
  EXPECT_EQ(frame.number("infiniband.mad.mgmtclass"), 7U);
  EXPECT_EQ(frame.number("infiniband.mad.classversion"), 2U);
  EXPECT_EQ(frame.number("infiniband.mad.method"), 3U);
  EXPECT_EQ(frame.number("infiniband.mad.transactionid"), 0x256ba8f3dU);
  EXPECT_EQ(frame.number("infiniband.mad.attributeid"), 0x10U);
  EXPECT_EQ(frame.bytes_of("infiniband.mad.data"), "");  // the body is the CM's

  EXPECT_EQ(frame.number("infiniband.cm.req"), 0x3d8fba56U);
  EXPECT_EQ(frame.number("infiniband.cm.req.serviceid"), 0x1061c06U);
  EXPECT_EQ(frame.bytes_of("infiniband.cm.req.serviceid.prefix"), "0000000001");
  EXPECT_EQ(frame.number("infiniband.cm.req.serviceid.dport"), 7174U);
  EXPECT_EQ(frame.number("infiniband.cm.req.localqpn"), 0xefU);
  EXPECT_EQ(frame.number("infiniband.cm.req.startpsn"), 0x15562bU);
  EXPECT_EQ(frame.number("infiniband.cm.req.remoteresptout"), 0x14U);
  EXPECT_EQ(frame.number("infiniband.cm.req.retrcount"), 7U);
  EXPECT_EQ(frame.number("infiniband.cm.req.pkey"), 0xffffU);
  EXPECT_EQ(frame.number("infiniband.cm.req.pppmtu"), 5U);
  EXPECT_EQ(frame.number("infiniband.cm.req.rnrretrcount"), 7U);
  EXPECT_EQ(frame.number("infiniband.cm.req.maxcmretr"), 15U);
  EXPECT_EQ(frame.bytes_of("infiniband.cm.req.prim_localgid"), "");
  EXPECT_EQ(frame.bytes_of("infiniband.cm.req.prim_localgid_ipv4"), "0a4d0001");
  EXPECT_EQ(frame.bytes_of("infiniband.cm.req.prim_remotegid_ipv4"), "0a4d0002");
  EXPECT_EQ(frame.number("infiniband.cm.req.prim_flowlabel"), 0x37e53U);  // tshark loses 8 bits here
  EXPECT_EQ(frame.number("infiniband.cm.req.prim_pktrate"), 0U);
  EXPECT_EQ(frame.number("infiniband.cm.req.prim_hoplim"), 64U);
  EXPECT_EQ(frame.number("infiniband.cm.req.prim_localacktout"), 0x11U);
  EXPECT_EQ(frame.bytes_of("infiniband.cm.req.private"), "");

  EXPECT_EQ(frame.number("infiniband.cm.req.ip_cm.ipv"), 4U);
  EXPECT_EQ(frame.number("infiniband.cm.req.ip_cm.sport"), 0xa013U);
  EXPECT_EQ(frame.bytes_of("infiniband.cm.req.ip_cm.sip4"), "0a4d0001");
  EXPECT_EQ(frame.bytes_of("infiniband.cm.req.ip_cm.dip4"), "0a4d0002");
  EXPECT_EQ(frame.bytes_of("infiniband.cm.req.ip_cm.private"), zeros(56));
  check_truncations(frame.bytes);
}

TEST(Mad, EveryCmMessageWholeAndCut) {
  for (const std::string& text : cm_frames::all()) {
    const LiteralFrame frame(text);
    EXPECT_EQ(frame.d.stop, Stop::complete);
    EXPECT_GE(frame.ids(HeaderId::mad).size(), 2U);
    check_truncations(frame.bytes);
  }
}

TEST(Mad, AReqToAnotherServiceKeepsItsPrivateData) {
  std::string text = cm_frames::req;
  text.replace(text.find("0000000001061c06"), 16, "505400fffe000b01");
  const LiteralFrame frame(text);
  EXPECT_EQ(frame.ids(HeaderId::mad), (std::vector{HeaderId::mad, HeaderId::cm_req}));
  EXPECT_EQ(frame.bytes_of("infiniband.cm.req.private").size(), 2U * 92);
  EXPECT_TRUE(frame.all("infiniband.cm.req.serviceid.dport").empty());
}

TEST(Mad, ACutReqStillShowsItsFixedPart) {
  const std::vector<std::uint8_t> bytes = hex(cm_frames::req);
  const LiteralFrame frame(std::vector<std::uint8_t>(bytes.begin(), bytes.begin() + 240), bytes.size());
  EXPECT_EQ(frame.number("infiniband.cm.req.localqpn"), 0xefU);
  EXPECT_EQ(frame.d.stop, Stop::cut_by_capture);
  EXPECT_EQ(frame.d.stopped_at, HeaderId::ip_cm);
}

TEST(Mad, RepPrivateDataRunsToTheEndOfTheDatagram) {
  const LiteralFrame frame(cm_frames::rep);
  EXPECT_EQ(frame.number("infiniband.cm.rep"), 0xb927b682U);
  EXPECT_EQ(frame.number("infiniband.cm.rep.remotecommid"), 0x3d8fba56U);
  EXPECT_EQ(frame.number("infiniband.cm.rep.localqpn"), 0xc8U);
  EXPECT_EQ(frame.number("infiniband.cm.rep.startpsn"), 0x7dca6bU);
  EXPECT_EQ(frame.number("infiniband.cm.rep.tgtackdelay"), 15U);
  EXPECT_EQ(frame.number("infiniband.cm.rep.rnrretrcount"), 7U);
  EXPECT_EQ(frame.number("infiniband.cm.rep.localcaguid"), 0x505400fffe000b01U);
  EXPECT_EQ(frame.bytes_of("infiniband.cm.rep.private").size(), 2U * 196);  // not the ICRC
}

TEST(Mad, OtherClassesAreBytes) {
  std::string text = cm_frames::req;
  text.replace(text.find("01070203"), 8, "01030201");  // subnet administration, Get
  const LiteralFrame frame(text);
  EXPECT_EQ(frame.ids(HeaderId::mad), std::vector{HeaderId::mad});
  EXPECT_EQ(frame.bytes_of("infiniband.mad.data").size(), 2U * 232);
}

TEST(Mad, UnknownAttributeOfTheCm) {
  std::string text = cm_frames::req;
  text.replace(text.find("00100000000000003d8f"), 4, "0042");
  const LiteralFrame frame(text);
  EXPECT_EQ(frame.ids(HeaderId::mad), (std::vector{HeaderId::mad, HeaderId::cm_unknown}));
}

TEST(Mad, ADatagramShorterThanAMadContradictsItself) {
  // UD SEND Only to QP 1 with 28 bytes: header and four of the body.
  const LiteralFrame frame(
      "505400000b01 505400000a01 0800"
      "4500 0050 0000 4000 4011 0000 0a4d0001 0a4d0002"
      "d872 12b7 003c 0000"
      "6400ffff 00000001 00000001"
      "80010000 00000001"
      "01070203 00000000 0000000000000001 0014 0000 00000000 11111111"
      "00000000");
  EXPECT_EQ(frame.d.stop, Stop::contradicts_itself);
  EXPECT_EQ(frame.d.stopped_at, HeaderId::cm_rtu);
}

TEST(Mad, OnlyUnreliableDatagramsToTheManagementQps) {
  std::string text = cm_frames::req;
  text.replace(text.find("6400ffff00000001"), 16, "6400ffff00000002");
  EXPECT_EQ(LiteralFrame(text).d.mad, Dissection::none);
}

}  // namespace
}  // namespace roce::dissect
