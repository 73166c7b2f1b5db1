// SPDX-License-Identifier: Apache-2.0
#include "cli/why/log_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "analyze/errors/log_reader.hpp"
#include "cli/core/output.hpp"

namespace roce::cli {

std::optional<LogFiles> LogFiles::open(const std::vector<std::string>& names) {
  LogFiles files({});
  for (const std::string& name : names) {
    const int descriptor = name == "-" ? STDIN_FILENO : ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0) {
      print_error(fmt::format("--log {}: {}", name, std::strerror(errno)));
      return std::nullopt;
    }
    files.files_.push_back({name, descriptor});
  }
  return files;
}

LogFiles::~LogFiles() {
  for (const File& file : files_) {
    if (file.descriptor > STDERR_FILENO) ::close(file.descriptor);
  }
}

std::vector<analyze::ErrorLog> LogFiles::read(int& status) const {
  constexpr std::size_t block = 256 * 1024;
  std::vector<analyze::ErrorLog> logs;
  std::string buffer(block, '\0');
  for (const File& file : files_) {
    analyze::LogReader reader;
    for (;;) {
      const ssize_t got = ::read(file.descriptor, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        print_error(fmt::format("--log {}: {}", file.name, std::strerror(errno)));
        status = exit_input;
      }
      if (got <= 0) break;
      reader.read(std::string_view(buffer).substr(0, static_cast<std::size_t>(got)));
    }
    logs.push_back(reader.finish(file.name));
  }
  return logs;
}

}  // namespace roce::cli
