// SPDX-License-Identifier: Apache-2.0
#include "cli/core/confined_inputs.hpp"

#include <CLI/CLI.hpp>
#include <cstddef>
#include <utility>

#include "capture/confine/reader.hpp"
#include "capture/core/paths.hpp"

namespace roce::cli {

void add_sandbox_option(CLI::App& command, bool& no_sandbox) {
  command.add_flag(
      "--no-sandbox", no_sandbox,
      "keep all rights while reading (for tracing; default: what a capture could abuse is given up)");
}

std::vector<std::string> expanded_files(const std::vector<std::string>& files) {
  std::vector<std::string> all;
  for (const std::string& file : files) {
    std::vector<capture::Error> ignored;
    std::vector<std::string> found = capture::expand_paths({file}, ignored);
    if (found.empty()) found.push_back(file);
    for (std::string& each : found) all.push_back(std::move(each));
  }
  return all;
}

ConfinedInputs::ConfinedInputs(const std::vector<std::string>& files, bool no_sandbox,
                               std::vector<capture::PlacedOutput*> outputs)
    : kept_(files) {
  if (!outputs.empty() || !kept_.not_kept().empty()) {
    broker_ = capture::Broker::start(kept_.not_kept(), std::move(outputs));
    if (broker_) kept_.let_open([broker = broker_.get()](std::size_t i) { return broker->open(i); });
  }
  // Without a broker (no process can be made) nobody else can finish what was begun.
  const bool on_its_own = !broker_ && (!outputs.empty() || !kept_.not_kept().empty());
  if (no_sandbox || on_its_own) return;
  (void)capture::confine_reader({});
}

}  // namespace roce::cli
