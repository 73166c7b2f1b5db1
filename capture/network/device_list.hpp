// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/core/error.hpp"

namespace roce::capture {

/// A network interface as open_live() takes it.
struct NetworkDevice {
  std::string name;
  std::string description;             ///< empty: none
  std::vector<std::string> addresses;  ///< Ethernet, IPv4 and IPv6, as text
  bool up = false;                     ///< by administration
  bool running = false;                ///< and can carry packets
  bool loopback = false;
  bool wireless = false;
  /// The driver's switch "sniffer" (mlx5 and mlx4 of old): on, it shows RoCE that the adapter handles by
  /// itself on this interface. Nothing: there is no such switch.
  std::optional<bool> sniffer_switch;
  std::string not_capturable;  ///< why, and the command that helps; empty: it can be
};

/// The network interfaces, by their number, then "any". RDMA devices are not among them.
[[nodiscard]] Expected<std::vector<NetworkDevice>> list_network_devices();

/// That there is no such device, which was probably meant and which there are. `root`: before /sys, where
/// RDMA devices are looked for.
[[nodiscard]] std::string explain_unknown_device(const std::string& typed, const std::string& root = "");

/// What the switch of `device` means for a capture on it.
[[nodiscard]] std::string explain_sniffer_switch(const std::string& device, bool on);

}  // namespace roce::capture
