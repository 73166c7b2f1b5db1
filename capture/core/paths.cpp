// SPDX-License-Identifier: Apache-2.0
#include "capture/core/paths.hpp"

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>

namespace roce::capture {

std::vector<std::string> expand_paths(const std::vector<std::string>& paths, std::vector<Error>& errors) {
  std::vector<std::string> expanded;
  for (const std::string& path : paths) {
    struct stat facts {};
    const bool pattern = path.find_first_of("*?[") != std::string::npos;
    if (!pattern || lstat(path.c_str(), &facts) == 0) {
      expanded.push_back(path);
      continue;
    }
    glob_t matches{};
    const int status = glob(path.c_str(), GLOB_NOSORT, nullptr, &matches);
    const std::size_t first = expanded.size();
    for (std::size_t i = 0; status == 0 && i < matches.gl_pathc; ++i)
      expanded.emplace_back(matches.gl_pathv[i]);
    globfree(&matches);
    // By bytes, not by locale: the same command gives the same order everywhere.
    std::sort(expanded.begin() + static_cast<std::ptrdiff_t>(first), expanded.end());
    if (expanded.size() == first) {
      Error error;
      error.kind = status == GLOB_NOSPACE ? ErrorKind::out_of_memory : ErrorKind::not_found;
      error.path = path;
      error.message = "no file has this name, and none matches it as a pattern";
      errors.push_back(std::move(error));
    }
  }
  return expanded;
}

}  // namespace roce::capture
