// SPDX-License-Identifier: Apache-2.0
// Sections of the text report on shells, mirrors and packets that are only named.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "analyze/results/numbered_columns.hpp"
#include "cli/core/listing.hpp"
#include "cli/report/report_parts.hpp"

namespace roce::cli {
namespace {

using analyze::NumberedRows;
using analyze::NumberedStream;

constexpr std::size_t most_streams = 20;  // --json has all

void write_streams(Page& page, const analyze::Snapshot& s, NumberedRows which, std::string_view title) {
  std::vector<const NumberedStream*> rows = numbered_rows(s, which);
  if (rows.empty()) return;
  page.gap();
  page.section(title);
  const bool lost = which == NumberedRows::mirrors && s.numbered.mirror_missing() != 0;
  bool first = true;
  for (const std::string& note : numbered_notes(s, which))
    page.line(std::exchange(first, false) && lost ? page.paint("1;33", note) : note);
  if (rows.size() > most_streams) {
    page.line(fmt::format("the {} with most packets of {}, see --json", most_streams, rows.size()));
    rows.resize(most_streams);
  }
  page.block(table_text(rows, analyze::numbered_columns(), "", page.width()));
}

}  // namespace

void write_numbered(Page& page, const analyze::Snapshot& s) {
  const std::vector<std::string> named = analyze::named_packets(s);
  if (!named.empty()) {
    page.section("Named only");
    for (const std::string& line : named) page.line(line);
  }
  write_streams(page, s, NumberedRows::shells, "Shells");
  write_streams(page, s, NumberedRows::mirrors, "Mirrors");
}

}  // namespace roce::cli
