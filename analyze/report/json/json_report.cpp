// SPDX-License-Identifier: Apache-2.0
#include "analyze/report/json/json_report.hpp"

#include <array>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"
#include "analyze/packet/packet_facts.hpp"
#include "analyze/report/json/json_columns.hpp"
#include "analyze/report/json/json_parts.hpp"
#include "analyze/results/flow_columns.hpp"
#include "analyze/results/pair_columns.hpp"
#include "analyze/results/path_columns.hpp"
#include "dissect/dissect.hpp"

namespace roce::analyze {
namespace {

using S = const Snapshot&;
using P = const ReportPage&;

const Snapshot& snapshot_of(P page) {
  return page.s;
}

const JsonObject<capture::FileInfo>& capture_file_object() {
  using capture::FileInfo;
  static const auto object = [] {
    JsonObject<FileInfo> o("file");
    o.key("path", "its name, as given", &FileInfo::path);
    o.key("format", "format and compression", &FileInfo::format);
    o.key("packets", "packets read from it", &FileInfo::packets);
    o.key("bytes", "bytes on disk", &FileInfo::bytes);
    o.key("application", "program that wrote it", &FileInfo::application);
    o.key("hardware", "hardware that it was written on", &FileInfo::hardware);
    o.key("operating_system", "operating system that it was written on", &FileInfo::operating_system);
    o.key("comment", "comment of the file", &FileInfo::comment);
    return o;
  }();
  return object;
}

const JsonObject<capture::InterfaceInfo>& capture_interface_object() {
  using capture::InterfaceInfo;
  static const auto object = [] {
    JsonObject<InterfaceInfo> o("interface");
    o.key("file", "index of its file in files", &InterfaceInfo::file);
    o.key("name", "name", &InterfaceInfo::name);
    o.key("description", "description", &InterfaceInfo::description);
    o.key("link_type", "link type of its packets (LINKTYPE_...)", &InterfaceInfo::link_type);
    o.key("snap_length", "bytes kept of a packet; 0: all", &InterfaceInfo::snap_length).in("byte");
    o.key("speed_bps", "speed; 0: not known", &InterfaceInfo::speed_bps);
    o.key("filter", "capture filter", &InterfaceInfo::filter);
    o.key("packets", "packets read of it", &InterfaceInfo::packets);
    o.key("received", "packets that it received while capturing; null: not known", &InterfaceInfo::received);
    o.key("dropped_by_interface", "packets that the interface dropped while capturing; null: not known",
          &InterfaceInfo::dropped_by_interface);
    o.key("dropped_by_kernel", "packets that the kernel dropped while capturing; null: not known",
          &InterfaceInfo::dropped_by_kernel);
    return o;
  }();
  return object;
}

JsonTime if_timed(S s, std::int64_t time_ns) {
  return {s.totals.any_time ? std::optional(time_ns) : std::nullopt};
}

const JsonObject<Snapshot>& capture_object() {
  static const auto object = [] {
    JsonObject<Snapshot> o("capture");
    o.key("filter", "display filter; null without", [](S s) { return unless_empty(s.filter); });
    o.key("packets_read", "packets, those left out by filter and time range included",
          &Snapshot::frames_read);
    o.key("packets", "packets", [](S s) { return s.totals.packets; });
    o.key("bytes", "bytes on the wire", [](S s) { return s.totals.bytes; });
    o.key("captured_bytes", "bytes in the capture", [](S s) { return s.totals.captured_bytes; });
    o.key("first_time", "time of the first packet; null without packets",
          [](S s) { return if_timed(s, s.totals.first_time_ns); });
    o.key("last_time", "time of the last packet; null without packets",
          [](S s) { return if_timed(s, s.totals.last_time_ns); });
    o.key("duration_ns", "from the first packet to the last", [](S s) {
      return s.totals.any_time ? span_ns(s.totals.first_time_ns, s.totals.last_time_ns) : std::int64_t{0};
    });
    o.list("files", "what was read", capture_file_object(), &Snapshot::files);
    o.list("interfaces", "interfaces that were captured on", capture_interface_object(),
           &Snapshot::interfaces);
    // Counts are numbers by contract; drop_statistics shows whether the capture has any.
    o.key("dropped", "packets dropped while capturing, and those in the file that had to be skipped",
          [](S s) { return s.dropped().value_or(0); });
    o.key("drop_statistics", "false: dropped is not known", [](S s) { return s.dropped().has_value(); });
    o.object("completeness", "what the capture can bear", completeness_object(), std::identity());
    return o;
  }();
  return object;
}

const JsonObject<Totals>& tunnels_object() {
  static const auto object = [] {
    JsonObject<Totals> o("tunnels");
    for (std::size_t i = 0; i < dissect::tunnel_count; ++i) {
      o.key(std::string(dissect::tunnel_name(static_cast<dissect::Tunnel>(i))), "RoCE packets in this tunnel",
            [i](const Totals& t) { return t.by_tunnel[i]; });
    }
    return o;
  }();
  return object;
}

const JsonObject<Snapshot>& icrc_object() {
  using dissect::CrcStatus;
  static const auto object = [] {
    JsonObject<Snapshot> o("icrc");
    const auto packets = [&o](CrcStatus status, std::string_view help) {
      o.key(std::string(dissect::crc_status_name(status)), help,
            [status](S s) { return s.totals.icrc[static_cast<std::size_t>(status)]; });
    };
    packets(CrcStatus::match, "packets with the right ICRC");
    packets(CrcStatus::mismatch, "packets with a wrong ICRC");
    packets(CrcStatus::not_checkable,
            "packets of which it cannot be checked: truncated, or of a kind without");
    o.key("checked", "false with --no-icrc", &Snapshot::icrc_checked);
    o.key(
        "mismatch_packets", "numbers of the first ten packets with a wrong ICRC",
        [](S s) -> const auto& { return s.totals.icrc_mismatches; });
    return o;
  }();
  return object;
}

const JsonObject<Snapshot>& trimmed_object() {
  static const auto object = [] {
    JsonObject<Snapshot> o("trimmed");
    o.key("packets", "packets that a switch trimmed", [](S s) { return s.totals.trimmed_packets(); });
    o.key("bytes_cut", "what it cut off, as far as each tells", [](S s) {
       return s.totals.trimmed_bytes;
     }).in("byte");
    o.key("dscp", "trimmed packets by DSCP", [](S s) { return counts_by_number(s.totals.trimmed_dscp); });
    o.key("remarked", "whole packets with a DSCP of --trimmed-dscp",
          [](S s) { return s.totals.remarked_packets(s.trimmed_dscps); });
    return o;
  }();
  return object;
}

const JsonObject<Snapshot>& roce_object() {
  using dissect::Transport;
  static const auto object = [] {
    JsonObject<Snapshot> o("roce");
    o.key("packets", "RoCE packets", [](S s) { return s.totals.roce_packets; });
    o.key("bytes", "their bytes on the wire", [](S s) { return s.totals.roce_bytes; });
    for (const Transport transport :
         {Transport::roce_v1, Transport::roce_v2_ipv4, Transport::roce_v2_ipv6, Transport::native_ib}) {
      o.key(std::string(version_name(transport)), "packets of this version",
            [transport](S s) { return s.totals.by_transport[static_cast<std::size_t>(transport)]; });
    }
    o.object("tunnelled", "packets by tunnel; one in two tunnels counts in both", tunnels_object(),
             [](S s) -> const Totals& { return s.totals; });
    o.key("opcodes", "packets by opcode", [](S s) {
      JsonMap<std::uint64_t> map;
      for (std::size_t i = 0; i < s.totals.opcodes.size(); ++i) {
        if (s.totals.opcodes[i] != 0)
          map.entries.emplace_back(dissect::opcode_name(static_cast<std::uint8_t>(i)), s.totals.opcodes[i]);
      }
      return map;
    });
    o.object("icrc", "packets by ICRC", icrc_object(), std::identity());
    o.key("dscp", "packets by DSCP", [](S s) { return counts_by_number(s.totals.dscp); });
    o.object(
        "ecn", "packets by ECN codepoint", ecn_object(), [](S s) -> const auto& { return s.totals.ecn; });
    o.key("pcp", "packets by VLAN priority", [](S s) { return counts_by_number(s.totals.pcp); });
    o.key("untagged", "packets without VLAN tag", [](S s) { return s.totals.untagged; });
    o.object("trimmed", "packets that a switch trimmed", trimmed_object(), std::identity());
    return o;
  }();
  return object;
}

const JsonObject<Totals>& others_object() {
  static const auto object = [] {
    JsonObject<Totals> o("other_traffic");
    for (std::size_t i = 0; i < other_traffic_count; ++i) {
      o.key(std::string(other_traffic_name(static_cast<OtherTraffic>(i))), "frames of this kind",
            [i](const Totals& t) { return t.others[i]; });
    }
    return o;
  }();
  return object;
}

/// Packets by value, and those of values beyond the limit as "others".
template <class Counts>
JsonMap<std::uint64_t> counts_and_others(const Counts& counts) {
  JsonMap<std::uint64_t> map = counts_by(counts, json_number_key);
  if (counts.others() != 0) map.entries.emplace_back("others", counts.others());
  return map;
}

/// What the columns tell of a flow; the keys of the rest are older than its columns.
const JsonObject<FlowIn>& flow_object() {
  using F = const FlowIn&;
  static const auto object = [] {
    JsonObject<FlowIn> o("flow");
    const auto flow = [](F f) -> const Flow& { return f.flow; };
    const auto columns = [&](std::initializer_list<std::string_view> names) {
      add_columns(o, flow_columns(), names, flow);
    };
    columns({"id", "connection", "src", "dst", "dst_qp"});
    o.key("service", "transport service; null if only CNPs were seen", [](F f) {
      return f.flow.service_known ? std::optional(dissect::service_name(f.flow.service)) : std::nullopt;
    });
    columns({"upper", "version", "vlan"});
    o.key("udp_sports", "UDP source ports", [](F f) {
      std::vector<std::uint64_t> ports;
      for (const auto& entry : f.flow.udp_sports.sorted()) ports.push_back(entry.key);
      return ports;
    });
    columns({"packets", "bytes", "payload_bytes", "messages", "first_time", "last_time", "first_psn",
             "last_psn"});
    o.key("dscp", "packets by DSCP", [](F f) { return counts_and_others(f.flow.dscp); });
    o.object(
        "ecn", "packets by ECN codepoint", ecn_object(), [](F f) -> const auto& { return f.flow.ecn; });
    o.key("pcp", "packets by VLAN priority", [](F f) { return counts_and_others(f.flow.pcp); });
    o.include(flow_marks_keys());
    o.key("opcodes", "packets by opcode", [](F f) { return counts_by(f.flow.opcodes, json_opcode_key); });
    o.key("icrc_mismatches", "packets with a wrong ICRC", [](F f) { return f.flow.icrc_mismatches; });
    o.key("damaged", "packets with a wrong ICRC or IPv4 header checksum in a flow where others are right",
          [](F f) { return f.flow.sequence().damaged; });
    o.key("trimmed", "packets that a switch trimmed", [](F f) { return f.flow.sequence().trimmed; });
    o.include(
        sequence_keys(), [](F f) -> const auto& { return f.flow.sequence(); });
    add_other_columns(o, flow_columns(),
                      {"rate_bps", "retransmitted_nak", "retransmitted_timeout", "retransmitted_rnr",
                       "retransmitted_read_retry", "retransmitted_unknown", "lost_before_capture",
                       "lost_after_capture", "lost_by_capture", "lost_trimmed", "lost_undecided",
                       "wasted_packets", "wasted_bytes", "duration_ns"},
                      flow);
    return o;
  }();
  return object;
}

const JsonObject<Snapshot>& evicted_object() {
  static const auto object = [] {
    JsonObject<Snapshot> o("flows_evicted");
    o.key("flows", "flows evicted from the table because too many were active", &Snapshot::evicted_flows);
    o.key("packets", "their packets", &Snapshot::evicted_packets);
    return o;
  }();
  return object;
}

const JsonObject<SequenceCounts>& retransmitted_object() {
  static const auto object = [] {
    JsonObject<SequenceCounts> o("retransmitted");
    o.key("packets", "retransmitted packets", &SequenceCounts::retransmitted_packets);
    o.key("bytes", "their bytes on the wire", &SequenceCounts::retransmitted_bytes);
    for (const Cause cause : {Cause::nak, Cause::timeout, Cause::rnr, Cause::read_retry, Cause::unknown}) {
      o.key(std::string(cause_name(cause)), "packets by cause, as roce.analysis.retransmission.cause",
            [cause](const SequenceCounts& c) { return c.retransmitted[static_cast<std::size_t>(cause)]; });
    }
    return o;
  }();
  return object;
}

const JsonObject<SequenceCounts>& sequence_lost_object() {
  static const auto object = [] {
    JsonObject<SequenceCounts> o("lost");
    for (const Lost lost :
         {Lost::before_capture, Lost::after_capture, Lost::by_capture, Lost::trimmed, Lost::undecided}) {
      o.key(std::string(lost_name(lost)), "transmissions by where they were lost, as roce.analysis.lost",
            [lost](const SequenceCounts& c) { return c.lost[static_cast<std::size_t>(lost)]; });
    }
    return o;
  }();
  return object;
}

const JsonObject<SequenceCounts>& wasted_object() {
  static const auto object = [] {
    JsonObject<SequenceCounts> o("wasted");
    o.key("packets", "packets delivered out of sequence, discarded and retransmitted",
          &SequenceCounts::wasted_packets);
    o.key("bytes", "their bytes on the wire", &SequenceCounts::wasted_bytes);
    return o;
  }();
  return object;
}

JsonObject<Histogram> quantiles(std::string name, std::string_view unit) {
  JsonObject<Histogram> o(std::move(name));
  o.key("count", "number of values", &Histogram::count);
  o.key("min", "the smallest", &Histogram::min).in(unit);
  o.key("p50", "median, right within 3.2 %", [](const Histogram& h) { return h.percentile(0.5); }).in(unit);
  o.key("p90", "90th percentile", [](const Histogram& h) { return h.percentile(0.9); }).in(unit);
  o.key("p99", "99th percentile", [](const Histogram& h) { return h.percentile(0.99); }).in(unit);
  o.key("max", "the largest", &Histogram::max).in(unit);
  return o;
}

const JsonObject<Diagnostic>& diagnostic_object() {
  using D = const Diagnostic&;
  static const auto object = [] {
    JsonObject<Diagnostic> o("diagnostic");
    o.key("id", "its name", [](D d) { return d.id; });
    o.key("severity", "data_loss: results lack something; error: an input failed", [](D d) {
       return severity_name(d.severity);
     }).of({"info", "data_loss", "error"});
    o.key("count", "how often", [](D d) { return d.count; });
    o.key("help", "what it means", [](D d) { return d.help; });
    o.key("details", "the first few, in words", [](D d) { return JsonLines{std::span(d.details)}; });
    return o;
  }();
  return object;
}

const JsonObject<Series>& series_object() {
  using Bucket = Series::Bucket;
  static const auto object = [] {
    JsonObject<Series> o("series");
    o.key("start", "time of the first bucket; null without packets",
          [](const Series& s) { return json_time(s.buckets().empty() ? capture::no_time : s.start_ns()); });
    o.key("bucket_ns", "width of a bucket", &Series::width_ns);
    const auto column = [&o](std::string name, std::string_view help, auto Bucket::*member) {
      o.key(std::move(name), help, [member](const Series& s) {
        std::vector<std::remove_cvref_t<decltype(std::declval<Bucket>().*member)>> values;
        values.reserve(s.buckets().size());
        for (const Bucket& bucket : s.buckets()) values.push_back(bucket.*member);
        return values;
      });
    };
    column("packets", "RoCE packets by bucket, without duplicates made by the capture", &Bucket::packets);
    column("bytes", "their bytes on the wire", &Bucket::bytes);
    column("goodput_bytes", "message bytes without retransmissions", &Bucket::goodput_bytes);
    column("retransmitted", "retransmitted packets", &Bucket::retransmitted);
    column("lost", "lost transmissions", &Bucket::lost);
    column("ce", "packets marked CE", &Bucket::ce);
    column("cnps", "CNPs", &Bucket::cnps);
    column("in_flight_max", "most PSNs of one connection that were not yet acknowledged",
           &Bucket::in_flight_max);
    column("naks", "NAKs without RNR NAKs", &Bucket::naks);
    column("rnr_naks", "RNR NAKs", &Bucket::rnr_naks);
    return o;
  }();
  return object;
}

const JsonObject<ReportPage>& flow_keys() {
  static const auto object = [] {
    JsonObject<ReportPage> o("flows");
    o.list("flows", "one direction to one queue pair each", flow_object(), [](P page) {
      std::vector<FlowIn> all;
      all.reserve(page.s.flows.size());
      for (const Flow* flow : listed(page.s.flows, flow_columns(), page.listing))
        all.push_back({page.s, *flow});
      return all;
    });
    return o;
  }();
  return object;
}

const JsonObject<ReportPage>& connection_keys() {
  static const auto object = [] {
    JsonObject<ReportPage> o("connections");
    o.list("connections", "both directions between two queue pairs", connection_object(), [](P page) {
      return ListedRows<ConnectionRow>(connection_rows(page.s), connection_columns(), page.listing);
    });
    return o;
  }();
  return object;
}

const JsonObject<ReportPage>& pair_keys() {
  static const auto object = [] {
    static const auto pair = [] {
      JsonObject<HostPairRow> o("pair");
      add_other_columns(o, host_pair_columns());
      return o;
    }();
    JsonObject<ReportPage> o("pairs");
    o.list("pairs", "what one host sends to another", pair, [](P page) {
      return ListedRows<HostPairRow>(host_pair_rows(page.s), host_pair_columns(), page.listing);
    });
    return o;
  }();
  return object;
}

const JsonObject<ReportPage>& path_keys() {
  static const auto object = [] {
    static const auto path = [] {
      JsonObject<PathRow> o("path");
      add_other_columns(o, path_columns());
      return o;
    }();
    JsonObject<ReportPage> o("paths");
    o.list("paths",
           "what one host sends another with the same UDP source port, flow label, source MAC and segment",
           path, [](P page) { return ListedRows<PathRow>(path_rows(page.s), path_columns(), page.listing); });
    return o;
  }();
  return object;
}

constexpr std::array<std::string_view, 17> analysed_parts{
    "capture",    "roce",      "flows",    "connections", "incidents",  "cm_exchanges",
    "congestion", "dcbx",      "markings", "exports",     "shells",     "mirrors",
    "named",      "diagnoses", "findings", "series",      "diagnostics"};

/// A part of the report: common first keys, those of the part, diagnostics.
JsonObject<ReportPage> report_page_of(std::string name,
                                      std::initializer_list<const JsonObject<ReportPage>*> parts) {
  JsonObject<ReportPage> o(std::move(name));
  o.include(first_keys(), snapshot_of);
  for (const JsonObject<ReportPage>* part : parts) o.include(*part);
  o.include(
      diagnostic_keys(), [](P page) -> const auto& { return page.s.diagnostics; });
  return o;
}

void write_report_page(const JsonObject<ReportPage>& object, const Snapshot& snapshot, const Listing& listing,
                       bool pretty, const ReportSink& sink) {
  JsonWriter json(sink.text, pretty);
  object.write(json, {snapshot, listing, sink});
  sink.text += '\n';
}

}  // namespace

JsonTime json_time(std::optional<std::int64_t> time_ns) noexcept {
  if (time_ns == capture::no_time) time_ns.reset();
  return {time_ns};
}

std::string json_number_key(std::uint64_t number) {
  return std::to_string(number);
}
std::string json_opcode_key(std::uint8_t opcode) {
  return std::string(dissect::opcode_name(opcode));
}
std::optional<std::string> address_or_null(const std::optional<dissect::IpAddress>& address) {
  return address ? std::optional(address_text(*address)) : std::nullopt;
}

const JsonObject<std::array<std::uint64_t, 4>>& ecn_object() {
  using dissect::Ecn;
  using Counts = std::array<std::uint64_t, 4>;
  static const auto object = [] {
    JsonObject<Counts> o("ecn");
    const auto packets = [&o](std::string name, std::string_view help, Ecn codepoint) {
      o.key(std::move(name), help,
            [codepoint](const Counts& ecn) { return ecn[static_cast<std::size_t>(codepoint)]; });
    };
    packets("not_ect", "Not-ECT", Ecn::not_ect);
    packets("ect0", "ECT(0)", Ecn::ect0);
    packets("ect1", "ECT(1)", Ecn::ect1);
    packets("ce", "CE", Ecn::ce);
    return o;
  }();
  return object;
}

const JsonObject<SequenceCounts>& sequence_keys() {
  using C = SequenceCounts;
  static const auto object = [] {
    JsonObject<C> o("sequence");
    o.object("retransmitted", "retransmitted packets", retransmitted_object(), std::identity());
    o.key("spurious", "retransmissions of what had already been acknowledged", &C::spurious);
    o.key("out_of_order", "late packets that are not retransmissions", &C::out_of_order);
    o.key("duplicate_captures", "transmissions captured more than once, in no other count",
          &C::duplicate_captures);
    o.key("duplicate_network", "packets duplicated by the network", &C::duplicate_network);
    o.object("lost", "lost transmissions", sequence_lost_object(), std::identity());
    o.object("wasted", "what was delivered in vain", wasted_object(), std::identity());
    o.key("gaps", "PSNs that were not captured in sequence, those of retransmissions included", &C::gaps);
    return o;
  }();
  return object;
}

const JsonObject<Histogram>& quantiles_object() {
  static const auto object = quantiles("quantiles", "ns");
  return object;
}

const JsonObject<Histogram>& size_quantiles_object() {
  static const auto object = quantiles("quantiles_of_bytes", "byte");
  return object;
}

const JsonObject<Finding>& finding_object() {
  using F = const Finding&;
  static const auto object = [] {
    JsonObject<Finding> o("finding");
    o.key("id", "its name, that of its page", [](F f) { return f.id; });
    o.key("severity", "what its rule says of it alone", [](F f) {
       return severity_name(f.severity);
     }).of({"info", "notice", "warning", "error"});
    o.key("title", "its title", [](F f) { return f.title; });
    o.key("subject", "what it is about", [](F f) { return f.subject; });
    o.key("count", "how often", [](F f) { return f.count; });
    o.key(
        "packets", "numbers of the first few packets that show it",
        [](F f) -> const auto& { return f.packets; });
    o.key("first_time", "time of its first sign", [](F f) { return json_time(f.first_time_ns); });
    o.key("last_time", "time of its last sign", [](F f) { return json_time(f.last_time_ns); });
    o.key("confidence", "0 to 1", [](F f) { return f.confidence; });
    o.key("explanation", "what was seen", [](F f) { return f.explanation; });
    o.key("advice", "what to do", [](F f) { return f.advice; });
    o.key(
        "connections", "ids of the first few connections concerned",
        [](F f) -> const auto& { return f.connections; });
    return o;
  }();
  return object;
}

const JsonObject<Snapshot>& first_keys() {
  static const auto object = [] {
    JsonObject<Snapshot> o("first");
    o.key("schema", "name of this schema", [](S) { return report_schema; }).of({report_schema});
    o.key("final", "false while a capture still runs", &Snapshot::final);
    o.key("complete", "false if anything could not be read, kept or judged", &Snapshot::complete);
    o.key("interrupted", "reading was ended before the end of the input", &Snapshot::interrupted);
    return o;
  }();
  return object;
}

const JsonObject<ReportPage>& finding_keys() {
  static const auto object = [] {
    JsonObject<ReportPage> o("findings");
    o.list(
        "findings", "what rules found, most severe first", finding_object(),
        [](P page) -> const auto& { return page.s.findings; });
    o.key("findings_dropped", "findings beyond the limit", [](P page) { return page.s.findings_dropped; });
    return o;
  }();
  return object;
}

const JsonObject<std::vector<Diagnostic>>& diagnostic_keys() {
  static const auto object = [] {
    JsonObject<std::vector<Diagnostic>> o("diagnostics");
    o.list("diagnostics", "everything that was skipped or could not be used", diagnostic_object(),
           std::identity());
    return o;
  }();
  return object;
}

const JsonObject<ReportPage>& series_keys() {
  static const auto object = [] {
    JsonObject<ReportPage> o("series_page");
    o.object(
        "series", "counts by time, as many as there are buckets", series_object(),
        [](P page) -> const auto& { return page.s.series; });
    return o;
  }();
  return object;
}

const JsonObject<ReportPage>& report_object() {
  static const auto object = [] {
    JsonObject<ReportPage> o("report");
    o.include(first_keys(), snapshot_of);
    o.object("capture", "what was captured", capture_object(), snapshot_of);
    o.object("roce", "RoCE packets in it", roce_object(), snapshot_of);
    o.object("other_traffic", "frames without transport, by kind", others_object(),
             [](P page) -> const Totals& { return page.s.totals; });
    o.include(flow_keys());
    o.object("flows_evicted", "flows that are not listed", evicted_object(), snapshot_of);
    o.key("damaged_of_no_flow", "packets with a wrong ICRC whose addresses or queue pair no other packet has",
          [](P page) {
            return std::accumulate(
                page.s.strays.begin(), page.s.strays.end(), std::uint64_t{0},
                [](std::uint64_t sum, const StrayPackets& stray) { return sum + stray.packets; });
          });
    o.include(connection_keys());
    for (const auto* part :
         {&incident_keys(), &cm_exchange_keys(), &congestion_keys(), &dcbx_keys(), &marking_keys(),
          &mrc_keys(), &export_keys(), &numbered_keys(), &diagnosis_keys(), &finding_keys(), &series_keys()})
      o.include(*part);
    o.include(
        diagnostic_keys(), [](P page) -> const auto& { return page.s.diagnostics; });
    o.key(
         "analysed", "parts that this version computes", [](P) -> const auto& { return analysed_parts; })
        .of(analysed_parts);
    return o;
  }();
  return object;
}

const JsonObject<ReportPage>& flows_object() {
  static const auto object = report_page_of("flows_page", {&flow_keys()});
  return object;
}
const JsonObject<ReportPage>& incidents_object() {
  static const auto object = report_page_of("incidents_page", {&incident_keys()});
  return object;
}
const JsonObject<ReportPage>& markings_object() {
  static const auto object = report_page_of("markings_page", {&marking_keys()});
  return object;
}
const JsonObject<ReportPage>& pairs_object() {
  static const auto object = report_page_of("pairs_page", {&pair_keys()});
  return object;
}

const JsonObject<ReportPage>& paths_object() {
  static const auto object = report_page_of("paths_page", {&path_keys()});
  return object;
}
const JsonObject<ReportPage>& pauses_object() {
  static const auto object = report_page_of("pauses_page", {&pause_keys()});
  return object;
}
const JsonObject<ReportPage>& dcbx_page_object() {
  static const auto object = report_page_of("dcbx_page", {&dcbx_keys()});
  return object;
}
const JsonObject<ReportPage>& connections_object() {
  static const auto object = report_page_of("connections_page", {&connection_keys(), &cm_exchange_keys()});
  return object;
}

void report_json(const Snapshot& snapshot, bool pretty, const ReportSink& sink) {
  write_report_page(report_object(), snapshot, {}, pretty, sink);
}
void flows_json(const Snapshot& snapshot, const Listing& listing, bool pretty, const ReportSink& sink) {
  write_report_page(flows_object(), snapshot, listing, pretty, sink);
}
void incidents_json(const Snapshot& snapshot, const Listing& listing, bool pretty, const ReportSink& sink) {
  write_report_page(incidents_object(), snapshot, listing, pretty, sink);
}
void markings_json(const Snapshot& snapshot, const Listing& listing, bool pretty, const ReportSink& sink) {
  write_report_page(markings_object(), snapshot, listing, pretty, sink);
}
void pairs_json(const Snapshot& snapshot, const Listing& listing, bool pretty, const ReportSink& sink) {
  write_report_page(pairs_object(), snapshot, listing, pretty, sink);
}

void paths_json(const Snapshot& snapshot, const Listing& listing, bool pretty, const ReportSink& sink) {
  write_report_page(paths_object(), snapshot, listing, pretty, sink);
}
void pauses_json(const Snapshot& snapshot, const Listing& listing, bool pretty, const ReportSink& sink) {
  write_report_page(pauses_object(), snapshot, listing, pretty, sink);
}
void dcbx_json(const Snapshot& snapshot, const Listing& listing, bool pretty, const ReportSink& sink) {
  write_report_page(dcbx_page_object(), snapshot, listing, pretty, sink);
}
void connections_json(const Snapshot& snapshot, const Listing& listing, bool pretty, const ReportSink& sink) {
  write_report_page(connections_object(), snapshot, listing, pretty, sink);
}

}  // namespace roce::analyze
