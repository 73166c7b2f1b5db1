// SPDX-License-Identifier: Apache-2.0
#include "analyze/report/html/html_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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

struct Headline {
  std::string line;
  std::string_view kind;  ///< class in the style sheet; empty without RoCE packets
};

Headline headline_of(const Snapshot& s) {
  const std::string so_far = s.final ? "" : " so far";
  const CaptureHealth assessment = capture_health(s);
  const std::string_view kind = assessment.good()                          ? "good"
                                : assessment.anything || !assessment.whole ? severity_name(assessment.level())
                                                                           : std::string_view{};
  if (!assessment.anything) return {assessment.nothing("No RoCE packets" + so_far), kind};
  std::string what = severities_text(severity_counts(s.findings));
  const bool calm = !assessment.serious() && assessment.judged;
  what = !what.empty() ? (calm ? "Nothing serious: " : "") + what
         : calm        ? "Nothing wrong found"
                       : "No findings";
  return {
      fmt::format("{} in {}{}", what, plural(s.totals.roce_packets, "RoCE packet", "RoCE packets"), so_far),
      kind};
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
      {"#findings", "Findings", !s.findings.empty()},
      {"#capture", "Capture", true},
      {"#timeline", "Timeline", s.totals.any_time && !s.series.buckets().empty()},
      {"#connections", "Connections", !s.connections.empty()},
      {"#hosts", "Hosts", !s.connections.empty()},
      {"#flows", "Flows", !s.flows.empty()},
      {"#markings", "Markings", !s.markings.rows.empty()},
      {"#pauses", "Pauses", !s.pauses.ports.empty()},
      {"#dcbx", "DCBX", !s.dcbx.ports.empty()},
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

}  // namespace

void html_report(const Snapshot& snapshot, const HtmlOptions& options, const ReportSink& sink) {
  Page page{HtmlWriter(sink.text), snapshot, options, sink};
  HtmlWriter& html = page.html;
  const std::string title = title_of(snapshot);
  write_head(page, title);
  html.open("body").line_break();
  html.open("header").element("h1", title).line_break();
  const Headline headline = headline_of(snapshot);
  html.open("p", {{"class", headline.kind.empty() ? "verdict" : fmt::format("verdict {}", headline.kind)}});
  if (const std::string missing = incomplete_text(snapshot); !missing.empty()) {
    html.element("strong", "INCOMPLETE: " + missing);
    html.text(". ");
  }
  if (const std::string limits = capture_limits_text(snapshot); !limits.empty()) {
    html.element("strong", "LIMITED: " + limits);
    html.text(". ");
  }
  html.text(headline.line).close().close().line_break();
  if (!page.is_document()) write_navigation(page);
  html.open("main").line_break();
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
