// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "analyze/host/difference.hpp"
#include "analyze/host/facts_json.hpp"

namespace roce::analyze {
namespace {

using namespace capture;

class Rows {
 public:
  void at(std::string place) { place_ = std::move(place); }
  void add(std::string name, std::string value) {
    if (!value.empty()) rows_.push_back({place_, std::move(name), std::move(value)});
  }
  template <class Number>
  void add(std::string name, const std::optional<Number>& value) {
    if (value) add(std::move(name), std::to_string(*value));
  }
  void add(const std::string& prefix, const std::vector<HostSetting>& settings) {
    for (const HostSetting& setting : settings) add(prefix + setting.name, setting.value);
  }
  [[nodiscard]] std::vector<SettingRow> take() { return std::move(rows_); }

 private:
  std::string place_;
  std::vector<SettingRow> rows_;
};

template <class Range>
std::string joined(const Range& values) {
  std::string text;
  for (const auto value : values) text += (text.empty() ? "" : ",") + std::to_string(value);
  return text;
}

std::string pairs_text(const std::vector<PriorityPair>& pairs) {
  std::string text;
  for (const auto& [from, to] : pairs)
    text += (text.empty() ? "" : " ") + std::to_string(from) + ":" + std::to_string(to);
  return text;
}

void add_device(Rows& rows, const RdmaDevice& device) {
  rows.at(device.name);
  rows.add("driver", device.driver);
  rows.add("firmware", device.firmware);
  rows.add("board_id", device.board_id);
  rows.add("node_guid", device.node_guid);
  for (const RdmaPort& port : device.ports) {
    rows.at(place_of(device, port));
    rows.add("state", port.state);
    rows.add("phys_state", port.phys_state);
    rows.add("link_layer", port.link_layer);
    rows.add("rate", port.rate);
    rows.add("netdev", port.netdev);
    rows.add("default_roce_mode", port.default_roce_mode);
    rows.add("default_roce_tos", port.default_roce_tos);
    rows.add("traffic_class", port.traffic_class);
    for (const GidEntry& gid : port.gids) {
      rows.add("gid." + std::to_string(gid.index), gid_text(gid.gid) +
                                                       (gid.type.empty() ? "" : " " + gid.type) +
                                                       (gid.netdev.empty() ? "" : " " + gid.netdev));
    }
    rows.add("", port.settings);
  }
}

void add_dcb(Rows& rows, const DcbFacts& dcb) {
  if (dcb.pfc) {
    std::vector<unsigned> enabled;
    for (unsigned i = 0; i < 8; ++i)
      if ((dcb.pfc->enabled >> i & 1U) != 0) enabled.push_back(i);
    rows.add("dcb.pfc", enabled.empty() ? std::string("none") : joined(enabled));
    rows.add("dcb.pfc_delay", std::optional(dcb.pfc->delay));
  }
  if (dcb.ets) {
    rows.add("dcb.ets_tc_bandwidth", joined(dcb.ets->tc_bandwidth));
    rows.add("dcb.ets_tc_algorithm", joined(dcb.ets->tc_algorithm));
    rows.add("dcb.ets_priority_tc", joined(dcb.ets->priority_tc));
  }
  if (dcb.buffer) {
    rows.add("dcb.priority_buffer", joined(dcb.buffer->priority_buffer));
    rows.add("dcb.buffer_bytes", joined(dcb.buffer->bytes));
  }
  for (const DcbApp& app : dcb.apps)
    rows.add("dcb.app." + std::to_string(app.selector) + "." + std::to_string(app.protocol) + "." +
                 std::to_string(app.priority),
             std::string("set"));
  rows.add("dcb.trust", joined(dcb.trust));
  if (dcb.dcbx) rows.add("dcb.dcbx", std::optional(unsigned{*dcb.dcbx}));
}

void add_netdev(Rows& rows, const Netdev& netdev) {
  rows.at(netdev.name);
  rows.add("driver", netdev.driver);
  rows.add("firmware", netdev.firmware);
  rows.add("mac", netdev.mac);
  rows.add("oper_state", netdev.oper_state);
  rows.add("master", netdev.master);
  rows.add("mtu", netdev.mtu);
  rows.add("speed_bps", netdev.speed_bps);
  if (netdev.vlan) {
    rows.add("vlan.id", std::optional(netdev.vlan->id));
    rows.add("vlan.parent", netdev.vlan->parent);
    rows.add("vlan.egress", pairs_text(netdev.vlan->egress));
    rows.add("vlan.ingress", pairs_text(netdev.vlan->ingress));
  }
  if (netdev.bond) {
    rows.add("bond.mode", netdev.bond->mode);
    rows.add("bond.hash_policy", netdev.bond->hash_policy);
    rows.add("bond.active_slave", netdev.bond->active_slave);
    std::string slaves;
    for (const std::string& slave : netdev.bond->slaves) slaves += (slaves.empty() ? "" : " ") + slave;
    rows.add("bond.slaves", slaves);
  }
  for (const InterfaceAddress& address : netdev.addresses)
    rows.add("address." + address.address, "/" + std::to_string(address.prefix));
  rows.add("flag.", netdev.private_flags);
  rows.add("", netdev.settings);
  add_dcb(rows, netdev.dcb);
}

}  // namespace

std::string place_of(const RdmaDevice& device, const RdmaPort& port) {
  return device.name + ":" + std::to_string(port.number);
}

std::vector<SettingRow> settings_of(const HostFacts& host) {
  Rows rows;
  rows.at("host");
  rows.add("kernel", host.kernel);
  for (const RdmaDevice& device : host.devices) add_device(rows, device);
  for (const Netdev& netdev : host.netdevs) add_netdev(rows, netdev);
  return rows.take();
}

}  // namespace roce::analyze
