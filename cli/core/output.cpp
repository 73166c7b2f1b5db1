// SPDX-License-Identifier: Apache-2.0
#include "cli/core/output.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "analyze/base/value_format.hpp"
#include "cli/core/charset.hpp"

namespace roce::cli {
namespace {

/// Writes all of `text`; returns 0 or an errno.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(descriptor, text.data(), text.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) {  // the terminal or pipe is non-blocking: wait
        pollfd ready{descriptor, POLLOUT, 0};
        (void)::poll(&ready, 1, -1);
        continue;
      }
      return errno;
    }
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

constexpr std::size_t most_message_bytes = 1 << 20;
std::shared_mutex background_mutex;
BackgroundWriter* background = nullptr;  ///< set while messages must not block

void send_messages_to(BackgroundWriter* writer) {
  const std::lock_guard lock(background_mutex);
  background = writer;
}

}  // namespace

std::string_view compressed_ending(std::string_view path) noexcept {
  for (const std::string_view ending : {".zst", ".gz", ".lz4", ".bz2", ".xz", ".zip"}) {
    if (path.ends_with(ending)) return ending;
  }
  return {};
}

Output::Output(Encoding encoding, int descriptor)
    : descriptor_(descriptor), ascii_(encoding == Encoding::locale && !locale_is_utf8()) {
  buffer_.reserve(block_size + 4096);
}

Output::~Output() {
  flush();
}

void Output::flush() {
  if (good() && !buffer_.empty()) {
    error_ = write_all(descriptor_, ascii_ ? ascii_text(buffer_) : buffer_);
    if (error_ == EPIPE) {
      error_ = 0;
      closed_ = true;
    }
  }
  buffer_.clear();
}

int Output::finish() {
  flush();
  if (error_ == 0) return exit_ok;
  print_error(std::string("standard output: ") + std::strerror(error_));
  return exit_input;
}

void print_error(std::string_view message, std::string_view below) {
  std::string line = "roceanalyze: ";
  analyze::append_printable(line, message);
  line += '\n';
  if (!below.empty()) {
    analyze::append_lines(line, below);
    line += '\n';
  }
  if (!locale_is_utf8()) line = ascii_text(line);
  const std::shared_lock lock(background_mutex);
  if (background != nullptr) {
    (void)background->post(std::move(line));
  } else {
    (void)write_all(2, line);  // a failure cannot be reported anywhere
  }
}

void print_error(const capture::Error& error) {
  print_error(error.headline(), error.below);
}

MessagesInBackground::MessagesInBackground()
    : writer_([](std::string_view text) { (void)write_all(2, text); }, most_message_bytes) {
  send_messages_to(&writer_);
}

MessagesInBackground::~MessagesInBackground() {
  send_messages_to(nullptr);
  (void)writer_.flush();
  if (const std::uint64_t dropped = writer_.dropped(); dropped != 0) {
    print_error(fmt::format("{} messages were dropped because standard error was not read", dropped));
  }
}

int usage_error(std::string_view message, std::string_view below) {
  print_error(message, below);
  return exit_usage;
}

bool want_color(std::string_view option, int descriptor) {
  if (option == "always") return true;
  if (option == "never") return false;
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* terminal = std::getenv("TERM");
  return ::isatty(descriptor) == 1 && (terminal == nullptr || std::string_view(terminal) != "dumb");
}

unsigned terminal_width(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  if (const char* columns = std::getenv("COLUMNS")) {
    const unsigned long width = std::strtoul(columns, nullptr, 10);
    if (width >= 40 && width <= 1000) return static_cast<unsigned>(width);
  }
  return 0;
}

std::size_t text_width(int descriptor) {
  constexpr std::size_t width_of_a_pipe = 100;
  const unsigned width = terminal_width(descriptor);
  return width != 0 ? width : width_of_a_pipe;
}

int print_text(const std::string& text, int status, Encoding encoding) {
  Output out(encoding);
  out.write(text);
  return out.finish(status);
}

}  // namespace roce::cli
