// SPDX-License-Identifier: Apache-2.0
// What may follow on a command line that is being typed.
#pragma once

#include <string>
#include <vector>

namespace roce::cli {

struct Candidate {
  std::string word;
  std::string help;  ///< one line; may be empty
};

/// `words`: those after the name of the program; the last one is being typed and may be empty. Candidates
/// begin with it. None where a file is expected, and where nothing is.
[[nodiscard]] std::vector<Candidate> candidates(const std::vector<std::string>& words);

}  // namespace roce::cli
