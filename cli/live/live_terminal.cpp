// SPDX-License-Identifier: Apache-2.0
#include "cli/live/live_terminal.hpp"

#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "cli/core/charset.hpp"

namespace roce::cli {
namespace {

constexpr int terminal = 1;
constexpr std::string_view enter_codes = "\x1b[?1049h\x1b[?25l\x1b[H\x1b[2J";  // alternate screen, no cursor
constexpr std::string_view leave_codes = "\x1b[0m\x1b[?25h\x1b[?1049l";

// Globals for signal handlers. `saved` is written before `active`.
std::atomic<bool> active{false};  ///< the alternate screen is shown
std::atomic<bool> suspended{false};
std::atomic<bool> saved_any{false};
termios saved{};

constexpr int deadly[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGQUIT, SIGSYS};

bool put(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t n = ::write(terminal, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

/// Whether the process is in the foreground: a background job that sets the terminal is stopped by SIGTTOU.
bool in_foreground() noexcept {
  return ::tcgetpgrp(terminal) == ::getpgrp();
}

void take_terminal() noexcept {
  if (saved_any && in_foreground()) {
    termios quiet = saved;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON);  // typed keys are not shown; Ctrl-C still works
    (void)::tcsetattr(terminal, TCSANOW, &quiet);
  }
  (void)put(enter_codes);
}

void give_back() noexcept {
  (void)put(leave_codes);
  // TCSAFLUSH discards keys that were typed in the meantime: they are not meant for the shell.
  if (saved_any && in_foreground()) (void)::tcsetattr(terminal, TCSAFLUSH, &saved);
}

void on_deadly(int number) {
  restore_terminal();
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  (void)sigaction(number, &action, nullptr);
  (void)::raise(number);
}

void on_suspend(int) {
  const int before = errno;
  suspended = true;
  restore_terminal();
  (void)::raise(SIGSTOP);
  suspended = false;
  errno = before;  // the next drawing in the foreground enters the screen again
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  struct sigaction before {};
  if (sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_DFL)
    (void)sigaction(number, &action, nullptr);
}

void unhandle(int number, void (*handler)(int)) {
  struct sigaction before {};
  if (sigaction(number, nullptr, &before) == 0 && before.sa_handler == handler)
    (void)std::signal(number, SIG_DFL);
}

}  // namespace

void restore_terminal() noexcept {
  if (active.exchange(false)) give_back();
}

bool LiveTerminal::possible() {
  const char* kind = std::getenv("TERM");
  return ::isatty(terminal) == 1 && in_foreground() && kind != nullptr && *kind != '\0' &&
         std::string_view(kind) != "dumb";
}

LiveTerminal::LiveTerminal() {
  saved_any = ::tcgetattr(terminal, &saved) == 0;
  for (const int number : deadly) handle(number, on_deadly);
  handle(SIGTSTP, on_suspend);
  active = true;
  take_terminal();
}

LiveTerminal::~LiveTerminal() {
  leave();
}

ScreenStyle LiveTerminal::style(bool color) {
  ScreenStyle style;
  style.color = color;
  style.ascii = !locale_is_utf8();
  winsize size{};
  if (::ioctl(terminal, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
    // The last column stays empty: clearing the rest of a full line would erase its last character.
    style.width = size.ws_col - 1U;
    style.height = size.ws_row;
  }
  return style;
}

std::string LiveTerminal::drawing(const std::vector<std::string>& lines) {
  // In the background nothing is drawn.
  if (suspended || !in_foreground()) return {};
  if (!active.exchange(true)) take_terminal();
  // One write, and each line is cleared after its text, not before: no flicker.
  std::string text = "\x1b[H";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i != 0) text += "\r\n";
    text += lines[i];
    text += "\x1b[K";
  }
  text += "\x1b[J";
  return text;
}

void LiveTerminal::leave() noexcept {
  restore_terminal();
  for (const int number : deadly) unhandle(number, on_deadly);
  unhandle(SIGTSTP, on_suspend);
}

}  // namespace roce::cli
