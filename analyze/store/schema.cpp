// SPDX-License-Identifier: Apache-2.0
// Every table with its columns: a column is added here and to its row in row_types.hpp.
#include "analyze/store/schema.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

#include "analyze/store/row_table.hpp"

namespace roce::analyze {
namespace {

template <class Value>
constexpr StoreType type_of() {
  if constexpr (std::is_same_v<Value, StoreTime>) return StoreType::time;
  if constexpr (std::is_same_v<Value, std::string>) return StoreType::text;
  if constexpr (std::is_same_v<Value, std::uint8_t>) return StoreType::u8;
  if constexpr (std::is_same_v<Value, std::uint16_t>) return StoreType::u16;
  if constexpr (std::is_same_v<Value, std::uint32_t>) return StoreType::u32;
  if constexpr (std::is_same_v<Value, std::uint64_t>) return StoreType::u64;
  if constexpr (std::is_same_v<Value, std::int16_t>) return StoreType::i16;
  if constexpr (std::is_same_v<Value, std::int64_t>) return StoreType::i64;
  if constexpr (std::is_same_v<Value, double>) return StoreType::f64;
  if constexpr (std::is_same_v<Value, std::vector<std::uint16_t>>) return StoreType::u16s;
  if constexpr (std::is_same_v<Value, std::vector<std::uint32_t>>) return StoreType::u32s;
  if constexpr (std::is_same_v<Value, std::vector<std::uint64_t>>) return StoreType::u64s;
}

template <class Row>
struct RowColumn {
  StoreColumn column;
  void (*put)(std::string& out, const Row& row);
};
template <class Row>
using RowColumns = std::vector<RowColumn<Row>>;

template <class Row, auto member>
RowColumn<Row> of(std::string_view name, std::string_view help) {
  using Value = std::remove_cvref_t<decltype(std::declval<Row>().*member)>;
  return {{name, type_of<Value>(), help},
          [](std::string& out, const Row& row) { append_cell(out, row.*member); }};
}

template <class Row>
RowColumns<Row> operator+(RowColumns<Row> a, const RowColumns<Row>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// What all rows of a capture point begin with.
template <class Row>
RowColumns<Row> head() {
  return {of<Row, &Row::time>("time", "begin of the interval"),
          of<Row, &Row::host>("host", "where it was captured"),
          of<Row, &Row::device>("device", "interface or RDMA device that was captured"),
          of<Row, &Row::run>("run", "number of the capture: random, of a file a hash of its content"),
          of<Row, &Row::seq>("seq", "number of the batch in its run"),
          of<Row, &Row::row>("row", "number of the row in its table and batch")};
}

/// Of what a source sent.
template <class Row>
RowColumns<Row> counts() {
  return {
      of<Row, &Row::packets>("packets", "packets, without duplicates made by the capture"),
      of<Row, &Row::bytes>("bytes", "on the wire"),
      of<Row, &Row::goodput_bytes>("goodput_bytes", "message bytes, without repeats"),
      of<Row, &Row::operations>("operations", "messages whose end was seen"),
      of<Row, &Row::retransmitted>("retransmitted", "packets sent again"),
      of<Row, &Row::retransmitted_nak>("retransmitted_nak", "after a sequence NAK"),
      of<Row, &Row::retransmitted_timeout>("retransmitted_timeout", "after a timeout"),
      of<Row, &Row::lost_before>("lost_before", "transmissions lost upstream of the capture point"),
      of<Row, &Row::lost_after>("lost_after", "transmissions lost downstream of the capture point"),
      of<Row, &Row::lost_capture>("lost_capture", "delivered, but not captured"),
      of<Row, &Row::lost_at_least>("lost_at_least", "transmissions lost, as far as this point can prove"),
      of<Row, &Row::lost_at_most>("lost_at_most",
                                  "transmissions that this point cannot show to have arrived"),
      of<Row, &Row::out_of_order>("out_of_order", "came late without having been sent twice"),
      of<Row, &Row::wasted_bytes>("wasted_bytes", "delivered, discarded and sent again"),
      of<Row, &Row::naks>("naks", "NAKs that the source sent, without RNR NAKs"),
      of<Row, &Row::rnr_naks>("rnr_naks", "RNR NAKs that it sent"),
      of<Row, &Row::acks>("acks", "positive acknowledgements that it sent, without READ responses"),
      of<Row, &Row::cnps>("cnps", "CNPs that it sent"),
      of<Row, &Row::ce>("ce", "packets with a CE mark"),
      of<Row, &Row::icrc_mismatches>("icrc_mismatches", "packets with a wrong ICRC"),
  };
}

/// A table with its columns, made once.
template <class Row>
struct Made {
  std::vector<StoreColumn> columns;
  StoreTable table;
  RowTable<Row> rows;

  Made(StoreTable about, const RowColumns<Row>& all) : table(about) {
    for (const RowColumn<Row>& each : all) {
      columns.push_back(each.column);
      rows.cells.push_back(each.put);
    }
    table.columns = columns;
    rows.table = &table;
  }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
};

constexpr std::string_view by_day = "toDate(time)";
constexpr std::string_view by_month = "toYYYYMM(time)";

const Made<IntervalRow>& intervals() {
  using R = IntervalRow;
  static const Made<R> made(
      {.name = "intervals",
       .help = "a flow (one direction to one queue pair) at a capture point in an interval. Rows without "
               "packets have only a mark",
       .columns = {},
       .partition = by_day,
       .order = "toStartOfHour(time), pair_key, flow_key, time, run, seq, row",
       .version = "",
       .shard = "pair_key",
       .index = "pair_key, flow_key, time"},
      head<R>() +
          RowColumns<R>{
              of<R, &R::pair_key>("pair_key", "hash of the two addresses"),
              of<R, &R::flow_key>("flow_key", "hash of source, destination and destination queue pair"),
              of<R, &R::conn_key>("conn_key", "hash of both queue pairs; 0: the other one is not known"),
              of<R, &R::src>("src", "address of the source"),
              of<R, &R::dst>("dst", "address of the destination"),
              of<R, &R::src_qp>("src_qp", "queue pair of the source; 0: not known"),
              of<R, &R::dst_qp>("dst_qp", "destination queue pair"),
              of<R, &R::service>("service", "RC, UC, UD ..."),
              of<R, &R::state>("state",
                               "of its connection: half_seen, open, closed, failed; '': it has none"),
              of<R, &R::place>("place",
                               "sender, receiver (the address is the capture host's own) or between"),
              of<R, &R::epoch>("epoch", "number of the flow among those with this key in the run"),
              of<R, &R::start_ns>("start_ns", "its first packet"),
              of<R, &R::span_ms>("span_ms", "length of the interval")} +
          counts<R>() +
          RowColumns<R>{
              of<R, &R::in_flight_max>("in_flight_max", "most PSNs sent and not yet acknowledged"),
              of<R, &R::psn_first>("psn_first", "first PSN of its requests"),
              of<R, &R::psn_next>("psn_next", "PSN after the highest one"),
              of<R, &R::psn_new>("psn_new", "PSNs of requests that were passed in the interval"),
              of<R, &R::mark_psn>("mark_psn", "roundest PSN of requests that was passed in the interval"),
              of<R, &R::mark_ns>("mark_ns", "when the highest PSN reached or passed it; 0: there is no mark"),
              of<R, &R::mark_packets>("mark_packets", "request packets of this epoch before that"),
              of<R, &R::rmark_psn>("rmark_psn", "the same of READ responses that the source sent"),
              of<R, &R::rmark_ns>("rmark_ns", "see mark_ns"),
              of<R, &R::rmark_packets>("rmark_packets", "see mark_packets"),
              of<R, &R::lat_p50_ns>("lat_p50_ns", "from first request packet to its answer, median"),
              of<R, &R::lat_p99_ns>("lat_p99_ns", "the same, 99th percentile"),
              of<R, &R::lat_max_ns>("lat_max_ns", "the same, longest")});
  return made;
}

const Made<PairRow>& pairs() {
  using R = PairRow;
  static const Made<R> made(
      {.name = "pairs",
       .help = "all flows from one address to another at a capture point in a minute, with their latencies",
       .columns = {},
       .partition = by_day,
       .order = "toStartOfHour(time), pair_key, src, time, run, seq, row",
       .version = "",
       .shard = "pair_key",
       .index = "time"},
      head<R>() +
          RowColumns<R>{of<R, &R::pair_key>("pair_key", "hash of the two addresses"),
                        of<R, &R::src>("src", "address of the source"),
                        of<R, &R::dst>("dst", "address of the destination"),
                        of<R, &R::place>("place", "sender, receiver or between"),
                        of<R, &R::span_ms>("span_ms", "length of the interval"),
                        of<R, &R::flows>("flows", "flows that moved")} +
          counts<R>() +
          RowColumns<R>{of<R, &R::lat_max_ns>("lat_max_ns", "longest latency of an operation"),
                        of<R, &R::lat_bucket>("lat_bucket",
                                              "buckets of latencies in ns, 8 a power of two: below 16 the "
                                              "value, else (b % 8 + 8.5) 2^(b / 8 - 1)"),
                        of<R, &R::lat_count>("lat_count", "operations in each of them")});
  return made;
}

const Made<FindingStoreRow>& findings() {
  using R = FindingStoreRow;
  static const Made<R> made(
      {.name = "findings",
       .help = "a row each time a finding is told: new, worse, more often",
       .columns = {},
       .partition = by_day,
       .order = "time, id, run, seq, row",
       .version = "",
       .shard = "run",
       .index = "time"},
      head<R>() +
          RowColumns<R>{
              of<R, &R::finding>("finding", "hash of run, id and subject"),
              of<R, &R::id>("id", "its page is docs/findings/ID.md"),
              of<R, &R::severity>("severity", "info, notice, warning or error"),
              of<R, &R::news>("news", "new, worse or more"), of<R, &R::title>("title", "what the rule finds"),
              of<R, &R::subject>("subject", "a connection, a host, a pair of hosts, a port"),
              of<R, &R::count>("count", "occurrences"), of<R, &R::first_ns>("first_ns", "first of them"),
              of<R, &R::last_ns>("last_ns", "last of them"), of<R, &R::confidence>("confidence", "0 to 1"),
              of<R, &R::explanation>("explanation", "what was seen, with its figures"),
              of<R, &R::advice>("advice", "what to do next"),
              of<R, &R::src>("src", "the one sender of what it is about; '': several"),
              of<R, &R::dst>("dst", "the one receiver"), of<R, &R::pair_key>("pair_key", "hash of the two"),
              of<R, &R::flow_keys>("flow_keys", "the first few flows")});
  return made;
}

const Made<EvidenceStoreRow>& evidence() {
  using R = EvidenceStoreRow;
  static const Made<R> made(
      {.name = "evidence",
       .help = "packets that prove a finding, and the file that has them",
       .columns = {},
       .partition = by_day,
       .order = "finding, time, run, seq, row",
       .version = "",
       .shard = "run",
       .index = "finding"},
      head<R>() +
          RowColumns<R>{of<R, &R::finding>("finding", "see findings"), of<R, &R::id>("id", "of the finding"),
                        of<R, &R::file>("file", "on the host; '': not kept"),
                        of<R, &R::packet>("packet", "number in the capture, from 1"),
                        of<R, &R::packet_ns>("packet_ns", "its time"),
                        of<R, &R::flow_key>("flow_key", "its flow"), of<R, &R::psn>("psn", "its PSN")});
  return made;
}

const Made<IncidentStoreRow>& incidents() {
  using R = IncidentStoreRow;
  static const Made<R> made(
      {.name = "incidents",
       .help = "one trouble of one PSN space and its recovery",
       .columns = {},
       .partition = by_day,
       .order = "toStartOfHour(time), pair_key, start_ns, run, seq, row",
       .version = "",
       .shard = "pair_key",
       .index = "time"},
      head<R>() +
          RowColumns<R>{
              of<R, &R::incident>("incident", "hash of run, connection and first packet"),
              of<R, &R::pair_key>("pair_key", "hash of the two addresses"),
              of<R, &R::flow_key>("flow_key", "flow of the requests"),
              of<R, &R::conn_key>("conn_key", "hash of both queue pairs"),
              of<R, &R::src>("src", "address of the requester"),
              of<R, &R::dst>("dst", "address of the responder"),
              of<R, &R::src_qp>("src_qp", "queue pair of the requester; 0: not known"),
              of<R, &R::dst_qp>("dst_qp", "queue pair of the responder"),
              of<R, &R::what>("what", "loss, rnr, timeout ..."),
              of<R, &R::place>("place", "where, seen from the capture point"),
              of<R, &R::learned_by>("learned_by", "how the sender learned of it"),
              of<R, &R::cause>("cause", "of the first retransmission"),
              of<R, &R::carried>("carried", "requests or responses: what was lost first"),
              of<R, &R::start_ns>("start_ns", "first packet that shows it"),
              of<R, &R::end_ns>("end_ns", "packet that shows that it is over, or its last one"),
              of<R, &R::lost_at_least>("lost_at_least", "transmissions lost"),
              of<R, &R::lost_at_most>("lost_at_most", "transmissions lost, at most"),
              of<R, &R::repeated_packets>("repeated_packets", "packets sent again"),
              of<R, &R::repeated_bytes>("repeated_bytes", "bytes of them on the wire"),
              of<R, &R::discarded_packets>("discarded_packets", "that the receiver threw away, at most"),
              of<R, &R::stalled_ns>("stalled_ns", "time without goodput"),
              of<R, &R::recovery_ns>("recovery_ns", "until the answer that shows it repaired; -1: not known"),
              of<R, &R::over>("over", "1: repaired or given up before the capture ended"),
              of<R, &R::confidence>("confidence", "0 to 1"),
              of<R, &R::file>("file", "on the host; '': not kept"),
              of<R, &R::number>("number", "roce.incident in that file"),
              of<R, &R::first_packet>("first_packet", "number in the capture, from 1"),
              of<R, &R::last_packet>("last_packet", "number in the capture")});
  return made;
}

const Made<DiagnosisStoreRow>& diagnoses() {
  using R = DiagnosisStoreRow;
  static const Made<R> made(
      {.name = "diagnoses",
       .help = "what is wrong, said once, with its cause, its place and what it costs",
       .columns = {},
       .partition = by_day,
       .order = "time, cause, run, seq, row",
       .version = "",
       .shard = "run",
       .index = "time"},
      head<R>() +
          RowColumns<R>{of<R, &R::diagnosis>("diagnosis", "hash of run, cause and subject"),
                        of<R, &R::cause>("cause", "see docs/diagnoses.md"),
                        of<R, &R::severity>("severity", "odd, degraded or fatal"),
                        of<R, &R::sentence>("sentence", "what is wrong, where and how much"),
                        of<R, &R::level>("level", "connection, direction, host, port or capture"),
                        of<R, &R::seen>("seen", "where on the way, seen from the capture point"),
                        of<R, &R::pattern>("pattern", "how losses are spread"),
                        of<R, &R::subject>("subject", "whom it hits"),
                        of<R, &R::src>("src", "the one sender; '': several"),
                        of<R, &R::dst>("dst", "the one receiver"),
                        of<R, &R::pair_key>("pair_key", "hash of the two"),
                        of<R, &R::at_least>("at_least", "of what the sentence counts"),
                        of<R, &R::at_most>("at_most", "the same, at most"),
                        of<R, &R::of_packets>("of_packets", "packets that these are a part of"),
                        of<R, &R::since_ns>("since_ns", "begin"),
                        of<R, &R::until_ns>("until_ns", "end"),
                        of<R, &R::repeated_packets>("repeated_packets", "packets sent again"),
                        of<R, &R::discarded_packets>("discarded_packets", "by receivers, at most"),
                        of<R, &R::stalled_ns>("stalled_ns", "without goodput, over all connections"),
                        of<R, &R::failed>("failed", "connections that ended by it"),
                        of<R, &R::confidence>("confidence", "0 to 1"),
                        of<R, &R::not_excluded>("not_excluded", "what the capture leaves open"),
                        of<R, &R::would_decide>("would_decide", "which capture or counter would decide"),
                        of<R, &R::advice>("advice", "what to do"),
                        of<R, &R::findings>("findings", "its evidence: see findings.finding")});
  return made;
}

const Made<DropStoreRow>& drops() {
  using R = DropStoreRow;
  static const Made<R> made(
      {.name = "drops",
       .help = "packets that switches say they dropped (sFlow, IPFIX, NetFlow)",
       .columns = {},
       .partition = by_day,
       .order = "time, agent, port, run, seq, row",
       .version = "",
       .shard = "run",
       .index = "time"},
      head<R>() + RowColumns<R>{of<R, &R::agent>("agent", "the switch"),
                                of<R, &R::port>("port", "its port, by ifIndex"),
                                of<R, &R::queue>("queue", "its queue; '': not told"),
                                of<R, &R::reason>("reason", "the switch's reason"),
                                of<R, &R::span_ms>("span_ms", "length of the interval"),
                                of<R, &R::packets>("packets", "dropped, as far as told"),
                                of<R, &R::roce>("roce", "of them RoCE"),
                                of<R, &R::matched>("matched",
                                                   "losses of the captured traffic "
                                                   "that they are"),
                                of<R, &R::first_ns>("first_ns", "first of them"),
                                of<R, &R::last_ns>("last_ns", "last of them")});
  return made;
}

const Made<PauseStoreRow>& pauses() {
  using R = PauseStoreRow;
  static const Made<R> made(
      {.name = "pauses",
       .help = "PAUSE and PFC of a port and priority",
       .columns = {},
       .partition = by_day,
       .order = "toStartOfHour(time), port, priority, time, run, seq, row",
       .version = "",
       .shard = "run",
       .index = "time"},
      head<R>() + RowColumns<R>{of<R, &R::port>("port", "MAC address that sends the frames"),
                                of<R, &R::peer>("peer", "address whose host has the port; '': not known"),
                                of<R, &R::switch_name>("switch", "by LLDP; '': not known"),
                                of<R, &R::switch_port>("switch_port", "by LLDP"),
                                of<R, &R::kind>("kind", "pfc or pause"),
                                of<R, &R::priority>("priority", "0 to 7; of PAUSE 0"),
                                of<R, &R::link_bps>("link_bps", "speed of the paused link; 0: not known"),
                                of<R, &R::span_ms>("span_ms", "length of the interval"),
                                of<R, &R::xoff>("xoff", "XOFFs, refreshes included"),
                                of<R, &R::xon>("xon", "XONs"), of<R, &R::pauses>("pauses", "pauses"),
                                of<R, &R::paused_ns>("paused_ns",
                                                     "sum of them; without the speed a lower "
                                                     "bound"),
                                of<R, &R::longest_ns>("longest_ns", "longest of them"),
                                of<R, &R::first_ns>("first_ns", "first XOFF"),
                                of<R, &R::longest_start_ns>("longest_start_ns", "begin of the longest"),
                                of<R, &R::storms>("storms", "pauses as long as a storm"),
                                of<R, &R::storm_ns>("storm_ns", "begin of the first; 0: none"),
                                of<R, &R::while_paused>("while_paused",
                                                        "RoCE packets to the port while it "
                                                        "was paused")});
  return made;
}

const Made<MarkingStoreRow>& markings() {
  using R = MarkingStoreRow;
  static const Made<R> made(
      {.name = "markings",
       .help = "packets by class, direction and markings, with the policy's verdict",
       .columns = {},
       .partition = by_day,
       .order = "toStartOfHour(time), verdict, class, src, time, run, seq, row",
       .version = "",
       .shard = "run",
       .index = "time"},
      head<R>() + RowColumns<R>{
                      of<R, &R::traffic_class>("class", "data, ack, cnp ..."),
                      of<R, &R::src>("src", "source; '': any"), of<R, &R::dst>("dst", "destination; '': any"),
                      of<R, &R::dscp>("dscp", "0 to 63"), of<R, &R::pcp>("pcp", "0 to 7; -1: untagged"),
                      of<R, &R::ecn>("ecn", "not_ect, ect0, ect1 or ce"),
                      of<R, &R::span_ms>("span_ms", "length of the interval"),
                      of<R, &R::packets>("packets", "packets"),
                      of<R, &R::flows>("flows", "flows with such packets"),
                      of<R, &R::policy>("policy", "name of the policy; '': none"),
                      of<R, &R::expected>("expected", "what the policy wants"),
                      of<R, &R::verdict>("verdict", "ok or violation; '': not covered")});
  return made;
}

const Made<FactStoreRow>& facts() {
  using R = FactStoreRow;
  static const Made<R> made(
      {.name = "facts",
       .help = "labels, settings and counters of a host: first all, then changes",
       .columns = {},
       .partition = by_month,
       .order = "name, host, place, time, run, seq, row",
       .version = "",
       .shard = "run",
       .index = "name, host"},
      head<R>() + RowColumns<R>{of<R, &R::place>("place", "of what on the host; '': the host"),
                                of<R, &R::kind>("kind", "label, setting or counter"),
                                of<R, &R::name>("name", "its name"), of<R, &R::value>("value", "as text"),
                                of<R, &R::number>("number", "as number; 0: it is none"),
                                of<R, &R::moved>("moved", "since the row before")});
  return made;
}

const Made<FileStoreRow>& files() {
  using R = FileStoreRow;
  static const Made<R> made({.name = "files",
                             .help = "capture files on hosts",
                             .columns = {},
                             .partition = by_month,
                             .order = "host, device, time, run, seq, row",
                             .version = "",
                             .shard = "run",
                             .index = "run"},
                            head<R>() + RowColumns<R>{of<R, &R::file>("file", "its path on the host"),
                                                      of<R, &R::state>("state", "written or removed"),
                                                      of<R, &R::first_ns>("first_ns", "first packet"),
                                                      of<R, &R::last_ns>("last_ns", "last packet"),
                                                      of<R, &R::packets>("packets", "packets in it"),
                                                      of<R, &R::bytes>("bytes", "its size")});
  return made;
}

const Made<RunStoreRow>& runs() {
  using R = RunStoreRow;
  static const Made<R> made(
      {.name = "runs",
       .help = "captures: facts of the capture point",
       .columns = {},
       .partition = by_month,
       .order = "run, seq, row",
       .version = "",
       .shard = "run",
       .index = "run"},
      head<R>() +
          RowColumns<R>{of<R, &R::fabric>("fabric", "name where address spaces overlap"),
                        of<R, &R::site>("site", "of the host"), of<R, &R::rack>("rack", "of the host"),
                        of<R, &R::point>("point", "live or file"),
                        of<R, &R::program>("program", "version that made the rows"),
                        of<R, &R::kernel>("kernel", "operating system of the capture"),
                        of<R, &R::driver>("driver", "of the device"),
                        of<R, &R::firmware>("firmware", "of the device"),
                        of<R, &R::link_bps>("link_bps", "speed of the link; 0: not known"),
                        of<R, &R::clock>("clock", "of the timestamps"),
                        of<R, &R::interval_ms>("interval_ms", "length of intervals; 0: the whole capture"),
                        of<R, &R::policy>("policy", "name of the policy; '': none"),
                        of<R, &R::recording>("recording", "files with the packets"),
                        of<R, &R::options>("options", "that change what is counted"),
                        of<R, &R::complete>("complete", "0: something was not read, kept or judged")});
  return made;
}

const Made<NodeStoreRow>& nodes() {
  using R = NodeStoreRow;
  static const Made<R> made(
      {.name = "nodes",
       .help = "whose an address is",
       .columns = {},
       .partition = "",
       .order = "address",
       .version = "time",
       .shard = "",
       .index = ""},
      RowColumns<R>{
          of<R, &R::time>("time", "of this knowledge"), of<R, &R::address>("address", "IP address or GID"),
          of<R, &R::host>("host", "that has it"), of<R, &R::device>("device", "that has it"),
          of<R, &R::rack>("rack", "of the host"), of<R, &R::tor>("tor", "switch at its link; '': not known"),
          of<R, &R::tor_port>("tor_port", "port of the switch")});
  return made;
}

const Made<SchemaStoreRow>& schema() {
  using R = SchemaStoreRow;
  static const Made<R> made(
      {.name = "schema",
       .help = "versions of these tables",
       .columns = {},
       .partition = "",
       .order = "version",
       .version = "time",
       .shard = "",
       .index = ""},
      RowColumns<R>{of<R, &R::time>("time", "when it was made"), of<R, &R::version>("version", "number"),
                    of<R, &R::program>("program", "that made it"), of<R, &R::what>("what", "what it adds")});
  return made;
}

const Made<HeartbeatRow>& heartbeats() {
  using R = HeartbeatRow;
  static const Made<R> made(
      {.name = "heartbeats",
       .help = "one a batch, sent last, also when nothing moved",
       .columns = {},
       .partition = by_day,
       .order = "host, device, time, run, seq, row",
       .version = "",
       .shard = "run",
       .index = "time"},
      head<R>() +
          RowColumns<R>{
              of<R, &R::span_ms>("span_ms", "length of what the batch covers"),
              of<R, &R::clock_error_ns>("clock_error_ns",
                                        "most that the kernel takes the clock to be wrong by (adjtimex); 0: "
                                        "not known; -1: nothing disciplines it"),
              of<R, &R::rows>("rows", "rows of the batch in all tables, without this one"),
              of<R, &R::rows_folded>("rows_folded", "flows beyond the limit of rows"),
              of<R, &R::batches_lost>("batches_lost", "that did not fit into the spool so far"),
              of<R, &R::packets>("packets", "captured"), of<R, &R::bytes>("bytes", "of them on the wire"),
              of<R, &R::roce_packets>("roce_packets", "of them RoCE"),
              of<R, &R::roce_bytes>("roce_bytes", "of RoCE"), of<R, &R::dropped>("dropped", "by the capture"),
              of<R, &R::half_seen>("half_seen", "connections with one direction only"),
              of<R, &R::open>("open", "connections"), of<R, &R::closed>("closed", "connections, by the CM"),
              of<R, &R::failed>("failed", "connections")});
  return made;
}

constexpr std::int64_t StoreCounts::*all_counts[] = {
    &StoreCounts::packets,
    &StoreCounts::bytes,
    &StoreCounts::goodput_bytes,
    &StoreCounts::operations,
    &StoreCounts::retransmitted,
    &StoreCounts::retransmitted_nak,
    &StoreCounts::retransmitted_timeout,
    &StoreCounts::lost_before,
    &StoreCounts::lost_after,
    &StoreCounts::lost_capture,
    &StoreCounts::lost_at_least,
    &StoreCounts::lost_at_most,
    &StoreCounts::out_of_order,
    &StoreCounts::wasted_bytes,
    &StoreCounts::naks,
    &StoreCounts::rnr_naks,
    &StoreCounts::acks,
    &StoreCounts::cnps,
    &StoreCounts::ce,
    &StoreCounts::icrc_mismatches,
};
static_assert(sizeof(StoreCounts) == std::size(all_counts) * sizeof(std::int64_t), "a count is missing");

}  // namespace

void StoreCounts::add(const StoreCounts& more) noexcept {
  for (const auto count : all_counts) this->*count += more.*count;
}

StoreCounts StoreCounts::since(const StoreCounts& before) const noexcept {
  StoreCounts more = *this;
  for (const auto count : all_counts) more.*count -= before.*count;
  return more;
}

#define ROCE_STORE_TABLE(Row, made)  \
  template <>                        \
  const RowTable<Row>& row_table() { \
    return made().rows;              \
  }
ROCE_STORE_TABLE(IntervalRow, intervals)
ROCE_STORE_TABLE(PairRow, pairs)
ROCE_STORE_TABLE(FindingStoreRow, findings)
ROCE_STORE_TABLE(EvidenceStoreRow, evidence)
ROCE_STORE_TABLE(IncidentStoreRow, incidents)
ROCE_STORE_TABLE(DiagnosisStoreRow, diagnoses)
ROCE_STORE_TABLE(DropStoreRow, drops)
ROCE_STORE_TABLE(PauseStoreRow, pauses)
ROCE_STORE_TABLE(MarkingStoreRow, markings)
ROCE_STORE_TABLE(FactStoreRow, facts)
ROCE_STORE_TABLE(FileStoreRow, files)
ROCE_STORE_TABLE(RunStoreRow, runs)
ROCE_STORE_TABLE(NodeStoreRow, nodes)
ROCE_STORE_TABLE(SchemaStoreRow, schema)
ROCE_STORE_TABLE(HeartbeatRow, heartbeats)
#undef ROCE_STORE_TABLE

std::span<const StoreTable> store_tables() {
  static const std::array all{intervals().table, pairs().table,    incidents().table, diagnoses().table,
                              findings().table,  evidence().table, drops().table,     pauses().table,
                              markings().table,  facts().table,    files().table,     runs().table,
                              nodes().table,     schema().table,   heartbeats().table};
  return all;
}

const StoreTable* find_store_table(std::string_view name) {
  const auto all = store_tables();
  const auto at = std::find_if(all.begin(), all.end(), [&](const StoreTable& t) { return t.name == name; });
  return at == all.end() ? nullptr : &*at;
}

}  // namespace roce::analyze
