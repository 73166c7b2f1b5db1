// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "analyze/errors/log_reader.hpp"

namespace roce::analyze::test {

/// The errors of a log, read in pieces of so many bytes.
inline ErrorLog read_log(std::string_view text, std::size_t piece = std::string_view::npos) {
  LogReader reader;
  for (std::size_t at = 0; at < text.size(); at += std::min(piece, text.size() - at))
    reader.read(text.substr(at, piece));
  return reader.finish("log");
}

/// That of a log with one error; one that says nothing if there are none or several.
inline LoggedError one_error(std::string_view text) {
  const ErrorLog log = read_log(text);
  return log.errors.size() == 1 ? log.errors.front() : LoggedError();
}

}  // namespace roce::analyze::test
