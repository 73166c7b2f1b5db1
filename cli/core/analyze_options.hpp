// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/pipeline/analysis.hpp"

namespace roce::cli {

/// The options that every analysing command shares.
struct AnalyzeOptions {
  std::vector<std::string> files;
  std::string filter;
  std::string from;
  std::string to;
  std::string link_speed;   ///< empty: as the capture says
  std::string pause_storm;  ///< empty: the default
  std::string color = "auto";
  std::string policy;  ///< a file or a profile
  unsigned jobs = 0;
  unsigned roce_ip_protocol = 0;
  bool no_icrc = false;

  void add_to(CLI::App& command);
  /// All but FILE, --from and --to: what a live capture has as well.
  void add_shared_to(CLI::App& command);
};

/// What an analysing command ended with: a snapshot, or a status after its message was printed.
struct Analyzed {
  std::shared_ptr<const analyze::Snapshot> snapshot;  ///< null if there is nothing to report
  int status = 0;                                     ///< exit_input if an input failed
};

/// What these options say, but for files, filter and times. Nothing after an error, which was printed.
[[nodiscard]] std::optional<analyze::AnalysisOptions> analysis_options(const AnalyzeOptions& options);
/// The filter of -Y, none where there is none. False after an error, which was printed.
[[nodiscard]] bool compile_filter(const AnalyzeOptions& options, std::optional<analyze::Filter>& filter);

/// Opens, analyses with a progress bar, prints what went wrong to standard error.
[[nodiscard]] Analyzed analyze_files(const AnalyzeOptions& options);

/// One reading of a source, with a progress bar; Ctrl-C ends the reading.
struct Pass {
  std::shared_ptr<const analyze::Snapshot> snapshot;
  bool interrupted = false;
};
/// `label` stands before the bar and must live as long as the call.
[[nodiscard]] Pass run_pass(capture::CaptureSource& source, analyze::AnalysisOptions options,
                            std::string_view label = {});
inline constexpr std::string_view first_pass_label = "pass 1 of 2 ";

/// The policy of that file or profile; what is wrong with it goes to standard error, and nullptr comes back.
[[nodiscard]] std::shared_ptr<const analyze::MarkingPolicy> read_policy(const std::string& file_or_profile);
/// --policy
void add_policy_option(CLI::App& command, std::string& policy);
/// " --policy nvidia", as commands that look at the same packets need it; a file whose name a shell would
/// take apart is called POLICY.
[[nodiscard]] std::string policy_argument(const std::string& policy);

/// Says on standard error how many packets have no verdict because there was no room to keep it.
void print_lost_verdicts(const analyze::VerdictStore& verdicts);

/// Says what is wrong with a filter, with a caret under the place.
void print_filter_error(const analyze::FilterError& error, const std::string& expression);

/// A time of --from and --to: seconds since the epoch ("1795172933.5"), "2026-11-20 11:08:53.5" (UTC,
/// also with T and Z, without seconds or the date alone), or "+1.5": seconds after the first frame. Nothing
/// if it is none of these.
[[nodiscard]] std::optional<analyze::TimeBound> parse_time(const std::string& text);
/// What is wrong with such a text, and which forms there are; empty for a time.
[[nodiscard]] std::string time_error(const std::string& text);

/// Why no packet can be in the range, as far as that is known before reading; empty otherwise.
[[nodiscard]] std::string range_error(const analyze::TimeRange& times);
/// The same once so many frames were read, of which the first with a time has this one.
[[nodiscard]] std::string range_error(const analyze::TimeRange& times, std::uint64_t frames,
                                      std::optional<std::int64_t> first_ns);

}  // namespace roce::cli
