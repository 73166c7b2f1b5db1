// SPDX-License-Identifier: Apache-2.0
// Findings with their evidence and commands; what was not checked; diagnostics.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/report/html/html_parts.hpp"
#include "analyze/report/what_was_checked.hpp"
#include "analyze/results/not_judged.hpp"
#include "analyze/results/severity_counts.hpp"

namespace roce::analyze::html {
namespace {

void write_found(Page& page, const Finding& finding) {
  HtmlWriter& html = page.html;
  html.open("p", {{"class", "quiet"}});
  html.text(finding.subject).text(" · ");
  html.text(finding.count == 1 ? "once" : fmt::format("{} times", finding.count)).text(" · rule ");
  html.element("code", finding.id).close().line_break();
  html.element("h4", "What was seen").element("p", finding.explanation).line_break();
  html.element("h4", "Evidence")
      .element("p", packets_text(page.snapshot,
                                 {finding.packets, finding.count > finding.packets.size(),
                                  finding.first_time_ns, finding.last_time_ns, finding.confidence}));
  write_connection_links(page, finding.connections, false);
  html.line_break();
  write_advice(page, advice_parts(finding.advice, files_to_type(page.snapshot)));
}

void write_title(Page& page, const Finding& finding, Severity severity) {
  write_severity(page, severity, consequence_text(severity));
  page.html.element("h3", finding.title);
}

/// What a diagnosis has said already is only opened on request, where that is possible.
void write_one_finding(Page& page, const Finding& finding, std::size_t place, const Diagnosis* of) {
  HtmlWriter& html = page.html;
  const bool told = of != nullptr && !page.is_document();
  const Severity severity = shown_severity(finding, of);
  html.open("article", {{"class", severity_name(severity)}, {"id", told ? "" : finding_anchor(place)}});
  html.line_break();
  if (told) {
    html.open("details").open("summary");
    write_title(page, finding, severity);
    // Inside of the element, so that a browser that follows a link opens it.
    html.close().open("div", {{"id", finding_anchor(place)}}).line_break();
    write_found(page, finding);
    html.close().close();
  } else {
    write_title(page, finding, severity);
    write_found(page, finding);
  }
  html.close().line_break();
  page.step();
}

void write_not_judged(Page& page) {
  if (!page.snapshot.policy) return;
  HtmlWriter& html = page.html;
  html.open("p")
      .text("Validated against policy ")
      .element("code", page.snapshot.policy->model().name)
      .close();
  const std::vector<std::string> texts = not_judged(page.snapshot);
  if (texts.empty()) return;
  html.element("h3", "Not validated").open("ul").line_break();
  for (const std::string& text : texts) html.element("li", text).line_break();
  html.close().line_break();
}

}  // namespace

std::size_t findings_shown(const Page& page) noexcept {
  const std::size_t most = page.options.findings;
  const std::size_t all = page.snapshot.findings.size();
  return most == 0 ? all : std::min(most, all);
}

std::string finding_anchor(std::size_t place) {
  return fmt::format("finding-{}", place + 1);
}

void write_findings(Page& page) {
  const std::vector<Finding>& findings = page.snapshot.findings;
  HtmlWriter& html = page.html;
  const std::size_t shown = findings_shown(page);
  const std::vector<const Diagnosis*> told = diagnoses_of_findings(page.snapshot);
  html.open("section", {{"id", "findings"}}).element("h2", "Findings").line_break();
  if (findings.empty()) {
    const std::string checked = what_was_checked(page.snapshot);
    const std::string unchecked = what_was_not_checked(page.snapshot);
    if (page.snapshot.totals.roce_packets != 0)
      html.element("p",
                   fmt::format("None. {}{}", checked.empty() ? "" : fmt::format("Checked: {}. ", checked),
                               unchecked.empty() ? "" : fmt::format("Not judged: {}.", unchecked)))
          .line_break();
    else
      html.element("p", "None: there are no RoCE packets.").line_break();
  }
  for (std::size_t i = 0; i < shown; ++i) {
    write_one_finding(page, findings[i], i, told[i]);
  }
  const std::uint64_t left = findings.size() - shown + page.snapshot.findings_dropped;
  if (left != 0) {
    std::string text = fmt::format("And {} more", left);
    const std::string counts = severities_text(severity_counts(page.snapshot, shown));
    if (!counts.empty()) text += fmt::format(" ({})", counts);
    if (page.snapshot.findings_dropped != 0)
      text += fmt::format(", {} of them not kept", page.snapshot.findings_dropped);
    html.element("p", text + ": roceanalyze report --json FILE has all that were kept.").line_break();
  }
  write_not_judged(page);
  html.close().line_break();
}

void write_doubts(Page& page) {
  const Snapshot& s = page.snapshot;
  if (s.diagnostics.empty()) return;
  HtmlWriter& html = page.html;
  constexpr std::size_t most = 20;  // details per diagnostic
  html.open("section", {{"id", "doubts"}}).element("h2", "Skipped or doubtful").line_break();
  html.open("div", {{"class", "table"}}).open("table", {{"border", page.is_document() ? "1" : ""}});
  html.open("thead").open("tr");
  for (const std::string_view name : {"what", "severity", "count", "meaning"}) html.element("th", name);
  html.close().close().line_break().open("tbody").line_break();
  for (const Diagnostic& d : s.diagnostics) {
    html.open("tr", {{"id", d.id}});
    html.open("td").element("code", d.id).close();
    html.element("td", severity_name(d.severity)).element("td", std::to_string(d.count), {{"class", "n"}});
    html.open("td").text(d.help);
    for (std::size_t i = 0; i < std::min(most, d.details.size()); ++i) html.empty("br").text(d.details[i]);
    if (d.details.size() > most) html.empty("br").text(fmt::format("and {} more", d.details.size() - most));
    html.close().close().line_break();
  }
  html.close().close().close().close().line_break();
}

}  // namespace roce::analyze::html
