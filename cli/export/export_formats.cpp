// SPDX-License-Identifier: Apache-2.0
// The table of formats, and the text formats.
#include "cli/export/export_formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <unordered_map>
#include <utility>

#include "analyze/base/csv.hpp"
#include "analyze/base/json_writer.hpp"
#include "analyze/base/value_format.hpp"
#include "analyze/report/json/json_report.hpp"
#include "analyze/report/perfetto/perfetto_report.hpp"
#include "cli/core/page.hpp"
#include "cli/core/text_table.hpp"
#include "cli/core/version.hpp"
#include "cli/report/report.hpp"

namespace roce::cli {
namespace {

using capture::Expected;

/// Whether the file begins with one of these texts, white space aside.
bool begins_with(const capture::ExistingFile& file, std::initializer_list<std::string_view> texts) {
  constexpr std::size_t enough = 256;
  std::string begin(file.head.substr(0, enough));
  std::erase_if(begin, [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; });
  return std::any_of(texts.begin(), texts.end(), [&](auto text) { return begin.starts_with(text); });
}

bool is_json_report(const capture::ExistingFile& file) {
  return begins_with(file, {R"({"schema":"roceanalyze/)"});
}
bool is_ndjson_export(const capture::ExistingFile& file) {
  const auto& names = analyze::result_table_names();
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    return begins_with(file, {fmt::format(R"({{"table":"{}",)", name)});
  });
}
bool is_metrics_export(const capture::ExistingFile& file) {
  return begins_with(file, {"#TYPEroceanalyze_"});
}
bool is_perfetto_export(const capture::ExistingFile& file) {
  return begins_with(file, {analyze::perfetto_begin});
}
bool is_line_protocol_export(const capture::ExistingFile& file) {
  return begins_with(file, {"roceanalyze_"});
}

constexpr ExportFormat formats[] = {
    {"csv", "/ ", "a folder with a CSV file for each table", nullptr, nullptr},
    {"json", ".json ", "the whole report, as by report --json", write_export_json, is_json_report},
    {"ndjson", ".ndjson .jsonl ", "one JSON object per row", write_ndjson, is_ndjson_export},
    {"sqlite", ".sqlite .sqlite3 .db ", "an SQLite 3 database", write_sqlite, is_export_database},
    {"openmetrics", ".om .prom ", "the series and findings as OpenMetrics text, for Prometheus",
     write_openmetrics, is_metrics_export},
    {"prometheus", "", "the same in the older text format of Prometheus, times in ms", write_prometheus,
     is_metrics_export},
    {"influx", ".lp .influx ", "series, connections, findings and diagnoses as InfluxDB line protocol",
     write_line_protocol, is_line_protocol_export},
    {"perfetto", ".perfetto ",
     "a trace for Perfetto and Chrome: rates, diagnoses, incidents, by the wall clock", write_perfetto,
     is_perfetto_export},
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

const analyze::ResultTable* find_table(const ExportData& data, std::string_view name) {
  const auto at = std::find_if(data.tables.begin(), data.tables.end(),
                               [&](const auto& table) { return table->name() == name; });
  return at == data.tables.end() ? nullptr : at->get();
}

void write_value(analyze::JsonWriter& json, const analyze::ResultCell& cell) {
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

// --- OpenMetrics, and the text format of Prometheus from which it comes ------------------------------

/// Where the formats differ.
struct MetricsFormat {
  void (*append_time)(std::string& out, std::int64_t time_ns);
  std::string_view end;  ///< last line
};

void append_nine_decimals(std::string& out, std::int64_t time_ns) {
  analyze::append_seconds(out, time_ns, 9);
}
void append_milliseconds(std::string& out, std::int64_t time_ns) {
  out += std::to_string(time_ns / 1'000'000);
}
constexpr MetricsFormat openmetrics{append_nine_decimals, "# EOF\n"};
constexpr MetricsFormat prometheus{append_milliseconds, ""};

std::string label(std::string_view text) {
  std::string value;
  analyze::append_valid_text(value, text);
  std::string escaped_value;
  for (const char c : value) {
    if (c == '\\' || c == '"' || c == '\n') escaped_value += '\\';
    escaped_value += c == '\n' ? 'n' : c;
  }
  return escaped_value;
}

Expected<void> write_series_metrics(Pieces& out, const ExportData& data, const analyze::ResultTable& series,
                                    const MetricsFormat& format) {
  const std::string capture = label(data.capture);
  for (std::size_t column = 2; column < series.columns().size(); ++column) {
    const analyze::ResultColumn& head = series.columns()[column];
    const std::string name = fmt::format("roceanalyze_series_{}", head.name);
    out.text += fmt::format("# TYPE {0} gauge\n# HELP {0} {1}, in each {2} ns.\n", name, head.help,
                            series.size() != 0 ? series.text(0, 1) : "0");
    for (std::size_t row = 0; row < series.size(); ++row) {
      out.text += fmt::format("{}{{capture=\"{}\"}} {} ", name, capture, series.text(row, column));
      format.append_time(out.text, std::get<std::int64_t>(series.cell(row, 0)));
      out.text += '\n';
      if (auto stepped = out.step(); !stepped) return stepped;
    }
  }
  return {};
}

void write_finding_metrics(Pieces& out, const ExportData& data, const MetricsFormat& format) {
  std::array<std::uint64_t, 4> counts{};
  for (const analyze::Finding& finding : data.snapshot.findings)
    ++counts[static_cast<std::size_t>(finding.severity)];
  out.text += "# TYPE roceanalyze_findings gauge\n# HELP roceanalyze_findings Findings by severity.\n";
  for (std::size_t i = 0; i < counts.size(); ++i) {
    out.text += fmt::format("roceanalyze_findings{{capture=\"{}\",severity=\"{}\"}} {}", label(data.capture),
                            analyze::severity_name(static_cast<analyze::Severity>(i)), counts[i]);
    if (data.snapshot.totals.any_time) {
      out.text += ' ';
      format.append_time(out.text, data.snapshot.totals.last_time_ns);
    }
    out.text += '\n';
  }
}

void write_completeness_metric(Pieces& out, const ExportData& data, const MetricsFormat& format) {
  out.text +=
      "# TYPE roceanalyze_complete gauge\n"
      "# HELP roceanalyze_complete 0 if anything could not be read, kept or judged.\n";
  out.text += fmt::format("roceanalyze_complete{{capture=\"{}\"}} {}", label(data.capture),
                          data.snapshot.complete() ? 1 : 0);
  if (data.snapshot.totals.any_time) {
    out.text += ' ';
    format.append_time(out.text, data.snapshot.totals.last_time_ns);
  }
  out.text += '\n';
}

Expected<void> write_metrics(const ExportData& data, const ExportSink& sink, const MetricsFormat& format) {
  Pieces out(sink);
  if (find_table(data, "series") != nullptr) {
    constexpr std::int64_t resolution_ns = 1'000'000;  // of the times that Prometheus keeps
    const auto series = analyze::series_table(data.snapshot, resolution_ns);
    if (auto written = write_series_metrics(out, data, *series, format); !written) return written;
  }
  if (find_table(data, "findings") != nullptr) write_finding_metrics(out, data, format);
  write_completeness_metric(out, data, format);
  out.text += format.end;
  return out.finish();
}

// --- line protocol of InfluxDB ----------------------------------------------------------------------

/// A backslash would escape what follows the value.
std::string tag(std::string_view text) {
  std::string plain(text);
  std::replace(plain.begin(), plain.end(), '\\', '/');
  return escaped(plain, ", =");
}

/// Which columns of a table are tags, and which one is the timestamp of its points. A database keeps an index
/// of all values of tags together: only what has few values is one, not the numbers of queue pairs.
struct Points {
  std::string_view table;
  std::string_view tags;  ///< names, each followed by a blank
  std::string_view time;
};
constexpr Points points[] = {
    {"series", "", "time"},
    {"connections", "a b service upper version state ", "last_time"},
    {"findings", "id severity ", "first_time"},
    {"diagnoses", "cause severity seen ", "since"},
};

/// Times of the points of one measurement. A point with the tags and the time of an earlier one would replace
/// it in the database.
class FreeTimes {
 public:
  /// That time, or the next one that no point with these tags has.
  std::int64_t take(const std::string& tags, std::int64_t time_ns) {
    Next& next = next_[tags];
    std::int64_t free = time_ns;
    for (auto at = next.find(free); at != next.end(); at = next.find(free)) free = at->second;
    next[free] = free + 1;
    // The next search need not go the same way.
    for (std::int64_t at = time_ns; at != free;) at = std::exchange(next[at], free + 1);
    return free;
  }

 private:
  using Next = std::unordered_map<std::int64_t, std::int64_t>;  ///< by time: one from which to look on
  std::unordered_map<std::string, Next> next_;
};

bool is_tag(const Points& kind, std::string_view column) {
  return kind.tags.find(std::string(column) + ' ') == 0 ||
         kind.tags.find(fmt::format(" {} ", column)) != std::string_view::npos;
}

/// The type is that of the column: a database refuses points in which a field has another type than before.
std::string field_value(const analyze::ResultCell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return fmt::format("{}i", *whole);
  if (const auto* fraction = std::get_if<double>(&cell)) return fmt::format("{}", *fraction);
  // printable() has escaped backslashes and line breaks as the protocol wants them.
  if (const auto* text = std::get_if<std::string>(&cell); text != nullptr && !text->empty())
    return fmt::format("\"{}\"", escaped(*text, "\""));
  return {};
}

/// What a point without a time of its own gets: the server would use the time of writing.
std::optional<std::int64_t> time_of_capture(const ExportData& data) {
  const auto& totals = data.snapshot.totals;
  return totals.any_time ? std::optional(totals.first_time_ns) : std::nullopt;
}

void write_point(std::string& out, const ExportData& data, const Points& kind,
                 const analyze::ResultTable& table, std::size_t row, FreeTimes& times) {
  std::string tags = fmt::format("roceanalyze_{},capture={}", kind.table, tag(data.capture));
  std::string fields;
  std::optional<std::int64_t> time = time_of_capture(data);
  for (std::size_t column = 0; column < table.columns().size(); ++column) {
    const std::string_view name = table.columns()[column].name;
    const analyze::ResultCell cell = table.cell(row, column);
    if (name == kind.time) {
      if (const auto* own = std::get_if<std::int64_t>(&cell)) time = *own;
    } else if (is_tag(kind, name)) {
      const std::string value = table.text(row, column);
      if (!value.empty()) tags += fmt::format(",{}={}", name, tag(value));
    } else if (const std::string value = field_value(cell); !value.empty()) {
      fields += fmt::format("{}{}={}", fields.empty() ? "" : ",", name, value);
    }
  }
  if (!fields.empty() && time) out += fmt::format("{} {} {}\n", tags, fields, times.take(tags, *time));
}

}  // namespace

std::span<const ExportFormat> export_formats() noexcept {
  return formats;
}

Expected<void> write_csv(const analyze::ResultTable& table, const ExportSink& sink) {
  Pieces out(sink);
  const auto line = [&](auto&& cell) {
    for (std::size_t column = 0; column < table.columns().size(); ++column) {
      if (column != 0) out.text += ',';
      analyze::append_csv(out.text, cell(column));
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

bool is_csv_of(const analyze::ResultTable& table, const capture::ExistingFile& file) {
  std::string_view rest = file.head.substr(0, file.head.find('\n'));
  if (rest.ends_with('\r')) rest.remove_suffix(1);
  std::string columns;
  for (const analyze::ResultColumn& column : table.columns()) {
    if (!columns.empty()) columns += ',';
    columns += column.name;
  }
  return rest == columns;
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

Expected<void> write_perfetto(const ExportData& data, const ExportSink& sink) {
  Pieces out(sink);
  Expected<void> failed;
  analyze::perfetto_report(data.snapshot, {out.text, [&] {
                                             if (failed) failed = out.step();
                                             if (!failed) out.text.clear();
                                           }});
  return failed ? out.finish() : failed;
}

analyze::JsonShape ndjson_shape() {
  using analyze::CellType;
  using Kind = analyze::JsonShape::Kind;
  analyze::JsonShape lines{.kind = Kind::any_of};
  for (const auto& table : analyze::result_tables(analyze::Snapshot{})) {
    auto object = std::make_shared<analyze::JsonDescription>();
    object->name = "row_of_" + std::string(table->name());
    object->keys.push_back({.name = "table",
                            .help = "name of the table",
                            .shape = {.kind = Kind::text, .values = {std::string(table->name())}}});
    for (const analyze::ResultColumn& column : table->columns()) {
      const Kind kind = column.type == CellType::integer ? Kind::integer
                        : column.type == CellType::real  ? Kind::number
                                                         : Kind::text;
      analyze::JsonKey key{.name = std::string(column.name),
                           .help = std::string(column.help),
                           .shape = {.kind = kind, .nullable = kind != Kind::text}};
      key.unit = analyze::json_unit_of(key.name, key.shape);
      object->keys.push_back(std::move(key));
    }
    lines.choices.push_back({.kind = Kind::object, .object = std::move(object)});
  }
  return lines;
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
  return write_metrics(data, sink, openmetrics);
}

Expected<void> write_prometheus(const ExportData& data, const ExportSink& sink) {
  return write_metrics(data, sink, prometheus);
}

Expected<void> write_line_protocol(const ExportData& data, const ExportSink& sink) {
  Pieces out(sink);
  for (const Points& kind : points) {
    const analyze::ResultTable* table = find_table(data, kind.table);
    FreeTimes times;
    for (std::size_t row = 0; table != nullptr && row < table->size(); ++row) {
      write_point(out.text, data, kind, *table, row, times);
      if (auto stepped = out.step(); !stepped) return stepped;
    }
  }
  const analyze::Snapshot& s = data.snapshot;
  if (s.totals.any_time) {
    out.text +=
        fmt::format("roceanalyze_capture,capture={} complete={},interrupted={},packets_read={}i {}\n",
                    tag(data.capture), s.complete(), s.interrupted, s.frames_read, s.totals.last_time_ns);
  }
  return out.finish();
}

}  // namespace roce::cli
