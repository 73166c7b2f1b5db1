// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analyze/flow_columns.hpp"
#include "analyze/units.hpp"
#include "cli/compare_report.hpp"
#include "cli/page.hpp"
#include "cli/text_table.hpp"
#include "dissect/opcode.hpp"

namespace roce::cli {
namespace {

using analyze::CompareDirection;
using analyze::CompareResult;
using analyze::duration_text;

/// A delay may come out a little below 0, as far as the clocks' offset is uncertain.
std::string signed_duration(std::int64_t ns) {
  return ns < 0 ? "-" + duration_text(-ns) : duration_text(ns);
}

void write_point(Page& page, const analyze::ComparePointFacts& point, std::string_view name) {
  page.section(name);
  for (const capture::FileInfo& file : point.files)
    page.line(fmt::format("{} ({})", printable(file.path), file.format.empty() ? "not read" : file.format));
  std::string text = fmt::format("{}, {} of them RoCE", packets_text(point.frames), point.packets);
  if (point.any_time) {
    text +=
        fmt::format("; {} from {}", duration_text(analyze::span_ns(point.first_time_ns, point.last_time_ns)),
                    analyze::time_text(point.first_time_ns));
  }
  page.line(text);
  if (point.doubled != 0)
    page.line(fmt::format("{} left out that the capture has twice", packets_text(point.doubled)));
  if (point.damaged != 0) page.line(fmt::format("{} with a wrong checksum", packets_text(point.damaged)));
  if (point.dropped) {
    page.line(fmt::format("{} dropped while capturing", packets_text(*point.dropped)));
  } else {
    page.line("drops while capturing: the file does not say");
  }
}

void write_clocks(Page& page, const CompareResult& result) {
  page.section("Clocks");
  const analyze::ClockEstimate& clocks = result.clocks;
  if (!result.times_known) {
    page.line("a capture carries no times: nothing is said of delays");
    return;
  }
  if (!clocks.offset_ns) {
    page.line(
        "packets were matched in one direction only: the offset of the clocks is not known, and delays are "
        "relative "
        "to the fastest packet");
    return;
  }
  page.line(fmt::format(
      "B's clock is {} {} A's (within {}, if the fastest packets need equally long there and back)",
      duration_text(std::abs(*clocks.offset_ns)), *clocks.offset_ns < 0 ? "behind" : "ahead of",
      duration_text(*clocks.error_ns)));
  if (clocks.drift_ppm)
    page.line(fmt::format("it gains {:.3g} ppm on A's, which is taken off the delays", *clocks.drift_ppm));
}

void write_directions(Page& page, const CompareResult& result) {
  TextTable table({{"", false, 0}, {"A to B", true, 0}, {"B to A", true, 0}});
  const auto row = [&](std::string_view name, auto text) {
    table.add_row({std::string(name), text(result.directions[0]), text(result.directions[1])});
  };
  const auto count = [&](std::string_view name, auto number, bool always) {
    const auto of = [&](const CompareDirection& d) { return std::to_string(number(d)); };
    if (always || number(result.directions[0]) != 0 || number(result.directions[1]) != 0) row(name, of);
  };
  using D = CompareDirection;
  count(
      "seen at both", [](const D& d) { return d.matched; }, true);
  count(
      "lost between", [](const D& d) { return d.lost.count; }, true);
  count(
      "  of them sent again", [](const D& d) { return d.repaired; }, false);
  count(
      "overtaken between", [](const D& d) { return d.late.count; }, true);
  count(
      "damaged between", [](const D& d) { return d.corrupted.count; }, false);
  count(
      "doubled between", [](const D& d) { return d.duplicated.count; }, false);
  count(
      "missed by the first capture", [](const D& d) { return d.missed.count; }, false);
  count(
      "before or after the other capture", [](const D& d) { return d.not_covered; }, false);
  count(
      "repeats", [](const D& d) { return d.repeats.packets(); }, true);
  count(
      "  for a loss before both points", [](const D& d) { return d.repeats.before; }, false);
  count(
      "  for a loss between them", [](const D& d) { return d.repeats.between; }, false);
  count(
      "  for a loss behind both", [](const D& d) { return d.repeats.behind; }, false);
  count(
      "  unknown", [](const D& d) { return d.repeats.unknown; }, false);
  if (result.directions[0].delay || result.directions[1].delay) {
    const auto delay = [&](std::string_view name, std::int64_t analyze::DelayStats::*part) {
      row(name,
          [part](const D& d) { return d.delay ? signed_duration((*d.delay).*part) : std::string("-"); });
    };
    delay(result.clocks.offset_ns ? "delay, least" : "delay beyond the fastest, least",
          &analyze::DelayStats::min);
    delay("  median", &analyze::DelayStats::p50);
    delay("  90 %", &analyze::DelayStats::p90);
    delay("  99 %", &analyze::DelayStats::p99);
    delay("  largest", &analyze::DelayStats::max);
  }
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
                   analyze::address_of(lost.key.src), analyze::address_of(lost.key.dst),
                   fmt::format("0x{:06x}", lost.key.dst_qp), std::string(dissect::opcode_name(lost.opcode)),
                   std::to_string(lost.psn), lost.repaired_by ? std::to_string(*lost.repaired_by) : "-"});
  }
  page.block(table.render(page.width(), 0));
}

}  // namespace

analyze::Snapshot verdict_of(const CompareResult& result) {
  analyze::Snapshot snapshot;
  snapshot.findings = result.findings;
  snapshot.totals.roce_packets = result.points[0].packets + result.points[1].packets;
  snapshot.icrc_checked = false;
  return snapshot;
}

std::string compare_text(const CompareResult& result, const ReportStyle& style) {
  Page page(style);
  write_verdict(page, verdict_of(result));
  page.gap();
  write_point(page, result.points[0], "A");
  write_point(page, result.points[1], "B");
  if (result.matched() != 0) {
    write_clocks(page, result);
    write_directions(page, result);
  }
  write_lost(page, result, style.top);
  return page.take();
}

}  // namespace roce::cli
