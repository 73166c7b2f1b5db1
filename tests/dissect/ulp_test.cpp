// SPDX-License-Identifier: Apache-2.0
// NVMe-oF, iSER and NFS/RDMA frames are from captures, values compared with tshark 4.0; SMB Direct
// after MS-SMBD, 4.
#include "dissect/ulp.hpp"

#include "cm_frames.hpp"

namespace roce::dissect {
namespace ulp_test {
namespace {

/// RoCE v2 over IPv4 around a payload whose length is a multiple of four.
std::string roce(const std::string& opcode, const std::string& payload) {
  const std::size_t size = hex(payload).size();
  char lengths[64];
  std::snprintf(lengths, sizeof lengths, "4500%04zx00004000401100000a4d00010a4d0002c00012b7%04zx0000",
                20 + 8 + 12 + size + 4, 8 + 12 + size + 4);
  return "525400000b01525400000a010800" + std::string(lengths) + opcode + "00ffff000000be80000001" + payload +
         "00000000";
}
const std::string send_only = "04", send_first = "00", send_last = "02", write_only = "0a";

struct Looked : LiteralFrame {
  Ulp found;
  explicit Looked(const std::string& text, Ulp hint = Ulp::none)
      : LiteralFrame(text), found(dissect_ulp(bytes, d, hint)) {}
};

// nvme connect, admin queue.
const std::string connect_command =
    "7f400000 01000000000000000000000000000000 00000000 00043b03428affff 000400 287e0200 4f"
    "0000 0000 1f00 00 00 88130000" +
    zeros(12);
const std::string completion = "0100000000000000 0100 0000 0000 0000";
// iscsi, INQUIRY.
const std::string inquiry =
    "14000000 00000000 0000000000000000 00032d7c ffff8a4202a56700"
    "01c10000 00000000 0000000000000000 01000000 00000024 00000000 a0872658 12000000240000000000000000000000";
// NFS 4.2, EXCHANGE_ID with a reply chunk; its reply without a message.
const std::string exchange_id =
    "f2fddf25 00000001 00000080 00000000 00000000 00000000 00000001 00000001"
    "00030199 00001090 f2fddf2502e8e000"
    "f2fddf25 00000000 00000002 000186a3 00000004 00000001";
const std::string nomsg_reply =
    "f2fddf25 00000001 00000040 00000001 00000000 00000000 00000001 00000001"
    "00030199 0000005c f2fddf2502e8e000";
const std::string negotiate_request = "0001 0001 0000 ff00 54050000 00200000 00001000";
const std::string negotiate_response =
    "0001 0001 0001 0000 ff00 ff00 00000000 00001000 54050000 00200000 00001000";
const std::string smb_data = "ff00 0100 0100 0000 00000000 18000000 04000000 00000000 fe534d42";

TEST(Ulp, NvmeConnectCommand) {
  const Looked frame(roce(send_only, connect_command), Ulp::nvme_of);
  EXPECT_EQ(frame.found, Ulp::nvme_of);
  EXPECT_EQ(frame.ids(HeaderId::nvme_rdma_request), std::vector{HeaderId::nvme_fabrics_command});
  EXPECT_EQ(frame.bytes_of("nvme.fabrics.cmd.opc"), "7f");
  EXPECT_EQ(frame.number("nvme.fabrics.cmd.fctype"), 1U);
  EXPECT_EQ(frame.number("nvme.cmd.sgl.type"), 4U);
  EXPECT_EQ(frame.number("nvme.cmd.sgl1.addr"), 0xffff8a42033b0400U);
  EXPECT_EQ(frame.number("nvme.cmd.sgl1.len"), 1024U);
  EXPECT_EQ(frame.number("nvme.cmd.sgl1.key"), 0x00027e28U);
  EXPECT_EQ(frame.number("nvme.fabrics.cmd.connect.qid"), 0U);
  EXPECT_EQ(frame.number("nvme.fabrics.cmd.connect.sqsize"), 31U);
  EXPECT_EQ(frame.number("nvme.fabrics.cmd.connect.kato"), 5000U);
}

TEST(Ulp, NvmeReadCommand) {
  const Looked frame(roce(send_only,
                          "02400900 01000000 0000000000000000 0000000000000000"
                          "00d099bf428affff 001000 9eaf0200 4f" +
                              zeros(8) + "07000000" + zeros(12)),
                     Ulp::nvme_of);
  EXPECT_EQ(frame.number("nvme.cmd.opc"), 2U);
  EXPECT_EQ(frame.number("nvme.cmd.psdt"), 1U);
  EXPECT_EQ(frame.number("nvme.cmd.cid"), 9U);
  EXPECT_EQ(frame.number("nvme.cmd.nsid"), 1U);
  EXPECT_EQ(frame.number("nvme.cmd.sgl1.len"), 4096U);
  EXPECT_EQ(frame.number("nvme.cmd.sgl1.key"), 0x0002af9eU);
  EXPECT_EQ(frame.number("nvme.cmd.dword12"), 7U);
}

TEST(Ulp, NvmeCompletion) {
  const Looked frame(roce(send_only, completion), Ulp::nvme_of);
  EXPECT_EQ(frame.ids(HeaderId::nvme_rdma_request), std::vector{HeaderId::nvme_completion});
  EXPECT_EQ(frame.number("nvme.cqe.sqhd"), 1U);
  EXPECT_EQ(frame.number("nvme.cqe.status.sc"), 0U);
  // Do Not Retry, command specific, Connect Invalid Parameters (0x82).
  const Looked refused(roce(send_only, "0000000000000000 0100 0000 0500 04c3"), Ulp::nvme_of);
  EXPECT_EQ(refused.number("nvme.cqe.cid"), 5U);
  EXPECT_EQ(refused.number("nvme.cqe.status"), 0xc304U);
  EXPECT_EQ(refused.number("nvme.cqe.status.sc"), 0x82U);
  EXPECT_EQ(refused.number("nvme.cqe.status.sct"), 1U);
  EXPECT_EQ(refused.number("nvme.cqe.status.m"), 1U);
  EXPECT_EQ(refused.number("nvme.cqe.status.dnr"), 1U);
}

TEST(Ulp, NvmePrivateDataOfTheConnectionManager) {
  std::string text = cm_frames::req;
  text.replace(text.find("01061c06"), 8, "01061144");
  const std::size_t data = text.rfind("28b3b10f") - 2 * 56;
  text.replace(data, 20, "0000010010000f000100");
  const Looked request(text);
  EXPECT_EQ(request.found, Ulp::nvme_of);
  EXPECT_EQ(request.number("nvme-rdma.cm.req.qid"), 1U);
  EXPECT_EQ(request.number("nvme-rdma.cm.req.hrqsize"), 16U);
  EXPECT_EQ(request.number("nvme-rdma.cm.req.hsqsize"), 15U);
  EXPECT_EQ(request.number("nvme-rdma.cm.req.cntlid"), 1U);
  EXPECT_EQ(Looked(cm_frames::req).found, Ulp::none);  // rping's port

  const std::string rep = cm_frames::message(
      "0013", "b927b682 3d8fba56 00000000 0000c800 00000000 7dca6b00 010178e0 505400fffe000b01 0000 2000");
  EXPECT_EQ(Looked(rep, Ulp::nvme_of).number("nvme-rdma.cm.rsp.crqsize"), 32U);
  EXPECT_EQ(Looked(rep).found, Ulp::none);
  const std::string rej = cm_frames::message("0012", "00000000 328fba56 0000001c" + zeros(72) + "0000 0600");
  EXPECT_EQ(Looked(rej, Ulp::nvme_of).number("nvme-rdma.cm.rej.status"), 6U);
  EXPECT_EQ(Looked(cm_frames::rej, Ulp::nvme_of).found, Ulp::none);  // not the consumer's reject
}

TEST(Ulp, Iser) {
  for (const Ulp hint : {Ulp::iser, Ulp::none}) {
    const Looked frame(roce(send_only, inquiry), hint);
    EXPECT_EQ(frame.found, Ulp::iser);
    EXPECT_EQ(frame.ids(HeaderId::iser), (std::vector{HeaderId::iser, HeaderId::iscsi}));
    EXPECT_EQ(frame.number("iser.flags.opcode"), 1U);
    EXPECT_EQ(frame.number("iser.flags.rsv"), 1U);
    EXPECT_EQ(frame.number("iser.flags.wsv"), 0U);
    EXPECT_EQ(frame.number("iser.read_stag"), 0x00032d7cU);
    EXPECT_EQ(frame.number("iser.read_base_offset"), 0xffff8a4202a56700U);
    EXPECT_EQ(frame.number("iscsi.opcode"), 1U);
    EXPECT_EQ(frame.number("iscsi.scsicommand.R"), 1U);
    EXPECT_EQ(frame.number("iscsi.initiatortasktag"), 0x01000000U);
    EXPECT_EQ(frame.number("iscsi.scsicommand.expecteddatatransferlength"), 36U);
    EXPECT_EQ(frame.number("iscsi.expstatsn"), 0xa0872658U);
    EXPECT_EQ(frame.bytes_of("iscsi.scsicommand.cdb"), "12000000240000000000000000000000");
  }
}

TEST(Ulp, RpcOverRdma) {
  for (const Ulp hint : {Ulp::nfs_rdma, Ulp::none}) {
    const Looked call(roce(send_only, exchange_id), hint);
    EXPECT_EQ(call.found, Ulp::nfs_rdma);
    EXPECT_EQ(call.ids(HeaderId::rpc_rdma), (std::vector{HeaderId::rpc_rdma, HeaderId::rpc_rdma_reply_chunk,
                                                         HeaderId::rpc_rdma_segment, HeaderId::rpc_call}));
    EXPECT_EQ(call.number("rpcordma.xid"), 0xf2fddf25U);
    EXPECT_EQ(call.number("rpcordma.flow_control"), 128U);
    EXPECT_EQ(call.number("rpcordma.rdma_handle"), 0x30199U);
    EXPECT_EQ(call.number("rpcordma.rdma_length"), 4240U);
    EXPECT_EQ(call.number("rpcordma.rdma_offset"), 0xf2fddf2502e8e000U);
    EXPECT_EQ(call.number("rpc.program"), 100003U);
    EXPECT_EQ(call.number("rpc.procedure"), 1U);

    const Looked reply(roce(send_only, nomsg_reply), hint);
    EXPECT_EQ(reply.found, Ulp::nfs_rdma);
    EXPECT_EQ(reply.number("rpcordma.msg_type"), 1U);
  }
}

TEST(Ulp, RpcReadAndWriteLists) {
  const Looked frame(
      roce(send_only,
           "00000007 00000001 00000010 00000000"
           "00000001 00000094 00000aaa 00001000 0000000000001000"  // read segment at 148
           "00000000"
           "00000001 00000002 00000bbb 00000800 0000000000002000 00000ccc 00000400 0000000000003000"
           "00000000 00000000"
           "00000007 00000001 00000000"),
      Ulp::none);
  EXPECT_EQ(frame.found, Ulp::nfs_rdma);
  EXPECT_EQ(frame.number("rpcordma.position"), 148U);
  EXPECT_EQ(frame.number("rpcordma.segment_count"), 2U);
  EXPECT_EQ(frame.all("rpcordma.rdma_handle"), (std::vector<std::uint64_t>{0xaaa, 0xbbb, 0xccc}));
  EXPECT_EQ(frame.number("rpc.replystat"), 0U);
}

TEST(Ulp, RpcSegmentCountThatLies) {
  const Looked frame(roce(send_only,
                          "00000007 00000001 00000010 00000000 00000000"
                          "00000001 ffffffff 00000bbb 00000800 0000000000002000"),
                     Ulp::nfs_rdma);
  EXPECT_EQ(frame.d.stop, Stop::complete);
  EXPECT_EQ(frame.all("rpcordma.rdma_handle").size(), 1U);
  EXPECT_EQ(recognise(hex("00000007 00000001 00000010 00000000 00000000 00000001 ffffffff")), Ulp::none);
}

TEST(Ulp, RpcErrors) {
  const std::string header = "00000007 00000001 00000010 00000004";
  const Looked version(roce(send_only, header + "00000001 00000001 00000001"), Ulp::nfs_rdma);
  EXPECT_EQ(version.number("rpcordma.errcode"), 1U);
  EXPECT_EQ(version.d.layers[version.d.layer_count - 1].length, 12U);
  const Looked without_code(roce(send_only, header), Ulp::nfs_rdma);
  EXPECT_EQ(without_code.ids(HeaderId::rpc_rdma), std::vector{HeaderId::rpc_rdma});
}

TEST(Ulp, SmbDirect) {
  for (const Ulp hint : {Ulp::smb_direct, Ulp::none}) {
    const Looked request(roce(send_only, negotiate_request), hint);
    EXPECT_EQ(request.ids(HeaderId::smb_direct),
              (std::vector{HeaderId::smb_direct, HeaderId::smb_direct_negotiate_request}));
    EXPECT_EQ(request.number("smb_direct.version.max"), 0x0100U);
    EXPECT_EQ(request.number("smb_direct.credits.requested"), 255U);
    EXPECT_EQ(request.number("smb_direct.preferred_send_size"), 1364U);
    EXPECT_EQ(request.number("smb_direct.max_fragmented_size"), 1048576U);
    const Looked response(roce(send_only, negotiate_response), hint);
    EXPECT_EQ(response.ids(HeaderId::smb_direct),
              (std::vector{HeaderId::smb_direct, HeaderId::smb_direct_negotiate_response}));
    EXPECT_EQ(response.number("smb_direct.credits.granted"), 255U);
    EXPECT_EQ(response.number("smb_direct.max_read_write_size"), 1048576U);
  }
  const Looked data(roce(send_only, smb_data), Ulp::smb_direct);
  EXPECT_EQ(data.ids(HeaderId::smb_direct), (std::vector{HeaderId::smb_direct, HeaderId::smb_direct_data}));
  EXPECT_EQ(data.number("smb_direct.flags.response_requested"), 1U);
  EXPECT_EQ(data.number("smb_direct.data_offset"), 24U);
  EXPECT_EQ(Looked(roce(send_only, smb_data)).found, Ulp::none);  // no mark of its own
  // An empty data message that asks for 256 credits begins as a negotiation does.
  const Looked credits(roce(send_only, "0001 0001 0000 0000" + zeros(12)), Ulp::smb_direct);
  EXPECT_EQ(credits.ids(HeaderId::smb_direct).back(), HeaderId::smb_direct_data);
}

TEST(Ulp, OnlyTheBeginningOfReliableSends) {
  EXPECT_EQ(Looked(roce(send_first, exchange_id), Ulp::nfs_rdma).found, Ulp::nfs_rdma);
  EXPECT_EQ(Looked(roce(send_last, exchange_id), Ulp::nfs_rdma).found, Ulp::none);
  EXPECT_EQ(Looked(roce(write_only, zeros(16) + exchange_id), Ulp::nfs_rdma).found, Ulp::none);
  EXPECT_EQ(Looked("0180c200000e 505400000a01 88cc 0000").found, Ulp::none);
}

TEST(Ulp, NothingIsRecognisedInPlainData) {
  for (const std::size_t size : {0U, 1U, 16U, 20U, 28U, 32U, 64U, 76U, 256U}) {
    EXPECT_EQ(recognise(std::vector<std::uint8_t>(size, 0)), Ulp::none) << size;
    EXPECT_EQ(recognise(std::vector<std::uint8_t>(size, 0xff)), Ulp::none) << size;
    EXPECT_EQ(recognise(std::vector<std::uint8_t>(size, 1)), Ulp::none) << size;
  }
  std::string other_xid = exchange_id;
  other_xid[0] = 'e';
  EXPECT_EQ(recognise(hex(other_xid)), Ulp::none);
  std::string reserved = inquiry;
  reserved[2] = '1';
  EXPECT_EQ(recognise(hex(reserved)), Ulp::none);
}

TEST(Ulp, TruncationsNeverPassTheEnd) {
  const struct {
    const std::string* payload;
    Ulp hint;
  } cases[] = {{&connect_command, Ulp::nvme_of},
               {&completion, Ulp::nvme_of},
               {&inquiry, Ulp::iser},
               {&exchange_id, Ulp::nfs_rdma},
               {&nomsg_reply, Ulp::nfs_rdma},
               {&negotiate_request, Ulp::smb_direct},
               {&negotiate_response, Ulp::smb_direct},
               {&smb_data, Ulp::smb_direct}};
  for (const auto& row : cases) {
    const std::vector<std::uint8_t> whole = hex(roce(send_only, *row.payload));
    for (std::size_t length = 0; length < whole.size(); ++length) {
      LiteralFrame cut(std::vector<std::uint8_t>(whole.begin(), whole.begin() + static_cast<long>(length)),
                       whole.size());
      const Stop stop = cut.d.stop;
      (void)dissect_ulp(cut.bytes, cut.d, row.hint);
      EXPECT_EQ(cut.d.stop, stop);
      for (const Layer& layer : cut.d.all()) {
        ASSERT_LE(layer.offset + layer.length, length);
        ASSERT_GE(layer.length, header_info(layer.id).size);
        ASSERT_NE(row.hint == Ulp::nvme_of && row.payload == &connect_command &&
                      layer.id == HeaderId::nvme_completion,
                  true);
      }
    }
  }
}

TEST(Ulp, Services) {
  EXPECT_EQ(ulp_of_service(0x0000000001061144), Ulp::nvme_of);
  EXPECT_EQ(ulp_of_service(0x0000000001060cbc), Ulp::iser);
  EXPECT_EQ(ulp_of_service(0x0000000001064e51), Ulp::nfs_rdma);
  EXPECT_EQ(ulp_of_service(0x00000000010601bd), Ulp::smb_direct);
  EXPECT_EQ(ulp_of_service(0x0000000001061c06), Ulp::none);
  EXPECT_EQ(ulp_of_service(0x0000000001111144), Ulp::none);
  EXPECT_EQ(ulp_name(Ulp::nfs_rdma), "NFS/RDMA");
}

}  // namespace
}  // namespace ulp_test
}  // namespace roce::dissect
