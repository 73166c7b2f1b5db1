// SPDX-License-Identifier: Apache-2.0
// Internal to the room: the statements of questions.
#pragma once

#include <span>
#include <string_view>

namespace roce::analyze {

/// One statement a dialect. Most are the same in both: SQLite and ClickHouse from 18.16 on understand them.
///
/// In braces, put in by statement(): {since}, after which further conditions may come with AND, {before
/// until}, {and until}; {span}, {against}, {key}, {top}; {of}: which rows of intervals are asked for. Columns
/// of answers have other names than columns of tables, which ClickHouse would take for each other. Rows are
/// put into an order that leaves nothing open, so that both answer the same.
struct QuestionSql {
  std::string_view sqlite;
  std::string_view clickhouse;
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr QuestionSql(const char* both) : sqlite(both), clickhouse(both) {}
  constexpr QuestionSql(std::string_view one, std::string_view other) : sqlite(one), clickhouse(other) {}
};

/// What several statements have in common, by its name in braces.
struct QuestionPiece {
  std::string_view name;
  QuestionSql sql;
};
[[nodiscard]] std::span<const QuestionPiece> question_pieces() noexcept;

extern const QuestionSql overview_sql, top_sql, points_sql, loss_sql, clocks_sql, pairs_sql, incidents_sql,
    incidents_of_connection_sql, findings_sql, diagnoses_sql, marks_sql, hosts_sql, where_sql, changes_sql,
    drops_sql, storm_sql, latency_sql, heat_sql, evidence_sql;

}  // namespace roce::analyze
