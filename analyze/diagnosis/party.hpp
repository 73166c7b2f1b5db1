// SPDX-License-Identifier: Apache-2.0
// Hosts of a trouble, in words.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "analyze/diagnosis/troubles.hpp"

namespace roce::analyze::diagnosis {

/// Who stands on one end of all ways of a trouble.
struct Party {
  std::string name;  ///< "10.0.0.1", "4 hosts", "10.0.0.1 and 10.0.0.2"
  bool many = false;
  bool named = true;  ///< each host of it

  [[nodiscard]] std::string_view does(std::string_view one, std::string_view several) const noexcept {
    return many ? several : one;
  }
  /// Where to look: "10.0.0.1", "one of the 4 hosts".
  [[nodiscard]] std::string place() const { return named ? name : "one of the " + name; }
  [[nodiscard]] std::string oneself() const {
    return fmt::format("{} {}", name, does("itself", "themselves"));
  }
};

/// Those on that end: &Route::first sends what it hits.
[[nodiscard]] Party party_of(const Trouble& trouble, dissect::IpAddress Route::*end);

}  // namespace roce::analyze::diagnosis
