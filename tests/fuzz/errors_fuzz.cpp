// SPDX-License-Identifier: Apache-2.0
// The input is a log. What is read from it does not depend on the pieces in which it comes, and stays within
// bounds.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "analyze/errors/completion_status.hpp"
#include "analyze/errors/log_reader.hpp"
#include "tests/fuzz/require.hpp"

namespace {

using namespace roce::analyze;

ErrorLog read_in_pieces(std::string_view text, std::size_t piece) {
  LogReader reader;
  for (std::size_t at = 0; at < text.size(); at += std::min(piece, text.size() - at))
    reader.read(text.substr(at, piece));
  return reader.finish("log");
}

void check(const LoggedError& error, const ErrorLog& log) {
  require(error.line >= 1 && error.line <= error.last_line && error.last_line <= log.lines,
          "lines of an error");
  require(error.times >= 1 && error.text.size() <= LoggedError::longest_text, "its text");
  require(!error.status || (*error.status != 0 && !completion_name(*error.status).empty()), "its status");
  require(!error.local_qp || (*error.local_qp != 0 && *error.local_qp <= 0xffffff), "its queue pair");
  require(!error.remote_qp || (*error.remote_qp != 0 && *error.remote_qp <= 0xffffff),
          "its peer's queue pair");
  require(error.event.size() <= 80 && error.operation.size() <= 32 && error.device.size() <= 64, "its words");
  require(!log_program_words(error.program).empty() && !log_program_names[error.program].empty(),
          "its program");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // reinterpret_cast: the bytes are the characters of the log.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ErrorLog whole = read_in_pieces(text, std::max<std::size_t>(size, 1));
  const ErrorLog pieces = read_in_pieces(text, 1 + size / 7);
  require(whole.lines == pieces.lines && whole.bytes == size && whole.dropped == pieces.dropped,
          "lines of the log");
  require(whole.errors.size() == pieces.errors.size() && whole.errors.size() <= LogReader::error_limit,
          "number of errors");
  for (std::size_t i = 0; i < whole.errors.size(); ++i) {
    check(whole.errors[i], whole);
    require(whole.errors[i].same_as(pieces.errors[i]) && whole.errors[i].line == pieces.errors[i].line,
            "the same errors in pieces");
    require(
        whole.errors[i].text == pieces.errors[i].text && whole.errors[i].time_ns == pieces.errors[i].time_ns,
        "the same texts in pieces");
  }
  return 0;
}
