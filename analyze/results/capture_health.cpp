// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/capture_health.hpp"

namespace roce::analyze {

CaptureHealth capture_health(const Snapshot& s) {
  CaptureHealth assessment;
  assessment.anything = s.totals.roce_packets != 0 || !s.findings.empty();
  // Both lists begin with the most severe.
  assessment.whole = s.diagnostics.empty() || s.diagnostics.front().severity == DiagnosticSeverity::info;
  if (!s.findings.empty()) assessment.worst = s.findings.front().severity;
  return assessment;
}

}  // namespace roce::analyze
