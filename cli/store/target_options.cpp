// SPDX-License-Identifier: Apache-2.0
#include "cli/store/target_options.hpp"

#include <CLI/CLI.hpp>

#include "cli/core/command.hpp"

namespace roce::cli {

void add_target_access(CLI::App& command, analyze::StoreTarget& target) {
  const char* const group = "Options of a store";
  command
      .add_option("--password-file", target.password_file,
                  "file with the password of a ClickHouse (default: ROCEANALYZE_PASSWORD in the environment)")
      ->check(empty_error)
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--ca", target.ca_file,
                  "certificates that are trusted (clickhouses://; default: of the system)")
      ->check(empty_error)
      ->type_name("FILE")
      ->group(group);
}

}  // namespace roce::cli
