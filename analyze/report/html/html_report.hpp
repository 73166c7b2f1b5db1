// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "analyze/report/report_sink.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

/// Options of html_report().
struct HtmlOptions {
  enum class Form : std::uint8_t {
    page,      ///< a whole page for browsers: style sheet, colours of the reader's theme, timeline as SVG
    document,  ///< for printing by a simple renderer: tables and texts, and `timeline` as an image
  };
  Form form = Form::page;
  std::size_t top = 200;                ///< maximum rows of each table, the rest is counted; 0 = all
  std::size_t findings = 100;           ///< maximum findings with details, the rest is counted; 0 = all
  std::string program = "roceanalyze";  ///< name and version of the program
  std::string timeline;                 ///< of a document: the URL of its image; empty: none
};

/// The report as one self-contained HTML file: no scripts, no external resources. It is also well-formed XML.
/// Equal snapshots give equal bytes.
void html_report(const Snapshot& snapshot, const HtmlOptions& options, const ReportSink& sink);

}  // namespace roce::analyze
