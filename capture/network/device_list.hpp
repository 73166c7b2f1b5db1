// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/core/error.hpp"

namespace roce::capture {

/// A network interface that open_live() can capture on.
struct NetworkDevice {
  std::string name;
  std::string description;             ///< empty: none
  std::vector<std::string> addresses;  ///< MAC, IPv4 and IPv6, as text
  bool up = false;                     ///< administrative state (IFF_UP)
  bool running = false;                ///< operational state (IFF_RUNNING)
  bool loopback = false;
  bool wireless = false;
  /// The private flag "sniffer" of old mlx5 and mlx4 drivers: if on, offloaded RoCE is visible on this
  /// interface. None: the driver has no such flag.
  std::optional<bool> sniffer_switch;
  std::string not_capturable;  ///< why it cannot be captured, and the command that helps; empty: it can be
};

/// The network interfaces by index, then "any". Without RDMA devices.
[[nodiscard]] Expected<std::vector<NetworkDevice>> list_network_devices();

/// The message that there is no such device, with the closest name and a list of devices. `root` precedes
/// /sys, where RDMA devices are looked up.
[[nodiscard]] std::string explain_unknown_device(const std::string& typed, const std::string& root = "");

/// What the private flag "sniffer" of `device` means for a capture on it, as a sentence.
[[nodiscard]] std::string explain_sniffer_switch(const std::string& device, bool on);

}  // namespace roce::capture
