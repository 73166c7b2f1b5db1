// SPDX-License-Identifier: Apache-2.0
// The formats of `export`.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "capture/core/error.hpp"
#include "cli/export/export_tables.hpp"

namespace roce::cli {

/// What is exported.
struct ExportData {
  const analyze::Snapshot& snapshot;
  const ExportTables& tables;  ///< those that were asked for
  std::string capture;         ///< name of the capture, for tags of points in time
};

/// Takes the bytes of one file; may fail at any time, and then nothing more is wanted.
using ExportSink = std::function<capture::Expected<void>(std::string_view bytes)>;

struct ExportFormat {
  std::string_view name;
  std::string_view endings;  ///< of targets, each with a blank behind it
  std::string_view help;
  /// Writes all of it into one file; null: a folder, with a file of CSV for each table.
  capture::Expected<void> (*write)(const ExportData& data, const ExportSink& sink) = nullptr;
};

[[nodiscard]] std::span<const ExportFormat> export_formats() noexcept;

/// One table, as RFC 4180 has it.
[[nodiscard]] capture::Expected<void> write_csv(const ExportTable& table, const ExportSink& sink);
/// The whole report, as `report --json`.
[[nodiscard]] capture::Expected<void> write_export_json(const ExportData& data, const ExportSink& sink);
/// An object a row, with its table's name in "table".
[[nodiscard]] capture::Expected<void> write_ndjson(const ExportData& data, const ExportSink& sink);
/// A database with a table for each, and what columns mean in `columns`.
[[nodiscard]] capture::Expected<void> write_sqlite(const ExportData& data, const ExportSink& sink);
/// The series and the findings' counts, for Prometheus.
[[nodiscard]] capture::Expected<void> write_openmetrics(const ExportData& data, const ExportSink& sink);
/// The series, connections and findings as points of InfluxDB.
[[nodiscard]] capture::Expected<void> write_line_protocol(const ExportData& data, const ExportSink& sink);

}  // namespace roce::cli
