// SPDX-License-Identifier: Apache-2.0
// Checks a host's settings against a policy: how its NIC would treat packets with the intended markings.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyze/host/difference.hpp"
#include "analyze/host/host_checks.hpp"

namespace roce::analyze {
namespace {

using namespace capture;

/// One physical interface of a RoCE port.
struct Subject {
  const Netdev& netdev;
  const PolicyModel& policy;
  std::vector<HostFinding>& findings;

  void add(std::string_view id, Severity severity, std::string explanation, std::string advice,
           std::string evidence) const {
    findings.push_back(
        {id, severity, netdev.name, std::move(explanation), std::move(advice), {std::move(evidence)}});
  }
};

std::string priority_list_text(unsigned bits) {
  std::string text;
  for (unsigned i = 0; i < 8; ++i)
    if ((bits >> i & 1U) != 0) text += (text.empty() ? "" : ", ") + std::to_string(i);
  return text.empty() ? "none" : text;
}
std::string pfc_argument(unsigned bits) {
  std::string text;
  for (unsigned i = 0; i < 8; ++i) text += fmt::format("{}{}", i == 0 ? "" : ",", bits >> i & 1U);
  return text;
}

unsigned priority_bits(const PrioritySet& set) {
  unsigned bits = 0;
  for (unsigned i = 0; i < 8; ++i)
    if (set.contains(i)) bits |= 1U << i;
  return bits;
}

constexpr std::string_view trust_name(Trust trust) {
  return trust == Trust::dscp ? "dscp" : "pcp";
}

void check_trust(const Subject& s) {
  const std::optional<Trust> trust = trust_of(s.netdev.dcb);
  if (!trust || *trust == s.policy.trust) return;
  s.add("host_trust", Severity::error,
        fmt::format("The NIC takes the priority from the {}, the policy from the {}: packets are queued and "
                    "paused with another priority than the policy intends.",
                    *trust == Trust::dscp ? "DSCP" : "PCP", s.policy.trust == Trust::dscp ? "DSCP" : "PCP"),
        fmt::format(
            "mlnx_qos -i {0} --trust {1}; without it: dcb apptrust set dev {0} order {1}, or rows of the "
            "application table: dcb app show dev {0}.",
            s.netdev.name, trust_name(s.policy.trust)),
        fmt::format("trust {}", trust_name(*trust)));
}

void check_pfc(const Subject& s) {
  if (!s.policy.lossless || !s.netdev.dcb.pfc) return;
  const unsigned wanted = priority_bits(*s.policy.lossless), set = s.netdev.dcb.pfc->enabled;
  const std::string evidence = fmt::format("PFC enabled: {}", priority_list_text(set));
  const std::string advice = fmt::format(
      "mlnx_qos -i {} --pfc {}, or dcb pfc set dev {} prio-pfc all:off{}; the same on the switch.",
      s.netdev.name, pfc_argument(wanted), s.netdev.name, [&] {
        std::string text;
        for (unsigned i = 0; i < 8; ++i)
          if ((wanted >> i & 1U) != 0) text += fmt::format(" {}:on", i);
        return text;
      }());
  if ((wanted & ~set) != 0) {
    s.add("host_pfc_missing", Severity::error,
          fmt::format(
              "PFC is off for priority {}, which is lossless in the policy: its packets are dropped under "
              "congestion.",
              priority_list_text(wanted & ~set)),
          advice, evidence);
  }
  if ((set & ~wanted) != 0) {
    s.add("host_pfc_more", Severity::warning,
          fmt::format("PFC is on for priority {}, which is not lossless in the policy: it takes buffer, and "
                      "peers can pause it.",
                      priority_list_text(set & ~wanted)),
          advice, evidence);
  }
}

/// The NIC's priority of a DSCP: the table entry with the highest priority, else DSCP >> 3.
unsigned priority_of_dscp_here(const DcbFacts& dcb, unsigned dscp) {
  std::optional<unsigned> priority;
  for (const DcbApp& app : dcb.apps) {
    if (app.selector == dcb_selector_dscp && app.protocol == dscp)
      priority = std::max(priority.value_or(0), app.priority);
  }
  return priority.value_or(dscp >> 3U);
}

void check_dscp_map(const Subject& s) {
  if (s.policy.trust != Trust::dscp || trust_of(s.netdev.dcb) != Trust::dscp) return;
  std::string wrong, command;
  for (unsigned dscp = 0; dscp < 64; ++dscp) {
    const bool used = std::any_of(s.policy.classes.begin(), s.policy.classes.end(), [&](const auto& marks) {
      return marks && marks->dscp && marks->dscp->contains(dscp);
    });
    const unsigned here = priority_of_dscp_here(s.netdev.dcb, dscp);
    const unsigned meant = priority_of_dscp(s.policy, static_cast<std::uint8_t>(dscp));
    if (!used || here == meant) continue;
    wrong += fmt::format("{}DSCP {} has priority {}, not {}", wrong.empty() ? "" : ", ", dscp, here, meant);
    command += fmt::format(" {}:{}", dscp, meant);
  }
  if (wrong.empty()) return;
  s.add("host_dscp_priority", Severity::error,
        fmt::format("The NIC maps DSCPs of the policy to other priorities: {}.", wrong),
        fmt::format("dcb app replace dev {} dscp-prio{}", s.netdev.name, command),
        "application table of DCB");
}

/// The default DSCP of applications, or the one that the driver forces.
void check_tos(const RdmaDevice& device, const RdmaPort& port, const PolicyModel& policy,
               std::vector<HostFinding>& findings) {
  const auto& data = policy.classes[static_cast<std::size_t>(TrafficClass::data)];
  if (!data || !data->dscp) return;
  const auto judge = [&](std::string_view what, std::optional<unsigned> tos, std::string advice) {
    if (!tos || data->dscp->contains(*tos >> 2U)) return;
    findings.push_back(
        {"host_tos",
         Severity::error,
         place_of(device, port),
         fmt::format("{} is {}: DSCP {}, which the policy does not allow for data.", what, *tos, *tos >> 2U),
         std::move(advice),
         {fmt::format("{} {}", what, *tos)}});
  };
  const unsigned wanted = [&] {
    for (unsigned dscp = 0; dscp < 64; ++dscp)
      if (data->dscp->contains(dscp)) return dscp * 4;
    return 0U;
  }();
  judge("default_roce_tos", port.default_roce_tos,
        fmt::format("cma_roce_tos -d {0} -p {1} -t {2}, or echo {2} > "
                    "/sys/kernel/config/rdma_cm/{0}/ports/{1}/default_roce_tos.",
                    device.name, port.number, wanted));
  judge("traffic_class", port.traffic_class,
        fmt::format("echo {} > /sys/class/infiniband/{}/tc/{}/traffic_class", wanted, device.name,
                    port.number));
  if (!port.default_roce_tos && !port.traffic_class && !data->dscp->contains(0)) {
    findings.push_back(
        {"host_tos_not_set",
         Severity::notice,
         place_of(device, port),
         fmt::format("Data has DSCP {} only if each application sets it: neither default_roce_tos nor "
                     "traffic_class is set.",
                     wanted / 4),
         fmt::format("cma_roce_tos -d {} -p {} -t {} for rdma_cm; NCCL_IB_TC={} or similar for others.",
                     device.name, port.number, wanted, wanted),
         {"default_roce_tos, traffic_class"}});
  }
}

/// Checks that the egress map of the port's VLAN interfaces has a PCP that the policy allows for data.
void check_egress(const HostFacts& host, const RdmaPort& port, const PolicyModel& policy,
                  std::vector<HostFinding>& findings) {
  const auto& data = policy.classes[static_cast<std::size_t>(TrafficClass::data)];
  if (!data || !data->pcp) return;
  std::set<std::string_view> seen;
  for (const GidEntry& gid : port.gids) {
    const Netdev* netdev = host.netdev(gid.netdev);
    if (netdev == nullptr || !netdev->vlan || !seen.insert(netdev->name).second) continue;
    const bool any = std::any_of(netdev->vlan->egress.begin(), netdev->vlan->egress.end(),
                                 [&](const PriorityPair& pair) { return data->pcp->contains(pair.second); });
    if (any || data->pcp->contains(0)) continue;
    findings.push_back(
        {"host_vlan_egress",
         Severity::warning,
         netdev->name,
         "No entry of its egress map has a PCP that the policy allows for data: packets are sent with "
         "PCP 0 or another one.",
         fmt::format("ip link set {} type vlan egress-qos-map PRIORITY:PCP", netdev->name),
         {fmt::format("VLAN {} egress map", netdev->vlan->id)}});
  }
}

}  // namespace

std::vector<HostFinding> check_host_policy(const HostFacts& host, const PolicyModel& policy) {
  std::vector<HostFinding> findings;
  std::set<const Netdev*> judged;
  for (const RdmaDevice& device : host.devices) {
    for (const RdmaPort& port : device.ports) {
      if (port.link_layer != "Ethernet" || is_iwarp(device)) continue;
      check_tos(device, port, policy, findings);
      check_egress(host, port, policy, findings);
      for (const Netdev* netdev : lowest_of(host, port.netdev)) {
        if (!judged.insert(netdev).second) continue;
        const Subject subject{*netdev, policy, findings};
        if (!netdev->dcb.known) {
          subject.add(
              "host_dcb_unknown", Severity::notice,
              fmt::format("Trust and PFC cannot be checked: {}.",
                          netdev->dcb.reason.empty() ? "the snapshot has no DCB data" : netdev->dcb.reason),
              device.driver == "rxe" ? "Soft-RoCE has no queues of its own: check the switch."
                                     : "dcb pfc show dev " + netdev->name + "; mlnx_qos -i " + netdev->name,
              "netlink DCB");
          continue;
        }
        check_trust(subject);
        check_pfc(subject);
        check_dscp_map(subject);
      }
    }
  }
  sort_findings(findings);
  return findings;
}

}  // namespace roce::analyze
