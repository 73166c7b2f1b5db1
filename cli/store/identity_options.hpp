// SPDX-License-Identifier: Apache-2.0
// Options that say whose rows a store gets.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/store/rows.hpp"

namespace CLI {
class App;
}

namespace roce::cli {

/// An IPv4 or IPv6 address in the notation of the store; none if it is none.
[[nodiscard]] std::optional<std::string> plain_address(const std::string& text);

/// As typed.
struct IdentityOptions {
  std::string host;
  std::string device;
  std::string fabric;
  std::string site;
  std::string rack;
  std::vector<std::string> labels;     ///< NAME=VALUE
  std::vector<std::string> addresses;  ///< of the host

  void add_to(CLI::App& command);
  /// Whether any was given.
  [[nodiscard]] bool any() const noexcept;
  /// With the host of --host, else `host`.
  [[nodiscard]] analyze::StoreIdentity identity(const std::string& host_otherwise) const;
};

}  // namespace roce::cli
