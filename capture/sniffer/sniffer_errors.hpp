// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "capture/core/error.hpp"
#include "capture/sniffer/sniffed_port.hpp"
#include "capture/sniffer/verbs.hpp"

// Internal: error messages of the sniffer, which name what is missing and the command that helps.
namespace roce::capture {

/// Privileges of the calling thread that sniffing needs (see has_right()).
struct Rights {
  bool net_raw = false;                      ///< CAP_NET_RAW, effective
  bool net_admin = false;                    ///< CAP_NET_ADMIN
  bool ipc_lock = false;                     ///< CAP_IPC_LOCK: RLIMIT_MEMLOCK does not apply
  std::uint64_t memlock_bytes = UINT64_MAX;  ///< RLIMIT_MEMLOCK; UINT64_MAX = unlimited
};
[[nodiscard]] Rights read_rights(const std::string& root);

/// What was attempted, and with which privileges.
struct Attempt {
  RdmaName name;
  SniffedPort port;
  verbs::LinkLayer link_layer{};
  Rights rights;
  std::string root;  ///< of /sys and /dev
  std::uint64_t ring_bytes = 0;
};
[[nodiscard]] Error explain(const verbs::Failure& failure, const Attempt& attempt);

/// For a software device or one without RoCE: where to capture its frames instead. Empty: it can be sniffed.
[[nodiscard]] std::string capture_elsewhere(const RdmaName& name, const SniffedPort& port);

}  // namespace roce::capture
