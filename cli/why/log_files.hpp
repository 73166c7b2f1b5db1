// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/errors/logged_error.hpp"

namespace roce::cli {

/// Logs that are open, so that they can be read when nothing can be opened any more. "-" is standard input.
class LogFiles {
 public:
  /// Prints an error for those that cannot be opened; none then.
  [[nodiscard]] static std::optional<LogFiles> open(const std::vector<std::string>& names);

  LogFiles(LogFiles&& other) noexcept = default;
  LogFiles& operator=(LogFiles&&) = delete;
  ~LogFiles();

  /// Reads all of them to their ends. `status` becomes exit_input if one cannot be read further, which is
  /// printed.
  [[nodiscard]] std::vector<analyze::ErrorLog> read(int& status) const;

 private:
  struct File {
    std::string name;
    int descriptor = -1;
  };
  explicit LogFiles(std::vector<File> files) : files_(std::move(files)) {}

  std::vector<File> files_;
};

}  // namespace roce::cli
