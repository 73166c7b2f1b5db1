// SPDX-License-Identifier: Apache-2.0
// The commands `report`, `flows`, `connections`, `incidents`, `paths`, `pairs`, `markings`, `pauses` and
// `dcbx`.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <optional>

#include "analyze/report/html/html_report.hpp"
#include "analyze/report/json/json_report.hpp"
#include "analyze/results/connection_columns.hpp"
#include "analyze/results/flow_columns.hpp"
#include "analyze/results/incident_columns.hpp"
#include "analyze/results/link_columns.hpp"
#include "analyze/results/marking_columns.hpp"
#include "analyze/results/pair_columns.hpp"
#include "analyze/results/path_columns.hpp"
#include "cli/core/analyze_options.hpp"
#include "cli/core/command.hpp"
#include "cli/core/output.hpp"
#include "cli/core/version.hpp"
#include "cli/report/report.hpp"

namespace roce::cli {
namespace {

struct ReportOptions {
  AnalyzeOptions analyze;
  std::optional<std::size_t> top;  ///< connections and flows to list; the default depends on the format
  bool findings = false;
  bool html = false;
  bool json = false;
  bool pretty = false;
};

/// Options of the commands that print tables.
struct TableOptions {
  AnalyzeOptions analyze;
  Listing listing;
  bool csv = false;
  bool json = false;
  bool pretty = false;
};

template <class Write>
int print_json(Write&& write, int status) {
  Output out(Encoding::utf8);
  write(out.sink());
  return out.finish(status);
}

int run_report(const ReportOptions& options) {
  const Analyzed result = analyze_files(options.analyze);
  if (!result.snapshot) return result.status;
  const int status = status_with_findings(result, options.analyze);
  if (options.json) {
    return print_json(
        [&](const analyze::ReportSink& sink) { report_json(*result.snapshot, options.pretty, sink); },
        status);
  }
  if (options.html) return print_html(*result.snapshot, options.top, status);
  ReportStyle style{text_width(), want_color(options.analyze.color)};
  style.top = options.top.value_or(style.top);
  style.findings = options.findings;
  return print_text(report_text(*result.snapshot, style), status);
}

/// The three output formats of a table.
struct Table {
  std::string (*text)(const analyze::Snapshot&, const Listing&, std::size_t width);
  std::string (*csv)(const analyze::Snapshot&, const Listing&);
  void (*json)(const analyze::Snapshot&, const Listing&, bool pretty, const analyze::ReportSink&);
};
constexpr Table flow_table{flows_text, flows_csv, analyze::flows_json};
constexpr Table marking_table{markings_text, markings_csv, analyze::markings_json};
constexpr Table connection_table{connections_text, connections_csv, analyze::connections_json};
constexpr Table incident_table{incidents_text, incidents_csv, analyze::incidents_json};
constexpr Table path_table{paths_text, paths_csv, analyze::paths_json};
constexpr Table pair_table{pairs_text, pairs_csv, analyze::pairs_json};
constexpr Table pause_table{pauses_text, pauses_csv, analyze::pauses_json};
constexpr Table dcbx_table{dcbx_text, dcbx_csv, analyze::dcbx_json};

int run_table(const TableOptions& options, const Table& table) {
  const Analyzed result = analyze_files(options.analyze);
  if (!result.snapshot) return result.status;
  const analyze::Snapshot& s = *result.snapshot;
  const int status = status_with_findings(result, options.analyze);
  if (options.json) {
    return print_json(
        [&](const analyze::ReportSink& sink) { table.json(s, options.listing, options.pretty, sink); },
        status);
  }
  if (options.csv) return print_text(table.csv(s, options.listing), status, Encoding::utf8);
  return print_text(table.text(s, options.listing, text_width()), status);
}

/// Error message for a name that no column has; else empty.
template <class Row>
std::string known_column(std::span<const analyze::Column<Row>> columns, const std::string& name) {
  if (analyze::find_column(columns, name) != nullptr) return {};
  std::string names;
  for (const analyze::Column<Row>& column : columns) names += " " + std::string(column.name);
  return "no column '" + name + "'; columns are:" + names;
}

template <class Row>
void add_table(CLI::App& command, const std::shared_ptr<TableOptions>& options,
               std::span<const analyze::Column<Row>> columns) {
  options->analyze.add_to(command);
  command.add_option("--sort", options->listing.sort, "column to sort by, largest first")
      ->check([columns](const std::string& name) { return known_column(columns, name); })
      ->type_name("COLUMN");
  command.add_flag("--reverse", options->listing.reverse, "reverse the order");
  command.add_option("--top", options->listing.top, "number of rows (0 = all)")
      ->check(number_error)
      ->type_name("N");
  auto* csv = command.add_flag("--csv", options->csv, "CSV with all columns");
  auto* json = command.add_flag("--json", options->json, "one JSON object");
  csv->excludes(json);
  command.add_flag("--pretty", options->pretty, "JSON with line breaks and indentation");
}

}  // namespace

int print_html(const analyze::Snapshot& snapshot, std::optional<std::size_t> top, int status) {
  analyze::HtmlOptions html;
  html.top = top.value_or(html.top);
  const std::string version = version_text();
  html.program = version.substr(0, version.find('\n'));
  Output out(Encoding::utf8);
  analyze::html_report(snapshot, html, out.sink());
  return out.finish(status);
}

void add_report(CLI::App& app, Action& action) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand(
      "report", "findings with advice, contents of the capture, connections, flows, what was skipped");
  options->analyze.add_to(*command);
  command
      ->add_option("--top", options->top, "connections and flows to list (0 = all; default: 20, in HTML 200)")
      ->check(number_error)
      ->type_name("N");
  command->add_flag("--findings", options->findings, "all findings in full, the evidence of the diagnoses");
  auto* html = command->add_flag("--html", options->html, "one self-contained HTML file");
  command->add_flag("--json", options->json, "one JSON object")->excludes(html);
  command->add_flag("--pretty", options->pretty, "JSON with line breaks and indentation");
  command->callback([options, &action] { action = [options] { return run_report(*options); }; });
}

void add_flows(CLI::App& app, Action& action) {
  auto options = std::make_shared<TableOptions>();
  CLI::App* command = app.add_subcommand("flows", "table of flows: one direction to one queue pair each");
  add_table(*command, options, analyze::flow_columns());
  command->callback([options, &action] { action = [options] { return run_table(*options, flow_table); }; });
}

void add_markings(CLI::App& app, Action& action) {
  auto options = std::make_shared<TableOptions>();
  CLI::App* command = app.add_subcommand(
      "markings",
      "table of markings: DSCP, VLAN priority and ECN by class (data, ack, cnp ...) and direction");
  add_table(*command, options, analyze::marking_columns());
  command->callback(
      [options, &action] { action = [options] { return run_table(*options, marking_table); }; });
}

void add_connections(CLI::App& app, Action& action) {
  auto options = std::make_shared<TableOptions>();
  CLI::App* command = app.add_subcommand(
      "connections", "table of connections: both directions, losses, retransmissions, latencies");
  add_table(*command, options, analyze::connection_columns());
  command->callback(
      [options, &action] { action = [options] { return run_table(*options, connection_table); }; });
}

void add_incidents(CLI::App& app, Action& action) {
  auto options = std::make_shared<TableOptions>();
  CLI::App* command = app.add_subcommand(
      "incidents", "table of incidents: each loss, RNR NAK, timeout ... with its recovery and what it cost");
  add_table(*command, options, analyze::incident_columns());
  command->add_option("--connection", options->listing.connection, "only those of this connection")
      ->check(number_error)
      ->type_name("N");
  command->callback(
      [options, &action] { action = [options] { return run_table(*options, incident_table); }; });
}

void add_paths(CLI::App& app, Action& action) {
  auto options = std::make_shared<TableOptions>();
  CLI::App* command = app.add_subcommand(
      "paths", "table of paths: what each UDP source port, flow label or segment carries, loses and delays");
  add_table(*command, options, analyze::path_columns());
  command->callback([options, &action] { action = [options] { return run_table(*options, path_table); }; });
}

void add_pairs(CLI::App& app, Action& action) {
  auto options = std::make_shared<TableOptions>();
  CLI::App* command = app.add_subcommand(
      "pairs", "table of pairs of hosts: what each sends to each other, loses, repeats and waits for");
  add_table(*command, options, analyze::host_pair_columns());
  command->callback([options, &action] { action = [options] { return run_table(*options, pair_table); }; });
}

void add_pauses(CLI::App& app, Action& action) {
  auto options = std::make_shared<TableOptions>();
  CLI::App* command = app.add_subcommand(
      "pauses", "table of PAUSE and PFC: which port pauses which priority, how often, how long");
  add_table(*command, options, analyze::pause_columns());
  command->callback([options, &action] { action = [options] { return run_table(*options, pause_table); }; });
}

void add_dcbx(CLI::App& app, Action& action) {
  auto options = std::make_shared<TableOptions>();
  CLI::App* command = app.add_subcommand(
      "dcbx", "table of DCBX settings that ports announce by LLDP: PFC, ETS, application priorities");
  add_table(*command, options, analyze::dcbx_columns());
  command->callback([options, &action] { action = [options] { return run_table(*options, dcbx_table); }; });
}

}  // namespace roce::cli
