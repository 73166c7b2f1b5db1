// SPDX-License-Identifier: Apache-2.0
// Internal: the parts that read_host() puts together. None of them fails: what cannot be read is absent, and
// the tree's problems say so.
#pragma once

#include <string>
#include <vector>

#include "capture/host/facts.hpp"
#include "capture/host/kernel.hpp"
#include "capture/host/tree.hpp"

namespace roce::capture {

/// A name of an interface or device, as it may stand in a path and on a terminal.
[[nodiscard]] bool is_plain_name(const std::string& name) noexcept;
/// Every readable number of a folder, by name; what is no number goes to `settings` if there are any.
[[nodiscard]] std::vector<HostCounter> read_counters(HostTree& tree, const std::string& folder,
                                                     std::vector<HostSetting>* settings = nullptr);
/// Every readable file of a folder as a setting; folders inside of it are left out.
void read_settings(HostTree& tree, const std::string& folder, const std::string& prefix,
                   std::vector<HostSetting>& settings);

[[nodiscard]] std::vector<RdmaDevice> read_rdma_devices(HostTree& tree);
[[nodiscard]] std::vector<Netdev> read_netdevs(HostTree& tree);

/// Adds what netlink says of links and addresses: interfaces that sysfs lacks, and values that it lacks.
void add_links(KernelQueries& kernel, HostTree& problems, std::vector<Netdev>& netdevs);
/// The DCB settings of an interface, as its driver answers.
[[nodiscard]] DcbFacts read_dcb(KernelQueries& kernel, HostTree& problems, const std::string& interface);
/// Driver, private flags and statistics of an interface, by ethtool.
void add_ethtool(KernelQueries& kernel, HostTree& problems, Netdev& netdev);

}  // namespace roce::capture
