// SPDX-License-Identifier: Apache-2.0
// Links and addresses, read by rtnetlink.
#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "capture/host/netlink_messages.hpp"
#include "capture/host/readers.hpp"

namespace roce::capture {
namespace {

/// One link of netlink; indexes are replaced by names when all links are known.
struct Link {
  Netdev netdev;
  unsigned master = 0;
  unsigned below = 0;
};

/// RFC 2863 operational status, in the words of sysfs.
constexpr std::array<std::string_view, 7> oper_states{"unknown", "notpresent", "down", "lowerlayerdown",
                                                      "testing", "dormant",    "up"};

/// By number (if_link.h), with the kernel's names as in sysfs.
constexpr std::array<std::string_view, 7> bond_modes{
    "balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"};
constexpr std::array<std::string_view, 6> hash_policies{"layer2",   "layer3+4", "layer2+3",
                                                        "encap2+3", "encap3+4", "vlan+srcmac"};

template <std::size_t Size>
std::string named(const std::array<std::string_view, Size>& names, std::optional<std::uint8_t> value) {
  return value && *value < Size ? std::string(names[*value]) : std::string();
}

unsigned small(Bytes bytes) {
  return value_of<std::uint32_t>(bytes).value_or(0);
}

std::string mac_of(Bytes bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  if (bytes.size() != 6) return text;
  for (const std::byte byte : bytes) {
    const auto value = static_cast<unsigned>(byte);
    if (!text.empty()) text += ':';
    text += digits[value >> 4U];
    text += digits[value & 15U];
  }
  return text;
}

std::vector<PriorityPair> pairs_of(Bytes bytes) {
  std::vector<PriorityPair> pairs;
  for_each_attribute(bytes, [&](std::uint16_t type, Bytes payload) {
    const auto pair = value_of<ifla_vlan_qos_mapping>(payload);
    if (type == IFLA_VLAN_QOS_MAPPING && pair) pairs.emplace_back(pair->from, pair->to);
  });
  return pairs;
}

void read_vlan_data(Bytes data, VlanFacts& vlan) {
  for_each_attribute(data, [&](std::uint16_t type, Bytes payload) {
    if (type == IFLA_VLAN_ID) vlan.id = value_of<std::uint16_t>(payload).value_or(0);
    if (type == IFLA_VLAN_EGRESS_QOS) vlan.egress = pairs_of(payload);
    if (type == IFLA_VLAN_INGRESS_QOS) vlan.ingress = pairs_of(payload);
  });
}

void read_bond_data(Bytes data, BondFacts& bond) {
  for_each_attribute(data, [&](std::uint16_t type, Bytes payload) {
    if (type == IFLA_BOND_MODE) bond.mode = named(bond_modes, value_of<std::uint8_t>(payload));
    if (type == IFLA_BOND_XMIT_HASH_POLICY)
      bond.hash_policy = named(hash_policies, value_of<std::uint8_t>(payload));
  });
}

void read_kind(Bytes info, Netdev& netdev) {
  Bytes data;
  for_each_attribute(info, [&](std::uint16_t type, Bytes payload) {
    if (type == IFLA_INFO_KIND) netdev.kind = text_of(payload);
    if (type == IFLA_INFO_DATA) data = payload;
  });
  if (netdev.kind == "vlan") read_vlan_data(data, netdev.vlan.emplace());
  if (netdev.kind == "bond") read_bond_data(data, netdev.bond.emplace());
}

std::optional<Link> link_of(Bytes message) {
  const auto head = value_of<ifinfomsg>(message);
  if (!head || head->ifi_index <= 0) return std::nullopt;
  Link link;
  link.netdev.index = static_cast<unsigned>(head->ifi_index);
  for_each_attribute(behind(message, NLMSG_ALIGN(sizeof *head)), [&](std::uint16_t type, Bytes payload) {
    Netdev& netdev = link.netdev;
    if (type == IFLA_IFNAME) netdev.name = text_of(payload);
    if (type == IFLA_MTU) netdev.mtu = small(payload);
    if (type == IFLA_ADDRESS) netdev.mac = mac_of(payload);
    if (type == IFLA_OPERSTATE) netdev.oper_state = named(oper_states, value_of<std::uint8_t>(payload));
    if (type == IFLA_MASTER) link.master = small(payload);
    if (type == IFLA_LINK) link.below = small(payload);
    if (type == IFLA_LINKINFO) read_kind(payload, netdev);
  });
  if (!is_plain_name(link.netdev.name)) return std::nullopt;
  return link;
}

template <class T>
void fill(T& own, const T& other) {
  if (own == T{}) own = other;
}

/// Copies values that `own` lacks from `other`.
void merge(Netdev& own, const Netdev& other) {
  fill(own.index, other.index);
  fill(own.kind, other.kind);
  fill(own.mac, other.mac);
  fill(own.oper_state, other.oper_state);
  fill(own.master, other.master);
  fill(own.mtu, other.mtu);
  if (other.vlan) {
    if (!own.vlan) own.vlan.emplace();
    fill(own.vlan->id, other.vlan->id);
    fill(own.vlan->parent, other.vlan->parent);
    fill(own.vlan->egress, other.vlan->egress);
    fill(own.vlan->ingress, other.vlan->ingress);
  }
  if (other.bond) {
    if (!own.bond) own.bond.emplace();
    fill(own.bond->mode, other.bond->mode);
    fill(own.bond->hash_policy, other.bond->hash_policy);
    fill(own.bond->slaves, other.bond->slaves);
  }
}

/// Replaces indexes by names: masters, parents of VLANs, members of bonds.
void name_all(std::vector<Link>& links) {
  const auto name = [&links](unsigned index) {
    for (const Link& link : links) {
      if (index != 0 && link.netdev.index == index) return link.netdev.name;
    }
    return std::string();
  };
  for (Link& link : links) {
    link.netdev.master = name(link.master);
    if (link.netdev.vlan) link.netdev.vlan->parent = name(link.below);
    if (!link.netdev.bond) continue;
    for (const Link& other : links) {
      if (other.master == link.netdev.index) link.netdev.bond->slaves.push_back(other.netdev.name);
    }
  }
}

void add_address(Bytes message, std::vector<Netdev>& netdevs) {
  const auto head = value_of<ifaddrmsg>(message);
  if (!head || (head->ifa_family != AF_INET && head->ifa_family != AF_INET6)) return;
  const std::size_t size = head->ifa_family == AF_INET ? 4 : 16;
  Bytes own, peer;
  for_each_attribute(behind(message, NLMSG_ALIGN(sizeof *head)), [&](std::uint16_t type, Bytes payload) {
    if (type == IFA_LOCAL && payload.size() == size) own = payload;
    if (type == IFA_ADDRESS && payload.size() == size) peer = payload;
  });
  if (own.empty()) own = peer;  // the same except on point-to-point links
  if (own.empty()) return;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (::inet_ntop(head->ifa_family, own.data(), text.data(), text.size()) == nullptr) return;
  for (Netdev& netdev : netdevs) {
    if (netdev.index == head->ifa_index) netdev.addresses.push_back({text.data(), head->ifa_prefixlen});
  }
}

/// Calls for all messages of a dump; an error becomes a problem.
void dump(KernelQueries& kernel, HostTree& problems, NetlinkRequest request, std::uint16_t wanted,
          const std::function<void(Bytes)>& each) {
  const auto answer = kernel.netlink(NETLINK_ROUTE, request.bytes());
  if (!answer) {
    problems.problem("netlink",
                     std::string(wanted == RTM_NEWLINK ? "links: " : "addresses: ") + answer.error().message);
    return;
  }
  for_each_message(*answer, [&](std::uint16_t type, Bytes payload) {
    if (type == wanted) each(payload);
  });
}

}  // namespace

void add_links(KernelQueries& kernel, HostTree& problems, std::vector<Netdev>& netdevs) {
  std::vector<Link> links;
  NetlinkRequest ask_links(RTM_GETLINK, NLM_F_DUMP);
  ask_links.header(ifinfomsg{});
  dump(kernel, problems, std::move(ask_links), RTM_NEWLINK, [&](Bytes message) {
    if (links.size() < HostTree::most_entries) {
      if (auto link = link_of(message)) links.push_back(std::move(*link));
    }
  });
  name_all(links);
  for (Link& link : links) {
    const auto own = std::find_if(netdevs.begin(), netdevs.end(),
                                  [&](const Netdev& each) { return each.name == link.netdev.name; });
    if (own == netdevs.end()) {
      netdevs.push_back(std::move(link.netdev));
    } else {
      merge(*own, link.netdev);
    }
  }
  std::stable_sort(netdevs.begin(), netdevs.end(),
                   [](const Netdev& a, const Netdev& b) { return a.index < b.index; });
  NetlinkRequest ask_addresses(RTM_GETADDR, NLM_F_DUMP);
  ask_addresses.header(ifaddrmsg{});
  dump(kernel, problems, std::move(ask_addresses), RTM_NEWADDR,
       [&](Bytes message) { add_address(message, netdevs); });
}

}  // namespace roce::capture
