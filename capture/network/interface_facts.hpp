// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "capture/core/source.hpp"

// Internal: facts of a network interface, as stored in a capture file.
namespace roce::capture {

/// Sets name, description (the alias), speed_bps, hardware (the driver) and operating_system; unknown ones
/// stay empty. `root`: "" or a folder with a copy of another machine's /sys.
[[nodiscard]] InterfaceInfo interface_facts(const std::string& name, const std::string& root);

/// "52:54:00:12:34:56"; empty if it has none.
[[nodiscard]] std::string ethernet_address(const std::string& name, const std::string& root);

}  // namespace roce::capture
