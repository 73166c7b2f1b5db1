// SPDX-License-Identifier: Apache-2.0
// Driver, private flags and statistics, read by ethtool ioctls (linux/ethtool.h).
#include <linux/ethtool.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>

#include "capture/host/netlink_messages.hpp"
#include "capture/host/readers.hpp"

namespace roce::capture {
namespace {

constexpr std::size_t most_statistics = 65'536;  // mlx5 with many queues has tens of thousands

template <class Pod>
std::vector<std::byte> buffer_with(const Pod& head, std::size_t more = 0) {
  std::vector<std::byte> data(sizeof head + more);
  std::memcpy(data.data(), &head, sizeof head);
  return data;
}

/// The head as filled by the driver. (Types with a flexible array member do not fit into a std::optional.)
template <class Pod>
Pod head_of(const std::vector<std::byte>& data) {
  Pod head{};
  std::memcpy(&head, data.data(), sizeof head);
  return head;
}

/// Buffer size in elements where the driver has just reported `count`: more, because queues may be added.
constexpr std::size_t room_for(std::size_t count) noexcept {
  return 2 * count + 1024;
}

/// How many strings a set has; 0: none or not reported.
std::size_t strings_in(KernelQueries& kernel, const std::string& name, std::uint32_t set) {
  ethtool_sset_info head{};
  head.cmd = ETHTOOL_GSSET_INFO;
  head.sset_mask = std::uint64_t{1} << set;
  std::vector<std::byte> data = buffer_with(head, sizeof(std::uint32_t));
  if (kernel.ethtool(name, data) != 0) return 0;
  const auto count = value_of<std::uint32_t>(behind(data, sizeof head));
  if ((head_of<ethtool_sset_info>(data).sset_mask >> set & 1U) == 0 || !count) return 0;
  return *count;
}

/// The names of a set, at most `count`. The kernel writes all that the driver has by then, even beyond the
/// given length: more than `count` if queues were added since.
std::vector<std::string> strings_of(KernelQueries& kernel, const std::string& name, std::uint32_t set,
                                    std::size_t count) {
  ethtool_gstrings head{};
  head.cmd = ETHTOOL_GSTRINGS;
  head.string_set = set;
  head.len = static_cast<std::uint32_t>(count);
  std::vector<std::byte> data = buffer_with(head, room_for(count) * ETH_GSTRING_LEN);
  std::vector<std::string> names;
  if (kernel.ethtool(name, data) != 0) return names;
  const Bytes texts = behind(data, sizeof head);
  const std::size_t filled = std::min<std::size_t>(head_of<ethtool_gstrings>(data).len, count);
  for (std::size_t i = 0; i < filled; ++i)
    names.push_back(text_of(texts.subspan(i * ETH_GSTRING_LEN, ETH_GSTRING_LEN)));
  return names;
}

/// Per-queue statistics, of which there may be thousands: "rx3_packets", "tx12_bytes", "ch0_events",
/// "[4]: rx_bytes", "rx_queue_0_drops".
bool of_a_queue(std::string_view name) {
  if (name.empty() || name.front() == '[') return true;
  if (name.find("queue_") != std::string_view::npos) return true;
  for (const std::string_view begin : {"rx", "tx", "ch", "txq", "rxq"}) {
    if (name.starts_with(begin) && name.size() > begin.size() &&
        std::isdigit(static_cast<unsigned char>(name[begin.size()])) != 0)
      return true;
  }
  return false;
}

void read_driver(KernelQueries& kernel, Netdev& netdev) {
  ethtool_drvinfo head{};
  head.cmd = ETHTOOL_GDRVINFO;
  std::vector<std::byte> data = buffer_with(head);
  if (kernel.ethtool(netdev.name, data) != 0) return;
  const Bytes told(data);
  const auto text = [&](std::size_t offset, std::size_t size) { return text_of(told.subspan(offset, size)); };
  if (netdev.driver.empty()) netdev.driver = text(offsetof(ethtool_drvinfo, driver), sizeof head.driver);
  netdev.driver_version = text(offsetof(ethtool_drvinfo, version), sizeof head.version);
  netdev.firmware = text(offsetof(ethtool_drvinfo, fw_version), sizeof head.fw_version);
  if (netdev.bus.empty()) netdev.bus = text(offsetof(ethtool_drvinfo, bus_info), sizeof head.bus_info);
}

void read_statistics(KernelQueries& kernel, HostTree& problems, Netdev& netdev) {
  const std::size_t count = strings_in(kernel, netdev.name, ETH_SS_STATS);
  if (count == 0) return;
  if (count > most_statistics) {
    problems.problem("ethtool " + netdev.name, "implausible number of statistics: " + std::to_string(count));
    return;
  }
  const std::vector<std::string> names = strings_of(kernel, netdev.name, ETH_SS_STATS, count);
  ethtool_stats head{};
  head.cmd = ETHTOOL_GSTATS;
  head.n_stats = static_cast<std::uint32_t>(count);
  std::vector<std::byte> data = buffer_with(head, room_for(count) * sizeof(std::uint64_t));
  if (const int error = kernel.ethtool(netdev.name, data); error != 0) {
    problems.problem("ethtool " + netdev.name, std::string("statistics: ") + std::strerror(error));
    return;
  }
  if (head_of<ethtool_stats>(data).n_stats != count || names.size() != count) {
    problems.problem("ethtool " + netdev.name, "statistics changed while they were read");
    return;
  }
  const Bytes values = behind(data, sizeof head);
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = value_of<std::uint64_t>(behind(values, i * sizeof(std::uint64_t)));
    if (value && !of_a_queue(names[i])) netdev.ethtool.push_back({names[i], *value});
  }
}

}  // namespace

std::vector<HostSetting> read_private_flags(KernelQueries& kernel, const std::string& interface) {
  constexpr std::size_t most = 32;  // flags are the bits of one word
  std::vector<HostSetting> flags;
  const std::size_t count = strings_in(kernel, interface, ETH_SS_PRIV_FLAGS);
  if (count == 0 || count > most) return flags;
  ethtool_value head{};
  head.cmd = ETHTOOL_GPFLAGS;
  std::vector<std::byte> data = buffer_with(head);
  if (kernel.ethtool(interface, data) != 0) return flags;
  const auto told = value_of<ethtool_value>(data);
  const std::vector<std::string> names = strings_of(kernel, interface, ETH_SS_PRIV_FLAGS, count);
  for (std::size_t i = 0; told && i < names.size(); ++i)
    flags.push_back({names[i], (told->data >> i & 1U) != 0 ? "on" : "off"});
  return flags;
}

void add_ethtool(KernelQueries& kernel, HostTree& problems, Netdev& netdev) {
  read_driver(kernel, netdev);
  netdev.private_flags = read_private_flags(kernel, netdev.name);
  read_statistics(kernel, problems, netdev);
}

}  // namespace roce::capture
