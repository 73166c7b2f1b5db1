// SPDX-License-Identifier: Apache-2.0
#include "capture/ring_name.hpp"

#include <time.h>

#include <algorithm>
#include <array>

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

}  // namespace

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
