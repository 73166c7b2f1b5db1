// SPDX-License-Identifier: Apache-2.0 Internal: the parts of read_host(). None of them fails: what cannot be
// read is absent and listed in the tree's problems.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/host/facts.hpp"
#include "capture/host/kernel.hpp"
#include "capture/host/tree.hpp"

namespace roce::capture {

/// Whether a name of an interface or device is safe in a path and on a terminal.
[[nodiscard]] bool is_plain_name(std::string_view name) noexcept;
/// Folder of an RDMA device, and of one of its ports, in sysfs.
[[nodiscard]] std::string rdma_folder(std::string_view device);
[[nodiscard]] std::string port_folder(std::string_view device, unsigned port);
/// Every readable number of a folder, by file name; files that are no numbers go to `settings` unless null.
[[nodiscard]] std::vector<HostCounter> read_counters(HostTree& tree, const std::string& folder,
                                                     std::vector<HostSetting>* settings = nullptr);
/// Every readable file of a folder as a setting; subfolders are left out.
void read_settings(HostTree& tree, const std::string& folder, const std::string& prefix,
                   std::vector<HostSetting>& settings);

/// One device or interface with its state, without counters and driver settings, reading of which may query
/// the hardware. None: no device of that (plain) name. A missing interface is returned empty.
[[nodiscard]] std::optional<RdmaDevice> read_rdma_device(HostTree& tree, const std::string& name);
[[nodiscard]] Netdev read_netdev(HostTree& tree, const std::string& name);
/// All devices or interfaces, with counters and settings.
[[nodiscard]] std::vector<RdmaDevice> read_rdma_devices(HostTree& tree);
[[nodiscard]] std::vector<Netdev> read_netdevs(HostTree& tree);

/// Adds links and addresses from netlink: interfaces and values that sysfs does not have.
void add_links(KernelQueries& kernel, HostTree& problems, std::vector<Netdev>& netdevs);
/// The DCB settings of an interface.
[[nodiscard]] DcbFacts read_dcb(KernelQueries& kernel, HostTree& problems, const std::string& interface);
/// Adds driver, private flags and statistics of an interface, by ethtool.
void add_ethtool(KernelQueries& kernel, HostTree& problems, Netdev& netdev);
/// The driver's private flags (ethtool --show-priv-flags): "on", "off".
[[nodiscard]] std::vector<HostSetting> read_private_flags(KernelQueries& kernel,
                                                          const std::string& interface);

}  // namespace roce::capture
