// SPDX-License-Identifier: Apache-2.0
// Reads the errors of queue pairs out of logs of applications and drivers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/errors/dumped_cqe.hpp"
#include "analyze/errors/log_patterns.hpp"
#include "analyze/errors/logged_error.hpp"

namespace roce::analyze {

/// Reads a log piece by piece. Its size does not matter, what it contains neither: memory is bounded, and of
/// a line only its beginning is looked at.
class LogReader {
 public:
  static constexpr std::size_t line_limit = 4096;   ///< bytes of a line that are looked at
  static constexpr std::size_t error_limit = 1024;  ///< errors that are kept
  static constexpr std::size_t open_limit = 32;     ///< errors that may be going on at a time
  static constexpr std::uint64_t open_lines = 64;   ///< lines after which an error has ended

  void read(std::string_view bytes);
  /// At the end of the log.
  [[nodiscard]] ErrorLog finish(std::string name);

 private:
  /// An error of which the next lines may tell more.
  struct Open {
    LoggedError error;
    std::string thread;  ///< that logs it: "host:1234:1240"; empty where lines do not tell
    DumpedCqe dump;
    bool dumped = false;  ///< rows of a dump may follow
  };
  /// What a log told of the queue pairs of its program before there was an error.
  struct Told {
    std::optional<std::uint32_t> local_qp, remote_qp;
    bool several = false;  ///< queue pairs: which of them an error is of is not known
    std::optional<dissect::IpAddress> local, remote;
    bool remote_was_last = false;  ///< a line with a GID may follow
  };

  void use(std::string_view line);
  bool use_pattern(const LogPattern& pattern, std::string_view line);
  void tell(const LoggedError& found);
  void add_told(LoggedError& error) const;
  bool take_dump(std::string_view line);
  [[nodiscard]] Open* going_on(LogProgram program, std::string_view thread);
  void open(Open&& error);
  void close_old();
  void keep(LoggedError&& error);

  ErrorLog log_;
  std::string line_;        ///< beginning of a line that has no end yet
  bool any_ = false;        ///< there is such a line, also an empty one
  std::vector<Open> open_;  ///< oldest first
  Told told_;
};

}  // namespace roce::analyze
