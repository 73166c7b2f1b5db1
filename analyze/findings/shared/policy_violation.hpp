// SPDX-License-Identifier: Apache-2.0
// What the findings about a policy share: one finding for every rule of it that is broken.
#pragma once

#include <initializer_list>
#include <string>

#include "analyze/findings/rules.hpp"
#include "analyze/policy/violations.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

/// Which knob to turn, and to what.
using PolicyAdvice = std::string (*)(const PolicyModel& policy, const RuleBreach& breach);

/// Adds a finding for each broken rule of these checks.
void report_breaches(const Snapshot& snapshot, FindingSink& sink, std::initializer_list<MarkCheck> checks,
                     Severity severity, PolicyAdvice advice);

/// The marks that the policy asks of the packets of a breach: of the rule where it names them, else of the
/// class.
[[nodiscard]] MarkRule wanted_marks(const PolicyModel& policy, const RuleBreach& breach);
/// The least number of a set; nothing of an absent or empty one.
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
