// SPDX-License-Identifier: Apache-2.0
#include "cli/capture/live_outputs.hpp"

#include <unistd.h>
#include <CLI/CLI.hpp>

#include "cli/capture/capture_recording.hpp"
#include "cli/capture/capture_run.hpp"
#include "cli/capture/confinement.hpp"
#include "cli/capture/extcap_toolbar.hpp"
#include "cli/core/command.hpp"
#include "cli/core/output.hpp"
#include "cli/live/finding_lines.hpp"
#include "cli/live/live_display.hpp"
#include "cli/live/metrics_observer.hpp"
#include "cli/live/system_log.hpp"

namespace roce::cli {

void LiveOutputs::add_to(CLI::App& command) {
  command.add_flag("--plain", plain, "no screen: findings as lines on standard error, the report at the end");
  command.add_flag("--syslog", system_log, "send findings to the system log (journal) as they appear");
  command
      .add_option("--metrics", metrics, "serve metrics for Prometheus: PORT (on 127.0.0.1) or ADDRESS:PORT")
      ->check(metrics_address_error)
      ->type_name("ADDRESS");
  command
      .add_option(
          "-Z", user,
          "become this user once the device is open (default for root: the owner of the folder of -w, "
          "nobody without -w)")
      ->check(empty_error)
      ->type_name("USER");
  command
      .add_option("--toolbar-in", toolbar_in,
                  "pipe with the messages of Wireshark's toolbar (--extcap-control-in)")
      ->check(empty_error)
      ->type_name("PIPE");
  command.add_option("--toolbar-out", toolbar_out, "pipe for messages to it (--extcap-control-out)")
      ->check(empty_error)
      ->type_name("PIPE");
  command.add_flag("--no-sandbox", no_sandbox, "do not restrict the system calls of the analysis");
}

std::vector<std::unique_ptr<CaptureObserver>> LiveOutputs::observers(
    const CaptureOptions& options, const std::optional<capture::User>& as) const {
  std::vector<std::unique_ptr<CaptureObserver>> all;
  const bool screen = !plain && !options.json && !options.capture_only && options.every.empty() &&
                      options.report_descriptor() == 1 && LiveTerminal::possible();
  if (const auto address = metrics.empty() ? std::nullopt : parse_metrics_address(metrics))
    all.push_back(std::make_unique<MetricsObserver>(*address));
  if (system_log) all.push_back(std::make_unique<SystemLog>());
  if (!toolbar_in.empty() || !toolbar_out.empty())
    all.push_back(std::make_unique<ExtcapToolbar>(toolbar_in, toolbar_out));
  // With a screen, lines on the same terminal would be overwritten; in a service's log they would appear
  // twice; and
  // --every prints findings itself.
  // Of a capture in Wireshark they are in the toolbar's log: what it says on standard error is shown as an
  // error.
  const bool lines = toolbar_out.empty() && (::isatty(2) == 1 ? !screen : !system_log);
  if (lines && options.every.empty()) all.push_back(std::make_unique<FindingLines>());
  all.push_back(std::make_unique<Confinement>(ConfinementOptions{
      .user = as,
      .user_required = !user.empty(),
      .sandbox = !no_sandbox,
      .system_log = system_log,
      .more_files = !options.ring.empty() || (!options.trigger.empty() && !is_stream(options.write)),
      .spool = spool}));
  // Last, because nothing that may fail should follow when the screen is shown.
  if (screen) all.push_back(std::make_unique<LiveDisplay>(want_color(options.analyze.color)));
  return all;
}

}  // namespace roce::cli
