// SPDX-License-Identifier: Apache-2.0
#include "cli/core/input_files.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <utility>

#include "analyze/numbered/switch_time.hpp"

namespace roce::cli {

CLI::Option* add_input_files(CLI::App& command, std::vector<std::string>& files) {
  return command
      .add_option(
          "-r,FILE", files,
          "captures, with or without -r: pcap or pcapng, plain, .gz, .zst or .lz4; - is standard input")
      ->type_name("FILE");
}

void add_time_option(CLI::App& command, std::string& clock) {
  command
      .add_option(
          "--time", clock,
          "capture (default), or switch: stamps that switches put into the frames, in place of the times "
          "of the capture")
      ->check(CLI::IsMember({"capture", "switch"}))
      ->type_name("CLOCK");
}

capture::Expected<std::unique_ptr<capture::CaptureSource>> open_timed(const std::vector<std::string>& files,
                                                                      const std::string& clock) {
  auto source = capture::open_files(files);
  if (source && clock == "switch") *source = analyze::by_switch_time(std::move(*source));
  return source;
}

std::string input_error(const std::vector<std::string>& files) {
  return std::count(files.begin(), files.end(), "-") > 1
             ? "standard input (-) is named more than once, but can be read only once"
             : "";
}

}  // namespace roce::cli
