// SPDX-License-Identifier: Apache-2.0
// The table of formats, and the text formats.
#include "cli/export/export_formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyze/base/json_writer.hpp"
#include "analyze/base/value_format.hpp"
#include "analyze/report/json/json_report.hpp"
#include "cli/core/page.hpp"
#include "cli/core/text_table.hpp"
#include "cli/core/version.hpp"
#include "cli/report/report.hpp"

namespace roce::cli {
namespace {

using capture::Expected;

constexpr ExportFormat formats[] = {
    {"csv", "/ ", "a folder with a CSV file for each table", nullptr},
    {"json", ".json ", "the whole report, as by report --json", write_export_json},
    {"ndjson", ".ndjson .jsonl ", "one JSON object per row", write_ndjson},
    {"sqlite", ".sqlite .sqlite3 .db ", "an SQLite 3 database", write_sqlite},
    {"openmetrics", ".om .prom ", "the series and findings as OpenMetrics text, for Prometheus",
     write_openmetrics},
    {"influx", ".lp .influx ", "series, connections and findings as InfluxDB line protocol",
     write_line_protocol},
};

/// Collects text and passes it to the sink in large pieces.
class Pieces {
 public:
  explicit Pieces(const ExportSink& sink) : sink_(sink) {}
  std::string text;
  /// To be called between rows.
  Expected<void> step() {
    constexpr std::size_t enough = 1U << 16U;
    return text.size() < enough ? Expected<void>() : finish();
  }
  Expected<void> finish() {
    auto written = sink_(text);
    text.clear();
    return written;
  }

 private:
  const ExportSink& sink_;
};

const ExportTable* find_table(const ExportData& data, std::string_view name) {
  const auto at = std::find_if(data.tables.begin(), data.tables.end(),
                               [&](const auto& table) { return table->name() == name; });
  return at == data.tables.end() ? nullptr : at->get();
}

void write_value(analyze::JsonWriter& json, const ExportCell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
    json.value(*whole);
  } else if (const auto* fraction = std::get_if<double>(&cell)) {
    json.value(*fraction);
  } else if (const auto* text = std::get_if<std::string>(&cell)) {
    json.value(*text);
  } else {
    json.null();
  }
}

/// Puts a backslash before each character of `special`; escapes control characters and invalid UTF-8.
std::string escaped(std::string_view text, std::string_view special) {
  std::string result;
  for (const char c : printable(text)) {
    if (special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

// --- OpenMetrics ------------------------------------------------------------------------------------

/// A label value: printable() has escaped backslashes and control characters, quotes remain.
std::string label(std::string_view text) {
  return escaped(text, "\"");
}

Expected<void> write_series_metrics(Pieces& out, const ExportData& data, const ExportTable& series) {
  const std::string capture = label(data.capture);
  for (std::size_t column = 2; column < series.columns().size(); ++column) {
    const ExportColumn& head = series.columns()[column];
    const std::string name = fmt::format("roceanalyze_series_{}", head.name);
    out.text += fmt::format("# TYPE {0} gauge\n# HELP {0} {1}, in each {2} ns.\n", name, head.help,
                            series.size() != 0 ? series.text(0, 1) : "0");
    for (std::size_t row = 0; row < series.size(); ++row) {
      out.text += fmt::format("{}{{capture=\"{}\"}} {} ", name, capture, series.text(row, column));
      analyze::append_seconds(out.text, std::get<std::int64_t>(series.cell(row, 0)), 9);
      out.text += '\n';
      if (auto stepped = out.step(); !stepped) return stepped;
    }
  }
  return {};
}

void write_finding_metrics(Pieces& out, const ExportData& data) {
  std::array<std::uint64_t, 4> counts{};
  for (const analyze::Finding& finding : data.snapshot.findings)
    ++counts[static_cast<std::size_t>(finding.severity)];
  out.text += "# TYPE roceanalyze_findings gauge\n# HELP roceanalyze_findings Findings by severity.\n";
  for (std::size_t i = 0; i < counts.size(); ++i) {
    out.text += fmt::format("roceanalyze_findings{{capture=\"{}\",severity=\"{}\"}} {}", label(data.capture),
                            analyze::severity_name(static_cast<analyze::Severity>(i)), counts[i]);
    if (data.snapshot.totals.any_time) {
      out.text += ' ';
      analyze::append_seconds(out.text, data.snapshot.totals.last_time_ns, 9);
    }
    out.text += '\n';
  }
}

// --- line protocol of InfluxDB ----------------------------------------------------------------------

std::string tag(std::string_view text) {
  return escaped(text, ", =");
}

/// Which columns of a table are tags, and which one is the timestamp of its points.
struct Points {
  std::string_view table;
  std::string_view tags;  ///< names, each followed by a blank
  std::string_view time;
};
constexpr Points points[] = {
    {"series", "", "time"},
    {"connections", "id a a_qp b b_qp service upper version state ", "last_time"},
    {"findings", "id severity subject ", "first_time"},
};

bool is_tag(const Points& kind, std::string_view column) {
  return kind.tags.find(std::string(column) + ' ') == 0 ||
         kind.tags.find(fmt::format(" {} ", column)) != std::string_view::npos;
}

std::string field_value(const ExportCell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return fmt::format("{}i", *whole);
  if (const auto* fraction = std::get_if<double>(&cell)) return fmt::format("{}", *fraction);
  // printable() has escaped backslashes and line breaks as the protocol wants them.
  if (const auto* text = std::get_if<std::string>(&cell); text != nullptr && !text->empty())
    return fmt::format("\"{}\"", escaped(*text, "\""));
  return {};
}

void write_point(std::string& out, const ExportData& data, const Points& kind, const ExportTable& table,
                 std::size_t row) {
  std::string tags = fmt::format("roceanalyze_{},capture={}", kind.table, tag(data.capture));
  std::string fields, time;
  for (std::size_t column = 0; column < table.columns().size(); ++column) {
    const std::string_view name = table.columns()[column].name;
    if (name == kind.time) {
      time = table.text(row, column);
    } else if (is_tag(kind, name)) {
      const std::string value = table.text(row, column);
      if (!value.empty()) tags += fmt::format(",{}={}", name, tag(value));
    } else if (const std::string value = field_value(table.cell(row, column)); !value.empty()) {
      fields += fmt::format("{}{}={}", fields.empty() ? "" : ",", name, value);
    }
  }
  // Points without a time are left out: the server would use the time of writing.
  if (!fields.empty() && !time.empty()) out += fmt::format("{} {} {}\n", tags, fields, time);
}

}  // namespace

std::span<const ExportFormat> export_formats() noexcept {
  return formats;
}

Expected<void> write_csv(const ExportTable& table, const ExportSink& sink) {
  Pieces out(sink);
  const auto line = [&](auto&& cell) {
    for (std::size_t column = 0; column < table.columns().size(); ++column) {
      if (column != 0) out.text += ',';
      append_csv(out.text, cell(column));
    }
    out.text += "\r\n";
  };
  line([&](std::size_t column) { return std::string(table.columns()[column].name); });
  for (std::size_t row = 0; row < table.size(); ++row) {
    line([&](std::size_t column) { return table.text(row, column); });
    if (auto stepped = out.step(); !stepped) return stepped;
  }
  return out.finish();
}

Expected<void> write_export_json(const ExportData& data, const ExportSink& sink) {
  Pieces out(sink);
  Expected<void> failed;
  report_json(data.snapshot, false, {out.text, [&] {
                                       if (failed) failed = out.step();
                                       if (!failed) out.text.clear();
                                     }});
  return failed ? out.finish() : failed;
}

Expected<void> write_ndjson(const ExportData& data, const ExportSink& sink) {
  Pieces out(sink);
  for (const auto& table : data.tables) {
    for (std::size_t row = 0; row < table->size(); ++row) {
      analyze::JsonWriter json(out.text);
      json.begin_object().field("table", table->name());
      for (std::size_t column = 0; column < table->columns().size(); ++column) {
        json.key(table->columns()[column].name);
        write_value(json, table->cell(row, column));
      }
      json.end_object();
      out.text += '\n';
      if (auto stepped = out.step(); !stepped) return stepped;
    }
  }
  return out.finish();
}

Expected<void> write_openmetrics(const ExportData& data, const ExportSink& sink) {
  Pieces out(sink);
  if (const ExportTable* series = find_table(data, "series")) {
    if (auto written = write_series_metrics(out, data, *series); !written) return written;
  }
  if (find_table(data, "findings") != nullptr) write_finding_metrics(out, data);
  out.text += "# EOF\n";
  return out.finish();
}

Expected<void> write_line_protocol(const ExportData& data, const ExportSink& sink) {
  Pieces out(sink);
  for (const Points& kind : points) {
    const ExportTable* table = find_table(data, kind.table);
    for (std::size_t row = 0; table != nullptr && row < table->size(); ++row) {
      write_point(out.text, data, kind, *table, row);
      if (auto stepped = out.step(); !stepped) return stepped;
    }
  }
  return out.finish();
}

}  // namespace roce::cli
