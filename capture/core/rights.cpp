// SPDX-License-Identifier: Apache-2.0
#include "capture/core/rights.hpp"

#include <unistd.h>

#include <charconv>
#include <climits>
#include <fstream>
#include <string_view>

namespace roce::capture {

bool has_right(Right right, const std::string& root) {
  std::ifstream status(root + "/proc/thread-self/status");
  constexpr std::string_view key = "CapEff:\t";
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(key)) continue;
    std::uint64_t set = 0;
    const char* const end = line.data() + line.size();
    if (std::from_chars(line.data() + key.size(), end, set, 16).ec != std::errc()) return true;
    return (set >> static_cast<unsigned>(right) & 1U) != 0;
  }
  return true;
}

std::string own_program() {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : "PROGRAM";
}

std::string how_to_allow() {
  return "run it with sudo, or grant the capabilities permanently: sudo setcap "
         "cap_net_raw,cap_net_admin=eip " +
         own_program();
}

}  // namespace roce::capture
