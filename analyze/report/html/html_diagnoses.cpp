// SPDX-License-Identifier: Apache-2.0
// What is wrong, said once: a block for each diagnosis, with links to the findings that are its evidence.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/report/html/html_parts.hpp"

namespace roce::analyze::html {
namespace {

/// "remote_access_error, timeouts", each with a link to its finding if that is listed.
void write_evidence_findings(Page& page, const Diagnosis& d) {
  HtmlWriter& html = page.html;
  bool first = true;
  for (const auto& [id, count] : evidence_by_rule(page.snapshot, d)) {
    html.text(first ? "" : ", ");
    first = false;
    const auto place = std::find_if(d.findings.begin(), d.findings.end(), [&, &rule = id](std::size_t i) {
      return page.snapshot.findings[i].id == rule;
    });
    if (*place < findings_shown(page)) {
      html.element("a", id, {{"href", "#" + finding_anchor(*place)}});
    } else {
      html.text(id);
    }
  }
}

void write_one_diagnosis(Page& page, const Diagnosis& d, std::size_t number) {
  HtmlWriter& html = page.html;
  const Severity severity = severity_like(d.severity);
  html.open("article", {{"class", severity_name(severity)}, {"id", fmt::format("diagnosis-{}", number + 1)}});
  html.line_break();
  write_severity(page, severity, consequence_names[d.severity]);
  html.element("h3", d.sentence);
  if (const std::string_view subject = subject_text(d); !subject.empty())
    html.element("p", subject, {{"class", "quiet"}});
  html.line_break();
  for (const std::string& text : {facts_text(d), not_excluded_text(d), would_decide_text(d)}) {
    if (!text.empty()) html.element("p", text).line_break();
  }
  html.element("h4", "Evidence");
  html.element("p", packets_text(page.snapshot, {d.packets, d.at_least > d.packets.size(), d.since_ns,
                                                 d.until_ns, doubt(d)}));
  write_connection_links(page, d.connections, d.connection_count > d.connections.size());
  if (!d.findings.empty()) {
    html.open("p").text(d.findings.size() == 1 ? "finding " : "findings ");
    write_evidence_findings(page, d);
    html.close();
  }
  html.line_break();
  write_advice(page, advice_parts(d, files_to_type(page.snapshot)));
  html.close().line_break();
  page.step();
}

}  // namespace

void write_diagnoses(Page& page) {
  const std::vector<Diagnosis>& diagnoses = page.snapshot.diagnoses;
  if (diagnoses.empty()) return;
  HtmlWriter& html = page.html;
  html.open("section", {{"id", "diagnoses"}}).element("h2", "What is wrong").line_break();
  const std::size_t most = page.options.findings;
  const std::size_t shown = most == 0 ? diagnoses.size() : std::min(most, diagnoses.size());
  for (std::size_t i = 0; i < shown; ++i) write_one_diagnosis(page, diagnoses[i], i);
  if (shown < diagnoses.size()) {
    html.element(
        "p", fmt::format("And {} more: roceanalyze report --json FILE has all.", diagnoses.size() - shown));
    html.line_break();
  }
  html.close().line_break();
}

}  // namespace roce::analyze::html
