// SPDX-License-Identifier: Apache-2.0
#include "analyze/store/questions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/store/question_answers.hpp"
#include "analyze/store/question_sql.hpp"

namespace roce::analyze {
namespace {

using enum AnswerKind;

constexpr AnswerColumn overview_columns[] = {
    {"hosts", "hosts", count, "hosts that captured"},
    {"captures", "captures", count, "runs"},
    {"pairs", "pairs", count, "pairs of addresses"},
    {"flows", "flows", count, "flows (one direction to one queue pair)"},
    {"packets", "packets", count, "of all flows, each where most was seen of it"},
    {"bytes", "bytes", bytes, "of all flows, likewise", 5},
    {"lost_at_least", "lost", count, "transmissions lost, as far as one point each can prove"},
    {"lost_at_most", "at most", count, "transmissions lost, at most by the same point"},
    {"resent", "resent", count, "packets sent again"},
    {"incidents", "incidents", count, "troubles of connections"},
    {"findings", "findings", count, "findings told"},
    {"diagnoses", "diagnoses", count, "diagnoses told", 1},
    {"dropped", "dropped", count, "packets that captures dropped", 2},
    {"first", "first", seconds, "begin of the first row", 3},
    {"last", "last", seconds, "begin of the last row", 4},
};

constexpr AnswerColumn top_columns[] = {
    {"flow", "flow", key, "flow_key", 9},
    {"src", "source", text, "address of the source"},
    {"src_qp", "QP", qp, "queue pair of the source; 0: not known", 3},
    {"dst", "destination", text, "address of the destination"},
    {"dst_qp", "QP", qp, "destination queue pair"},
    {"captures", "captures", count, "captures that saw it", 4},
    {"packets", "packets", count, "where most was seen of it"},
    {"lost_at_least", "lost", count, "transmissions lost, as told by the point that can prove most"},
    {"lost_at_most", "at most", count, "transmissions lost, at most by one of the points"},
    {"resent", "resent", count, "packets sent again"},
    {"connection", "connection", key, "conn_key, for `fleet connection`; 0: not known", 2},
};

constexpr AnswerColumn point_columns[] = {
    {"flow", "flow", key, "flow_key"},
    {"src", "source", text, "address of the source"},
    {"src_qp", "QP", qp, "queue pair of the source; 0: not known"},
    {"dst", "destination", text, "address of the destination"},
    {"dst_qp", "QP", qp, "destination queue pair"},
    {"place", "place", text, "sender, receiver or between"},
    {"host", "host", text, "where it was captured"},
    {"device", "device", text, "that was captured"},
    {"run", "run", key, "number of the capture"},
    {"state", "state", text, "of the connection"},
    {"first_ns", "first packet", time_ns, "time of its first packet"},
    {"packets", "packets", count, "that this point saw"},
    {"bytes", "bytes", bytes, "on the wire"},
    {"goodput_bytes", "goodput", bytes, "message bytes, without repeats"},
    {"operations", "operations", count, "messages whose end was seen"},
    {"resent", "resent", count, "packets sent again"},
    {"resent_nak", "after NAK", count, "after a sequence NAK"},
    {"resent_timeout", "after timeout", count, "after a timeout"},
    {"lost_before", "lost upstream", count, "transmissions lost upstream of this point"},
    {"lost_after", "lost downstream", count, "transmissions lost downstream of it"},
    {"lost_at_least", "lost at least", count, "transmissions lost, as far as this point can prove"},
    {"lost_at_most", "lost at most", count, "transmissions that it cannot show to have arrived"},
    {"out_of_order", "out of order", count, "came late without having been sent twice"},
    {"naks", "NAKs", count, "sent by the source, without RNR NAKs"},
    {"rnr_naks", "RNR NAKs", count, "sent by the source"},
    {"acks", "ACKs", count, "sent by the source"},
    {"cnps", "CNPs", count, "sent by the source"},
    {"ce", "CE marks", count, "packets with a CE mark"},
    {"icrc_mismatches", "wrong ICRC", count, "packets with a wrong ICRC"},
    {"lat_p50_ns", "latency, median", duration, "of its operations; of several intervals the largest"},
    {"lat_p99_ns", "latency, p99", duration, "the same, 99th percentile"},
    {"lat_max_ns", "latency, longest", duration, "the same, longest"},
};

constexpr AnswerColumn loss_columns[] = {
    {"flow", "flow", key, "flow_key", 9},
    {"src", "source", text, "address of the source"},
    {"dst", "destination", text, "address of the destination"},
    {"dst_qp", "QP", qp, "destination queue pair"},
    {"of", "of", text, "requests, or READ responses", 2},
    {"from_host", "from", text, "the point nearer to the source"},
    {"from_device", "device", text, "of that point", 6},
    {"to_host", "to", text, "the point nearer to the destination"},
    {"to_device", "device", text, "of that point", 6},
    {"directed", "directed", text,
     "yes: it is known which point is nearer; no: a negative loss is one the other way", 4},
    {"marks", "marks", count, "PSNs by which both counted"},
    {"from_ns", "from", time_ns, "time of the first of them at the first point", 7},
    {"to_ns", "to", time_ns, "time of the last", 8},
    {"sent", "passed", count, "packets that the first point saw between these marks, repeats included"},
    {"received", "arrived", count, "packets that the second point saw between the same marks"},
    {"lost", "lost", count, "the difference: lost between the two points, or not captured by the second"},
    {"lost_at_least", "at least", count, "without packets that came late at a point: a mark may part them"},
    {"lost_at_most", "at most", count, "with them"},
    {"from_dropped", "dropped", count, "packets that the capture at the first point dropped", 5},
    {"to_dropped", "dropped", count, "packets that the capture at the second point dropped", 3},
};

constexpr AnswerColumn clock_columns[] = {
    {"host", "host", text, "a host"},
    {"other", "other", text, "another one"},
    {"offset_ns", "ahead by", ratio,
     "how much the other's clock is ahead of the host's, ns; half of what the paths "
     "there and back differ stays in it"},
    {"marks", "marks", count, "marks there and back"},
    {"both_ways", "both ways", text,
     "no: only packets of one direction had marks; the offset has the delay in it"},
};

constexpr AnswerColumn pair_columns[] = {
    {"src", "source", text, "address of the source"},
    {"src_host", "host", text, "of the source; '': not known"},
    {"dst", "destination", text, "address of the destination"},
    {"dst_host", "host", text, "of the destination"},
    {"captures", "captures", count, "captures that saw it", 4},
    {"flows", "flows", count, "flows", 5},
    {"packets", "packets", count, "where most was seen"},
    {"bytes", "bytes", bytes, "likewise", 5},
    {"lost_at_least", "lost", count, "transmissions lost, as told by the point that can prove most"},
    {"lost_at_most", "at most", count, "transmissions lost, at most by one of the points"},
    {"resent", "resent", count, "packets sent again"},
    {"cnps", "CNPs", count, "sent by the source", 6},
    {"ce", "CE", count, "packets with a CE mark", 6},
    {"lat_max_ns", "longest", duration, "longest latency of an operation", 3},
};

constexpr AnswerColumn incident_answer[] = {
    {"incident", "incident", key, "for `fleet evidence`"},
    {"start_ns", "at", time_ns, "first packet that shows it", 2},
    {"host", "host", text, "where it was captured"},
    {"src", "requester", text, "address of the requester"},
    {"src_qp", "QP", qp, "queue pair of the requester", 7},
    {"dst", "responder", text, "address of the responder"},
    {"dst_qp", "QP", qp, "queue pair of the responder", 6},
    {"what", "what", text, "what it was"},
    {"place", "place", text, "where, seen from the capture point", 4},
    {"learned_by", "noticed by", text, "how the sender learned of it", 6},
    {"lost_at_least", "lost", count, "transmissions lost"},
    {"lost_at_most", "at most", count, "transmissions lost, at most"},
    {"repeated_packets", "repeated", count, "packets sent again", 5},
    {"stalled_ns", "stalled", duration, "time without goodput"},
    {"confidence", "confidence", ratio, "0 to 1", 8},
    {"connection", "connection", key, "conn_key, for `fleet connection`; 0: not known", 9},
};

constexpr AnswerColumn finding_answer[] = {
    {"id", "finding", text, "its page is docs/findings/ID.md"},
    {"severity", "severity", text, "worst of them"},
    {"told", "told", count, "how often", 5},
    {"hosts", "hosts", count, "hosts that told it"},
    {"count", "occurrences", count, "over all hosts: what two saw counts twice"},
    {"first_ns", "first", time_ns, "first occurrence", 3},
    {"last_ns", "last", time_ns, "last occurrence", 4},
    {"title", "title", text, "what the rule finds"},
};

constexpr AnswerColumn diagnosis_answer[] = {
    {"severity", "severity", text, "fatal, degraded or odd"},
    {"cause", "cause", text, "see docs/diagnoses.md"},
    {"host", "seen at", text, "host whose capture shows it"},
    {"since_ns", "since", time_ns, "begin", 3},
    {"at_least", "at least", count, "of what the sentence counts", 6},
    {"at_most", "at most", count, "the same, at most", 5},
    {"confidence", "confidence", ratio, "0 to 1", 4},
    {"sentence", "what is wrong", text, "and where, and how much"},
};

constexpr AnswerColumn mark_columns[] = {
    {"host", "host", text, "where it was captured"},
    {"class", "class", text, "data, ack, cnp ..."},
    {"dscp", "DSCP", count, "that packets have"},
    {"expected", "wanted", text, "by the policy"},
    {"wrong", "wrong", count, "packets against the policy"},
    {"packets", "packets", count, "of this class and DSCP"},
};

constexpr AnswerColumn host_answer[] = {
    {"host", "host", text, "where it was captured"},
    {"device", "device", text, "that was captured"},
    {"run", "run", key, "number of the capture", 3},
    {"batches", "batches", count, "that came"},
    {"missing", "missing", count, "batches between the first and the last that did not"},
    {"packets", "packets", count, "captured"},
    {"roce_packets", "RoCE", count, "of them RoCE"},
    {"dropped", "dropped", count, "by the capture"},
    {"failed", "failed", count, "connections that failed", 5},
    {"clock_error_ns", "clock", duration, "most that it may be wrong by; -1: nothing disciplines it", 4},
    {"last", "last", seconds, "begin of its last batch"},
};

constexpr AnswerColumn where_columns[] = {
    {"host", "host", text, "where it was captured"},
    {"device", "device", text, "that was captured", 4},
    {"run", "run", key, "number of the capture", 6},
    {"src", "source", text, "address of the source"},
    {"dst", "destination", text, "address of the destination"},
    {"place", "place", text, "sender, receiver or between"},
    {"flows", "flows", count, "flows in this direction"},
    {"packets", "packets", count, "in this direction"},
    {"lost_at_least", "lost", count, "transmissions lost, as far as this point can prove"},
    {"lost_at_most", "at most", count, "transmissions lost, at most"},
    {"resent", "resent", count, "packets sent again"},
    {"first_ns", "first packet", time_ns, "time of the first packet", 5},
};

constexpr AnswerColumn change_columns[] = {
    {"src", "source", text, "address of the source"},
    {"dst", "destination", text, "address of the destination"},
    {"packets_before", "packets before", count, "in the span before"},
    {"packets", "packets", count, "in the last span"},
    {"lost_before", "lost before", count, "transmissions lost, at least, in the span before"},
    {"lost", "lost", count, "in the last span"},
    {"resent_before", "resent before", count, "packets sent again in the span before"},
    {"resent", "resent", count, "in the last span"},
};

constexpr AnswerColumn drop_answer[] = {
    {"agent", "switch", text, "that says so"},
    {"port", "port", text, "by ifIndex"},
    {"queue", "queue", text, "'': not told"},
    {"reason", "reason", text, "of the switch"},
    {"packets", "packets", count, "dropped, as far as told"},
    {"roce", "RoCE", count, "of them RoCE"},
    {"matched", "matched", count, "losses of captured traffic that they are"},
    {"first_ns", "first", time_ns, "first of them"},
    {"last_ns", "last", time_ns, "last of them"},
};

constexpr AnswerColumn storm_columns[] = {
    {"switch", "switch", text, "by LLDP; '': not known"},
    {"switch_port", "switch port", text, "by LLDP"},
    {"port", "port", text, "MAC address that sends the pauses"},
    {"priority", "priority", count, "0 to 7"},
    {"host", "seen at", text, "where it was captured"},
    {"storm_ns", "began", time_ns, "begin of the first pause as long as a storm"},
    {"paused_ns", "paused", duration, "sum of pauses"},
    {"longest_ns", "longest", duration, "longest pause"},
};

constexpr AnswerColumn latency_columns[] = {
    {"src", "source", text, "address of the requester"},
    {"dst", "destination", text, "address of the responder"},
    {"operations", "operations", count, "with an answer"},
    {"p50_ns", "median", duration, "within 6.3 %"},
    {"p99_ns", "p99", duration, "99th percentile, within 6.3 %"},
    {"max_ns", "longest", duration, "longest"},
};

constexpr AnswerColumn heat_columns[] = {
    {"src_group", "from", text, "ToR of the source, else its rack, its host, its address"},
    {"dst_group", "to", text, "the same of the destination"},
    {"packets", "packets", count, "sent"},
    {"resent", "resent", count, "packets sent again"},
    {"per_million", "per million", ratio, "of the packets"},
};

constexpr AnswerColumn evidence_columns[] = {
    {"host", "host", text, "where the file is"},
    {"device", "device", text, "that was captured"},
    {"file", "file", text, "'': not kept"},
    {"number", "incident", count, "roce.incident in that file"},
    {"what", "what", text, "what it was"},
    {"start_ns", "from", time_ns, "first packet that shows it"},
    {"end_ns", "to", time_ns, "last packet of it"},
    {"first_packet", "first packet", count, "number in the file"},
    {"last_packet", "last packet", count, "number in the file"},
};

constexpr Question all_questions[] = {
    {"overview", "what there is, and how much is wrong", Asked::nothing, overview_columns, &overview_sql},
    {"top", "the flows with most losses and repeats", Asked::nothing, top_columns, &top_sql},
    {"flow", "both ends of a flow side by side, and what was lost between", Asked::flow, point_columns,
     &points_sql},
    {"connection", "both ends of a connection side by side, and what was lost between", Asked::connection,
     point_columns, &points_sql},
    {"loss", "what was lost between two points, exactly, by PSNs that both saw", Asked::nothing, loss_columns,
     &loss_sql},
    {"clocks", "how far the clocks of hosts are apart, by the same PSNs", Asked::nothing, clock_columns,
     &clocks_sql, conclude_clocks},
    {"pairs", "host by host", Asked::nothing, pair_columns, &pairs_sql},
    {"incidents", "losses, RNR NAKs, timeouts ..., the most costly first", Asked::nothing, incident_answer,
     &incidents_sql},
    {"findings", "findings by kind", Asked::nothing, finding_answer, &findings_sql},
    {"diagnoses", "what is wrong, worst first", Asked::nothing, diagnosis_answer, &diagnoses_sql},
    {"marks", "hosts that mark otherwise than the policy", Asked::nothing, mark_columns, &marks_sql},
    {"hosts", "captures, what they dropped, batches that are missing", Asked::nothing, host_answer,
     &hosts_sql},
    {"where", "every point that saw packets between two addresses", Asked::pair, where_columns, &where_sql},
    {"changes", "the last hour (--since) against the one before (--against)", Asked::nothing, change_columns,
     &changes_sql},
    {"drops", "drops that switches tell", Asked::nothing, drop_answer, &drops_sql},
    {"storm", "how a pause storm went through the ports", Asked::nothing, storm_columns, &storm_sql},
    {"latency", "latencies of operations by source and destination", Asked::nothing, latency_columns,
     &latency_sql, conclude_latency},
    {"heat", "repeats from ToR (else rack, host) to ToR", Asked::nothing, heat_columns, &heat_sql},
    {"evidence", "which file on which host shows an incident, and the command that opens it", Asked::incident,
     evidence_columns, &evidence_sql},
};

// What `flow` and `connection` tell besides.
constexpr Question parts_of_questions[] = {
    {"loss_of_flow", "", Asked::flow, loss_columns, &loss_sql},
    {"loss_of_connection", "", Asked::connection, loss_columns, &loss_sql},
    {"incidents_of_connection", "", Asked::connection, incident_answer, &incidents_of_connection_sql},
};

}  // namespace

std::span<const Question> questions() noexcept {
  return all_questions;
}

const Question* find_question(std::string_view name) noexcept {
  for (const auto table :
       {std::span<const Question>(all_questions), std::span<const Question>(parts_of_questions)}) {
    const auto at =
        std::find_if(table.begin(), table.end(), [&](const Question& q) { return q.name == name; });
    if (at != table.end()) return &*at;
  }
  return nullptr;
}

std::string statement(const Question& question, const QuestionValues& values, StoreEngine engine) {
  struct Place {
    std::string_view name;
    std::string value;
  };
  const auto dialect = [engine](const QuestionSql& sql) {
    return engine == StoreEngine::sqlite ? sql.sqlite : sql.clickhouse;
  };
  // In this order: pieces have places in them.
  std::vector<Place> places;
  for (const QuestionPiece& piece : question_pieces())
    places.push_back({piece.name, std::string(dialect(piece.sql))});
  // Both engines have rows by pair first.
  const std::string in_pair = values.pair == 0 ? "" : fmt::format("pair_key = {} AND ", values.pair);
  const auto rows_of = [&]() -> std::string {
    switch (question.asked) {
      case Asked::pair:
        return "pair_key = {key}";
      case Asked::flow:
        return in_pair + "flow_key = {key}";
      case Asked::connection:
        return in_pair + "conn_key = {key}";
      case Asked::nothing:
      case Asked::incident:
        break;
    }
    return "pair_key > 0";
  };
  places.push_back({"{of}", rows_of()});
  // A time to ClickHouse, a number to SQLite.
  const auto time = [](std::int64_t seconds) { return fmt::format("CAST({} AS DateTime)", seconds); };
  const std::string before = values.until == 0 ? std::string() : " time < " + time(values.until);
  places.push_back({"{since}", time(values.since) + (before.empty() ? "" : " AND" + before)});
  places.push_back({"{before until}", before.empty() ? "" : " WHERE" + before});
  places.push_back({"{and until}", before.empty() ? "" : " AND" + before});
  places.push_back({"{against}", fmt::format("{}", values.against == 0 ? values.span : values.against)});
  places.push_back({"{span}", fmt::format("{}", values.span)});
  places.push_back({"{key}", fmt::format("{}", values.key)});
  places.push_back({"{top}", fmt::format("{}", values.top)});
  std::string sql(dialect(*question.sql));
  for (const Place& place : places) {
    for (std::size_t at = sql.find(place.name); at != std::string::npos; at = sql.find(place.name, at))
      sql.replace(at, place.name.size(), place.value);
  }
  return sql;
}

}  // namespace roce::analyze
