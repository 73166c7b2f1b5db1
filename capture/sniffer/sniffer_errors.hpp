// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "capture/core/error.hpp"
#include "capture/sniffer/sniffed_port.hpp"
#include "capture/sniffer/verbs.hpp"

// Internal: why an RDMA device cannot be sniffed, in sentences that name what is missing and the command
// that helps.
namespace roce::capture {

/// What the calling thread may do, as far as sniffing needs it (see has_right()).
struct Rights {
  bool net_raw = false;                      ///< CAP_NET_RAW, effective
  bool net_admin = false;                    ///< CAP_NET_ADMIN
  bool ipc_lock = false;                     ///< CAP_IPC_LOCK: RLIMIT_MEMLOCK does not count
  std::uint64_t memlock_bytes = UINT64_MAX;  ///< RLIMIT_MEMLOCK; UINT64_MAX = unlimited
};
[[nodiscard]] Rights read_rights(const std::string& root);

/// Where and with what an attempt failed.
struct Attempt {
  RdmaName name;
  SniffedPort port;
  verbs::LinkLayer link_layer{};
  Rights rights;
  std::string root;  ///< of /sys and /dev
  std::uint64_t ring_bytes = 0;
};
[[nodiscard]] Error explain(const verbs::Failure& failure, const Attempt& attempt);

/// Of a device that is software or carries no RoCE: where its frames are to be captured instead. Empty: the
/// device can be tried.
[[nodiscard]] std::string capture_elsewhere(const RdmaName& name, const SniffedPort& port);

}  // namespace roce::capture
