// SPDX-License-Identifier: Apache-2.0
#include "dissect/cm.hpp"

#include "cm_frames.hpp"
#include "dissect/headers/cm.hpp"

namespace roce::dissect {
namespace {

CmMessage decode(const std::string& text) {
  const LiteralFrame frame(text);
  const std::optional<CmMessage> message = decode_cm(frame.bytes, frame.d);
  EXPECT_TRUE(message.has_value());
  return message.value_or(CmMessage{});
}
IpAddress ip(std::string_view text) {
  return IpAddress::v6(hex(text).data());
}

TEST(Cm, Req) {
  const CmMessage m = decode(cm_frames::req);
  EXPECT_EQ(m.kind, CmKind::req);
  EXPECT_TRUE(m.whole);
  EXPECT_EQ(m.transaction_id, 0x256ba8f3dU);
  EXPECT_EQ(m.local_comm_id, 0x3d8fba56U);
  EXPECT_EQ(m.remote_comm_id, 0U);
  EXPECT_EQ(m.local_qpn, Qpn(0xef));
  EXPECT_EQ(m.starting_psn, Psn(0x15562b));
  EXPECT_EQ(m.service.space, PortSpace::tcp);
  EXPECT_EQ(m.service.port, 7174U);
  EXPECT_EQ(m.p_key, PKey(0xffff));
  EXPECT_EQ(m.transport, CmTransport::rc);
  EXPECT_EQ(m.mtu, 4096U);
  EXPECT_EQ(m.retry_count, 7U);
  EXPECT_EQ(m.rnr_retry_count, 7U);
  EXPECT_EQ(m.max_cm_retries, 15U);
  EXPECT_EQ(m.responder_resources, 1U);
  EXPECT_EQ(m.initiator_depth, 1U);
  EXPECT_FALSE(m.srq);
  EXPECT_EQ(m.traffic_class, 0U);
  EXPECT_EQ(m.hop_limit, 64U);
  EXPECT_EQ(m.sl, 0U);
  EXPECT_EQ(m.flow_label, 0x37e53U);
  EXPECT_EQ(m.local_ack_timeout, 17U);
  EXPECT_EQ(cm_timeout_ns(m.local_ack_timeout), 536'870'912U);  // 4.096 us * 2^17
  EXPECT_EQ(m.local_gid, ip("00000000000000000000ffff0a4d0001"));
  ASSERT_TRUE(m.ip_cm.has_value());
  EXPECT_EQ(m.ip_cm->source, m.local_gid);
  EXPECT_EQ(m.ip_cm->destination, ip("00000000000000000000ffff0a4d0002"));
  EXPECT_EQ(m.ip_cm->source_port, 40979U);
  EXPECT_EQ(m.private_offset, 62U + 24 + 140 + 36);
  EXPECT_EQ(m.private_length, 56U);
}

TEST(Cm, TransportsOfAReq) {
  const auto with = [](std::string_view type, std::string_view extension) {
    std::string text = cm_frames::req;
    text.replace(text.find("000000a0 15562ba7") + 6, 2, type);
    text.replace(text.find("ffff57f0") + 6, 2, extension);
    return decode(text).transport;
  };
  EXPECT_EQ(with("a0", "f0"), CmTransport::rc);
  EXPECT_EQ(with("a2", "f0"), CmTransport::uc);
  EXPECT_EQ(with("a4", "f0"), CmTransport::rd);
  EXPECT_EQ(with("a6", "f1"), CmTransport::xrc);
  EXPECT_EQ(with("a6", "f2"), CmTransport::unknown);
}

TEST(Cm, TrafficClassAndSlOfAReq) {
  std::string text = cm_frames::req;
  text.replace(text.find("37e53000 00400088"), 17, "37e53003 6a4030a0");
  const CmMessage m = decode(text);
  EXPECT_EQ(m.packet_rate, 3U);
  EXPECT_EQ(m.traffic_class, 106U);
  EXPECT_EQ(m.sl, 3U);
  EXPECT_EQ(m.local_ack_timeout, 20U);
}

TEST(Cm, Answers) {
  const CmMessage rep = decode(cm_frames::rep);
  EXPECT_EQ(rep.kind, CmKind::rep);
  EXPECT_EQ(rep.local_comm_id, 0xb927b682U);
  EXPECT_EQ(rep.remote_comm_id, 0x3d8fba56U);
  EXPECT_EQ(rep.local_qpn, Qpn(0xc8));
  EXPECT_EQ(rep.starting_psn, Psn(0x7dca6b));
  EXPECT_EQ(rep.target_ack_delay, 15U);
  EXPECT_EQ(rep.rnr_retry_count, 7U);
  EXPECT_EQ(rep.private_length, 196U);

  const CmMessage rej = decode(cm_frames::rej);
  EXPECT_EQ(rej.kind, CmKind::rej);
  EXPECT_EQ(rej.remote_comm_id, 0x328fba56U);
  EXPECT_EQ(rej.reject_reason, 8U);
  EXPECT_EQ(reject_reason_name(rej.reject_reason), "invalid service ID");
  EXPECT_EQ(answered_message_name(rej.kind, rej.message), "REQ");

  const CmMessage mra = decode(cm_frames::mra);
  EXPECT_EQ(mra.kind, CmKind::mra);
  EXPECT_EQ(answered_message_name(mra.kind, mra.message), "REP");
  EXPECT_EQ(mra.service_timeout, 19U);

  EXPECT_EQ(decode(cm_frames::rtu).kind, CmKind::rtu);
  EXPECT_EQ(decode(cm_frames::rtu).remote_comm_id, 0xb927b682U);
  EXPECT_EQ(decode(cm_frames::dreq).remote_qpn, Qpn(0xc8));
  EXPECT_EQ(decode(cm_frames::drep).kind, CmKind::drep);
  EXPECT_EQ(decode(cm_frames::drep).local_comm_id, 0xb927b682U);
}

TEST(Cm, ServiceIdResolution) {
  const CmMessage request = decode(cm_frames::sidr_req);
  EXPECT_EQ(request.kind, CmKind::sidr_req);
  EXPECT_EQ(request.request_id, 0xdf8fba56U);
  EXPECT_EQ(request.service.space, PortSpace::udp);
  EXPECT_EQ(request.service.port, 7174U);
  ASSERT_TRUE(request.ip_cm.has_value());
  EXPECT_EQ(request.ip_cm->source, ip("fd770000000000000000000000000001"));
  EXPECT_EQ(request.ip_cm->source_port, 0x994aU);

  const CmMessage refusal = decode(cm_frames::sidr_rep);
  EXPECT_EQ(refusal.request_id, request.request_id);
  EXPECT_EQ(sidr_status_name(refusal.status), "rejected by the service provider");
  const CmMessage reply = decode(cm_frames::sidr_rep_accepted);
  EXPECT_EQ(reply.status, 0U);
  EXPECT_EQ(reply.local_qpn, Qpn(0x1a));
  EXPECT_EQ(reply.q_key, 0x01234567U);
}

TEST(Cm, AlternatePaths) {
  const CmMessage lap = decode(cm_frames::lap);
  EXPECT_EQ(lap.kind, CmKind::lap);
  EXPECT_EQ(lap.remote_qpn, Qpn(0xc8));
  EXPECT_EQ(lap.remote_response_timeout, 20U);
  EXPECT_EQ(lap.local_gid, ip("00000000000000000000ffff0a4d0003"));
  EXPECT_EQ(lap.remote_gid, ip("fe80000000000000525400fffe000b01"));
  EXPECT_EQ(lap.flow_label, 0x12345U);
  EXPECT_EQ(lap.traffic_class, 0x68U);
  EXPECT_EQ(lap.hop_limit, 64U);
  EXPECT_EQ(lap.packet_rate, 3U);
  EXPECT_EQ(lap.sl, 3U);
  EXPECT_EQ(lap.local_ack_timeout, 18U);
  EXPECT_EQ(apr_status_name(decode(cm_frames::apr).status), "proposed path is the current path");
}

TEST(Cm, ACutMessageTellsItsKind) {
  const std::vector<std::uint8_t> bytes = hex(cm_frames::req);
  const LiteralFrame frame(std::vector<std::uint8_t>(bytes.begin(), bytes.begin() + 96), bytes.size());
  const std::optional<CmMessage> m = decode_cm(frame.bytes, frame.d);
  ASSERT_TRUE(m.has_value());
  EXPECT_EQ(m->kind, CmKind::req);
  EXPECT_FALSE(m->whole);
}

TEST(Cm, NothingInOtherFrames) {
  std::string text = cm_frames::req;
  text.replace(text.find("01070203"), 8, "01030201");
  const LiteralFrame other_class(text), no_mad("505400000b01525400000a0188cc0000");
  EXPECT_FALSE(decode_cm(other_class.bytes, other_class.d).has_value());
  EXPECT_FALSE(decode_cm(no_mad.bytes, no_mad.d).has_value());
}

TEST(Cm, EveryTruncationDecodes) {
  for (const std::string& text : cm_frames::all()) {
    const std::vector<std::uint8_t> bytes = hex(text);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      const LiteralFrame frame(
          std::vector<std::uint8_t>(bytes.begin(), bytes.begin() + static_cast<long>(length)), bytes.size());
      const std::optional<CmMessage> m = decode_cm(frame.bytes, frame.d);
      if (m && m->whole) {
        ASSERT_LE(m->private_offset + m->private_length, length);
      }
    }
  }
}

TEST(Cm, ServicesAndNames) {
  EXPECT_EQ(service_port(0x0000000001061144).space, PortSpace::tcp);
  EXPECT_EQ(service_name_of(0x0000000001061144), "NVMe-oF");
  EXPECT_EQ(service_name_of(0x0000000001111144), "");  // the UDP port space
  EXPECT_EQ(service_port(0x00000000013f0000).space, PortSpace::ib);
  EXPECT_EQ(service_port(0x505400fffe000b01).space, PortSpace::none);
  EXPECT_EQ(service_name(3260), "iSER");
  EXPECT_EQ(service_name(20049), "NFS/RDMA");
  EXPECT_EQ(service_name(445), "SMB Direct");
  EXPECT_EQ(service_name(5445), "SMB Direct");
  EXPECT_EQ(service_name(987), "Lustre");
  EXPECT_EQ(service_name(7174), "");
  EXPECT_EQ(cm_timeout_ns(0), 4096U);
  EXPECT_EQ(cm_timeout_ns(31), 8'796'093'022'208U);
  for (std::uint16_t reason = 1; reason <= 33; ++reason)
    EXPECT_FALSE(reject_reason_name(reason).empty()) << reason;
  EXPECT_EQ(reject_reason_name(28), "consumer reject");
  EXPECT_EQ(reject_reason_name(0), "");
  EXPECT_EQ(cm_kind_name(CmKind::sidr_rep), "SIDR_REP");
  EXPECT_EQ(cm_transport_name(CmTransport::xrc), "XRC");
}

}  // namespace
}  // namespace roce::dissect
