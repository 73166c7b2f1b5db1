// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

// Internal: which capabilities this process has, and how to grant them.
namespace roce::capture {

/// Capabilities by their kernel numbers (linux/capability.h).
enum class Right : std::uint8_t { net_admin = 12, net_raw = 13, ipc_lock = 14 };

/// Whether the calling thread has it in its effective set. True where /proc cannot be read: then the attempt
/// itself fails. `root`: "" or a folder that holds proc/ of a test.
[[nodiscard]] bool has_right(Right right, const std::string& root = {});

/// The path of the running program, for commands in messages; "PROGRAM" where /proc cannot be read.
[[nodiscard]] std::string own_program();

/// "run it with sudo, or grant the capabilities permanently: sudo setcap cap_net_raw,cap_net_admin=eip
/// /usr/…"
[[nodiscard]] std::string how_to_allow();

}  // namespace roce::capture
