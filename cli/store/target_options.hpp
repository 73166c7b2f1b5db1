// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyze/store/store.hpp"

namespace CLI {
class App;
}

namespace roce::cli {

/// --password-file and --ca, which a store in a ClickHouse needs. `target` outlives the command.
void add_target_access(CLI::App& command, analyze::StoreTarget& target);

}  // namespace roce::cli
