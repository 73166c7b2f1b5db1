// SPDX-License-Identifier: Apache-2.0
#include "cli/core/version.hpp"

namespace roce::cli {

// Both macros are set by CMake: version of the project, compiler, libraries and features of the build.
std::string version_text() {
  return "roceanalyze " ROCE_VERSION "\n" ROCE_BUILD_INFO "\n";
}

}  // namespace roce::cli
