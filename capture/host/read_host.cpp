// SPDX-License-Identifier: Apache-2.0
#include "capture/host/read_host.hpp"

#include <unistd.h>

#include <utility>

#include "capture/host/readers.hpp"

namespace roce::capture {

HostFacts read_host(const HostOptions& options) {
  HostTree tree(options.root);
  HostFacts host;
  host.time_ns = options.time_ns;
  host.root = options.root;
  host.root_user = ::geteuid() == 0;
  host.host = tree.text("proc/sys/kernel/hostname").value_or("");
  const std::string system = tree.text("proc/sys/kernel/ostype").value_or("");
  const std::string release = tree.text("proc/sys/kernel/osrelease").value_or("");
  host.kernel = system + (system.empty() || release.empty() ? "" : " ") + release;
  host.devices = read_rdma_devices(tree);
  host.netdevs = read_netdevs(tree);
  if (options.kernel != nullptr) {
    add_links(*options.kernel, tree, host.netdevs);
    for (Netdev& netdev : host.netdevs) {
      add_ethtool(*options.kernel, tree, netdev);
      netdev.dcb = read_dcb(*options.kernel, tree, netdev.name);
    }
  } else {
    for (Netdev& netdev : host.netdevs)
      netdev.dcb.reason = "netlink was not queried: the tree is not that of this host";
  }
  host.problems = std::move(tree.problems());
  host.problems_dropped = tree.problems_dropped();
  return host;
}

}  // namespace roce::capture
