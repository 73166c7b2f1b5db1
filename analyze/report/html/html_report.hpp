// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "analyze/report/report_sink.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

struct HtmlOptions {
  enum class Form : std::uint8_t {
    page,      ///< a whole page for browsers: style sheet, colours of the reader's theme, timeline as SVG
    document,  ///< for printing by a simple renderer: tables and texts, and `timeline` as an image
  };
  Form form = Form::page;
  std::size_t top = 200;                ///< rows of each table, the rest is counted; 0 = all
  std::size_t findings = 100;           ///< findings told whole, the rest is counted; 0 = all
  std::string program = "roceanalyze";  ///< and its version
  std::string timeline;                 ///< of a document: the address of its image; empty: none
};

/// The report as one HTML file that needs no other: no script, nothing loaded from anywhere. It is
/// well-formed XML too. The same snapshot gives the same bytes.
void html_report(const Snapshot& snapshot, const HtmlOptions& options, const ReportSink& sink);

}  // namespace roce::analyze
