// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "capture/core/error.hpp"

namespace roce::capture {

/// Expands glob patterns (*, ?, [): an argument that is no existing file and has such a character is replaced
/// by the matching files, sorted by name. A pattern without a match adds not_found to `errors`; the name of a
/// missing file stays and fails when it is opened.
[[nodiscard]] std::vector<std::string> expand_paths(const std::vector<std::string>& paths,
                                                    std::vector<Error>& errors);

}  // namespace roce::capture
