// SPDX-License-Identifier: Apache-2.0
// Comparisons of two capture points as text, JSON and CSV.
#pragma once

#include <string>

#include "analyze/base/json_object.hpp"
#include "analyze/compare/compare.hpp"
#include "analyze/report/report_sink.hpp"
#include "cli/report/report.hpp"

namespace roce::cli {

[[nodiscard]] std::string compare_text(const analyze::CompareResult& result, const ReportStyle& style);
/// What the document of a comparison is written of.
struct ComparePage {
  const analyze::CompareResult& result;
  const analyze::Snapshot& verdict;  ///< verdict_of() the result
  const analyze::ReportSink& sink;

  void step() const { sink.step(); }
};
/// The table that it is written from, for its schema.
[[nodiscard]] const analyze::JsonObject<ComparePage>& compare_object();
/// One object with a trailing newline, schema "roceanalyze/1" (docs/output.md).
void compare_json(const analyze::CompareResult& result, bool pretty, const analyze::ReportSink& sink);
/// The lost packets, or the repeats with their causes, as CSV (RFC 4180).
[[nodiscard]] std::string compare_csv(const analyze::CompareResult& result, bool repeats);

/// A snapshot with the comparison's findings and diagnoses, and the diagnostics of both captures.
[[nodiscard]] analyze::Snapshot verdict_of(const analyze::CompareResult& result);

}  // namespace roce::cli
