// SPDX-License-Identifier: Apache-2.0
// The commands `devices` and `host`.
#include <fmt/format.h>
#include <sys/stat.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>

#include "analyze/host/facts_json.hpp"
#include "analyze/host/host_checks.hpp"
#include "capture/host/read_host.hpp"
#include "capture/write/output_file.hpp"
#include "cli/core/analyze_options.hpp"
#include "cli/core/command.hpp"
#include "cli/core/fail_on.hpp"
#include "cli/core/input_files.hpp"
#include "cli/core/output.hpp"
#include "cli/core/output_files.hpp"
#include "cli/host/host_report.hpp"

namespace roce::cli {
namespace {

/// Options of `devices` and `host`.
struct HostCommandOptions {
  std::string root = "/";
  std::string color = "auto";
  bool json = false;
  bool pretty = false;
  // Of `host` only:
  std::string snapshot, before, after;
  std::vector<std::string> captures;
  std::string policy;
  std::string fail_on;
  bool force = false;
};

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Reads this host or the tree of --root; netlink is used for this host only.
capture::HostFacts read_now(const std::string& root) {
  capture::HostOptions options;
  options.root = root;
  options.time_ns = now_ns();
  const std::unique_ptr<capture::KernelQueries> kernel = capture::running_kernel();
  if (root == "/") options.kernel = kernel.get();
  return capture::read_host(options);
}

/// Whether --root is a folder; else everything would be reported as missing. Prints the error.
bool is_root(const std::string& root) {
  struct stat facts {};
  const bool there = ::stat(root.c_str(), &facts) == 0;
  if (there && S_ISDIR(facts.st_mode)) return true;
  print_error(fmt::format("--root {}: {}", root, there ? "is not a folder" : std::strerror(errno)));
  return false;
}

ReportStyle style_of(const HostCommandOptions& options) {
  ReportStyle style;
  style.width = text_width();
  style.color = want_color(options.color);
  return style;
}

void add_findings(HostReport& report, std::vector<analyze::HostFinding> findings) {
  std::move(findings.begin(), findings.end(), std::back_inserter(report.findings));
}

int run_devices(const HostCommandOptions& options) {
  if (!is_root(options.root)) return exit_input;
  HostReport report;
  report.facts = read_now(options.root);
  if (options.json) {
    return print_text(analyze::host_facts_json(report.facts, options.pretty), exit_ok, Encoding::utf8);
  }
  add_findings(report, analyze::check_host(report.facts));
  return print_text(devices_text(report, style_of(options)), exit_ok);
}

bool is_snapshot(const capture::ExistingFile& file) {
  const std::size_t schema = file.head.find(analyze::host_schema);
  return file.head.starts_with('{') && schema != std::string_view::npos && schema < file.head.find(',');
}

capture::OutputRules snapshot_rules(const HostCommandOptions& options) {
  return {.inputs = inputs_of(options.captures, {options.before, options.after, options.policy}),
          .may_replace = is_snapshot,
          .force = options.force};
}

/// A snapshot is complete or does not exist. Returns an exit status.
int write_snapshot(const HostCommandOptions& options, const std::string& text) {
  auto file = capture::OutputFile::create(options.snapshot, snapshot_rules(options));
  if (!file) return output_error(file.error());
  auto written = (*file)->append(text.data(), text.size());
  if (written) written = (*file)->finish();
  // Nobody reads the rest of a pipe: no error.
  if (written || (options.snapshot == "-" && written.error().system_errno == EPIPE)) return exit_ok;
  return output_error(written.error());
}

std::size_t counters_in(const capture::HostFacts& facts) {
  std::size_t count = 0;
  for (const capture::RdmaDevice& device : facts.devices) {
    for (const capture::RdmaPort& port : device.ports)
      count += port.counters.size() + port.hw_counters.size();
  }
  for (const capture::Netdev& netdev : facts.netdevs) count += netdev.counters.size() + netdev.ethtool.size();
  return count;
}

std::string contradiction(const HostCommandOptions& options) {
  if (!options.captures.empty() && options.before.empty())
    return "--capture needs --before FILE: the increase of counters is compared with the capture";
  if (!options.snapshot.empty() && !options.after.empty())
    return "--snapshot (of this host) and --after (from a file) exclude each other";
  if (options.snapshot == "-" && options.json) return "--snapshot - and --json both use standard output";
  if (const std::string error = input_error(options.captures); !error.empty()) return "--capture: " + error;
  if (options.before == "-" && options.after == "-")
    return "--before - and --after - both use standard input";
  return {};
}

int run_host(const HostCommandOptions& options) {
  if (const std::string wrong = contradiction(options); !wrong.empty()) return usage_error("host: " + wrong);
  if (writes_to_input(options.captures, {options.before, options.after, options.policy})) return exit_usage;
  HostReport report;
  std::shared_ptr<const analyze::MarkingPolicy> policy;
  if (!options.policy.empty()) {
    policy = read_policy(options.policy);
    if (!policy) return exit_usage;
    report.policy = options.policy;
  }
  std::optional<capture::HostFacts> before;
  const auto load = [](const std::string& path) {
    auto facts = analyze::load_host_facts(path);
    if (!facts) print_error(facts.error());
    return facts;
  };
  if (!options.before.empty()) {
    auto facts = load(options.before);
    if (!facts) return exit_input;
    before = std::move(*facts);
  }
  if (!options.after.empty()) {
    auto facts = load(options.after);
    if (!facts) return exit_input;
    report.facts = std::move(*facts);
  }
  if (options.after.empty()) {
    if (!is_root(options.root)) return exit_input;
    report.facts = read_now(options.root);
  }
  int status = exit_ok;
  if (!options.snapshot.empty()) {
    status = write_snapshot(options, analyze::host_facts_json(report.facts, options.pretty));
    if (options.snapshot == "-" || status != exit_ok) return status;
    if (!before && policy == nullptr && !options.json) {
      return print_text(fmt::format("{}: {}, {}, {}\n", options.snapshot,
                                    plural(report.facts.devices.size(), "RDMA device", "RDMA devices"),
                                    plural(report.facts.netdevs.size(), "interface", "interfaces"),
                                    plural(counters_in(report.facts), "counter", "counters")),
                        status);
    }
  }
  add_findings(report, analyze::check_host(report.facts));
  if (policy) add_findings(report, analyze::check_host_policy(report.facts, policy->model()));
  if (before) {
    report.difference = analyze::difference(*before, report.facts);
    add_findings(report, analyze::difference_findings(*before, report.facts, *report.difference));
  }
  if (!options.captures.empty()) {
    AnalyzeOptions analyze;
    analyze.files = options.captures;
    const Analyzed result = analyze_files(analyze);
    if (!result.snapshot) return result.status;
    status = result.status;
    report.wire = analyze::compare_with_wire(report.facts, *report.difference, *result.snapshot);
    add_findings(report, report.wire->findings);
  }
  analyze::sort_findings(report.findings);
  const auto least = FailOn::named(options.fail_on);
  const bool fails =
      least && std::any_of(report.findings.begin(), report.findings.end(),
                           [&](const analyze::HostFinding& f) { return f.severity >= least->severity(); });
  if (fails && status == exit_ok) status = exit_findings;
  if (options.json) return print_text(host_report_json(report, options.pretty), status, Encoding::utf8);
  return print_text(host_text(report, style_of(options)), status);
}

void add_common(CLI::App& command, HostCommandOptions& options) {
  command.add_option("--root", options.root, "read a copied tree (with sys/ and proc/) instead of /")
      ->check(empty_error)
      ->type_name("DIR");
  command.add_flag("--json", options.json, "one JSON object");
  command.add_flag("--pretty", options.pretty, "JSON with line breaks and indentation");
  command.add_option("--color", options.color, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN");
}

}  // namespace

void add_devices(CLI::App& app, Action& action) {
  auto options = std::make_shared<HostCommandOptions>();
  CLI::App* command = app.add_subcommand(
      "devices", "RDMA devices and interfaces of this host: GIDs, states, MTUs, which can be captured");
  add_common(*command, *options);
  command->callback([options, &action] { action = [options] { return run_devices(*options); }; });
}

void add_host(CLI::App& app, Action& action) {
  auto options = std::make_shared<HostCommandOptions>();
  CLI::App* command = app.add_subcommand(
      "host", "compare counters and settings of this host with a policy, a snapshot or a capture");
  add_common(*command, *options);
  command
      ->add_option("--snapshot", options->snapshot,
                   "write all counters and settings to a file; - is standard output")
      ->check(empty_error)
      ->type_name("FILE");
  add_force_option(*command, options->force);
  command->add_option("--before", options->before, "show changes since this snapshot")
      ->check(empty_error)
      ->type_name("FILE");
  command->add_option("--after", options->after, "use this snapshot instead of the present state")
      ->check(empty_error)
      ->type_name("FILE");
  command
      ->add_option("--capture", options->captures,
                   "captures of the time in between, to compare counters with (needs --before)")
      ->type_name("FILE");
  add_policy_option(*command, options->policy);
  add_fail_on_option(*command, options->fail_on);
  command->callback([options, &action] { action = [options] { return run_host(*options); }; });
}

}  // namespace roce::cli
