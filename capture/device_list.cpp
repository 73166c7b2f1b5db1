// SPDX-License-Identifier: Apache-2.0
#include "capture/device_list.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>

#include "capture/host/readers.hpp"
#include "capture/pcap_device.hpp"
#include "capture/rights.hpp"

namespace roce::capture {
namespace {

/// Insertions, removals and replacements that make one of the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> above(b.size() + 1), row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
    }
    above.swap(row);
  }
  return above[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view typed, const std::vector<std::string>& names) {
  constexpr std::size_t longest = 64;  // a longer one is no slip of the fingers
  if (typed.empty() || typed.size() > longest) return {};
  std::string_view nearest;
  std::size_t least = std::max<std::size_t>(2, typed.size() / 3) + 1;
  for (const std::string& name : names) {
    const std::size_t changes = distance(typed, name);
    if (changes >= least || changes >= std::max(name.size(), typed.size())) continue;
    least = changes;
    nearest = name;
  }
  return nearest;
}

std::string explain_unknown_device(const std::string& typed) {
  std::vector<std::string> names;
  if (const auto devices = find_network_devices()) {
    for (const NetworkDevice& device : *devices) names.push_back(device.name);
  }
  std::string message = "there is no network interface or RDMA device of this name";
  const std::string_view meant = nearest_name(typed, names);
  if (!meant.empty()) message += "; did you mean " + std::string(meant) + "?";
  constexpr std::size_t told = 20;
  for (std::size_t i = 0; i < std::min(names.size(), told); ++i)
    message += (i == 0 ? (meant.empty() ? "; there are: " : " There are: ") : ", ") + names[i];
  if (names.size() > told) message += ", ...";
  return message;
}

std::string explain_sniffer_switch(const std::string& device, bool on) {
  if (on) {
    return "the driver's switch \"sniffer\" is on: RoCE that the adapter handles by itself is shown on " +
           device + ", too, and costs it time; off again with: sudo ethtool --set-priv-flags " + device +
           " sniffer off";
  }
  return "the driver has a switch \"sniffer\", which is off: RoCE that the adapter handles by itself is not "
         "shown on " +
         device +
         "; capture on its RDMA device (rdma link names it), or set: sudo ethtool --set-priv-flags " +
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
