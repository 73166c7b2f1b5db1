// SPDX-License-Identifier: Apache-2.0
// Lines of programs and drivers, as their sources print them; where and which is in docs/why.md. Names and
// addresses are made up.
#include <gtest/gtest.h>

#include "analyze/base/address_text.hpp"
#include "tests/analyze/errors/read_log.hpp"

namespace roce::analyze {
namespace {

using test::one_error;
using test::read_log;

std::string text_of(const std::optional<dissect::IpAddress>& address) {
  return address ? address_text(*address) : "";
}

// --- NCCL -------------------------------------------------------------------------------------------

TEST(LogPatterns, NcclWithGidsAndDevice) {
  const LoggedError error = one_error(
      "gpu-1:984:1357 [4] transport/net_ib.cc:1615 NCCL WARN NET/IB : Got completion from peer "
      "10.1.0.9<44206> with "
      "status=12 opcode=129 len=65536 vendor err 129 (Recv) localGid ::ffff:10.77.0.1 "
      "remoteGids::ffff:10.77.0.2 hca "
      "mlx5_4\n");
  EXPECT_EQ(error.program, LogProgram::nccl);
  EXPECT_EQ(error.status, 12);
  EXPECT_EQ(error.vendor_error, 0x81U);
  EXPECT_EQ(text_of(error.local), "10.77.0.1");
  EXPECT_EQ(text_of(error.remote), "10.77.0.2");
  EXPECT_EQ(error.device, "mlx5_4");
  EXPECT_FALSE(error.local_qp);
  EXPECT_FALSE(error.time_ns);
}

TEST(LogPatterns, NcclOfTodayHasTheQueuePairOnTheLineBefore) {
  const LoggedError error = one_error(
      "[2026-11-20 11:08:53] gpu-1:984:1357 [4] transport/net_ib/p2p.cc:854 NCCL WARN NET/IB: Got CQE with "
      "error "
      "(devIndex=0, req=0x7f, comm=0x80 (send), wr_id=3, qp_num=11280)\n"
      "[2026-11-20 11:08:53] gpu-1:990:1358 [5] NCCL INFO something else\n"
      "[2026-11-20 11:08:53] gpu-1:984:1357 [4] transport/net_ib/p2p.cc:688 NCCL WARN NET/IB: Got completion "
      "from peer "
      "10.1.0.9<44206> with status=IBV_WC_RNR_RETRY_EXC_ERR(13) opcode=IBV_WC_SEND(0) vendor_err=135  "
      "localGid "
      "fe80::1 remoteGidsfe80::2 hca mlx5_0\n");
  EXPECT_EQ(error.line, 1U);
  EXPECT_EQ(error.local_qp, 0x2c10U);
  EXPECT_EQ(error.status, 13);
  EXPECT_EQ(error.vendor_error, 135U);
  EXPECT_EQ(text_of(error.local), "fe80::1");
  EXPECT_EQ(text_of(error.remote), "fe80::2");
  EXPECT_EQ(error.time_ns, 1'795'172'933'000'000'000);
  EXPECT_FALSE(error.zone_known);
}

TEST(LogPatterns, NcclLinesOfOtherThreadsDoNotJoin) {
  const ErrorLog log = read_log(
      "gpu-1:984:1357 [4] a.cc:1 NCCL WARN NET/IB: Got CQE with error (devIndex=0, req=0x7f, comm=0x80 "
      "(send), wr_id=3, "
      "qp_num=100)\n"
      "gpu-1:985:1400 [5] a.cc:2 NCCL WARN NET/IB: Got completion from peer 10.1.0.9<1> with status=12 "
      "opcode=0 len=0 "
      "vendor err 129 (Send)\n");
  ASSERT_EQ(log.errors.size(), 2U);
  EXPECT_EQ(log.errors[0].local_qp, 100U);
  EXPECT_FALSE(log.errors[0].status);
  EXPECT_EQ(log.errors[1].status, 12);
  EXPECT_FALSE(log.errors[1].local_qp);
}

TEST(LogPatterns, OldNccl) {
  const LoggedError error = one_error(
      "node-2:5776:5902 [0] transport/net_ib.cc:1296 NCCL WARN NET/IB : Got completion from peer "
      "10.2.0.5<33092> with error "
      "5, opcode 0, len 0, vendor err 249 (Recv)");
  EXPECT_EQ(error.status, 5);
  EXPECT_EQ(error.vendor_error, 0xf9U);
  EXPECT_FALSE(error.names_somebody());  // the peer is the address of a socket
}

TEST(LogPatterns, NcclResiliency) {
  const LoggedError error = one_error(
      "gpu-1:9:9 [0] NCCL INFO NET/IB: ncclIbResiliencyHandleCompletionError: Got completion with error "
      "(devIndex=1, "
      "wc->status=(IBV_WC_RETRY_EXC_ERR)12, wc->opcode=(IBV_WC_SEND)0, wc->wr_id=3, wc->qp_num=148, "
      "wc->byte_len=0)");
  EXPECT_EQ(error.status, 12);
  EXPECT_EQ(error.local_qp, 148U);
}

TEST(LogPatterns, NcclEvents) {
  LoggedError error = one_error(
      "gpu-1:9:9 [0] NCCL WARN NET/IB : mlx5_2:1 async fatal event on QP (0x55) qpn=148 handle=7 send_cq=1 "
      "recv_cq=1 state=6 "
      "sq_psn=5 rq_psn=6: local access violation work queue error");
  EXPECT_EQ(error.event, "local access violation work queue error");
  EXPECT_EQ(error.local_qp, 148U);
  EXPECT_EQ(error.device, "mlx5_2:1");
  error = one_error("h:1:1 [0] NCCL WARN NET/IB : mlx5_2:1 Got async event : port error");
  EXPECT_EQ(error.event, "port error");
  error = one_error("h:1:1 [0] NCCL WARN NET/IB : mlx5_2:1 Got non-fatal async event: port error(10)\r\n");
  EXPECT_EQ(error.event, "port error(10)");
  EXPECT_EQ(error.device, "mlx5_2:1");
}

TEST(LogPatterns, NearMissesOfNccl) {
  EXPECT_TRUE(read_log("gpu-1:9:9 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:10.2.0.4<0>\n"
                       "gpu-1:9:9 [0] NCCL TRACE Got completion from peer 10.1.0.9<1> with status=0 opcode=0 "
                       "len=64 wr_id=3\n"
                       "gpu-1:9:9 [0] NCCL INFO transport/net.cc:1134 -> 6\n")
                  .errors.empty());
}

// --- UCX --------------------------------------------------------------------------------------------

TEST(LogPatterns, UcxMlx5IsTwoLines) {
  const LoggedError error = one_error(
      "[n1:31180:0:31180] ib_mlx5_log.c:177  Transport retry count exceeded on mlx5_0:1/RoCE (synd 0x15 vend "
      "0x81 hw_synd "
      "0/0)\n"
      "[n2:31175:0:31175] ib_mlx5_log.c:177  something of another process\n"
      "[n1:31180:0:31180] ib_mlx5_log.c:177  RC QP 0x2c10 wqe[446]: SEND --e [inl len 26] [rqpn 0x2c11 "
      "dlid=0 sl=0 port=1 "
      "src_path_bits=0 dgid=::ffff:10.77.0.2 flow_label=0x0 sgid_index=3 traffic_class=106]\n");
  EXPECT_EQ(error.program, LogProgram::ucx);
  EXPECT_EQ(error.syndrome, 0x15);
  EXPECT_EQ(error.status, 12);
  EXPECT_EQ(error.vendor_error, 0x81U);
  EXPECT_EQ(error.local_qp, 0x2c10U);
  EXPECT_EQ(error.remote_qp, 0x2c11U);
  EXPECT_EQ(text_of(error.remote), "10.77.0.2");
  EXPECT_EQ(error.device, "mlx5_0:1");
  EXPECT_EQ(error.operation, "SEND");
}

TEST(LogPatterns, UcxErrorsOfManyProcessesThatAreMixed) {
  const ErrorLog log = read_log(
      "[n1:1:0:1] ib_mlx5_log.c:143  Transport retry count exceeded on mlx5_0:1/RoCE (synd 0x15 vend 0x81 "
      "hw_synd 0/0)\n"
      "[n1:2:0:2] ib_mlx5_log.c:143  Remote access error on mlx5_0:1/RoCE (synd 0x13 vend 0x88 hw_synd 0/0)\n"
      "[n1:2:0:2] ib_mlx5_log.c:143  RC QP 0x22 wqe[0]: RDMA_READ s-- [rva 0x1 rkey 0x2] [va 0x3 len 240 "
      "lkey 0x4]\n"
      "[n1:1:0:1] ib_mlx5_log.c:143  DCI QP 0x11 wqe[0]: SEND s-e [rqpn 0x2248a rmac 50:6b:4b:cb:be:ce sgix "
      "0 dgid "
      "fe80::526b:4bff:fecb:bece tc 0] [inl len 18]\n");
  ASSERT_EQ(log.errors.size(), 2U);
  EXPECT_EQ(log.errors[0].local_qp, 0x11U);
  EXPECT_EQ(log.errors[0].status, 12);
  EXPECT_EQ(log.errors[0].remote_qp, 0x2248aU);
  EXPECT_EQ(text_of(log.errors[0].remote), "fe80::526b:4bff:fecb:bece");
  EXPECT_EQ(log.errors[1].local_qp, 0x22U);
  EXPECT_EQ(log.errors[1].status, 10);
  EXPECT_EQ(log.errors[1].operation, "RDMA_READ");
}

TEST(LogPatterns, OldUcxIsOneLine) {
  const LoggedError error = one_error(
      "[ast1:6807 :0:6807] ib_mlx5_log.c:115  FATAL: Error on mlx5_3:1 QP 0xe6d7 wqe[7821]: Transport retry "
      "count exceeded "
      "(synd 0x15 vend 0x81) opcode SEND");
  EXPECT_EQ(error.local_qp, 0xe6d7U);
  EXPECT_EQ(error.status, 12);
  EXPECT_EQ(error.device, "mlx5_3:1");
  EXPECT_EQ(error.operation, "SEND");
  EXPECT_EQ(one_error("Error on QP 0x12 wqe[001]: Bad response (synd 0x10 vend 0x1) opcode RDMA_READ").device,
            "");
}

TEST(LogPatterns, UcxVerbs) {
  const LoggedError error = one_error(
      "[1795172933.250000] [n1:77:0]  rc_verbs_iface.c:125  UCX  ERROR send completion with error: RNR retry "
      "counter exceeded "
      "[qpn 0x66 wrid 0x1 vendor_err 0x0]\n"
      "[1795172933.250001] [n1:77:0]  rc_verbs_iface.c:125  UCX  ERROR [rqpn 0x67 dlid=0 sl=0 port=1 "
      "src_path_bits=0 "
      "dgid=::ffff:10.77.0.2 flow_label=0x0 sgid_index=1 traffic_class=0]\n");
  EXPECT_EQ(error.status, 13);
  EXPECT_EQ(error.local_qp, 0x66U);
  EXPECT_EQ(error.remote_qp, 0x67U);
  EXPECT_EQ(text_of(error.remote), "10.77.0.2");
  EXPECT_EQ(error.time_ns, 1'795'172'933'250'000'000);
  EXPECT_TRUE(error.zone_known);
}

TEST(LogPatterns, NearMissesOfUcx) {
  EXPECT_TRUE(read_log("[n1:1:0:1]  ib_mlx5_log.c:143  UCX  TRACE QP 0x12 wqe[3] is flushed\n"
                       "[n1:1:0:1]  ucp_ep.c:1  UCX  DEBUG ep 0x12 flags 0x15\n"
                       "the syndrome (synd 0x) is of nobody\n")
                  .errors.size() == 1);  // a flushed one names its queue pair
}

// --- libfabric, perftest, examples --------------------------------------------------------------------

TEST(LogPatterns, Libfabric) {
  LoggedError error = one_error(
      "libfabric:4711:1795172933:ofi_rxm:cq:rxm_handle_comp_error():1769<warn> fi_cq_readerr: err: "
      "Input/output error (5), "
      "prov_err: transport retry counter exceeded (12)");
  EXPECT_EQ(error.program, LogProgram::libfabric);
  EXPECT_EQ(error.status, 12);
  error = one_error(
      "[error] 1795172933:fabtests:common/shared.c:3132: cq_readerr 5 (Input/output error), provider errno: "
      "10 (remote access "
      "error)");
  EXPECT_EQ(error.status, 10);
}

TEST(LogPatterns, PerftestTellsItsQueuePairsFirst) {
  const LoggedError error = one_error(
      " local address: LID 0000 QPN 0x0094 PSN 0x30ec0b RKey 0x001234 VAddr 0x007f0c30ab7000\n"
      " GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:77:00:01\n"
      " remote address: LID 0000 QPN 0x0095 PSN 0x30ec0c RKey 0x001235 VAddr 0x007f0c30ab7000\n"
      " GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:77:00:02\n"
      " Completion with error at client\n"
      " Failed status 12: wr_id 0 syndrom 0x81\n"
      "scnt=128, ccnt=0\n");
  EXPECT_EQ(error.program, LogProgram::perftest);
  EXPECT_EQ(error.line, 6U);
  EXPECT_EQ(error.status, 12);
  EXPECT_EQ(error.vendor_error, 0x81U);
  EXPECT_EQ(error.local_qp, 0x94U);
  EXPECT_EQ(error.remote_qp, 0x95U);
  EXPECT_EQ(text_of(error.local), "10.77.0.1");
  EXPECT_EQ(text_of(error.remote), "10.77.0.2");
}

TEST(LogPatterns, PerftestWithManyQueuePairsTellsTheHostsOnly) {
  const LoggedError error = one_error(
      " local address: LID 0000 QPN 0x0094 PSN 0x30ec0b\n"
      " local address: LID 0000 QPN 0x0096 PSN 0x30ec0b\n"
      " GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:77:00:01\n"
      " Failed status-RNR retry counter exceeded (13): wr_id 0 syndrom 0x0\n");
  EXPECT_EQ(error.status, 13);
  EXPECT_FALSE(error.local_qp);
  EXPECT_EQ(text_of(error.local), "10.77.0.1");
}

TEST(LogPatterns, Examples) {
  const LoggedError error = one_error(
      "  local address:  LID 0x0000, QPN 0x000017, PSN 0x5d1f1b, GID ::ffff:10.77.0.1\n"
      "  remote address: LID 0x0000, QPN 0x000018, PSN 0x2d1f1b, GID ::ffff:10.77.0.2\n"
      "Failed status transport retry counter exceeded (12) for wr_id 2\n");
  EXPECT_EQ(error.status, 12);
  EXPECT_EQ(error.local_qp, 0x17U);
  EXPECT_EQ(text_of(error.remote), "10.77.0.2");
  EXPECT_EQ(one_error("cq completion failed status 5\n").status, 5);
}

// --- drivers ------------------------------------------------------------------------------------------

TEST(LogPatterns, Mlx5OfLinux) {
  const LoggedError error = one_error(
      "[166755.330649] infiniband mlx5_0: mlx5_handle_error_cqe:333:(pid 0): WC error: 10, Message: remote "
      "access error\n"
      "[166755.332323] infiniband mlx5_0: dump_cqe:272:(pid 0): dump error cqe\n"
      "[166755.332944] 00000000: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n"
      "[166755.333574] 00000010: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n"
      "[166755.334202] 00000020: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n"
      "[166755.334837] 00000030: 00 00 00 00 00 00 88 13 08 03 61 b3 1e a1 42 d3\n");
  EXPECT_EQ(error.program, LogProgram::mlx5);
  EXPECT_EQ(error.status, 10);
  EXPECT_EQ(error.syndrome, 0x13);
  EXPECT_EQ(error.vendor_error, 0x88U);
  EXPECT_EQ(error.local_qp, 0x361b3U);
  EXPECT_EQ(error.operation, "RDMA_WRITE");
  EXPECT_EQ(error.device, "mlx5_0");
  EXPECT_FALSE(error.time_ns);  // since the host was started
}

TEST(LogPatterns, Mlx5OfReceiversAndOldKernels) {
  const LoggedError error = one_error(
      "Nov 20 11:08:53 n1 kernel: mlx5_0:dump_cqe:262:(pid 0): dump error cqe\n"
      "Nov 20 11:08:53 n1 kernel: 00000000 00000000 00000000 00000000\n"
      "Nov 20 11:08:53 n1 kernel: 00000000 00000000 00000000 00000000\n"
      "Nov 20 11:08:53 n1 kernel: 00000000 00000000 00000000 00000000\n"
      "Nov 20 11:08:53 n1 kernel: 00000000 a9005604 000001e9 0054e8e2\n");
  EXPECT_EQ(error.status, 4);
  EXPECT_EQ(error.local_qp, 0x1e9U);
  EXPECT_EQ(error.vendor_error, 0x56U);
  EXPECT_EQ(error.operation, "RECV");
}

TEST(LogPatterns, Mlx5OfRdmaCore) {
  const LoggedError error = one_error(
      "mlx5: node1: got completion with error:\n"
      "00000000 00000000 00000000 00000000\n"
      "00000000 00000000 00000000 00000000\n"
      "00000000 00000000 00000000 00000000\n"
      "00000000 00008914 10000094 0000a3d2\n");
  EXPECT_EQ(error.status, 11);
  EXPECT_EQ(error.local_qp, 0x94U);
  EXPECT_EQ(error.operation, "RDMA_READ");
}

TEST(LogPatterns, NearMissesOfMlx5) {
  // A CQE that is no error (its owner byte), and a dump that was cut off.
  EXPECT_TRUE(read_log("mlx5: node1: got completion with error:\n"
                       "00000000 00000000 00000000 00000000\n00000000 00000000 00000000 00000000\n"
                       "00000000 00000000 00000000 00000000\n00000000 00008914 10000094 0000a301\n")
                  .errors.empty());
  EXPECT_TRUE(read_log("mlx5: node1: got completion with error:\n00000000 00000000 00000000 00000000\n")
                  .errors.empty());
  EXPECT_TRUE(read_log("00000000 00008914 10000094 0000a3d2\n").errors.empty());
  // Without a dump the status is all there is.
  EXPECT_EQ(one_error("infiniband mlx5_1: mlx5_handle_error_cqe:3:(pid 0): WC error: 6, Message: x\n").status,
            6);
}

TEST(LogPatterns, OtherDrivers) {
  LoggedError error = one_error("[ 1266.623187] rxe0: qp#17 do_complete: non-flush error status = 2\n");
  EXPECT_EQ(error.program, LogProgram::rxe);
  EXPECT_EQ(error.status, 2);
  EXPECT_EQ(error.local_qp, 17U);
  error = one_error("[ 9.1] infiniband rxe0: qp#148 rxe_responder: moved to error state\n");
  EXPECT_EQ(error.local_qp, 148U);
  EXPECT_EQ(error.event, "error state");
  EXPECT_EQ(error.device, "rxe0");
  EXPECT_EQ(one_error("rdma_rxe: qp#17 state -> ERR\n").local_qp, 17U);
  EXPECT_TRUE(read_log("rdma_rxe: qp#17 state -> RTS\n").errors.empty());
  error = one_error(
      "bnxt_en 0000:01:00.0: QPLIB: QP 0x2c wr_id[3] = 0x7 vendor type 0x1 with vendor status 0x9\n");
  EXPECT_EQ(error.program, LogProgram::bnxt_re);
  EXPECT_EQ(error.local_qp, 0x2cU);
  EXPECT_EQ(error.vendor_error, 9U);
  error = one_error("infiniband irdma0: abnormal ae_id = 0x505 bool qp=1 qp_id = 12, ae_src=2\n");
  EXPECT_EQ(error.program, LogProgram::irdma);
  EXPECT_EQ(error.local_qp, 12U);
  EXPECT_EQ(error.event, "ae_id = 0x505 bool qp=1 qp_id = 12, ae_src=2");
}

// --- upper layers -------------------------------------------------------------------------------------

TEST(LogPatterns, UpperLayers) {
  const struct {
    LogProgram program;
    unsigned status;
    std::string_view line;
  } lines[] = {
      {LogProgram::nvme_rdma, 12,
       "nvme nvme15: RECV for CQE 0x00000000ce392ed9 failed with status transport retry counter exceeded "
       "(12)"},
      {LogProgram::nvme_rdma, 10,
       "nvmet_rdma: RDMA WRITE for CQE failed with status remote access error (10)."},
      {LogProgram::iser, 12,
       "iser: iser_err_comp: command failure: transport retry counter exceeded (12) vend_err 0x81"},
      {LogProgram::srp, 12,
       "scsi host4: ib_srp: failed SEND status transport retry counter exceeded (12) for CQE 00000000a1"},
      {LogProgram::nfs_rdma, 13, "rpcrdma: Send: RNR retry counter exceeded (13/0x0)"},
      {LogProgram::smb_direct, 2,
       "ksmbd: smb_direct: Recv error. status='local QP operation error (2)' opcode=0"},
  };
  for (const auto& each : lines) {
    const LoggedError error = one_error(each.line);
    EXPECT_EQ(error.program, each.program) << each.line;
    EXPECT_EQ(error.status, each.status) << each.line;
  }
  const LoggedError rds = one_error(
      "RDS/IB: send completion on <::ffff:10.77.0.1,::ffff:10.77.0.2,0> had status 12 (transport retry "
      "counter exceeded), "
      "vendor err 0x81, disconnecting and reconnecting");
  EXPECT_EQ(rds.program, LogProgram::rds);
  EXPECT_EQ(rds.status, 12);
  EXPECT_EQ(text_of(rds.local), "10.77.0.1");
  EXPECT_EQ(text_of(rds.remote), "10.77.0.2");
  EXPECT_EQ(rds.vendor_error, 0x81U);
}

TEST(LogPatterns, NearMissesOfUpperLayers) {
  EXPECT_TRUE(read_log("nvme nvme0: I/O 12 QID 3 timeout\n"
                       "rpcrdma: connection to 10.0.0.1:20049 on mlx5_0, memreg 5 slots 128 ird 16\n"
                       "systemd[1]: foo.service: failed with status 12\n"
                       "RECV for CQE 0x1 failed with status success (0)\n"
                       "Failed status of the unit, wr_id is no number\n")
                  .errors.empty());
}

}  // namespace
}  // namespace roce::analyze
