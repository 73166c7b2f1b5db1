// SPDX-License-Identifier: Apache-2.0
// The tables of `flows`, `connections`, `incidents`, `paths`, `pairs`, `markings`, `pauses` and `dcbx`.
#include <fmt/format.h>

#include "analyze/results/connection_columns.hpp"
#include "analyze/results/flow_columns.hpp"
#include "analyze/results/incident_columns.hpp"
#include "analyze/results/link_columns.hpp"
#include "analyze/results/marking_columns.hpp"
#include "analyze/results/pair_columns.hpp"
#include "analyze/results/path_columns.hpp"
#include "cli/report/report.hpp"

namespace roce::cli {

using analyze::ConnectionRow;
using analyze::Snapshot;

namespace {

/// The table as text; without rows a line that states that.
template <class Row>
std::string text_or_none(const std::vector<const Row*>& rows, std::span<const analyze::Column<Row>> columns,
                         const Listing& listing, std::size_t width, const Snapshot& snapshot,
                         std::string_view what) {
  if (!rows.empty()) return table_text(rows, columns, listing.sort, width);
  if (snapshot.totals.packets != snapshot.frames_read)
    return fmt::format("No {} in the {} that filter and time range select.\n", what,
                       plural(snapshot.totals.packets, "packet", "packets"));
  return fmt::format("No {} in {}.\n", what, plural(snapshot.totals.packets, "packet", "packets"));
}

}  // namespace

std::string flows_text(const Snapshot& snapshot, const Listing& listing, std::size_t width) {
  const auto columns = analyze::flow_columns();
  return text_or_none(listed(snapshot.flows, columns, listing), columns, listing, width, snapshot, "flows");
}

std::string flows_csv(const Snapshot& snapshot, const Listing& listing) {
  const auto columns = analyze::flow_columns();
  return table_csv(listed(snapshot.flows, columns, listing), columns);
}

std::string markings_text(const Snapshot& snapshot, const Listing& listing, std::size_t width) {
  const auto columns = analyze::marking_columns();
  return text_or_none(listed(snapshot.markings.rows, columns, listing), columns, listing, width, snapshot,
                      "markings");
}

std::string markings_csv(const Snapshot& snapshot, const Listing& listing) {
  const auto columns = analyze::marking_columns();
  return table_csv(listed(snapshot.markings.rows, columns, listing), columns);
}

std::string connections_text(const Snapshot& snapshot, const Listing& listing, std::size_t width) {
  const auto columns = analyze::connection_columns();
  const std::vector<ConnectionRow> rows = analyze::connection_rows(snapshot);
  return text_or_none(listed(rows, columns, listing), columns, listing, width, snapshot, "connections");
}

std::string connections_csv(const Snapshot& snapshot, const Listing& listing) {
  const auto columns = analyze::connection_columns();
  const std::vector<ConnectionRow> rows = analyze::connection_rows(snapshot);
  return table_csv(listed(rows, columns, listing), columns);
}

std::string incidents_text(const Snapshot& snapshot, const Listing& listing, std::size_t width) {
  const auto columns = analyze::incident_columns();
  const std::vector<analyze::IncidentRow> rows = analyze::incident_rows(snapshot, listing.connection);
  std::string text =
      text_or_none(listed(rows, columns, listing), columns, listing, width, snapshot, "incidents");
  if (snapshot.incidents_dropped != 0)
    text +=
        fmt::format("{} more are not listed.\n", plural(snapshot.incidents_dropped, "incident", "incidents"));
  return text;
}

std::string incidents_csv(const Snapshot& snapshot, const Listing& listing) {
  const auto columns = analyze::incident_columns();
  const std::vector<analyze::IncidentRow> rows = analyze::incident_rows(snapshot, listing.connection);
  return table_csv(listed(rows, columns, listing), columns);
}

std::string paths_text(const Snapshot& snapshot, const Listing& listing, std::size_t width) {
  const auto columns = analyze::path_columns();
  const std::vector<analyze::PathRow> rows = analyze::path_rows(snapshot);
  return text_or_none(listed(rows, columns, listing), columns, listing, width, snapshot, "paths");
}

std::string paths_csv(const Snapshot& snapshot, const Listing& listing) {
  const auto columns = analyze::path_columns();
  const std::vector<analyze::PathRow> rows = analyze::path_rows(snapshot);
  return table_csv(listed(rows, columns, listing), columns);
}

std::string pairs_text(const Snapshot& snapshot, const Listing& listing, std::size_t width) {
  const auto columns = analyze::host_pair_columns();
  const std::vector<analyze::HostPairRow> rows = analyze::host_pair_rows(snapshot);
  return text_or_none(listed(rows, columns, listing), columns, listing, width, snapshot, "pairs of hosts");
}

std::string pairs_csv(const Snapshot& snapshot, const Listing& listing) {
  const auto columns = analyze::host_pair_columns();
  const std::vector<analyze::HostPairRow> rows = analyze::host_pair_rows(snapshot);
  return table_csv(listed(rows, columns, listing), columns);
}

std::string pauses_text(const Snapshot& snapshot, const Listing& listing, std::size_t width) {
  const auto columns = analyze::pause_columns();
  const std::vector<analyze::PauseRow> rows = analyze::pause_rows(snapshot);
  return text_or_none(listed(rows, columns, listing), columns, listing, width, snapshot,
                      "PAUSE or PFC frames");
}

std::string pauses_csv(const Snapshot& snapshot, const Listing& listing) {
  const auto columns = analyze::pause_columns();
  const std::vector<analyze::PauseRow> rows = analyze::pause_rows(snapshot);
  return table_csv(listed(rows, columns, listing), columns);
}

std::string dcbx_text(const Snapshot& snapshot, const Listing& listing, std::size_t width) {
  const auto columns = analyze::dcbx_columns();
  const std::vector<analyze::DcbxRow> rows = analyze::dcbx_rows(snapshot);
  return text_or_none(listed(rows, columns, listing), columns, listing, width, snapshot, "DCBX settings");
}

std::string dcbx_csv(const Snapshot& snapshot, const Listing& listing) {
  const auto columns = analyze::dcbx_columns();
  const std::vector<analyze::DcbxRow> rows = analyze::dcbx_rows(snapshot);
  return table_csv(listed(rows, columns, listing), columns);
}

}  // namespace roce::cli
