// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/result_tables.hpp"

#include <charconv>
#include <cmath>
#include <utility>

#include "analyze/results/connection_columns.hpp"
#include "analyze/results/diagnosis_columns.hpp"
#include "analyze/results/finding_columns.hpp"
#include "analyze/results/flow_columns.hpp"
#include "analyze/results/host_columns.hpp"
#include "analyze/results/incident_columns.hpp"
#include "analyze/results/link_columns.hpp"
#include "analyze/results/marking_columns.hpp"
#include "analyze/results/mrc_columns.hpp"
#include "analyze/results/numbered_columns.hpp"
#include "analyze/results/pair_columns.hpp"
#include "analyze/results/path_columns.hpp"

namespace roce::analyze {
namespace {

/// One time interval of the series.
struct Bucket {
  std::int64_t time_ns = 0;
  std::int64_t width_ns = 0;
  Series::Bucket sums;
};
using B = const Bucket&;
template <auto member>
double bucket_number(B b) {
  return static_cast<double>(b.sums.*member);
}
template <auto member>
std::string bucket_text(B b) {
  return std::to_string(b.sums.*member);
}
template <auto member>
constexpr Column<Bucket> sum_column(std::string_view name, std::string_view help) {
  return {name, name, help, true, 0, bucket_number<member>, bucket_text<member>, nullptr};
}
using Sums = Series::Bucket;
constexpr Column<Bucket> series_columns[] = {
    {"time", "time", "begin of the interval, ns since the epoch", true, 0,
     [](B b) { return static_cast<double>(b.time_ns); }, [](B b) { return std::to_string(b.time_ns); },
     nullptr},
    {"width_ns", "width", "length of the interval in ns", true, 0,
     [](B b) { return static_cast<double>(b.width_ns); }, [](B b) { return std::to_string(b.width_ns); },
     nullptr},
    sum_column<&Sums::packets>("packets", "RoCE packets"),
    sum_column<&Sums::bytes>("bytes", "bytes of RoCE packets on the wire"),
    sum_column<&Sums::goodput_bytes>("goodput_bytes", "message bytes, without retransmissions"),
    sum_column<&Sums::retransmitted>("retransmitted", "retransmitted packets"),
    sum_column<&Sums::lost>("lost", "lost transmissions"),
    sum_column<&Sums::in_flight_max>("in_flight_max", "maximum of PSNs in flight on a connection"),
    sum_column<&Sums::ce>("ce", "packets of connections with a CE mark"),
    sum_column<&Sums::cnps>("cnps", "CNPs to connections"),
    sum_column<&Sums::naks>("naks", "NAKs, without RNR NAKs"),
    sum_column<&Sums::rnr_naks>("rnr_naks", "RNR NAKs"),
};

std::vector<Bucket> series_rows(const Snapshot& s, const Series& series) {
  std::vector<Bucket> rows;
  if (!s.totals.any_time) return rows;
  const std::vector<Sums>& buckets = series.buckets();
  rows.reserve(buckets.size());
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const auto offset = static_cast<std::int64_t>(i) * series.width_ns();
    rows.push_back({series.start_ns() + offset, series.width_ns(), buckets[i]});
  }
  return rows;
}

using DiagnosticRow = const Diagnostic&;
constexpr Column<Diagnostic> diagnostic_columns[] = {
    {"id", "id", "id of the diagnostic (docs/diagnostics.md)", false, 0, nullptr,
     [](DiagnosticRow d) { return std::string(d.id); }, nullptr},
    {"severity", "severity", "info, data_loss or error", false, 0, nullptr,
     [](DiagnosticRow d) { return std::string(severity_name(d.severity)); }, nullptr},
    {"count", "count", "number of occurrences", true, 0,
     [](DiagnosticRow d) { return static_cast<double>(d.count); },
     [](DiagnosticRow d) { return std::to_string(d.count); }, nullptr},
    {"help", "help", "what it means", false, 0, nullptr, [](DiagnosticRow d) { return std::string(d.help); },
     nullptr},
    {"details", "details", "where it occurred", false, 0, nullptr,
     [](DiagnosticRow d) {
       std::string text;
       for (const std::string& detail : d.details) text += (text.empty() ? "" : "; ") + detail;
       return text;
     },
     nullptr},
};

std::vector<NumberedStream> numbered_streams(const Snapshot& s, NumberedRows which) {
  std::vector<NumberedStream> rows;
  for (const NumberedStream* each : numbered_rows(s, which)) rows.push_back(*each);
  return rows;
}

/// A table over its own rows, or over a vector of the snapshot.
template <class Row, class Rows = std::vector<Row>>
class TableOf final : public ResultTable {
 public:
  TableOf(std::string_view name, std::span<const Column<Row>> columns, Rows rows)
      : name_(name), columns_(columns), rows_(std::forward<Rows>(rows)) {
    for (const Column<Row>& column : columns_)
      heads_.push_back({column.name, column.help, column.cell_type()});
  }
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] const std::vector<ResultColumn>& columns() const override { return heads_; }
  [[nodiscard]] std::size_t size() const override { return rows_.size(); }
  [[nodiscard]] std::string text(std::size_t row, std::size_t column) const override {
    return columns_[column].machine_text(rows_[row]);
  }

 private:
  std::string_view name_;
  std::span<const Column<Row>> columns_;
  std::vector<ResultColumn> heads_;
  Rows rows_;
};

template <class Row>
void add(ResultTables& tables, std::string_view name, std::span<const Column<Row>> columns,
         std::vector<Row> rows) {
  tables.push_back(std::make_unique<TableOf<Row>>(name, columns, std::move(rows)));
}
template <class Row>
void add_borrowed(ResultTables& tables, std::string_view name, std::span<const Column<Row>> columns,
                  const std::vector<Row>& rows) {
  tables.push_back(std::make_unique<TableOf<Row, const std::vector<Row>&>>(name, columns, rows));
}

/// The text as a number; empty unless all of it is one, and finite.
template <class Number>
ResultCell number_of_text(const std::string& text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc() || stop != end || !std::isfinite(static_cast<double>(number))) return {};
  return number;
}

}  // namespace

ResultCell ResultTable::cell(std::size_t row, std::size_t column) const {
  std::string value = text(row, column);
  switch (columns()[column].type) {
    case CellType::integer:
      return number_of_text<std::int64_t>(value);
    case CellType::real:
      return number_of_text<double>(value);
    case CellType::text:
      break;
  }
  return value;
}

ResultTables result_tables(const Snapshot& s) {
  ResultTables tables;
  add_borrowed(tables, "diagnoses", diagnosis_columns(), s.diagnoses);
  add(tables, "connections", connection_columns(), connection_rows(s));
  add(tables, "incidents", incident_columns(), incident_rows(s));
  add(tables, "hosts", host_columns(), host_rows(s));
  add_borrowed(tables, "flows", flow_columns(), s.flows);
  add(tables, "pairs", host_pair_columns(), host_pair_rows(s));
  add(tables, "paths", path_columns(), path_rows(s));
  add_borrowed(tables, "findings", finding_columns(), s.findings);
  add(tables, "series", std::span<const Column<Bucket>>(series_columns), series_rows(s, s.series));
  add_borrowed(tables, "markings", marking_columns(), s.markings.rows);
  add(tables, "pauses", pause_columns(), pause_rows(s));
  add(tables, "dcbx", dcbx_columns(), dcbx_rows(s));
  add(tables, "mrc_streams", mrc_stream_columns(), mrc_stream_rows(s));
  add(tables, "mrc_paths", mrc_path_columns(), mrc_path_rows(s));
  add(tables, "mrc_losses", mrc_loss_columns(), mrc_loss_rows(s));
  add(tables, "shells", numbered_columns(), numbered_streams(s, NumberedRows::shells));
  add(tables, "mirrors", numbered_columns(), numbered_streams(s, NumberedRows::mirrors));
  add_borrowed(tables, "diagnostics", std::span<const Column<Diagnostic>>(diagnostic_columns), s.diagnostics);
  return tables;
}

std::unique_ptr<ResultTable> series_table(const Snapshot& s, std::int64_t least_width_ns) {
  return std::make_unique<TableOf<Bucket>>("series", std::span<const Column<Bucket>>(series_columns),
                                           series_rows(s, s.series.of_width(least_width_ns)));
}

const std::vector<std::string_view>& result_table_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const auto& table : result_tables(Snapshot{})) all.push_back(table->name());
    return all;
  }();
  return names;
}

}  // namespace roce::analyze
