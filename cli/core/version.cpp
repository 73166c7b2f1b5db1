// SPDX-License-Identifier: Apache-2.0
#include "cli/core/version.hpp"

namespace roce::cli {

// Both come from CMake: the project's version, and the libraries and options of this build.
std::string version_text() {
  return "roceanalyze " ROCE_VERSION "\n" ROCE_BUILD_INFO "\n";
}

}  // namespace roce::cli
