// SPDX-License-Identifier: Apache-2.0
// Options that say whose rows a store gets.
#pragma once

#include <string>
#include <vector>

#include "analyze/store/rows.hpp"

namespace CLI {
class App;
}

namespace roce::cli {

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
