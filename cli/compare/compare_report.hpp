// SPDX-License-Identifier: Apache-2.0
// A comparison as text, JSON and CSV.
#pragma once

#include <string>

#include "analyze/compare/compare.hpp"
#include "analyze/report/report_sink.hpp"
#include "cli/report/report.hpp"

namespace roce::cli {

[[nodiscard]] std::string compare_text(const analyze::CompareResult& result, const ReportStyle& style);
/// One object, newline at its end ("roceanalyze/1").
void compare_json(const analyze::CompareResult& result, bool pretty, const analyze::ReportSink& sink);
/// The list of lost packets, RFC 4180.
[[nodiscard]] std::string compare_csv(const analyze::CompareResult& result);

/// What a verdict page needs of a comparison.
[[nodiscard]] analyze::Snapshot verdict_of(const analyze::CompareResult& result);

}  // namespace roce::cli
