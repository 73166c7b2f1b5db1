// SPDX-License-Identifier: Apache-2.0
// The first part of the text report: what is wrong, said once, and the verdict.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/base/units.hpp"
#include "analyze/report/advice.hpp"
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

using analyze::Diagnosis;
using analyze::Severity;
using analyze::Snapshot;

constexpr std::size_t told = 3;     // diagnoses shown in full; --json has all
constexpr std::size_t named = 10;   // and so many by their sentence
constexpr std::size_t screen = 54;  // lines that those in full may take, for all to fit on one of 60

std::string where_text(const Snapshot& s) {
  std::string text = "in " + plural(s.totals.roce_packets, "RoCE packet", "RoCE packets");
  if (s.totals.packets != s.frames_read) text += " of the selection";
  return text;
}

void write_diagnosis(Page& page, const Snapshot& s, const Diagnosis& d) {
  const ConsequenceStyle& style = consequence_style(d.severity);
  page.section(style.margin, style.code);
  const auto line = [&page](std::string_view text) {
    if (!text.empty()) page.line(printable(text));
  };
  page.line(page.paint("1", printable(d.sentence)));
  line(analyze::subject_text(d));
  line(analyze::facts_text(d));
  line(analyze::not_excluded_text(d));
  line(analyze::would_decide_text(d));
  if (!d.packets.empty()) {
    line(evidence_text(
        s, {d.packets, d.at_least > d.packets.size(), d.since_ns, d.until_ns, analyze::doubt(d)}));
  }
  write_advice(page, analyze::advice_parts(d, files_to_type(s, page.style())));
  line(analyze::evidence_text(s, d));
  page.gap();
}

/// The worst one in full, and others as long as there is room.
void write_diagnoses(Page& page, const Snapshot& s, std::size_t in_full, std::size_t lines) {
  const std::size_t short_ones = std::min(named, s.diagnoses.size());
  std::size_t full = 0;
  for (; full < std::min(in_full, s.diagnoses.size()); ++full) {
    Page one(page.style());
    write_diagnosis(one, s, s.diagnoses[full]);
    constexpr std::size_t of_sentence = 2;
    const std::size_t behind = of_sentence * (short_ones - std::min(short_ones, full + 1));
    if (full != 0 && page.lines() + one.lines() + behind > lines) break;
    page.block(one.take());
  }
  for (std::size_t i = full; i < short_ones; ++i) {
    const ConsequenceStyle& style = consequence_style(s.diagnoses[i].severity);
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

/// ". Checked: losses in 2 connections. Not judged: ..."; `checked`: what is said to be in order.
std::string coverage_text(const Snapshot& s, bool checked) {
  std::string text;
  if (const std::string what = analyze::what_was_checked(s); checked && !what.empty())
    text += ". Checked: " + what;
  if (const std::string what = analyze::what_was_not_checked(s); !what.empty())
    text += ". Not judged: " + what;
  return text;
}

}  // namespace

void write_what_is_wrong(Page& page, const Snapshot& s, std::size_t in_full, std::size_t lines) {
  if (const std::string missing = analyze::incomplete_text(s); !missing.empty()) {
    page.section("INCOMPLETE", "1;33");
    page.line(missing);
  }
  if (const std::string limits = analyze::capture_limits_text(s); !limits.empty()) {
    page.section("LIMITED", "1;33");
    page.line(limits);
  }
  write_diagnoses(page, s, in_full, lines);
}

void write_verdict(Page& page, const Snapshot& s) {
  const analyze::CaptureHealth assessment = analyze::capture_health(s);
  write_what_is_wrong(page, s, told, screen);
  page.section("Verdict", assessment.good() ? "1;32" : "1");
  if (!assessment.anything)
    return page.line(
        assessment.nothing(s.completeness.samples_only ? "only samples of traffic" : "no RoCE packets"));
  const std::string counts = analyze::findings_text(analyze::severity_counts(s));
  if (s.totals.roce_packets == 0 && !s.completeness.samples_only) {
    page.line(assessment.nothing("no RoCE packets") + (counts.empty() ? "" : "; " + counts));
    if (page.style().findings) write_findings(page, s);
    return;
  }
  const analyze::Diagnosis* const worst = analyze::worst_diagnosis(s);
  const bool plain = assessment.serious() || !assessment.judged ||
                     (worst != nullptr && worst->severity != analyze::Consequence::odd);
  const bool full = counts.empty() || page.style().findings || s.diagnoses.empty();
  page.line(fmt::format("{}{} {}{}{}", plain || counts.empty() ? "" : "nothing serious: ",
                        counts.empty() ? assessment.without_findings() : counts, where_text(s),
                        full ? "" : " (in full: report --findings)",
                        coverage_text(s, counts.empty() || !plain)));
  if (const std::string noted = noted_text(s); !noted.empty()) page.line("noted: " + noted);
  if (page.style().findings) write_findings(page, s);
}

}  // namespace roce::cli
