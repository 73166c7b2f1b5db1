// SPDX-License-Identifier: Apache-2.0
#include "analyze/report/perfetto/perfetto_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analyze/base/address_text.hpp"
#include "analyze/base/json_writer.hpp"
#include "analyze/base/units.hpp"
#include "analyze/results/connection_columns.hpp"
#include "analyze/results/diagnosis.hpp"
#include "analyze/results/incident_columns.hpp"
#include "analyze/results/pause_facts.hpp"
#include "capture/core/frame.hpp"

namespace roce::analyze {
namespace {

constexpr unsigned fabric = 1;                   // process of what belongs to no host
constexpr unsigned diagnoses = 1, findings = 2;  // its threads

/// Microseconds with nanoseconds: a double does not hold them since the epoch.
std::string microseconds(std::int64_t ns) {
  const std::uint64_t size = ns < 0 ? ~static_cast<std::uint64_t>(ns) + 1 : static_cast<std::uint64_t>(ns);
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", size / 1000, size % 1000);
}

class Trace {
 public:
  Trace(const Snapshot& snapshot, const ReportSink& sink)
      : snapshot_(snapshot), sink_(sink), json_(sink.text) {}

  void write() {
    json_.begin_object().field("displayTimeUnit", "ns");
    json_.key("otherData").begin_object().field("program", "roceanalyze").field("clock", "wall clock, UTC");
    json_.field("complete", snapshot_.complete()).end_object();
    json_.key("traceEvents").begin_array();
    name("process_name", fabric, 0, "fabric");
    name("thread_name", fabric, diagnoses, "diagnoses");
    name("thread_name", fabric, findings, "findings");
    if (snapshot_.totals.any_time) {
      write_series();
      write_pauses();
      write_diagnoses();
      write_findings();
      write_connections();
      write_incidents();
    }
    json_.end_array().end_object();
    sink_.step();
  }

 private:
  /// Begins an event; the caller adds its own keys and ends it with end().
  JsonWriter& begin(std::string_view phase, std::string_view name, unsigned process, std::uint64_t thread) {
    return json_.begin_object()
        .field("ph", phase)
        .field("name", name)
        .field("pid", process)
        .field("tid", thread);
  }
  void end() {
    json_.end_object();
    sink_.step();
  }
  void at(std::int64_t time_ns) { json_.key("ts").number(microseconds(time_ns)); }

  void name(std::string_view what, unsigned process, std::uint64_t thread, const std::string& is) {
    begin("M", what, process, thread).key("args").begin_object().field("name", is).end_object();
    end();
  }
  template <class Value>
  void counter(const std::string& of, std::string_view key, std::int64_t time_ns, Value value) {
    begin("C", of, fabric, 0);
    at(time_ns);
    json_.key("args").begin_object().field(key, value).end_object();
    end();
  }

  void write_series() {
    const Series& series = snapshot_.series;
    const auto& buckets = series.buckets();
    if (buckets.empty()) return;
    const auto time = [&](std::size_t i) {
      return series.start_ns() + static_cast<std::int64_t>(i) * series.width_ns();
    };
    const auto row = [&](const std::string& of, std::string_view key, auto value) {
      bool any = false;
      for (const Series::Bucket& bucket : buckets) any = any || value(bucket) != 0;
      if (!any) return;
      for (std::size_t i = 0; i < buckets.size(); ++i) {
        // A counter holds its value to the next.
        if (i == 0 || value(buckets[i]) != value(buckets[i - 1]))
          counter(of, key, time(i), value(buckets[i]));
      }
      counter(of, key, time(buckets.size()), 0);
    };
    const auto rate = [&](auto Series::Bucket::*bytes) {
      return [bytes, width = static_cast<double>(series.width_ns())](const Series::Bucket& bucket) {
        return static_cast<double>(bucket.*bytes) * 8e9 / width;
      };
    };
    const auto count = [](auto Series::Bucket::*packets) {
      return [packets](const Series::Bucket& bucket) { return bucket.*packets; };
    };
    row("on the wire", "bit/s", rate(&Series::Bucket::bytes));
    row("goodput", "bit/s", rate(&Series::Bucket::goodput_bytes));
    const std::string each = " per " + duration_text(series.width_ns());
    row("retransmitted" + each, "packets", count(&Series::Bucket::retransmitted));
    row("lost" + each, "packets", count(&Series::Bucket::lost));
    row("CE" + each, "packets", count(&Series::Bucket::ce));
    row("CNP" + each, "packets", count(&Series::Bucket::cnps));
  }

  /// Of each port and priority the share of time in which it was paused.
  void write_pauses() {
    for (const PausePort& port : snapshot_.pauses.ports) {
      for (std::size_t place = 0; place < port.lanes.size(); ++place) {
        if (!port.lanes[place]) continue;
        const PauseSeries& series = port.lanes[place]->over_time;
        const auto& buckets = series.buckets();
        const std::string of =
            fmt::format("paused by {}{}", mac_text(port.mac),
                        place == PausePort::global ? ", PAUSE" : fmt::format(", priority {}", place));
        const auto value = [&](std::size_t i) {
          return 100 * static_cast<double>(buckets[i]) / static_cast<double>(series.width_ns());
        };
        for (std::size_t i = 0; i < buckets.size(); ++i) {
          if (i != 0 && buckets[i] == buckets[i - 1]) continue;
          counter(of, "%", series.start_ns() + static_cast<std::int64_t>(i) * series.width_ns(), value(i));
        }
        if (!buckets.empty()) {
          counter(of, "%", series.start_ns() + static_cast<std::int64_t>(buckets.size()) * series.width_ns(),
                  0);
        }
      }
    }
  }

  /// From the one time to the other; slices of one thread may overlap. `args` adds keys.
  template <class Args>
  void slice(std::string_view kind, std::uint64_t id, const std::string& of, unsigned process,
             std::uint64_t thread, std::int64_t from_ns, std::int64_t to_ns, Args args) {
    for (const bool first : {true, false}) {
      begin(first ? "b" : "e", of, process, thread).field("cat", kind).field("id", id);
      at(first ? from_ns : std::max(from_ns, to_ns));
      if (first) {
        json_.key("args").begin_object();
        args();
        json_.end_object();
      }
      end();
    }
  }

  void write_diagnoses() {
    for (std::size_t i = 0; i < snapshot_.diagnoses.size(); ++i) {
      const Diagnosis& d = snapshot_.diagnoses[i];
      if (!d.since_ns) continue;
      slice("diagnosis", i, d.sentence, fabric, diagnoses, *d.since_ns, d.until_ns.value_or(*d.since_ns),
            [&] {
              json_.field("cause", d.cause).field("severity", consequence_names[d.severity]);
              json_.field("place", d.subject).field("confidence", d.confidence);
            });
    }
  }

  void write_findings() {
    for (const Finding& finding : snapshot_.findings) {
      if (!finding.first_time_ns) continue;
      begin("i", finding.title, fabric, findings).field("cat", "finding").field("s", "t");
      at(*finding.first_time_ns);
      json_.key("args")
          .begin_object()
          .field("id", finding.id)
          .field("severity", severity_name(finding.severity));
      json_.field("subject", finding.subject).field("count", finding.count);
      if (!finding.packets.empty()) json_.field("packet", finding.packets.front());
      json_.end_object();
      end();
    }
  }

  /// The process of a host; the first call names it.
  unsigned process_of(const dissect::IpAddress& address) {
    const auto [found, fresh] = processes_.emplace(address_text(address), fabric + 1 + processes_.size());
    if (fresh) name("process_name", static_cast<unsigned>(found->second), 0, found->first);
    return static_cast<unsigned>(found->second);
  }

  void write_connections() {
    for (const Connection& connection : snapshot_.connections) {
      const std::uint64_t thread = std::uint64_t{connection.id} + 1;
      for (std::size_t side = 0; side < 2; ++side) {
        const auto &own = connection.ends[side], &other = connection.ends[side ^ 1U];
        const unsigned process = process_of(own.address);
        if (side == 1 && process == process_of(other.address)) continue;  // both ends on one host
        name("thread_name", process, thread,
             fmt::format("connection {} to {}", connection.id, address_text(other.address)));
        if (connection.first_time_ns == capture::no_time) continue;
        slice("connection", connection.id * std::uint64_t{2} + side,
              fmt::format("connection {}", connection.id), process, thread, connection.first_time_ns,
              connection.last_time_ns, [&] { json_.field("packets", connection.packets[side]); });
      }
    }
  }

  void write_incidents() {
    for (const IncidentRow& row : incident_rows(snapshot_)) {
      if (row.connection == nullptr || row->start_ns == capture::no_time) continue;
      const std::int64_t end_ns = row->end_ns == capture::no_time ? row->start_ns : row->end_ns;
      slice("incident", row->id, incident_what_text(*row),
            process_of(row.connection->ends[row->side].address), std::uint64_t{row->connection} + 1,
            row->start_ns, end_ns, [&] {
              json_.field("incident", row->id).field("noticed by", incident_learned_text(*row));
              json_.field("cost", incident_cost_text(*row)).field("first packet", row->first_frame);
              json_.field("last packet", row->last_frame).field("repaired", row->over);
              if (!row.dropped_at.empty()) json_.field("dropped at", row.dropped_at);
            });
    }
  }

  const Snapshot& snapshot_;
  const ReportSink& sink_;
  JsonWriter json_;
  std::unordered_map<std::string, std::size_t> processes_;  ///< by address
};

}  // namespace

void perfetto_report(const Snapshot& snapshot, const ReportSink& sink) {
  Trace(snapshot, sink).write();
}

}  // namespace roce::analyze
