// SPDX-License-Identifier: Apache-2.0
// Findings with their evidence and commands; what was not checked; diagnostics.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/report/advice.hpp"
#include "analyze/report/html/html_parts.hpp"
#include "analyze/report/what_was_checked.hpp"
#include "analyze/results/not_judged.hpp"
#include "analyze/results/severity_counts.hpp"

namespace roce::analyze::html {
namespace {

/// Each severity has its own symbol.
std::string_view sign_of(Severity severity) {
  constexpr std::string_view signs[] = {"●", "◆", "▲", "■"};
  return signs[static_cast<std::size_t>(severity)];
}

std::string anchor(std::size_t place) {
  return fmt::format("finding-{}", place + 1);
}

/// "packets 12, 13, 40 …, from +0.200000 s to +4.510000 s"
std::string evidence_text(const Snapshot& s, const Finding& finding) {
  std::string text = finding.packets.size() == 1 ? "packet" : "packets";
  for (std::size_t i = 0; i < finding.packets.size(); ++i)
    text += fmt::format("{} {}", i == 0 ? "" : ",", finding.packets[i]);
  if (finding.count > finding.packets.size()) text += " …";
  if (finding.first_time_ns && s.totals.any_time) {
    const std::string first = since_start(s, *finding.first_time_ns);
    const std::string last = since_start(s, finding.last_time_ns.value_or(*finding.first_time_ns));
    text += first == last ? ", at " + first : fmt::format(", from {} to {}", first, last);
  }
  if (finding.confidence < 1) text += fmt::format("; confidence {:.0f} %", 100 * finding.confidence);
  return text;
}

void write_finding_connections(Page& page, const Finding& finding) {
  if (finding.connections.empty()) return;
  page.html.open("p").text(finding.connections.size() == 1 ? "connection" : "connections");
  for (std::size_t i = 0; i < finding.connections.size(); ++i)
    page.html.text(i == 0 ? " " : ", ").text(std::to_string(finding.connections[i]));
  page.html.close();
}

void write_advice(Page& page, const Finding& finding) {
  if (finding.advice.empty()) return;
  // Standard input cannot be read again, so the commands keep the placeholder FILE.
  std::vector<std::string> files;
  for (const capture::FileInfo& file : page.snapshot.files) files.push_back(file.path);
  constexpr std::size_t most = 20;
  if (files.size() > most || std::find(files.begin(), files.end(), "-") != files.end()) files.clear();
  page.html.element("h4", "What to do").line_break();
  for (const AdvicePart& part : advice_parts(finding.advice, files)) {
    if (part.command) {
      page.html.open("pre").element("code", part.text).close().line_break();
    } else {
      page.html.element("p", part.text).line_break();
    }
  }
}

void write_one_finding(Page& page, const Finding& finding, std::size_t place) {
  HtmlWriter& html = page.html;
  html.open("article", {{"class", severity_name(finding.severity)}, {"id", anchor(place)}}).line_break();
  html.open("p", {{"class", "severity"}})
      .element("span", sign_of(finding.severity), {{"aria-hidden", "true"}})
      .text(" ")
      .text(severity_name(finding.severity))
      .close();
  html.element("h3", finding.title);
  html.open("p", {{"class", "quiet"}});
  html.text(finding.subject).text(" · ");
  html.text(finding.count == 1 ? "once" : fmt::format("{} times", finding.count)).text(" · rule ");
  html.element("code", finding.id).close().line_break();
  html.element("h4", "What was seen").element("p", finding.explanation).line_break();
  html.element("h4", "Evidence").element("p", evidence_text(page.snapshot, finding));
  write_finding_connections(page, finding);
  html.line_break();
  write_advice(page, finding);
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

void write_findings(Page& page) {
  const std::vector<Finding>& findings = page.snapshot.findings;
  HtmlWriter& html = page.html;
  const std::size_t most = page.options.findings;
  const std::size_t shown = most == 0 ? findings.size() : std::min(most, findings.size());
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
  for (std::size_t i = 0; i < shown; ++i) write_one_finding(page, findings[i], i);
  const std::uint64_t left = findings.size() - shown + page.snapshot.findings_dropped;
  if (left != 0) {
    std::string text = fmt::format("And {} more", left);
    const std::string counts = severities_text(severity_counts(std::span(findings).subspan(shown)));
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
