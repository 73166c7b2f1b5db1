// SPDX-License-Identifier: Apache-2.0
#include "cli/report.hpp"
#include "cli/text_table.hpp"

namespace roce::cli {

using analyze::Flow;
using analyze::FlowColumn;
using analyze::Snapshot;

std::vector<const Flow*> listed_flows(const Snapshot& snapshot, const FlowListing& listing) {
  std::vector<const Flow*> flows;
  flows.reserve(snapshot.flows.size());
  for (const Flow& flow : snapshot.flows) flows.push_back(&flow);
  if (const FlowColumn* column = analyze::find_flow_column(listing.sort)) {
    analyze::sort_flows(flows, *column, listing.reverse);
  } else if (listing.reverse) {
    flows.assign(flows.rbegin(), flows.rend());
  }
  if (listing.top != 0 && flows.size() > listing.top) flows.resize(listing.top);
  return flows;
}

std::string flows_text(const Snapshot& snapshot, const FlowListing& listing, std::size_t width) {
  std::vector<const FlowColumn*> shown;
  std::vector<TextTable::Column> heads;
  for (const FlowColumn& column : analyze::flow_columns()) {
    // A column that one asks to sort by is wanted on screen too.
    if (column.priority == FlowColumn::hidden && column.name != listing.sort) continue;
    shown.push_back(&column);
    heads.push_back(
        {column.heading, column.right, column.name == listing.sort ? std::uint8_t{0} : column.priority});
  }
  TextTable table(std::move(heads));
  for (const Flow* flow : listed_flows(snapshot, listing)) {
    std::vector<std::string> cells;
    for (const FlowColumn* column : shown) cells.push_back(column->text(*flow));
    table.add_row(std::move(cells));
  }
  return table.render(width, 0);
}

std::string flows_csv(const Snapshot& snapshot, const FlowListing& listing) {
  std::string out;
  bool first = true;
  for (const FlowColumn& column : analyze::flow_columns()) {
    if (!first) out += ',';
    first = false;
    append_csv(out, column.name);
  }
  out += "\r\n";
  for (const Flow* flow : listed_flows(snapshot, listing)) {
    first = true;
    for (const FlowColumn& column : analyze::flow_columns()) {
      if (!first) out += ',';
      first = false;
      append_csv(out, column.machine_text(*flow));
    }
    out += "\r\n";
  }
  return out;
}

}  // namespace roce::cli
