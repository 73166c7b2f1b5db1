// SPDX-License-Identifier: Apache-2.0
#include "cli/core/analyze_options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <ctime>

#include "cli/core/input_files.hpp"
#include "cli/core/interrupt.hpp"
#include "cli/core/link_options.hpp"
#include "cli/core/output.hpp"
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

/// Forms of a date, the longest first. Only seconds may have a fraction.
struct DateForm {
  const char* format;
  bool seconds;
};
constexpr DateForm date_forms[] = {{"%Y-%m-%dT%H:%M:%S", true},
                                   {"%Y-%m-%d %H:%M:%S", true},
                                   {"%Y-%m-%dT%H:%M", false},
                                   {"%Y-%m-%d %H:%M", false},
                                   {"%Y-%m-%d", false}};

std::optional<std::int64_t> parse_calendar(const std::string& text) {
  std::tm tm{};
  std::optional<std::int64_t> fraction;
  for (const DateForm& form : date_forms) {
    tm = {};
    const char* rest = strptime(text.c_str(), form.format, &tm);
    if (rest == nullptr) continue;
    std::string_view tail(rest);
    if (!tail.empty() && tail.back() == 'Z') tail.remove_suffix(1);
    fraction = form.seconds || tail.empty() ? parse_fraction(tail) : std::nullopt;
    if (fraction) break;
  }
  if (!fraction) return std::nullopt;
  const std::tm wanted = tm;
  const std::int64_t seconds = timegm(&tm);
  // timegm() accepts 30 February as 2 March: refused.
  if (tm.tm_mday != wanted.tm_mday || tm.tm_mon != wanted.tm_mon || tm.tm_sec != wanted.tm_sec)
    return std::nullopt;
  if (seconds > INT64_MAX / second - 1 || seconds < INT64_MIN / second + 1) return std::nullopt;
  return seconds * second + *fraction;
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

std::optional<std::int64_t> parse_absolute(const std::string& text) {
  const auto seconds = parse_seconds(text);
  return seconds ? seconds : parse_calendar(text);
}

}  // namespace

std::optional<analyze::TimeBound> parse_time(const std::string& text) {
  const bool relative = !text.empty() && text.front() == '+';
  const auto ns = relative ? parse_seconds(text.substr(1)) : parse_absolute(text);
  if (!ns || (relative && text[1] == '-')) return std::nullopt;
  return analyze::TimeBound{*ns, relative};
}

std::string time_error(const std::string& text) {
  if (parse_time(text)) return {};
  return fmt::format(
      "not a time: '{}' (2026-11-20 11:08:53.5 in UTC, also with T and Z, without seconds, or the date "
      "alone; seconds since the epoch, 1795172933.5; or +1.5, seconds after the first packet)",
      text);
}

std::string range_error(const analyze::TimeRange& times) {
  const bool alike = times.from && times.to && times.from->relative == times.to->relative;
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

void AnalyzeOptions::add_to(CLI::App& command) {
  command
      .add_option("FILE", files, "captures: pcap or pcapng, plain, .gz, .zst or .lz4; - is standard input")
      ->required();
  command
      .add_option("--from", from,
                  "only packets from this time on (UTC, epoch seconds, or +SECONDS after the first packet)")
      ->check(time_error)
      ->type_name("TIME");
  command.add_option("--to", to, "only packets up to this time")->check(time_error)->type_name("TIME");
  add_shared_to(command);
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
  command.add_option("--color", color, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN");
  add_policy_option(command, policy);
  command
      .add_option("--roce-ip-protocol", roce_ip_protocol,
                  "treat IP packets of this protocol number as RoCE directly over IP, too")
      ->check(CLI::Range(1U, 255U))
      ->type_name("N");
}

Pass run_pass(capture::CaptureSource& source, analyze::AnalysisOptions options, std::string_view label) {
  Progress progress(label);
  options.progress = [&progress](const capture::CaptureSource& s, std::uint64_t frames) {
    progress.update(s, frames);
  };
  const Interruptible interruptible(source);
  Pass pass;
  pass.snapshot = analyze::analyze(source, options);
  pass.interrupted = interruptible.interrupted();
  return pass;
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

void print_lost_verdicts(const analyze::VerdictStore& verdicts) {
  if (verdicts.lost() == 0) return;
  print_error(
      fmt::format("the analysis of {} packets could not be stored: the temporary directory (TMPDIR) is full",
                  verdicts.lost()));
}

namespace {

/// The options that change the results of the analysis, for commands in advice.
std::string same_packets(const AnalyzeOptions& options) {
  std::string text;
  const auto add_time = [&text](std::string_view name, std::string time) {
    if (time.empty()) return;
    std::replace(time.begin(), time.end(), ' ', 'T');  // one word for a shell
    text += fmt::format(" {} {}", name, time);
  };
  add_time("--from", options.from);
  add_time("--to", options.to);
  text += policy_argument(options.policy);
  if (options.no_icrc) text += " --no-icrc";
  if (options.roce_ip_protocol != 0) text += fmt::format(" --roce-ip-protocol {}", options.roce_ip_protocol);
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
  analysis.roce_ip_protocol = static_cast<std::uint8_t>(options.roce_ip_protocol);
  analysis.link_speed_bps = parse_link_speed(options.link_speed).value_or(0);
  analysis.pause_storm_ns = parse_duration(options.pause_storm).value_or(analyze::default_storm_ns);
  return analysis;
}

Analyzed analyze_files(const AnalyzeOptions& options) {
  std::optional<analyze::Filter> filter;
  if (!compile_filter(options, filter)) return {nullptr, exit_usage};
  analyze::TimeRange times;
  if (!options.from.empty()) times.from = parse_time(options.from);
  if (!options.to.empty()) times.to = parse_time(options.to);
  if (const std::string wrong = range_error(times); !wrong.empty()) {
    print_error(wrong);
    return {nullptr, exit_usage};
  }
  auto prepared = analysis_options(options);
  if (!prepared) return {nullptr, exit_usage};
  analyze::AnalysisOptions& analysis = *prepared;
  auto source = capture::open_files(options.files);
  if (!source) {
    print_error(source.error());
    return {nullptr, exit_input};
  }

  analyze::VerdictStore verdicts;
  bool interrupted = false;
  if (filter && filter->needs_analysis()) {
    if (!can_read_twice(options.files)) {
      print_error(
          "-Y: roce.connection, roce.direction and roce.analysis.* need two passes over the capture, and a "
          "pipe can be read only once: save it to a file first");
      return {nullptr, exit_usage};
    }
    analysis.verdicts = &verdicts;
    const Pass first = run_pass(**source, analysis, first_pass_label);
    interrupted = first.interrupted;
    print_lost_verdicts(verdicts);
    source = capture::open_files(options.files);
    if (!source) {
      print_error(source.error());
      return {nullptr, exit_input};
    }
    // Interrupted: the second pass reads only what the first one has read.
    if (interrupted)
      *source = limited(std::move(*source), std::max<std::uint64_t>(first.snapshot->frames_read, 1));
    analysis.verdicts = nullptr;
    analysis.known = &verdicts;
  }
  analysis.filter = filter ? &*filter : nullptr;
  analysis.filter_text = options.filter;
  analysis.same_packets = same_packets(options);
  analysis.times = times;
  const Pass pass = run_pass(**source, analysis);

  Analyzed result;
  result.snapshot = pass.snapshot;
  if (const std::string wrong =
          range_error(times, result.snapshot->frames_read, result.snapshot->first_read_ns);
      !wrong.empty()) {
    print_error(wrong);
    return {nullptr, exit_usage};
  }
  if (interrupted || pass.interrupted) {
    print_error(
        fmt::format("interrupted after {} packets; the report is about these", result.snapshot->frames_read));
  }
  for (const capture::Error& error : result.snapshot->errors) {
    print_error(error);
    result.status = exit_input;
  }
  return result;
}

}  // namespace roce::cli
