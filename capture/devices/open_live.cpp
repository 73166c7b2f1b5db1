// SPDX-License-Identifier: Apache-2.0
#include "capture/devices/open_live.hpp"

#include <new>
#include <utility>

#include "capture/listen/udp_listener.hpp"
#include "capture/network/device_list.hpp"
#include "capture/network/pcap_device.hpp"
#include "capture/sniffer/sniffed_port.hpp"
#include "capture/sniffer/sniffer.hpp"

namespace roce::capture {
namespace {

/// libibverbs is loaded only for names that no network interface has.
bool is_rdma(const LiveOptions& options, const SnifferWorld& world) {
  if (!is_network_interface(options.device)) return is_rdma_device(options.device, world);
  const auto name = parse_rdma_name(options.device);
  return name && has_rdma_device(world.root, *name);
}

Expected<std::unique_ptr<LiveSource>> open_listener(const LiveOptions& options) {
  auto addresses = parse_listen_list(options.device);
  if (!addresses) return tl::unexpected<Error>(std::move(addresses.error()));
  auto device = open_udp_listener(options, *addresses);
  if (!device) return tl::unexpected<Error>(std::move(device.error()));
  return make_live_source(std::move(*device), options);
}

/// Replaces a software RDMA device by its network interface, through which its frames pass.
bool redirect(LiveOptions& options, const SnifferWorld& world, std::vector<std::string>& notices) {
  const auto name = parse_rdma_name(options.device);
  if (!name) return false;
  const SniffedPort port = read_sniffed_port(world.root, *name);
  if (!port.software || !is_network_interface(port.software_on)) return false;
  notices.push_back(name->device +
                    (port.iwarp ? " is a software iWARP device (siw)" : " is Soft-RoCE (rxe)") +
                    ": its frames pass " + port.software_on + ", which is captured instead");
  options.device = port.software_on;
  return true;
}

Expected<std::unique_ptr<LiveSource>> open_kind(LiveOptions options, const SnifferWorld& world) {
  if (is_listen_list(options.device)) return open_listener(options);
  std::vector<std::string> notices;
  const bool rdma = is_rdma(options, world);
  if (!rdma && !is_network_interface(options.device)) {
    Error error;
    error.kind = ErrorKind::not_found;
    error.path = options.device;
    error.message = explain_unknown_device(options.device, world.root);
    return tl::unexpected<Error>(std::move(error));
  }
  auto device = rdma && !redirect(options, world, notices) ? open_rdma_device(options, world)
                                                           : open_network_device(options, std::move(notices));
  if (!device) return tl::unexpected<Error>(std::move(device.error()));
  return make_live_source(std::move(*device), options);
}

}  // namespace

Expected<std::unique_ptr<LiveSource>> open_live_in(const LiveOptions& options, const SnifferWorld& world) {
  try {
    return open_kind(options, world);
  } catch (const std::bad_alloc&) {
    Error error;
    error.kind = ErrorKind::out_of_memory;
    error.path = options.device;
    error.message = "not enough memory to capture";
    return tl::unexpected<Error>(std::move(error));
  }
}

std::string listen_error(const std::string& list) {
  const auto addresses = parse_listen_list(list);
  return addresses ? std::string() : addresses.error().describe();
}

Expected<std::unique_ptr<LiveSource>> open_live(const LiveOptions& options) {
  return open_live_in(options, SnifferWorld{});
}

}  // namespace roce::capture
