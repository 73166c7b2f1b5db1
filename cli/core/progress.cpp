// SPDX-License-Identifier: Apache-2.0
#include "cli/core/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "cli/core/output.hpp"

namespace roce::cli {
namespace {

constexpr auto patience = std::chrono::seconds(1);
constexpr auto interval = std::chrono::milliseconds(100);

void to_terminal(const std::string& text) {
  [[maybe_unused]] const ssize_t written = ::write(2, text.data(), text.size());
}

}  // namespace

Progress::Progress(std::string_view label)
    : label_(label), terminal_(::isatty(2) == 1), start_(Clock::now()), next_(start_ + patience) {}

Progress::~Progress() {
  clear();
}

void Progress::clear() {
  if (drawn_) to_terminal("\r\x1b[K");
  drawn_ = false;
}

void Progress::update(const capture::CaptureSource& source, std::uint64_t frames) {
  if (!terminal_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + interval;

  std::uint64_t total = 0;
  std::uint64_t done = 0;
  for (const capture::FileInfo& file : source.files()) {
    total += file.bytes;
    done += file.bytes_read;
  }
  const double seconds = std::chrono::duration<double>(now - start_).count();
  std::string line = "\r\x1b[K";
  line += label_;
  if (total == 0) {
    line += fmt::format("{} packets, {:.0f} s", frames, seconds);
  } else {
    const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
    const unsigned beside = 34U + static_cast<unsigned>(label_.size());
    const unsigned width = std::clamp(terminal_width(2), beside + 6U, 120U) - beside;
    const auto filled = static_cast<unsigned>(share * width);
    line += fmt::format("[{}{}] {:3.0f} %", std::string(filled, '#'), std::string(width - filled, '.'),
                        share * 100);
    if (share > 0.01) line += fmt::format(", {:.0f} s left", seconds / share * (1 - share));
  }
  to_terminal(line);
  drawn_ = true;
}

}  // namespace roce::cli
