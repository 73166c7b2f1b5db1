// SPDX-License-Identifier: Apache-2.0
#include "cli/core/output_files.hpp"

#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "capture/write/output_file.hpp"
#include "cli/core/output.hpp"

namespace roce::cli {

void add_force_option(CLI::App& command, bool& force) {
  command.add_flag("--force", force,
                   "overwrite an existing file that is not an earlier output of this kind (never an input)");
}

std::vector<capture::FileIdentity> inputs_of(std::vector<std::string> captures,
                                             const std::vector<std::string>& others) {
  std::copy_if(others.begin(), others.end(), std::back_inserter(captures),
               [](const std::string& path) { return !path.empty(); });
  return capture::identities_of(captures);
}

bool writes_to_input(const std::vector<std::string>& captures, const std::vector<std::string>& others) {
  const auto output = capture::identity_of(STDOUT_FILENO);
  if (!output) return false;
  const std::vector<capture::FileIdentity> inputs = inputs_of(captures, others);
  if (std::find(inputs.begin(), inputs.end(), *output) == inputs.end()) return false;
  print_error("standard output is a file that this command reads: write to another file");
  return true;
}

std::vector<capture::PlacedOutput*> outputs_of(capture::OutputFile* file) {
  if (file == nullptr || !file->is_temporary()) return {};
  return {file};
}

int output_error(const capture::Error& error) {
  capture::Error shown = error;
  if (error.kind == capture::ErrorKind::would_replace) shown.message += " without --force";
  print_error(shown);
  const bool by_rule =
      error.kind == capture::ErrorKind::would_replace || error.kind == capture::ErrorKind::own_input;
  return by_rule ? exit_usage : exit_input;
}

}  // namespace roce::cli
