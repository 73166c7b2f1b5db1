// SPDX-License-Identifier: Apache-2.0
// Internal: the parts that read_host() puts together. None of them fails: what cannot be read is absent, and
// the tree's problems say so.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/host/facts.hpp"
#include "capture/host/kernel.hpp"
#include "capture/host/tree.hpp"

namespace roce::capture {

/// A name of an interface or device, as it may stand in a path and on a terminal.
[[nodiscard]] bool is_plain_name(std::string_view name) noexcept;
/// Where sysfs has an RDMA device and a port of it.
[[nodiscard]] std::string rdma_folder(std::string_view device);
[[nodiscard]] std::string port_folder(std::string_view device, unsigned port);
/// Every readable number of a folder, by name; what is no number goes to `settings` if there are any.
[[nodiscard]] std::vector<HostCounter> read_counters(HostTree& tree, const std::string& folder,
                                                     std::vector<HostSetting>* settings = nullptr);
/// Every readable file of a folder as a setting; folders inside of it are left out.
void read_settings(HostTree& tree, const std::string& folder, const std::string& prefix,
                   std::vector<HostSetting>& settings);

/// One device or interface: what it is and how it stands; neither counters nor the driver's settings, which
/// may ask the hardware. Nothing: there is no device of that (plain) name. An interface that is not there is
/// empty.
[[nodiscard]] std::optional<RdmaDevice> read_rdma_device(HostTree& tree, const std::string& name);
[[nodiscard]] Netdev read_netdev(HostTree& tree, const std::string& name);
/// All of them with all that there is.
[[nodiscard]] std::vector<RdmaDevice> read_rdma_devices(HostTree& tree);
[[nodiscard]] std::vector<Netdev> read_netdevs(HostTree& tree);

/// Adds what netlink says of links and addresses: interfaces that sysfs lacks, and values that it lacks.
void add_links(KernelQueries& kernel, HostTree& problems, std::vector<Netdev>& netdevs);
/// The DCB settings of an interface, as its driver answers.
[[nodiscard]] DcbFacts read_dcb(KernelQueries& kernel, HostTree& problems, const std::string& interface);
/// Driver, private flags and statistics of an interface, by ethtool.
void add_ethtool(KernelQueries& kernel, HostTree& problems, Netdev& netdev);
/// The driver's switches (ethtool --show-priv-flags): "on", "off".
[[nodiscard]] std::vector<HostSetting> read_private_flags(KernelQueries& kernel,
                                                          const std::string& interface);

}  // namespace roce::capture
