// SPDX-License-Identifier: Apache-2.0
#include "analyze/host/capturable.hpp"

#include <algorithm>
#include <string_view>

namespace roce::analyze {
namespace {

enum class Way { sniffer, netdev };
struct DriverWay {
  std::string_view driver;
  Way way;
};
/// Drivers that implement IBV_FLOW_ATTR_SNIFFER, and those whose packets pass the kernel's network stack.
/// With all others RDMA packets cannot be captured on the host.
constexpr DriverWay ways[] = {{"mlx5", Way::sniffer},
                              {"mlx4", Way::sniffer},
                              {"bnxt_re", Way::sniffer},
                              {"rxe", Way::netdev},
                              {"siw", Way::netdev}};

}  // namespace

Capturable capturable_port(const capture::HostFacts& host, const capture::RdmaDevice& device,
                           const capture::RdmaPort& port) {
  const auto* const way = std::find_if(std::begin(ways), std::end(ways),
                                       [&](const DriverWay& row) { return row.driver == device.driver; });
  if (way == std::end(ways)) {
    return {false, "",
            "driver " + (device.driver.empty() ? "not recognised" : device.driver) +
                " has no sniffer: mirror the port on the switch (SPAN, ERSPAN) and capture there"};
  }
  const std::string rights = host.root_user ? "" : "; you are not root";
  if (way->way == Way::netdev) {
    if (port.netdev.empty())
      return {false, "", "software device: its packets are on the interface below, which is not known"};
    return {true, port.netdev,
            "software device: its packets are on " + port.netdev + "; needs CAP_NET_RAW" + rights};
  }
  std::string how =
      "sniffer; needs CAP_NET_RAW and " +
      (device.uverbs.empty() ? std::string("/dev/infiniband/uverbs* (missing: modprobe ib_uverbs)")
                             : "/dev/infiniband/" + device.uverbs) +
      rights;
  if (port.state != "ACTIVE" && !port.state.empty()) how += "; the port is " + port.state;
  const capture::Netdev* netdev = host.netdev(port.netdev);
  if (netdev != nullptr && sniffer_switch(netdev->private_flags).value_or(false)) {
    how += "; the private flag is on, so " + port.netdev + " shows RoCE too (off: ethtool --set-priv-flags " +
           port.netdev + " sniffer off)";
  }
  return {!device.uverbs.empty(),
          device.uverbs.empty() ? "" : device.name + ":" + std::to_string(port.number), std::move(how)};
}

}  // namespace roce::analyze
