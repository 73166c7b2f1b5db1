// SPDX-License-Identifier: Apache-2.0
#include "analyze/host/host_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyze/host/difference.hpp"

namespace roce::analyze {
namespace {

using namespace capture;

constexpr unsigned largest_mtu = 4096;
constexpr std::string_view roce_v2 = "RoCE v2";

void check_port_state(const RdmaDevice& device, const RdmaPort& port, std::vector<HostFinding>& findings) {
  if (port.state.empty() || port.state == "ACTIVE") return;
  findings.push_back(
      {"host_port_down",
       Severity::info,
       place_of(device, port),
       fmt::format("The port is {}{}.", port.state,
                   port.phys_state.empty() ? "" : ", physically " + port.phys_state),
       port.netdev.empty()
           ? "Cable, optic, switch port."
           : fmt::format("ip link set {0} up; ethtool {0}; cable, optic, switch port.", port.netdev),
       {fmt::format("sys/class/infiniband/{}/ports/{}/state", device.name, port.number)}});
}

void check_mtu(const HostFacts& host, const RdmaDevice& device, const RdmaPort& port,
               std::vector<HostFinding>& findings) {
  const std::optional<unsigned> mtu = active_mtu(host, device, port);
  if (!mtu || *mtu >= largest_mtu || port.state != "ACTIVE") return;
  const unsigned interface = host.netdev(port.netdev)->mtu.value_or(0);
  findings.push_back(
      {"host_mtu_small",
       *mtu == 0 ? Severity::error : Severity::notice,
       place_of(device, port),
       *mtu == 0
           ? fmt::format("The interface MTU of {} is {}: too small for RoCE packets.", port.netdev, interface)
           : fmt::format("The interface MTU of {} is {}, so the IB MTU is {} bytes instead of {}: more "
                         "packets for the same data.",
                         port.netdev, interface, *mtu, largest_mtu),
       fmt::format("Use an interface MTU of {} or more here, at the peers and on every switch between (9000 "
                   "is common): ip link set {} mtu 9000. Existing connections keep their path MTU.",
                   interface_mtu_for(largest_mtu), port.netdev),
       {fmt::format("sys/class/net/{}/mtu {}", port.netdev, interface)}});
}

void check_gids(const RdmaDevice& device, const RdmaPort& port, std::vector<HostFinding>& findings) {
  if (port.state != "ACTIVE" || is_iwarp(device)) return;
  const bool told =
      std::any_of(port.gids.begin(), port.gids.end(), [](const GidEntry& g) { return !g.type.empty(); });
  const bool any_v2 =
      std::any_of(port.gids.begin(), port.gids.end(), [](const GidEntry& g) { return g.type == roce_v2; });
  const bool routable = std::any_of(port.gids.begin(), port.gids.end(),
                                    [](const GidEntry& g) { return !is_link_local(g.gid); });
  const std::string file = fmt::format("sys/class/infiniband/{}/ports/{}/gids", device.name, port.number);
  if (!routable) {
    findings.push_back(
        {"host_no_address",
         Severity::warning,
         place_of(device, port),
         port.gids.empty() ? "The port has no GID: connections are not possible."
                           : "The port has link-local GIDs only, because its interface has no IP address: "
                             "connections are only possible on the same link.",
         port.netdev.empty()
             ? "Give its interface an IP address."
             : fmt::format("ip address add A.B.C.D/N dev {0}; ip link set {0} up.", port.netdev),
         {file}});
  } else if (told && !any_v2) {
    findings.push_back({"host_no_roce_v2",
                        Severity::warning,
                        place_of(device, port),
                        "All GIDs are of RoCE v1, which is not routable and has no ECN.",
                        "Enable RoCE v2: firmware and driver settings (mlxconfig, cma_roce_mode).",
                        {file}});
  }
}

void check_mode(const RdmaDevice& device, const RdmaPort& port, std::vector<HostFinding>& findings) {
  if (port.default_roce_mode.empty() || port.default_roce_mode == roce_v2) return;
  findings.push_back(
      {"host_default_roce_v1",
       Severity::warning,
       place_of(device, port),
       fmt::format("Connections of rdma_cm use {} here, whatever the fabric expects.",
                   port.default_roce_mode),
       fmt::format("echo 'RoCE v2' > /sys/kernel/config/rdma_cm/{}/ports/{}/default_roce_mode (or "
                   "cma_roce_mode -d {} -p {} -m 2).",
                   device.name, port.number, device.name, port.number),
       {fmt::format("default_roce_mode {}", port.default_roce_mode)}});
}

/// VLANs and bonds may be on interfaces with smaller MTUs: larger packets are dropped there.
void check_stacks(const HostFacts& host, std::vector<HostFinding>& findings) {
  for (const Netdev& netdev : host.netdevs) {
    if (!netdev.vlan && !netdev.bond) continue;
    for (const Netdev* lower : lowest_of(host, netdev.name)) {
      if (lower == &netdev || !lower->mtu || !netdev.mtu || *lower->mtu >= *netdev.mtu) continue;
      findings.push_back(
          {"host_mtu_stack",
           Severity::warning,
           netdev.name,
           fmt::format("Its MTU is {}, that of {} below is {}: larger packets are dropped there.",
                       *netdev.mtu, lower->name, *lower->mtu),
           fmt::format("ip link set {} mtu {}", lower->name, *netdev.mtu),
           {fmt::format("{} mtu {}, {} mtu {}", netdev.name, *netdev.mtu, lower->name, *lower->mtu)}});
    }
  }
}

}  // namespace

std::vector<const Netdev*> lowest_of(const HostFacts& host, std::string_view name) {
  std::vector<const Netdev*> lowest;
  std::set<const Netdev*> seen;  // protects against cycles
  std::vector<const Netdev*> open;
  if (const Netdev* first = host.netdev(name)) open.push_back(first);
  while (!open.empty()) {
    const Netdev* netdev = open.back();
    open.pop_back();
    if (!seen.insert(netdev).second) continue;
    const std::size_t before = open.size();
    const auto below = [&](const std::string& lower) {
      if (const Netdev* found = host.netdev(lower)) open.push_back(found);
    };
    if (netdev->vlan) below(netdev->vlan->parent);
    if (netdev->bond) {
      for (const std::string& slave : netdev->bond->slaves) below(slave);
    }
    if (open.size() == before) lowest.push_back(netdev);
  }
  return lowest;
}

std::optional<Trust> trust_of(const DcbFacts& dcb) noexcept {
  if (!dcb.known) return std::nullopt;
  if (!dcb.trust.empty()) return dcb.trust.front() == dcb_selector_dscp ? Trust::dscp : Trust::pcp;
  // Drivers without a trust table trust DSCP if the application table has a DSCP entry.
  const bool any = std::any_of(dcb.apps.begin(), dcb.apps.end(),
                               [](const DcbApp& app) { return app.selector == dcb_selector_dscp; });
  return any ? Trust::dscp : Trust::pcp;
}

std::vector<HostFinding> check_host(const HostFacts& host) {
  std::vector<HostFinding> findings;
  for (const RdmaDevice& device : host.devices) {
    for (const RdmaPort& port : device.ports) {
      check_port_state(device, port, findings);
      if (port.link_layer != "Ethernet") continue;
      check_gids(device, port, findings);
      check_mtu(host, device, port, findings);
      check_mode(device, port, findings);
    }
  }
  check_stacks(host, findings);
  sort_findings(findings);
  return findings;
}

}  // namespace roce::analyze
