// SPDX-License-Identifier: Apache-2.0
// The command `check`: validates a capture against a policy, for scripts and CI.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "analyze/policy/marking_policy.hpp"
#include "analyze/report/json/json_report.hpp"
#include "analyze/results/not_judged.hpp"
#include "capture/core/edit_distance.hpp"
#include "cli/check/junit.hpp"
#include "cli/core/analyze_options.hpp"
#include "cli/core/command.hpp"
#include "cli/core/fail_on.hpp"
#include "cli/core/output.hpp"
#include "cli/core/page.hpp"
#include "cli/core/text_table.hpp"
#include "cli/report/report.hpp"

namespace roce::cli {
namespace {

using analyze::Finding;
using analyze::RuleViolation;
using analyze::Snapshot;

struct CheckOptions {
  AnalyzeOptions analyze;
  std::string fail_on = "warning";
  std::string junit;  ///< a file, - for standard output
  std::string show;   ///< --show-policy
  bool list = false;  ///< --list-policies
  bool json = false;
  bool pretty = false;
};

int list_policies() {
  std::size_t longest = 0;
  for (const analyze::PolicyProfile& profile : analyze::policy_profiles())
    longest = std::max(longest, profile.name.size());
  Output out;
  for (const analyze::PolicyProfile& profile : analyze::policy_profiles())
    out.write(fmt::format("{:<{}}  {}\n", profile.name, longest, profile.summary));
  return out.finish();
}

int show_policy(const std::string& name) {
  const analyze::PolicyProfile* profile = analyze::find_profile(name);
  if (profile == nullptr) {
    if (analyze::load_policy(name))
      return usage_error("--show-policy: " + name + " is a file, not a profile (--list-policies)");
    std::vector<std::string_view> names;
    for (const analyze::PolicyProfile& each : analyze::policy_profiles()) names.push_back(each.name);
    const std::string_view meant = capture::nearest_word(name, names);
    return usage_error(
        fmt::format("--show-policy: no profile {}; profiles are {}{}", name, fmt::join(names, ", "),
                    meant.empty() ? std::string() : fmt::format("; did you mean '{}'?", meant)));
  }
  Output out;
  out.write(profile->text);
  return out.finish();
}

/// "warning policy_dscp: 10.0.0.1 > 10.0.0.2 QP 0x000011: Rule class.data.dscp ...".
std::string check_finding_line(const Finding& finding) {
  return printable(fmt::format("{} {}: {}: {}", severity_name(finding.severity), finding.id, finding.subject,
                               finding.explanation));
}

/// The findings, one line each, and the result.
std::string check_text(const CheckOptions& options, const Snapshot& snapshot) {
  std::string text;
  const auto least = severity_named(options.fail_on).value_or(analyze::Severity::warning);
  std::size_t failing = 0;
  for (const Finding& finding : snapshot.findings) {
    failing += finding.severity >= least ? 1 : 0;
    text += check_finding_line(finding) + '\n';
  }
  const std::string where =
      fmt::format("{} in {}, policy {}", plural(snapshot.totals.roce_packets, "RoCE packet", "RoCE packets"),
                  plural(snapshot.flows.size(), "flow", "flows"), printable(options.analyze.policy));
  for (const std::string& each : not_judged(snapshot)) text += fmt::format("not judged: {}\n", each);
  if (failing == 0 && snapshot.markings.others != 0) {
    text += fmt::format("incomplete: no finding at or above {} where judged ({})\n", options.fail_on, where);
  } else if (failing == 0) {
    text += fmt::format("ok: no finding at or above {} ({})\n", options.fail_on, where);
  } else {
    text += fmt::format("failed: {} at or above {} ({})\n", plural(failing, "finding", "findings"),
                        options.fail_on, where);
  }
  if (snapshot.findings_dropped != 0)
    text += fmt::format("{} more findings were not kept\n", snapshot.findings_dropped);
  return text;
}

/// Writes the JUnit file; returns exit_ok, or exit_input after a message.
int write_junit(const CheckOptions& options, const Snapshot& snapshot) {
  const auto least = severity_named(options.fail_on).value_or(analyze::Severity::warning);
  int descriptor = 1;
  if (options.junit != "-") {
    descriptor = ::open(options.junit.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0) {
      print_error(fmt::format("{}: {}", options.junit, std::strerror(errno)));
      return exit_input;
    }
  }
  int failed = 0;
  {
    Output out(descriptor);
    out.write(junit_xml(snapshot, least, options.analyze.policy));
    out.flush();
    failed = out.error();
  }
  if (descriptor != 1 && ::close(descriptor) != 0 && failed == 0) failed = errno;
  if (failed == 0) return exit_ok;
  print_error(
      fmt::format("{}: {}", descriptor == 1 ? "standard output" : options.junit, std::strerror(failed)));
  return exit_input;
}

int run_check(const CheckOptions& options) {
  if (options.list) return list_policies();
  if (!options.show.empty()) return show_policy(options.show);
  if (options.analyze.files.empty()) return usage_error("check: no FILE given (- is standard input)");
  if (options.analyze.policy.empty())
    return usage_error("check: no policy given: --policy FILE|PROFILE; --list-policies lists the profiles");
  if (options.junit == "-" && options.json)
    return usage_error("check: --junit - and --json both use standard output");
  const Analyzed result = analyze_files(options.analyze);
  if (!result.snapshot) return result.status;
  const Snapshot& snapshot = *result.snapshot;
  if (snapshot.totals.roce_packets == 0) {
    // Status 0 would claim that something was checked.
    print_error("check: no RoCE packets, so nothing to judge");
    // The JUnit file is written nevertheless, and states that.
    if (!options.junit.empty() && write_junit(options, snapshot) != exit_ok) return exit_input;
    return result.status != exit_ok ? result.status : int{exit_input};
  }
  // An input that could not be read overrides --fail-on.
  int status =
      result.status == exit_ok && reaches(snapshot, options.fail_on) ? int{exit_findings} : result.status;
  // Packets that were not judged may violate the policy.
  if (status == exit_ok && snapshot.markings.others != 0) {
    print_error(
        fmt::format("check: {} RoCE packets were not judged: their flows have more markings than are kept",
                    snapshot.markings.others));
    status = exit_input;
  }
  if (!options.junit.empty()) {
    if (const int written = write_junit(options, snapshot); written != exit_ok) status = written;
    if (options.junit == "-") return status;
  }
  Output out;
  if (options.json) {
    report_json(snapshot, options.pretty, out.sink());
  } else {
    out.write(check_text(options, snapshot));
  }
  const int written = out.finish();
  return written != exit_ok ? written : status;
}

}  // namespace

void add_check(CLI::App& app, Action& action) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app.add_subcommand(
      "check",
      "validate a capture against a policy: one line per finding, exit status 1 for --fail-on and above");
  options->analyze.add_to(*command);
  command->get_option("FILE")->required(false);
  add_fail_on_option(*command, options->fail_on);
  command->add_flag("--list-policies", options->list, "list the profiles for --policy");
  command->add_option("--show-policy", options->show, "print a profile, to be used as a template")
      ->type_name("NAME");
  command->add_option("--junit", options->junit, "write the findings as JUnit XML; - is standard output")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "the report as one JSON object");
  command->add_flag("--pretty", options->pretty, "JSON with line breaks and indentation");
  command->callback([options, &action] { action = [options] { return run_check(*options); }; });
}

}  // namespace roce::cli
