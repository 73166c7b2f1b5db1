// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

// Internal: what this process may do, and how it can be allowed more.
namespace roce::capture {

/// Capabilities by their kernel numbers (linux/capability.h).
enum class Right : std::uint8_t { net_admin = 12, net_raw = 13, ipc_lock = 14 };

/// Whether the calling thread has it in its effective set. True where the system does not tell: then the
/// attempt shows. `root` is "" or a folder with a /proc of its own.
[[nodiscard]] bool has_right(Right right, const std::string& root = {});

/// The path of the program that runs, for commands; "PROGRAM" where the system does not tell.
[[nodiscard]] std::string own_program();

/// "run it with sudo, or allow it once and for all: sudo setcap cap_net_raw,cap_net_admin=eip /usr/bin/…"
[[nodiscard]] std::string how_to_allow();

}  // namespace roce::capture
