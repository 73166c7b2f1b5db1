// SPDX-License-Identifier: Apache-2.0
// The captures that a command reads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "capture/core/source.hpp"
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

/// --time: of the capture, or the stamps of switches.
void add_time_option(CLI::App& command, std::string& clock);
/// Captures, with the times that --time asks for.
[[nodiscard]] capture::Expected<std::unique_ptr<capture::CaptureSource>> open_timed(
    const std::vector<std::string>& files, const std::string& clock);

/// Error message if the files name standard input more than once: it can be read only once. Empty: none.
[[nodiscard]] std::string input_error(const std::vector<std::string>& files);

}  // namespace roce::cli
