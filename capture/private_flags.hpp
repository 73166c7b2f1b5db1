// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

// Internal: switches that a driver has for itself (ethtool --show-priv-flags).
namespace roce::capture {

/// Whether the flag is on; nothing where the driver has no flag of this name, or tells nobody.
[[nodiscard]] std::optional<bool> private_flag(const std::string& interface, std::string_view flag);

/// Carries out a command of linux/ethtool.h in its memory; false: the driver does not know it.
using EthtoolCall = std::function<bool(std::byte* command)>;
/// The same, of the driver behind `ask`.
[[nodiscard]] std::optional<bool> private_flag(const EthtoolCall& ask, std::string_view flag);

}  // namespace roce::capture
