// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/devices/live.hpp"
#include "capture/sniffer/sniffer.hpp"

// Internal: which kind of device a name is.
namespace roce::capture {

/// open_live() with what it asks of the machine in other places. Network interfaces are always those of this
/// machine.
[[nodiscard]] Expected<std::unique_ptr<LiveSource>> open_live(const LiveOptions& options,
                                                              const SnifferWorld& world);

}  // namespace roce::capture
