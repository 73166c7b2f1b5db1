// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "capture/core/error.hpp"

namespace roce::capture {

/// What each argument stands for: itself, or where no such file exists and it has a glob
/// character, the files that match, sorted by name. A pattern that matches nothing adds a
/// not_found to `errors`; a missing plain name stays, opening it will tell.
[[nodiscard]] std::vector<std::string> expand_paths(const std::vector<std::string>& paths,
                                                    std::vector<Error>& errors);

}  // namespace roce::capture
