// SPDX-License-Identifier: Apache-2.0
#include "cli/live/live_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "analyze/base/address_text.hpp"
#include "analyze/base/json_writer.hpp"
#include "analyze/base/units.hpp"
#include "analyze/packet/packet_facts.hpp"
#include "analyze/report/json/json_report.hpp"
#include "analyze/results/severity_counts.hpp"
#include "cli/core/page.hpp"
#include "cli/core/text_table.hpp"
#include "cli/report/report_evidence.hpp"

namespace roce::cli {
namespace {

using analyze::Connection;
using analyze::Finding;
using analyze::JsonWriter;
using analyze::Severity;
using analyze::Snapshot;

constexpr std::array severities{Severity::error, Severity::warning, Severity::notice, Severity::info};

void write_totals(JsonWriter& json, std::string_view key, const LiveTotals& totals) {
  json.key(key).begin_object();
  for (const LiveCounter& counter : live_counters()) json.field(counter.name, totals.*counter.value);
  json.end_object();
}

void write_end(JsonWriter& json, std::string_view key, const analyze::Endpoint& end) {
  json.key(key).begin_object().field("address", analyze::address_text(end.address));
  end.qp ? json.field("qp", *end.qp) : json.null_field("qp");
  json.end_object();
}

void write_connection(JsonWriter& json, const Connection& c, const LiveConnection& moved,
                      std::int64_t interval_ns) {
  json.begin_object().field("id", c.id).field("service", dissect::service_name(c.service));
  write_end(json, "a", c.ends[0]);
  write_end(json, "b", c.ends[1]);
  json.field("state", analyze::connection_state_name(c.state));
  json.field("bytes", moved.bytes).field("goodput_bytes", moved.goodput_bytes);
  json.field("throughput_bps", bits_per_second(moved.bytes, interval_ns));
  json.field("goodput_bps", bits_per_second(moved.goodput_bytes, interval_ns));
  json.field("retransmitted", moved.retransmitted).field("lost", moved.lost);
  json.field("naks", moved.naks).field("cnps", moved.cnps).end_object();
}

/// What is wrong: the worst diagnosis in short, and how many there are by severity. The report has them
/// whole.
void write_worst(JsonWriter& json, const Snapshot& snapshot) {
  if (const analyze::Diagnosis* worst = analyze::worst_diagnosis(snapshot)) {
    json.key("diagnosis").begin_object().field("cause", worst->cause);
    json.field("severity", analyze::consequence_names[worst->severity]);
    json.field("sentence", worst->sentence).end_object();
  } else {
    json.null_field("diagnosis");
  }
  json.key("diagnoses").begin_object();
  using enum analyze::Consequence;
  for (const analyze::Consequence severity : {fatal, degraded, odd}) {
    const auto count =
        std::count_if(snapshot.diagnoses.begin(), snapshot.diagnoses.end(),
                      [severity](const analyze::Diagnosis& each) { return each.severity == severity; });
    json.field(analyze::consequence_names[severity], static_cast<std::uint64_t>(count));
  }
  json.end_object();
}

}  // namespace

std::string summary_json(const Snapshot& snapshot, const LiveMeter::Reading& reading, std::int64_t time_ns) {
  std::string text;
  JsonWriter json(text);
  json.begin_object().field("schema", "roceanalyze/1").field("final", false).field("kind", "summary");
  write_worst(json, snapshot);
  json.field("time", time_ns).field("elapsed_ns", reading.elapsed_ns);
  json.field("interval_ns", reading.interval_ns);
  const std::int64_t ns = reading.interval_ns;
  json.field("bps", bits_per_second(reading.interval.bytes, ns));
  json.field("throughput_bps", bits_per_second(reading.interval.roce_bytes, ns));
  json.field("goodput_bps", bits_per_second(reading.interval.goodput_bytes, ns));
  write_totals(json, "interval", reading.interval);
  write_totals(json, "total", reading.total);
  json.field("drop_statistics", snapshot.dropped().has_value());
  const ConnectionCounts states = connection_counts(snapshot);
  json.key("connections").begin_object();
  for (std::size_t i = 0; i < states.size(); ++i)
    json.field(analyze::connection_state_name(static_cast<Connection::State>(i)), states[i]);
  json.end_object();
  json.field("incidents_in_progress", snapshot.incidents_in_progress);
  const analyze::SeverityCounts found = analyze::severity_counts(snapshot);
  json.key("findings").begin_object();
  for (const Severity severity : severities)
    json.field(analyze::severity_name(severity), found[static_cast<std::size_t>(severity)]);
  json.end_object();
  json.key("worst_connections").begin_array();
  for (const LiveConnection& moved : reading.connections)
    write_connection(json, snapshot.connections[moved.index], moved, ns);
  json.end_array().end_object();
  text += '\n';
  return text;
}

std::string incidents_in_progress(const Snapshot& snapshot) {
  return analyze::plural(snapshot.incidents_in_progress, "incident", "incidents") + " in progress";
}

std::string summary_line(const Snapshot& snapshot, const LiveMeter::Reading& reading) {
  const LiveTotals& moved = reading.interval;
  const double seconds = static_cast<double>(reading.interval_ns) / 1e9;
  const double rate = seconds > 0 ? static_cast<double>(moved.roce_packets) / seconds : 0;
  std::string text = elapsed_text(reading.elapsed_ns) + "  ";
  if (const analyze::Diagnosis* worst = analyze::worst_diagnosis(snapshot)) {
    constexpr std::size_t longest = 160;  // columns
    text += cut_text(diagnosis_line(*worst), longest) + "; ";
  }
  text += fmt::format("{} RoCE packets/s, {}, goodput {}", count_text(rate),
                      analyze::rate_text(bits_per_second(moved.roce_bytes, reading.interval_ns)),
                      analyze::rate_text(bits_per_second(moved.goodput_bytes, reading.interval_ns)));
  const std::pair<std::string_view, std::uint64_t> troubles[] = {
      {"retransmits", moved.retransmitted},
      {"lost", moved.lost},
      {"CE", moved.ce},
      {"CNPs", moved.cnps},
      {"pauses", moved.pauses},
      {"ICRC mismatches", moved.icrc_mismatches},
      {"DROPPED", moved.dropped},
  };
  for (const auto& [name, count] : troubles) {
    if (count != 0) text += fmt::format(", {} {}", count_text(static_cast<double>(count)), name);
  }
  if (snapshot.incidents_in_progress != 0) text += ", " + incidents_in_progress(snapshot);
  const analyze::SeverityCounts found = analyze::severity_counts(snapshot);
  text += "; findings:";
  bool any = false;
  for (const Severity severity : severities) {
    const std::uint64_t count = found[static_cast<std::size_t>(severity)];
    if (count == 0) continue;
    text += fmt::format("{} {} {}", any ? "," : "", count, analyze::consequence_text(severity));
    any = true;
  }
  if (!any) text += " none";
  return text;
}

std::string finding_json(const analyze::FindingNews& news, std::int64_t time_ns, std::int64_t elapsed_ns) {
  std::string text;
  JsonWriter json(text);
  json.begin_object().field("schema", "roceanalyze/1").field("final", false).field("kind", "finding");
  json.field("time", time_ns).field("elapsed_ns", elapsed_ns).field("news", analyze::why_name(news.why));
  json.key("finding");
  analyze::write_finding(json, news.finding);
  json.end_object();
  text += '\n';
  return text;
}

std::string finding_line(const Finding& finding, Severity shown, std::size_t width) {
  std::string severity(analyze::consequence_text(shown));
  std::transform(severity.begin(), severity.end(), severity.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const std::string times = finding.count > 1 ? fmt::format(", {} times", finding.count) : std::string();
  std::string text = fmt::format("{} {} ({}{}): {}: {}", severity, finding.title, finding.id, times,
                                 finding.subject, finding.explanation);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return cut_text(printable(text), width);
}

std::string elapsed_text(std::int64_t ns) {
  const std::int64_t seconds = std::max<std::int64_t>(ns, 0) / 1'000'000'000;
  constexpr std::int64_t day = 86'400, hour = 3'600, minute = 60;
  const std::string clock =
      fmt::format("{:02}:{:02}:{:02}", seconds % day / hour, seconds % hour / minute, seconds % minute);
  return seconds < day ? clock : fmt::format("{} d {}", seconds / day, clock);
}

std::string count_text(double count) {
  struct Unit {
    double from;
    double divisor;
    std::string_view name;
  };
  constexpr Unit units[] = {{1e13, 1e12, " T"}, {1e10, 1e9, " G"}, {1e7, 1e6, " M"}, {1e4, 1e3, " k"}};
  for (const Unit& unit : units) {
    if (count < unit.from) continue;
    const double scaled = count / unit.divisor;
    return fmt::format("{:.{}f}{}", scaled, scaled < 99.95 ? 1 : 0, unit.name);
  }
  return fmt::format("{:.0f}", count);
}

std::string cut_text(std::string text, std::size_t width) {
  constexpr std::string_view mark = "...";
  if (width == 0 || display_width(text) <= width) return text;
  std::size_t columns = 0, end = 0;
  const std::size_t kept = width > mark.size() ? width - mark.size() : 0;
  while (end < text.size()) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xc0U) != 0x80U;
    if (begins && columns == kept) break;
    columns += begins ? 1 : 0;
    ++end;
  }
  text.resize(end);
  text += mark.substr(0, std::min(width, mark.size()));
  return text;
}

}  // namespace roce::cli
