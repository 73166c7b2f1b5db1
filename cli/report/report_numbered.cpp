// SPDX-License-Identifier: Apache-2.0
// Sections of the text report on shells, mirrors and packets that are only named.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyze/results/numbered_columns.hpp"
#include "cli/core/listing.hpp"
#include "cli/report/report_parts.hpp"

namespace roce::cli {
namespace {

using analyze::NumberedStream;

constexpr std::size_t most_streams = 20;  // --json has all

void write_streams(Page& page, const analyze::Snapshot& s, bool mirrors, std::string_view title,
                   const std::string& what) {
  std::vector<const NumberedStream*> rows;
  for (const NumberedStream& stream : s.numbered.streams) {
    if (stream.mirror() == mirrors) rows.push_back(&stream);
  }
  if (rows.empty()) return;
  page.gap();
  page.section(title);
  page.line(what);
  const auto uncounted =
      std::count_if(rows.begin(), rows.end(), [](const auto* each) { return !each->counts; });
  if (uncounted != 0)
    page.line(
        fmt::format("{} not numbered by one: several senders share a number, or it does not count; nothing "
                    "is said of what is missing there",
                    uncounted == 1 ? "1 is" : fmt::format("{} are", uncounted)));
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
  write_streams(page, s, false, "Shells",
                "what is missing was lost on the way here or not captured, of whatever is inside");
  const std::string lost = analyze::mirror_loss_text(s.numbered);
  write_streams(page, s, true, "Mirrors",
                lost.empty() ? "none of them lost packets, as far as they number them"
                             : page.paint("1;33", lost) + ": not lost by the network");
}

}  // namespace roce::cli
