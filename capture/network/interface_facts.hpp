// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "capture/core/source.hpp"

// Internal: what the system tells of a network interface, as a capture file states it.
namespace roce::capture {

/// name, description (its alias), speed_bps, hardware (its driver) and operating_system; what is not known
/// stays empty. `root` is "" or a folder with another machine's /sys.
[[nodiscard]] InterfaceInfo interface_facts(const std::string& name, const std::string& root);

/// "52:54:00:12:34:56"; empty where it has none.
[[nodiscard]] std::string ethernet_address(const std::string& name, const std::string& root);

}  // namespace roce::capture
