// SPDX-License-Identifier: Apache-2.0
// Names of hosts in place of their addresses, the same on all pages. Only what is read by people has them:
// filters, commands, copies and exports keep the addresses.
#pragma once

#include <QString>
#include <memory>
#include <string>
#include <string_view>

#include "analyze/base/host_names.hpp"

namespace roce::gui {

/// Sets the names for the whole program; null: none. GUI thread only.
void set_host_names(std::shared_ptr<const analyze::HostNames> names);
/// Null: none. Any thread.
[[nodiscard]] std::shared_ptr<const analyze::HostNames> host_names();

/// UTF-8, with names for those addresses that have one. Any thread.
[[nodiscard]] QString with_names(std::string_view text);
/// "10.77.0.1", or its name.
[[nodiscard]] QString shown_host(const dissect::IpAddress& address);

}  // namespace roce::gui
