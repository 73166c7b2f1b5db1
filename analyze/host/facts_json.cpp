// SPDX-License-Identifier: Apache-2.0
#include "analyze/host/facts_json.hpp"

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "analyze/base/address_text.hpp"
#include "analyze/host/capturable.hpp"

namespace roce::analyze {
namespace {

using namespace capture;

/// null if unknown
std::optional<std::uint64_t> unless_unknown(std::uint64_t value) {
  return value != 0 ? std::optional(value) : std::nullopt;
}

JsonMap<std::uint64_t> counter_values(const std::vector<HostCounter>& counters) {
  JsonMap<std::uint64_t> map;
  for (const HostCounter& counter : counters) map.entries.emplace_back(counter.name, counter.value);
  return map;
}

const JsonObject<HostSetting>& setting_object() {
  static const auto object = [] {
    JsonObject<HostSetting> o("setting");
    o.key("name", "its name", &HostSetting::name);
    o.key("value", "its value", &HostSetting::value);
    return o;
  }();
  return object;
}

const JsonObject<PriorityPair>& priority_pair_object() {
  static const auto object = [] {
    JsonObject<PriorityPair> o("priority_pair");
    o.key("from", "priority before", [](const PriorityPair& p) { return std::get<0>(p); });
    o.key("to", "priority behind", [](const PriorityPair& p) { return std::get<1>(p); });
    return o;
  }();
  return object;
}

const JsonObject<GidEntry>& gid_object() {
  using G = const GidEntry&;
  static const auto object = [] {
    JsonObject<GidEntry> o("gid");
    o.key("index", "index in the table", &GidEntry::index);
    o.key("gid", "GID", [](G g) { return gid_text(g.gid); });
    o.key("type", "IB/RoCE v1, RoCE v2", &GidEntry::type);
    o.key("netdev", "network device", &GidEntry::netdev);
    o.key("ipv4", "the IPv4 address in it; null: none", [](G g) {
      std::optional<std::string> text;
      if (const auto ipv4 = ipv4_of(g.gid)) append_ipv4(text.emplace(), ipv4->data());
      return text;
    });
    return o;
  }();
  return object;
}

const JsonObject<Capturable>& capturable_object() {
  static const auto object = [] {
    JsonObject<Capturable> o("capturable");
    o.key("possible", "it can be captured here", &Capturable::possible);
    o.key("device", "for capture -i", &Capturable::device);
    o.key("how", "how, or why not", &Capturable::how);
    return o;
  }();
  return object;
}

struct PortIn {
  const HostFacts& host;
  const RdmaDevice& device;
  const RdmaPort& port;
  [[nodiscard]] const RdmaPort* operator->() const { return &port; }
};

const JsonObject<PortIn>& rdma_port_object() {
  using P = const PortIn&;
  static const auto object = [] {
    JsonObject<PortIn> o("rdma_port");
    o.key("number", "number of the port, from 1", [](P p) { return p->number; });
    o.key("state", "logical state", [](P p) { return p->state; });
    o.key("phys_state", "physical state", [](P p) { return p->phys_state; });
    o.key("link_layer", "Ethernet or InfiniBand", [](P p) { return p->link_layer; });
    o.key("rate", "rate in words", [](P p) { return p->rate; });
    o.key("rate_bps", "rate; null: not known", [](P p) { return unless_unknown(p->rate_bps); });
    o.key("netdev", "network device", [](P p) { return p->netdev; });
    o.key("netdev_mtu", "its MTU; null: not known", [](P p) {
      const Netdev* netdev = p.host.netdev(p->netdev);
      return netdev != nullptr ? netdev->mtu : std::nullopt;
    });
    o.key("active_mtu", "InfiniBand MTU that follows from it; null: not known",
          [](P p) { return active_mtu(p.host, p.device, p.port); });
    o.key("default_roce_mode", "RoCE version that rdma_cm uses", [](P p) { return p->default_roce_mode; });
    o.key("default_roce_tos", "ToS that rdma_cm uses; null: not known",
          [](P p) { return p->default_roce_tos; });
    o.key("traffic_class", "traffic class that the driver sets; null: not known",
          [](P p) { return p->traffic_class; });
    o.key("gid_rows", "rows of the GID table", [](P p) { return p->gid_rows; });
    o.list(
        "gids", "GIDs that are set", gid_object(), [](P p) -> const auto& { return p->gids; });
    o.object("capture", "whether its packets can be captured", capturable_object(),
             [](P p) { return capturable_port(p.host, p.device, p.port); });
    o.list(
        "settings", "settings", setting_object(), [](P p) -> const auto& { return p->settings; });
    o.key("counters", "counters of the port", [](P p) { return counter_values(p->counters); });
    o.key("hw_counters", "counters of the driver", [](P p) { return counter_values(p->hw_counters); });
    return o;
  }();
  return object;
}

struct DeviceIn {
  const HostFacts& host;
  const RdmaDevice& device;
  [[nodiscard]] const RdmaDevice* operator->() const { return &device; }
};

const JsonObject<DeviceIn>& rdma_device_object() {
  using D = const DeviceIn&;
  static const auto object = [] {
    JsonObject<DeviceIn> o("rdma_device");
    o.key("name", "name", [](D d) { return d->name; });
    o.key("driver", "driver", [](D d) { return d->driver; });
    o.key("node_type", "CA, switch ...", [](D d) { return d->node_type; });
    o.key("firmware", "version of the firmware", [](D d) { return d->firmware; });
    o.key("board_id", "board id", [](D d) { return d->board_id; });
    o.key("hca_type", "type of the adapter", [](D d) { return d->hca_type; });
    o.key("hw_rev", "hardware revision", [](D d) { return d->hw_rev; });
    o.key("node_guid", "node GUID", [](D d) { return d->node_guid; });
    o.key("sys_image_guid", "system image GUID", [](D d) { return d->sys_image_guid; });
    o.key("node_desc", "node description", [](D d) { return d->node_desc; });
    o.key("pci", "PCI address", [](D d) { return d->pci; });
    o.key("parent", "network device below a software device", [](D d) { return d->parent; });
    o.key("uverbs", "device file for programs", [](D d) { return d->uverbs; });
    o.list("ports", "its ports", rdma_port_object(), [](D d) {
      std::vector<PortIn> all;
      for (const RdmaPort& port : d->ports) all.push_back({d.host, d.device, port});
      return all;
    });
    return o;
  }();
  return object;
}

const JsonObject<DcbPfc>& dcb_pfc_object() {
  using P = const DcbPfc&;
  static const auto object = [] {
    JsonObject<DcbPfc> o("dcb_pfc");
    o.key("capable", "most priorities that may have PFC", [](P p) { return p.capable; });
    o.key("enabled", "priorities with PFC", [](P p) {
      std::vector<unsigned> set;
      for (unsigned i = 0; i < 8; ++i) {
        if ((p.enabled >> i & 1U) != 0) set.push_back(i);
      }
      return set;
    });
    o.key("bypass_macsec", "MACsec bypass capable", [](P p) { return p.bypass_macsec; });
    o.key("delay", "delay allowance", [](P p) { return p.delay; });
    o.key(
        "requests", "PFC frames sent, by priority", [](P p) -> const auto& { return p.requests; });
    o.key(
        "indications", "PFC frames received, by priority", [](P p) -> const auto& { return p.indications; });
    return o;
  }();
  return object;
}

const JsonObject<DcbEts>& dcb_ets_object() {
  using E = const DcbEts&;
  static const auto object = [] {
    JsonObject<DcbEts> o("dcb_ets");
    o.key("willing", "takes the settings of its peer", [](E e) { return e.willing; });
    o.key("capable", "traffic classes that it has", [](E e) { return e.capable; });
    o.key(
         "tc_bandwidth", "bandwidth of each traffic class", [](E e) -> const auto& { return e.tc_bandwidth; })
        .in("%");
    o.key(
        "tc_algorithm", "transmission selection algorithm of each traffic class",
        [](E e) -> const auto& { return e.tc_algorithm; });
    o.key(
        "priority_tc", "traffic class of each priority", [](E e) -> const auto& { return e.priority_tc; });
    return o;
  }();
  return object;
}

using Buffer = std::remove_cvref_t<decltype(*DcbFacts().buffer)>;

const JsonObject<Buffer>& dcb_buffer_object() {
  using B = const Buffer&;
  static const auto object = [] {
    JsonObject<Buffer> o("dcb_buffer");
    o.key(
        "priority_buffer", "buffer of each priority", [](B b) -> const auto& { return b.priority_buffer; });
    o.key(
        "bytes", "size of each buffer", [](B b) -> const auto& { return b.bytes; });
    o.key("total_bytes", "size of all", [](B b) { return b.total_bytes; });
    return o;
  }();
  return object;
}

const JsonObject<DcbApp>& dcb_app_object() {
  using A = const DcbApp&;
  static const auto object = [] {
    JsonObject<DcbApp> o("dcb_app");
    o.key("selector", "what the protocol is a number of, as in IEEE 802.1Q", [](A a) { return a.selector; });
    o.key("protocol", "EtherType, port or DSCP", [](A a) { return a.protocol; });
    o.key("priority", "its priority", [](A a) { return a.priority; });
    return o;
  }();
  return object;
}

const JsonObject<DcbFacts>& dcb_object() {
  using D = const DcbFacts&;
  static const auto object = [] {
    JsonObject<DcbFacts> o("dcb");
    const auto pointer = [](const auto& optional) { return optional ? &*optional : nullptr; };
    o.key("known", "it could be read", [](D d) { return d.known; });
    o.key("reason", "why not", [](D d) { return d.reason; });
    o.object("pfc", "PFC; null: not known", dcb_pfc_object(), [pointer](D d) { return pointer(d.pfc); });
    o.object("ets", "ETS; null: not known", dcb_ets_object(), [pointer](D d) { return pointer(d.ets); });
    o.object("peer_pfc", "PFC of the peer; null: not known", dcb_pfc_object(),
             [pointer](D d) { return pointer(d.peer_pfc); });
    o.object("peer_ets", "ETS of the peer; null: not known", dcb_ets_object(),
             [pointer](D d) { return pointer(d.peer_ets); });
    o.object("buffer", "buffers; null: not known", dcb_buffer_object(),
             [pointer](D d) { return pointer(d.buffer); });
    o.list(
        "apps", "priorities of applications", dcb_app_object(), [](D d) -> const auto& { return d.apps; });
    o.key(
        "trust", "selectors in the order of trust", [](D d) -> const auto& { return d.trust; });
    o.key("dcbx", "mode of DCBX as bits; null: not known", [](D d) { return d.dcbx; });
    return o;
  }();
  return object;
}

using Vlan = std::remove_cvref_t<decltype(*Netdev().vlan)>;

const JsonObject<Vlan>& vlan_object() {
  using V = const Vlan&;
  static const auto object = [] {
    JsonObject<Vlan> o("vlan");
    o.key("id", "VLAN", [](V v) { return v.id; });
    o.key("parent", "network device below", [](V v) { return v.parent; });
    o.list(
        "egress", "socket priority to VLAN priority", priority_pair_object(),
        [](V v) -> const auto& { return v.egress; });
    o.list(
        "ingress", "VLAN priority to socket priority", priority_pair_object(),
        [](V v) -> const auto& { return v.ingress; });
    return o;
  }();
  return object;
}

using Bond = std::remove_cvref_t<decltype(*Netdev().bond)>;

const JsonObject<Bond>& bond_object() {
  using B = const Bond&;
  static const auto object = [] {
    JsonObject<Bond> o("bond");
    o.key("mode", "mode", [](B b) { return b.mode; });
    o.key("hash_policy", "what traffic is spread by", [](B b) { return b.hash_policy; });
    o.key("active_slave", "active member", [](B b) { return b.active_slave; });
    o.key(
        "slaves", "members", [](B b) -> const auto& { return b.slaves; });
    return o;
  }();
  return object;
}

const JsonObject<InterfaceAddress>& interface_address_object() {
  static const auto object = [] {
    JsonObject<InterfaceAddress> o("interface_address");
    o.key("address", "address", &InterfaceAddress::address);
    o.key("prefix", "length of the prefix", &InterfaceAddress::prefix);
    return o;
  }();
  return object;
}

const JsonObject<Netdev>& netdev_object() {
  using N = const Netdev&;
  static const auto object = [] {
    JsonObject<Netdev> o("netdev");
    o.key("name", "name", &Netdev::name);
    o.key("index", "interface index", &Netdev::index);
    o.key("kind", "vlan, bond ...; empty: hardware", &Netdev::kind);
    o.key("driver", "driver", &Netdev::driver);
    o.key("driver_version", "version of the driver", &Netdev::driver_version);
    o.key("firmware", "version of the firmware", &Netdev::firmware);
    o.key("bus", "bus address", &Netdev::bus);
    o.key("mac", "MAC address", &Netdev::mac);
    o.key("oper_state", "operational state", &Netdev::oper_state);
    o.key("master", "bond or bridge that it is a member of", &Netdev::master);
    o.key("mtu", "MTU; null: not known", &Netdev::mtu);
    o.key("largest_ib_mtu", "largest InfiniBand MTU that fits; null: not known",
          [](N n) { return n.mtu ? std::optional(largest_ib_mtu(*n.mtu)) : std::nullopt; });
    o.key("speed_bps", "speed; null: not known", &Netdev::speed_bps);
    o.key("port", "kind of connector, as ethtool numbers them; null: not known", &Netdev::port);
    o.object("vlan", "of a VLAN device; else null", vlan_object(),
             [](N n) { return n.vlan ? &*n.vlan : nullptr; });
    o.object("bond", "of a bond; else null", bond_object(), [](N n) { return n.bond ? &*n.bond : nullptr; });
    o.list(
        "addresses", "addresses", interface_address_object(), [](N n) -> const auto& { return n.addresses; });
    o.list(
        "private_flags", "private flags of the driver", setting_object(),
        [](N n) -> const auto& { return n.private_flags; });
    o.list(
        "settings", "settings", setting_object(), [](N n) -> const auto& { return n.settings; });
    o.object(
        "dcb", "data center bridging", dcb_object(), [](N n) -> const auto& { return n.dcb; });
    o.key("counters", "counters of the kernel", [](N n) { return counter_values(n.counters); });
    o.key("ethtool", "counters of the driver", [](N n) { return counter_values(n.ethtool); });
    return o;
  }();
  return object;
}

const JsonObject<HostProblem>& problem_object() {
  static const auto object = [] {
    JsonObject<HostProblem> o("problem");
    o.key("path", "what could not be read", &HostProblem::path);
    o.key("message", "why", &HostProblem::message);
    return o;
  }();
  return object;
}

}  // namespace

std::string gid_text(const Gid& gid) {
  std::string text;
  append_ipv6(text, gid.data());
  return text;
}

const JsonObject<HostFacts>& host_facts_object() {
  using H = const HostFacts&;
  static const auto object = [] {
    JsonObject<HostFacts> o("host_facts");
    o.key("schema", "name of this schema", [](H) { return host_schema; }).of({host_schema});
    o.key("time", "when it was read", [](H h) { return h.time_ns; }).in("ns since 1970");
    o.key("host", "name of the host", &HostFacts::host);
    o.key("kernel", "version of the kernel", &HostFacts::kernel);
    o.key("root", "folder that was read instead of /, empty: none", &HostFacts::root);
    o.key("root_user", "read as root", &HostFacts::root_user);
    o.list("devices", "RDMA devices", rdma_device_object(), [](H h) {
      std::vector<DeviceIn> all;
      for (const RdmaDevice& device : h.devices) all.push_back({h, device});
      return all;
    });
    o.list(
        "netdevs", "network devices", netdev_object(), [](H h) -> const auto& { return h.netdevs; });
    o.list(
        "problems", "what could not be read", problem_object(),
        [](H h) -> const auto& { return h.problems; });
    o.key("problems_dropped", "problems beyond the limit of 1000", &HostFacts::problems_dropped);
    return o;
  }();
  return object;
}

std::string host_facts_json(const HostFacts& host, bool pretty) {
  std::string text;
  JsonWriter json(text, pretty);
  host_facts_object().write(json, host);
  text += '\n';
  return text;
}

}  // namespace roce::analyze
