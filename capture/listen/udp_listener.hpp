// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "capture/core/error.hpp"
#include "capture/listen/listen_address.hpp"
#include "capture/live/live_device.hpp"

namespace roce::capture {

/// Binds a socket to each of the addresses. LiveOptions::kernel_buffer_bytes is the buffer of each.
[[nodiscard]] Expected<std::unique_ptr<LiveDevice>> open_udp_listener(
    const LiveOptions& options, const std::vector<ListenAddress>& addresses);

}  // namespace roce::capture
