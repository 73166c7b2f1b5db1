// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/core/command.hpp"

namespace roce::cli {

// The commands `devices` and `host`; see command.hpp.
void add_devices(CLI::App& app, Action& action);
void add_host(CLI::App& app, Action& action);

}  // namespace roce::cli
