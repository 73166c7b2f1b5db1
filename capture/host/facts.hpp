// SPDX-License-Identifier: Apache-2.0
// RDMA devices and network interfaces of a host as plain values: made by read_host(), or read from a snapshot
// file (analyze/host). What the host does not report is empty or absent, never guessed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roce::capture {

/// A counter by its driver's name; it only increases, until the driver is reloaded.
struct HostCounter {
  std::string name;
  std::uint64_t value = 0;
  [[nodiscard]] bool operator==(const HostCounter&) const = default;
};

/// Any other named value of the driver: one line of text.
struct HostSetting {
  std::string name;
  std::string value;
  [[nodiscard]] bool operator==(const HostSetting&) const = default;
};

using Gid = std::array<std::uint8_t, 16>;  ///< as on the wire

/// A non-empty entry of a port's GID table.
struct GidEntry {
  unsigned index = 0;
  Gid gid{};
  std::string type;    ///< "RoCE v2", "IB/RoCE v1"; empty: not reported
  std::string netdev;  ///< interface that has the address; empty: not reported
  [[nodiscard]] bool operator==(const GidEntry&) const = default;
};

/// The IPv4 address of an IPv4-mapped GID (::ffff:a.b.c.d).
[[nodiscard]] std::optional<std::array<std::uint8_t, 4>> ipv4_of(const Gid& gid) noexcept;
[[nodiscard]] bool is_link_local(const Gid& gid) noexcept;  ///< fe80::/10

struct RdmaPort {
  unsigned number = 0;
  std::string state;                         ///< "ACTIVE", "DOWN", ...
  std::string phys_state;                    ///< "LinkUp", "Disabled", ...
  std::string link_layer;                    ///< "Ethernet", "InfiniBand"
  std::string rate;                          ///< "100 Gb/sec (4X EDR)"
  std::uint64_t rate_bps = 0;                ///< of `rate`, bits per second; 0 = not reported
  std::string netdev;                        ///< its network interface; empty: none, or not reported
  unsigned gid_rows = 0;                     ///< size of the GID table, with empty entries
  std::vector<GidEntry> gids;                ///< non-empty entries, by index
  std::string default_roce_mode;             ///< of rdma_cm: "RoCE v2"; empty: not configured in configfs
  std::optional<unsigned> default_roce_tos;  ///< of rdma_cm, 0..255
  std::optional<unsigned> traffic_class;     ///< forced on all RC packets by the driver (tc/N), 0..255
  std::vector<HostSetting> settings;         ///< tc/N/*, cc_params and the like
  std::vector<HostCounter> counters;         ///< counters/: IBTA PortCounters
  std::vector<HostCounter> hw_counters;      ///< hw_counters/: the driver's own
  [[nodiscard]] bool operator==(const RdmaPort&) const = default;
};

struct RdmaDevice {
  std::string name;
  std::string driver;     ///< of the RDMA side: "mlx5", "bnxt_re", "rxe", ...; empty: not recognised
  std::string node_type;  ///< "CA", "RNIC", ...
  std::string firmware;
  std::string board_id;
  std::string hca_type;
  std::string hw_rev;
  std::string node_guid;
  std::string sys_image_guid;
  std::string node_desc;
  std::string pci;     ///< "0000:3b:00.0"; empty for software devices
  std::string parent;  ///< network interface of a software device
  std::string uverbs;  ///< "uverbs0": the character device that applications open
  std::vector<RdmaPort> ports;
  [[nodiscard]] bool operator==(const RdmaDevice&) const = default;
};

/// rxe or siw: no hardware, its packets pass through the kernel.
[[nodiscard]] bool is_software(const RdmaDevice& device) noexcept;
/// An iWARP device (RNIC): RDMA over TCP, no RoCE.
[[nodiscard]] bool is_iwarp(const RdmaDevice& device) noexcept;

/// One entry of a VLAN's egress or ingress map.
using PriorityPair = std::pair<unsigned, unsigned>;

struct VlanFacts {
  unsigned id = 0;
  std::string parent;
  std::vector<PriorityPair> egress;   ///< socket priority to PCP
  std::vector<PriorityPair> ingress;  ///< PCP to socket priority
  [[nodiscard]] bool operator==(const VlanFacts&) const = default;
};

struct BondFacts {
  std::string mode;         ///< "802.3ad", "active-backup", ...
  std::string hash_policy;  ///< "layer3+4", ...
  std::string active_slave;
  std::vector<std::string> slaves;
  [[nodiscard]] bool operator==(const BondFacts&) const = default;
};

/// An entry of the DCB application priority table (IEEE 802.1Qaz).
struct DcbApp {
  unsigned selector = 0;  ///< 1 EtherType, 2 TCP port, 3 UDP port, 4 either port, 5 DSCP
  unsigned protocol = 0;
  unsigned priority = 0;
  [[nodiscard]] bool operator==(const DcbApp&) const = default;
};
inline constexpr unsigned dcb_selector_dscp = 5;

struct DcbPfc {
  unsigned capable = 0;      ///< number of priorities that can have PFC at once
  std::uint8_t enabled = 0;  ///< bits by priority
  bool bypass_macsec = false;
  unsigned delay = 0;                          ///< bit times
  std::array<std::uint64_t, 8> requests{};     ///< PFC frames sent, by priority
  std::array<std::uint64_t, 8> indications{};  ///< PFC frames received, by priority
  [[nodiscard]] bool operator==(const DcbPfc&) const = default;
};

struct DcbEts {
  bool willing = false;
  unsigned capable = 0;                        ///< number of traffic classes
  std::array<std::uint8_t, 8> tc_bandwidth{};  ///< percent, by traffic class
  std::array<std::uint8_t, 8> tc_algorithm{};  ///< 0 strict, 1 credit-based, 2 ETS, 255 vendor
  std::array<std::uint8_t, 8> priority_tc{};   ///< traffic class, by priority
  [[nodiscard]] bool operator==(const DcbEts&) const = default;
};

/// Receive buffer configuration (mlx5).
struct DcbBuffer {
  std::array<std::uint8_t, 8> priority_buffer{};
  std::array<std::uint32_t, 8> bytes{};
  std::uint32_t total_bytes = 0;
  [[nodiscard]] bool operator==(const DcbBuffer&) const = default;
};

struct DcbFacts {
  /// Whether the driver answered; if not, `reason` says why.
  bool known = false;
  std::string reason;
  std::optional<DcbPfc> pfc;
  std::optional<DcbEts> ets;
  std::optional<DcbPfc> peer_pfc;
  std::optional<DcbEts> peer_ets;
  std::optional<DcbBuffer> buffer;
  std::vector<DcbApp> apps;
  std::vector<unsigned> trust;       ///< selectors in the driver's order of trust; empty: not reported
  std::optional<std::uint8_t> dcbx;  ///< DCB_CAP_DCBX_* bits
  [[nodiscard]] bool operator==(const DcbFacts&) const = default;
};

struct InterfaceAddress {
  std::string address;  ///< without prefix length
  unsigned prefix = 0;
  [[nodiscard]] bool operator==(const InterfaceAddress&) const = default;
};

struct Netdev {
  std::string name;
  unsigned index = 0;
  std::string kind;  ///< "vlan", "bond", "veth", ...; empty: a physical device, or not reported
  std::string driver;
  std::string driver_version;
  std::string firmware;
  std::string bus;  ///< PCI address: "0000:3b:00.0"
  std::string mac;
  std::string oper_state;  ///< "up", "down", ...
  std::string master;      ///< bond or bridge that it belongs to
  std::optional<unsigned> mtu;
  std::optional<std::uint64_t> speed_bps;
  std::optional<unsigned> port;  ///< dev_port: 0 is the first one of a device
  std::optional<VlanFacts> vlan;
  std::optional<BondFacts> bond;
  std::vector<InterfaceAddress> addresses;
  std::vector<HostSetting> private_flags;  ///< ethtool --show-priv-flags: "on", "off"
  std::vector<HostSetting> settings;       ///< ecn/* and qos/* of the vendor's driver
  DcbFacts dcb;
  std::vector<HostCounter> counters;  ///< statistics/ of the kernel
  std::vector<HostCounter> ethtool;   ///< ethtool -S, without per-queue statistics
  [[nodiscard]] bool operator==(const Netdev&) const = default;
};

/// Something that could not be read or is contradictory.
struct HostProblem {
  std::string path;     ///< file, or "netlink", "ethtool" with the interface
  std::string message;  ///< one sentence without a full stop
  [[nodiscard]] bool operator==(const HostProblem&) const = default;
};

/// The private flag "sniffer" of old mlx5 and mlx4 drivers: if on, offloaded RoCE is visible on the network
/// interface. None: the driver has no such flag.
[[nodiscard]] std::optional<bool> sniffer_switch(const std::vector<HostSetting>& private_flags) noexcept;

struct HostFacts {
  std::int64_t time_ns = 0;  ///< since the epoch, when reading began
  std::string host;
  std::string kernel;               ///< "Linux 6.1.0-18-amd64"
  std::string root;                 ///< "/" or the folder of a copied tree
  bool root_user = false;           ///< read as root
  std::vector<RdmaDevice> devices;  ///< by name, mlx5_2 before mlx5_10
  std::vector<Netdev> netdevs;      ///< by index, then name
  std::vector<HostProblem> problems;
  std::uint64_t problems_dropped = 0;  ///< beyond HostTree::most_problems
  [[nodiscard]] bool operator==(const HostFacts&) const = default;

  /// The interface of that name, or nullptr.
  [[nodiscard]] const Netdev* netdev(std::string_view name) const noexcept;
};

/// The largest IB MTU in bytes whose packets fit into an interface's MTU; 0: not even 256 fits. It subtracts
/// the longest RoCE v2 headers (GRH or IPv6, UDP, BTH, XRCETH, AtomicETH, ICRC), as the kernel does
/// (iboe_get_mtu) to find a port's active MTU.
[[nodiscard]] unsigned largest_ib_mtu(unsigned interface_mtu) noexcept;
/// The same for Soft-RoCE, which subtracts 80 bytes (RXE_MAX_HDR_LENGTH).
[[nodiscard]] unsigned largest_rxe_mtu(unsigned interface_mtu) noexcept;
/// The smallest interface MTU with which this IB MTU becomes active.
[[nodiscard]] unsigned interface_mtu_for(unsigned ib_mtu) noexcept;

/// The active IB MTU of a RoCE port, derived from its interface's MTU as above, because sysfs does not show
/// it. None for other link layers, or if the interface's MTU is unknown.
[[nodiscard]] std::optional<unsigned> active_mtu(const HostFacts& host, const RdmaDevice& device,
                                                 const RdmaPort& port) noexcept;

}  // namespace roce::capture
