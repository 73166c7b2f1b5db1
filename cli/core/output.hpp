// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "analyze/report/report_sink.hpp"
#include "capture/core/error.hpp"
#include "cli/core/background_writer.hpp"

namespace roce::cli {

/// The statuses of docs/interface: what scripts rely on.
enum ExitStatus : int {
  exit_ok = 0,
  exit_findings = 1,  ///< findings at or above --fail-on
  exit_usage = 2,
  exit_input = 3,   ///< an input that cannot be read or an output that cannot be written
  exit_defect = 4,  ///< a defect of the program
};

/// The end of a name that promises a compression (".gz"), or nothing.
[[nodiscard]] std::string_view compressed_ending(std::string_view path) noexcept;

/// Standard output in large blocks by write(2). A reader that went away (`| head`) is no error:
/// everything after it is dropped and closed() says so. Any other failure is kept in error().
class Output {
 public:
  explicit Output(int descriptor = 1);
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
  /// For a report written piece by piece; valid while this is.
  [[nodiscard]] analyze::ReportSink sink() {
    return {buffer_, [this] { flush_if_full(); }};
  }

  [[nodiscard]] bool closed() const noexcept { return closed_; }
  /// errno of the write that failed, 0 if none did.
  [[nodiscard]] int error() const noexcept { return error_; }
  /// True while writing on makes sense.
  [[nodiscard]] bool good() const noexcept { return !closed_ && error_ == 0; }

  /// Flushes and turns the result into a status: exit_ok, or exit_input with a message on
  /// standard error.
  [[nodiscard]] int finish();

 private:
  static constexpr std::size_t block_size = 128 * 1024;
  int descriptor_;
  bool closed_ = false;
  int error_ = 0;
  std::string buffer_;
};

/// "roceanalyze: " and the message on standard error: one line, whatever names and texts from files stand in
/// it, for control characters are shown escaped as in the reports (printable()). `below`: lines of our own
/// that follow it.
void print_error(std::string_view message, std::string_view below = {});
void print_error(const capture::Error& error);
/// While it lives, print_error() waits for nobody: messages are written on a thread of their own. In the end
/// they are waited for, and those are counted that did not fit while nobody read them. One at a time.
class MessagesInBackground {
 public:
  MessagesInBackground();
  ~MessagesInBackground();
  MessagesInBackground(const MessagesInBackground&) = delete;
  MessagesInBackground& operator=(const MessagesInBackground&) = delete;

 private:
  BackgroundWriter writer_;
};

/// The same for a command line that asks for something impossible; returns exit_usage.
[[nodiscard]] int usage_error(std::string_view message, std::string_view below = {});
/// Whether colour is wanted: --color=always|never|auto, NO_COLOR, a terminal.
[[nodiscard]] bool want_color(std::string_view option, int descriptor = 1);
/// Columns of the terminal at `descriptor`, else COLUMNS, else 0 = not a terminal.
[[nodiscard]] unsigned terminal_width(int descriptor = 1);

}  // namespace roce::cli
