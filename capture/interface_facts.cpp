// SPDX-License-Identifier: Apache-2.0
#include "capture/interface_facts.hpp"

#include <sys/utsname.h>

#include <charconv>
#include <filesystem>
#include <fstream>

namespace roce::capture {
namespace {

std::string folder_of(const std::string& name, const std::string& root) {
  // A name with a slash is none, and would lead out of the folder.
  if (name.empty() || name.front() == '.' || name.find('/') != std::string::npos) return {};
  return root + "/sys/class/net/" + name + "/";
}

/// The first line, of at most some hundred bytes.
std::string first_line(const std::string& path) {
  std::ifstream file(path);
  char text[256];
  file.get(text, sizeof text);
  return file.gcount() > 0 ? std::string(text, static_cast<std::size_t>(file.gcount())) : std::string();
}

}  // namespace

InterfaceInfo interface_facts(const std::string& name, const std::string& root) {
  InterfaceInfo info;
  info.name = name;
  utsname system{};
  if (uname(&system) == 0) info.operating_system = std::string(system.sysname) + " " + system.release;
  const std::string folder = folder_of(name, root);
  if (folder.empty()) return info;
  info.description = first_line(folder + "ifalias");
  std::error_code ignored;
  const std::filesystem::path driver = std::filesystem::read_symlink(folder + "device/driver", ignored);
  info.hardware = driver.filename().string();
  // Mbit/s; -1 without a link, an error on interfaces that have no speed.
  const std::string speed = first_line(folder + "speed");
  std::int64_t megabits = 0;
  std::from_chars(speed.data(), speed.data() + speed.size(), megabits);
  constexpr std::int64_t most = 100'000'000;  // 100 Tbit/s; UINT_MAX is a driver's way to say unknown
  if (megabits > 0 && megabits < most) info.speed_bps = static_cast<std::uint64_t>(megabits) * 1'000'000;
  return info;
}

std::string ethernet_address(const std::string& name, const std::string& root) {
  const std::string folder = folder_of(name, root);
  return folder.empty() ? std::string() : first_line(folder + "address");
}

}  // namespace roce::capture
