// SPDX-License-Identifier: Apache-2.0
// docs/why.md says which of these were read in the sources of the programs, and which in logs that they
// wrote.
#include "analyze/errors/log_patterns.hpp"

namespace roce::analyze {
namespace {

using enum LogField;
using enum LogProgram;
using Part = LogPattern::Part;

constexpr LogPattern patterns[] = {
    // NCCL, and what is derived from it. "remoteGids" has no blank behind it; the peer is that of the socket
    // by which the
    // two set up their queue pairs, so it is no address of RDMA.
    {nccl, "Got CQE with error", {}, Part::opens, {{{"qp_num=", local_qp}}}},
    {nccl,
     "Got completion from peer ",
     " hca ",
     Part::joins,
     {{{" status=", status},
       {" vendor err ", vendor_error},
       {" vendor_err=", vendor_error},
       {" localGid ", local},
       {" remoteGids", remote},
       {" remoteGid ", remote},
       {" hca ", device}}}},
    {nccl,
     "Got completion from peer ",
     " status=",
     Part::joins,
     {{{" status=", status},
       {" vendor err ", vendor_error},
       {" vendor_err=", vendor_error},
       {" localGid ", local},
       {" remoteGids", remote},
       {" remoteGid ", remote}}}},
    {nccl,
     "Got completion from peer ",
     " with error ",
     Part::whole,
     {{{" with error ", status},
       {" vendor err ", vendor_error},
       {" localGid ", local},
       {" remoteGids", remote},
       {" remoteGid ", remote}}}},
    {nccl,
     "Got completion with error (devIndex",
     {},
     Part::whole,
     {{{"wc->status=", status}, {"wc->qp_num=", local_qp}}}},
    {nccl,
     " async fatal event on QP ",
     {},
     Part::whole,
     {{{"qpn=", local_qp}, {"NET/IB : ", device}, {": ", event}}}},
    {nccl,
     " async fatal event: ",
     {},
     Part::whole,
     {{{"NET/IB : ", device}, {" async fatal event: ", event}}}},
    {nccl, "non-fatal async event: ", {}, Part::whole, {{{"NET/IB : ", device}, {"async event: ", event}}}},
    {nccl, " Got async event : ", {}, Part::whole, {{{"NET/IB : ", device}, {"async event : ", event}}}},

    // UCX. The second line of an error of mlx5 has the queue pair, that of verbs its peer.
    {ucx,
     " wqe[",
     "(synd 0x",
     Part::whole,
     {{{"synd 0x", syndrome},
       {" vend 0x", vendor_error},
       {" QP 0x", local_qp},
       {" on ", device},
       {" opcode ", operation}}}},
    {ucx,
     "(synd 0x",
     " vend 0x",
     Part::opens,
     {{{"synd 0x", syndrome}, {" vend 0x", vendor_error}, {" on ", device}}}},
    {ucx,
     " wqe[",
     " QP 0x",
     Part::joins,
     {{{" QP 0x", local_qp},
       {"rqpn 0x", remote_qp},
       {" dgid ", remote},
       {" dgid=", remote},
       {"]: ", operation}}}},
    {ucx,
     "send completion with error: ",
     "[qpn 0x",
     Part::opens,
     {{{"with error: ", status}, {"[qpn 0x", local_qp}, {"vendor_err 0x", vendor_error}}}},
    {ucx, "[rqpn 0x", {}, Part::joins, {{{"rqpn 0x", remote_qp}, {" dgid=", remote}, {" dgid ", remote}}}},
    {ucx,
     "] with error on ",
     " vendor_err 0x",
     Part::whole,
     {{{"] with error on ", device}, {": ", status}, {"vendor_err 0x", vendor_error}}}},

    // libfabric: the provider rxm, and fabtests.
    {libfabric, "fi_cq_readerr: err: ", "prov_err: ", Part::whole, {{{"prov_err: ", status}}}},
    {libfabric, "cq_readerr ", "provider errno: ", Part::whole, {{{"provider errno: ", status}}}},

    // perftest (ib_write_bw ...), and the examples of rdma-core. Both print their queue pairs first.
    {perftest,
     "Failed status",
     "wr_id",
     Part::whole,
     {{{"Failed status-", status}, {"Failed status ", status}, {" syndrom ", vendor_error}}}},
    {perftest, " local address:", "QPN ", Part::tells, {{{"QPN ", local_qp}, {"GID ", local}}}},
    {perftest, " remote address:", "QPN ", Part::tells, {{{"QPN ", remote_qp}, {"GID ", remote}}}},
    {verbs_example, "cq completion failed status ", {}, Part::whole, {{{"failed status ", status}}}},

    // The mlx5 driver. A dump of the CQE follows, which has the queue pair.
    {mlx5, "WC error: ", "mlx5", Part::opens, {{{"WC error: ", status}, {"infiniband ", device}}}},
    {mlx5, "dump error cqe", {}, Part::joins, {{{"infiniband ", device}}}},
    {mlx5, "got completion with error:", "mlx5", Part::opens, {}},

    // Other drivers.
    {rxe,
     "non-flush error status = ",
     "qp#",
     Part::whole,
     {{{"error status = ", status}, {"qp#", local_qp}, {"infiniband ", device}}}},
    {rxe,
     "moved to error state",
     "qp#",
     Part::whole,
     {{{"qp#", local_qp}, {"infiniband ", device}, {"moved to ", event}}}},
    {rxe,
     "state -> ERR",
     "qp#",
     Part::whole,
     {{{"qp#", local_qp}, {"infiniband ", device}, {"state -> ", event}}}},
    {bnxt_re,
     "wr_id[",
     " vendor status 0x",
     Part::whole,
     {{{"QP 0x", local_qp}, {" vendor status ", vendor_error}}}},
    {bnxt_re, "FP: CQ Processed Req wr_id[", {}, Part::whole, {{{" with status ", vendor_error}}}},
    {irdma,
     "abnormal ae_id = ",
     "qp_id = ",
     Part::whole,
     {{{"qp_id = ", local_qp}, {"infiniband ", device}, {"abnormal ", event}}}},

    // Upper layers of Linux.
    {nvme_rdma, " for CQE ", " failed with status ", Part::whole, {{{" failed with status ", status}}}},
    {iser, " failure: ", " vend_err ", Part::whole, {{{" failure: ", status}, {" vend_err ", vendor_error}}}},
    {srp, ") for CQE ", " status ", Part::whole, {{{" status ", status}}}},
    {nfs_rdma, "rpcrdma: ", "/0x", Part::whole, {{{"rpcrdma: Send: ", status}, {"/0x", vendor_error}}}},
    {rds,
     " completion on <",
     "> had status ",
     Part::whole,
     {{{" completion on <", local_and_remote}, {"> had status ", status}, {" vendor err ", vendor_error}}}},
    {smb_direct, "smb_direct: ", "status='", Part::whole, {{{"status='", status}}}},
};

}  // namespace

std::span<const LogPattern> log_patterns() noexcept {
  return patterns;
}

std::string_view log_program_words(LogProgram program) noexcept {
  static constexpr EnumNames<LogProgram, log_program_count> words({{nccl, "NCCL"},
                                                                   {ucx, "UCX"},
                                                                   {libfabric, "libfabric"},
                                                                   {perftest, "perftest"},
                                                                   {verbs_example, "the verbs example"},
                                                                   {mlx5, "the mlx5 driver"},
                                                                   {rxe, "rxe (Soft-RoCE)"},
                                                                   {bnxt_re, "the bnxt_re driver"},
                                                                   {irdma, "the irdma driver"},
                                                                   {nvme_rdma, "NVMe over RDMA"},
                                                                   {nfs_rdma, "NFS over RDMA"},
                                                                   {iser, "iSER"},
                                                                   {srp, "SRP"},
                                                                   {rds, "RDS"},
                                                                   {smb_direct, "SMB Direct"}});
  return words[program];
}

}  // namespace roce::analyze
