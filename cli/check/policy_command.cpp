// SPDX-License-Identifier: Apache-2.0
// The command `policy learn`: derives a policy from the markings of a capture.
#include <CLI/CLI.hpp>
#include <memory>

#include "analyze/policy/learn_policy.hpp"
#include "analyze/results/capture_health.hpp"
#include "cli/core/analyze_options.hpp"
#include "cli/core/command.hpp"
#include "cli/core/output.hpp"

namespace roce::cli {
namespace {

int run_learn(const AnalyzeOptions& options) {
  const Analyzed result = analyze_files(options);
  if (!result.snapshot) return result.status;
  if (result.snapshot->totals.roce_packets == 0) {
    print_error("policy learn: no RoCE packets, so nothing to learn from");
    return result.status != exit_ok ? result.status : int{exit_input};
  }
  Output out(Encoding::utf8);  // a TOML file
  if (const std::string missing = analyze::incomplete_text(*result.snapshot); !missing.empty())
    out.write("# INCOMPLETE: " + missing + "\n");
  out.write(analyze::learn_policy(result.snapshot->flows, result.snapshot->flow_points,
                                  result.snapshot->evicted_packets));
  const int written = out.finish();
  return written != exit_ok ? written : status_with_findings(result, options);
}

}  // namespace

void add_policy(CLI::App& app, Action& action) {
  CLI::App* policy = app.add_subcommand("policy", "create policies");
  policy->require_subcommand(1);
  auto options = std::make_shared<AnalyzeOptions>();
  CLI::App* learn = policy->add_subcommand(
      "learn", "derive a policy from a known-good capture, with packet counts, to be used as a template");
  options->add_to(*learn);
  learn->callback([options, &action] { action = [options] { return run_learn(*options); }; });
}

}  // namespace roce::cli
