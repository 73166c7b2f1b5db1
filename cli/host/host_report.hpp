// SPDX-License-Identifier: Apache-2.0
// Reports of the commands `devices` and `host`, as text and JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/base/json_object.hpp"
#include "analyze/host/difference.hpp"
#include "analyze/host/wire_check.hpp"
#include "capture/host/facts.hpp"
#include "cli/core/page.hpp"
#include "cli/report/report.hpp"

namespace roce::cli {

/// The contents of a report of `devices` or `host`.
struct HostReport {
  capture::HostFacts facts;                           ///< of now, or of the snapshot of --after
  std::optional<analyze::HostDifference> difference;  ///< with --before
  std::optional<analyze::WireComparison> wire;        ///< with --capture
  std::vector<analyze::HostFinding> findings;         ///< most severe first
  std::string policy;                                 ///< of --policy; empty: none
};

/// RDMA devices with ports, GIDs and whether they can be captured; network interfaces; findings.
[[nodiscard]] std::string devices_text(const HostReport& report, const ReportStyle& style);
/// Findings and settings; with a difference the changed counters, with a capture their comparison with it.
[[nodiscard]] std::string host_text(const HostReport& report, const ReportStyle& style);
inline constexpr std::string_view host_report_schema = "roceanalyze-host-report/1";
/// The table that the report is written from as JSON, for its schema.
[[nodiscard]] const analyze::JsonObject<HostReport>& host_report_object();
/// As JSON, with a newline (docs/output.md).
[[nodiscard]] std::string host_report_json(const HostReport& report, bool pretty);

// Parts of both texts.
void write_host_line(Page& page, const HostReport& report);
void write_host_findings(Page& page, const HostReport& report);
/// LAGs and VLANs, one line each.
void write_stacks(Page& page, const capture::HostFacts& facts);
void write_host_problems(Page& page, const capture::HostFacts& facts);
/// "VLAN 100 on eth0, egress 3:3", "bond 802.3ad of eth0 eth1", "in bond0"; empty for a plain interface.
[[nodiscard]] std::string stack_text(const capture::Netdev& netdev);
/// "dscp", "pcp", or "" if the driver does not report it.
[[nodiscard]] std::string trust_text(const capture::DcbFacts& dcb);
/// Priorities with PFC: "3", "off", or "" if unknown.
[[nodiscard]] std::string pfc_text(const capture::DcbFacts& dcb);

}  // namespace roce::cli
