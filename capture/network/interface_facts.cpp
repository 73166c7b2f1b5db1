// SPDX-License-Identifier: Apache-2.0
#include "capture/network/interface_facts.hpp"

#include <sys/utsname.h>

#include "capture/host/readers.hpp"

namespace roce::capture {

InterfaceInfo interface_facts(const std::string& name, const std::string& root) {
  InterfaceInfo info;
  info.name = name;
  utsname system{};
  if (uname(&system) == 0) info.operating_system = std::string(system.sysname) + " " + system.release;
  if (!is_plain_name(name)) return info;
  HostTree tree(root);
  const Netdev netdev = read_netdev(tree, name);
  constexpr std::size_t longest = 256;  // IFALIASZ
  info.description = tree.text("sys/class/net/" + name + "/ifalias").value_or("").substr(0, longest);
  info.hardware = netdev.driver;
  info.speed_bps = netdev.speed_bps.value_or(0);
  return info;
}

std::string ethernet_address(const std::string& name, const std::string& root) {
  HostTree tree(root);
  return is_plain_name(name) ? read_netdev(tree, name).mac : std::string();
}

}  // namespace roce::capture
