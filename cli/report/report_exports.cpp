// SPDX-License-Identifier: Apache-2.0
// Sections of the text report on what switches exported.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyze/results/export_columns.hpp"
#include "cli/core/listing.hpp"
#include "cli/report/report_parts.hpp"

namespace roce::cli {
namespace {

using analyze::Exports;

constexpr std::size_t most_rows = 20;  // --json has all

template <class What>
void write_exported(Page& page, const Exports& exports, std::string_view title, std::string_view what,
                    const std::vector<What>& all,
                    std::span<const analyze::Column<analyze::ExportRow<What>>> columns) {
  if (all.empty()) return;
  page.gap();
  page.section(title);
  page.line(all.size() <= most_rows
                ? std::string(what)
                : fmt::format("{}: the first {} of {}, see --json", what, most_rows, all.size()));
  const auto rows = analyze::export_rows(exports, all);
  std::vector<const analyze::ExportRow<What>*> shown;
  for (std::size_t i = 0; i < std::min(most_rows, rows.size()); ++i) shown.push_back(&rows[i]);
  page.block(table_text(shown, columns, "", page.width()));
}

}  // namespace

void write_exports(Page& page, const analyze::Snapshot& s) {
  const Exports& e = s.exports;
  if (!e.any()) return;
  page.section("Exports");
  page.line(page.paint("1", analyze::exports_text(e)));
  page.line(fmt::format("{}, {} of packets; nothing of them is counted as traffic of this capture",
                        plural(e.datagrams, "datagram", "datagrams"),
                        plural(e.samples(), "sample", "samples")));
  if (const std::string gaps = analyze::export_gaps_text(e); !gaps.empty()) page.line(gaps);
  if (const std::string shares = analyze::sample_shares_text(e); !shares.empty()) page.line(shares);
  if (const std::string records = analyze::export_records_text(e); !records.empty()) page.line(records);
  if (e.drops_suppressed != 0)
    page.line(
        fmt::format("{} not sent by the switches, which limit their rate",
                    plural(e.drops_suppressed, "notification of a drop was", "notifications of drops were")));
  write_exported(page, e, "Dropped", "as the switches say", analyze::drop_groups(e),
                 analyze::export_drop_columns());
  write_exported(page, e, "Sources", "data sources, and what they stand for", e.sources,
                 analyze::export_source_columns());
  write_exported(page, e, "Sampled", "flows of RoCE by switch, estimated from samples", e.flows,
                 analyze::export_flow_columns());
  write_exported(page, e, "Queues", "as packets that were sampled met them", e.queues,
                 analyze::export_queue_columns());
  write_exported(page, e, "Ports", "counters, from the first to the last sample", e.ports,
                 analyze::export_port_columns());
  page.gap();
}

}  // namespace roce::cli
