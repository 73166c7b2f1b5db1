// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace roce::cli {

/// What --version prints: the version, and what this build was made of.
[[nodiscard]] std::string version_text();

}  // namespace roce::cli
