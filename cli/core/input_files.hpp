// SPDX-License-Identifier: Apache-2.0
// The captures that a command reads.
#pragma once

#include <string>
#include <vector>

#include "capture/files/reading_limits.hpp"
#include "capture/files/reread.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace roce::cli {

// Reading captures twice, for results that later packets decide.
using capture::can_read_twice;
using capture::limited;
using capture::within;

/// FILE..., and -r FILE as in tcpdump and tshark: one option, so both may be mixed and keep their order.
CLI::Option* add_input_files(CLI::App& command, std::vector<std::string>& files);

/// Error message if the files name standard input more than once: it can be read only once. Empty: none.
[[nodiscard]] std::string input_error(const std::vector<std::string>& files);

}  // namespace roce::cli
