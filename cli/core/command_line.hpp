// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace roce::cli {

/// Parses the command line and runs its command; returns the exit status.
[[nodiscard]] int run_command_line(int argc, char** argv);

}  // namespace roce::cli
