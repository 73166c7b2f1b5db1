// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "analyze/report/report_sink.hpp"
#include "capture/core/error.hpp"
#include "cli/core/background_writer.hpp"

namespace roce::cli {

/// Exit statuses, a contract for scripts (docs/usage.md).
enum ExitStatus : int {
  exit_ok = 0,
  exit_findings = 1,  ///< findings at or above --fail-on
  exit_usage = 2,     ///< wrong usage of the command line
  exit_input = 3,     ///< an input cannot be read or an output not be written
  exit_defect = 4,    ///< a defect of the program
};

/// The extension of a file name that denotes a compression (".gz"), or "".
[[nodiscard]] std::string_view compressed_ending(std::string_view path) noexcept;

/// How an Output writes its text, which is UTF-8 always.
enum class Encoding : std::uint8_t {
  utf8,    ///< as it is: JSON, CSV, HTML and other formats for programs
  locale,  ///< text for people: as ASCII if the user's locale is not UTF-8, see ascii_text()
};

/// Buffered output to a descriptor, in large blocks by write(2). A closed pipe (`| head`) is no error:
/// further output is dropped, and closed() is true. Other failures are kept in error(). Not thread-safe.
class Output {
 public:
  explicit Output(Encoding encoding, int descriptor = 1);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// The buffer to append to; call flush_if_full() after each line or object.
  [[nodiscard]] std::string& buffer() noexcept { return buffer_; }
  void write(std::string_view text) { buffer_.append(text); }
  void flush_if_full() {
    if (buffer_.size() >= block_size) flush();
  }
  void flush();
  /// For writing a report piece by piece; valid during the lifetime of this object.
  [[nodiscard]] analyze::ReportSink sink() {
    return {buffer_, [this] { flush_if_full(); }};
  }

  [[nodiscard]] bool closed() const noexcept { return closed_; }
  /// errno of the failed write, 0 if none failed.
  [[nodiscard]] int error() const noexcept { return error_; }
  /// False if further output would be dropped.
  [[nodiscard]] bool good() const noexcept { return !closed_ && error_ == 0; }

  /// Flushes and returns exit_ok, or exit_input after a message on standard error.
  [[nodiscard]] int finish();
  /// finish(), or `status` if that worked: a failed output overrides the status of the inputs.
  [[nodiscard]] int finish(int status) {
    const int written = finish();
    return written != exit_ok ? written : status;
  }

 private:
  static constexpr std::size_t block_size = 128 * 1024;
  int descriptor_;
  bool ascii_;
  bool closed_ = false;
  int error_ = 0;
  std::string buffer_;
};

/// Prints "roceanalyze: " and the message to standard error, as one line: control characters from file names
/// and captures are escaped (printable()). `below`: further lines of the program itself.
void print_error(std::string_view message, std::string_view below = {});
void print_error(const capture::Error& error);
/// During its lifetime print_error() does not block: messages are written by a thread. The destructor waits
/// until they are written and reports how many were dropped because standard error was not read. One at a
/// time.
class MessagesInBackground {
 public:
  MessagesInBackground();
  ~MessagesInBackground();
  MessagesInBackground(const MessagesInBackground&) = delete;
  MessagesInBackground& operator=(const MessagesInBackground&) = delete;

 private:
  BackgroundWriter writer_;
};

/// print_error() for an invalid command line; returns exit_usage.
[[nodiscard]] int usage_error(std::string_view message, std::string_view below = {});
/// Whether to use colour: by --color=always|never, else by NO_COLOR and whether it is a terminal.
[[nodiscard]] bool want_color(std::string_view option, int descriptor = 1);
/// Columns of the terminal at `descriptor`; else the value of COLUMNS; else 0.
[[nodiscard]] unsigned terminal_width(int descriptor = 1);
/// Columns of text on the descriptor: those of its terminal, 100 for what is none.
[[nodiscard]] std::size_t text_width(int descriptor = 1);
/// Writes a text to standard output; returns the exit status, see Output::finish().
[[nodiscard]] int print_text(const std::string& text, int status, Encoding encoding = Encoding::locale);

}  // namespace roce::cli
