// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "capture/live/live_device.hpp"
#include "capture/network/device_list.hpp"

// Internal: network interfaces, captured with libpcap.
namespace roce::capture {

/// All interfaces; each frame has a header of 20 bytes with the interface's index (LINKTYPE_LINUX_SLL2).
inline constexpr std::string_view any_device = "any";

/// Whether it is the name of a network interface of this machine, or "any".
[[nodiscard]] bool is_network_interface(const std::string& device);

/// Opens `options.device`, a network interface. `notices` come before its own: for example that the interface
/// of a software RDMA device is captured.
[[nodiscard]] Expected<std::unique_ptr<LiveDevice>> open_network_device(
    const LiveOptions& options, std::vector<std::string> notices = {});

/// The network interfaces by libpcap, for list_network_devices().
[[nodiscard]] Expected<std::vector<NetworkDevice>> find_network_devices();

/// The LINKTYPE of a libpcap DLT. Most are equal.
[[nodiscard]] std::uint16_t link_type_of(int dlt) noexcept;

}  // namespace roce::capture
