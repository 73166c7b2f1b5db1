// SPDX-License-Identifier: Apache-2.0
// What the commands that write files share.
#pragma once

#include <string>
#include <vector>

#include "capture/core/error.hpp"
#include "capture/core/file_identity.hpp"

namespace roce::capture {
class OutputFile;
class PlacedOutput;
}  // namespace roce::capture

namespace CLI {
class App;
}

namespace roce::cli {

/// --force
void add_force_option(CLI::App& command, bool& force);

/// The files that a command reads: its captures, and others (a policy, a snapshot; "" and names of profiles
/// are no files).
[[nodiscard]] std::vector<capture::FileIdentity> inputs_of(std::vector<std::string> captures,
                                                           const std::vector<std::string>& others = {});
/// Whether standard output is appended to one of these files, which would be damaged; prints an error.
[[nodiscard]] bool writes_to_input(const std::vector<std::string>& captures,
                                   const std::vector<std::string>& others = {});

/// The output, if it has a temporary name (not written directly): for ConfinedInputs. None for a null
/// pointer.
[[nodiscard]] std::vector<capture::PlacedOutput*> outputs_of(capture::OutputFile* file);

/// Prints the error of an output, with the way out if there is one. Returns the exit status: exit_usage if
/// the command line names a file that is not overwritten, else exit_input.
[[nodiscard]] int output_error(const capture::Error& error);

}  // namespace roce::cli
