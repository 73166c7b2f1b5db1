// SPDX-License-Identifier: Apache-2.0
#include "cli/capture/confinement.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "capture/confine/file_access.hpp"
#include "capture/confine/sandbox.hpp"
#include "cli/core/output.hpp"

namespace roce::cli {
namespace {

namespace fs = std::filesystem;

/// When a port of an RDMA device changes, its flow rules are created anew, which needs CAP_NET_RAW.
constexpr std::uint64_t rdma_capabilities = std::uint64_t{1} << CAP_NET_RAW;

std::string folder_of_file(const std::string& file) {
  const fs::path folder = fs::path(file).parent_path();
  return folder.empty() ? "." : folder.string();
}

/// Error message if no further file can be created in the folder of `file` with the remaining privileges;
/// else empty.
std::string folder_error(const std::string& file) {
  const std::string name = folder_of_file(file);
  if (::faccessat(AT_FDCWD, name.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return {};
  return fmt::format("{}: no further file can be created in this folder after dropping privileges ({})", name,
                     std::strerror(errno));
}

/// Decided by the captured interfaces, as -i may be Soft-RoCE, which is captured on its network interface.
bool captures_rdma_device(const CaptureStart& start) {
  if (start.interfaces.empty()) return false;
  std::error_code error;
  const std::string& interface = start.interfaces.front().name;
  const std::string name = interface.substr(0, interface.find(':'));
  return !name.empty() && name.find('/') == std::string::npos &&
         fs::exists("/sys/class/infiniband/" + name, error);
}

}  // namespace

capture::Expected<void> Confinement::on_start(const CaptureStart& start) {
  if (!capture::sandbox_possible() && !options_.user) {
    print_error("built with sanitizers, whose threads cannot be confined: privileges are kept, no sandbox");
    return {};
  }
  const bool rdma = captures_rdma_device(start);
  capture::PrivilegeOptions privileges;
  privileges.user = options_.user;
  privileges.user_required = options_.user_required;
  if (rdma) privileges.keep_capabilities = rdma_capabilities;
  if (auto dropped = capture::drop_privileges(privileges); !dropped) return dropped;

  const bool files = !start.write.empty() && start.write != "-";
  if (const std::string wrong = files ? folder_error(start.write) : std::string(); !wrong.empty()) {
    const std::string_view advice =
        "; use a folder of the user that it runs as (-Z USER, or the caller of sudo)";
    if (options_.more_files) {
      return tl::unexpected(capture::Error{.kind = capture::ErrorKind::not_writable,
                                           .path = {},
                                           .offset = std::nullopt,
                                           .message = wrong + std::string(advice),
                                           .system_errno = EACCES});
    }
    print_error(fmt::format("{}, so SIGHUP cannot begin a new file{}", wrong, advice));
  }
  const bool spool = !options_.spool.empty();
  if (const std::string wrong = spool ? folder_error(options_.spool + "/batch") : std::string();
      !wrong.empty()) {
    return tl::unexpected(capture::Error{.kind = capture::ErrorKind::not_writable,
                                         .path = {},
                                         .offset = std::nullopt,
                                         .message = wrong,
                                         .system_errno = EACCES});
  }
  if (!options_.sandbox || !capture::sandbox_possible()) return {};
  // Settings and counters of the host are read from time to time; files are written in one folder.
  capture::FileAccess access{{"/"}, {}};
  if (files) access.write.push_back(folder_of_file(start.write));
  if (spool) access.write.push_back(options_.spool);
  if (auto restricted = capture::restrict_files_of_threads(access); !restricted)
    return tl::unexpected(std::move(restricted.error()));
  return capture::enter_sandbox(
      {.files = files || spool ? capture::SandboxFiles::write : capture::SandboxFiles::read,
       .system_log = options_.system_log,
       .rdma = rdma});
}

}  // namespace roce::cli
