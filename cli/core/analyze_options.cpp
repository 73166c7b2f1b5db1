// SPDX-License-Identifier: Apache-2.0
#include "cli/core/analyze_options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>

#include "analyze/base/date_text.hpp"
#include "analyze/results/capture_health.hpp"
#include "cli/core/confined_inputs.hpp"
#include "cli/core/fail_on.hpp"
#include "cli/core/input_files.hpp"
#include "cli/core/interrupt.hpp"
#include "cli/core/link_options.hpp"
#include "cli/core/output.hpp"
#include "cli/core/output_files.hpp"
#include "cli/core/progress.hpp"

namespace roce::cli {
namespace {

constexpr std::int64_t second = 1'000'000'000;

/// ".5" as nanoseconds; none if it is not a fraction.
std::optional<std::int64_t> parse_fraction(std::string_view text) {
  if (text.empty()) return 0;
  if (text.front() != '.' || text.size() < 2) return std::nullopt;
  std::int64_t value = 0;
  std::int64_t unit = second / 10;
  for (const char c : text.substr(1)) {
    if (c < '0' || c > '9') return std::nullopt;
    value += (c - '0') * unit;
    unit /= 10;
  }
  return value;
}

std::optional<std::int64_t> parse_seconds(const std::string& text) {
  std::int64_t seconds = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, seconds);
  if (failure == std::errc() && (stop == end || *stop == '.')) {
    const auto fraction = parse_fraction({stop, static_cast<std::size_t>(end - stop)});
    if (!fraction || seconds > INT64_MAX / second - 1 || seconds < INT64_MIN / second + 1)
      return std::nullopt;
    return seconds * second + (text.front() == '-' ? -*fraction : *fraction);
  }
  return std::nullopt;
}

}  // namespace

std::optional<analyze::TimeBound> parse_time(const std::string& text) {
  using enum analyze::TimeBound::Since;
  if (text.starts_with('+')) {
    const auto after = parse_seconds(text.substr(1));
    if (!after || text[1] == '-') return std::nullopt;
    return analyze::TimeBound{*after, first_frame};
  }
  if (const auto seconds = parse_seconds(text)) return analyze::TimeBound{*seconds, epoch};
  if (const auto date = analyze::parse_date(text)) return analyze::TimeBound{*date, epoch};
  if (const auto clock = analyze::parse_time_of_day(text)) return analyze::TimeBound{*clock, first_day};
  return std::nullopt;
}

std::string time_error(const std::string& text) {
  if (parse_time(text)) return {};
  return fmt::format(
      "not a time: '{}' (2026-11-20 11:08:53.5 in UTC, also with T, without seconds, or the date alone; with "
      "a "
      "zone, 2026-11-20T12:08:53+01:00 or Z; 11:08:53.5, on the UTC day of the first packet; seconds since "
      "the "
      "epoch, 1795172933.5; or +1.5, seconds after the first packet)",
      text);
}

std::string range_error(const analyze::TimeRange& times) {
  const bool alike = times.from && times.to && times.from->since == times.to->since;
  return alike && times.is_empty(0) ? "--from is later than --to: the time range is empty" : std::string();
}

std::string range_error(const analyze::TimeRange& times, std::uint64_t frames,
                        std::optional<std::int64_t> first_ns) {
  if (!times.any() || frames == 0) return {};
  if (!first_ns) return "--from and --to select by time, but this capture has no timestamps";
  return times.is_empty(*first_ns) ? "--from is later than --to: the time range is empty" : std::string();
}

void print_filter_error(const analyze::FilterError& error, const std::string& expression) {
  print_error("-Y: not a valid filter:", error.describe(expression));
}

void AnalyzeOptions::add_to(CLI::App& command, const std::string& to_name) {
  add_input_files(command, files)->required();
  command
      .add_option("--from", from,
                  "only packets from this time on (a date, in UTC or with a zone, a time of day, epoch "
                  "seconds, or +SECONDS "
                  "after the first packet)")
      ->check(time_error)
      ->type_name("TIME");
  command.add_option(to_name, to, "only packets up to this time")->check(time_error)->type_name("TIME");
  add_sandbox_option(command, no_sandbox);
  add_time_option(command, clock);
  reading.add_to(command, first_packets_help);
  add_shared_to(command);
  add_fail_on_option(command, fail_on);
}

void AnalyzeOptions::add_shared_to(CLI::App& command) {
  command.add_option("-Y", filter, "display filter: analyse only packets that match")->type_name("EXPR");
  command.add_option("--jobs", jobs, "number of threads (default: one per core); does not change the output")
      ->check(CLI::Range(1U, 256U))
      ->type_name("N");
  command.add_flag("--no-icrc", no_icrc, "do not check ICRCs");
  command
      .add_option("--link-speed", link_speed,
                  "speed of the links on which PAUSE and PFC frames are sent (default: as in the capture)")
      ->check(link_speed_error)
      ->type_name("SPEED");
  command.add_option("--pause-storm", pause_storm, "a pause longer than this is a storm (default: 200ms)")
      ->check(duration_error)
      ->type_name("TIME");
  command
      .add_option("--pfc-watchdog", pfc_watchdog,
                  "detection and restoration time of the switches' PFC watchdog: where it should have fired")
      ->check(watchdog_error)
      ->type_name("TIME,TIME");
  command.add_option("--color", color, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN");
  add_policy_option(command, policy);
  dissecting.add_to(command);
}

std::shared_ptr<const analyze::Snapshot> run_pass(capture::CaptureSource& source,
                                                  analyze::AnalysisOptions options, std::string_view label) {
  Progress progress(label);
  options.progress = [&progress](const capture::CaptureSource& s, std::uint64_t frames) {
    progress.update(s, frames);
  };
  const Interruptible interruptible(source);
  return analyze::analyze(source, options);
}

std::shared_ptr<const analyze::MarkingPolicy> read_policy(const std::string& file_or_profile) {
  auto policy = analyze::load_policy(file_or_profile);
  if (policy) return *policy;
  for (const analyze::PolicyError& error : policy.error()) print_error("--policy: " + error.describe());
  return nullptr;
}

void add_policy_option(CLI::App& command, std::string& policy) {
  command
      .add_option(
          "--policy", policy,
          "validate markings of packets against a policy: a file, or a profile of check --list-policies")
      ->type_name("FILE|PROFILE");
}

std::string policy_argument(const std::string& policy) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+,:@%-=";
  if (policy.empty()) return {};
  const bool is_plain = policy.find_first_not_of(plain) == std::string::npos;
  return " --policy " + (is_plain ? policy : std::string("POLICY"));
}

int report_lost_verdicts(const analyze::VerdictStore& verdicts) {
  if (verdicts.lost() == 0) return exit_ok;
  print_error(
      fmt::format("the analysis of {} packets could not be stored: the temporary directory (TMPDIR) is full",
                  verdicts.lost()));
  return exit_input;
}

int report_incompleteness(const analyze::Snapshot& snapshot) {
  for (const capture::Error& error : snapshot.errors) print_error(error);
  const std::string missing = analyze::incomplete_text(snapshot);
  if (missing.empty()) return exit_ok;
  print_error("incomplete: " + missing);
  return exit_input;
}

namespace {

/// The options that change the results of the analysis, for commands in advice.
std::string same_packets(const AnalyzeOptions& options) {
  std::string text;
  const auto add_time = [&text](std::string_view name, const std::string& time) {
    if (time.empty()) return;
    // A time has no quotes, but may have blanks.
    text += time.find(' ') == std::string::npos ? fmt::format(" {} {}", name, time)
                                                : fmt::format(" {} '{}'", name, time);
  };
  add_time("--from", options.from);
  add_time("--to", options.to);
  text += policy_argument(options.policy);
  if (options.no_icrc) text += " --no-icrc";
  if (options.reading.packets != 0) text += fmt::format(" -c {}", options.reading.packets);
  if (options.clock == "switch") text += " --time switch";
  text += options.dissecting.words();
  return text;
}

}  // namespace

bool compile_filter(const AnalyzeOptions& options, std::optional<analyze::Filter>& filter) {
  if (options.filter.empty()) return true;
  auto compiled = analyze::Filter::compile(options.filter);
  if (!compiled) {
    print_filter_error(compiled.error(), options.filter);
    return false;
  }
  filter.emplace(std::move(*compiled));
  return true;
}

std::optional<analyze::AnalysisOptions> analysis_options(const AnalyzeOptions& options) {
  analyze::AnalysisOptions analysis;
  if (!options.policy.empty()) {
    analysis.policy = read_policy(options.policy);
    if (!analysis.policy) return std::nullopt;
    analysis.priorities = analysis.policy->priority_map();
  }
  analysis.jobs = options.jobs;
  analysis.check_icrc = !options.no_icrc;
  analysis.dissecting = options.dissecting.with(analysis.policy.get());
  analysis.link_speed_bps = parse_link_speed(options.link_speed).value_or(0);
  analysis.pause_storm_ns = parse_duration(options.pause_storm).value_or(analyze::default_storm_ns);
  analysis.pfc_watchdog = parse_watchdog(options.pfc_watchdog).value_or(analyze::WatchdogTimes());
  return analysis;
}

Analyzed analyze_files(const AnalyzeOptions& options, std::vector<capture::PlacedOutput*> outputs,
                       analyze::VerdictStore* verdicts_for_others, analyze::PsnMarks* marks) {
  const capture::ReadingLimits limits = options.reading.limits();
  std::optional<analyze::Filter> filter;
  if (!compile_filter(options, filter)) return {nullptr, nullptr, exit_usage};
  analyze::TimeRange times;
  if (!options.from.empty()) times.from = parse_time(options.from);
  if (!options.to.empty()) times.to = parse_time(options.to);
  if (const std::string wrong = range_error(times); !wrong.empty()) {
    print_error(wrong);
    return {nullptr, nullptr, exit_usage};
  }
  if (writes_to_input(options.files, {options.policy})) return {nullptr, nullptr, exit_usage};
  auto prepared = analysis_options(options);
  if (!prepared) return {nullptr, nullptr, exit_usage};
  analyze::AnalysisOptions& analysis = *prepared;
  const bool twice = can_read_twice(options.files);
  const std::vector<std::string> files = expanded_files(options.files);
  Analyzed result;
  result.inputs = std::make_unique<ConfinedInputs>(files, options.no_sandbox, std::move(outputs));
  auto source = open_timed(files, options.clock);
  if (!source) {
    print_error(source.error());
    result.status = exit_input;
    return result;
  }

  analyze::VerdictStore own_verdicts;
  analyze::VerdictStore& verdicts = verdicts_for_others != nullptr ? *verdicts_for_others : own_verdicts;
  if (verdicts_for_others != nullptr && twice) analysis.verdicts = verdicts_for_others;
  if (filter && filter->needs_analysis()) {
    if (!twice) {
      print_error(
          "-Y: roce.connection, roce.direction and roce.analysis.* need two passes over the capture, and a "
          "pipe can be read only once: save it to a file first");
      result.status = exit_usage;
      return result;
    }
    analysis.verdicts = &verdicts;
    *source = within(std::move(*source), {limits.frames, limits.half_time()});
    const auto first = run_pass(**source, analysis, first_pass_label);
    analysis.known_interrupted = first->interrupted;
    analysis.known_stop_reason = first->stop_reason;
    if (first->totals.any_time && !times.to) analysis.known_end_ns = first->totals.last_time_ns;
    (void)report_lost_verdicts(verdicts);  // the second pass has them among its diagnostics
    source = open_timed(files, options.clock);
    if (!source) {
      print_error(source.error());
      result.status = exit_input;
      return result;
    }
    // The second pass reads only what the first one has read: it may have been interrupted, and a program may
    // still append to the file.
    *source = capture::reread(std::move(*source), first->frames_read);
    analysis.verdicts = nullptr;
    analysis.known = &verdicts;
  }
  *source = within(std::move(*source), limits);
  analysis.filter = filter ? &*filter : nullptr;
  analysis.filter_text = options.filter;
  analysis.same_packets = same_packets(options);
  analysis.times = times;
  analysis.marks = marks;
  result.snapshot = run_pass(**source, analysis);
  if (const std::string wrong =
          range_error(times, result.snapshot->frames_read, result.snapshot->first_read_ns);
      !wrong.empty()) {
    print_error(wrong);
    result.snapshot = nullptr;
    result.status = exit_usage;
    return result;
  }
  result.status = report_incompleteness(*result.snapshot);
  return result;
}

std::unique_ptr<capture::CaptureSource> read_again(const AnalyzeOptions& options,
                                                   const analyze::Snapshot& snapshot) {
  if (!can_read_twice(options.files)) return nullptr;
  auto source = open_timed(expanded_files(options.files), options.clock);
  return source ? capture::reread(std::move(*source), snapshot.frames_read) : nullptr;
}

int status_with_findings(const Analyzed& result, const AnalyzeOptions& options) {
  if (result.status != exit_ok || !result.snapshot) return result.status;
  return reaches(*result.snapshot, options.fail_on) ? exit_findings : exit_ok;
}

}  // namespace roce::cli
