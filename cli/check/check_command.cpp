// SPDX-License-Identifier: Apache-2.0
// The command `check`: validates a capture against a policy, for scripts and CI.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/policy/marking_policy.hpp"
#include "analyze/report/json/json_report.hpp"
#include "analyze/results/capture_health.hpp"
#include "analyze/results/not_judged.hpp"
#include "analyze/results/severity_counts.hpp"
#include "capture/core/edit_distance.hpp"
#include "capture/write/output_file.hpp"
#include "cli/check/junit.hpp"
#include "cli/core/analyze_options.hpp"
#include "cli/core/command.hpp"
#include "cli/core/fail_on.hpp"
#include "cli/core/output.hpp"
#include "cli/core/output_files.hpp"
#include "cli/core/page.hpp"
#include "cli/core/text_table.hpp"
#include "cli/report/report.hpp"
#include "cli/report/report_evidence.hpp"

namespace roce::cli {
namespace {

using analyze::Finding;
using analyze::RuleViolation;
using analyze::Snapshot;

struct CheckOptions {
  AnalyzeOptions analyze;
  std::string junit;  ///< a file, - for standard output
  std::string show;   ///< --show-policy
  bool list = false;  ///< --list-policies
  bool force = false;
  bool html = false;
  bool json = false;
  bool pretty = false;
};

int list_policies() {
  std::size_t longest = 0;
  for (const analyze::PolicyProfile& profile : analyze::policy_profiles())
    longest = std::max(longest, profile.name.size());
  Output out(Encoding::locale);
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
  Output out(Encoding::utf8);  // a TOML file
  out.write(profile->text);
  return out.finish();
}

/// "degraded policy_dscp: 10.0.0.1 > 10.0.0.2 QP 0x000011: Rule class.data.dscp ...".
std::string check_finding_line(const Finding& finding, const analyze::Diagnosis* of) {
  return printable(fmt::format("{} {}: {}: {}", analyze::consequence_text(shown_severity(finding, of)),
                               finding.id, finding.subject, finding.explanation));
}

/// The worst diagnosis, the findings, one line each, and the result.
std::string check_text(const CheckOptions& options, const Snapshot& snapshot) {
  std::string text;
  const std::string missing = analyze::incomplete_text(snapshot);
  if (!missing.empty()) text += fmt::format("INCOMPLETE: {}\n", missing);
  if (const std::string limits = analyze::capture_limits_text(snapshot); !limits.empty())
    text += fmt::format("LIMITED: {}\n", limits);
  if (const analyze::Diagnosis* worst = analyze::worst_diagnosis(snapshot))
    text += diagnosis_line(*worst) + '\n';
  const FailOn least = FailOn::named(options.analyze.fail_on).value_or(FailOn());
  const std::vector<const analyze::Diagnosis*> told = analyze::diagnoses_of_findings(snapshot);
  std::size_t failing = 0;
  for (std::size_t i = 0; i < snapshot.findings.size(); ++i) {
    failing += least.reached_by(snapshot.findings[i], told[i]) ? 1U : 0U;
    text += check_finding_line(snapshot.findings[i], told[i]) + '\n';
  }
  const std::string where =
      fmt::format("{} in {}, policy {}", plural(snapshot.totals.roce_packets, "RoCE packet", "RoCE packets"),
                  plural(snapshot.flows.size(), "flow", "flows"), printable(options.analyze.policy));
  for (const std::string& each : not_judged(snapshot)) text += fmt::format("not judged: {}\n", each);
  if (failing == 0 && least.reached_by_diagnoses(snapshot)) {
    text += fmt::format("failed: what is wrong is at or above {}, no finding alone is ({})\n",
                        options.analyze.fail_on, where);
  } else if (failing == 0 && (!missing.empty() || snapshot.markings.others != 0)) {
    text += fmt::format("incomplete: no finding at or above {} where judged ({})\n", options.analyze.fail_on,
                        where);
  } else if (failing == 0 && snapshot.completeness.limited()) {
    text +=
        fmt::format("limited: no finding at or above {} where judged ({})\n", options.analyze.fail_on, where);
  } else if (failing == 0) {
    text += fmt::format("ok: no finding at or above {} ({})\n", options.analyze.fail_on, where);
  } else {
    text += fmt::format("failed: {} at or above {} ({})\n", plural(failing, "finding", "findings"),
                        options.analyze.fail_on, where);
  }
  if (snapshot.findings_dropped != 0)
    text += fmt::format("{} more findings were not kept\n", snapshot.findings_dropped);
  return text;
}

capture::OutputRules junit_rules(const CheckOptions& options) {
  return {.inputs = inputs_of(options.analyze.files, {options.analyze.policy}),
          .may_replace = is_junit,
          .force = options.force};
}

/// Completes the JUnit file; returns exit_ok, or another status after a message.
int write_junit(capture::OutputFile& file, const CheckOptions& options, const Snapshot& snapshot) {
  const FailOn least = FailOn::named(options.analyze.fail_on).value_or(FailOn());
  const std::string xml = junit_xml(snapshot, least, options.analyze.policy);
  auto written = file.append(xml.data(), xml.size());
  if (written) written = file.finish();
  // Nobody reads the rest of a pipe: no error.
  if (written || (options.junit == "-" && written.error().system_errno == EPIPE)) return exit_ok;
  return output_error(written.error());
}

int run_check(const CheckOptions& options) {
  if (options.list) return list_policies();
  if (!options.show.empty()) return show_policy(options.show);
  if (options.analyze.files.empty()) return usage_error("check: no FILE given (- is standard input)");
  if (options.analyze.policy.empty())
    return usage_error("check: no policy given: --policy FILE|PROFILE; --list-policies lists the profiles");
  if (options.junit == "-" && (options.json || options.html))
    return usage_error(
        fmt::format("check: --junit - and --{} both use standard output", options.json ? "json" : "html"));
  std::unique_ptr<capture::OutputFile> junit;
  if (!options.junit.empty()) {
    auto file = capture::OutputFile::create(options.junit, junit_rules(options));
    if (!file) return output_error(file.error());
    junit = std::move(*file);
  }
  const Analyzed result = analyze_files(options.analyze, outputs_of(junit.get()));
  if (!result.snapshot) return result.status;
  const Snapshot& snapshot = *result.snapshot;
  if (snapshot.totals.roce_packets == 0) {
    // Status 0 would claim that something was checked.
    print_error("check: no RoCE packets, so nothing to judge");
    // The JUnit file is written nevertheless, and states that.
    if (const int written = junit ? write_junit(*junit, options, snapshot) : int{exit_ok}; written != exit_ok)
      return written;
    return result.status != exit_ok ? result.status : int{exit_input};
  }
  int status = status_with_findings(result, options.analyze);
  // Packets that were not judged may violate the policy.
  if (status == exit_ok && snapshot.markings.others != 0) {
    print_error(
        fmt::format("check: {} RoCE packets were not judged: their flows have more markings than are kept",
                    snapshot.markings.others));
    status = exit_input;
  }
  if (junit) {
    if (const int written = write_junit(*junit, options, snapshot); written != exit_ok) status = written;
    if (options.junit == "-") return status;
  }
  if (options.html) return print_html(snapshot, std::nullopt, status);
  Output out(options.json ? Encoding::utf8 : Encoding::locale);
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
  options->analyze.fail_on = "warning";
  options->analyze.add_to(*command);
  command->get_option("-r")->required(false);
  command->add_flag("--list-policies", options->list, "list the profiles for --policy");
  command->add_option("--show-policy", options->show, "print a profile, to be used as a template")
      ->type_name("NAME");
  command->add_option("--junit", options->junit, "write the findings as JUnit XML; - is standard output")
      ->type_name("FILE");
  add_force_option(*command, options->force);
  auto* html = command->add_flag("--html", options->html, "the report as one self-contained HTML file");
  command->add_flag("--json", options->json, "the report as one JSON object")->excludes(html);
  command->add_flag("--pretty", options->pretty, "JSON with line breaks and indentation");
  command->callback([options, &action] { action = [options] { return run_check(*options); }; });
}

}  // namespace roce::cli
