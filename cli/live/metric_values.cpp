// SPDX-License-Identifier: Apache-2.0
#include "cli/live/metric_values.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <span>

#include "analyze/flow/marking_matrix.hpp"
#include "analyze/packet/packet_facts.hpp"
#include "cli/core/version.hpp"
#include "dissect/dissect.hpp"

namespace roce::cli {
namespace {

using analyze::PauseLane;
using analyze::PausePort;
using analyze::Severity;
using analyze::Snapshot;

constexpr double ns_of_a_second = 1e9;

/// Metrics with the device's label on each sample.
class Builder {
 public:
  explicit Builder(const std::string& device) : device_(device) {}

  Builder& counter(std::string_view name, std::string_view help) {
    return begin(name, help, MetricType::counter);
  }
  Builder& gauge(std::string_view name, std::string_view help) {
    return begin(name, help, MetricType::gauge);
  }
  template <class Number>
  Builder& sample(std::vector<std::pair<std::string, std::string>> labels, Number value) {
    labels.insert(labels.begin(), {"device", device_});
    metrics_.back().samples.push_back({std::move(labels), static_cast<double>(value)});
    return *this;
  }
  template <class Number>
  Builder& sample(Number value) {
    return sample({}, value);
  }
  [[nodiscard]] std::vector<Metric> take() { return std::move(metrics_); }

 private:
  Builder& begin(std::string_view name, std::string_view help, MetricType type) {
    metrics_.push_back({"roceanalyze_" + std::string(name), help, type, {}});
    return *this;
  }

  const std::string& device_;
  std::vector<Metric> metrics_;
};

struct TotalMetric {
  std::string_view name;
  std::string_view help;
  std::uint64_t LiveTotals::*value;
};
constexpr TotalMetric total_metrics[] = {
    {"packets_total", "Frames of any kind that were analysed.", &LiveTotals::packets},
    {"wire_bytes_total", "Bytes on the wire of the frames that were analysed.", &LiveTotals::bytes},
    {"roce_packets_total", "RoCE packets.", &LiveTotals::roce_packets},
    {"roce_wire_bytes_total", "Bytes on the wire of RoCE packets.", &LiveTotals::roce_bytes},
    {"goodput_bytes_total", "Message bytes without retransmissions.", &LiveTotals::goodput_bytes},
    {"retransmitted_packets_total", "Retransmitted RoCE packets.", &LiveTotals::retransmitted},
    {"lost_packets_total", "Lost transmissions of RoCE packets.", &LiveTotals::lost},
    {"ce_packets_total", "RoCE packets with a CE mark (Congestion Experienced).", &LiveTotals::ce},
    {"cnp_packets_total", "Congestion notification packets.", &LiveTotals::cnps},
};

void add_totals(Builder& metrics, const LiveTotals& totals) {
  for (const TotalMetric& row : total_metrics) metrics.counter(row.name, row.help).sample(totals.*row.value);
}

void add_drops(Builder& metrics, const Snapshot& s) {
  std::uint64_t by_kernel = 0, by_interface = 0, before_packets = 0;
  for (const capture::InterfaceInfo& interface : s.interfaces) {
    by_kernel += interface.dropped_by_kernel.value_or(0);
    by_interface += interface.dropped_by_interface.value_or(0);
    if (!interface.dropped_by_kernel && !interface.dropped_by_interface)
      before_packets += interface.dropped_before_packets;
  }
  metrics.counter("dropped_packets_total",
                  "Frames dropped while capturing, not analysed. by=kernel includes drops because the "
                  "analysis was too slow.");
  metrics.sample({{"by", "interface"}}, by_interface).sample({{"by", "kernel"}}, by_kernel + before_packets);
}

template <class Name>
void add_table(Builder& metrics, std::string_view label, std::span<const std::uint64_t> counts, Name&& name,
               bool zeros) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0 && !zeros) continue;
    metrics.sample({{std::string(label), std::string(name(i))}}, counts[i]);
  }
}

void add_packet_metrics(Builder& metrics, const analyze::Totals& t) {
  using dissect::CrcStatus;
  metrics.counter("opcode_packets_total", "RoCE packets by opcode of the base transport header.");
  add_table(
      metrics, "opcode", t.opcodes,
      [](std::size_t i) { return dissect::opcode_name(static_cast<std::uint8_t>(i)); }, false);
  metrics.counter("version_packets_total", "RoCE packets by what carries the transport.");
  add_table(
      metrics, "version", std::span(t.by_transport).subspan(1),
      [](std::size_t i) { return analyze::version_name(static_cast<dissect::Transport>(i + 1)); }, true);
  metrics.counter("ecn_packets_total", "RoCE packets by codepoint of explicit congestion notification.");
  add_table(
      metrics, "ecn", t.ecn, [](std::size_t i) { return analyze::ecn_key(static_cast<std::uint8_t>(i)); },
      true);
  metrics.counter("dscp_packets_total", "RoCE packets by differentiated services codepoint.");
  add_table(
      metrics, "dscp", t.dscp, [](std::size_t i) { return std::to_string(i); }, false);
  metrics.counter("priority_packets_total", "RoCE packets by priority of their VLAN tag (PCP).");
  add_table(
      metrics, "priority", t.pcp, [](std::size_t i) { return std::to_string(i); }, true);
  metrics.sample({{"priority", "untagged"}}, t.untagged);
  metrics.counter("icrc_packets_total", "RoCE packets by result of the ICRC check.");
  add_table(
      metrics, "status", t.icrc,
      [](std::size_t i) { return dissect::crc_status_name(static_cast<CrcStatus>(i)); }, true);
  metrics.counter("other_packets_total", "Frames without RoCE, by kind.");
  add_table(
      metrics, "kind", t.others,
      [](std::size_t i) { return analyze::other_traffic_name(static_cast<analyze::OtherTraffic>(i)); }, true);
}

void add_pause_metrics(Builder& metrics, const Snapshot& s) {
  struct Lane {
    std::uint64_t pauses = 0, xoff = 0, xon = 0, storms = 0;
    double seconds = 0;
  };
  std::array<Lane, PausePort::lane_count> lanes;
  for (const PausePort& port : s.pauses.ports) {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      const PauseLane* lane = port.lanes[i].get();
      if (lane == nullptr) continue;
      lanes[i].pauses += lane->pauses;
      lanes[i].xoff += lane->xoff.count;
      lanes[i].xon += lane->xon.count;
      lanes[i].storms += lane->storms.count;
      lanes[i].seconds += static_cast<double>(lane->paused_ns) / ns_of_a_second;
    }
  }
  const auto add = [&](std::string_view name, std::string_view help, auto member) {
    metrics.counter(name, help);
    for (std::size_t i = 0; i < lanes.size(); ++i)
      metrics.sample({{"priority", i == PausePort::global ? "global" : std::to_string(i)}}, lanes[i].*member);
  };
  add("pauses_total", "Pauses by priority flow control, or by PAUSE (priority=global), without refreshes.",
      &Lane::pauses);
  add("paused_seconds_total", "Time that ports were paused, sum of all ports.", &Lane::seconds);
  add("pause_xoff_frames_total", "PFC and PAUSE frames that pause a priority (XOFF).", &Lane::xoff);
  add("pause_xon_frames_total", "PFC and PAUSE frames that resume a priority (XON).", &Lane::xon);
  add("pause_storms_total", "Pauses that lasted longer than --pause-storm.", &Lane::storms);
}

void add_findings(Builder& metrics, const Snapshot& s, const FindingReports& reports) {
  std::map<std::pair<std::string_view, Severity>, std::uint64_t> present;
  for (const analyze::FindingRule& rule : analyze::finding_rules()) present[{rule.id, rule.severity}];
  auto reported = present;
  for (const analyze::Finding& finding : s.findings) ++present[{finding.id, finding.severity}];
  for (const auto& [key, count] : reports) reported[key] += count;
  const auto add = [&](const auto& counts) {
    for (const auto& [key, count] : counts) {
      metrics.sample({{"id", std::string(key.first)}, {"severity", std::string(severity_name(key.second))}},
                     count);
    }
  };
  metrics.gauge("findings", "Current findings of the whole capture, by rule and severity.");
  add(present);
  metrics.counter("findings_reported_total", "Findings that were reported as new or worse than before.");
  add(reported);
}

/// One of each kind: all are exported from the start, since an increase from nothing is none for Prometheus.
const std::vector<analyze::Diagnostic>& all_diagnostics() {
  static const std::vector<analyze::Diagnostic> all = [] {
    analyze::DiagnosticCounts counts;
    for (std::size_t i = 0; i < analyze::diagnostic_count; ++i)
      counts.add(static_cast<analyze::DiagnosticId>(i));
    capture::Statistics statistics;
    std::fill(std::begin(statistics.incidents), std::end(statistics.incidents), 1);
    return list_diagnostics(counts, statistics, {});
  }();
  return all;
}

void add_state(Builder& metrics, const Snapshot& s, const MetricFacts& facts) {
  const ConnectionCounts states = connection_counts(s);
  metrics.gauge("connections", "Connections in the tables by state; idle ones are evicted.");
  for (std::size_t i = 0; i < states.size(); ++i) {
    const auto state = static_cast<analyze::Connection::State>(i);
    metrics.sample({{"state", std::string(analyze::connection_state_name(state))}}, states[i]);
  }
  metrics
      .gauge("incidents_in_progress", "Connections in which something is wrong, and not in order again yet.")
      .sample(s.incidents_in_progress);
  metrics.gauge("flows", "Flows in the tables: one direction to one queue pair each.").sample(s.flows.size());
  metrics
      .counter("evicted_flows_total", "Flows evicted from the tables: idle ones, or to make room for others.")
      .sample(s.evicted_flows);
  metrics.counter("diagnostics_total", "Packets and inputs that were skipped or are doubtful, by id.");
  for (const analyze::Diagnostic& kind : all_diagnostics()) {
    const auto present = std::find_if(s.diagnostics.begin(), s.diagnostics.end(),
                                      [&](const analyze::Diagnostic& d) { return d.id == kind.id; });
    metrics.sample({{"id", std::string(kind.id)}, {"severity", std::string(severity_name(kind.severity))}},
                   present != s.diagnostics.end() ? present->count : 0);
  }
  std::uint64_t speed_bps = 0;
  for (const capture::InterfaceInfo& interface : s.interfaces)
    speed_bps = std::max(speed_bps, interface.speed_bps);
  metrics.gauge("interface_speed_bytes", "Link speed of the device in bytes per second; 0 if unknown.")
      .sample(static_cast<double>(speed_bps) / 8);
  metrics.gauge("start_time_seconds", "When the capture began, since the epoch.").sample(facts.start_seconds);
  metrics.gauge("last_packet_time_seconds", "Time of the latest frame, since the epoch; 0 before the first.")
      .sample(s.totals.any_time ? static_cast<double>(s.totals.last_time_ns) / ns_of_a_second : 0.0);
  metrics.gauge("snapshot_time_seconds", "When these values were computed, since the epoch.")
      .sample(facts.snapshot_seconds);
}

/// "0.1.0" of "roceanalyze 0.1.0\n...".
std::string version_number() {
  const std::string text = version_text();
  const std::size_t from = text.find(' ') + 1;
  return text.substr(from, text.find('\n') - from);
}

}  // namespace

std::vector<Metric> metric_values(const Snapshot& snapshot, const MetricFacts& facts) {
  Builder metrics(facts.device);
  metrics.gauge("build_info", "The running version; the value is always 1.")
      .sample({{"version", version_number()}}, 1);
  add_totals(metrics, facts.totals);
  add_drops(metrics, snapshot);
  add_packet_metrics(metrics, snapshot.totals);
  add_pause_metrics(metrics, snapshot);
  add_state(metrics, snapshot, facts);
  add_findings(metrics, snapshot, facts.reports);
  return metrics.take();
}

void RisingCounters::keep(std::vector<Metric>& metrics) {
  for (Metric& metric : metrics) {
    if (metric.type != MetricType::counter) continue;
    for (MetricSample& sample : metric.samples) {
      std::string key = metric.name;
      for (const auto& [name, value] : sample.labels) key += '\n' + value;
      double& last = last_[key];
      last = sample.value = std::max(sample.value, last);
    }
  }
}

}  // namespace roce::cli
