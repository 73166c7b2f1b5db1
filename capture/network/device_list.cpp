// SPDX-License-Identifier: Apache-2.0
#include "capture/network/device_list.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>

#include "capture/core/edit_distance.hpp"
#include "capture/core/rights.hpp"
#include "capture/host/readers.hpp"
#include "capture/network/pcap_device.hpp"

namespace roce::capture {

std::string explain_unknown_device(const std::string& typed, const std::string& root) {
  HostTree tree(root);
  std::vector<std::string> names = tree.names("sys/class/infiniband");
  if (const auto devices = find_network_devices()) {
    for (const NetworkDevice& device : *devices) names.push_back(device.name);
  }
  std::string message = "there is no network interface or RDMA device of this name";
  const std::string_view meant = nearest_word(typed.substr(0, typed.find(':')),
                                              std::vector<std::string_view>(names.begin(), names.end()));
  if (!meant.empty()) message += "; did you mean " + std::string(meant) + "?";
  constexpr std::size_t told = 20;
  for (std::size_t i = 0; i < std::min(names.size(), told); ++i)
    message += (i == 0 ? (meant.empty() ? "; there are: " : " There are: ") : ", ") + names[i];
  if (names.size() > told) message += ", ...";
  return message;
}

std::string explain_sniffer_switch(const std::string& device, bool on) {
  if (on) {
    return "the driver's private flag \"sniffer\" is on: offloaded RoCE is visible on " + device +
           ", which costs performance; to switch it off: sudo ethtool --set-priv-flags " + device +
           " sniffer off";
  }
  return "the driver's private flag \"sniffer\" is off: offloaded RoCE is not visible on " + device +
         "; capture on its RDMA device (rdma link shows its name), or: sudo ethtool --set-priv-flags " +
         device + " sniffer on";
}

Expected<std::vector<NetworkDevice>> list_network_devices() {
  auto devices = find_network_devices();
  if (!devices) return devices;
  const bool allowed = has_right(Right::net_raw);
  const std::unique_ptr<KernelQueries> kernel = running_kernel();
  for (NetworkDevice& device : *devices) {
    if (device.name != any_device)
      device.sniffer_switch = sniffer_switch(read_private_flags(*kernel, device.name));
    if (!allowed) {
      device.not_capturable = "CAP_NET_RAW is missing: " + how_to_allow();
    } else if (!device.up) {
      device.not_capturable = "it is down: sudo ip link set dev " + device.name + " up";
    }
  }
  return devices;
}

}  // namespace roce::capture
