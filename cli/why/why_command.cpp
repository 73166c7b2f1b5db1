// SPDX-License-Identifier: Apache-2.0
// The command `why`.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "analyze/connection/find_connection.hpp"
#include "analyze/errors/log_values.hpp"
#include "analyze/packet/verdict_store.hpp"
#include "analyze/story/stretches.hpp"
#include "cli/core/analyze_options.hpp"
#include "cli/core/command.hpp"
#include "cli/core/input_files.hpp"
#include "cli/core/interrupt.hpp"
#include "cli/core/output.hpp"
#include "cli/core/output_files.hpp"
#include "cli/why/log_files.hpp"
#include "cli/why/why_text.hpp"

namespace roce::cli {
namespace {

struct WhyOptions {
  AnalyzeOptions analyze;
  std::string qp;
  std::string host;
  std::vector<std::string> logs;
  std::size_t top = 20;
  bool json = false;
  bool pretty = false;
};

/// "0x2c10", "11280", and "2c10", which can only be hexadecimal.
std::optional<std::uint32_t> parse_qp(const std::string& text) {
  if (text.find_first_not_of("0123456789abcdefABCDEFxX") != std::string::npos) return std::nullopt;
  if (const auto number = analyze::read_qp(text, false)) return number;
  return analyze::read_qp(text, true);
}

std::string qp_error(const std::string& text) {
  if (parse_qp(text)) return {};
  return fmt::format("not a queue pair number: '{}' (0x2c10 or 11280; 1 to 0xffffff)", text);
}

std::optional<dissect::IpAddress> parse_host(const std::string& text) {
  const bool plain = text.find_first_not_of("0123456789abcdefABCDEF.:") == std::string::npos;
  return plain && !text.ends_with('.') ? analyze::read_address(text) : std::nullopt;
}

std::string host_error(const std::string& text) {
  return parse_host(text) ? std::string() : fmt::format("not an address: '{}' (10.0.0.1 or fe80::1)", text);
}

std::string why_contradiction(const WhyOptions& options) {
  if (options.qp.empty() && options.logs.empty())
    return "which queue pair: --qp 0x2c10, or --log FILE with an error that names one";
  if (!options.host.empty() && options.qp.empty())
    return "--host needs --qp: it says whose queue pair is meant";
  const auto stdin_logs = std::count(options.logs.begin(), options.logs.end(), "-");
  const bool capture_too = std::find(options.analyze.files.begin(), options.analyze.files.end(), "-") !=
                           options.analyze.files.end();
  if (stdin_logs + (capture_too ? 1 : 0) > 1) return "standard input (-) can be read only once";
  return {};
}

/// Of a story by number, the errors of its connections; without a number the queue pairs of all errors.
std::vector<analyze::QueuePair> queue_pairs_of(const analyze::Snapshot& snapshot,
                                               const std::vector<analyze::JoinedError>& errors) {
  std::vector<analyze::QueuePair> all;
  std::set<std::uint32_t> known;
  for (const analyze::JoinedError& error : errors) {
    for (const analyze::ErrorMatch& match : error.matches) {
      if (!known.insert(match.connection).second) continue;
      analyze::QueuePair pair;
      pair.connection = match.connection;
      pair.side = match.side;
      all.push_back(pair);
    }
  }
  std::stable_sort(all.begin(), all.end(), [&](const analyze::QueuePair& a, const analyze::QueuePair& b) {
    return find_connection(snapshot.connections, a.connection)->first_frame <
           find_connection(snapshot.connections, b.connection)->first_frame;
  });
  return all;
}

/// Whether the error is of one of these queue pairs, or of nobody known.
bool concerns(const analyze::JoinedError& error, const std::vector<analyze::QueuePair>& pairs) {
  if (error.matches.empty()) return true;
  return std::any_of(error.matches.begin(), error.matches.end(), [&](const analyze::ErrorMatch& match) {
    return std::any_of(pairs.begin(), pairs.end(),
                       [&](const analyze::QueuePair& pair) { return pair.connection == match.connection; });
  });
}

/// Counts what lies between the events, in a second reading where that is possible.
void add_stretches(const WhyOptions& options, const analyze::Snapshot& snapshot,
                   analyze::VerdictStore& verdicts, std::vector<analyze::Story>& stories) {
  if (stories.empty() || !options.analyze.filter.empty())
    return;  // a filter leaves packets out of all counts
  const std::unique_ptr<capture::CaptureSource> source = read_again(options.analyze, snapshot);
  if (!source) return;
  analyze::StretchCounter counter;
  for (const analyze::Story& story : stories) counter.want(story);
  {
    const Interruptible interruptible(*source);
    analyze::TimeRange times;
    if (!options.analyze.from.empty()) times.from = parse_time(options.analyze.from);
    if (!options.analyze.to.empty()) times.to = parse_time(options.analyze.to);
    count_stretches(*source, verdicts, times, counter);
  }
  for (analyze::Story& story : stories) counter.add_to(story);
}

int run_why(const WhyOptions& options) {
  if (const std::string wrong = why_contradiction(options); !wrong.empty())
    return usage_error("why: " + wrong);
  if (writes_to_input(options.analyze.files, options.logs)) return exit_usage;
  const std::optional<LogFiles> logs = LogFiles::open(options.logs);
  if (!logs) return exit_input;
  analyze::VerdictStore verdicts;
  const Analyzed result = analyze_files(options.analyze, {}, &verdicts);
  if (!result.snapshot) return result.status;
  const analyze::Snapshot& snapshot = *result.snapshot;
  int status = status_with_findings(result, options.analyze);

  analyze::Stories told;
  told.logs = logs->read(status);
  told.errors = join_errors(snapshot, told.logs);
  std::vector<analyze::QueuePair> pairs = queue_pairs_of(snapshot, told.errors);
  if (!options.qp.empty()) {
    analyze::SoughtQueuePair sought;
    sought.number = *parse_qp(options.qp);
    if (!options.host.empty()) sought.host = parse_host(options.host);
    pairs = find_queue_pairs(snapshot, sought);
    if (pairs.empty()) return usage_error("why: " + not_found_text(snapshot, sought));
    std::erase_if(told.errors, [&](const analyze::JoinedError& error) { return !concerns(error, pairs); });
  }
  const std::size_t all = pairs.size();
  if (options.top != 0 && all > options.top) pairs.resize(options.top);
  for (const analyze::QueuePair& pair : pairs) told.stories.push_back(tell(snapshot, pair));
  add_stretches(options, snapshot, verdicts, told.stories);

  if (options.json) {
    Output out(Encoding::utf8);
    stories_json(snapshot, told, options.pretty, out.sink());
    return out.finish(status);
  }
  const ReportStyle style{text_width(), want_color(options.analyze.color)};
  return print_text(why_text(snapshot, told, all - pairs.size(), style), status);
}

}  // namespace

void add_why(CLI::App& app, Action& action) {
  auto options = std::make_shared<WhyOptions>();
  CLI::App* command = app.add_subcommand(
      "why",
      "the story of one queue pair in order of time, and what the wire shows of errors that were logged");
  options->analyze.add_to(*command);
  command->add_option("--qp", options->qp, "number of the queue pair, of either end (0x2c10 or 11280)")
      ->check(qp_error)
      ->type_name("N");
  command->add_option("--host", options->host, "only a queue pair at this address")
      ->check(host_error)
      ->type_name("ADDRESS");
  command
      ->add_option(
          "--log", options->logs,
          "log of NCCL, UCX, libfabric, perftest or the kernel; - is standard input; may be repeated")
      ->check(empty_error)
      ->allow_extra_args(false)
      ->type_name("FILE");
  command->add_option("--top", options->top, "stories to tell (0 = all)")
      ->check(number_error)
      ->type_name("N");
  command->add_flag("--json", options->json, "one JSON object");
  command->add_flag("--pretty", options->pretty, "JSON with line breaks and indentation");
  command->callback([options, &action] { action = [options] { return run_why(*options); }; });
}

}  // namespace roce::cli
