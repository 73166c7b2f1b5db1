// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace roce::analyze {

/// An error in a policy: its position and what was expected there.
struct PolicyError {
  std::string file;        ///< as given by the user
  std::size_t line = 0;    ///< from 1; 0: the file as a whole
  std::size_t column = 0;  ///< from 1, in characters
  std::string message;

  /// "policy.toml:3:5: no key 'dsp' in [class.data]; did you mean 'dscp'?"
  [[nodiscard]] std::string describe() const;
  [[nodiscard]] bool operator==(const PolicyError&) const = default;
};

/// In the order of the file; not empty as the error of an expected.
using PolicyErrors = std::vector<PolicyError>;
/// Maximum number of errors reported, because one mistake may cause many.
inline constexpr std::size_t policy_errors_kept = 20;

}  // namespace roce::analyze
