// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Internal: what a host says of one port of an RDMA device (host/readers.hpp), as far as capturing needs it.
namespace roce::capture {

struct RdmaName {
  std::string device;  ///< "mlx5_0"
  unsigned port = 1;   ///< 1 … 255
};
/// "mlx5_0", "mlx5_0:2". None: it can be no RDMA device's name.
[[nodiscard]] std::optional<RdmaName> parse_rdma_name(std::string_view text);

/// Whether sysfs has the device. `root` is "" or a folder with a tree like the machine's own, here and below.
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
  bool iwarp = false;               ///< an RNIC: RDMA over TCP
  std::string software_on;          ///< rxe, siw: the network interface that carries its frames
  bool software = false;            ///< rxe, siw; software_on may be unknown
  std::vector<RdmaNetdev> netdevs;  ///< of its GIDs: the interface, its VLANs, a bond above it
  std::uint64_t speed_bps = 0;      ///< 0 = unknown

  [[nodiscard]] std::uint32_t largest_mtu() const noexcept;
};

/// Missing pieces stay empty.
[[nodiscard]] SniffedPort read_sniffed_port(const std::string& root, const RdmaName& name);

/// Counters of the port or its device that count frames for which there was no room: their sum since the
/// first reading. They count for all queues of the device, not for the sniffer's alone.
class RoomCounters {
 public:
  RoomCounters(std::string root, const RdmaName& name);
  /// Names of those that this device has, as sysfs has them.
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  /// Never less than what it said before: a counter that was reset goes on from there.
  [[nodiscard]] std::uint64_t read();

 private:
  std::string root_;
  std::vector<std::string> names_;
  std::vector<std::string> paths_;  ///< below the root
  std::vector<std::uint64_t> last_;
  std::uint64_t sum_ = 0;
};

}  // namespace roce::capture
