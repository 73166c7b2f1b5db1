// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "analyze/diagnosis/troubles.hpp"

namespace roce::analyze::diagnosis {

/// A diagnosis that is being made, and all connections and ways that it is about.
struct Draft {
  Diagnosis diagnosis;
  RootCause cause{};
  std::set<std::uint32_t> connections;
  std::set<Route> ways;
  std::set<Route> shown_on;    ///< ways of symptoms
  Causes symptoms;             ///< causes that were found to be part of it
  std::string advice;          ///< where findings of the cause itself do not tell it
  bool shows_packets = false;  ///< the advice of the diagnosis ends with a command for them
  bool is_told = false;        ///< a finding's explanation is among the facts: see told_by_findings
  std::string first;           ///< the sentence of the first of several findings that it is
  std::uint64_t most = 0;      ///< and its count
  int follows = 0;             ///< FindingRole::follows of the finding that it is
};

/// Gives each finding to the diagnosis that it is evidence of, first those that the cause itself shows, then
/// its symptoms; of the others come diagnoses of their own.
void share_out_findings(const Snapshot& snapshot, std::vector<Draft>& drafts);

}  // namespace roce::analyze::diagnosis
