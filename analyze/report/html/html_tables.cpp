// SPDX-License-Identifier: Apache-2.0
// The tables of connections, hosts, flows, paths, markings, pauses, DCBX, MRC, shells, mirrors and exports,
// with the columns of the text report.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "analyze/base/units.hpp"
#include "analyze/report/html/html_parts.hpp"
#include "analyze/results/connection_columns.hpp"
#include "analyze/results/export_columns.hpp"
#include "analyze/results/flow_columns.hpp"
#include "analyze/results/host_columns.hpp"
#include "analyze/results/link_columns.hpp"
#include "analyze/results/marking_columns.hpp"
#include "analyze/results/mrc_columns.hpp"
#include "analyze/results/numbered_columns.hpp"
#include "analyze/results/path_columns.hpp"

namespace roce::analyze::html {
namespace {

constexpr std::uint8_t last_printed = 3;  // columns of a higher priority number do not fit on paper

template <class Row>
using Class = std::function<std::string_view(const Row&)>;

template <class Row>
void write_cell(Page& page, const Column<Row>& column, const Row& row) {
  const bool later = column.priority > last_printed;
  const std::string text = column.text(row);
  std::string exact = column.exact != nullptr ? column.exact(row) : std::string();
  if (exact == text) exact.clear();
  page.html.element("td", text,
                    {{"class", column.right ? later ? "n later" : "n"
                               : later      ? "later"
                                            : ""},
                     {"data-value", exact},
                     {"align", page.is_document() && column.right ? "right" : ""}});
}

/// A column is left out if all its texts are empty, and in a document if it would not fit.
template <class Row>
std::vector<const Column<Row>*> shown_columns(const Page& page, std::span<const Column<Row>> columns,
                                              const std::vector<const Row*>& rows) {
  std::vector<const Column<Row>*> shown;
  for (const Column<Row>& column : columns) {
    if (column.priority == hidden_column) continue;
    if (page.is_document() && column.priority > last_printed) continue;
    if (std::any_of(rows.begin(), rows.end(), [&](const Row* row) { return !column.text(*row).empty(); }))
      shown.push_back(&column);
  }
  return shown;
}

struct Heading {
  std::string_view id, title;
  std::string text;  ///< text below the title
};

template <class Row>
void write_table(Page& page, const Heading& heading, std::span<const Column<Row>> columns,
                 const std::vector<const Row*>& rows, const Class<Row>& kind) {
  HtmlWriter& html = page.html;
  html.open("section", {{"id", heading.id}}).element("h2", heading.title);
  html.element("p", heading.text, {{"class", "quiet"}}).line_break();
  html.open("div", {{"class", "table"}});
  html.open("table", {{"border", page.is_document() ? "1" : ""},
                      {"cellspacing", page.is_document() ? "0" : ""},
                      {"cellpadding", page.is_document() ? "3" : ""}});
  html.open("thead").open("tr");
  const auto shown = shown_columns(page, columns, rows);
  for (const Column<Row>* column : shown) {
    const bool later = column->priority > last_printed;
    html.element("th", column->heading,
                 {{"class", column->right ? later ? "n later" : "n"
                            : later       ? "later"
                                          : ""},
                  {"scope", "col"},
                  {"title", column->help},
                  {"data-column", column->name}});
  }
  html.close().close().line_break().open("tbody").line_break();
  for (const Row* row : rows) {
    html.open("tr", {{"class", kind ? kind(*row) : std::string_view()}});
    for (const Column<Row>* column : shown) write_cell(page, *column, *row);
    html.close().line_break();
    page.step();
  }
  html.close().close().close().close().line_break();
  page.step();
}

/// The first `top` of `all` in the order `before`.
template <class Row, class Before>
std::vector<const Row*> first_sightings(const std::vector<Row>& all, std::size_t top, Before before) {
  std::vector<const Row*> rows;
  rows.reserve(all.size());
  for (const Row& row : all) rows.push_back(&row);
  if (top == 0 || rows.size() <= top) return rows;
  std::stable_sort(rows.begin(), rows.end(), [&](const Row* a, const Row* b) { return before(*a, *b); });
  rows.resize(top);
  return rows;
}
template <class Row>
std::vector<const Row*> first_sightings(const std::vector<Row>& all, std::size_t top) {
  return first_sightings(all, top, [](const Row&, const Row&) { return false; });
}

/// "12 connections", or "the 200 with most problems of 1234 connections (all: roceanalyze connections FILE)".
struct CountedNoun {
  std::string_view one;
  std::string_view several;
  std::string_view which;  ///< what follows
};

std::string how_many(std::size_t shown, std::size_t all, const CountedNoun& what, std::string_view order,
                     std::string_view command) {
  const std::string count = plural(all, what.one, what.several) + std::string(what.which);
  if (shown == all) return count;
  return fmt::format("the {}{} of {} (all: roceanalyze {} FILE)", shown, order, count, command);
}

std::string_view kind_of(std::optional<Severity> severity) {
  return severity && *severity >= Severity::notice ? severity_name(*severity) : std::string_view();
}

void write_connections(Page& page) {
  const Snapshot& s = page.snapshot;
  if (s.connections.empty()) return;
  const std::vector<ConnectionRow> all = connection_rows(s);
  std::vector<std::uint64_t> trouble;
  for (const ConnectionRow& row : all) trouble.push_back(row.trouble());
  const auto rows =
      first_sightings(all, page.options.top, [&](const ConnectionRow& a, const ConnectionRow& b) {
        const std::uint64_t of_a = trouble[static_cast<std::size_t>(&a - all.data())];
        const std::uint64_t of_b = trouble[static_cast<std::size_t>(&b - all.data())];
        return of_a != of_b ? of_a > of_b : a.bytes() > b.bytes();
      });
  const std::vector<std::optional<Severity>> severities = connection_severities(s);
  const Class<ConnectionRow> kind = [&](const ConnectionRow& row) {
    return kind_of(severities[static_cast<std::size_t>(&row - all.data())]);
  };
  write_table<ConnectionRow>(
      page,
      {"connections", "Connections",
       how_many(rows.size(), all.size(),
                {"connection", "connections", " (both directions between two queue pairs)"},
                " with most problems", "connections")},
      connection_columns(), rows, kind);
}

void write_hosts(Page& page) {
  const std::vector<HostRow> all = host_rows(page.snapshot);
  if (all.empty()) return;
  const auto rows = first_sightings(all, page.options.top);
  write_table<HostRow>(
      page,
      {"hosts", "Hosts",
       how_many(rows.size(), all.size(), {"address", "addresses", " at the ends of connections"},
                " with most problems", "connections")},
      host_columns(), rows, [](const HostRow& row) { return kind_of(row.worst); });
}

void write_flows(Page& page) {
  const std::vector<Flow>& all = page.snapshot.flows;
  if (all.empty()) return;
  const auto rows =
      first_sightings(all, page.options.top, [](const Flow& a, const Flow& b) { return a.bytes > b.bytes; });
  write_table<Flow>(
      page,
      {"flows", "Flows",
       how_many(rows.size(), all.size(), {"flow", "flows", " (one direction to one queue pair each)"},
                " largest", "flows")},
      flow_columns(), rows, nullptr);
}

void write_paths(Page& page) {
  const std::vector<PathRow> all = path_rows(page.snapshot);
  if (all.empty()) return;
  const auto rows = first_sightings(all, page.options.top, [](const PathRow& a, const PathRow& b) {
    const std::uint64_t of_a = lost_in_network(a.lost);
    const std::uint64_t of_b = lost_in_network(b.lost);
    return of_a != of_b ? of_a > of_b : a.bytes > b.bytes;
  });
  write_table<PathRow>(
      page,
      {"paths", "Paths",
       how_many(rows.size(), all.size(), {"path", "paths", " by UDP source port, flow label and segment"},
                " with most losses", "paths")},
      path_columns(), rows, nullptr);
}

void write_flow_marks(Page& page) {
  const std::vector<Marking>& all = page.snapshot.markings.rows;
  if (all.empty()) return;
  const auto rows = first_sightings(all, page.options.top,
                                    [](const Marking& a, const Marking& b) { return a.packets > b.packets; });
  write_table<Marking>(
      page,
      {"markings", "Markings",
       how_many(rows.size(), all.size(), {"row", "rows", " by class, direction and markings"}, " largest",
                "markings")},
      marking_columns(), rows,
      [](const Marking& row) -> std::string_view { return row.verdict == "violation" ? "warning" : ""; });
}

void write_links(Page& page) {
  const std::vector<PauseRow> pauses = pause_rows(page.snapshot);
  if (!pauses.empty()) {
    const auto rows = first_sightings(pauses, page.options.top);
    write_table<PauseRow>(
        page,
        {"pauses", "Pauses",
         how_many(rows.size(), pauses.size(),
                  {"port and priority", "ports and priorities", " with PAUSE or PFC"}, " first", "pauses")},
        pause_columns(), rows, nullptr);
  }
  const std::vector<DcbxRow> dcbx = dcbx_rows(page.snapshot);
  if (!dcbx.empty()) {
    const auto rows = first_sightings(dcbx, page.options.top);
    write_table<DcbxRow>(page,
                         {"dcbx", "DCBX",
                          how_many(rows.size(), dcbx.size(), {"LLDP announcement", "LLDP announcements", ""},
                                   " first", "dcbx")},
                         dcbx_columns(), rows, nullptr);
  }
}

template <class What>
void write_exported(Page& page, const Heading& heading, const std::vector<What>& all,
                    std::span<const Column<ExportRow<What>>> columns) {
  if (all.empty()) return;
  const std::vector<ExportRow<What>> rows = export_rows(page.snapshot.exports, all);
  write_table<ExportRow<What>>(page, heading, columns, first_sightings(rows, page.options.top), nullptr);
}

/// Shells and mirrors: what numbers its packets.
void write_numbered_streams(Page& page) {
  for (const NumberedRows which : {NumberedRows::shells, NumberedRows::mirrors}) {
    std::vector<const NumberedStream*> rows = numbered_rows(page.snapshot, which);
    if (rows.empty()) continue;
    std::string text = fmt::format("{}", fmt::join(numbered_notes(page.snapshot, which), "; "));
    if (page.options.top != 0 && rows.size() > page.options.top) {
      text += fmt::format("; the {} with most packets of {} (all: roceanalyze report --json FILE)",
                          page.options.top, rows.size());
      rows.resize(page.options.top);
    }
    const bool mirrors = which == NumberedRows::mirrors;
    write_table<NumberedStream>(page, {mirrors ? "mirrors" : "shells", mirrors ? "Mirrors" : "Shells", text},
                                numbered_columns(), rows, nullptr);
  }
}

/// Streams of MRC, and their paths: those that lost most first.
void write_streams_of_mrc(Page& page) {
  if (page.snapshot.mrc == nullptr) return;
  const auto streams = mrc_stream_rows(page.snapshot);
  write_table<const MrcStream*>(page, {"mrc", "MRC", mrc_text(page.snapshot)}, mrc_stream_columns(),
                                first_sightings(streams, page.options.top), nullptr);
  const auto paths = mrc_path_rows(page.snapshot);
  write_table<MrcPathRow>(page, {"mrc-paths", "Paths of MRC", "by UDP source port and flow label"},
                          mrc_path_columns(), first_sightings(paths, page.options.top), nullptr);
}

/// What switches exported: nothing of it is traffic of this capture.
void write_switch_exports(Page& page) {
  const Exports& e = page.snapshot.exports;
  if (!e.any()) return;
  page.html.open("section", {{"id", "exports"}}).element("h2", export_protocols_text(e)).line_break();
  page.html.element("p", exports_text(e)).line_break();
  for (const std::string& text : {export_gaps_text(e), export_records_text(e), sample_shares_text(e)}) {
    if (!text.empty()) page.html.element("p", text, {{"class", "quiet"}}).line_break();
  }
  page.html.close().line_break();
  write_exported(page, {"exports-drops", "Dropped", "as the switches say"}, drop_groups(e),
                 export_drop_columns());
  write_exported(page, {"exports-sources", "Data sources", "and what their samples stand for"}, e.sources,
                 export_source_columns());
  write_exported(page, {"exports-flows", "Sampled flows", "of RoCE by switch, estimated from samples"},
                 e.flows, export_flow_columns());
  write_exported(page, {"exports-queues", "Queues", "as packets that were sampled met them"}, e.queues,
                 export_queue_columns());
  write_exported(page, {"exports-ports", "Ports", "counters, from the first to the last sample"}, e.ports,
                 export_port_columns());
}

}  // namespace

void write_tables(Page& page) {
  write_connections(page);
  write_hosts(page);
  write_flows(page);
  write_paths(page);
  write_flow_marks(page);
  write_links(page);
  write_streams_of_mrc(page);
  write_numbered_streams(page);
  write_switch_exports(page);
}

}  // namespace roce::analyze::html
