// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/core/command.hpp"

namespace roce::cli {

// As those of command.hpp: `devices` and `host`.
void add_devices(CLI::App& app, Action& action);
void add_host(CLI::App& app, Action& action);

}  // namespace roce::cli
