// SPDX-License-Identifier: Apache-2.0
#include "capture/sniffer/sniffed_port.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "capture/host/readers.hpp"

namespace roce::capture {
namespace {

std::optional<std::uint8_t> byte_of(std::string_view text, int base) {
  std::uint8_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<MacAddress> mac_address(std::string_view text) {
  MacAddress address{};
  if (text.size() != address.size() * 3 - 1) return std::nullopt;
  for (std::size_t i = 0; i < address.size(); ++i) {
    const auto byte = byte_of(text.substr(i * 3, 2), 16);
    if (!byte || (i != 0 && text[i * 3 - 1] != ':')) return std::nullopt;
    address[i] = *byte;
  }
  return address;
}

void add_netdev(HostTree& tree, SniffedPort& port, const std::string& name) {
  const auto is_it = [&](const RdmaNetdev& known) { return known.name == name; };
  if (!is_plain_name(name) || std::any_of(port.netdevs.begin(), port.netdevs.end(), is_it)) return;
  const Netdev netdev = read_netdev(tree, name);
  port.netdevs.push_back({name, mac_address(netdev.mac), netdev.mtu.value_or(0)});
}

struct Counter {
  std::string_view name;
  bool of_port;  ///< or of the device
};
/// mlx5 and others; bnxt_re; mlx4, which has counters of the whole device only.
constexpr Counter counters[] = {
    {"out_of_buffer", true}, {"rx_out_of_buffer", true}, {"rq_num_udsdprd", false}, {"num_cqovf", false}};

}  // namespace

std::optional<RdmaName> parse_rdma_name(std::string_view text) {
  RdmaName name;
  const auto colon = text.rfind(':');
  if (colon != std::string_view::npos) {
    const auto port = byte_of(text.substr(colon + 1), 10);
    if (!port || *port == 0) return std::nullopt;
    name.port = *port;
    text = text.substr(0, colon);
  }
  if (!is_plain_name(text) || text.find(':') != std::string_view::npos) return std::nullopt;
  name.device = std::string(text);
  return name;
}

bool has_rdma_device(const std::string& root, const RdmaName& name) {
  return HostTree(root).exists(rdma_folder(name.device));
}

std::uint32_t SniffedPort::largest_mtu() const noexcept {
  std::uint32_t largest = 0;
  for (const RdmaNetdev& netdev : netdevs) largest = std::max(largest, netdev.mtu);
  return largest;
}

SniffedPort read_sniffed_port(const std::string& root, const RdmaName& name) {
  SniffedPort sniffed;
  HostTree tree(root);
  const std::optional<RdmaDevice> device = read_rdma_device(tree, name.device);
  sniffed.exists = device.has_value();
  if (!device) return sniffed;
  sniffed.driver = device->driver;
  sniffed.iwarp = is_iwarp(*device);
  sniffed.software = is_software(*device);
  if (sniffed.software && is_plain_name(device->parent)) sniffed.software_on = device->parent;
  for (const RdmaPort& port : device->ports) {
    if (port.number != name.port) continue;
    sniffed.speed_bps = port.rate_bps;
    for (const GidEntry& gid : port.gids) add_netdev(tree, sniffed, gid.netdev);
    add_netdev(tree, sniffed, port.netdev);
  }
  if (sniffed.software && sniffed.software_on.empty() && !sniffed.netdevs.empty())
    sniffed.software_on = sniffed.netdevs.front().name;
  return sniffed;
}

RoomCounters::RoomCounters(std::string root, const RdmaName& name) : root_(std::move(root)) {
  HostTree tree(root_);
  for (const Counter& counter : counters) {
    const std::string folder =
        counter.of_port ? port_folder(name.device, name.port) : rdma_folder(name.device);
    std::string path = folder + "/hw_counters/" + std::string(counter.name);
    const auto value = tree.number(path);
    if (!value) continue;
    names_.emplace_back(counter.name);
    paths_.push_back(std::move(path));
    last_.push_back(*value);
  }
}

std::uint64_t RoomCounters::read() {
  HostTree tree(root_);
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    const auto value = tree.number(paths_[i]);
    if (!value) continue;  // the device is being removed
    sum_ += *value >= last_[i] ? *value - last_[i] : *value;
    last_[i] = *value;
  }
  return sum_;
}

}  // namespace roce::capture
