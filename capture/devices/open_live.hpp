// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "capture/core/error.hpp"
#include "capture/live/live.hpp"

namespace roce::capture {

struct SnifferWorld;

/// Opens a device for capture with the privileges of the caller. Errors name what is missing (a capability, a
/// device, a library) and the command that helps.
[[nodiscard]] Expected<std::unique_ptr<LiveSource>> open_live(const LiveOptions& options);
/// What is wrong with where to listen ("sflow://:6343"); empty: nothing.
[[nodiscard]] std::string listen_error(const std::string& list);
/// For tests: RDMA devices and files of the system are those of `world`. Network interfaces are always those
/// of this machine.
[[nodiscard]] Expected<std::unique_ptr<LiveSource>> open_live_in(const LiveOptions& options,
                                                                 const SnifferWorld& world);

}  // namespace roce::capture
