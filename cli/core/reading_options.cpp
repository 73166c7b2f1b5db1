// SPDX-License-Identifier: Apache-2.0
#include "cli/core/reading_options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <optional>

#include "cli/core/command.hpp"
#include "cli/core/link_options.hpp"

namespace roce::cli {
namespace {

/// Without a unit they are seconds.
std::optional<std::int64_t> parse_reading_time(const std::string& text) {
  const bool plain = !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos;
  return parse_duration(plain ? text + "s" : text);
}

std::string reading_time_error(const std::string& text) {
  if (parse_reading_time(text)) return {};
  return fmt::format("not a time: '{}' (seconds, or a number with unit: 10, 2.5, 500ms; at most a day)",
                     text);
}

}  // namespace

void ReadingOptions::add_to(CLI::App& command, const std::string& packets_help) {
  command.add_option("-c,--max-packets,--count", packets, packets_help)->check(count_error)->type_name("N");
  command
      .add_option("--max-time", time,
                  "stop reading after so much time (wall clock); what was read is analysed and marked as "
                  "incomplete, exit status 3")
      ->check(reading_time_error)
      ->type_name("SECONDS");
}

capture::ReadingLimits ReadingOptions::limits() const {
  capture::ReadingLimits limits{packets, std::nullopt};
  if (const auto ns = parse_reading_time(time))
    limits.deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(*ns);
  return limits;
}

}  // namespace roce::cli
