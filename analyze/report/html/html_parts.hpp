// SPDX-License-Identifier: Apache-2.0
// Internal to the HTML report: its parts.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/report/html/html_report.hpp"
#include "analyze/report/html/html_writer.hpp"
#include "analyze/results/columns.hpp"

namespace roce::analyze::html {

/// The output and input of all parts.
struct Page {
  HtmlWriter html;
  const Snapshot& snapshot;
  const HtmlOptions& options;
  const ReportSink& sink;

  [[nodiscard]] bool is_document() const noexcept { return options.form == HtmlOptions::Form::document; }
  void step() const { sink.step(); }
};

[[nodiscard]] std::string_view style_sheet() noexcept;

void write_findings(Page& page);
void write_capture(Page& page);
void write_timeline(Page& page);
void write_tables(Page& page);
void write_doubts(Page& page);

/// "+1.203896 s" after the first packet, as shown by `packets` and accepted by --from.
[[nodiscard]] std::string since_start(const Snapshot& snapshot, std::int64_t time_ns);

}  // namespace roce::analyze::html
