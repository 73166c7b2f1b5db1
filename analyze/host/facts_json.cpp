// SPDX-License-Identifier: Apache-2.0
#include "analyze/host/facts_json.hpp"

#include <algorithm>

#include "analyze/base/address_text.hpp"
#include "analyze/host/capturable.hpp"

namespace roce::analyze {
namespace {

using namespace capture;

template <class T>
void optional_field(JsonWriter& json, std::string_view key, const std::optional<T>& value) {
  value ? json.field(key, *value) : json.null_field(key);
}
/// null if unknown.
void known_field(JsonWriter& json, std::string_view key, std::uint64_t value) {
  value != 0 ? json.field(key, value) : json.null_field(key);
}

void write_counters(JsonWriter& json, std::string_view key, const std::vector<HostCounter>& counters) {
  json.key(key).begin_object();
  for (const HostCounter& counter : counters) json.field(counter.name, counter.value);
  json.end_object();
}

void write_settings(JsonWriter& json, std::string_view key, const std::vector<HostSetting>& settings) {
  json.key(key).begin_array();
  for (const HostSetting& setting : settings)
    json.begin_object().field("name", setting.name).field("value", setting.value).end_object();
  json.end_array();
}

template <class Range>
void write_row(JsonWriter& json, std::string_view key, const Range& values) {
  json.key(key).begin_row();
  for (const auto& value : values) json.value(value);
  json.end_row();
}

void write_pairs(JsonWriter& json, std::string_view key, const std::vector<PriorityPair>& pairs) {
  json.key(key).begin_array();
  for (const auto& [from, to] : pairs) json.begin_object().field("from", from).field("to", to).end_object();
  json.end_array();
}

void write_gids(JsonWriter& json, const RdmaPort& port) {
  json.field("gid_rows", port.gid_rows).key("gids").begin_array();
  for (const GidEntry& gid : port.gids) {
    json.begin_object().field("index", gid.index).field("gid", gid_text(gid.gid));
    json.field("type", gid.type).field("netdev", gid.netdev);
    if (const auto ipv4 = ipv4_of(gid.gid)) {
      std::string text;
      append_ipv4(text, ipv4->data());
      json.field("ipv4", text);
    } else {
      json.null_field("ipv4");
    }
    json.end_object();
  }
  json.end_array();
}

void write_port(JsonWriter& json, const HostFacts& host, const RdmaDevice& device, const RdmaPort& port) {
  json.begin_object().field("number", port.number).field("state", port.state);
  json.field("phys_state", port.phys_state).field("link_layer", port.link_layer).field("rate", port.rate);
  known_field(json, "rate_bps", port.rate_bps);
  json.field("netdev", port.netdev);
  const Netdev* netdev = host.netdev(port.netdev);
  optional_field(json, "netdev_mtu", netdev != nullptr ? netdev->mtu : std::nullopt);
  optional_field(json, "active_mtu", active_mtu(host, device, port));
  json.field("default_roce_mode", port.default_roce_mode);
  optional_field(json, "default_roce_tos", port.default_roce_tos);
  optional_field(json, "traffic_class", port.traffic_class);
  write_gids(json, port);
  const Capturable capturable = capturable_port(host, device, port);
  json.key("capture").begin_object().field("possible", capturable.possible);
  json.field("device", capturable.device).field("how", capturable.how).end_object();
  write_settings(json, "settings", port.settings);
  write_counters(json, "counters", port.counters);
  write_counters(json, "hw_counters", port.hw_counters);
  json.end_object();
}

void write_device(JsonWriter& json, const HostFacts& host, const RdmaDevice& device) {
  json.begin_object().field("name", device.name).field("driver", device.driver);
  json.field("node_type", device.node_type).field("firmware", device.firmware);
  json.field("board_id", device.board_id).field("hca_type", device.hca_type).field("hw_rev", device.hw_rev);
  json.field("node_guid", device.node_guid).field("sys_image_guid", device.sys_image_guid);
  json.field("node_desc", device.node_desc).field("pci", device.pci).field("parent", device.parent);
  json.field("uverbs", device.uverbs).key("ports").begin_array();
  for (const RdmaPort& port : device.ports) write_port(json, host, device, port);
  json.end_array().end_object();
}

void write_pfc(JsonWriter& json, std::string_view key, const std::optional<DcbPfc>& pfc) {
  if (!pfc) {
    json.null_field(key);
    return;
  }
  json.key(key).begin_object().field("capable", pfc->capable);
  json.key("enabled").begin_row();
  for (unsigned i = 0; i < 8; ++i) {
    if ((pfc->enabled >> i & 1U) != 0) json.value(i);
  }
  json.end_row().field("bypass_macsec", pfc->bypass_macsec).field("delay", pfc->delay);
  write_row(json, "requests", pfc->requests);
  write_row(json, "indications", pfc->indications);
  json.end_object();
}

void write_ets(JsonWriter& json, std::string_view key, const std::optional<DcbEts>& ets) {
  if (!ets) {
    json.null_field(key);
    return;
  }
  json.key(key).begin_object().field("willing", ets->willing).field("capable", ets->capable);
  write_row(json, "tc_bandwidth", ets->tc_bandwidth);
  write_row(json, "tc_algorithm", ets->tc_algorithm);
  write_row(json, "priority_tc", ets->priority_tc);
  json.end_object();
}

void write_dcb(JsonWriter& json, const DcbFacts& dcb) {
  json.key("dcb").begin_object().field("known", dcb.known).field("reason", dcb.reason);
  write_pfc(json, "pfc", dcb.pfc);
  write_ets(json, "ets", dcb.ets);
  write_pfc(json, "peer_pfc", dcb.peer_pfc);
  write_ets(json, "peer_ets", dcb.peer_ets);
  if (dcb.buffer) {
    json.key("buffer").begin_object();
    write_row(json, "priority_buffer", dcb.buffer->priority_buffer);
    write_row(json, "bytes", dcb.buffer->bytes);
    json.field("total_bytes", dcb.buffer->total_bytes).end_object();
  } else {
    json.null_field("buffer");
  }
  json.key("apps").begin_array();
  for (const DcbApp& app : dcb.apps) {
    json.begin_object().field("selector", app.selector).field("protocol", app.protocol);
    json.field("priority", app.priority).end_object();
  }
  json.end_array();
  write_row(json, "trust", dcb.trust);
  if (dcb.dcbx) {
    json.field("dcbx", unsigned{*dcb.dcbx});
  } else {
    json.null_field("dcbx");
  }
  json.end_object();
}

void write_stack(JsonWriter& json, const Netdev& netdev) {
  if (netdev.vlan) {
    json.key("vlan").begin_object().field("id", netdev.vlan->id).field("parent", netdev.vlan->parent);
    write_pairs(json, "egress", netdev.vlan->egress);
    write_pairs(json, "ingress", netdev.vlan->ingress);
    json.end_object();
  } else {
    json.null_field("vlan");
  }
  if (netdev.bond) {
    json.key("bond").begin_object().field("mode", netdev.bond->mode);
    json.field("hash_policy", netdev.bond->hash_policy).field("active_slave", netdev.bond->active_slave);
    write_row(json, "slaves", netdev.bond->slaves);
    json.end_object();
  } else {
    json.null_field("bond");
  }
}

void write_netdev(JsonWriter& json, const Netdev& netdev) {
  json.begin_object().field("name", netdev.name).field("index", netdev.index).field("kind", netdev.kind);
  json.field("driver", netdev.driver).field("driver_version", netdev.driver_version);
  json.field("firmware", netdev.firmware).field("bus", netdev.bus).field("mac", netdev.mac);
  json.field("oper_state", netdev.oper_state).field("master", netdev.master);
  optional_field(json, "mtu", netdev.mtu);
  optional_field(json, "largest_ib_mtu",
                 netdev.mtu ? std::optional(largest_ib_mtu(*netdev.mtu)) : std::nullopt);
  optional_field(json, "speed_bps", netdev.speed_bps);
  optional_field(json, "port", netdev.port);
  write_stack(json, netdev);
  json.key("addresses").begin_array();
  for (const InterfaceAddress& address : netdev.addresses)
    json.begin_object().field("address", address.address).field("prefix", address.prefix).end_object();
  json.end_array();
  write_settings(json, "private_flags", netdev.private_flags);
  write_settings(json, "settings", netdev.settings);
  write_dcb(json, netdev.dcb);
  write_counters(json, "counters", netdev.counters);
  write_counters(json, "ethtool", netdev.ethtool);
  json.end_object();
}

}  // namespace

std::string gid_text(const Gid& gid) {
  std::string text;
  append_ipv6(text, gid.data());
  return text;
}

void write_host_facts(JsonWriter& json, const HostFacts& host) {
  json.field("schema", host_schema).field("time", host.time_ns).field("host", host.host);
  json.field("kernel", host.kernel).field("root", host.root).field("root_user", host.root_user);
  json.key("devices").begin_array();
  for (const RdmaDevice& device : host.devices) write_device(json, host, device);
  json.end_array().key("netdevs").begin_array();
  for (const Netdev& netdev : host.netdevs) write_netdev(json, netdev);
  json.end_array().key("problems").begin_array();
  for (const HostProblem& problem : host.problems)
    json.begin_object().field("path", problem.path).field("message", problem.message).end_object();
  json.end_array().field("problems_dropped", host.problems_dropped);
}

std::string host_facts_json(const HostFacts& host, bool pretty) {
  std::string text;
  JsonWriter json(text, pretty);
  json.begin_object();
  write_host_facts(json, host);
  json.end_object();
  text += '\n';
  return text;
}

}  // namespace roce::analyze
