// SPDX-License-Identifier: Apache-2.0
// The text report of `host`.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyze/base/units.hpp"
#include "analyze/results/severity_counts.hpp"
#include "cli/core/text_table.hpp"
#include "cli/host/host_report.hpp"

namespace roce::cli {
namespace {

using namespace capture;
using analyze::CounterChange;
using analyze::CounterMeaning;
using analyze::CounterNature;
using analyze::WireCheck;

std::string verdict_text(const HostReport& report) {
  std::string text = analyze::findings_text(analyze::severity_counts(report.findings));
  if (text.empty())
    text = report.facts.devices.empty() ? "no RDMA device, so nothing to judge" : "nothing wrong found";
  if (!report.policy.empty()) text += ", policy " + report.policy;
  return text;
}

/// One row per port: the settings that decide on markings and queues of its packets.
std::string settings_table(const HostFacts& facts, std::size_t width) {
  TextTable table({{"port"},
                   {"state"},
                   {"interface"},
                   {"MTU", true},
                   {"trust"},
                   {"PFC"},
                   {"ToS", true},
                   {"TC", true},
                   {"rdma_cm mode", false, 2}});
  for (const RdmaDevice& device : facts.devices) {
    for (const RdmaPort& port : device.ports) {
      const Netdev* netdev = facts.netdev(port.netdev);
      const DcbFacts none;
      const DcbFacts& dcb = netdev != nullptr ? netdev->dcb : none;
      table.add_row(
          {printable(analyze::place_of(device, port)), printable(port.state), printable(port.netdev),
           netdev != nullptr && netdev->mtu ? std::to_string(*netdev->mtu) : "", trust_text(dcb),
           pfc_text(dcb), port.default_roce_tos ? std::to_string(*port.default_roce_tos) : "",
           port.traffic_class ? std::to_string(*port.traffic_class) : "", printable(port.default_roce_mode)});
    }
  }
  return table.render(width, 0);
}

std::string moved_text(const CounterChange& change) {
  const bool gauge = change.meaning != nullptr && change.meaning->nature == CounterNature::gauge;
  if (gauge) return fmt::format("{} > {}", change.before, change.after);
  return fmt::format("{}{}", change.backwards ? "reset, now " : "+", change.moved());
}

/// One line per counter; its description follows the columns and continues on further lines.
std::string counters_table(const std::vector<CounterChange>& changes, std::size_t width) {
  std::vector<std::array<std::string, 4>> rows{{"where", "counter", "change", "unit"}};
  for (const CounterChange& change : changes) {
    rows.push_back({printable(change.place), printable(change.name), moved_text(change),
                    std::string(change.meaning != nullptr ? change.meaning->unit : "")});
  }
  std::array<std::size_t, 4> widths{};
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::size_t indent = 2 * widths.size();
  for (const std::size_t each : widths) indent += each;
  constexpr std::size_t least = 30;  // columns for a description; with less it gets lines of its own
  const bool below = indent + least > width;
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string line = fmt::format("{:<{}}  {:<{}}  {:>{}}  {:<{}}  ", rows[i][0], widths[0], rows[i][1],
                                   widths[1], rows[i][2], widths[2], rows[i][3], widths[3]);
    const CounterMeaning* meaning = i == 0 ? nullptr : changes[i - 1].meaning;
    std::string words = i == 0 ? "meaning" : "";
    if (meaning != nullptr)
      words = fmt::format("{}{}", meaning->nature == CounterNature::fault ? "FAULT: " : "", meaning->meaning);
    if (below && !words.empty()) {
      line.erase(line.find_last_not_of(' ') + 1);
      line += "\n    ";
    }
    line += wrap(words, width, below ? 4 : indent);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

void write_difference(Page& page, const HostReport& report, const ReportStyle& style) {
  const analyze::HostDifference& d = *report.difference;
  page.gap();
  page.section("Changed");
  std::vector<CounterChange> known, unknown;
  for (const CounterChange& change : d.counters)
    (change.meaning != nullptr ? known : unknown).push_back(change);
  page.line(fmt::format("{} of {} counters in {}, from {} to {}", d.counters.size(), d.counters_compared,
                        analyze::duration_text(analyze::span_ns(d.before_ns, d.after_ns)),
                        analyze::time_text(d.before_ns), analyze::time_text(d.after_ns)));
  if (d.counters_alone != 0)
    page.line(fmt::format("{} in one of the snapshots only",
                          plural(d.counters_alone, "counter is", "counters are")));
  if (!known.empty()) {
    page.gap();
    page.block(counters_table(known, style.width));
  }
  if (!unknown.empty()) {
    page.gap();
    page.section("Others");
    std::string text;
    constexpr std::size_t most = 40;
    for (std::size_t i = 0; i < unknown.size() && i < most; ++i)
      text += fmt::format("{}{} {} {}", i == 0 ? "" : ", ", unknown[i].place, unknown[i].name,
                          moved_text(unknown[i]));
    if (unknown.size() > most) text += fmt::format(" and {} more: see --json", unknown.size() - most);
    page.line(printable(text));
  }
  if (d.settings.empty()) return;
  page.gap();
  page.section("Settings");
  for (const analyze::SettingChange& change : d.settings) {
    page.line(printable(fmt::format("{} {}: {} > {}", change.place, change.name,
                                    change.before.empty() ? "(none)" : change.before,
                                    change.after.empty() ? "(none)" : change.after)));
  }
}

std::string limits_text(const WireCheck& check) {
  if (check.low == check.high) return std::to_string(check.low);
  if (check.high == WireCheck::unlimited) return fmt::format("{} or more", check.low);
  return fmt::format("{} to {}", check.low, check.high);
}

void write_wire(Page& page, const HostReport& report, const ReportStyle& style) {
  const analyze::WireComparison& wire = *report.wire;
  page.gap();
  page.section("Wire");
  std::array<std::size_t, 3> counts{};
  for (const WireCheck& check : wire.checks) ++counts[static_cast<std::size_t>(check.verdict)];
  page.line(fmt::format("{} compared with the capture: {} agree, {} differ by what it cannot see, {} differ",
                        plural(wire.checks.size(), "counter", "counters"), counts[0], counts[1], counts[2]));
  for (const std::string& note : wire.notes) page.line(printable(note));
  if (wire.checks.empty()) return;
  TextTable table({{"port"},
                   {"counter"},
                   {"change", true},
                   {"on the wire", true},
                   {"expected", true},
                   {"what"},
                   {"verdict"}});
  for (const WireCheck& check : wire.checks) {
    if (check.verdict == analyze::WireVerdict::agrees && check.host == 0) continue;
    table.add_row({printable(check.place), check.counter, std::to_string(check.host),
                   std::to_string(check.wire), limits_text(check), std::string(check.quantity),
                   std::string(analyze::wire_verdict_name(check.verdict))});
  }
  page.gap();
  page.block(table.render(style.width, 0));
  bool first = true;
  for (const WireCheck& check : wire.checks) {
    if (check.why.empty()) continue;
    if (first) {
      page.gap();
      page.section("Why");
    }
    first = false;
    page.line(printable(fmt::format("{} {}: {}", check.place, check.counter, check.why)));
  }
}

}  // namespace

std::string host_text(const HostReport& report, const ReportStyle& style) {
  Page page(style);
  page.section("Verdict");
  page.line(printable(verdict_text(report)));
  write_host_findings(page, report);
  page.gap();
  write_host_line(page, report);
  if (report.facts.devices.empty()) page.line("the interfaces: roceanalyze devices");
  if (!report.facts.devices.empty()) {
    page.gap();
    page.block(settings_table(report.facts, style.width));
    write_stacks(page, report.facts);
  }
  if (report.difference) write_difference(page, report, style);
  if (report.wire) write_wire(page, report, style);
  write_host_problems(page, report.facts);
  return page.take();
}

}  // namespace roce::cli
