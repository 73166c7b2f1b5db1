// SPDX-License-Identifier: Apache-2.0
// The command `compare`.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>

#include "analyze/compare/compare.hpp"
#include "analyze/compare/lost_columns.hpp"
#include "cli/compare/compare_report.hpp"
#include "cli/core/analyze_options.hpp"
#include "cli/core/command.hpp"
#include "cli/core/confined_inputs.hpp"
#include "cli/core/dissect_options.hpp"
#include "cli/core/fail_on.hpp"
#include "cli/core/input_files.hpp"
#include "cli/core/interrupt.hpp"
#include "cli/core/output.hpp"
#include "cli/core/output_files.hpp"
#include "cli/core/progress.hpp"

namespace roce::cli {
namespace {

constexpr std::size_t least_window = 1024;
constexpr std::size_t largest_window = std::size_t{1} << 26U;

/// The captures of one point, merged in time order as in a report.
using Files = std::vector<std::string>;

struct CompareCommand {
  std::string a, b;
  Files more_a, more_b;
  std::string filter;
  std::string from, to;
  std::string fail_on;
  std::string color = "auto";
  std::size_t top = 20;
  std::size_t window = analyze::CompareOptions().window_packets;
  DissectOptions dissecting;
  unsigned jobs = 0;  ///< threads; 0 = one per core
  ReadingOptions reading;
  bool no_icrc = false;
  bool no_sandbox = false;
  bool json = false;
  bool pretty = false;
  bool csv = false;
  bool repeats = false;
};

using Source = std::unique_ptr<capture::CaptureSource>;

Files files_of(const std::string& first, const Files& more) {
  Files files{first};
  files.insert(files.end(), more.begin(), more.end());
  return files;
}

Source open(const Files& files, const capture::ReadingLimits& limits, bool aloud) {
  auto source = capture::open_files(files);
  if (source) return within(std::move(*source), limits);
  if (aloud) print_error(source.error());
  return nullptr;
}

/// Sets the connection numbers of lost and repeated packets to those in the report of their file. If it
/// cannot be read again, that is an error of its point.
void name_connections(const Files& files, unsigned direction, const CompareCommand& options,
                      const capture::ReadingLimits& limits, analyze::CompareResult& result) {
  const auto has_any = [direction](const auto& rows) {
    return std::any_of(rows.begin(), rows.end(),
                       [direction](const auto& row) { return row.direction == direction; });
  };
  if (!(has_any(result.lost) || has_any(result.repeats)) || !can_read_twice(files)) return;
  std::vector<capture::Error>& errors = result.points[direction].errors;
  auto source = capture::open_files(files);
  if (!source) {
    errors.push_back(source.error());
    return;
  }
  *source = within(std::move(*source), limits);
  analyze::AnalysisOptions analysis;
  analysis.jobs = options.jobs;
  analysis.check_icrc = !options.no_icrc;
  analysis.dissecting = options.dissecting.with(nullptr);
  const auto snapshot = run_pass(**source, analysis, "connections ");
  // Errors of the comparison itself recur here.
  if (errors.empty()) errors = snapshot->errors;
  if (snapshot->interrupted) {
    result.points[direction].interrupted = true;
    result.points[direction].stop_reason = snapshot->stop_reason;
  }
  analyze::name_connections(result, direction, *snapshot);
}

analyze::ComparePoint point_of(const Source& source, const Files& files,
                               const capture::ReadingLimits& limits) {
  analyze::ComparePoint point;
  point.source = source.get();
  if (can_read_twice(files)) point.again = [files, limits] { return open(files, limits, false); };
  return point;
}

int print_comparison(const CompareCommand& options, const analyze::CompareResult& result, int status) {
  Output out(options.json || options.csv ? Encoding::utf8 : Encoding::locale);
  if (options.json) {
    compare_json(result, options.pretty, out.sink());
  } else if (options.csv) {
    out.write(compare_csv(result, options.repeats));
  } else {
    out.write(compare_text(result, {text_width(), want_color(options.color), options.top}));
  }
  const int written = out.finish();
  return written != exit_ok ? written : status;
}

/// Two sources that are stopped together by Ctrl-C.
class StopBoth final : public capture::CaptureSource {
 public:
  StopBoth(capture::CaptureSource& a, capture::CaptureSource& b) : a_(a), b_(b) {}
  capture::Expected<std::size_t> next_batch(capture::FrameBatch& batch, std::size_t limit) override {
    return a_.next_batch(batch, limit);
  }
  [[nodiscard]] const std::vector<capture::InterfaceInfo>& interfaces() const override {
    return a_.interfaces();
  }
  [[nodiscard]] const std::vector<capture::FileInfo>& files() const override { return a_.files(); }
  [[nodiscard]] const capture::Statistics& statistics() const override { return a_.statistics(); }
  void request_stop() noexcept override {
    a_.request_stop();
    b_.request_stop();
  }
  [[nodiscard]] bool stopped() const noexcept override { return a_.stopped() || b_.stopped(); }
  [[nodiscard]] capture::StopReason stop_reason() const noexcept override {
    return a_.stopped() ? a_.stop_reason() : b_.stop_reason();
  }

 private:
  capture::CaptureSource& a_;
  capture::CaptureSource& b_;
};

/// Which packets of both files are compared.
struct Choice {
  std::optional<analyze::Filter> filter;
  analyze::TimeRange times;
};

/// None after a message.
std::optional<Choice> choice_of(const CompareCommand& options) {
  Choice choice;
  if (!options.filter.empty()) {
    auto compiled = analyze::Filter::compile(options.filter);
    if (!compiled) {
      print_filter_error(compiled.error(), options.filter);
      return std::nullopt;
    }
    if (compiled->needs_history()) {
      print_error(
          "compare -Y: only fields of single packets can be used, not roce.flow, roce.connection, "
          "roce.direction, roce.analysis.* and upper layers. For these filter both files first: roceanalyze "
          "packets FILE -Y EXPR -w NEW");
      return std::nullopt;
    }
    choice.filter.emplace(std::move(*compiled));
  }
  if (!options.from.empty()) choice.times.from = parse_time(options.from);
  if (!options.to.empty()) choice.times.to = parse_time(options.to);
  if (const std::string wrong = range_error(choice.times); !wrong.empty()) {
    print_error(wrong);
    return std::nullopt;
  }
  return choice;
}

int run_compare(const CompareCommand& options) {
  const Files files_a = expanded_files(files_of(options.a, options.more_a)),
              files_b = expanded_files(files_of(options.b, options.more_b));
  if (std::count(files_a.begin(), files_a.end(), "-") + std::count(files_b.begin(), files_b.end(), "-") > 1) {
    print_error("compare: only one of the captures can be standard input");
    return exit_usage;
  }
  if (writes_to_input(files_a) || writes_to_input(files_b)) return exit_usage;
  const std::optional<Choice> choice = choice_of(options);
  if (!choice) return exit_usage;
  Files files = files_a;
  files.insert(files.end(), files_b.begin(), files_b.end());
  const ConfinedInputs confined(files, options.no_sandbox);
  const capture::ReadingLimits limits = options.reading.limits();
  const Source a = open(files_a, limits, true), b = open(files_b, limits, true);
  if (a == nullptr || b == nullptr) return exit_input;
  analyze::CompareOptions compare;
  compare.check_icrc = !options.no_icrc;
  compare.dissecting = options.dissecting.with(nullptr);
  compare.window_packets = std::bit_ceil(options.window);
  compare.filter = choice->filter ? &*choice->filter : nullptr;
  compare.times = choice->times;
  Progress progress;
  compare.progress = [&progress](const capture::CaptureSource& source, std::uint64_t frames) {
    progress.update(source, frames);
  };
  StopBoth both(*a, *b);
  analyze::CompareResult result;
  {
    const Interruptible interruptible(both);
    result = analyze::compare(point_of(a, files_a, limits), point_of(b, files_b, limits), compare);
  }
  progress.clear();
  // The first N packets can be read once more, but nobody who ends the reading waits for that.
  if (!both.stopped() || both.stop_reason() == capture::StopReason::frame_limit) {
    name_connections(files_a, 0, options, limits, result);
    name_connections(files_b, 1, options, limits, result);
  }
  int status = report_incompleteness(verdict_of(result));
  if (status == exit_ok && reaches(verdict_of(result), options.fail_on)) status = exit_findings;
  return print_comparison(options, result, status);
}

}  // namespace

void add_compare(CLI::App& app, Action& action) {
  auto options = std::make_shared<CompareCommand>();
  CLI::App* command = app.add_subcommand(
      "compare", "compare captures of the same traffic at two points: loss, delay, reordering, re-marking");
  command->add_option("A", options->a, "a capture; - is standard input")->required();
  command->add_option("B", options->b, "a capture of the same traffic at another point")->required();
  const auto more = [command](const char* name, Files& files, const char* help) {
    command->add_option(name, files, help)
        ->type_name("FILE")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
  };
  more("--more-a", options->more_a,
       "another capture of A's point, merged with A in time order; may be repeated");
  more("--more-b", options->more_b, "the same for B's point");
  command->add_option("-Y", options->filter, "display filter: compare only packets that match")
      ->type_name("EXPR");
  command
      ->add_option("--from", options->from,
                   "only packets from this time on, by the clock of each file (a date, in UTC or with a "
                   "zone, a time of day, "
                   "epoch seconds, or +SECONDS after the file's first packet)")
      ->check(time_error)
      ->type_name("TIME");
  command->add_option("--to", options->to, "only packets up to this time")
      ->check(time_error)
      ->type_name("TIME");
  options->reading.add_to(*command,
                          "compare the first N packets of each point only, counted before filters; marked as "
                          "incomplete, exit status 3, if there are more");
  command->add_option("--top", options->top, "lost packets and rows of retransmissions to list (0 = all)")
      ->check(number_error)
      ->type_name("N");
  command
      ->add_option("--window", options->window,
                   "packets of both captures buffered for matching (a power of two, 80 bytes each)")
      ->check(CLI::Range(least_window, largest_window))
      ->type_name("N");
  add_fail_on_option(*command, options->fail_on);
  command
      ->add_option(
          "--jobs", options->jobs,
          "number of threads for connection numbers (default: one per core); does not change the output")
      ->check(CLI::Range(1U, 256U))
      ->type_name("N");
  command->add_flag("--no-icrc", options->no_icrc, "do not check ICRCs");
  add_sandbox_option(*command, options->no_sandbox);
  command->add_option("--color", options->color, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN");
  options->dissecting.add_to(*command);
  auto* csv = command->add_flag("--csv", options->csv, "the lost packets as CSV");
  command->add_flag("--repeats", options->repeats, "with --csv: what was sent again, and why")->needs(csv);
  auto* json = command->add_flag("--json", options->json, "one JSON object");
  csv->excludes(json);
  command->add_flag("--pretty", options->pretty, "JSON with line breaks and indentation");
  command->callback([options, &action] { action = [options] { return run_compare(*options); }; });
}

}  // namespace roce::cli
