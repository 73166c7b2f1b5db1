// SPDX-License-Identifier: Apache-2.0
// The first part of the text report: what is wrong, said once, and the verdict.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/base/units.hpp"
#include "analyze/report/what_was_checked.hpp"
#include "analyze/results/capture_health.hpp"
#include "analyze/results/diagnosis.hpp"
#include "analyze/results/finding.hpp"
#include "analyze/results/severity_counts.hpp"
#include "cli/core/page.hpp"
#include "cli/report/report_evidence.hpp"
#include "cli/report/report_parts.hpp"

namespace roce::cli {
namespace {

using analyze::Consequence;
using analyze::Diagnosis;
using analyze::Severity;
using analyze::Snapshot;

constexpr std::size_t told = 3;    // diagnoses shown in full; --json has all
constexpr std::size_t named = 10;  // and so many by their sentence

struct ConsequenceStyle {
  std::string_view margin;
  std::string_view code;
};
/// By analyze::Consequence.
constexpr ConsequenceStyle consequence_styles[] = {{"ODD", "1;36"}, {"DEGRADED", "1;33"}, {"FATAL", "1;31"}};
constexpr const ConsequenceStyle& style_of(Consequence severity) {
  return consequence_styles[static_cast<std::size_t>(severity)];
}

std::string where_text(const Snapshot& s) {
  std::string text = "in " + plural(s.totals.roce_packets, "RoCE packet", "RoCE packets");
  if (s.totals.packets != s.frames_read) text += " of the selection";
  return text;
}

/// "loss_after_capture (22 times), go_back_n_storm (1749 times)"
std::string findings_text(const Snapshot& s, const Diagnosis& d) {
  std::vector<std::pair<std::string_view, std::uint64_t>> counts;
  for (const std::size_t index : d.findings) {
    const analyze::Finding& finding = s.findings[index];
    const auto same = std::find_if(counts.begin(), counts.end(),
                                   [&](const auto& each) { return each.first == finding.id; });
    if (same == counts.end()) {
      counts.emplace_back(finding.id, finding.count);
    } else {
      same->second += finding.count;
    }
  }
  std::string text;
  for (const auto& [id, count] : counts) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", id,
                        count == 1 ? std::string("once") : fmt::format("{} times", count));
  }
  return text;
}

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += between;
    text += part;
  }
  return text;
}

void write_diagnosis(Page& page, const Snapshot& s, const Diagnosis& d) {
  const ConsequenceStyle& style = style_of(d.severity);
  page.section(style.margin, style.code);
  page.line(page.paint("1", printable(d.sentence)));
  if (!d.sentence.starts_with(d.subject)) page.line(printable(d.subject));
  if (!d.facts.empty()) page.line(printable(joined(d.facts, " ")));
  if (!d.alternatives.empty()) page.line("Not excluded: " + printable(joined(d.alternatives, "; ")) + ".");
  if (!d.would_decide.empty()) page.line("Would decide: " + printable(d.would_decide) + ".");
  constexpr double sure = 0.95;
  page.line(evidence_text(s, {d.packets, d.at_least > d.packets.size(), d.since_ns, d.until_ns,
                              d.confidence < sure ? d.confidence : 1}));
  if (!d.advice.empty()) write_advice(page, s, d.advice);
  for (const std::string& command : d.commands) {
    if (d.advice.find(command) == std::string::npos) write_command(page, s, command);
  }
  if (const std::string findings = findings_text(s, d); !findings.empty()) page.line("Evidence: " + findings);
  page.gap();
}

void write_diagnoses(Page& page, const Snapshot& s) {
  const std::size_t full = std::min(told, s.diagnoses.size());
  for (std::size_t i = 0; i < full; ++i) write_diagnosis(page, s, s.diagnoses[i]);
  const std::size_t short_ones = std::min(named, s.diagnoses.size());
  for (std::size_t i = full; i < short_ones; ++i) {
    const ConsequenceStyle& style = style_of(s.diagnoses[i].severity);
    page.section(style.margin, style.code);
    page.line(printable(s.diagnoses[i].sentence));
  }
  if (short_ones < s.diagnoses.size())
    page.line(fmt::format("and {} more: see --json", s.diagnoses.size() - short_ones));
  if (full < s.diagnoses.size()) page.gap();
}

/// What is worth knowing, but no trouble: "ECN is not used (ecn_off)".
std::string noted_text(const Snapshot& s) {
  std::string text;
  std::string_view before;
  for (const analyze::Finding& finding : s.findings) {
    if (finding.severity != Severity::info || finding.title == before) continue;
    before = finding.title;
    text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", finding.title, finding.id);
  }
  return text;
}

}  // namespace

void write_verdict(Page& page, const Snapshot& s) {
  const analyze::CaptureHealth assessment = analyze::capture_health(s);
  if (const std::string missing = analyze::incomplete_text(s); !missing.empty()) {
    page.section("INCOMPLETE", "1;33");
    page.line(missing);
  }
  if (const std::string limits = analyze::capture_limits_text(s); !limits.empty()) {
    page.section("LIMITED", "1;33");
    page.line(limits);
  }
  write_diagnoses(page, s);
  page.section("Verdict", assessment.good() ? "1;32" : "1");
  if (!assessment.anything) return page.line(assessment.nothing("no RoCE packets"));
  if (s.findings.empty()) {
    const std::string checked = analyze::what_was_checked(s);
    const std::string unchecked = analyze::what_was_not_checked(s);
    page.line(fmt::format("{} {}{}{}{}{}", assessment.judged ? "nothing wrong found" : "no findings",
                          where_text(s), checked.empty() ? "" : ". Checked: ", checked,
                          unchecked.empty() ? "" : ". Not judged: ", unchecked));
    return;
  }
  page.line(fmt::format("{}{} {}{}", assessment.serious() || !assessment.judged ? "" : "nothing serious: ",
                        analyze::severities_text(analyze::severity_counts(s.findings)), where_text(s),
                        page.style().findings || s.diagnoses.empty() ? "" : " (in full: report --findings)"));
  if (const std::string noted = noted_text(s); !noted.empty()) page.line("noted: " + noted);
  if (page.style().findings) write_findings(page, s);
}

}  // namespace roce::cli
