// SPDX-License-Identifier: Apache-2.0
#include "capture/host/tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

namespace roce::capture {
namespace {

constexpr std::string_view white_space = " \t\r\n\v\f";

/// Whether it is printable ASCII or UTF-8, with tabs and line breaks.
bool is_text(std::string_view bytes) noexcept {
  return std::none_of(bytes.begin(), bytes.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && white_space.find(c) == std::string_view::npos) || byte == 0x7f;
  });
}

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

/// Removes the leading digits of a text and returns them without leading zeros.
std::string_view take_digits(std::string_view& text) noexcept {
  const auto end =
      static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
  std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

/// Natural order: mlx5_2 before mlx5_10.
bool by_number_and_name(const std::string& a, const std::string& b) {
  std::string_view first = a, second = b;
  while (!first.empty() && !second.empty()) {
    if (is_digit(first.front()) && is_digit(second.front())) {
      const std::string_view left = take_digits(first), right = take_digits(second);
      if (left.size() != right.size()) return left.size() < right.size();
      if (left != right) return left < right;
      continue;
    }
    if (first.front() != second.front())
      return static_cast<unsigned char>(first.front()) < static_cast<unsigned char>(second.front());
    first.remove_prefix(1);
    second.remove_prefix(1);
  }
  if (first.empty() != second.empty()) return first.empty();
  return a < b;  // equal numbers: 7 and 07
}

}  // namespace

std::string_view trimmed(std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(white_space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(white_space) - first + 1);
}

std::optional<std::uint64_t> whole_number(std::string_view text) noexcept {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (failure != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (const std::string_view line = trimmed(text.substr(0, end)); !line.empty()) lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
    const std::size_t end = std::min(text.find_first_of(white_space), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

HostTree::HostTree(std::string root, std::size_t openings)
    : root_(std::move(root)), most_openings_(openings) {
  if (root_.empty()) root_ = "/";
  descriptor_ = ::open(root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ < 0) problem(root_, std::strerror(errno));
}

HostTree::~HostTree() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void HostTree::problem(std::string path, std::string message) {
  if (problems_.size() == most_problems) {
    ++problems_dropped_;
    return;
  }
  problems_.push_back({std::move(path), std::move(message)});
}

void HostTree::failed(const std::string& path, int error, Absent absent) {
  if ((error == ENOENT || error == ENOTDIR) && absent == Absent::fine) return;
  if (descriptor_ < 0 || openings_ > most_openings_) return;  // reported already
  problem(path, std::strerror(error));
}

int HostTree::open_below(const std::string& path, int flags) {
  if (descriptor_ < 0 || openings_ > most_openings_) {
    errno = ENOENT;
    return -1;
  }
  if (++openings_ > most_openings_) {
    problem(path,
            "the tree has more than " + std::to_string(most_openings_) + " files; no further ones are read");
    errno = ENOENT;
    return -1;
  }
  const int plain = O_CLOEXEC | ((flags & O_PATH) != 0 ? 0 : O_NONBLOCK | O_NOCTTY);
  // RESOLVE_IN_ROOT: absolute links of a copied tree refer to files of the copy, and none may lead out of it.
  open_how how{};
  how.flags = static_cast<std::uint64_t>(static_cast<unsigned>(flags | plain));
  how.resolve = RESOLVE_IN_ROOT;
  const long opened = ::syscall(SYS_openat2, descriptor_, path.c_str(), &how, sizeof how);
  if (opened >= 0 || errno != ENOSYS) return static_cast<int>(opened);
  return ::openat(descriptor_, path.c_str(), flags | plain);  // before Linux 5.6
}

std::optional<std::string> HostTree::text(const std::string& path, Absent absent) {
  const int file = open_below(path, O_RDONLY);
  if (file < 0) {
    failed(path, errno, absent);
    return std::nullopt;
  }
  struct stat facts {};
  std::string bytes;
  int error = 0;
  // A pipe or device in a copied tree could block or never end.
  if (::fstat(file, &facts) != 0) {
    error = errno;
  } else if (!S_ISREG(facts.st_mode)) {
    ::close(file);
    problem(path, "is not a regular file");
    return std::nullopt;
  }
  std::array<char, 4096> block{};
  while (error == 0 && bytes.size() <= most_bytes) {
    const ssize_t got = ::read(file, block.data(), block.size());
    if (got == 0) break;
    if (got > 0) {
      bytes.append(block.data(), static_cast<std::size_t>(got));
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  ::close(file);
  if (error != 0) {
    failed(path, error, Absent::strange);
    return std::nullopt;
  }
  if (bytes.size() > most_bytes) {
    problem(path, "is longer than " + std::to_string(most_bytes) + " bytes");
    return std::nullopt;
  }
  if (!is_text(bytes)) {
    problem(path, "is not text");
    return std::nullopt;
  }
  return std::string(trimmed(bytes));
}

std::optional<std::uint64_t> HostTree::number(const std::string& path, Absent absent) {
  const std::optional<std::string> read = text(path, absent);
  if (!read) return std::nullopt;
  const std::optional<std::uint64_t> value = whole_number(*read);
  if (!value) problem(path, "is not a number: \"" + read->substr(0, 40) + "\"");
  return value;
}

std::vector<std::string> HostTree::names(const std::string& path, Absent absent) {
  std::vector<std::string> found;
  const int folder = open_below(path, O_RDONLY | O_DIRECTORY);
  if (folder < 0) {
    failed(path, errno, absent);
    return found;
  }
  DIR* entries = ::fdopendir(folder);
  if (entries == nullptr) {
    failed(path, errno, absent);
    ::close(folder);
    return found;
  }
  while (const dirent* entry = ::readdir(entries)) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (!is_text(name)) {
      problem(path, "has an entry whose name is not text");
      continue;
    }
    if (found.size() == most_entries) {
      problem(path, "has more than " + std::to_string(most_entries) + " entries; the others are left out");
      break;
    }
    found.emplace_back(name);
  }
  ::closedir(entries);
  std::sort(found.begin(), found.end(), by_number_and_name);
  return found;
}

std::optional<std::string> HostTree::link(const std::string& path) {
  const int file = open_below(path, O_PATH | O_NOFOLLOW);
  if (file < 0) {
    failed(path, errno, Absent::fine);
    return std::nullopt;
  }
  std::array<char, 4096> target{};
  const ssize_t length = ::readlinkat(file, "", target.data(), target.size());
  ::close(file);
  if (length <= 0) return std::nullopt;
  std::string_view text(target.data(), static_cast<std::size_t>(length));
  text.remove_prefix(std::min(text.rfind('/') + 1, text.size()));
  if (text.empty() || !is_text(text)) return std::nullopt;
  return std::string(text);
}

bool HostTree::is_file(const std::string& path) {
  const int file = open_below(path, O_PATH);
  if (file < 0) return false;
  struct stat facts {};
  const bool folder = ::fstat(file, &facts) == 0 && S_ISDIR(facts.st_mode);
  ::close(file);
  return !folder;
}

bool HostTree::exists(const std::string& path) {
  const int file = open_below(path, O_PATH);
  if (file < 0) return false;
  ::close(file);
  return true;
}

}  // namespace roce::capture
