// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "analyze/base/units.hpp"
#include "analyze/results/capture_health.hpp"
#include "analyze/results/connection_columns.hpp"
#include "analyze/results/unpaired_connections.hpp"
#include "cli/core/page.hpp"
#include "cli/core/text_table.hpp"
#include "cli/report/report.hpp"
#include "cli/report/report_parts.hpp"
#include "dissect/dissect.hpp"

namespace roce::cli {
namespace {

using analyze::bytes_text;
using analyze::percent_text;
using analyze::Snapshot;
using analyze::Totals;

void write_capture(Page& page, const Snapshot& s) {
  const Totals& t = s.totals;
  page.section("Capture");
  constexpr std::size_t most = 5;
  for (std::size_t i = 0; i < std::min(most, s.files.size()); ++i) {
    const capture::FileInfo& f = s.files[i];
    const std::string count =
        s.files.size() > 1 ? fmt::format(", {}", packets_text(f.packets)) : std::string();
    if (f.format.empty()) {
      page.line(fmt::format("{} (not read)", printable(f.path)));
      continue;
    }
    page.line(fmt::format("{} ({}{}{})", printable(f.path), f.format,
                          f.bytes != 0 ? ", " + bytes_text(f.bytes) : std::string(), count));
  }
  if (s.files.size() > most) page.line(fmt::format("and {} more files", s.files.size() - most));
  if (t.packets != s.frames_read) {
    const std::string by = s.filter.empty() ? "the time range" : "filter " + printable(s.filter);
    page.line(page.paint("1", fmt::format("{}: {} of {} packets", by, t.packets, s.frames_read)));
    if (!s.filter.empty() && !s.findings.empty()) {
      page.line(
          "Findings and their severities are based on all packets of a connection, including those that the "
          "filter excluded.");
    }
  }
  if (t.packets == 0) {
    page.line("no packets");
  } else {
    page.line(fmt::format("{}, {} on the wire{}", packets_text(t.packets), bytes_text(t.bytes),
                          t.captured_bytes < t.bytes
                              ? fmt::format(", {} of it captured", bytes_text(t.captured_bytes))
                              : std::string(", captured whole")));
    page.line(t.any_time
                  ? fmt::format("{} from {}",
                                analyze::duration_text(analyze::span_ns(t.first_time_ns, t.last_time_ns)),
                                analyze::time_text(t.first_time_ns))
                  : page.paint("1;33",
                               "the capture has no timestamps, so there are no rates, latencies and "
                               "waiting times"));
  }
  std::size_t told = 0;
  for (const capture::InterfaceInfo& i : s.interfaces) {
    if (i.name.empty() && i.speed_bps == 0 && i.filter.empty()) continue;
    if (++told > most) continue;
    std::string text = fmt::format("interface {}: {}", i.name.empty() ? "(no name)" : printable(i.name),
                                   packets_text(i.packets));
    if (i.speed_bps != 0) text += ", " + analyze::rate_text(static_cast<double>(i.speed_bps));
    if (!i.filter.empty()) text += ", filter \"" + printable(i.filter) + "\"";
    page.line(text);
  }
  if (told > most) page.line(fmt::format("and {} more interfaces", told - most));
  if (s.dropped()) {
    page.line(*s.dropped() == 0 ? std::string("no packets dropped while capturing")
                                : page.paint("1;31", fmt::format("{} DROPPED while capturing",
                                                                 packets_text(*s.dropped()))));
  } else {
    page.line("drops while capturing: not recorded in the file");
  }
}

using Named = std::vector<std::pair<std::string, std::uint64_t>>;

/// "DSCP 26: 510; ECT(0) 510; untagged 510".
std::string marks_listing(const std::array<std::uint64_t, 64>& by_dscp,
                          const std::array<std::uint64_t, 4>& ecn, const std::array<std::uint64_t, 8>& by_pcp,
                          std::uint64_t untagged) {
  Named dscp;
  Named pcp{{"untagged", untagged}};
  for (std::size_t i = 0; i < by_dscp.size(); ++i) dscp.emplace_back(fmt::format("DSCP {}:", i), by_dscp[i]);
  for (std::size_t i = 0; i < by_pcp.size(); ++i) pcp.emplace_back(fmt::format("PCP {}:", i), by_pcp[i]);
  return listing(dscp) + "; " +
         listing({{"Not-ECT", ecn[0]}, {"ECT(1)", ecn[1]}, {"ECT(0)", ecn[2]}, {"CE", ecn[3]}}) + "; " +
         listing(pcp);
}

void write_marks(Page& page, const Snapshot& s) {
  const Totals& t = s.totals;
  page.section("Markings");
  page.line(marks_listing(t.dscp, t.ecn, t.pcp, t.untagged));
  Totals outside;
  bool tunnelled = false;
  for (const analyze::Flow& flow : s.flows) {
    for (const analyze::OuterRow& row : flow.outer()) {
      tunnelled = true;
      outside.dscp[row.outer.dscp()] += row.packets;
      outside.ecn[row.outer.ecn()] += row.packets;
      (row.outer.pcp ? outside.pcp[*row.outer.pcp] : outside.untagged) += row.packets;
    }
  }
  if (!tunnelled) return;
  page.line("outside of tunnels: " + marks_listing(outside.dscp, outside.ecn, outside.pcp, outside.untagged));
}

void write_icrc(Page& page, const Snapshot& s) {
  const Totals& t = s.totals;
  page.section("ICRC");
  if (!s.icrc_checked) {
    page.line("not checked (--no-icrc)");
    return;
  }
  const auto [match, mismatch, unknown] = t.icrc;
  std::string text;
  if (match == t.roce_packets) {
    text = "matches on every packet";
  } else {
    text = listing({{"match", match}, {"not checkable", unknown}});
  }
  if (mismatch != 0) {
    std::string numbers;
    for (const std::uint64_t number : t.icrc_mismatches)
      numbers += (numbers.empty() ? "" : ", ") + std::to_string(number);
    const std::string bad =
        fmt::format("MISMATCH on {} ({}: {}{})", packets_text(mismatch), mismatch == 1 ? "number" : "numbers",
                    numbers, mismatch > t.icrc_mismatches.size() ? ", ..." : "");
    text = page.paint("1;31", bad) + (text.empty() ? "" : "; " + text);
  }
  page.line(text);
  if (mismatch != 0)
    page.line("these packets: roceanalyze packets FILE -Y 'roce.icrc.status == \"mismatch\"'");
}

void write_roce(Page& page, const Snapshot& s) {
  const Totals& t = s.totals;
  page.section("RoCE");
  if (t.roce_packets == 0) {
    const std::uint64_t cut = t.diagnostics.of(analyze::DiagnosticId::cut_before_bth);
    if (cut != 0) {
      page.line(page.paint(
          "1;31", fmt::format("{} to UDP port 4791 truncated before the end of the BTH", packets_text(cut))));
      page.line("The snap length is too small: capture with tcpdump -s 0, or at least 128 bytes per packet.");
      return;
    }
    const auto [what, advice] = analyze::no_roce(s);
    page.line(page.paint("1", what));
    if (!advice.empty()) page.line(advice);
    return;
  }
  std::vector<std::pair<std::string, std::uint64_t>> versions;
  for (std::size_t i = 1; i < t.by_transport.size(); ++i) {
    versions.emplace_back(dissect::transport_name(static_cast<dissect::Transport>(i)), t.by_transport[i]);
  }
  page.line(fmt::format("{} ({}), {}: {}", packets_text(t.roce_packets),
                        percent_text(t.roce_packets, t.packets), bytes_text(t.roce_bytes),
                        listing(versions)));
  std::vector<std::pair<std::string, std::uint64_t>> tunnels;
  for (std::size_t i = 0; i < dissect::tunnel_count; ++i) {
    tunnels.emplace_back(dissect::tunnel_name(static_cast<dissect::Tunnel>(i)), t.by_tunnel[i]);
  }
  const std::string tunnelled = listing(tunnels);
  if (!tunnelled.empty()) page.line("inside " + tunnelled);
  std::vector<std::pair<std::string, std::uint64_t>> opcodes;
  for (std::size_t i = 0; i < t.opcodes.size(); ++i) {
    if (t.opcodes[i] != 0)
      opcodes.emplace_back(dissect::opcode_name(static_cast<std::uint8_t>(i)), t.opcodes[i]);
  }
  page.section("Opcodes");
  page.line(listing(opcodes));
  write_icrc(page, s);
  write_marks(page, s);
  write_classes(page, s);
  write_congestion(page, s);
}

void write_others(Page& page, const Totals& t) {
  if (t.packets == t.roce_packets) return;
  std::vector<std::pair<std::string, std::uint64_t>> others;
  for (std::size_t i = 0; i < analyze::other_traffic_count; ++i) {
    std::string name(analyze::other_traffic_name(static_cast<analyze::OtherTraffic>(i)));
    std::replace(name.begin(), name.end(), '_', ' ');
    others.emplace_back(name, t.others[i]);
  }
  page.section("Not RoCE");
  page.line(listing(others));
}

/// All by number if they fit; else those with most trouble, then those with most bytes.
void write_connections(Page& page, const Snapshot& s, const ReportStyle& style) {
  using analyze::ConnectionRow;
  if (s.connections.empty()) return;
  page.gap();
  page.section("Connections");
  const std::vector<ConnectionRow> rows = analyze::connection_rows(s);
  std::vector<const ConnectionRow*> shown;
  for (const ConnectionRow& row : rows) shown.push_back(&row);
  if (style.top == 0 || rows.size() <= style.top) {
    page.line(fmt::format("{} (both directions between two queue pairs)", rows.size()));
  } else {
    page.line(
        fmt::format("the {} with most trouble, then most bytes, of {} (all: roceanalyze connections FILE)",
                    style.top, rows.size()));
    std::vector<std::pair<std::uint64_t, const ConnectionRow*>> ranked;
    for (const ConnectionRow& row : rows) ranked.emplace_back(row.trouble(), &row);
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second->bytes() > b.second->bytes();
    });
    shown.clear();
    for (std::size_t i = 0; i < style.top; ++i) shown.push_back(ranked[i].second);
  }
  const auto count = [&rows](auto&& test) {
    return static_cast<std::uint64_t>(std::count_if(rows.begin(), rows.end(), test));
  };
  const analyze::UnpairedConnections open(s);
  const std::uint64_t unpaired =
      count([&](const ConnectionRow& row) { return open.other_may_be_there(*row); });
  const std::uint64_t half =
      count([&](const ConnectionRow& row) { return !row->paired() && !open.other_may_be_there(*row); });
  if (half != 0) page.line(fmt::format("{} captured in one direction only", half));
  if (unpaired != 0) {
    page.line(fmt::format(
        "{} left unpaired: several flows could be the opposite direction, with no proof which", unpaired));
  }
  page.block(table_text(shown, analyze::connection_columns(), "", page.width()));
}

void write_flows(Page& page, const Snapshot& s, const ReportStyle& style) {
  if (s.flows.empty()) return;
  page.gap();
  const bool all = style.top == 0 || s.flows.size() <= style.top;
  page.section("Flows");
  page.line(all ? fmt::format("{} (one direction to one queue pair each)", s.flows.size())
                : fmt::format("the {} largest of {} by bytes (all: roceanalyze flows FILE)", style.top,
                              s.flows.size()));
  page.block(flows_text(s, {all ? "" : "bytes", false, style.top}, page.width()));
}

}  // namespace

void write_diagnostics(Page& page, const Snapshot& s) {
  if (s.diagnostics.empty()) return;
  page.gap();
  page.section("Skipped or doubtful");
  page.line("");
  for (const analyze::Diagnostic& d : s.diagnostics) {
    const bool serious = d.severity != analyze::DiagnosticSeverity::info;
    page.block(fmt::format("  {}  {}\n      {}\n", page.paint(serious ? "1;33" : "1", d.id), d.count,
                           wrap(d.help, page.width(), 6)));
    for (const std::string& detail : d.details)
      page.block("      " + wrap(printable(detail), page.width(), 6) + "\n");
  }
}

std::string report_text(const Snapshot& snapshot, const ReportStyle& style) {
  Page page(style);
  write_verdict(page, snapshot);
  page.gap();
  write_capture(page, snapshot);
  write_roce(page, snapshot);
  write_others(page, snapshot.totals);
  write_numbered(page, snapshot);
  write_pauses(page, snapshot);
  write_dcbx(page, snapshot);
  write_mrc(page, snapshot);
  write_exports(page, snapshot);
  write_connections(page, snapshot, style);
  write_flows(page, snapshot, style);
  write_diagnostics(page, snapshot);
  return page.take();
}

}  // namespace roce::cli
