// SPDX-License-Identifier: Apache-2.0
#include "cli/live/live_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/base/address_text.hpp"
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
using analyze::JsonObject;
using analyze::Severity;
using analyze::Snapshot;

constexpr std::array severities{Severity::error, Severity::warning, Severity::notice, Severity::info};

const JsonObject<LiveTotals>& totals_object() {
  static const auto object = [] {
    JsonObject<LiveTotals> o("live_totals");
    for (const LiveCounter& counter : live_counters())
      o.key(std::string(counter.name), counter.help, counter.value);
    return o;
  }();
  return object;
}

const JsonObject<analyze::Endpoint>& live_end_object() {
  static const auto object = [] {
    JsonObject<analyze::Endpoint> o("live_endpoint");
    o.key("address", "address",
          [](const analyze::Endpoint& end) { return analyze::address_text(end.address); });
    o.key("qp", "queue pair; null: not known", &analyze::Endpoint::qp);
    return o;
  }();
  return object;
}

/// A connection and what it moved in the interval.
struct MovedIn {
  const Connection& c;
  const LiveConnection& moved;
  std::int64_t interval_ns;
};

const JsonObject<MovedIn>& live_connection_object() {
  using M = const MovedIn&;
  static const auto object = [] {
    JsonObject<MovedIn> o("live_connection");
    o.key("id", "as in the report; may change until both directions are known", [](M m) { return m.c.id; });
    o.key("service", "transport service", [](M m) { return dissect::service_name(m.c.service); });
    o.object(
        "a", "side a", live_end_object(), [](M m) -> const auto& { return m.c.ends[0]; });
    o.object(
        "b", "side b", live_end_object(), [](M m) -> const auto& { return m.c.ends[1]; });
    o.key("state", "state", [](M m) { return analyze::connection_state_name(m.c.state); });
    o.key("bytes", "bytes on the wire in the interval", [](M m) { return m.moved.bytes; });
    o.key("goodput_bytes", "message bytes without retransmissions",
          [](M m) { return m.moved.goodput_bytes; });
    o.key("throughput_bps", "rate on the wire",
          [](M m) { return bits_per_second(m.moved.bytes, m.interval_ns); });
    o.key("goodput_bps", "rate of message bytes",
          [](M m) { return bits_per_second(m.moved.goodput_bytes, m.interval_ns); });
    o.key("retransmitted", "retransmitted packets", [](M m) { return m.moved.retransmitted; });
    o.key("lost", "lost transmissions", [](M m) { return m.moved.lost; });
    o.key("naks", "NAKs", [](M m) { return m.moved.naks; });
    o.key("cnps", "CNPs", [](M m) { return m.moved.cnps; });
    return o;
  }();
  return object;
}

const JsonObject<analyze::Diagnosis>& worst_diagnosis_object() {
  using analyze::Diagnosis;
  static const auto object = [] {
    JsonObject<Diagnosis> o("worst_diagnosis");
    o.key("cause", "what is wrong, as a name that stays", [](const Diagnosis& d) { return d.cause; });
    o.key("severity", "how grave it is", [](const Diagnosis& d) {
       return analyze::consequence_names[d.severity];
     }).of(analyze::consequence_names.all());
    o.key("sentence", "what is wrong, where and how much", [](const Diagnosis& d) { return d.sentence; });
    return o;
  }();
  return object;
}

const JsonObject<Snapshot>& diagnosis_counts_object() {
  using enum analyze::Consequence;
  static const auto object = [] {
    JsonObject<Snapshot> o("diagnosis_counts");
    for (const analyze::Consequence severity : {fatal, degraded, odd}) {
      o.key(std::string(analyze::consequence_names[severity]), "diagnoses of this severity",
            [severity](const Snapshot& s) {
              return std::count_if(
                  s.diagnoses.begin(), s.diagnoses.end(),
                  [severity](const analyze::Diagnosis& each) { return each.severity == severity; });
            });
    }
    return o;
  }();
  return object;
}

const JsonObject<Snapshot>& connection_counts_object() {
  static const auto object = [] {
    JsonObject<Snapshot> o("connection_counts");
    for (std::size_t i = 0; i < ConnectionCounts{}.size(); ++i) {
      o.key(std::string(analyze::connection_state_name(static_cast<Connection::State>(i))),
            "connections in this state", [i](const Snapshot& s) { return connection_counts(s)[i]; });
    }
    return o;
  }();
  return object;
}

const JsonObject<Snapshot>& finding_counts_object() {
  static const auto object = [] {
    JsonObject<Snapshot> o("finding_counts");
    for (const Severity severity : severities) {
      o.key(std::string(analyze::severity_name(severity)), "findings of this severity",
            [severity](const Snapshot& s) {
              return analyze::severity_counts(s)[static_cast<std::size_t>(severity)];
            });
    }
    return o;
  }();
  return object;
}

/// The first keys of every line.
template <class Row>
void add_first_keys(JsonObject<Row>& o, std::string_view kind) {
  o.key("schema", "name of this schema", [](const Row&) {
     return analyze::report_schema;
   }).of({analyze::report_schema});
  o.key("final", "false: the capture still runs", [](const Row&) { return false; });
  o.key("kind", "what the line is", [kind](const Row&) { return kind; }).of({kind});
}

}  // namespace

const JsonObject<LiveSummary>& summary_object() {
  using L = const LiveSummary&;
  static const auto object = [] {
    JsonObject<LiveSummary> o("summary");
    const auto snapshot = [](L l) -> const Snapshot& { return l.snapshot; };
    add_first_keys(o, "summary");
    o.object("diagnosis", "the worst diagnosis; null: there is none so far", worst_diagnosis_object(),
             [](L l) { return analyze::worst_diagnosis(l.snapshot); });
    o.object("diagnoses", "number of diagnoses by severity", diagnosis_counts_object(), snapshot);
    o.key("time", "time of day, when the summary was made", [](L l) {
       return l.time_ns;
     }).in("ns since 1970");
    o.key("elapsed_ns", "since the capture began", [](L l) { return l.reading.elapsed_ns; });
    o.key("interval_ns", "since the summary before", [](L l) { return l.reading.interval_ns; });
    o.key("bps", "all frames on the wire, in the interval", [](L l) {
       return bits_per_second(l.reading.interval.bytes, l.reading.interval_ns);
     }).in("bit/s");
    o.key("throughput_bps", "RoCE packets on the wire, in the interval",
          [](L l) { return bits_per_second(l.reading.interval.roce_bytes, l.reading.interval_ns); });
    o.key("goodput_bps", "message bytes without retransmissions, in the interval",
          [](L l) { return bits_per_second(l.reading.interval.goodput_bytes, l.reading.interval_ns); });
    o.object(
        "interval", "counts of the interval", totals_object(),
        [](L l) -> const auto& { return l.reading.interval; });
    o.object(
        "total", "counts since the capture began", totals_object(),
        [](L l) -> const auto& { return l.reading.total; });
    o.key("drop_statistics", "false: there are none", [](L l) { return l.snapshot.dropped().has_value(); });
    o.object("connections", "connections in the tables by state", connection_counts_object(), snapshot);
    o.key("incidents_in_progress", "connections in which something is wrong, and not in order again yet",
          [](L l) { return l.snapshot.incidents_in_progress; });
    o.object("findings", "current findings of the whole capture by severity", finding_counts_object(),
             snapshot);
    o.list("worst_connections", "up to five connections with traffic in the interval, most problems first",
           live_connection_object(), [](L l) {
             std::vector<MovedIn> all;
             for (const LiveConnection& moved : l.reading.connections)
               all.push_back({l.snapshot.connections[moved.index], moved, l.reading.interval_ns});
             return all;
           });
    return o;
  }();
  return object;
}

const JsonObject<LiveFinding>& live_finding_object() {
  using L = const LiveFinding&;
  static const auto object = [] {
    JsonObject<LiveFinding> o("finding_line");
    add_first_keys(o, "finding");
    o.key("time", "time of day, when it was found", [](L l) { return l.time_ns; }).in("ns since 1970");
    o.key("elapsed_ns", "since the capture began", [](L l) { return l.elapsed_ns; });
    o.key("news", "what is new of it", [](L l) {
       return analyze::why_name(l.news.why);
     }).of({"new", "more severe", "more often"});
    o.object(
        "finding", "the finding", analyze::finding_object(),
        [](L l) -> const auto& { return l.news.finding; });
    return o;
  }();
  return object;
}

std::string summary_json(const Snapshot& snapshot, const LiveMeter::Reading& reading, std::int64_t time_ns) {
  std::string text;
  analyze::JsonWriter json(text);
  summary_object().write(json, {snapshot, reading, time_ns});
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
  analyze::JsonWriter json(text);
  live_finding_object().write(json, {news, time_ns, elapsed_ns});
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
