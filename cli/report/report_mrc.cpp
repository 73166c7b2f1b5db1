// SPDX-License-Identifier: Apache-2.0
// The section of the text report on MRC.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyze/mrc/mrc.hpp"
#include "analyze/results/mrc_columns.hpp"
#include "cli/core/listing.hpp"
#include "cli/report/report_parts.hpp"

namespace roce::cli {
namespace {

constexpr std::size_t most_mrc_rows = 20;  // --json has all

/// The first rows of a table that is longer, and where the rest is.
template <class Row>
void write_mrc_rows(Page& page, std::string_view title, std::string_view what, const std::vector<Row>& all,
                    std::span<const analyze::Column<Row>> columns, std::string_view table) {
  if (all.empty()) return;
  page.gap();
  page.section(title);
  page.line(all.size() <= most_mrc_rows
                ? std::string(what)
                : fmt::format("{}: the first {} of {} (all: roceanalyze export FILE -o DIRECTORY --table {})",
                              what, most_mrc_rows, all.size(), table));
  std::vector<const Row*> shown;
  for (std::size_t i = 0; i < std::min(most_mrc_rows, all.size()); ++i) shown.push_back(&all[i]);
  page.block(table_text(shown, columns, "", page.width()));
}

}  // namespace

void write_mrc(Page& page, const analyze::Snapshot& s) {
  if (s.mrc == nullptr) return;
  const analyze::Mrc& mrc = *s.mrc;
  page.section("MRC");
  page.line(page.paint("1", analyze::mrc_text(s)));
  page.line(
      "known from readers of its specification only; no packet of hardware was seen yet (docs/fabrics.md)");
  if (mrc.unmatched != 0)
    page.line(
        fmt::format("{} whose data were not found", analyze::plural(mrc.unmatched, "answer", "answers")));
  if (mrc.unknown != 0)
    page.line(fmt::format("{} with an opcode of its service that is not known",
                          analyze::plural(mrc.unknown, "packet", "packets")));
  if (mrc.dropped != 0)
    page.line(
        fmt::format("{} of streams beyond the limit", analyze::plural(mrc.dropped, "packet", "packets")));
  write_mrc_rows(page, "Streams", "data of one direction, whatever the UDP source port",
                 analyze::mrc_stream_rows(s), analyze::mrc_stream_columns(), "mrc_streams");
  std::vector<analyze::MrcPathRow> paths = analyze::mrc_path_rows(s);
  std::erase_if(paths, [](const analyze::MrcPathRow& row) { return row.path->lost + row.path->ce == 0; });
  std::stable_sort(paths.begin(), paths.end(),
                   [](const auto& a, const auto& b) { return a.path->lost > b.path->lost; });
  write_mrc_rows(page, "Paths", "that lost or were marked, by UDP source port and flow label", paths,
                 analyze::mrc_path_columns(), "mrc_paths");
}

}  // namespace roce::cli
