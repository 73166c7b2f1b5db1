// SPDX-License-Identifier: Apache-2.0
// The first part of the text report: the verdict and the findings.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "analyze/base/units.hpp"
#include "analyze/base/value_format.hpp"
#include "analyze/report/advice.hpp"
#include "analyze/report/what_was_checked.hpp"
#include "analyze/results/capture_health.hpp"
#include "analyze/results/finding.hpp"
#include "analyze/results/severity_counts.hpp"
#include "cli/core/page.hpp"
#include "cli/core/text_table.hpp"

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
constexpr SeverityStyle styles[] = {
    {"INFO", "1"}, {"NOTICE", "1;36"}, {"WARNING", "1;33"}, {"ERROR", "1;31"}};
constexpr const SeverityStyle& style_of(Severity severity) {
  return styles[static_cast<std::size_t>(severity)];
}

std::string where_text(const Snapshot& s) {
  std::string text = "in " + plural(s.totals.roce_packets, "RoCE packet", "RoCE packets");
  if (s.totals.packets != s.frames_read) text += " of the selection";
  return text;
}

/// "packets 12, 13, 40 ..., from +0.200000 to +4.510000 s, confidence 70 %"
std::string evidence_text(const Snapshot& s, const Finding& finding) {
  std::string text = finding.packets.size() == 1 ? "packet" : "packets";
  for (std::size_t i = 0; i < finding.packets.size(); ++i)
    text += fmt::format("{} {}", i == 0 ? "" : ",", finding.packets[i]);
  if (finding.count > finding.packets.size()) text += " ...";
  if (finding.first_time_ns && s.totals.any_time) {
    // The format of the time column of `packets`, and of --from and --to.
    const auto since = [&s](std::int64_t time) {
      std::string seconds = "+";
      analyze::append_seconds(seconds, analyze::span_ns(s.totals.first_time_ns, time), 6);
      return seconds;
    };
    const std::string first = since(*finding.first_time_ns);
    const std::string last = since(finding.last_time_ns.value_or(*finding.first_time_ns));
    text += first == last ? fmt::format(", at {} s", first) : fmt::format(", from {} to {} s", first, last);
  }
  if (finding.confidence < 1) text += fmt::format(", confidence {:.0f} %", 100 * finding.confidence);
  return text;
}

/// Lines must not be broken inside of double quotes: these spaces are part of a filter's constant.
std::string unbroken_texts(std::string text) {
  bool inside = false;
  for (char& c : text) {
    if (c == '"') inside = !inside;
    if (c == ' ' && inside) c = Page::unbreakable;
  }
  return text;
}

/// Whether the text has no characters that printable() would escape, except backslashes.
bool shows_as_it_is(std::string_view text) {
  std::string bare(text);
  std::erase_if(bare, [](char c) { return c == '\\' || c == Page::unbreakable; });
  return printable(bare) == bare;
}

/// The file names that replace FILE in commands: one, if it can be typed.
std::vector<std::string> named_files(const Snapshot& s, const ReportStyle& style) {
  std::string path = style.file.value_or(s.files.size() == 1 ? s.files[0].path : std::string());
  if (path.empty() || path == "-" || !shows_as_it_is(path)) return {};
  std::replace(path.begin(), path.end(), ' ', Page::unbreakable);
  return {path};
}

/// A command on lines of its own, ready to be copied: a backslash continues it for the shell.
void write_command(Page& page, std::string command) {
  constexpr std::string_view filter = " -Y ";
  if (!shows_as_it_is(command)) command = printable(command);
  const std::size_t split = command.find(filter);
  if (display_width(command) + Page::indent > page.width() && split != std::string::npos) {
    page.line(command.substr(0, split + filter.size()) + "\\");
    command.erase(0, split + filter.size());
  }
  page.line(unbroken_texts(std::move(command)));
}

void write_advice(Page& page, const Snapshot& s, std::string_view advice) {
  std::string lead = "To do:";
  for (const analyze::AdvicePart& part : analyze::advice_parts(advice, named_files(s, page.style()))) {
    if (part.command && !lead.empty()) page.line(lead);
    if (part.command) {
      write_command(page, part.text);
    } else {
      page.line(lead + " " + printable(part.text));
    }
    lead.clear();
  }
}

void write_finding(Page& page, const Snapshot& s, const Finding& finding) {
  const SeverityStyle& style = style_of(finding.severity);
  page.gap();
  page.section(style.margin, style.code);
  page.line(fmt::format("{} ({}{})", page.paint("1", printable(finding.title)), finding.id,
                        finding.count > 1 ? fmt::format(", {} times", finding.count) : std::string()));
  page.line(printable(finding.subject));
  page.line(printable(finding.explanation));
  page.line(evidence_text(s, finding));
  if (!finding.advice.empty()) write_advice(page, s, finding.advice);
}

}  // namespace

void write_verdict(Page& page, const Snapshot& s) {
  const std::vector<Finding>& findings = s.findings;
  const analyze::CaptureHealth assessment = analyze::capture_health(s);
  page.section("Verdict", assessment.good() ? "1;32" : style_of(assessment.level()).code);
  if (const std::string missing = analyze::incomplete_text(s); !missing.empty())
    page.line("INCOMPLETE: " + missing);
  if (!assessment.anything) return page.line(assessment.nothing("no RoCE packets"));
  if (findings.empty()) {
    const std::string checked = analyze::what_was_checked(s);
    page.line(fmt::format("nothing wrong found {}{}{}", where_text(s),
                          checked.empty() ? "" : ". Checked: ", checked));
    return;
  }
  page.line(fmt::format("{}{} {}", assessment.serious() ? "" : "nothing serious: ",
                        severities_text(severity_counts(findings)), where_text(s)));
  const std::size_t shown = std::min(most, findings.size());
  for (std::size_t i = 0; i < shown; ++i) write_finding(page, s, findings[i]);
  if (shown == findings.size() && s.findings_dropped == 0) return;
  page.gap();
  std::string more = severities_text(severity_counts(std::span(findings).subspan(shown)));
  if (s.findings_dropped != 0)
    more += fmt::format("{}{} that were not kept", more.empty() ? "" : ", ", s.findings_dropped);
  page.line(fmt::format("and {} more ({}): see --json", findings.size() - shown + s.findings_dropped, more));
}

}  // namespace roce::cli
