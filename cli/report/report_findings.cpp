// SPDX-License-Identifier: Apache-2.0
// The findings of the text report, in full.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyze/results/finding.hpp"
#include "analyze/results/severity_counts.hpp"
#include "cli/core/page.hpp"
#include "cli/report/report_evidence.hpp"
#include "cli/report/report_parts.hpp"

namespace roce::cli {
namespace {

using analyze::Finding;
using analyze::severities_text;
using analyze::Severity;
using analyze::severity_counts;
using analyze::Snapshot;

constexpr std::size_t most = 10;  // findings shown in full; --json has all

struct SeverityStyle {
  std::string_view margin;
  std::string_view code;
};
/// By analyze::Severity.
constexpr SeverityStyle styles[] = {{"INFO", "1"}, {"ODD", "1;36"}, {"DEGRADED", "1;33"}, {"FATAL", "1;31"}};
constexpr const SeverityStyle& style_of(Severity severity) {
  return styles[static_cast<std::size_t>(severity)];
}

void write_finding(Page& page, const Snapshot& s, const Finding& finding, Severity severity) {
  const SeverityStyle& style = style_of(severity);
  page.gap();
  page.section(style.margin, style.code);
  page.line(fmt::format("{} ({}{})", page.paint("1", printable(finding.title)), finding.id,
                        finding.count > 1 ? fmt::format(", {} times", finding.count) : std::string()));
  page.line(printable(finding.subject));
  page.line(printable(finding.explanation));
  page.line(evidence_text(s, {finding.packets, finding.count > finding.packets.size(), finding.first_time_ns,
                              finding.last_time_ns, finding.confidence}));
  write_advice(page, analyze::advice_parts(finding.advice, files_to_type(s, page.style())));
}

}  // namespace

void write_findings(Page& page, const Snapshot& s) {
  const std::vector<Finding>& findings = s.findings;
  const std::size_t shown = std::min(most, findings.size());
  const std::vector<Severity> severities = analyze::shown_severities(s);
  for (std::size_t i = 0; i < shown; ++i) write_finding(page, s, findings[i], severities[i]);
  if (shown == findings.size() && s.findings_dropped == 0) return;
  page.gap();
  std::string more = severities_text(severity_counts(s, shown));
  if (s.findings_dropped != 0)
    more += fmt::format("{}{} that were not kept", more.empty() ? "" : ", ", s.findings_dropped);
  page.line(fmt::format("and {} more ({}): see --json", findings.size() - shown + s.findings_dropped, more));
}

}  // namespace roce::cli
