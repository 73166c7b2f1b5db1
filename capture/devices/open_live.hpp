// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "capture/core/error.hpp"
#include "capture/live/live.hpp"

namespace roce::capture {

struct SnifferWorld;

/// Opens a device for capture, with the rights of the caller. What is missing (a right, a device, a library)
/// is an error that names it and the command that helps.
[[nodiscard]] Expected<std::unique_ptr<LiveSource>> open_live(const LiveOptions& options);
/// The same with what it asks of the machine in other places, for tests. Network interfaces are always those
/// of this machine.
[[nodiscard]] Expected<std::unique_ptr<LiveSource>> open_live_in(const LiveOptions& options,
                                                                 const SnifferWorld& world);

}  // namespace roce::capture
