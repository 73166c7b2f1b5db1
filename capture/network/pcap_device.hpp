// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "capture/live/live_device.hpp"
#include "capture/network/device_list.hpp"

// Internal: network interfaces by libpcap.
namespace roce::capture {

/// Frames of all interfaces, each with a header of 20 bytes that says which (LINKTYPE_LINUX_SLL2).
inline constexpr std::string_view any_device = "any";

/// Whether the name is one of a network interface of this machine, or "any".
[[nodiscard]] bool is_network_interface(const std::string& device);

/// Opens `options.device`, which is a network interface. `notices` are told before its own: an RDMA device
/// whose frames pass through this interface adds that it is so.
[[nodiscard]] Expected<std::unique_ptr<LiveDevice>> open_network_device(
    const LiveOptions& options, std::vector<std::string> notices = {});

/// What libpcap tells of network interfaces, for list_network_devices().
[[nodiscard]] Expected<std::vector<NetworkDevice>> find_network_devices();

/// The number of the LINKTYPE registry for what libpcap calls a DLT. Most are equal.
[[nodiscard]] std::uint16_t link_type_of(int dlt) noexcept;

}  // namespace roce::capture
