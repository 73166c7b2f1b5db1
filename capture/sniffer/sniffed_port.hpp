// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Internal: facts of one port of an RDMA device from sysfs (host/readers.hpp), as far as a capture needs
// them.
namespace roce::capture {

struct RdmaName {
  std::string device;  ///< "mlx5_0"
  unsigned port = 1;   ///< 1 … 255
};
/// Parses "mlx5_0" or "mlx5_0:2". None: not a valid name of an RDMA device.
[[nodiscard]] std::optional<RdmaName> parse_rdma_name(std::string_view text);

/// Whether sysfs has the device. `root`, here and below: "" or a folder with a copy of a machine's tree.
[[nodiscard]] bool has_rdma_device(const std::string& root, const RdmaName& name);

using MacAddress = std::array<std::uint8_t, 6>;

struct RdmaNetdev {
  std::string name;
  std::optional<MacAddress> address;
  std::uint32_t mtu = 0;  ///< bytes; 0 = unknown
};

struct SniffedPort {
  bool exists = false;              ///< the device, in sysfs
  std::string driver;               ///< RdmaDevice::driver: "mlx5", "rxe"; empty: not recognised
  bool iwarp = false;               ///< iWARP (RNIC): RDMA over TCP
  std::string software_on;          ///< rxe, siw: network interface that its frames pass
  bool software = false;            ///< rxe, siw; software_on may be unknown
  std::vector<RdmaNetdev> netdevs;  ///< interfaces of its GIDs: the port's own, its VLANs, its bond
  std::uint64_t speed_bps = 0;      ///< 0 = unknown

  [[nodiscard]] std::uint32_t largest_mtu() const noexcept;
};

/// Values that cannot be read stay empty.
[[nodiscard]] SniffedPort read_sniffed_port(const std::string& root, const RdmaName& name);

/// The port's or device's counters of frames that found no receive buffer, as a sum since the first reading.
/// They count all queues of the device, not only the sniffer's.
class RoomCounters {
 public:
  RoomCounters(std::string root, const RdmaName& name);
  /// Names in sysfs of the counters that this device has.
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  /// Never decreases: after a reset of a counter counting continues from the last value.
  [[nodiscard]] std::uint64_t read();

 private:
  std::string root_;
  std::vector<std::string> names_;
  std::vector<std::string> paths_;  ///< below the root
  std::vector<std::uint64_t> last_;
  std::uint64_t sum_ = 0;
};

}  // namespace roce::capture
