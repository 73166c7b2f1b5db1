// SPDX-License-Identifier: Apache-2.0
#include "analyze/report/html/html_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "analyze/base/units.hpp"
#include "analyze/base/value_format.hpp"
#include "analyze/report/html/html_parts.hpp"
#include "analyze/results/capture_health.hpp"
#include "analyze/results/severity_counts.hpp"

namespace roce::analyze {
namespace html {

std::string since_start(const Snapshot& s, std::int64_t time_ns) {
  std::string text = "+";
  append_seconds(text, span_ns(s.first_read_ns.value_or(s.totals.first_time_ns), time_ns), 6);
  return text + " s";
}

}  // namespace html

namespace {

using html::Page;

/// Class in the style sheet for the overall state; empty without RoCE packets.
std::string_view kind_of_health(const CaptureHealth& health) {
  if (health.good()) return "good";
  return health.anything || !health.whole ? severity_name(health.level()) : std::string_view{};
}

/// "Nothing serious: 1 finding (odd) in 12 RoCE packets"
std::string counts_line(const Snapshot& s, const CaptureHealth& health) {
  const std::string so_far = s.final ? "" : " so far";
  if (!health.anything)
    return health.nothing((s.completeness.samples_only ? "Only samples of traffic" : "No RoCE packets") +
                          so_far);
  std::string what = findings_text(severity_counts(s));
  const bool plain = health.serious() || !health.judged || health.diagnosis != nullptr;
  if (!what.empty() && !plain) what.insert(0, "Nothing serious: ");
  if (what.empty()) {
    what = health.without_findings();
    what.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(what.front())));
  }
  return fmt::format("{} in {}{}", what, plural(s.totals.roce_packets, "RoCE packet", "RoCE packets"),
                     so_far);
}

std::string title_of(const Snapshot& s) {
  if (s.files.empty()) return "RoCE report";
  const std::string& path = s.files.front().path;
  std::string name = path == "-" ? "standard input" : path.substr(path.rfind('/') + 1);
  if (s.files.size() > 1) name += fmt::format(" and {} more", s.files.size() - 1);
  return "RoCE report: " + name;
}

void write_navigation(Page& page) {
  const Snapshot& s = page.snapshot;
  const std::tuple<std::string_view, std::string_view, bool> parts[] = {
      {"#diagnoses", "What is wrong", !s.diagnoses.empty()},
      {"#findings", "Findings", !s.findings.empty()},
      {"#capture", "Capture", true},
      {"#timeline", "Timeline", s.totals.any_time && !s.series.buckets().empty()},
      {"#connections", "Connections", !s.connections.empty()},
      {"#hosts", "Hosts", !s.connections.empty()},
      {"#flows", "Flows", !s.flows.empty()},
      {"#markings", "Markings", !s.markings.rows.empty()},
      {"#pauses", "Pauses", !s.pauses.ports.empty()},
      {"#dcbx", "DCBX", !s.dcbx.ports.empty()},
      {"#mrc", "MRC", s.mrc != nullptr},
      {"#exports", "Exports", s.exports.any()},
      {"#doubts", "Skipped or doubtful", !s.diagnostics.empty()}};
  page.html.open("nav", {{"aria-label", "Parts of the report"}});
  for (const auto& [target, name, there] : parts) {
    if (there) page.html.element("a", name, {{"href", target}}).text(" ");
  }
  page.html.close().line_break();
}

void write_head(Page& page, const std::string& title) {
  HtmlWriter& html = page.html;
  html.raw("<!DOCTYPE html>\n");
  html.open("html", {{"xmlns", "http://www.w3.org/1999/xhtml"}, {"lang", "en"}}).line_break();
  html.open("head").empty("meta", {{"charset", "utf-8"}});
  if (!page.is_document()) {
    // Whatever untrusted names a capture contains: no script runs, nothing is loaded.
    html.empty("meta", {{"http-equiv", "Content-Security-Policy"},
                        {"content", "default-src 'none'; style-src 'unsafe-inline'"}});
    html.empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
    html.empty("meta", {{"name", "generator"}, {"content", page.options.program}});
  }
  html.element("title", title);
  if (!page.is_document()) html.open("style").raw(html::style_sheet()).close();
  html.close().line_break();
}

/// What the verdict does not cover, judged first.
void write_caveats(Page& page) {
  const std::pair<std::string_view, std::string> caveats[] = {
      {"INCOMPLETE: ", incomplete_text(page.snapshot)}, {"LIMITED: ", capture_limits_text(page.snapshot)}};
  for (const auto& [label, text] : caveats) {
    if (text.empty()) continue;
    page.html.open("strong").text(label).text(text).close().text(". ");
  }
}

/// What is wrong above the name of the capture, in large type; what was counted below it, in small.
void write_header(Page& page, const std::string& title) {
  HtmlWriter& html = page.html;
  const CaptureHealth health = capture_health(page.snapshot);
  const std::string kind(kind_of_health(health));
  const std::string verdict = kind.empty() ? "verdict" : "verdict " + kind;
  html.open("header");
  if (health.diagnosis == nullptr) {
    html.element("h1", title).line_break();
    html.open("p", {{"class", verdict}});
    write_caveats(page);
    html.text(counts_line(page.snapshot, health)).close();
  } else {
    if (!health.whole || !capture_limits_text(page.snapshot).empty()) {
      html.open("p", {{"class", "verdict notice"}});
      write_caveats(page);
      html.close().line_break();
    }
    html.open("p", {{"class", verdict + " worst"}});
    html.element("span", html::severity_sign(severity_like(health.diagnosis->severity)),
                 {{"aria-hidden", "true"}});
    html.text(" ").element("strong", health.diagnosis->sentence).close().line_break();
    html.element("h1", title).line_break();
    html.element("p", counts_line(page.snapshot, health), {{"class", "quiet"}});
  }
  html.close().line_break();
}

}  // namespace

void html_report(const Snapshot& snapshot, const HtmlOptions& options, const ReportSink& sink) {
  Page page{HtmlWriter(sink.text), snapshot, options, sink};
  HtmlWriter& html = page.html;
  const std::string title = title_of(snapshot);
  write_head(page, title);
  html.open("body").line_break();
  write_header(page, title);
  if (!page.is_document()) write_navigation(page);
  html.open("main").line_break();
  html::write_diagnoses(page);
  html::write_findings(page);
  html::write_capture(page);
  html::write_timeline(page);
  html::write_tables(page);
  html::write_doubts(page);
  html.close().line_break();
  html.open("footer")
      .element("p", "Made by " + options.program + ".", {{"class", "quiet"}})
      .close()
      .line_break();
  html.close().close().line_break();
  page.step();
}

}  // namespace roce::analyze
