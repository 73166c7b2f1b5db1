// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/core/command.hpp"

namespace roce::cli {

void add_export(CLI::App& app, Action& action);

}  // namespace roce::cli
