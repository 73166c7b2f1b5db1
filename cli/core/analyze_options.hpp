// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/pipeline/analysis.hpp"

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
  std::string link_speed;   ///< empty: as described in the capture
  std::string pause_storm;  ///< empty: the default
  std::string color = "auto";
  std::string policy;             ///< a file or a profile
  unsigned jobs = 0;              ///< threads; 0 = one per core
  unsigned roce_ip_protocol = 0;  ///< 0 = none
  bool no_icrc = false;

  void add_to(CLI::App& command);
  /// All except FILE, --from and --to: the options that `capture` has too.
  void add_shared_to(CLI::App& command);
};

/// Result of an analysing command: a snapshot, or an exit status, the message of which was printed.
struct Analyzed {
  std::shared_ptr<const analyze::Snapshot> snapshot;  ///< null if there is nothing to report
  int status = 0;                                     ///< exit_input if an input failed
};

/// Converts all options except files, filter and times. None after an error, which was printed.
[[nodiscard]] std::optional<analyze::AnalysisOptions> analysis_options(const AnalyzeOptions& options);
/// Compiles the filter of -Y; none without -Y. False after an error, which was printed.
[[nodiscard]] bool compile_filter(const AnalyzeOptions& options, std::optional<analyze::Filter>& filter);

/// Opens the files and analyses them with a progress bar; prints errors to standard error.
[[nodiscard]] Analyzed analyze_files(const AnalyzeOptions& options);

/// One pass over a source, with a progress bar; Ctrl-C ends the reading, not the analysis.
struct Pass {
  std::shared_ptr<const analyze::Snapshot> snapshot;
  bool interrupted = false;
};
/// `label` precedes the bar and must live as long as the call.
[[nodiscard]] Pass run_pass(capture::CaptureSource& source, analyze::AnalysisOptions options,
                            std::string_view label = {});
inline constexpr std::string_view first_pass_label = "pass 1 of 2 ";

/// Loads the policy of a file or profile. On errors prints them to standard error and returns nullptr.
[[nodiscard]] std::shared_ptr<const analyze::MarkingPolicy> read_policy(const std::string& file_or_profile);
/// --policy
void add_policy_option(CLI::App& command, std::string& policy);
/// " --policy nvidia", for commands in advice; a file name that would need quoting is replaced by POLICY.
[[nodiscard]] std::string policy_argument(const std::string& policy);

/// Reports on standard error how many packets have no verdict because the temporary file was full.
void print_lost_verdicts(const analyze::VerdictStore& verdicts);

/// Prints an error of a filter, with ^ under its position.
void print_filter_error(const analyze::FilterError& error, const std::string& expression);

/// Parses a time of --from and --to: seconds since the epoch ("1795172933.5"), "2026-11-20 11:08:53.5" (UTC,
/// also with T and Z, without seconds or the date alone), or "+1.5" (seconds after the first frame). None on
/// errors.
[[nodiscard]] std::optional<analyze::TimeBound> parse_time(const std::string& text);
/// Error message with the valid forms; empty for a valid time.
[[nodiscard]] std::string time_error(const std::string& text);

/// Error message if the range is known to be empty before reading; else empty.
[[nodiscard]] std::string range_error(const analyze::TimeRange& times);
/// The same after reading `frames` frames; `first_ns`: time of the first frame that has one.
[[nodiscard]] std::string range_error(const analyze::TimeRange& times, std::uint64_t frames,
                                      std::optional<std::int64_t> first_ns);

}  // namespace roce::cli
