// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyze/base/units.hpp"
#include "analyze/host/host_checks.hpp"
#include "cli/host/host_report.hpp"

namespace roce::cli {
namespace {

using analyze::HostFinding;
using capture::HostFacts;
using capture::Netdev;

/// By analyze::Severity.
struct Style {
  std::string_view margin, code;
};
constexpr std::array<Style, 4> styles{
    {{"Info", "1"}, {"ODD", "1;36"}, {"DEGRADED", "1;33"}, {"FATAL", "1;31"}}};

constexpr std::size_t most_problems = 20;

}  // namespace

void write_host_line(Page& page, const HostReport& report) {
  const HostFacts& facts = report.facts;
  page.section("Host");
  std::string text = facts.host.empty() ? "(no name)" : printable(facts.host);
  if (!facts.kernel.empty()) text += ", " + printable(facts.kernel);
  if (facts.root != "/" && !facts.root.empty()) text += ", tree " + printable(facts.root);
  text += ", as of " + analyze::time_text(facts.time_ns);
  page.line(text);
}

void write_host_findings(Page& page, const HostReport& report) {
  for (const HostFinding& finding : report.findings) {
    const Style& style = styles[static_cast<std::size_t>(finding.severity)];
    page.gap();
    page.section(style.margin, style.code);
    page.line(fmt::format("{} ({})", page.paint("1", printable(finding.subject)), finding.id));
    page.line(printable(finding.explanation));
    if (!finding.advice.empty()) page.line("To do: " + printable(finding.advice));
  }
}

void write_stacks(Page& page, const HostFacts& facts) {
  bool first = true;
  for (const Netdev& netdev : facts.netdevs) {
    if (!netdev.vlan && !netdev.bond) continue;
    if (first) {
      page.gap();
      page.section("LAG, VLAN");
    }
    first = false;
    page.line(printable(netdev.name + ": " + stack_text(netdev)));
  }
}

void write_host_problems(Page& page, const HostFacts& facts) {
  if (facts.problems.empty()) return;
  page.gap();
  page.section("Not read");
  const std::size_t shown = std::min(most_problems, facts.problems.size());
  for (std::size_t i = 0; i < shown; ++i)
    page.line(printable(facts.problems[i].path + ": " + facts.problems[i].message));
  if (const std::uint64_t more = facts.problems.size() - shown + facts.problems_dropped; more != 0)
    page.line(fmt::format("and {} more: see --json", more));
}

std::string stack_text(const Netdev& netdev) {
  std::vector<std::string> parts;
  if (netdev.vlan) {
    std::string text = fmt::format("VLAN {}", netdev.vlan->id);
    if (!netdev.vlan->parent.empty()) text += " on " + netdev.vlan->parent;
    text += ", egress";
    for (const auto& [from, to] : netdev.vlan->egress) text += fmt::format(" {}:{}", from, to);
    if (netdev.vlan->egress.empty()) text += " map empty: PCP 0";
    parts.push_back(std::move(text));
  }
  if (netdev.bond) {
    std::string text = "LAG " + netdev.bond->mode + " of";
    for (const std::string& slave : netdev.bond->slaves) text += " " + slave;
    if (netdev.bond->slaves.empty()) text += " nothing";
    if (!netdev.bond->active_slave.empty()) text += ", active " + netdev.bond->active_slave;
    if (!netdev.bond->hash_policy.empty()) text += ", hash " + netdev.bond->hash_policy;
    parts.push_back(std::move(text));
  }
  if (!netdev.master.empty()) parts.push_back("in " + netdev.master);
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string trust_text(const capture::DcbFacts& dcb) {
  const auto trust = analyze::trust_of(dcb);
  if (!trust) return {};
  return *trust == analyze::Trust::dscp ? "dscp" : "pcp";
}

std::string pfc_text(const capture::DcbFacts& dcb) {
  if (!dcb.pfc) return {};
  std::string text;
  for (unsigned i = 0; i < 8; ++i) {
    if ((dcb.pfc->enabled >> i & 1U) != 0) text += fmt::format("{}{}", text.empty() ? "" : ",", i);
  }
  return text.empty() ? "off" : text;
}

}  // namespace roce::cli
