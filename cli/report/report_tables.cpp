// SPDX-License-Identifier: Apache-2.0
// The tables of `flows`, `connections`, `markings`, `pauses` and `dcbx`.
#include "analyze/results/connection_columns.hpp"
#include "analyze/results/flow_columns.hpp"
#include "analyze/results/link_columns.hpp"
#include "analyze/results/marking_columns.hpp"
#include "cli/report/report.hpp"

namespace roce::cli {

using analyze::ConnectionRow;
using analyze::Snapshot;

std::string flows_text(const Snapshot& snapshot, const Listing& listing, std::size_t width) {
  const auto columns = analyze::flow_columns();
  return table_text(listed(snapshot.flows, columns, listing), columns, listing.sort, width);
}

std::string flows_csv(const Snapshot& snapshot, const Listing& listing) {
  const auto columns = analyze::flow_columns();
  return table_csv(listed(snapshot.flows, columns, listing), columns);
}

std::string markings_text(const Snapshot& snapshot, const Listing& listing, std::size_t width) {
  const auto columns = analyze::marking_columns();
  return table_text(listed(snapshot.markings.rows, columns, listing), columns, listing.sort, width);
}

std::string markings_csv(const Snapshot& snapshot, const Listing& listing) {
  const auto columns = analyze::marking_columns();
  return table_csv(listed(snapshot.markings.rows, columns, listing), columns);
}

std::string connections_text(const Snapshot& snapshot, const Listing& listing, std::size_t width) {
  const auto columns = analyze::connection_columns();
  const std::vector<ConnectionRow> rows = analyze::connection_rows(snapshot);
  return table_text(listed(rows, columns, listing), columns, listing.sort, width);
}

std::string connections_csv(const Snapshot& snapshot, const Listing& listing) {
  const auto columns = analyze::connection_columns();
  const std::vector<ConnectionRow> rows = analyze::connection_rows(snapshot);
  return table_csv(listed(rows, columns, listing), columns);
}

std::string pauses_text(const Snapshot& snapshot, const Listing& listing, std::size_t width) {
  const auto columns = analyze::pause_columns();
  const std::vector<analyze::PauseRow> rows = analyze::pause_rows(snapshot);
  return table_text(listed(rows, columns, listing), columns, listing.sort, width);
}

std::string pauses_csv(const Snapshot& snapshot, const Listing& listing) {
  const auto columns = analyze::pause_columns();
  const std::vector<analyze::PauseRow> rows = analyze::pause_rows(snapshot);
  return table_csv(listed(rows, columns, listing), columns);
}

std::string dcbx_text(const Snapshot& snapshot, const Listing& listing, std::size_t width) {
  const auto columns = analyze::dcbx_columns();
  const std::vector<analyze::DcbxRow> rows = analyze::dcbx_rows(snapshot);
  return table_text(listed(rows, columns, listing), columns, listing.sort, width);
}

std::string dcbx_csv(const Snapshot& snapshot, const Listing& listing) {
  const auto columns = analyze::dcbx_columns();
  const std::vector<analyze::DcbxRow> rows = analyze::dcbx_rows(snapshot);
  return table_csv(listed(rows, columns, listing), columns);
}

}  // namespace roce::cli
