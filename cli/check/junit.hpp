// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "analyze/results/snapshot.hpp"
#include "capture/write/output_rules.hpp"
#include "cli/core/fail_on.hpp"

namespace roce::cli {

/// The findings as JUnit XML for CI systems: one test case per rule, named by its id. A rule with a finding
/// at or above `least` fails, with the diagnosis that it is evidence of; the worst one is a property;
/// findings below it are in the output of the case, and what was not judged in the output of the suite.
/// Inputs that failed and incomplete results are errors; without RoCE packets there are no other test cases.
[[nodiscard]] std::string junit_xml(const analyze::Snapshot& snapshot, const FailOn& least,
                                    std::string_view policy);

/// Whether it is such a file, of an earlier check.
[[nodiscard]] bool is_junit(const capture::ExistingFile& file);

}  // namespace roce::cli
