// SPDX-License-Identifier: Apache-2.0
// Output formats of the command `export`.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "analyze/base/json_shape.hpp"
#include "analyze/results/result_tables.hpp"
#include "capture/core/error.hpp"
#include "capture/write/output_rules.hpp"

namespace roce::cli {

/// The data to export; borrowed.
struct ExportData {
  const analyze::Snapshot& snapshot;
  const analyze::ResultTables& tables;  ///< the requested ones
  std::string capture;                  ///< file name of the capture, for labels and tags
};

/// Takes the bytes of one file, in pieces. After an error nothing more is written.
using ExportSink = std::function<capture::Expected<void>(std::string_view bytes)>;

struct ExportFormat {
  std::string_view name;
  std::string_view endings;  ///< extensions of targets, each followed by a blank
  std::string_view help;
  /// Writes everything into one file; null: a folder with a CSV file for each table.
  capture::Expected<void> (*write)(const ExportData& data, const ExportSink& sink) = nullptr;
  /// Whether an existing file is an earlier export in this format; null if `write` is.
  bool (*wrote)(const capture::ExistingFile& file) = nullptr;
};

[[nodiscard]] std::span<const ExportFormat> export_formats() noexcept;

/// One table as CSV (RFC 4180).
[[nodiscard]] capture::Expected<void> write_csv(const analyze::ResultTable& table, const ExportSink& sink);
/// The whole report as by `report --json`.
[[nodiscard]] capture::Expected<void> write_export_json(const ExportData& data, const ExportSink& sink);
/// The course of the capture as a trace for Perfetto: see analyze/report/perfetto.
[[nodiscard]] capture::Expected<void> write_perfetto(const ExportData& data, const ExportSink& sink);
/// One JSON object per row, with the name of its table in "table".
[[nodiscard]] capture::Expected<void> write_ndjson(const ExportData& data, const ExportSink& sink);
/// What its lines look like: a row of any table.
[[nodiscard]] analyze::JsonShape ndjson_shape();
/// An SQLite database with all tables, and descriptions of their columns in the table `columns`.
[[nodiscard]] capture::Expected<void> write_sqlite(const ExportData& data, const ExportSink& sink);
/// The series, counts of findings, and whether the results are complete, as OpenMetrics text.
[[nodiscard]] capture::Expected<void> write_openmetrics(const ExportData& data, const ExportSink& sink);
/// The same in the older text format of Prometheus, which `promtool check metrics` reads.
[[nodiscard]] capture::Expected<void> write_prometheus(const ExportData& data, const ExportSink& sink);
/// The series, connections, findings, and whether the results are complete, as InfluxDB line protocol.
[[nodiscard]] capture::Expected<void> write_line_protocol(const ExportData& data, const ExportSink& sink);

/// Whether the file is an earlier CSV of this table, perhaps of a version with a few other columns.
[[nodiscard]] bool is_csv_of(const analyze::ResultTable& table, const capture::ExistingFile& file);
/// Whether the file is a database that write_sqlite() made, without tables of others.
[[nodiscard]] bool is_export_database(const capture::ExistingFile& file);

}  // namespace roce::cli
