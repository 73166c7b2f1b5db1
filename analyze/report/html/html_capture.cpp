// SPDX-License-Identifier: Apache-2.0
// Facts of the capture.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "analyze/base/units.hpp"
#include "analyze/report/html/html_parts.hpp"
#include "analyze/results/capture_health.hpp"
#include "dissect/dissect.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze::html {
namespace {

constexpr std::size_t most = 20;  // files and interfaces listed

void fact(Page& page, std::string_view name, std::string_view text) {
  if (text.empty()) return;
  page.html.open("tr").element("th", name, {{"scope", "row"}}).element("td", text).close().line_break();
}

/// A figure, with its value for scripts.
void figure(Page& page, std::string_view name, std::uint64_t value, std::string_view text) {
  page.html.open("tr").element("th", name, {{"scope", "row"}});
  page.html.element("td", text, {{"data-value", std::to_string(value)}}).close().line_break();
}

using Counts = std::vector<std::pair<std::string, std::uint64_t>>;

/// "a 12, b 3": the most frequent first, without zeros.
std::string listing(Counts counts) {
  std::erase_if(counts, [](const auto& entry) { return entry.second == 0; });
  std::stable_sort(counts.begin(), counts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [name, count] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
  return text;
}

void write_files(Page& page) {
  const std::vector<capture::FileInfo>& files = page.snapshot.files;
  for (std::size_t i = 0; i < std::min(most, files.size()); ++i) {
    const capture::FileInfo& f = files[i];
    const std::string name = f.path == "-" ? "standard input" : f.path;
    if (f.format.empty()) {
      fact(page, "File", name + " (not read)");
      continue;
    }
    std::string text =
        fmt::format("{} ({}{}, {})", name, f.format, f.bytes != 0 ? ", " + bytes_text(f.bytes) : "",
                    plural(f.packets, "packet", "packets"));
    for (const std::string* more : {&f.application, &f.hardware, &f.operating_system, &f.comment}) {
      if (!more->empty()) text += "; " + *more;
    }
    fact(page, "File", text);
  }
  if (files.size() > most) fact(page, "File", fmt::format("and {} more", files.size() - most));
}

void write_interfaces(Page& page) {
  std::size_t told = 0;
  for (const capture::InterfaceInfo& i : page.snapshot.interfaces) {
    if (i.name.empty() && i.speed_bps == 0 && i.filter.empty()) continue;
    if (++told > most) continue;
    std::string text =
        (i.name.empty() ? std::string("(no name)") : i.name) + ": " + plural(i.packets, "packet", "packets");
    if (!i.description.empty()) text += ", " + i.description;
    if (i.speed_bps != 0) text += ", " + rate_text(static_cast<double>(i.speed_bps));
    if (!i.filter.empty()) text += ", filter \"" + i.filter + "\"";
    fact(page, "Interface", text);
  }
  if (told > most) fact(page, "Interface", fmt::format("and {} more", told - most));
}

void write_packets(Page& page) {
  const Snapshot& s = page.snapshot;
  const Totals& t = s.totals;
  if (t.packets != s.frames_read) {
    const std::string by = s.filter.empty() ? std::string("the time range") : "filter " + s.filter;
    fact(page, "Selected", fmt::format("{}: {} of {} packets", by, t.packets, s.frames_read));
  }
  figure(
      page, "Packets", t.packets,
      t.packets == 0
          ? std::string("no packets")
          : fmt::format("{}, {} on the wire, {}", plural(t.packets, "packet", "packets"), bytes_text(t.bytes),
                        t.captured_bytes < t.bytes ? bytes_text(t.captured_bytes) + " of it captured"
                                                   : std::string("captured completely")));
  if (t.packets == 0) return;
  fact(page, "Time",
       t.any_time ? fmt::format("{} from {}", duration_text(span_ns(t.first_time_ns, t.last_time_ns)),
                                time_text(t.first_time_ns))
                  : std::string("the capture has no timestamps: no rates, latencies and waiting times"));
  fact(page, "Dropped",
       !s.dropped()        ? std::string("the file has no drop statistics")
       : *s.dropped() == 0 ? std::string("no packets dropped while capturing")
                           : plural(*s.dropped(), "packet", "packets") + " DROPPED while capturing");
}

std::string icrc_text(const Snapshot& s) {
  if (!s.icrc_checked) return "not checked";
  const auto [match, mismatch, unknown] = s.totals.icrc;
  if (match == s.totals.roce_packets) return "matches on every packet";
  std::string text = listing({{"match", match}, {"MISMATCH", mismatch}, {"not checkable", unknown}});
  if (s.totals.icrc_mismatches.empty()) return text;
  return fmt::format("{} (first bad: {})", text, fmt::join(s.totals.icrc_mismatches, ", "));
}

void write_roce(Page& page) {
  const Snapshot& s = page.snapshot;
  const Totals& t = s.totals;
  if (t.roce_packets == 0) {
    const auto [what, advice] = no_roce(s);
    figure(page, "RoCE", 0, advice.empty() ? std::string(what) : fmt::format("{}. {}", what, advice));
    return;
  }
  Counts versions, tunnels, opcodes, dscp, pcp{{"untagged", t.untagged}};
  for (std::size_t i = 1; i < t.by_transport.size(); ++i)
    versions.emplace_back(dissect::transport_name(static_cast<dissect::Transport>(i)), t.by_transport[i]);
  for (std::size_t i = 0; i < dissect::tunnel_count; ++i)
    tunnels.emplace_back(dissect::tunnel_name(static_cast<dissect::Tunnel>(i)), t.by_tunnel[i]);
  for (std::size_t i = 0; i < t.opcodes.size(); ++i) {
    if (t.opcodes[i] != 0)
      opcodes.emplace_back(dissect::opcode_name(static_cast<std::uint8_t>(i)), t.opcodes[i]);
  }
  for (std::size_t i = 0; i < t.dscp.size(); ++i) dscp.emplace_back(fmt::format("DSCP {}:", i), t.dscp[i]);
  for (std::size_t i = 0; i < t.pcp.size(); ++i) pcp.emplace_back(fmt::format("PCP {}:", i), t.pcp[i]);
  figure(page, "RoCE", t.roce_packets,
         fmt::format("{} ({}), {}: {}", plural(t.roce_packets, "packet", "packets"),
                     percent_text(t.roce_packets, t.packets), bytes_text(t.roce_bytes), listing(versions)));
  fact(page, "Inside", listing(tunnels));
  fact(page, "Opcodes", listing(opcodes));
  fact(page, "ICRC", icrc_text(s));
  fact(page, "Marks",
       fmt::format(
           "{}; {}; {}", listing(dscp),
           listing({{"Not-ECT", t.ecn[0]}, {"ECT(1)", t.ecn[1]}, {"ECT(0)", t.ecn[2]}, {"CE", t.ecn[3]}}),
           listing(pcp)));
}

}  // namespace

void write_capture(Page& page) {
  const Totals& t = page.snapshot.totals;
  page.html.open("section", {{"id", "capture"}}).element("h2", "Capture").line_break();
  page.html.open("div", {{"class", "table"}});
  page.html.open("table", {{"class", "facts"}}).open("tbody").line_break();
  write_files(page);
  write_packets(page);
  write_interfaces(page);
  write_roce(page);
  Counts others;
  for (std::size_t i = 0; i < other_traffic_count; ++i) {
    std::string name(other_traffic_name(static_cast<OtherTraffic>(i)));
    std::replace(name.begin(), name.end(), '_', ' ');
    others.emplace_back(std::move(name), t.others[i]);
  }
  fact(page, "Not RoCE", listing(others));
  page.html.close().close().close().close().line_break();
  page.step();
}

}  // namespace roce::analyze::html
