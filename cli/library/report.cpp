// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "analyze/base/value_format.hpp"
#include "analyze/report/json/json_report.hpp"
#include "analyze/results/capture_health.hpp"
#include "analyze/results/result_tables.hpp"
#include "cli/library/failure.hpp"
#include "cli/library/options.hpp"
#include "cli/library/passes.hpp"
#include "cli/library/roceanalyze.h"
#include "cli/library/table.hpp"

struct roce_report {
  std::shared_ptr<const roce::analyze::Snapshot> snapshot;
  std::string incomplete;
  roce::analyze::ResultTables sources;
  std::deque<roce_table> tables;  ///< in the order of `sources`
};

namespace roce::library {
namespace {

std::string incompleteness(const analyze::Snapshot& snapshot) {
  std::string lines;
  for (const capture::Error& error : snapshot.errors) lines += error.describe() + "\n";
  std::string all;
  analyze::append_lines(all, lines + analyze::incomplete_text(snapshot));
  return all;
}

}  // namespace
}  // namespace roce::library

using namespace roce;
using namespace roce::library;

roce_status roce_report_open(const char* const* paths, size_t count, const roce_options* options,
                             roce_report** report, roce_error** error) {
  if (report != nullptr) *report = nullptr;
  return guarded(error, [&] {
    require(report, "report");
    Captures captures(texts_of(paths, count, "paths"));
    const Prepared prepared(options);
    auto made = std::make_unique<roce_report>();
    made->snapshot = report_of(captures, prepared);
    made->incomplete = incompleteness(*made->snapshot);
    made->sources = analyze::result_tables(*made->snapshot);
    for (const auto& source : made->sources) {
      roce_table& table = made->tables.emplace_back();
      table.name = source->name();
      table.rows = source->size();
      table.of_report = true;
      table.source = source.get();
    }
    *report = made.release();
    return ROCE_OK;
  });
}

const char* roce_report_incomplete(const roce_report* report) {
  return report != nullptr ? report->incomplete.c_str() : "";
}
size_t roce_report_tables(const roce_report* report) {
  return report != nullptr ? report->tables.size() : 0;
}
const roce_table* roce_report_table_at(const roce_report* report, size_t position) {
  return position < roce_report_tables(report) ? &report->tables[position] : nullptr;
}

const roce_table* roce_report_table(const roce_report* report, const char* name) {
  if (report == nullptr || name == nullptr) return nullptr;
  for (const roce_table& table : report->tables) {
    if (table.name == name) return &table;
  }
  return nullptr;
}

roce_status roce_report_json(const roce_report* report, int pretty, char** text, size_t* length,
                             roce_error** error) {
  if (text != nullptr) *text = nullptr;
  if (length != nullptr) *length = 0;
  return guarded(error, [&] {
    require(report, "report");
    require(text, "text");
    std::string document;
    analyze::report_json(*report->snapshot, pretty != 0, {document});
    give(document, text, length);
    return ROCE_OK;
  });
}

void roce_report_free(roce_report* report) {
  delete report;
}
