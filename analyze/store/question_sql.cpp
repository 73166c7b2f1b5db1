// SPDX-License-Identifier: Apache-2.0
#include "analyze/store/question_sql.hpp"

namespace roce::analyze {
namespace {

// A mark is one PSN space at one point; points are nearer to the source in the order sender, between,
// receiver. Of two points between, the first by name is taken for the first.
#define ROCE_MARKS(side)                                                                   \
  "(\n    " ROCE_MARKS_OF("mark", "requests", side) "\n    UNION ALL\n    " ROCE_MARKS_OF( \
      "rmark", "responses", side) ")"
#define ROCE_MARKS_OF(mark, name, side)                                                           \
  "SELECT flow_key, '" name "' AS space, " mark "_psn AS psn, " mark "_ns AS " side "_ns, " mark  \
  "_packets AS " side "_n, host AS " side "_host, device AS " side "_device, run AS " side        \
  "_run,\n"                                                                                       \
  "      epoch AS " side "_epoch, {nearness} AS " side "_rank, src AS " side "_src, dst AS " side \
  "_dst, dst_qp AS " side "_dst_qp\n    FROM intervals WHERE time >= {since} AND {of} AND " mark "_ns > 0"
#define ROCE_GROUPS(side)                                                      \
  "(SELECT address AS " side                                                   \
  ", CASE WHEN tor_of <> '' THEN tor_of WHEN rack_of <> '' THEN rack_of ELSE " \
  "host_of END AS group_of FROM {nodes})"

/// Pieces may have others in them that come later.
constexpr QuestionPiece pieces[] = {
    {"{marks a_}", ROCE_MARKS("a")},
    {"{marks b_}", ROCE_MARKS("b")},
    {"{nearer}",
     "a_run <> b_run AND abs(a_ns - b_ns) < 1000000000 AND (a_rank < b_rank OR (a_rank = 1 AND b_rank = 1 "
     "AND "
     "(a_host < b_host OR (a_host = b_host AND a_run < b_run))))"},
    {"{nearness}", "CASE WHEN place = 'sender' THEN 0 WHEN place = 'between' THEN 1 ELSE 2 END"},
    {"{groups a}", ROCE_GROUPS("a")},
    {"{groups b}", ROCE_GROUPS("b")},
    // What is known of an address last. SQLite has one row of each; ClickHouse may not have removed older
    // ones.
    {"{nodes}",
     {"(SELECT address, host AS host_of, rack AS rack_of, tor AS tor_of FROM nodes) AS newest",
      "(SELECT address, argMax(host, time) AS host_of, argMax(rack, time) AS rack_of, argMax(tor, time) AS "
      "tor_of "
      "FROM nodes GROUP BY address) AS newest"}},
};
#undef ROCE_MARKS
#undef ROCE_MARKS_OF
#undef ROCE_GROUPS

}  // namespace

// Points see one flow several times: counts are added up over the rows of a capture, and of several captures
// the largest is taken.

// The types of CAST are whole numbers to both: ClickHouse's DateTime becomes seconds.
const QuestionSql overview_sql{
    R"(SELECT (SELECT COUNT(DISTINCT host) FROM heartbeats WHERE time >= {since}) AS hosts,
  (SELECT COUNT(DISTINCT run) FROM heartbeats WHERE time >= {since}) AS captures,
  COUNT(DISTINCT pair) AS all_pairs, COUNT(flow) AS all_flows, COALESCE(SUM(p), 0) AS all_packets,
  COALESCE(SUM(b), 0) AS all_bytes, COALESCE(SUM(l), 0) AS all_lost, COALESCE(SUM(m), 0) AS at_most,
  COALESCE(SUM(r), 0) AS resent, (SELECT COUNT(*) FROM incidents WHERE time >= {since}) AS all_incidents,
  (SELECT COUNT(*) FROM findings WHERE time >= {since}) AS all_findings,
  (SELECT COUNT(*) FROM diagnoses WHERE time >= {since}) AS all_diagnoses,
  (SELECT COALESCE(SUM(dropped), 0) FROM heartbeats WHERE time >= {since}) AS drops,
  COALESCE(MIN(f), 0) AS first_time, COALESCE(MAX(t), 0) AS last_time
FROM (
  SELECT flow_key AS flow, MAX(pair_key_of) AS pair, MAX(n_packets) AS p, MAX(n_bytes) AS b, MAX(n_lost) AS l,
    MAX(n_most) AS m, MAX(n_resent) AS r, MIN(t_first) AS f, MAX(t_last) AS t
  FROM (
    SELECT flow_key, run, MAX(pair_key) AS pair_key_of, SUM(packets) AS n_packets, SUM(bytes) AS n_bytes,
      SUM(lost_at_least) AS n_lost, SUM(lost_at_most) AS n_most, SUM(retransmitted) AS n_resent,
      CAST(MIN(time) AS Int64) AS t_first, CAST(MAX(time) AS Int64) AS t_last
    FROM intervals WHERE time >= {since} GROUP BY flow_key, run
  ) AS by_run GROUP BY flow_key
) AS by_flow)"};

const QuestionSql top_sql{
    R"(SELECT flow_key, MAX(a) AS src_of, MAX(a_qp) AS src_qp_of, MAX(b) AS dst_of, MAX(b_qp) AS dst_qp_of,
  COUNT(*) AS captures, MAX(p) AS n_packets, MAX(l) AS lost, MAX(m) AS at_most, MAX(r) AS resent,
  MAX(c) AS connection
FROM (
  SELECT flow_key, run, MAX(src) AS a, MAX(src_qp) AS a_qp, MAX(dst) AS b, MAX(dst_qp) AS b_qp, SUM(packets) AS p,
    SUM(lost_at_least) AS l, SUM(lost_at_most) AS m, SUM(retransmitted) AS r, MAX(conn_key) AS c
  FROM intervals WHERE time >= {since} GROUP BY flow_key, run
) AS by_run
GROUP BY flow_key HAVING at_most > 0 OR resent > 0
ORDER BY lost DESC, at_most DESC, resent DESC, flow_key LIMIT {top})"};

const QuestionSql points_sql{
    R"(SELECT flow_key, MAX(src) AS src_of, MAX(src_qp) AS src_qp_of, MAX(dst) AS dst_of, MAX(dst_qp) AS dst_qp_of,
  place, host, device, run, MAX(state) AS state_of, MIN(start_ns) AS began_ns, SUM(packets) AS n_packets,
  SUM(bytes) AS n_bytes, SUM(goodput_bytes) AS n_goodput, SUM(operations) AS n_operations,
  SUM(retransmitted) AS n_resent, SUM(retransmitted_nak) AS n_nak, SUM(retransmitted_timeout) AS n_timeout,
  SUM(lost_before) AS n_before, SUM(lost_after) AS n_after, SUM(lost_at_least) AS n_least,
  SUM(lost_at_most) AS n_most, SUM(out_of_order) AS n_late, SUM(naks) AS n_naks, SUM(rnr_naks) AS n_rnr,
  SUM(acks) AS n_acks, SUM(cnps) AS n_cnps, SUM(ce) AS n_ce, SUM(icrc_mismatches) AS n_icrc,
  MAX(lat_p50_ns) AS p50, MAX(lat_p99_ns) AS p99, MAX(lat_max_ns) AS longest
FROM intervals WHERE time >= {since} AND {of}
GROUP BY flow_key, place, host, device, run
ORDER BY began_ns, flow_key, {nearness}, host, device, run)"};

// What came late at either point may have been counted on the other side of a mark.
const QuestionSql loss_sql{
    R"(SELECT flow, src_name, dst_name, qp, space, a_host, a_device, b_host, b_device,
  CASE WHEN directed = 1 THEN 'yes' ELSE 'no' END AS known, marks, from_ns, to_ns, sent, received,
  sent - received AS lost,
  CASE WHEN sent - received > late THEN sent - received - late ELSE 0 END AS at_least,
  CASE WHEN sent - received + late > 0 THEN sent - received + late ELSE 0 END AS at_most, a_dropped, b_dropped
FROM (
  SELECT flow, src_name, dst_name, qp, space, a_host, a_device, b_host, b_device, directed, marks, from_ns, to_ns,
    sent, received, a_dropped, b_dropped, a_late + COALESCE(more_late, 0) AS late
  FROM (
    SELECT flow, src_name, dst_name, qp, space, a_host, a_device, b_host, b_device, directed, marks, from_ns, to_ns,
      sent, received, b_run, a_dropped, b_dropped, COALESCE(some_late, 0) AS a_late
    FROM (
      SELECT flow, src_name, dst_name, qp, space, a_host, a_device, b_host, b_device, directed, marks, from_ns,
        to_ns, sent, received, a_run, b_run, a_dropped, COALESCE(some_dropped, 0) AS b_dropped
      FROM (
        SELECT flow, src_name, dst_name, qp, space, a_host, a_device, b_host, b_device, directed, marks, from_ns,
          to_ns, sent, received, a_run, b_run, COALESCE(any_dropped, 0) AS a_dropped
        FROM (
          SELECT flow_key AS flow, MAX(a_src) AS src_name, MAX(a_dst) AS dst_name, MAX(a_dst_qp) AS qp, space,
            a_host, a_device, b_host, b_device, a_run, b_run, MAX(CASE WHEN a_rank < b_rank THEN 1 ELSE 0 END) AS
            directed, COUNT(*) AS marks, MIN(a_ns) AS from_ns, MAX(a_ns) AS to_ns, MAX(a_n) - MIN(a_n) AS sent,
            MAX(b_n) - MIN(b_n) AS received
          FROM {marks a_} AS a JOIN {marks b_} AS b USING (flow_key, space, psn) WHERE {nearer}
          GROUP BY flow_key, space, a_host, a_device, a_run, a_epoch, b_host, b_device, b_run, b_epoch
          HAVING COUNT(*) > 1
        ) AS j LEFT JOIN (SELECT run AS a_run, SUM(dropped) AS any_dropped FROM heartbeats GROUP BY run) AS da
        USING (a_run)
      ) AS k LEFT JOIN (SELECT run AS b_run, SUM(dropped) AS some_dropped FROM heartbeats GROUP BY run) AS db
      USING (b_run)
    ) AS l LEFT JOIN (
      SELECT flow_key AS flow, run AS a_run, SUM(out_of_order) AS some_late FROM intervals
      WHERE time >= {since} AND {of} GROUP BY flow_key, run
    ) AS la USING (flow, a_run)
  ) AS m LEFT JOIN (
    SELECT flow_key AS flow, run AS b_run, SUM(out_of_order) AS more_late FROM intervals
    WHERE time >= {since} AND {of} GROUP BY flow_key, run
  ) AS lb USING (flow, b_run)
) AS n
ORDER BY lost DESC, sent DESC, flow, space, a_host, a_device, b_host, b_device, from_ns LIMIT {top})"};

// Of two hosts how much later the second by name saw marks, by the direction of their packets: lower median.
// SQLite has no median; conclude_clocks() makes it.
const QuestionSql clocks_sql{
    R"(SELECT a_host, b_host, b_ns - a_ns AS later_ns
FROM {marks a_} AS a JOIN {marks b_} AS b USING (flow_key, space, psn) WHERE {nearer} AND a_host <> b_host)",
    R"(SELECT a_host, b_host, 0 - quantileExact(0.5)(if(a_host < b_host, a_ns - b_ns, b_ns - a_ns)) AS later_ns,
  COUNT(*) AS marks
FROM {marks a_} AS a JOIN {marks b_} AS b USING (flow_key, space, psn) WHERE {nearer} AND a_host <> b_host
GROUP BY a_host, b_host)"};

const QuestionSql pairs_sql{
    R"(SELECT a, a_host, b, COALESCE(host_of_b, '') AS b_host, captures, n_flows, n_packets, n_bytes, lost, at_most,
  resent, n_cnps, n_ce, longest
FROM (
  SELECT a, COALESCE(host_of_a, '') AS a_host, b, captures, n_flows, n_packets, n_bytes, lost, at_most, resent,
    n_cnps, n_ce, longest
  FROM (
    SELECT src AS a, dst AS b, COUNT(*) AS captures, MAX(f) AS n_flows, MAX(p) AS n_packets, MAX(y) AS n_bytes,
      MAX(l) AS lost, MAX(m) AS at_most, MAX(r) AS resent, MAX(c) AS n_cnps, MAX(e) AS n_ce, MAX(x) AS longest
    FROM (
      SELECT src, dst, run, MAX(flows) AS f, SUM(packets) AS p, SUM(bytes) AS y, SUM(lost_at_least) AS l,
        SUM(lost_at_most) AS m, SUM(retransmitted) AS r, SUM(cnps) AS c, SUM(ce) AS e, MAX(lat_max_ns) AS x
      FROM pairs WHERE time >= {since} GROUP BY src, dst, run
    ) AS by_run GROUP BY src, dst
  ) AS by_pair LEFT JOIN (SELECT address AS a, host_of AS host_of_a FROM {nodes}) AS na USING (a)
) AS with_a LEFT JOIN (SELECT address AS b, host_of AS host_of_b FROM {nodes}) AS nb USING (b)
ORDER BY lost DESC, at_most DESC, resent DESC, n_bytes DESC, a, b LIMIT {top})"};

const QuestionSql incidents_sql{
    R"(SELECT incident, start_ns, host, src, src_qp, dst, dst_qp, what, place, learned_by, lost_at_least, lost_at_most,
  repeated_packets, stalled_ns, confidence, conn_key
FROM incidents WHERE time >= {since}
ORDER BY stalled_ns DESC, lost_at_most DESC, start_ns, incident, run, seq, row LIMIT {top})"};

const QuestionSql incidents_of_connection_sql{
    R"(SELECT incident, start_ns, host, src, src_qp, dst, dst_qp, what, place, learned_by, lost_at_least, lost_at_most,
  repeated_packets, stalled_ns, confidence, conn_key
FROM incidents WHERE time >= {since} AND {of}
ORDER BY stalled_ns DESC, lost_at_most DESC, start_ns, incident, run, seq, row LIMIT {top})"};

const QuestionSql findings_sql{
    R"(SELECT id, CASE WHEN rank = 3 THEN 'error' WHEN rank = 2 THEN 'warning' WHEN rank = 1 THEN 'notice'
  ELSE 'info' END AS worst, told, hosts, n, first_of, last_of, title_of
FROM (
  SELECT id, MAX(CASE WHEN severity = 'error' THEN 3 WHEN severity = 'warning' THEN 2 WHEN severity = 'notice' THEN 1
    ELSE 0 END) AS rank, COUNT(*) AS told, COUNT(DISTINCT host) AS hosts, SUM(count) AS n, MIN(first_ns) AS first_of,
    MAX(last_ns) AS last_of, MAX(title) AS title_of
  FROM findings WHERE time >= {since} GROUP BY id
) AS by_id
ORDER BY rank DESC, hosts DESC, n DESC, id LIMIT {top})"};

const QuestionSql diagnoses_sql{
    R"(SELECT severity, cause, host, since_ns, at_least, at_most, confidence, sentence
FROM diagnoses WHERE time >= {since}
ORDER BY CASE WHEN severity = 'fatal' THEN 0 WHEN severity = 'degraded' THEN 1 ELSE 2 END, at_least DESC, since_ns,
  diagnosis, run, seq, row LIMIT {top})"};

const QuestionSql marks_sql{
    R"(SELECT host, class, dscp, MAX(expected) AS wanted, SUM(CASE WHEN verdict = 'violation' THEN packets ELSE 0 END) AS
  wrong, SUM(packets) AS n
FROM markings WHERE time >= {since}
GROUP BY host, class, dscp HAVING wrong > 0 ORDER BY wrong DESC, host, class, dscp LIMIT {top})"};

const QuestionSql hosts_sql{
    R"(SELECT host, device, run, COUNT(DISTINCT seq) AS batches, MAX(seq) - MIN(seq) + 1 - COUNT(DISTINCT seq) AS missing,
  SUM(packets) AS n_packets, SUM(roce_packets) AS n_roce, SUM(dropped) AS drops, MAX(failed) AS n_failed,
  CASE WHEN MIN(clock_error_ns) < 0 THEN -1 ELSE MAX(clock_error_ns) END AS worst_clock, CAST(MAX(time) AS Int64) AS last_time
FROM heartbeats WHERE time >= {since}
GROUP BY host, device, run ORDER BY missing DESC, drops DESC, host, device, run LIMIT {top})"};

const QuestionSql where_sql{
    R"(SELECT host, device, run, src, dst, place, COUNT(DISTINCT flow_key) AS n_flows, SUM(packets) AS n_packets,
  SUM(lost_at_least) AS n_least, SUM(lost_at_most) AS n_most, SUM(retransmitted) AS n_resent,
  MIN(start_ns) AS began_ns
FROM intervals WHERE time >= {since} AND {of}
GROUP BY host, device, run, src, dst, place ORDER BY src, dst, {nearness}, host, device, run LIMIT {top})"};

// Spans end with the newest row, or the newest before a time: of what was captured in the past, too.
const QuestionSql changes_sql{
    R"(SELECT src, dst, MAX(p0) AS packets_before, MAX(p1) AS packets_now, MAX(l0) AS lost_before, MAX(l1) AS lost_now,
  MAX(r0) AS resent_before, MAX(r1) AS resent_now
FROM (
  SELECT src, dst, host, device, SUM(CASE WHEN is_new THEN 0 ELSE packets END) AS p0,
    SUM(CASE WHEN is_new THEN packets ELSE 0 END) AS p1, SUM(CASE WHEN is_new THEN 0 ELSE lost_at_least END) AS l0,
    SUM(CASE WHEN is_new THEN lost_at_least ELSE 0 END) AS l1,
    SUM(CASE WHEN is_new THEN 0 ELSE retransmitted END) AS r0,
    SUM(CASE WHEN is_new THEN retransmitted ELSE 0 END) AS r1
  FROM (
    SELECT src, dst, host, device, packets, lost_at_least, retransmitted,
      t > (SELECT MAX(time) FROM pairs{before until}) - {span} AS is_new
    FROM (
      SELECT src, dst, host, device, packets, lost_at_least, retransmitted, time AS t FROM pairs
      WHERE (time > (SELECT MAX(time) FROM pairs{before until}) - {span} OR
        (time > (SELECT MAX(time) FROM pairs{before until}) - {span} - {against} AND
         time <= (SELECT MAX(time) FROM pairs{before until}) - {against})){and until}
    ) AS both_spans
  ) AS recent
  GROUP BY src, dst, host, device
) AS by_point
GROUP BY src, dst
HAVING packets_before <> packets_now OR lost_before <> lost_now OR resent_before <> resent_now
ORDER BY abs(lost_now - lost_before) DESC, abs(resent_now - resent_before) DESC,
  abs(packets_now - packets_before) DESC, src, dst LIMIT {top})"};

const QuestionSql drops_sql{
    R"(SELECT agent, port, queue, reason, MAX(p) AS n_packets, MAX(r) AS n_roce, MAX(m) AS n_matched, MIN(f) AS began_ns,
  MAX(l) AS ended_ns
FROM (
  SELECT agent, port, queue, reason, run, SUM(packets) AS p, SUM(roce) AS r, SUM(matched) AS m, MIN(first_ns) AS f,
    MAX(last_ns) AS l
  FROM drops WHERE time >= {since} GROUP BY agent, port, queue, reason, run
) AS by_run
GROUP BY agent, port, queue, reason ORDER BY n_packets DESC, agent, port, queue, reason LIMIT {top})"};

const QuestionSql storm_sql{
    R"(SELECT switch, switch_port, port, priority, MAX(host) AS seen_by, MIN(storm_ns) AS began_ns,
  SUM(paused_ns) AS paused, MAX(longest_ns) AS longest
FROM pauses WHERE time >= {since} AND storm_ns > 0
GROUP BY switch, switch_port, port, priority
ORDER BY began_ns, port, priority, switch, switch_port LIMIT {top})"};

// conclude_latency() adds up buckets of the same ends; ClickHouse has done so already.
const QuestionSql latency_sql{
    R"(SELECT src, dst, lat_bucket, lat_count, lat_max_ns FROM pairs
WHERE time >= {since} AND lat_max_ns > 0 AND place <> 'receiver' ORDER BY src, dst)",
    R"(SELECT src, dst, tupleElement(sums, 1) AS buckets, tupleElement(sums, 2) AS counts, longest
FROM (
  SELECT src, dst, sumMap(lat_bucket, lat_count) AS sums, MAX(lat_max_ns) AS longest
  FROM pairs WHERE time >= {since} AND lat_max_ns > 0 AND place <> 'receiver' GROUP BY src, dst
) AS by_ends ORDER BY src, dst)"};

// Hundredths are made of whole numbers: the dialects round halves differently.
const QuestionSql heat_sql{
    R"(SELECT src_group, dst_group, n_packets, resent,
  CAST(doubled - doubled % (2 * n_packets) AS Float64) / (2 * n_packets) / 100 AS per_million
FROM (
  SELECT src_group, dst_group, SUM(p) AS n_packets, SUM(r) AS resent, 200000000 * SUM(r) + SUM(p) AS doubled
  FROM (
    SELECT src_group, CASE WHEN COALESCE(group_of, '') <> '' THEN group_of ELSE b END AS dst_group, p, r
    FROM (
      SELECT CASE WHEN COALESCE(group_of, '') <> '' THEN group_of ELSE a END AS src_group, b, p, r
      FROM (
        SELECT src AS a, dst AS b, MAX(rp) AS p, MAX(rr) AS r
        FROM (
          SELECT src, dst, run, SUM(packets) AS rp, SUM(retransmitted) AS rr FROM pairs WHERE time >= {since}
          GROUP BY src, dst, run
        ) AS by_run GROUP BY src, dst
      ) AS by_pair LEFT JOIN {groups a} AS na USING (a)
    ) AS with_a LEFT JOIN {groups b} AS nb USING (b)
  ) AS grouped WHERE p > 0 GROUP BY src_group, dst_group
) AS summed
ORDER BY per_million DESC, n_packets DESC, src_group, dst_group LIMIT {top})"};

const QuestionSql evidence_sql{
    R"(SELECT host, device, file, number, what, start_ns, end_ns, first_packet, last_packet
FROM incidents WHERE incident = {key} ORDER BY host, device, run, seq, row)"};

std::span<const QuestionPiece> question_pieces() noexcept {
  return pieces;
}

}  // namespace roce::analyze
