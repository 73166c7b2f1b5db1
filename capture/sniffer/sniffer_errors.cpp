// SPDX-License-Identifier: Apache-2.0
#include "capture/sniffer/sniffer_errors.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "capture/core/rights.hpp"

namespace roce::capture {
namespace {

using verbs::Step;

constexpr int kernel_enotsupp = 524;  // ENOTSUPP: returned by kernels though it is no errno of user space
constexpr std::string_view mirror =
    "mirror the port on its switch (SPAN) and capture where the mirror arrives, with -i INTERFACE";

std::string reason(int error) {
  if (error == 0) return "no reason given";
  return error == kernel_enotsupp ? "Operation not supported" : std::strerror(error);
}

bool is_unsupported(int error) {
  constexpr int errors[] = {EOPNOTSUPP, ENOSYS, EINVAL, EPROTONOSUPPORT, kernel_enotsupp};
  return std::find(std::begin(errors), std::end(errors), error) != std::end(errors);
}

std::string megabytes(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MB", static_cast<double>(bytes) / 1e6);
  return text;
}

/// All capabilities that sniffing may need, so that the user does not grant them one by one.
std::string grant() {
  return "grant it with: sudo setcap cap_net_raw,cap_net_admin,cap_ipc_lock=eip " + own_program() +
         ", or run with sudo";
}

std::string missing_rights(const Rights& rights) {
  std::string missing;
  if (!rights.net_raw) missing = "CAP_NET_RAW";
  if (!rights.net_admin) missing += missing.empty() ? "CAP_NET_ADMIN" : " and CAP_NET_ADMIN";
  if (!missing.empty()) return missing + " missing; " + grant();
  return "this process has CAP_NET_RAW and CAP_NET_ADMIN, but those of a user namespace (a rootless "
         "container) do not count for RDMA: run on the host, or in a container started by root with "
         "--cap-add NET_RAW --cap-add NET_ADMIN";
}

std::string no_raw_queue(const Attempt& attempt) {
  if (attempt.link_layer == verbs::LinkLayer::infiniband) {
    return "this device does not support raw packet queue pairs on an InfiniBand port; use ibdump of the "
           "vendor's tools, or mirror the port on its switch";
  }
  return "the driver (" + (attempt.port.driver.empty() ? "unknown" : attempt.port.driver) +
         ") does not support raw packet queue pairs on this device: " + std::string(mirror);
}

/// What a driver needs for the sniffer's flow rule.
std::string no_flow(const Attempt& attempt) {
  struct Row {
    std::string_view driver, need;
  };
  constexpr Row rows[] = {
      {"mlx5",
       "this device's firmware or function has no sniffer (ConnectX-4 and later have, virtual functions "
       "mostly not): update the firmware, capture on the physical function, or "},
      {"mlx4",
       "mlx4 needs device-managed flow steering: write 'options mlx4_core log_num_mgm_entry_size=-1' to "
       "/etc/modprobe.d/mlx4.conf and reload the driver, or "},
      {"bnxt_re", "bnxt_re needs a kernel and a firmware with RoCE mirroring: update both, or "},
  };
  for (const Row& row : rows) {
    if (attempt.port.driver == row.driver) return std::string(row.need) + std::string(mirror);
  }
  return "the driver (" + (attempt.port.driver.empty() ? "unknown" : attempt.port.driver) +
         ") does not implement the sniffer, unlike mlx5, mlx4 and bnxt_re: " + std::string(mirror);
}

std::string no_node(const verbs::Failure& failure, const Attempt& attempt) {
  const std::string node = "/dev/infiniband/" + failure.detail;
  const std::string path = attempt.root + node;
  int error = failure.error;
  // Not every driver sets errno: check the device node.
  if (error == 0 && access(path.c_str(), R_OK | W_OK) != 0) error = errno;
  if (error == EACCES || error == EPERM) {
    return "no permission to open " + node + " (" + reason(error) + "): sudo chmod a+rw " + node +
           ", or run with sudo (in a container: --device=" + node + ")";
  }
  if (error == ENOENT) {
    return node + " does not exist: sudo modprobe ib_uverbs (in a container: --device=" + node + ")";
  }
  return node + " cannot be opened: " + reason(error);
}

std::string not_found(const verbs::Failure& failure, const Attempt& attempt) {
  if (attempt.port.exists) {
    return "the kernel knows this device, but libibverbs does not: sudo modprobe ib_uverbs; "
           "sudo apt-get install ibverbs-providers";
  }
  return failure.detail.empty()
             ? "there is no RDMA device on this machine: is its driver loaded? (lsmod | grep _ib)"
             : "no RDMA device has this name; there are: " + failure.detail;
}

std::string no_memory(const verbs::Failure& failure, const Attempt& attempt) {
  const std::string wanted = megabytes(attempt.ring_bytes);
  if (!attempt.rights.ipc_lock && attempt.rights.memlock_bytes < attempt.ring_bytes) {
    return "the ring of " + wanted + " cannot be locked in memory: RLIMIT_MEMLOCK allows " +
           megabytes(attempt.rights.memlock_bytes) +
           "; raise it (ulimit -l unlimited, LimitMEMLOCK=infinity in a "
           "systemd unit) or grant CAP_IPC_LOCK: " +
           grant();
  }
  return "the ring of " + wanted + " cannot be registered with the device (" + reason(failure.error) +
         "); a shorter ring time needs less";
}

ErrorKind kind_of(const verbs::Failure& failure) {
  switch (failure.step) {
    case Step::find_device:
      return ErrorKind::not_found;
    case Step::load_library:
    case Step::find_symbol:
      return ErrorKind::unsupported;
    case Step::allocate_memory:
      return ErrorKind::out_of_memory;
    case Step::create_queue_pair:
    case Step::create_flow:
      return is_unsupported(failure.error) ? ErrorKind::unsupported : ErrorKind::not_readable;
    default:
      return ErrorKind::not_readable;
  }
}

std::string sentence(const verbs::Failure& failure, const Attempt& attempt) {
  const bool forbidden = failure.error == EPERM || failure.error == EACCES;
  switch (failure.step) {
    case Step::load_library:
      return "libibverbs.so.1, needed to capture on RDMA devices, cannot be loaded (" + failure.detail +
             "): sudo apt-get install libibverbs1 ibverbs-providers";
    case Step::find_symbol:
      return "libibverbs.so.1 lacks " + failure.detail +
             ": it is too old or another library; sudo apt-get install libibverbs1, and check "
             "LD_LIBRARY_PATH";
    case Step::list_devices:
      return "RDMA devices cannot be listed (" + reason(failure.error) + "): sudo modprobe ib_uverbs";
    case Step::find_device:
      return not_found(failure, attempt);
    case Step::open_device:
      return no_node(failure, attempt);
    case Step::create_queue_pair:
      if (is_unsupported(failure.error)) return no_raw_queue(attempt);
      break;
    case Step::create_flow:
      if (is_unsupported(failure.error)) return no_flow(attempt);
      if (failure.error == EBUSY || failure.error == EEXIST) {
        return "another program is sniffing this port; stop it first (tcpdump, ibdump)";
      }
      break;
    case Step::register_memory:
      if (!forbidden) return no_memory(failure, attempt);
      break;
    case Step::allocate_memory:
      return "no memory for the ring of " + megabytes(attempt.ring_bytes) +
             "; a shorter ring time needs less";
    default:
      break;
  }
  std::string text = std::string(name_of(failure.step)) + " failed: " + reason(failure.error);
  if (forbidden) return text + ": " + missing_rights(attempt.rights);
  if (failure.error == EIO || failure.error == ENODEV) text += "; the device was removed or reset";
  if (failure.error == ENOMEM && !attempt.rights.ipc_lock && attempt.rights.memlock_bytes != UINT64_MAX) {
    text += "; RLIMIT_MEMLOCK allows " + megabytes(attempt.rights.memlock_bytes) +
            ", raise it with: ulimit -l unlimited, or " + grant();
  }
  return text;
}

}  // namespace

Rights read_rights(const std::string& root) {
  Rights rights;
  rights.net_raw = has_right(Right::net_raw, root);
  rights.net_admin = has_right(Right::net_admin, root);
  rights.ipc_lock = has_right(Right::ipc_lock, root);
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    rights.memlock_bytes = limit.rlim_cur;
  return rights;
}

Error explain(const verbs::Failure& failure, const Attempt& attempt) {
  Error error;
  error.kind = kind_of(failure);
  error.path = attempt.name.device + ":" + std::to_string(attempt.name.port);
  error.message = sentence(failure, attempt);
  error.system_errno = failure.error;
  return error;
}

std::string capture_elsewhere(const RdmaName& name, const SniffedPort& port) {
  const std::string where = port.software_on.empty()
                                ? "-i INTERFACE, the network interface it was created on (rdma link)"
                                : "-i " + port.software_on;
  if (port.software) {
    return name.device + (port.iwarp ? " is a software iWARP device (siw)" : " is Soft-RoCE (rxe)") +
           ": all its frames pass the network interface; capture there, with " + where;
  }
  if (port.iwarp) {
    return name.device + " is an iWARP device (" + port.driver +
           "): its RDMA goes over TCP, there is no RoCE; " + "for the frames themselves, " +
           std::string(mirror);
  }
  return {};
}

}  // namespace roce::capture
