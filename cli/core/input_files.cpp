// SPDX-License-Identifier: Apache-2.0
#include "cli/core/input_files.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace roce::cli {

CLI::Option* add_input_files(CLI::App& command, std::vector<std::string>& files) {
  return command
      .add_option(
          "-r,FILE", files,
          "captures, with or without -r: pcap or pcapng, plain, .gz, .zst or .lz4; - is standard input")
      ->type_name("FILE");
}

std::string input_error(const std::vector<std::string>& files) {
  return std::count(files.begin(), files.end(), "-") > 1
             ? "standard input (-) is named more than once, but can be read only once"
             : "";
}

}  // namespace roce::cli
