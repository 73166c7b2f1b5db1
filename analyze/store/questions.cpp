// SPDX-License-Identifier: Apache-2.0
#include "analyze/store/questions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "analyze/base/median.hpp"

namespace roce::analyze {
namespace {

using enum AnswerKind;

// Points see one flow several times: counts are added up over the rows of a capture, and of several captures
// the largest is taken.

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
constexpr std::string_view overview_sql =
    "SELECT (SELECT COUNT(DISTINCT host) FROM heartbeats WHERE time >= {since}) AS hosts, (SELECT "
    "COUNT(DISTINCT "
    "run) FROM heartbeats WHERE time >= {since}) AS captures, COUNT(DISTINCT pair) AS all_pairs, COUNT(flow) "
    "AS "
    "all_flows, COALESCE(SUM(p), 0) AS all_packets, COALESCE(SUM(b), 0) AS all_bytes, COALESCE(SUM(l), 0) AS "
    "all_lost, COALESCE(SUM(m), 0) AS at_most, COALESCE(SUM(r), 0) AS resent, (SELECT COUNT(*) FROM "
    "incidents "
    "WHERE time >= {since}) AS all_incidents, (SELECT COUNT(*) FROM findings WHERE time >= {since}) AS "
    "all_findings, (SELECT COUNT(*) FROM diagnoses WHERE time >= {since}) AS all_diagnoses, (SELECT "
    "COALESCE(SUM(dropped), 0) FROM heartbeats WHERE time >= {since}) AS drops, COALESCE(MIN(f), 0) AS "
    "first_time, "
    "COALESCE(MAX(t), 0) AS last_time FROM (SELECT flow_key AS flow, MAX(pair_key_of) AS pair, "
    "MAX(n_packets) AS "
    "p, MAX(n_bytes) AS b, MAX(n_lost) AS l, MAX(n_most) AS m, MAX(n_resent) AS r, MIN(t_first) AS f, "
    "MAX(t_last) "
    "AS t FROM (SELECT flow_key, run, MAX(pair_key) AS pair_key_of, SUM(packets) AS n_packets, SUM(bytes) AS "
    "n_bytes, SUM(lost_at_least) AS n_lost, SUM(lost_at_most) AS n_most, SUM(retransmitted) AS n_resent, "
    "MIN(time) "
    "AS t_first, MAX(time) AS t_last FROM intervals WHERE time >= {since} GROUP BY flow_key, run) AS by_run "
    "GROUP "
    "BY flow_key) AS by_flow";

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
constexpr std::string_view top_sql =
    "SELECT flow_key, MAX(a) AS src_of, MAX(a_qp) AS src_qp_of, MAX(b) AS dst_of, MAX(b_qp) AS dst_qp_of, "
    "COUNT(*) AS captures, MAX(p) AS n_packets, MAX(l) AS lost, MAX(m) AS at_most, MAX(r) AS resent, MAX(c) "
    "AS "
    "connection FROM (SELECT flow_key, run, MAX(src) AS a, MAX(src_qp) AS a_qp, MAX(dst) AS b, MAX(dst_qp) "
    "AS "
    "b_qp, SUM(packets) AS p, SUM(lost_at_least) AS l, SUM(lost_at_most) AS m, SUM(retransmitted) AS r, "
    "MAX(conn_key) AS c FROM intervals WHERE time >= {since} GROUP BY flow_key, run) AS by_run GROUP BY "
    "flow_key "
    "HAVING at_most > 0 OR resent > 0 ORDER BY lost DESC, at_most DESC, resent DESC, flow_key LIMIT {top}";

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
#define ROCE_POINTS(condition)                                                                               \
  "SELECT flow_key, MAX(src) AS src_of, MAX(src_qp) AS src_qp_of, MAX(dst) AS dst_of, MAX(dst_qp) AS "       \
  "dst_qp_of, "                                                                                              \
  "place, host, device, run, MAX(state) AS state_of, MIN(start_ns) AS began_ns, SUM(packets) AS n_packets, " \
  "SUM(bytes) AS n_bytes, SUM(goodput_bytes) AS n_goodput, SUM(operations) AS n_operations, "                \
  "SUM(retransmitted) "                                                                                      \
  "AS n_resent, SUM(retransmitted_nak) AS n_nak, SUM(retransmitted_timeout) AS n_timeout, SUM(lost_before) " \
  "AS "                                                                                                      \
  "n_before, SUM(lost_after) AS n_after, SUM(lost_at_least) AS n_least, SUM(lost_at_most) AS n_most, "       \
  "SUM(out_of_order) AS n_late, SUM(naks) AS n_naks, SUM(rnr_naks) AS n_rnr, SUM(acks) AS n_acks, "          \
  "SUM(cnps) AS "                                                                                            \
  "n_cnps, SUM(ce) AS n_ce, SUM(icrc_mismatches) AS n_icrc, MAX(lat_p50_ns) AS p50, MAX(lat_p99_ns) AS "     \
  "p99, "                                                                                                    \
  "MAX(lat_max_ns) AS longest FROM intervals WHERE time >= {since} AND " condition                           \
  " GROUP BY flow_key, place, host, device, run ORDER BY MIN(start_ns), flow_key, CASE place WHEN 'sender' " \
  "THEN "                                                                                                    \
  "0 WHEN 'between' THEN 1 ELSE 2 END, host, device, run"
constexpr std::string_view flow_sql = ROCE_POINTS("flow_key = {key}");
constexpr std::string_view connection_sql = ROCE_POINTS("conn_key = {key}");
#undef ROCE_POINTS

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
// A mark is one PSN space at one point; points are nearer to the source in the order sender, between,
// receiver.
#define ROCE_MARKS(mark, name, condition)                                                                    \
  "SELECT flow_key, '" name "' AS space, " mark "_psn AS psn, " mark "_ns AS ns, " mark                      \
  "_packets AS n, host, "                                                                                    \
  "device, run, epoch, CASE place WHEN 'sender' THEN 0 WHEN 'between' THEN 1 ELSE 2 END AS rank, src, dst, " \
  "dst_qp FROM intervals WHERE time >= {since} AND " condition " AND " mark "_ns > 0"
#define ROCE_BOTH_MARKS(condition) \
  "(" ROCE_MARKS("mark", "requests", condition) " UNION ALL " ROCE_MARKS("rmark", "responses", condition) ")"
#define ROCE_JOINED_MARKS(condition) \
  "FROM " ROCE_BOTH_MARKS(condition) " AS a JOIN " ROCE_BOTH_MARKS(condition)                                    \
  " AS b ON a.flow_key = b.flow_key AND a.space = b.space AND a.psn = b.psn WHERE a.run <> b.run AND ABS(a.ns - " \
  "b.ns) < 1000000000 AND (a.rank < b.rank OR (a.rank = 1 AND b.rank = 1 AND (a.host < b.host OR (a.host = "    \
  "b.host AND a.run < b.run))))"
#define ROCE_LOSS(condition) \
  "SELECT flow, src_of, dst_of, qp_of, space_of, a_host, a_device, b_host, b_device, CASE directed WHEN 1 " \
  "THEN " \
  "'yes' ELSE 'no' END AS known, marks, from_ns, to_ns, sent, received, sent - received AS lost, "              \
  "CASE WHEN sent - received > COALESCE(la.l, 0) + COALESCE(lb.l, 0) THEN sent - received - COALESCE(la.l, 0) - " \
  "COALESCE(lb.l, 0) ELSE 0 END AS at_least, CASE WHEN sent - received + COALESCE(la.l, 0) + COALESCE(lb.l, 0) > " \
  "0 THEN sent - received + COALESCE(la.l, 0) + COALESCE(lb.l, 0) ELSE 0 END AS at_most, COALESCE(da.d, 0) AS a_dropped, COALESCE(db.d, 0) AS b_dropped FROM (SELECT a.flow_key AS flow, MAX(a.src) " \
  "AS src_of, MAX(a.dst) AS dst_of, MAX(a.dst_qp) AS qp_of, a.space AS space_of, a.host AS a_host, a.device AS " \
  "a_device, b.host AS b_host, b.device AS b_device, a.run AS a_run, b.run AS b_run, MAX(CASE WHEN a.rank < "   \
  "b.rank THEN 1 ELSE 0 END) AS directed, COUNT(*) AS marks, MIN(a.ns) AS from_ns, MAX(a.ns) AS to_ns, MAX(a.n) " \
  "- MIN(a.n) AS sent, MAX(b.n) - MIN(b.n) AS received " ROCE_JOINED_MARKS(condition)                            \
  " GROUP BY a.flow_key, a.space, a.host, a.device, a.run, a.epoch, b.host, b.device, b.run, b.epoch HAVING "   \
  "COUNT(*) > 1) AS j LEFT JOIN (SELECT run, SUM(dropped) AS d FROM heartbeats GROUP BY run) AS da ON da.run = " \
  "a_run LEFT JOIN (SELECT run, SUM(dropped) AS d FROM heartbeats GROUP BY run) AS db ON db.run = b_run LEFT JOIN (SELECT " \
  "flow_key AS f, run AS r, SUM(out_of_order) AS l FROM intervals WHERE time >= {since} AND " condition            \
  " GROUP BY flow_key, run) AS la ON la.f = flow AND la.r = a_run LEFT JOIN (SELECT flow_key AS f, run AS r, "    \
  "SUM(out_of_order) AS l FROM intervals WHERE time >= {since} AND " condition                                   \
  " GROUP BY flow_key, run) AS lb ON lb.f = flow AND lb.r = b_run ORDER "                                        \
  "BY lost DESC, sent DESC, flow LIMIT {top}"
constexpr std::string_view loss_sql = ROCE_LOSS("pair_key > 0");
constexpr std::string_view loss_of_flow_sql = ROCE_LOSS("flow_key = {key}");
constexpr std::string_view loss_of_connection_sql = ROCE_LOSS("conn_key = {key}");

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
constexpr std::string_view clocks_sql =
    "SELECT a.host AS a_host, b.host AS b_host, b.ns - a.ns AS later_ns " ROCE_JOINED_MARKS(
        "pair_key > 0") " AND a.host <> b.host";
#undef ROCE_LOSS
#undef ROCE_JOINED_MARKS
#undef ROCE_BOTH_MARKS
#undef ROCE_MARKS

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
constexpr std::string_view pairs_sql =
    "SELECT a, COALESCE(na.host, '') AS a_host, b, COALESCE(nb.host, '') AS b_host, captures, n_flows, "
    "n_packets, "
    "n_bytes, lost, at_most, resent, n_cnps, n_ce, longest FROM (SELECT src AS a, dst AS b, COUNT(*) AS "
    "captures, "
    "MAX(f) AS n_flows, MAX(p) AS n_packets, MAX(y) AS n_bytes, MAX(l) AS lost, MAX(m) AS at_most, MAX(r) AS "
    "resent, MAX(c) AS n_cnps, MAX(e) AS n_ce, MAX(x) AS longest FROM (SELECT src, dst, run, MAX(flows) AS "
    "f, "
    "SUM(packets) AS p, SUM(bytes) AS y, SUM(lost_at_least) AS l, SUM(lost_at_most) AS m, SUM(retransmitted) "
    "AS r, "
    "SUM(cnps) AS c, SUM(ce) AS e, MAX(lat_max_ns) AS x FROM pairs WHERE time >= {since} GROUP BY src, dst, "
    "run) AS "
    "by_run GROUP BY src, dst) AS by_pair LEFT JOIN (SELECT address, host FROM nodes) AS na ON na.address = "
    "a LEFT "
    "JOIN (SELECT address, host FROM nodes) AS nb ON nb.address = b ORDER BY lost DESC, at_most DESC, resent "
    "DESC, "
    "n_bytes DESC, a, b LIMIT {top}";

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
constexpr std::string_view incidents_sql =
    "SELECT incident, start_ns, host, src, src_qp, dst, dst_qp, what, place, learned_by, lost_at_least, "
    "lost_at_most, repeated_packets, stalled_ns, confidence, conn_key FROM incidents WHERE time >= {since} "
    "ORDER BY "
    "stalled_ns DESC, lost_at_most DESC, start_ns, incident LIMIT {top}";
constexpr std::string_view incidents_of_pair_sql =
    "SELECT incident, start_ns, host, src, src_qp, dst, dst_qp, what, place, learned_by, lost_at_least, "
    "lost_at_most, repeated_packets, stalled_ns, confidence, conn_key FROM incidents WHERE time >= {since} "
    "AND "
    "conn_key = {key} ORDER BY stalled_ns DESC, lost_at_most DESC, start_ns, incident LIMIT {top}";

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
constexpr std::string_view findings_sql =
    "SELECT id, CASE MAX(CASE severity WHEN 'error' THEN 3 WHEN 'warning' THEN 2 WHEN 'notice' THEN 1 ELSE 0 "
    "END) "
    "WHEN 3 THEN 'error' WHEN 2 THEN 'warning' WHEN 1 THEN 'notice' ELSE 'info' END AS worst, COUNT(*) AS "
    "told, "
    "COUNT(DISTINCT host) AS hosts, SUM(count) AS n, MIN(first_ns) AS first_of, MAX(last_ns) AS last_of, "
    "MAX(title) "
    "AS title_of FROM findings WHERE time >= {since} GROUP BY id ORDER BY MAX(CASE severity WHEN 'error' "
    "THEN 3 WHEN "
    "'warning' THEN 2 WHEN 'notice' THEN 1 ELSE 0 END) DESC, hosts DESC, n DESC, id LIMIT {top}";

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
constexpr std::string_view diagnoses_sql =
    "SELECT severity, cause, host, since_ns, at_least, at_most, confidence, sentence FROM diagnoses WHERE "
    "time >= "
    "{since} ORDER BY CASE severity WHEN 'fatal' THEN 0 WHEN 'degraded' THEN 1 ELSE 2 END, at_least DESC, "
    "since_ns, "
    "diagnosis LIMIT {top}";

constexpr AnswerColumn mark_columns[] = {
    {"host", "host", text, "where it was captured"},
    {"class", "class", text, "data, ack, cnp ..."},
    {"dscp", "DSCP", count, "that packets have"},
    {"expected", "wanted", text, "by the policy"},
    {"wrong", "wrong", count, "packets against the policy"},
    {"packets", "packets", count, "of this class and DSCP"},
};
constexpr std::string_view marks_sql =
    "SELECT host, class, dscp, MAX(expected) AS wanted, SUM(CASE WHEN verdict = 'violation' THEN packets "
    "ELSE 0 "
    "END) AS wrong, SUM(packets) AS n FROM markings WHERE time >= {since} GROUP BY host, class, dscp HAVING "
    "wrong > "
    "0 ORDER BY wrong DESC, host, class, dscp LIMIT {top}";

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
    {"clock_error_ns", "clock", duration, "the kernel's estimate; -1: nothing disciplines the clock", 4},
    {"last", "last", seconds, "begin of its last batch"},
};
constexpr std::string_view hosts_sql =
    "SELECT host, device, run, COUNT(DISTINCT seq) AS batches, MAX(seq) - MIN(seq) + 1 - COUNT(DISTINCT seq) "
    "AS "
    "missing, SUM(packets) AS n_packets, SUM(roce_packets) AS n_roce, SUM(dropped) AS drops, MAX(failed) AS "
    "n_failed, MIN(clock_error_ns) AS worst_clock, MAX(time) AS last_time FROM heartbeats WHERE time >= "
    "{since} "
    "GROUP BY host, device, run ORDER BY missing DESC, drops DESC, host, device, run LIMIT {top}";

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
constexpr std::string_view where_sql =
    "SELECT host, device, run, src, dst, place, COUNT(DISTINCT flow_key) AS n_flows, SUM(packets) AS "
    "n_packets, "
    "SUM(lost_at_least) AS n_least, SUM(lost_at_most) AS n_most, SUM(retransmitted) AS n_resent, "
    "MIN(start_ns) AS "
    "began_ns FROM intervals WHERE time >= {since} AND pair_key = {key} GROUP BY host, device, run, src, "
    "dst, place "
    "ORDER BY src, dst, CASE place WHEN 'sender' THEN 0 WHEN 'between' THEN 1 ELSE 2 END, host, device, run "
    "LIMIT "
    "{top}";

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
// Spans end with the newest row: of what was captured in the past, too.
constexpr std::string_view changes_sql =
    "SELECT src, dst, MAX(p0) AS packets_before, MAX(p1) AS packets_now, MAX(l0) AS lost_before, MAX(l1) AS "
    "lost_now, MAX(r0) AS resent_before, MAX(r1) AS resent_now FROM (SELECT src, dst, host, device, SUM(CASE "
    "WHEN "
    "time <= newest - {span} THEN packets ELSE 0 END) AS p0, SUM(CASE WHEN time > newest - {span} THEN "
    "packets ELSE "
    "0 END) AS p1, SUM(CASE WHEN time <= newest - {span} THEN lost_at_least ELSE 0 END) AS l0, SUM(CASE WHEN "
    "time > "
    "newest - {span} THEN lost_at_least ELSE 0 END) AS l1, SUM(CASE WHEN time <= newest - {span} THEN "
    "retransmitted "
    "ELSE 0 END) AS r0, SUM(CASE WHEN time > newest - {span} THEN retransmitted ELSE 0 END) AS r1 FROM pairs "
    "CROSS "
    "JOIN (SELECT MAX(time) AS newest FROM pairs) AS latest WHERE time > newest - 2 * {span} GROUP BY src, "
    "dst, "
    "host, device) AS by_point GROUP BY src, dst HAVING packets_before <> packets_now OR lost_before <> "
    "lost_now OR "
    "resent_before <> resent_now ORDER BY ABS(lost_now - lost_before) DESC, ABS(resent_now - resent_before) "
    "DESC, "
    "ABS(packets_now - packets_before) DESC, src, dst LIMIT {top}";

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
constexpr std::string_view drops_sql =
    "SELECT agent, port, queue, reason, MAX(p) AS n_packets, MAX(r) AS n_roce, MAX(m) AS n_matched, MIN(f) "
    "AS "
    "began_ns, MAX(l) AS ended_ns FROM (SELECT agent, port, queue, reason, run, SUM(packets) AS p, SUM(roce) "
    "AS r, "
    "SUM(matched) AS m, MIN(first_ns) AS f, MAX(last_ns) AS l FROM drops WHERE time >= {since} GROUP BY "
    "agent, port, "
    "queue, reason, run) AS by_run GROUP BY agent, port, queue, reason ORDER BY n_packets DESC, agent, port, "
    "queue, "
    "reason LIMIT {top}";

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
constexpr std::string_view storm_sql =
    "SELECT switch, switch_port, port, priority, MAX(host) AS seen_by, MIN(storm_ns) AS began_ns, "
    "SUM(paused_ns) AS "
    "paused, MAX(longest_ns) AS longest FROM pauses WHERE time >= {since} AND storm_ns > 0 GROUP BY switch, "
    "switch_port, port, priority ORDER BY began_ns, port, priority LIMIT {top}";

constexpr AnswerColumn latency_columns[] = {
    {"src", "source", text, "address of the requester"},
    {"dst", "destination", text, "address of the responder"},
    {"operations", "operations", count, "with an answer"},
    {"p50_ns", "median", duration, "within 6.3 %"},
    {"p99_ns", "p99", duration, "99th percentile, within 6.3 %"},
    {"max_ns", "longest", duration, "longest"},
};
constexpr std::string_view latency_sql =
    "SELECT src, dst, lat_bucket, lat_count, lat_max_ns FROM pairs WHERE time >= {since} AND lat_max_ns > 0 "
    "AND "
    "place <> 'receiver' ORDER BY src, dst";

constexpr AnswerColumn heat_columns[] = {
    {"src_group", "from", text, "ToR of the source, else its rack, its host, its address"},
    {"dst_group", "to", text, "the same of the destination"},
    {"packets", "packets", count, "sent"},
    {"resent", "resent", count, "packets sent again"},
    {"per_million", "per million", ratio, "of the packets"},
};
#define ROCE_GROUP(node, address)                                                                         \
  "CASE WHEN " node ".tor <> '' THEN " node ".tor WHEN " node ".rack <> '' THEN " node ".rack WHEN " node \
  ".host <> '' THEN " node ".host ELSE " address " END"
constexpr std::string_view heat_sql =
    "SELECT src_group, dst_group, SUM(p) AS n_packets, SUM(r) AS resent, ROUND(1e6 * SUM(r) / SUM(p), 2) AS "
    "per_million FROM (SELECT " ROCE_GROUP("na", "a") " AS src_group, " ROCE_GROUP("nb", "b")
    " AS dst_group, p, r FROM (SELECT src AS a, dst AS b, MAX(rp) AS p, MAX(rr) AS r FROM (SELECT src, dst, run, "
    "SUM(packets) AS rp, SUM(retransmitted) AS rr FROM pairs WHERE time >= {since} GROUP BY src, dst, run) AS "
    "by_run GROUP BY src, dst) AS i LEFT JOIN nodes AS na ON na.address = a LEFT JOIN nodes AS nb ON nb.address = "
    "b) AS grouped WHERE p > 0 GROUP BY src_group, dst_group ORDER BY per_million DESC, n_packets DESC, src_group, "
    "dst_group LIMIT {top}";
#undef ROCE_GROUP

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
constexpr std::string_view evidence_sql =
    "SELECT host, device, file, number, what, start_ns, end_ns, first_packet, last_packet FROM incidents "
    "WHERE "
    "incident = {key} ORDER BY host, device, run";

std::int64_t whole(const SqliteCell& cell) {
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return *number;
  const auto* fraction = std::get_if<double>(&cell);
  return fraction != nullptr ? static_cast<std::int64_t>(*fraction) : 0;
}

std::string words(const SqliteCell& cell) {
  const auto* found = std::get_if<std::string>(&cell);
  return found != nullptr ? *found : std::string();
}

/// "[1,2]"
std::vector<std::uint64_t> numbers(const SqliteCell& cell) {
  const std::string list = words(cell);
  std::vector<std::uint64_t> all;
  for (const char* at = list.data(); at < list.data() + list.size();) {
    std::uint64_t number = 0;
    const auto [stop, failure] = std::from_chars(at, list.data() + list.size(), number);
    if (failure == std::errc()) all.push_back(number);
    at = failure == std::errc() ? stop : at + 1;
  }
  return all;
}

/// The middle of a bucket of `pairs`.
std::int64_t middle_of(std::uint64_t bucket) {
  if (bucket < 16) return static_cast<std::int64_t>(bucket);
  return static_cast<std::int64_t>(
      std::ldexp(static_cast<double>(bucket % 8) + 8.5, static_cast<int>(bucket / 8) - 1));
}

AnswerRows conclude_latency(AnswerRows rows) {
  struct Sum {
    std::map<std::uint64_t, std::uint64_t> buckets;
    std::uint64_t count = 0;
    std::int64_t longest = 0;
  };
  std::map<std::pair<std::string, std::string>, Sum> sums;
  for (const AnswerRow& row : rows) {
    Sum& sum = sums[{words(row[0]), words(row[1])}];
    const std::vector<std::uint64_t> buckets = numbers(row[2]), counts = numbers(row[3]);
    for (std::size_t i = 0; i < std::min(buckets.size(), counts.size()); ++i) {
      sum.buckets[buckets[i]] += counts[i];
      sum.count += counts[i];
    }
    sum.longest = std::max(sum.longest, whole(row[4]));
  }
  AnswerRows answer;
  for (const auto& [ends, sum] : sums) {
    const auto percentile = [&sum = sum](std::uint64_t hundredths) {
      std::uint64_t passed = 0;
      for (const auto& [bucket, n] : sum.buckets) {
        passed += n;
        if (passed * 100 >= hundredths * sum.count) return std::min(middle_of(bucket), sum.longest);
      }
      return std::int64_t{0};
    };
    answer.push_back({ends.first, ends.second, static_cast<std::int64_t>(sum.count), percentile(50),
                      percentile(99), sum.longest});
  }
  std::stable_sort(answer.begin(), answer.end(), [](const AnswerRow& a, const AnswerRow& b) {
    return std::tuple(whole(a[4]), whole(a[2])) > std::tuple(whole(b[4]), whole(b[2]));
  });
  return answer;
}

AnswerRows conclude_clocks(AnswerRows rows) {
  struct Ways {
    std::vector<std::int64_t> there, back;  // how much later the second host is, by packets to it and from it
  };
  std::map<std::pair<std::string, std::string>, Ways> pairs;
  for (const AnswerRow& row : rows) {
    const std::string from = words(row[0]), to = words(row[1]);
    const std::int64_t later = whole(row[2]);
    if (from < to) {
      pairs[{from, to}].there.push_back(later);
    } else {
      pairs[{to, from}].back.push_back(-later);
    }
  }
  const auto middle = [](std::vector<std::int64_t>& all) {
    return static_cast<double>(median_of(std::move(all)).value_or(0));
  };
  AnswerRows answer;
  for (auto& [hosts, ways] : pairs) {
    const bool both = !ways.there.empty() && !ways.back.empty();
    const std::size_t marks = ways.there.size() + ways.back.size();
    double offset = 0;
    if (!ways.there.empty()) offset += middle(ways.there);
    if (!ways.back.empty()) offset += middle(ways.back);
    if (both) offset /= 2;
    answer.push_back({hosts.first, hosts.second, std::round(offset), static_cast<std::int64_t>(marks),
                      std::string(both ? "yes" : "no")});
  }
  return answer;
}

constexpr Question all_questions[] = {
    {"overview", "what there is, and how much is wrong", Asked::nothing, overview_columns, overview_sql},
    {"top", "the flows with most losses and repeats", Asked::nothing, top_columns, top_sql},
    {"flow", "both ends of a flow side by side, and what was lost between", Asked::flow, point_columns,
     flow_sql},
    {"connection", "both ends of a connection side by side, and what was lost between", Asked::connection,
     point_columns, connection_sql},
    {"loss", "what was lost between two points, exactly, by PSNs that both saw", Asked::nothing, loss_columns,
     loss_sql},
    {"clocks", "how far the clocks of hosts are apart, by the same PSNs", Asked::nothing, clock_columns,
     clocks_sql, conclude_clocks},
    {"pairs", "host by host", Asked::nothing, pair_columns, pairs_sql},
    {"incidents", "losses, RNR NAKs, timeouts ..., the most costly first", Asked::nothing, incident_answer,
     incidents_sql},
    {"findings", "findings by kind", Asked::nothing, finding_answer, findings_sql},
    {"diagnoses", "what is wrong, worst first", Asked::nothing, diagnosis_answer, diagnoses_sql},
    {"marks", "hosts that mark otherwise than the policy", Asked::nothing, mark_columns, marks_sql},
    {"hosts", "captures, what they dropped, batches that are missing", Asked::nothing, host_answer,
     hosts_sql},
    {"where", "every point that saw packets between two addresses", Asked::pair, where_columns, where_sql},
    {"changes", "the last hour (--since) against the one before", Asked::nothing, change_columns,
     changes_sql},
    {"drops", "drops that switches tell", Asked::nothing, drop_answer, drops_sql},
    {"storm", "how a pause storm went through the ports", Asked::nothing, storm_columns, storm_sql},
    {"latency", "latencies of operations by source and destination", Asked::nothing, latency_columns,
     latency_sql, conclude_latency},
    {"heat", "repeats from ToR (else rack, host) to ToR", Asked::nothing, heat_columns, heat_sql},
    {"evidence", "which file on which host shows an incident, and the command that opens it", Asked::incident,
     evidence_columns, evidence_sql},
};

// What `flow` and `connection` tell besides.
constexpr Question parts_of_questions[] = {
    {"loss_of_flow", "", Asked::flow, loss_columns, loss_of_flow_sql},
    {"loss_of_connection", "", Asked::connection, loss_columns, loss_of_connection_sql},
    {"incidents_of_connection", "", Asked::connection, incident_answer, incidents_of_pair_sql},
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

std::string statement(const Question& question, const QuestionValues& values) {
  struct Place {
    std::string_view name;
    std::string value;
  };
  const std::array places{
      Place{"{since}", fmt::format("{}", values.since)}, Place{"{span}", fmt::format("{}", values.span)},
      Place{"{key}", fmt::format("{}", values.key)}, Place{"{top}", fmt::format("{}", values.top)}};
  std::string sql(question.sql);
  for (const Place& place : places) {
    for (std::size_t at = sql.find(place.name); at != std::string::npos; at = sql.find(place.name, at))
      sql.replace(at, place.name.size(), place.value);
  }
  return sql;
}

}  // namespace roce::analyze
