// SPDX-License-Identifier: Apache-2.0
#include "cli/library/passes.hpp"

#include <optional>
#include <utility>

#include "analyze/pipeline/analysis.hpp"
#include "capture/core/paths.hpp"
#include "capture/files/reading_limits.hpp"
#include "capture/files/reread.hpp"
#include "cli/library/failure.hpp"

namespace roce::library {
namespace {

std::vector<std::string> expanded(const std::vector<std::string>& paths) {
  std::vector<capture::Error> errors;
  std::vector<std::string> all = capture::expand_paths(paths, errors);
  if (all.empty() && !errors.empty()) throw Failure(std::move(errors.front()));
  // A pattern without a match is told of when it is opened by its name.
  for (capture::Error& error : errors) all.push_back(std::move(error.path));
  return all;
}

analyze::AnalysisOptions analysis_of(const Prepared& prepared) {
  analyze::AnalysisOptions analysis;
  analysis.policy = prepared.policy;
  if (prepared.policy) analysis.priorities = prepared.policy->priority_map();
  analysis.jobs = prepared.options.jobs;
  analysis.check_icrc = !prepared.options.no_icrc;
  analysis.dissecting = prepared.dissecting;
  return analysis;
}

std::unique_ptr<capture::CaptureSource> limited_by(std::unique_ptr<capture::CaptureSource> source,
                                                   const Prepared& prepared) {
  return capture::within(std::move(source), {prepared.options.max_packets, std::nullopt});
}

std::shared_ptr<const analyze::Snapshot> analyzed(capture::CaptureSource& source,
                                                  analyze::AnalysisOptions analysis, const roce_stop* stop) {
  if (stop != nullptr) {
    if (stop->requested) source.request_stop();
    analysis.progress = [&source, stop](const capture::CaptureSource&, std::uint64_t) {
      if (stop->requested) source.request_stop();
    };
  }
  return analyze::analyze(source, analysis);
}

/// As the program words them again in its advice.
std::string words_of(const roce_options& options) {
  std::string words;
  if (!options.policy.empty()) words += " --policy POLICY";
  if (options.no_icrc) words += " --no-icrc";
  if (options.max_packets != 0) words += " -c " + std::to_string(options.max_packets);
  return words + options.dissecting.words();
}

}  // namespace

Captures::Captures(std::vector<std::string> paths)
    : paths_(expanded(std::move(paths))), files_(capture::identities_of(paths_)) {}

void Captures::require_twice() const {
  if (!capture::can_read_twice(paths_))
    throw Failure(ROCE_INPUT, "",
                  "results of the analysis need two readings, and a pipe can be read only once");
}

std::unique_ptr<capture::CaptureSource> Captures::open() const {
  auto source = capture::open_files(paths_);
  if (!source) throw Failure(std::move(source.error()));
  return std::move(*source);
}

std::unique_ptr<capture::CaptureSource> Captures::open_again(std::uint64_t frames) const {
  auto source = capture::reread(open(), frames);
  if (capture::identities_of(paths_) != files_)
    throw Failure(ROCE_INPUT, paths_.front(), "was replaced by another file while it was read");
  return source;
}

std::shared_ptr<const analyze::Snapshot> report_of(const Captures& captures, const Prepared& prepared) {
  analyze::AnalysisOptions analysis = analysis_of(prepared);
  analyze::VerdictStore verdicts;
  std::unique_ptr<capture::CaptureSource> source;
  if (prepared.filter && prepared.filter->needs_analysis()) {
    captures.require_twice();
    const auto first_source = limited_by(captures.open(), prepared);
    const auto first = verdicts_of(*first_source, prepared, verdicts);
    analysis.known = &verdicts;
    analysis.known_interrupted = first->interrupted;
    analysis.known_stop_reason = first->stop_reason;
    if (first->totals.any_time) analysis.known_end_ns = first->totals.last_time_ns;
    source = captures.open_again(first->frames_read);
  } else {
    source = captures.open();
  }
  source = limited_by(std::move(source), prepared);
  analysis.filter = prepared.filter ? &*prepared.filter : nullptr;
  analysis.filter_text = prepared.options.filter;
  analysis.same_packets = words_of(prepared.options);
  return analyzed(*source, std::move(analysis), prepared.options.stop);
}

std::shared_ptr<const analyze::Snapshot> verdicts_of(capture::CaptureSource& source, const Prepared& prepared,
                                                     analyze::VerdictStore& verdicts) {
  analyze::AnalysisOptions analysis = analysis_of(prepared);
  analysis.verdicts = &verdicts;
  return analyzed(source, std::move(analysis), prepared.options.stop);
}

}  // namespace roce::library
