// SPDX-License-Identifier: Apache-2.0
#include "capture/rdma_port.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace roce::capture {
namespace {

constexpr std::string_view white_space = " \t\r\n";
constexpr std::size_t most_entries = 4096;  // of a GID table that lies about its size

template <class T>
std::optional<T> number(std::string_view text, int base = 10) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<MacAddress> mac_address(std::string_view text) {
  MacAddress address{};
  if (text.size() != address.size() * 3 - 1) return std::nullopt;
  for (std::size_t i = 0; i < address.size(); ++i) {
    const auto byte = number<std::uint8_t>(text.substr(i * 3, 2), 16);
    if (!byte || (i != 0 && text[i * 3 - 1] != ':')) return std::nullopt;
    address[i] = *byte;
  }
  return address;
}

/// A name that comes from a file and becomes a part of a path.
bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() < 64 && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 0x7f && c != '/'; });
}

/// The last part of where a link leads.
std::string link_name(const std::string& path) {
  std::error_code error;
  return std::filesystem::read_symlink(path, error).filename().string();
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator{} && names.size() < most_entries;
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void add_netdev(SniffedPort& port, const std::string& root, const std::string& name) {
  if (!is_plain_name(name)) return;
  for (const RdmaNetdev& known : port.netdevs) {
    if (known.name == name) return;
  }
  const std::string folder = root + "/sys/class/net/" + name;
  port.netdevs.push_back({name, mac_address(read_small_file(folder + "/address")),
                          number<std::uint32_t>(read_small_file(folder + "/mtu")).value_or(0)});
}

/// "100 Gb/sec (4X EDR)", "2.5 Gb/sec (1X SDR)".
std::uint64_t speed_of(std::string_view rate) {
  const std::string_view figure = rate.substr(0, rate.find(' '));
  const auto point = std::min(figure.find('.'), figure.size());
  const auto whole = number<std::uint32_t>(figure.substr(0, point));
  if (!whole || rate.substr(figure.size(), 7) != " Gb/sec") return 0;
  std::uint64_t bps = std::uint64_t{*whole} * 1'000'000'000U;
  if (point + 2 == figure.size())
    bps += number<std::uint32_t>(figure.substr(point + 1)).value_or(0) * 100'000'000ULL;
  return bps;
}

struct Counter {
  std::string_view name;
  bool of_port;  ///< or of the device
};
/// mlx5 and others: no receive posted; bnxt_re; mlx4, which has but counters of the whole device.
constexpr Counter counters[] = {
    {"out_of_buffer", true}, {"rx_out_of_buffer", true}, {"rq_num_udsdprd", false}, {"num_cqovf", false}};

}  // namespace

std::string read_small_file(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return {};
  char text[512];
  const ssize_t got = read(descriptor, text, sizeof text);
  close(descriptor);
  std::string_view view(text, got > 0 ? static_cast<std::size_t>(got) : 0);
  const auto first = view.find_first_not_of(white_space);
  if (first == std::string_view::npos) return {};
  view = view.substr(first, view.find_last_not_of(white_space) - first + 1);
  return std::string(view);
}

std::optional<RdmaName> parse_rdma_name(std::string_view text) {
  RdmaName name;
  const auto colon = text.rfind(':');
  if (colon != std::string_view::npos) {
    const auto port = number<std::uint8_t>(text.substr(colon + 1));
    if (!port || *port == 0) return std::nullopt;
    name.port = *port;
    text = text.substr(0, colon);
  }
  if (!is_plain_name(text) || text.find(':') != std::string_view::npos) return std::nullopt;
  name.device = std::string(text);
  return name;
}

std::uint32_t SniffedPort::largest_mtu() const noexcept {
  std::uint32_t largest = 0;
  for (const RdmaNetdev& netdev : netdevs) largest = std::max(largest, netdev.mtu);
  return largest;
}

SniffedPort read_rdma_port(const std::string& root, const RdmaName& name) {
  SniffedPort port;
  std::error_code error;
  const std::string device = root + "/sys/class/infiniband/" + name.device;
  port.exists = std::filesystem::is_directory(device, error);
  if (!port.exists) return port;
  const std::string folder = device + "/ports/" + std::to_string(name.port);

  port.driver = link_name(device + "/device/driver");
  port.iwarp = read_small_file(device + "/node_type").starts_with("4:");
  // Soft-RoCE names its interface; what has no driver below it is software, too.
  port.software_on = read_small_file(device + "/parent");
  if (!is_plain_name(port.software_on)) port.software_on.clear();
  port.software = !port.software_on.empty() || port.driver.empty();

  for (const std::string& index : names_in(folder + "/gid_attrs/ndevs")) {
    // Of an entry that is not in use, reading fails.
    add_netdev(port, root, read_small_file(folder + "/gid_attrs/ndevs/" + index));
  }
  if (port.netdevs.empty()) {
    for (const std::string& netdev : names_in(device + "/device/net")) add_netdev(port, root, netdev);
  }
  if (port.software && port.software_on.empty() && !port.netdevs.empty()) {
    port.software_on = port.netdevs.front().name;
  }
  port.speed_bps = speed_of(read_small_file(folder + "/rate"));
  return port;
}

RoomCounters::RoomCounters(const std::string& root, const RdmaName& name) {
  const std::string device = root + "/sys/class/infiniband/" + name.device;
  for (const Counter& counter : counters) {
    const std::string folder = counter.of_port ? device + "/ports/" + std::to_string(name.port) : device;
    std::string path = folder + "/hw_counters/" + std::string(counter.name);
    const auto value = number<std::uint64_t>(read_small_file(path));
    if (!value) continue;
    names_.emplace_back(counter.name);
    paths_.push_back(std::move(path));
    last_.push_back(*value);
  }
}

std::uint64_t RoomCounters::read() {
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    const auto value = number<std::uint64_t>(read_small_file(paths_[i]));
    if (!value) continue;  // the device goes away
    sum_ += *value >= last_[i] ? *value - last_[i] : *value;
    last_[i] = *value;
  }
  return sum_;
}

}  // namespace roce::capture
