// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/flow/psn_marks.hpp"
#include "analyze/packet/verdict_store.hpp"
#include "analyze/pipeline/analysis.hpp"
#include "cli/core/confined_inputs.hpp"
#include "cli/core/dissect_options.hpp"
#include "cli/core/reading_options.hpp"

namespace CLI {
class App;
}

namespace roce::cli {

/// The options common to all analysing commands, as typed.
struct AnalyzeOptions {
  std::vector<std::string> files;
  std::string filter;
  std::string from;
  std::string to;
  std::string link_speed;    ///< empty: as described in the capture
  std::string pause_storm;   ///< empty: the default
  std::string pfc_watchdog;  ///< empty: not known
  std::string color = "auto";
  std::string policy;   ///< a file or a profile
  std::string fail_on;  ///< name of a severity; empty: findings do not change the exit status
  unsigned jobs = 0;    ///< threads; 0 = one per core
  std::string clock;    ///< of --time; empty: that of the capture
  DissectOptions dissecting;
  bool no_icrc = false;
  bool no_sandbox = false;
  ReadingOptions reading;

  /// `to`: name of the option for the end of the time range.
  void add_to(CLI::App& command, const std::string& to_name = "--to");
  /// All except FILE, --from, --to, -c, --max-time, --no-sandbox and --fail-on: the options that `capture`
  /// has too.
  void add_shared_to(CLI::App& command);
};

/// Result of an analysing command: a snapshot, or an exit status, the message of which was printed.
struct Analyzed {
  std::shared_ptr<const analyze::Snapshot> snapshot;  ///< null if there is nothing to report
  std::unique_ptr<ConfinedInputs> inputs;             ///< until the outputs are finished
  int status = 0;                                     ///< exit_input if it is not complete()
};

/// Prints what of the inputs could not be read, kept or judged. exit_input if there is anything: it overrides
/// what findings or a policy make of the exit status, since they speak for a part only.
[[nodiscard]] int report_incompleteness(const analyze::Snapshot& snapshot);

/// Converts all options except files, filter and times. None after an error, which was printed.
[[nodiscard]] std::optional<analyze::AnalysisOptions> analysis_options(const AnalyzeOptions& options);
/// Compiles the filter of -Y; none without -Y. False after an error, which was printed.
[[nodiscard]] bool compile_filter(const AnalyzeOptions& options, std::optional<analyze::Filter>& filter);

/// Opens the files, gives up all rights but to finish these outputs (ConfinedInputs), and analyses with a
/// progress bar; prints errors to standard error. Once in a process. `verdicts` gets those of all packets,
/// for a further reading by read_again(), if the files can be read twice; `marks` sees all packets.
[[nodiscard]] Analyzed analyze_files(const AnalyzeOptions& options,
                                     std::vector<capture::PlacedOutput*> outputs = {},
                                     analyze::VerdictStore* verdicts = nullptr,
                                     analyze::PsnMarks* marks = nullptr);
/// The frames of the analysis once more; null if they cannot be read twice. Errors are those of the first
/// reading.
[[nodiscard]] std::unique_ptr<capture::CaptureSource> read_again(const AnalyzeOptions& options,
                                                                 const analyze::Snapshot& snapshot);

/// The exit status with --fail-on: exit_findings if a finding or diagnosis reaches that level. An input that
/// was not read completely overrides it.
[[nodiscard]] int status_with_findings(const Analyzed& result, const AnalyzeOptions& options);

/// One pass over a source, with a progress bar; Ctrl-C ends the reading, not the analysis. `label` precedes
/// the bar and must live as long as the call.
[[nodiscard]] std::shared_ptr<const analyze::Snapshot> run_pass(capture::CaptureSource& source,
                                                                analyze::AnalysisOptions options,
                                                                std::string_view label = {});
inline constexpr std::string_view first_pass_label = "pass 1 of 2 ";

/// Help of -c of commands that analyse.
inline constexpr const char* first_packets_help =
    "analyse the first N packets only, counted before filters; marked as incomplete, exit status 3, if there "
    "are more";

/// Loads the policy of a file or profile. On errors prints them to standard error and returns nullptr.
[[nodiscard]] std::shared_ptr<const analyze::MarkingPolicy> read_policy(const std::string& file_or_profile);
/// --policy
void add_policy_option(CLI::App& command, std::string& policy);
/// " --policy nvidia", for commands in advice; a file name that would need quoting is replaced by POLICY.
[[nodiscard]] std::string policy_argument(const std::string& policy);

/// Reports on standard error how many packets have no verdict because the temporary file was full: exit_input
/// if there are any.
[[nodiscard]] int report_lost_verdicts(const analyze::VerdictStore& verdicts);

/// Prints an error of a filter, with ^ under its position.
void print_filter_error(const analyze::FilterError& error, const std::string& expression);

/// Parses a time of --from and --to: seconds since the epoch ("1795172933.5"), a date as parse_date() takes
/// it, a time of day ("11:08:53.5", on the day of the first frame in UTC), or "+1.5" (seconds after the first
/// frame). None on errors.
[[nodiscard]] std::optional<analyze::TimeBound> parse_time(const std::string& text);
/// Error message with the valid forms; empty for a valid time.
[[nodiscard]] std::string time_error(const std::string& text);

/// Error message if the range is known to be empty before reading; else empty.
[[nodiscard]] std::string range_error(const analyze::TimeRange& times);
/// The same after reading `frames` frames; `first_ns`: time of the first frame that has one.
[[nodiscard]] std::string range_error(const analyze::TimeRange& times, std::uint64_t frames,
                                      std::optional<std::int64_t> first_ns);

}  // namespace roce::cli
