// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"
#include "analyze/compare/compare_diagnoses.hpp"
#include "analyze/compare/compare_words.hpp"
#include "analyze/compare/lost_columns.hpp"
#include "analyze/results/capture_health.hpp"
#include "cli/compare/compare_report.hpp"
#include "cli/core/listing.hpp"
#include "cli/core/page.hpp"
#include "cli/core/text_table.hpp"
#include "dissect/opcode.hpp"

namespace roce::cli {
namespace {

using analyze::CompareResult;

void write_point(Page& page, const analyze::ComparePointFacts& point, std::string_view name) {
  page.section(name);
  for (const capture::FileInfo& file : point.files)
    page.line(fmt::format("{} ({})", printable(file.path), file.format.empty() ? "not read" : file.format));
  for (const std::string& line : analyze::point_lines(point)) page.line(line);
}

void write_clocks(Page& page, const CompareResult& result) {
  page.section("Clocks");
  for (const std::string& line : analyze::clock_lines(result)) page.line(line);
}

void write_directions(Page& page, const CompareResult& result) {
  TextTable table({{"", false, 0}, {"A to B", true, 0}, {"B to A", true, 0}});
  for (const analyze::CompareFigure& figure : analyze::compare_figures(result))
    table.add_row({(figure.part ? "  " : "") + figure.name, figure.text[0], figure.text[1]});
  page.gap();
  page.block(table.render(page.width(), 0));
}

void write_lost(Page& page, const CompareResult& result, std::size_t top) {
  if (result.lost.empty()) return;
  page.gap();
  page.section("Lost");
  const std::size_t shown = top == 0 ? result.lost.size() : std::min(top, result.lost.size());
  const std::uint64_t all = result.directions[0].lost.count + result.directions[1].lost.count;
  if (shown < all) {
    page.line(fmt::format("the first {} of {} (more: --top N, --csv)", shown, all));
  } else {
    page.line(packets_text(all));
  }
  TextTable table({{"Seen in", false, 0},
                   {"Packet", true, 0},
                   {"Connection", true, 0},
                   {"From", false, 1},
                   {"To", false, 1},
                   {"QP", true, 1},
                   {"Opcode", false, 2},
                   {"PSN", true, 0},
                   {"Repaired by", true, 0}});
  for (std::size_t i = 0; i < shown; ++i) {
    const analyze::LostPacket& lost = result.lost[i];
    table.add_row({lost.direction == 0 ? "A" : "B", std::to_string(lost.packet),
                   lost.connection ? std::to_string(*lost.connection) : "-",
                   analyze::address_text(lost.key.src), analyze::address_text(lost.key.dst),
                   fmt::format("0x{:06x}", lost.key.dst_qp), std::string(dissect::opcode_name(lost.opcode)),
                   std::to_string(lost.psn), lost.repaired_by ? std::to_string(*lost.repaired_by) : "-"});
  }
  page.block(table.render(page.width(), 0));
}

void write_repeats(Page& page, const CompareResult& result, std::size_t top) {
  if (result.repeats.empty()) return;
  page.gap();
  page.section("Repeated");
  const std::size_t shown = top == 0 ? result.repeats.size() : std::min(top, result.repeats.size());
  if (shown < result.repeats.size() || result.repeats_omitted != 0) {
    page.line(fmt::format("the first {} of {} rows (more: --top N, --csv --repeats)", shown,
                          result.repeats.size()));
  }
  TextTable table({{"Seen in", false, 0},
                   {"Packet", true, 0},
                   {"Packets", true, 0},
                   {"Connection", true, 0},
                   {"QP", true, 1},
                   {"Opcode", false, 2},
                   {"PSN", true, 0},
                   {"Cause", false, 0},
                   {"Shown by", false, 0},
                   {"Waited", true, 1},
                   {"Answered", true, 1}});
  const auto time = [](const std::optional<std::int64_t>& ns) {
    return ns ? analyze::duration_text(*ns) : std::string("-");
  };
  for (std::size_t i = 0; i < shown; ++i) {
    const analyze::RepeatRun& run = result.repeats[i];
    table.add_row({run.direction == 0 ? "A" : "B", std::to_string(run.packet), std::to_string(run.packets),
                   run.connection ? std::to_string(*run.connection) : "-",
                   fmt::format("0x{:06x}", run.key.dst_qp), std::string(dissect::opcode_name(run.opcode)),
                   std::to_string(run.psn),
                   analyze::repeat_cause_text(run.cause, run.direction) + (run.nak_lost ? ", NAK lost" : ""),
                   analyze::shown_by_text(run), time(run.waited_ns), time(run.answered_ns)});
  }
  page.block(table.render(page.width(), 0));
}

/// Only where there are several of one direction between two hosts: else the figures above say it.
void write_paths(Page& page, const CompareResult& result, std::size_t top) {
  std::map<std::pair<dissect::IpAddress, dissect::IpAddress>, int> of_hosts;
  bool several = false;
  for (const analyze::ComparePath& path : result.paths) several |= ++of_hosts[{path.src, path.dst}] > 1;
  if (!several) return;
  page.gap();
  page.section("Paths");
  std::vector<const analyze::ComparePath*> rows;
  for (const analyze::ComparePath& path : result.paths) {
    if (top == 0 || rows.size() < top) rows.push_back(&path);
  }
  page.line(rows.size() == result.paths.size()
                ? std::string("by UDP source port")
                : fmt::format("by UDP source port, the {} that lost most of {} (more: --top N, --json)",
                              rows.size(), result.paths.size()));
  if (result.paths_omitted != 0)
    page.line(fmt::format("{} of paths beyond the limit", packets_text(result.paths_omitted)));
  page.block(table_text(rows, analyze::compare_path_columns(), "", page.width()));
}

/// How many there are of each severity: "1 degraded, 2 odd".
std::string counts_text(const std::vector<analyze::Diagnosis>& diagnoses) {
  std::string text;
  using enum analyze::Consequence;
  for (const analyze::Consequence severity : {fatal, degraded, odd}) {
    const auto count = std::count_if(diagnoses.begin(), diagnoses.end(),
                                     [severity](const auto& each) { return each.severity == severity; });
    if (count != 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, analyze::consequence_names[severity]);
  }
  return text;
}

/// What is wrong, worst first, then the small print: how much there is of it, and what is worth knowing.
void write_comparison_verdict(Page& page, const analyze::Snapshot& verdict, const std::string& limits) {
  constexpr std::size_t in_full = 10;
  if (!limits.empty()) {
    page.section("LIMITED", "1;33");
    page.line(limits);
  }
  write_what_is_wrong(page, verdict, in_full, SIZE_MAX);
  analyze::CaptureHealth health = analyze::capture_health(verdict);
  health.judged = health.judged && limits.empty();
  page.section("Verdict", health.good() ? "1;32" : "1");
  if (!health.anything) return page.line(health.nothing("no RoCE packets"));
  const std::string counts = counts_text(verdict.diagnoses);
  page.line(fmt::format("{} in {} of both captures",
                        counts.empty() ? std::string(health.without_findings()) : counts,
                        plural(verdict.totals.roce_packets, "RoCE packet", "RoCE packets")));
  for (const analyze::Finding& finding : verdict.findings) {
    if (finding.severity != analyze::Severity::info) continue;
    page.line(printable(fmt::format("noted: {}: {} ({}): {}", finding.subject, finding.title, finding.id,
                                    finding.explanation)));
  }
}

}  // namespace

analyze::Snapshot verdict_of(const CompareResult& result) {
  analyze::Snapshot snapshot;
  snapshot.findings = std::vector<analyze::Finding>(result.findings.begin(), result.findings.end());
  snapshot.diagnoses = analyze::compare_diagnoses(result);
  snapshot.totals.roce_packets = result.points[0].packets + result.points[1].packets;
  snapshot.icrc_checked = false;
  for (const analyze::ComparePointFacts& point : result.points) {
    snapshot.frames_read += point.frames;
    if (point.interrupted && !snapshot.interrupted) snapshot.stop_reason = point.stop_reason;
    snapshot.interrupted = snapshot.interrupted || point.interrupted;
    for (analyze::Diagnostic& each : point.diagnostics()) snapshot.diagnostics.push_back(std::move(each));
    snapshot.errors.insert(snapshot.errors.end(), point.errors.begin(), point.errors.end());
  }
  return snapshot;
}

std::string compare_text(const CompareResult& result, const ReportStyle& style) {
  Page page(style);
  write_comparison_verdict(page, verdict_of(result), analyze::compare_limits_text(result));
  page.gap();
  write_point(page, result.points[0], "A");
  write_point(page, result.points[1], "B");
  if (result.matched() != 0) {
    write_clocks(page, result);
    write_directions(page, result);
    write_paths(page, result, style.top);
  }
  write_lost(page, result, style.top);
  write_repeats(page, result, style.top);
  write_diagnostics(page, verdict_of(result));
  return page.take();
}

}  // namespace roce::cli
