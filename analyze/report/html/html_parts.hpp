// SPDX-License-Identifier: Apache-2.0
// Internal to the HTML report: its parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/report/advice.hpp"
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

void write_diagnoses(Page& page);
void write_findings(Page& page);
void write_capture(Page& page);
void write_timeline(Page& page);
void write_tables(Page& page);
void write_doubts(Page& page);

/// Each severity has its own symbol.
[[nodiscard]] std::string_view severity_sign(Severity severity) noexcept;
/// `name` with the sign and the colour of a severity.
void write_severity(Page& page, Severity severity, std::string_view name);

/// How many findings are listed, from the first on.
[[nodiscard]] std::size_t findings_shown(const Page& page) noexcept;
/// The id of the element of the finding at this place of the list, from 0.
[[nodiscard]] std::string finding_anchor(std::size_t place);

/// Packets that prove something, and when.
struct Evidence {
  const std::vector<std::uint64_t>& packets;
  bool more = false;  ///< there are more of them
  std::optional<std::int64_t> first_ns;
  std::optional<std::int64_t> last_ns;
  double confidence = 1;
};
/// "packets 12, 13, 40 …, from +0.200000 s to +4.510000 s; confidence 70 %"
[[nodiscard]] std::string packets_text(const Snapshot& snapshot, const Evidence& evidence);
/// "connections 0, 3"; nothing without any.
void write_connection_links(Page& page, const std::vector<std::uint32_t>& connections, bool more);

/// The files that replace FILE in commands.
[[nodiscard]] std::vector<std::string> files_to_type(const Snapshot& snapshot);
/// Sentences and commands below their heading; nothing without any.
void write_advice(Page& page, const std::vector<AdvicePart>& parts);

/// "+1.203896 s" after the first packet, as shown by `packets` and accepted by --from.
[[nodiscard]] std::string since_start(const Snapshot& snapshot, std::int64_t time_ns);

}  // namespace roce::analyze::html
