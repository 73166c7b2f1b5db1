// SPDX-License-Identifier: Apache-2.0
// The commands `devices` and `host`.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
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
#include "cli/core/analyze_options.hpp"
#include "cli/core/command.hpp"
#include "cli/core/fail_on.hpp"
#include "cli/core/output.hpp"
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
  if (options.json) return print_text(analyze::host_facts_json(report.facts, options.pretty), exit_ok);
  add_findings(report, analyze::check_host(report.facts));
  return print_text(devices_text(report, style_of(options)), exit_ok);
}

/// Writes to a temporary file and renames it: a snapshot is complete or does not exist. Returns an exit
/// status.
int write_snapshot(const std::string& path, const std::string& text) {
  if (path == "-") return print_text(text, exit_ok);
  struct stat facts {};
  const bool in_place = ::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode);  // /dev/stdout, a pipe
  const std::string target = in_place ? path : fmt::format("{}.{}.part", path, ::getpid());  // unique
  const int file = ::open(target.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  const auto refuse = [&](int error) {
    print_error(fmt::format("{}: {}: no snapshot was written", path, std::strerror(error)));
    return int{exit_input};
  };
  if (file < 0) return refuse(errno);
  int error = 0;
  {
    Output out(file);
    out.write(text);
    out.flush();
    error = out.closed() ? EPIPE : out.error();
  }
  if (error == 0 && !in_place && ::fsync(file) != 0) error = errno;
  if (::close(file) != 0 && error == 0) error = errno;
  if (error == 0 && !in_place && ::rename(target.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0 && !in_place) ::unlink(target.c_str());
  return error == 0 ? int{exit_ok} : refuse(error);
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
  if (options.before == "-" && options.after == "-")
    return "--before - and --after - both use standard input";
  return {};
}

int run_host(const HostCommandOptions& options) {
  if (const std::string wrong = contradiction(options); !wrong.empty()) return usage_error("host: " + wrong);
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
    status = write_snapshot(options.snapshot, analyze::host_facts_json(report.facts, options.pretty));
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
  const auto least = severity_named(options.fail_on);
  const bool fails =
      least && std::any_of(report.findings.begin(), report.findings.end(),
                           [&](const analyze::HostFinding& f) { return f.severity >= *least; });
  if (fails && status == exit_ok) status = exit_findings;
  return print_text(
      options.json ? host_report_json(report, options.pretty) : host_text(report, style_of(options)), status);
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
