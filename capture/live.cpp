// SPDX-License-Identifier: Apache-2.0
#include "capture/live.hpp"

#include <new>

#include "capture/live_device.hpp"
#include "capture/pcap_device.hpp"

namespace roce::capture {

Expected<std::unique_ptr<LiveSource>> open_live(const LiveOptions& options) {
  try {
    auto device = open_network_device(options);
    if (!device) return tl::unexpected<Error>(std::move(device.error()));
    return make_live_source(std::move(*device), options);
  } catch (const std::bad_alloc&) {
    Error error;
    error.kind = ErrorKind::out_of_memory;
    error.path = options.device;
    error.message = "not enough memory to capture";
    return tl::unexpected<Error>(std::move(error));
  }
}

}  // namespace roce::capture
