// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dissect/enum_names.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

/// Who wrote a line; the values of `program`.
enum class LogProgram : std::uint8_t {
  nccl,
  ucx,
  libfabric,
  perftest,
  verbs_example,  ///< ibv_rc_pingpong, rping: the programs of rdma-core
  mlx5,           ///< the driver of mlx5, in Linux and in rdma-core
  rxe,
  bnxt_re,
  irdma,
  nvme_rdma,
  nfs_rdma,
  iser,
  srp,
  rds,
  smb_direct,
  count_
};
inline constexpr std::size_t log_program_count = static_cast<std::size_t>(LogProgram::count_);
inline constexpr EnumNames<LogProgram, log_program_count> log_program_names(
    {{LogProgram::nccl, "nccl"},
     {LogProgram::ucx, "ucx"},
     {LogProgram::libfabric, "libfabric"},
     {LogProgram::perftest, "perftest"},
     {LogProgram::verbs_example, "verbs_example"},
     {LogProgram::mlx5, "mlx5"},
     {LogProgram::rxe, "rxe"},
     {LogProgram::bnxt_re, "bnxt_re"},
     {LogProgram::irdma, "irdma"},
     {LogProgram::nvme_rdma, "nvme_rdma"},
     {LogProgram::nfs_rdma, "nfs_rdma"},
     {LogProgram::iser, "iser"},
     {LogProgram::srp, "srp"},
     {LogProgram::rds, "rds"},
     {LogProgram::smb_direct, "smb_direct"}});
/// "NCCL", "UCX", "the mlx5 driver" ...
[[nodiscard]] std::string_view log_program_words(LogProgram program) noexcept;

/// One error that a program or driver reported of a queue pair or a device, with all that it says of where.
/// Errors that differ in nothing but line and time are one. A plain value.
struct LoggedError {
  static constexpr std::size_t longest_text = 240;

  LogProgram program = LogProgram::nccl;
  std::uint64_t line = 0;       ///< of the log, from 1: of the first
  std::uint64_t last_line = 0;  ///< of the last like it
  std::uint64_t times = 1;
  std::string text;                    ///< the line, as it stands there; at most `longest_text` bytes
  std::optional<std::uint8_t> status;  ///< ibv_wc_status; none: it is not said, or this is no completion
  std::optional<std::uint32_t> vendor_error;  ///< of the completion
  std::optional<std::uint8_t> syndrome;       ///< of an mlx5 error CQE
  std::string event;                          ///< of an asynchronous event, in its own words; else empty
  std::string operation;                      ///< "SEND", "RDMA_WRITE", "RECV" ...; else empty
  std::string device;                         ///< "mlx5_0:1"; else empty
  std::optional<std::uint32_t> local_qp;
  std::optional<std::uint32_t> remote_qp;
  std::optional<dissect::IpAddress> local;  ///< by GIDs
  std::optional<dissect::IpAddress> remote;
  std::optional<std::int64_t> time_ns;  ///< of the first
  bool zone_known = false;              ///< of its time

  /// Whether it says anything by which a queue pair can be found.
  [[nodiscard]] bool names_somebody() const noexcept { return local_qp || remote_qp || local || remote; }
  /// The same error once more.
  [[nodiscard]] bool same_as(const LoggedError& other) const noexcept {
    return program == other.program && status == other.status && vendor_error == other.vendor_error &&
           local_qp == other.local_qp && remote_qp == other.remote_qp && local == other.local &&
           remote == other.remote && event == other.event && device == other.device;
  }
};

/// What a log was found to say.
struct ErrorLog {
  std::string name;                 ///< of the file
  std::vector<LoggedError> errors;  ///< by line
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0;
  std::uint64_t dropped = 0;  ///< errors beyond the limit
};

}  // namespace roce::analyze
