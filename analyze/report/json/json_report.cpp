// SPDX-License-Identifier: Apache-2.0
#include "analyze/report/json/json_report.hpp"

#include <numeric>
#include <string>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"
#include "analyze/packet/packet_facts.hpp"
#include "analyze/report/json/json_columns.hpp"
#include "analyze/report/json/json_parts.hpp"
#include "analyze/results/flow_columns.hpp"
#include "analyze/results/path_columns.hpp"
#include "dissect/dissect.hpp"

namespace roce::analyze {
namespace {

void write_ecn(JsonWriter& json, const std::array<std::uint64_t, 4>& ecn) {
  using dissect::Ecn;
  const auto of = [&ecn](Ecn codepoint) { return ecn[static_cast<std::size_t>(codepoint)]; };
  json.key("ecn").begin_object();
  json.field("not_ect", of(Ecn::not_ect))
      .field("ect0", of(Ecn::ect0))
      .field("ect1", of(Ecn::ect1))
      .field("ce", of(Ecn::ce));
  json.end_object();
}

template <class Counts>
void write_counts(JsonWriter& json, std::string_view key, const Counts& counts) {
  json.key(key).begin_object();
  for (const auto& entry : counts.sorted()) json.field(std::to_string(entry.key), entry.count);
  if (counts.others() != 0) json.field("others", counts.others());
  json.end_object();
}

void write_capture_facts(JsonWriter& json, const Snapshot& s) {
  const Totals& t = s.totals;
  json.key("capture").begin_object();
  s.filter.empty() ? json.null_field("filter") : json.field("filter", s.filter);
  json.field("packets_read", s.frames_read);
  json.field("packets", t.packets).field("bytes", t.bytes).field("captured_bytes", t.captured_bytes);
  if (t.any_time) {
    json.field("first_time", t.first_time_ns).field("last_time", t.last_time_ns);
    json.field("duration_ns", span_ns(t.first_time_ns, t.last_time_ns));
  } else {
    json.null_field("first_time").null_field("last_time").field("duration_ns", 0);
  }
  json.key("files").begin_array();
  for (const capture::FileInfo& file : s.files) {
    json.begin_object().field("path", file.path).field("format", file.format).field("packets", file.packets);
    json.field("bytes", file.bytes).field("application", file.application).field("hardware", file.hardware);
    json.field("operating_system", file.operating_system).field("comment", file.comment).end_object();
  }
  json.end_array();
  json.key("interfaces").begin_array();
  for (const capture::InterfaceInfo& i : s.interfaces) {
    json.begin_object().field("file", i.file).field("name", i.name).field("description", i.description);
    json.field("link_type", i.link_type).field("snap_length", i.snap_length).field("speed_bps", i.speed_bps);
    json.field("filter", i.filter).field("packets", i.packets);
    write_optional(json, "received", i.received);
    write_optional(json, "dropped_by_interface", i.dropped_by_interface);
    write_optional(json, "dropped_by_kernel", i.dropped_by_kernel);
    json.end_object();
  }
  json.end_array();
  // Counts are numbers by contract; drop_statistics shows whether the capture has any.
  json.field("dropped", s.dropped().value_or(0)).field("drop_statistics", s.dropped().has_value());
  write_completeness(json, s);
  json.end_object();
}

void write_roce(JsonWriter& json, const Snapshot& s) {
  using dissect::CrcStatus;
  using dissect::Transport;
  const Totals& t = s.totals;
  json.key("roce").begin_object();
  json.field("packets", t.roce_packets).field("bytes", t.roce_bytes);
  for (const Transport transport :
       {Transport::roce_v1, Transport::roce_v2_ipv4, Transport::roce_v2_ipv6, Transport::native_ib}) {
    json.field(version_name(transport), t.by_transport[static_cast<std::size_t>(transport)]);
  }
  json.key("tunnelled").begin_object();
  for (std::size_t i = 0; i < dissect::tunnel_count; ++i) {
    json.field(dissect::tunnel_name(static_cast<dissect::Tunnel>(i)), t.by_tunnel[i]);
  }
  json.end_object();
  json.key("opcodes").begin_object();
  for (std::size_t i = 0; i < t.opcodes.size(); ++i) {
    if (t.opcodes[i] != 0) json.field(dissect::opcode_name(static_cast<std::uint8_t>(i)), t.opcodes[i]);
  }
  json.end_object();
  json.key("icrc").begin_object();
  for (const CrcStatus status : {CrcStatus::match, CrcStatus::mismatch, CrcStatus::not_checkable}) {
    json.field(dissect::crc_status_name(status), t.icrc[static_cast<std::size_t>(status)]);
  }
  json.field("checked", s.icrc_checked).key("mismatch_packets").begin_row();
  for (const std::uint64_t number : t.icrc_mismatches) json.value(number);
  json.end_row().end_object();
  json.key("dscp").begin_object();
  for (std::size_t i = 0; i < t.dscp.size(); ++i) {
    if (t.dscp[i] != 0) json.field(std::to_string(i), t.dscp[i]);
  }
  json.end_object();
  write_ecn(json, t.ecn);
  json.key("pcp").begin_object();
  for (std::size_t i = 0; i < t.pcp.size(); ++i) {
    if (t.pcp[i] != 0) json.field(std::to_string(i), t.pcp[i]);
  }
  json.end_object();
  json.field("untagged", t.untagged);
  json.key("trimmed").begin_object();
  json.field("packets", t.trimmed_packets()).field("bytes_cut", t.trimmed_bytes).key("dscp").begin_object();
  for (std::size_t i = 0; i < t.trimmed_dscp.size(); ++i) {
    if (t.trimmed_dscp[i] != 0) json.field(std::to_string(i), t.trimmed_dscp[i]);
  }
  json.end_object().field("remarked", t.remarked_packets(s.trimmed_dscps)).end_object();
  json.end_object();

  json.key("other_traffic").begin_object();
  for (std::size_t i = 0; i < other_traffic_count; ++i) {
    json.field(other_traffic_name(static_cast<OtherTraffic>(i)), t.others[i]);
  }
  json.end_object();
}

/// What the columns tell of a flow; the keys of the rest are older than its columns.
JsonColumns<Flow> flow_keys() {
  return {
      flow_columns(),
      {{"id", "connection", "src", "dst", "dst_qp"},
       {"upper", "version", "vlan"},
       {"packets", "bytes", "payload_bytes", "messages", "first_time", "last_time", "first_psn", "last_psn"}},
      {"service",
       "udp_sports",
       "rate_bps",
       "retransmitted",
       "retransmitted_nak",
       "retransmitted_timeout",
       "retransmitted_rnr",
       "retransmitted_read_retry",
       "retransmitted_unknown",
       "spurious",
       "lost",
       "lost_before_capture",
       "lost_after_capture",
       "lost_by_capture",
       "lost_trimmed",
       "lost_undecided",
       "out_of_order",
       "duplicate_captures",
       "duplicate_network",
       "gaps",
       "wasted_packets",
       "wasted_bytes",
       "dscp",
       "ecn",
       "pcp",
       "opcodes",
       "duration_ns",
       "icrc_mismatches"}};
}

void write_flow(JsonWriter& json, const Snapshot& snapshot, const Flow& f) {
  static const JsonColumns<Flow> columns = flow_keys();
  json.begin_object();
  columns.write(json, f, 0);
  f.service_known ? json.field("service", dissect::service_name(f.service)) : json.null_field("service");
  columns.write(json, f, 1);
  json.key("udp_sports").begin_row();
  for (const auto& entry : f.udp_sports.sorted()) json.value(entry.key);
  json.end_row();
  columns.write(json, f, 2);
  write_counts(json, "dscp", f.dscp);
  write_ecn(json, f.ecn);
  write_counts(json, "pcp", f.pcp);
  write_marks(json, f);
  write_outer(json, f);
  write_points(json, snapshot, f);
  json.key("opcodes").begin_object();
  for (const auto& entry : f.opcodes.sorted()) json.field(dissect::opcode_name(entry.key), entry.count);
  json.end_object();
  json.field("icrc_mismatches", f.icrc_mismatches).field("damaged", f.sequence().damaged);
  json.field("trimmed", f.sequence().trimmed);
  write_sequence(json, f.sequence());
  columns.write_rest(json, f);
  json.end_object();
}

/// The first keys of every object.
void begin(JsonWriter& json, const Snapshot& snapshot) {
  json.begin_object().field("schema", "roceanalyze/1").field("final", snapshot.final);
  json.field("complete", snapshot.complete()).field("interrupted", snapshot.interrupted);
}

}  // namespace

void write_time(JsonWriter& json, std::string_view key, std::optional<std::int64_t> time_ns) {
  if (time_ns == capture::no_time) time_ns.reset();
  write_optional(json, key, time_ns);
}

void write_sequence(JsonWriter& json, const SequenceCounts& counts) {
  json.key("retransmitted").begin_object();
  json.field("packets", counts.retransmitted_packets()).field("bytes", counts.retransmitted_bytes);
  for (const Cause cause : {Cause::nak, Cause::timeout, Cause::rnr, Cause::read_retry, Cause::unknown})
    json.field(cause_name(cause), counts.retransmitted[static_cast<std::size_t>(cause)]);
  json.end_object();
  json.field("spurious", counts.spurious).field("out_of_order", counts.out_of_order);
  json.field("duplicate_captures", counts.duplicate_captures);
  json.field("duplicate_network", counts.duplicate_network);
  json.key("lost").begin_object();
  for (const Lost lost :
       {Lost::before_capture, Lost::after_capture, Lost::by_capture, Lost::trimmed, Lost::undecided})
    json.field(lost_name(lost), counts.lost[static_cast<std::size_t>(lost)]);
  json.end_object();
  json.key("wasted").begin_object().field("packets", counts.wasted_packets);
  json.field("bytes", counts.wasted_bytes).end_object();
  json.field("gaps", counts.gaps);
}

void write_quantiles(JsonWriter& json, std::string_view key, const Histogram& histogram) {
  json.key(key).begin_object().field("count", histogram.count()).field("min", histogram.min());
  json.field("p50", histogram.percentile(0.5)).field("p90", histogram.percentile(0.9));
  json.field("p99", histogram.percentile(0.99)).field("max", histogram.max()).end_object();
}

void write_findings(JsonWriter& json, const Snapshot& snapshot) {
  json.key("findings").begin_array();
  for (const Finding& finding : snapshot.findings) write_finding(json, finding);
  json.end_array().field("findings_dropped", snapshot.findings_dropped);
}

void write_diagnostics(JsonWriter& json, const std::vector<Diagnostic>& diagnostics) {
  json.key("diagnostics").begin_array();
  for (const Diagnostic& d : diagnostics) {
    json.begin_object()
        .field("id", d.id)
        .field("severity", severity_name(d.severity))
        .field("count", d.count);
    json.field("help", d.help).key("details").begin_array();
    for (const std::string& detail : d.details) json.value(detail);
    json.end_array().end_object();
  }
  json.end_array();
}

void write_series(JsonWriter& json, const Snapshot& snapshot) {
  using Bucket = Series::Bucket;
  const auto& buckets = snapshot.series.buckets();
  json.key("series").begin_object();
  write_time(json, "start", buckets.empty() ? capture::no_time : snapshot.series.start_ns());
  json.field("bucket_ns", snapshot.series.width_ns());
  const auto column = [&](std::string_view key, auto Bucket::*member) {
    json.key(key).begin_row();
    for (const Bucket& bucket : buckets) json.value(bucket.*member);
    json.end_row();
  };
  column("packets", &Bucket::packets);
  column("bytes", &Bucket::bytes);
  column("goodput_bytes", &Bucket::goodput_bytes);
  column("retransmitted", &Bucket::retransmitted);
  column("lost", &Bucket::lost);
  column("ce", &Bucket::ce);
  column("cnps", &Bucket::cnps);
  column("in_flight_max", &Bucket::in_flight_max);
  column("naks", &Bucket::naks);
  column("rnr_naks", &Bucket::rnr_naks);
  json.end_object();
}

/// A part of the report: common first keys, the keys of `write`, diagnostics.
template <class Write>
static void page_json(const Snapshot& snapshot, bool pretty, const ReportSink& sink, Write write) {
  JsonWriter json(sink.text, pretty);
  begin(json, snapshot);
  write(json);
  write_diagnostics(json, snapshot.diagnostics);
  json.end_object();
  sink.text += '\n';
}

void write_finding(JsonWriter& json, const Finding& finding) {
  json.begin_object().field("id", finding.id).field("severity", severity_name(finding.severity));
  json.field("title", finding.title).field("subject", finding.subject).field("count", finding.count);
  json.key("packets").begin_row();
  for (const std::uint64_t number : finding.packets) json.value(number);
  json.end_row();
  write_time(json, "first_time", finding.first_time_ns);
  write_time(json, "last_time", finding.last_time_ns);
  json.field("confidence", finding.confidence).field("explanation", finding.explanation);
  json.field("advice", finding.advice).key("connections").begin_row();
  for (const std::uint32_t id : finding.connections) json.value(id);
  json.end_row().end_object();
}

void report_json(const Snapshot& snapshot, bool pretty, const ReportSink& sink) {
  JsonWriter json(sink.text, pretty);
  begin(json, snapshot);
  write_capture_facts(json, snapshot);
  write_roce(json, snapshot);
  json.key("flows").begin_array();
  for (const Flow& flow : snapshot.flows) {
    write_flow(json, snapshot, flow);
    sink.step();
  }
  json.end_array();
  json.key("flows_evicted").begin_object();
  json.field("flows", snapshot.evicted_flows).field("packets", snapshot.evicted_packets).end_object();
  json.field("damaged_of_no_flow",
             std::accumulate(snapshot.strays.begin(), snapshot.strays.end(), std::uint64_t{0},
                             [](std::uint64_t sum, const StrayPackets& s) { return sum + s.packets; }));
  json.key("connections").begin_array();
  for (const Connection& c : snapshot.connections) {
    write_connection(json, {snapshot, c});
    sink.step();
  }
  json.end_array();
  write_incidents(json, snapshot);
  write_cm_exchanges(json, snapshot, sink);
  write_congestion(json, snapshot);
  write_dcbx(json, snapshot);
  write_markings(json, snapshot);
  write_mrc(json, snapshot, sink);
  write_exports(json, snapshot, sink);
  write_numbered(json, snapshot);
  write_diagnoses(json, snapshot);
  write_findings(json, snapshot);
  write_series(json, snapshot);
  write_diagnostics(json, snapshot.diagnostics);
  // The parts that this version computes; other keys exist by contract, but are empty.
  json.key("analysed").begin_row();
  for (const std::string_view part : {"capture", "roce", "flows", "connections", "incidents", "cm_exchanges",
                                      "congestion", "dcbx", "markings", "exports", "shells", "mirrors",
                                      "named", "diagnoses", "findings", "series", "diagnostics"})
    json.value(part);
  json.end_row().end_object();
  sink.text += '\n';
}

void flows_json(const Snapshot& snapshot, const Listing& listing, bool pretty, const ReportSink& sink) {
  const auto write = [&](JsonWriter& json) {
    json.key("flows").begin_array();
    for (const Flow* flow : listed(snapshot.flows, flow_columns(), listing)) {
      write_flow(json, snapshot, *flow);
      sink.step();
    }
    json.end_array();
  };
  page_json(snapshot, pretty, sink, write);
}

void incidents_json(const Snapshot& snapshot, const Listing& listing, bool pretty, const ReportSink& sink) {
  const auto write = [&](JsonWriter& json) { write_incidents(json, snapshot, listing); };
  page_json(snapshot, pretty, sink, write);
}

void markings_json(const Snapshot& snapshot, const Listing& listing, bool pretty, const ReportSink& sink) {
  const auto write = [&](JsonWriter& json) { write_markings(json, snapshot, listing); };
  page_json(snapshot, pretty, sink, write);
}

void paths_json(const Snapshot& snapshot, const Listing& listing, bool pretty, const ReportSink& sink) {
  static const JsonColumns<PathRow> columns(path_columns(), {}, {});
  const auto write = [&](JsonWriter& json) {
    json.key("paths").begin_array();
    const std::vector<PathRow> rows = path_rows(snapshot);
    for (const PathRow* row : listed(rows, path_columns(), listing)) {
      json.begin_object();
      columns.write_rest(json, *row);
      json.end_object();
      sink.step();
    }
    json.end_array();
  };
  page_json(snapshot, pretty, sink, write);
}

void pauses_json(const Snapshot& snapshot, const Listing& listing, bool pretty, const ReportSink& sink) {
  const auto write = [&](JsonWriter& json) { write_pauses(json, snapshot, listing); };
  page_json(snapshot, pretty, sink, write);
}

void dcbx_json(const Snapshot& snapshot, const Listing& /*listing*/, bool pretty, const ReportSink& sink) {
  const auto write = [&](JsonWriter& json) { write_dcbx(json, snapshot); };
  page_json(snapshot, pretty, sink, write);
}

void connections_json(const Snapshot& snapshot, const Listing& listing, bool pretty, const ReportSink& sink) {
  const auto write = [&](JsonWriter& json) {
    json.key("connections").begin_array();
    const std::vector<ConnectionRow> rows = connection_rows(snapshot);
    for (const auto* row : listed(rows, connection_columns(), listing)) {
      write_connection(json, *row);
      sink.step();
    }
    json.end_array();
    write_cm_exchanges(json, snapshot, sink);
  };
  page_json(snapshot, pretty, sink, write);
}

}  // namespace roce::analyze
