// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace roce::cli {

/// The output of --version: version, compiler, libraries and features of this build.
[[nodiscard]] std::string version_text();

}  // namespace roce::cli
