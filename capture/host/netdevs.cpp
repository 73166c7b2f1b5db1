// SPDX-License-Identifier: Apache-2.0 Network interfaces, read from sysfs
// (Documentation/ABI/testing/sysfs-class-net) and the VLAN driver's procfs.
#include <algorithm>

#include "capture/host/readers.hpp"

namespace roce::capture {
namespace {

using Absent = HostTree::Absent;

/// "INGRESS priority mappings: 0:0  1:0" -> pairs.
std::vector<PriorityPair> pairs_behind(std::string_view text) {
  std::vector<PriorityPair> pairs;
  for (const std::string& word : words_of(text)) {
    const std::size_t colon = word.find(':');
    if (colon == std::string::npos) continue;
    const auto from = whole_number(std::string_view(word).substr(0, colon));
    const auto to = whole_number(std::string_view(word).substr(colon + 1));
    if (from && to && *from <= 0xffffffff && *to <= 7)
      pairs.emplace_back(static_cast<unsigned>(*from), static_cast<unsigned>(*to));
  }
  return pairs;
}

/// proc/net/vlan/IF: the only source of the egress map besides netlink.
std::optional<VlanFacts> read_vlan(HostTree& tree, const std::string& name) {
  const std::optional<std::string> text = tree.text("proc/net/vlan/" + name);
  if (!text) return std::nullopt;
  constexpr std::string_view vid = "VID:", parent = "Device:", ingress = "INGRESS priority mappings:",
                             egress = "EGRESS priority mappings:";
  VlanFacts vlan;
  bool any = false;
  for (const std::string_view line : lines_of(*text)) {
    if (const std::size_t at = line.find(vid); at != std::string_view::npos && !any) {
      const std::vector<std::string> words = words_of(line.substr(at + vid.size()));
      const auto id = words.empty() ? std::nullopt : whole_number(words.front());
      if (!id || *id > 4095) break;
      vlan.id = static_cast<unsigned>(*id);
      any = true;
    } else if (line.starts_with(parent)) {
      vlan.parent = trimmed(line.substr(parent.size()));
    } else if (line.starts_with(ingress)) {
      vlan.ingress = pairs_behind(line.substr(ingress.size()));
      // The driver lists all eight; entries that are 0 were never set.
      std::erase_if(vlan.ingress, [](const PriorityPair& pair) { return pair.second == 0; });
    } else if (line.starts_with(egress)) {
      vlan.egress = pairs_behind(line.substr(egress.size()));
    }
  }
  if (!any) {
    tree.problem("proc/net/vlan/" + name, "has no VLAN ID");
    return std::nullopt;
  }
  return vlan;
}

/// "802.3ad 4" -> "802.3ad".
std::string first_word(const std::optional<std::string>& text) {
  const std::vector<std::string> words = text ? words_of(*text) : std::vector<std::string>();
  return words.empty() ? std::string() : words.front();
}

std::optional<BondFacts> read_bond(HostTree& tree, const std::string& folder) {
  if (!tree.exists(folder)) return std::nullopt;
  BondFacts bond;
  bond.mode = first_word(tree.text(folder + "/mode", Absent::strange));
  bond.hash_policy = first_word(tree.text(folder + "/xmit_hash_policy"));
  bond.active_slave = tree.text(folder + "/active_slave").value_or("");
  bond.slaves = words_of(tree.text(folder + "/slaves", Absent::strange).value_or(""));
  return bond;
}

/// sysfs "speed" is in Mbit/s; -1 or an error without a link.
std::optional<std::uint64_t> read_speed(HostTree& tree, const std::string& path) {
  const std::size_t before = tree.problems().size();
  const std::optional<std::string> text = tree.text(path);
  if (!text) {
    // Interfaces without a speed return EINVAL: no problem.
    if (tree.problems().size() > before) tree.problems().resize(before);
    return std::nullopt;
  }
  const std::optional<std::uint64_t> megabits = whole_number(*text);
  constexpr std::uint64_t unknown = 0xffffffff, most = 100'000'000;
  if (!megabits || *megabits == 0 || *megabits == unknown || *megabits > most) return std::nullopt;
  return *megabits * 1'000'000;
}

void add_counters_and_settings(HostTree& tree, Netdev& netdev) {
  const std::string folder = "sys/class/net/" + netdev.name;
  netdev.counters = read_counters(tree, folder + "/statistics");
  for (const char* part : {"ecn/roce_np", "ecn/roce_np/enable", "ecn/roce_rp", "ecn/roce_rp/enable", "qos"}) {
    std::string prefix(part);
    std::replace(prefix.begin(), prefix.end(), '/', '.');
    read_settings(tree, folder + "/" + part, prefix + ".", netdev.settings);
  }
}

}  // namespace

Netdev read_netdev(HostTree& tree, const std::string& name) {
  const std::string folder = "sys/class/net/" + name;
  Netdev netdev;
  netdev.name = name;
  const auto small = [&](const char* file, Absent absent) -> std::optional<unsigned> {
    const auto value = tree.number(folder + "/" + file, absent);
    if (!value || *value > 0xffffffff) return std::nullopt;
    return static_cast<unsigned>(*value);
  };
  netdev.index = small("ifindex", Absent::strange).value_or(0);
  netdev.mtu = small("mtu", Absent::strange);
  netdev.port = small("dev_port", Absent::fine);
  netdev.mac = tree.text(folder + "/address").value_or("");
  netdev.oper_state = tree.text(folder + "/operstate", Absent::strange).value_or("");
  netdev.speed_bps = read_speed(tree, folder + "/speed");
  netdev.driver = tree.link(folder + "/device/driver").value_or("");
  if (!netdev.driver.empty()) netdev.bus = tree.link(folder + "/device").value_or("");
  netdev.master = tree.link(folder + "/master").value_or("");
  netdev.bond = read_bond(tree, folder + "/bonding");
  netdev.vlan = read_vlan(tree, name);
  if (netdev.bond) netdev.kind = "bond";
  if (netdev.vlan) netdev.kind = "vlan";
  if (netdev.kind.empty() && tree.exists(folder + "/bridge")) netdev.kind = "bridge";
  return netdev;
}

std::vector<Netdev> read_netdevs(HostTree& tree) {
  std::vector<Netdev> netdevs;
  for (const std::string& name : tree.names("sys/class/net", Absent::strange)) {
    // "bonding_masters" is a file among the interfaces.
    if (tree.is_file("sys/class/net/" + name)) continue;
    if (!is_plain_name(name)) {
      tree.problem("sys/class/net/" + name, "is not a valid interface name");
      continue;
    }
    netdevs.push_back(read_netdev(tree, name));
    add_counters_and_settings(tree, netdevs.back());
  }
  std::stable_sort(netdevs.begin(), netdevs.end(),
                   [](const Netdev& a, const Netdev& b) { return a.index < b.index; });
  return netdevs;
}

}  // namespace roce::capture
