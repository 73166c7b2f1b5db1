// SPDX-License-Identifier: Apache-2.0
#include "capture/write/ring_name.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

namespace roce::capture {
namespace {

/// Where the extensions begin: of "a.b.pcapng.zst" before ".pcapng".
std::size_t stem_end(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
  const auto dot_before = [&](std::size_t end) {
    const std::size_t dot = end == 0 ? std::string::npos : path.rfind('.', end - 1);
    return dot == std::string::npos || dot <= name ? end : dot;  // a leading dot begins no extension
  };
  constexpr std::string_view zst = ".zst";
  const bool compressed = path.size() > zst.size() && path.ends_with(zst);
  return dot_before(compressed ? dot_before(path.size()) : path.size());
}

bool all_digits(std::string_view text, std::size_t least, std::size_t most) {
  return text.size() >= least && text.size() <= most &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// "_00001_20260714133501".
bool is_number_and_time(std::string_view text) {
  constexpr std::size_t stamp = 14;
  if (text.size() < stamp + 2 || text.front() != '_') return false;
  const std::size_t second = text.size() - stamp - 1;
  return text[second] == '_' && all_digits(text.substr(second + 1), stamp, stamp) &&
         all_digits(text.substr(1, second - 1), 5, 20);
}

struct LeftFile {
  RingFile file;
  std::pair<std::int64_t, std::int64_t> written;
};

/// Does not follow links and does not block on FIFOs.
bool look_at(LeftFile& left) {
  const int descriptor = ::open(left.file.path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return false;
  struct stat facts {};
  const bool whole = fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode) &&
                     (flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK);
  ::close(descriptor);
  left.file.bytes = static_cast<std::uint64_t>(facts.st_size);
  left.written = {facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec};
  return whole;
}

}  // namespace

std::vector<RingFile> files_of_ring(const std::string& path) {
  const std::size_t end = stem_end(path);
  const std::string begin = path.substr(0, end);
  const std::string_view extensions = std::string_view(path).substr(end);
  const std::size_t slash = begin.rfind('/');
  const std::string folder = slash == std::string::npos ? std::string() : begin.substr(0, slash + 1);
  const std::string stem = begin.substr(folder.size());
  std::vector<LeftFile> found;
  std::error_code failed;
  for (std::filesystem::directory_iterator each(folder.empty() ? "." : folder, failed), none;
       !failed && each != none; each.increment(failed)) {
    const std::string name = each->path().filename().string();
    if (name.size() < stem.size() + extensions.size() || !name.starts_with(stem) ||
        !name.ends_with(extensions))
      continue;
    const std::string_view between =
        std::string_view(name).substr(stem.size(), name.size() - stem.size() - extensions.size());
    LeftFile left{{folder + name, 0}, {}};
    if (is_number_and_time(between) && look_at(left)) found.push_back(std::move(left));
  }
  std::sort(found.begin(), found.end(), [](const LeftFile& a, const LeftFile& b) {
    return std::tie(a.written, a.file.path) < std::tie(b.written, b.file.path);
  });
  std::vector<RingFile> files;
  for (LeftFile& left : found) files.push_back(std::move(left.file));
  return files;
}

std::string ring_name(const std::string& path, std::uint64_t number,
                      std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm local{};
  localtime_r(&seconds, &local);
  std::array<char, 32> stamp{};
  (void)strftime(stamp.data(), stamp.size(), "%Y%m%d%H%M%S", &local);
  std::string digits = std::to_string(number);
  digits.insert(0, 5 - std::min<std::size_t>(digits.size(), 5), '0');
  const std::size_t end = stem_end(path);
  return path.substr(0, end) + "_" + digits + "_" + stamp.data() + path.substr(end);
}

}  // namespace roce::capture
