// SPDX-License-Identifier: Apache-2.0
// What the findings about a policy share: one finding for every violated rule.
#pragma once

#include <initializer_list>
#include <string>

#include "analyze/results/finding.hpp"
#include "analyze/policy/violations.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

/// What to configure, and to which value.
using PolicyAdvice = std::string (*)(const PolicyModel& policy, const RuleViolation& violation);

/// Adds a finding for each violated rule of these checks.
void report_violations(const Snapshot& snapshot, FindingSink& sink, std::initializer_list<MarkCheck> checks,
                       Severity severity, PolicyAdvice advice);

/// The markings that the policy requires of the packets of a violation: those of the rule, else those of the
/// class.
[[nodiscard]] MarkRule wanted_marks(const PolicyModel& policy, const RuleViolation& violation);
/// The smallest number of a set; nothing if it is absent or empty.
template <std::size_t N>
[[nodiscard]] std::optional<unsigned> first_of(const std::optional<NumberSet<N>>& set) {
  for (unsigned i = 0; set && i < N; ++i) {
    if (set->contains(i)) return i;
  }
  return std::nullopt;
}
/// "0,0,0,1,0,0,0,0": lossless priorities as mlnx_qos --pfc takes them.
[[nodiscard]] std::string pfc_list(const PolicyModel& policy);

}  // namespace roce::analyze
