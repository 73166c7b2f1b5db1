// SPDX-License-Identifier: Apache-2.0
// Facts of a host, what changed and what is wrong with it, as text and JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/host/difference.hpp"
#include "analyze/host/wire_check.hpp"
#include "capture/host/facts.hpp"
#include "cli/core/page.hpp"
#include "cli/report/report.hpp"

namespace roce::cli {

/// All that `devices` and `host` say.
struct HostReport {
  capture::HostFacts facts;                           ///< now, or of --after
  std::optional<analyze::HostDifference> difference;  ///< with --before
  std::optional<analyze::WireComparison> wire;        ///< with --capture
  std::vector<analyze::HostFinding> findings;         ///< most severe first
  std::string policy;                                 ///< that they were judged by; empty: none
};

/// RDMA devices with ports, GIDs, what can be captured; interfaces; what to look at.
[[nodiscard]] std::string devices_text(const HostReport& report, const ReportStyle& style);
/// Settings and findings; with a difference what moved, with a capture what that shows of it.
[[nodiscard]] std::string host_text(const HostReport& report, const ReportStyle& style);
/// "roceanalyze-host-report/1": docs/output.md.
[[nodiscard]] std::string host_report_json(const HostReport& report, bool pretty);

// Parts that both texts have.
void write_host_line(Page& page, const HostReport& report);
void write_host_findings(Page& page, const HostReport& report);
/// LAGs and VLANs, a line each.
void write_stacks(Page& page, const capture::HostFacts& facts);
void write_host_problems(Page& page, const capture::HostFacts& facts);
/// "VLAN 100 on eth0, egress 3:3", "bond 802.3ad of eth0 eth1", "in bond0"; empty for a plain interface.
[[nodiscard]] std::string stack_text(const capture::Netdev& netdev);
/// "dscp", "pcp" or "" where the driver does not say; "3" or "none": priorities with PFC.
[[nodiscard]] std::string trust_text(const capture::DcbFacts& dcb);
[[nodiscard]] std::string pfc_text(const capture::DcbFacts& dcb);

}  // namespace roce::cli
