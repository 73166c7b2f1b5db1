// SPDX-License-Identifier: Apache-2.0
// RDMA devices, read from sysfs (Documentation/ABI/stable/sysfs-class-infiniband).
#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "capture/host/readers.hpp"

namespace roce::capture {
namespace {

using Absent = HostTree::Absent;
constexpr unsigned most_ports = 256;

/// Kernel driver of the PCI device -> rdma-core's name of the RDMA driver.
struct DriverName {
  std::string_view below, rdma;
};
constexpr DriverName driver_names[] = {
    {"mlx5_core", "mlx5"},
    {"mlx4_core", "mlx4"},
    {"bnxt_en", "bnxt_re"},
    {"ice", "irdma"},
    {"i40e", "irdma"},
    {"irdma", "irdma"},
    {"hns3", "hns"},
    {"cxgb4", "cxgb4"},
    {"qede", "qedr"},
    {"efa", "efa"},
    {"vmw_pvrdma", "vmw_pvrdma"},
    {"mana", "mana"},
    {"be2net", "ocrdma"},
    {"erdma", "erdma"},
    {"ionic", "ionic"},
    {"hfi1", "hfi1"},
    {"enic", "usnic"},
    {"mthca", "mthca"},
    {"ib_mthca", "mthca"},
    {"ib_qib", "qib"},
};

/// "4: ACTIVE" -> "ACTIVE".
std::string behind_colon(std::string text) {
  const std::size_t colon = text.find(": ");
  return colon == std::string::npos ? text : text.substr(colon + 2);
}

/// "100 Gb/sec (4X EDR)", "2.5 Gb/sec (1X SDR)" -> bits per second; 0 for anything else.
std::uint64_t rate_of(std::string_view text) {
  double gigabits = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), gigabits);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const bool sane = gigabits > 0 && gigabits < 1e6;
  return failure == std::errc() && unit.starts_with(" Gb/sec") && sane
             ? static_cast<std::uint64_t>(gigabits * 1e9)
             : 0;
}

/// "fe80:0000:...:0a01": eight groups of four digits.
std::optional<Gid> gid_of(std::string_view text) {
  Gid gid{};
  constexpr std::size_t group = 5;  // with its colon
  if (text.size() != 8 * group - 1) return std::nullopt;
  for (std::size_t i = 0; i < 8; ++i) {
    std::uint16_t value = 0;
    const char* begin = text.data() + i * group;
    const auto [end, failure] = std::from_chars(begin, begin + 4, value, 16);
    if (failure != std::errc() || end != begin + 4 || (i != 7 && *end != ':')) return std::nullopt;
    gid[2 * i] = static_cast<std::uint8_t>(value >> 8U);
    gid[2 * i + 1] = static_cast<std::uint8_t>(value);
  }
  return gid;
}

void read_gids(HostTree& tree, const std::string& folder, RdmaPort& port) {
  const std::vector<std::string> rows = tree.names(folder + "/gids", Absent::strange);
  port.gid_rows = static_cast<unsigned>(rows.size());
  for (const std::string& row : rows) {
    const std::optional<std::uint64_t> index = whole_number(row);
    const std::optional<std::string> text = tree.text(folder + "/gids/" + row);
    if (!index || *index > 0xffff || !text) continue;
    const std::optional<Gid> gid = gid_of(*text);
    if (!gid) {
      tree.problem(folder + "/gids/" + row, "is not a GID: \"" + text->substr(0, 40) + "\"");
      continue;
    }
    if (*gid == Gid{}) continue;  // unused entry; reading its type and interface fails by design
    GidEntry entry{static_cast<unsigned>(*index), *gid, {}, {}};
    entry.type = tree.text(folder + "/gid_attrs/types/" + row).value_or("");
    entry.netdev = tree.text(folder + "/gid_attrs/ndevs/" + row).value_or("");
    port.gids.push_back(std::move(entry));
  }
}

std::optional<unsigned> small_number(const std::optional<std::uint64_t>& value, unsigned most) {
  if (!value || *value > most) return std::nullopt;
  return static_cast<unsigned>(*value);
}

/// tc/N/traffic_class of the vendor's driver: "Global tclass=106", besides rules for single addresses.
void read_traffic_class(HostTree& tree, const std::string& folder, RdmaPort& port) {
  constexpr std::string_view global = "Global tclass=";
  for (const std::string& name : tree.names(folder)) {
    const std::optional<std::string> text = tree.text(folder + "/" + name);
    if (!text) continue;
    for (const std::string_view line : lines_of(*text)) {
      if (name == "traffic_class" && line.starts_with(global))
        port.traffic_class = small_number(whole_number(line.substr(global.size())), 255);
      port.settings.push_back({"tc." + name, std::string(line)});
    }
  }
}

RdmaPort read_port(HostTree& tree, const std::string& folder, unsigned number) {
  RdmaPort port;
  port.number = number;
  port.state = behind_colon(tree.text(folder + "/state", Absent::strange).value_or(""));
  port.phys_state = behind_colon(tree.text(folder + "/phys_state", Absent::strange).value_or(""));
  port.link_layer = tree.text(folder + "/link_layer", Absent::strange).value_or("");
  port.rate = tree.text(folder + "/rate", Absent::strange).value_or("");
  port.rate_bps = rate_of(port.rate);
  read_gids(tree, folder, port);
  return port;
}

void add_port_counters_and_settings(HostTree& tree, const std::string& device, RdmaPort& port) {
  const std::string folder = port_folder(device, port.number);
  port.counters = read_counters(tree, folder + "/counters");
  port.hw_counters = read_counters(tree, folder + "/hw_counters", &port.settings);
  const std::string own = std::to_string(port.number);
  const std::string cm = "sys/kernel/config/rdma_cm/" + device + "/ports/" + own;
  port.default_roce_mode = tree.text(cm + "/default_roce_mode").value_or("");
  port.default_roce_tos = small_number(tree.number(cm + "/default_roce_tos"), 255);
  read_traffic_class(tree, rdma_folder(device) + "/tc/" + own, port);
  read_settings(tree, "sys/kernel/config/bnxt_re/" + device + "/ports/" + own + "/cc", "cc.", port.settings);
}

void add_port_counters_and_settings(HostTree& tree, RdmaDevice& device) {
  for (RdmaPort& port : device.ports) add_port_counters_and_settings(tree, device.name, port);
  if (device.driver == "mlx5" && !device.pci.empty() && !device.ports.empty()) {
    // One set for the PCI function: listed with its first port.
    read_settings(tree, "sys/kernel/debug/mlx5/" + device.pci + "/cc_params", "cc_params.",
                  device.ports.front().settings);
  }
}

void read_identity(HostTree& tree, const std::string& folder, RdmaDevice& device) {
  struct Row {
    std::string_view file;
    std::string RdmaDevice::*member;
    Absent absent;
  };
  static constexpr Row rows[] = {
      {"fw_ver", &RdmaDevice::firmware, Absent::fine},
      {"board_id", &RdmaDevice::board_id, Absent::fine},
      {"hca_type", &RdmaDevice::hca_type, Absent::fine},
      {"hw_rev", &RdmaDevice::hw_rev, Absent::fine},
      {"node_guid", &RdmaDevice::node_guid, Absent::strange},
      {"sys_image_guid", &RdmaDevice::sys_image_guid, Absent::fine},
      {"node_desc", &RdmaDevice::node_desc, Absent::fine},
      {"parent", &RdmaDevice::parent, Absent::fine},
      {"node_type", &RdmaDevice::node_type, Absent::strange},
  };
  for (const Row& row : rows)
    device.*row.member = tree.text(folder + "/" + std::string(row.file), row.absent).value_or("");
  device.node_type = behind_colon(device.node_type);
}

/// The driver of a device. Software devices have no hardware; but before Linux 5.10 Soft-RoCE, the only one
/// with `parent`, links to the hardware of that interface.
std::string driver_of(const RdmaDevice& device, const std::optional<std::string>& below) {
  if (!device.parent.empty() || !below)
    return is_iwarp(device) ? "siw" : device.node_type == "CA" || !device.parent.empty() ? "rxe" : "";
  const auto* const found = std::find_if(std::begin(driver_names), std::end(driver_names),
                                         [&](const DriverName& row) { return row.below == *below; });
  return found == std::end(driver_names) ? *below : std::string(found->rdma);
}

/// The interface of each port: that of its GIDs; else the hardware's interface with the same port number;
/// else the interface of the software device.
void find_netdevs(HostTree& tree, const std::string& folder, RdmaDevice& device) {
  const std::vector<std::string> below = tree.names(folder + "/device/net");
  for (RdmaPort& port : device.ports) {
    const auto named = std::find_if(port.gids.begin(), port.gids.end(),
                                    [](const GidEntry& gid) { return !gid.netdev.empty(); });
    if (named != port.gids.end()) port.netdev = named->netdev;
    if (port.netdev.empty()) port.netdev = device.parent;
    for (std::size_t i = 0; port.netdev.empty() && i < below.size(); ++i) {
      const auto number = tree.number(folder + "/device/net/" + below[i] + "/dev_port");
      if (number.value_or(0) + 1 == port.number) port.netdev = below[i];
    }
    if (port.netdev.empty() && below.size() == 1 && device.ports.size() == 1) port.netdev = below.front();
  }
}

}  // namespace

std::string rdma_folder(std::string_view device) {
  return "sys/class/infiniband/" + std::string(device);
}

std::string port_folder(std::string_view device, unsigned port) {
  return rdma_folder(device) + "/ports/" + std::to_string(port);
}

std::optional<RdmaDevice> read_rdma_device(HostTree& tree, const std::string& name) {
  const std::string folder = rdma_folder(name);
  if (!tree.exists(folder)) return std::nullopt;
  RdmaDevice device;
  device.name = name;
  read_identity(tree, folder, device);
  const std::optional<std::string> below = tree.link(folder + "/device/driver");
  device.driver = driver_of(device, below);
  if (!is_software(device)) device.pci = tree.link(folder + "/device").value_or("");
  for (const std::string& port : tree.names(folder + "/ports", Absent::strange)) {
    const std::optional<std::uint64_t> number = whole_number(port);
    if (!number || *number > most_ports) {
      tree.problem(folder + "/ports/" + port, "is not a port number");
      continue;
    }
    device.ports.push_back(read_port(tree, folder + "/ports/" + port, static_cast<unsigned>(*number)));
  }
  find_netdevs(tree, folder, device);
  return device;
}

bool is_plain_name(std::string_view name) noexcept {
  constexpr std::size_t room = 64;  // IB_DEVICE_NAME_MAX, with the terminating 0
  return !name.empty() && name.size() < room && name != "." && name != ".." &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return static_cast<unsigned char>(c) > ' ' && c != '/' && c != '\x7f'; });
}

std::vector<HostCounter> read_counters(HostTree& tree, const std::string& folder,
                                       std::vector<HostSetting>* settings) {
  std::vector<HostCounter> counters;
  for (const std::string& name : tree.names(folder)) {
    if (name == "lifespan" && settings != nullptr) {  // how long the driver caches counters, in ms
      if (auto text = tree.text(folder + "/" + name)) settings->push_back({"hw_counters." + name, *text});
      continue;
    }
    if (const auto value = tree.number(folder + "/" + name)) counters.push_back({name, *value});
  }
  return counters;
}

void read_settings(HostTree& tree, const std::string& folder, const std::string& prefix,
                   std::vector<HostSetting>& settings) {
  for (const std::string& name : tree.names(folder)) {
    const std::string path = folder + "/" + name;
    if (!tree.is_file(path)) continue;
    const std::optional<std::string> text = tree.text(path);
    if (!text) continue;
    for (const std::string_view line : lines_of(*text))
      settings.push_back({prefix + name, std::string(line)});
  }
}

std::vector<RdmaDevice> read_rdma_devices(HostTree& tree) {
  std::map<std::string, std::string> uverbs;
  for (const std::string& name : tree.names("sys/class/infiniband_verbs")) {
    if (const auto device = tree.text("sys/class/infiniband_verbs/" + name + "/ibdev"))
      uverbs.emplace(*device, name);
  }
  std::vector<RdmaDevice> devices;
  for (const std::string& name : tree.names("sys/class/infiniband")) {
    if (!is_plain_name(name)) {
      tree.problem("sys/class/infiniband/" + name, "is not a valid device name");
      continue;
    }
    std::optional<RdmaDevice> device = read_rdma_device(tree, name);
    if (!device) continue;  // removed in the meantime
    add_port_counters_and_settings(tree, *device);
    devices.push_back(std::move(*device));
    if (const auto found = uverbs.find(name); found != uverbs.end()) devices.back().uverbs = found->second;
  }
  return devices;
}

}  // namespace roce::capture
