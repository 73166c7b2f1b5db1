// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "analyze/results/snapshot.hpp"

namespace roce::cli {

/// The findings as JUnit XML, which CI systems show: one test case a rule, named by its id. A rule with a
/// finding at or above `least` fails; what is found below it stands in the case's output, and what was not
/// judged in the suite's. Without RoCE packets there are no test cases but for inputs that failed.
[[nodiscard]] std::string junit_xml(const analyze::Snapshot& snapshot, analyze::Severity least,
                                    std::string_view policy);

}  // namespace roce::cli
