// SPDX-License-Identifier: Apache-2.0
#include "gui/models/compare_job.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "analyze/compare/lost_columns.hpp"
#include "analyze/filter/filter.hpp"
#include "analyze/pipeline/analysis.hpp"
#include "capture/files/reread.hpp"
#include "gui/models/confined_reading.hpp"
#include "gui/models/shown_text.hpp"
#include "gui/models/worker_threads.hpp"

namespace roce::gui {
namespace {

constexpr const char* needs_history =
    "roce.flow, roce.connection, roce.direction, roce.analysis.* and upper layers depend on other packets of "
    "a capture; a comparison can filter only by fields of single packets. To filter by the others, extract "
    "the packets of both files first: roceanalyze packets FILE -Y EXPR -w NEW";

}  // namespace

std::shared_ptr<CompareJob> CompareJob::start(Files a, Files b, std::string filter,
                                              std::function<void()> wake,
                                              const dissect::Options& dissecting) {
  std::shared_ptr<CompareJob> job(
      new CompareJob(std::move(a), std::move(b), std::move(filter), std::move(wake), dissecting));
  run_in_background([job] { job->run(); });
  return job;
}

CompareJob::CompareJob(Files a, Files b, std::string filter, std::function<void()> wake,
                       const dissect::Options& dissecting)
    : files_{std::move(a), std::move(b)},
      filter_(std::move(filter)),
      dissecting_(dissecting),
      wake_(std::move(wake)) {}

void CompareJob::stop() {
  stop_.request_stop();
  const std::lock_guard lock(mutex_);
  for (capture::CaptureSource* source : sources_) {
    if (source != nullptr) source->request_stop();
  }
}

void CompareJob::abandon() {
  stop();
  const std::lock_guard lock(mutex_);
  wake_ = nullptr;
  news_ = {};
}

CompareJob::News CompareJob::take() {
  const std::lock_guard lock(mutex_);
  return news_;
}

void CompareJob::use(std::array<capture::CaptureSource*, 2> sources) {
  {
    const std::lock_guard lock(mutex_);
    sources_ = sources;
  }
  if (!stop_.stop_requested()) return;
  for (capture::CaptureSource* source : sources) {
    if (source != nullptr) source->request_stop();
  }
}

void CompareJob::run() {
  News news;
  try {
    news = compare();
  } catch (const std::bad_alloc&) {
    news.failure = "not enough memory to compare these captures; a display filter makes them smaller";
  } catch (const std::exception& problem) {
    news.failure = problem.what();
  }
  news.ended = true;
  news.stopped = stop_.stop_requested();
  const std::lock_guard lock(mutex_);
  if (!wake_) return;  // abandoned
  news_ = std::move(news);
  wake_();
}

CompareJob::News CompareJob::compare() {
  News news;
  std::optional<analyze::Filter> filter;
  if (!filter_.empty()) {
    auto compiled = analyze::Filter::compile(filter_);
    if (!compiled) {
      news.failure = compiled.error().describe(filter_);
      return news;
    }
    if (compiled->needs_history()) {
      news.failure = needs_history;
      return news;
    }
    filter.emplace(std::move(*compiled));
  }
  Files files = files_[0];
  files.insert(files.end(), files_[1].begin(), files_[1].end());
  confine_reading(files);
  std::array<Source, 2> sources;
  std::array<analyze::ComparePoint, 2> points;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    auto source = capture::open_files(files_[i]);
    if (!source) {
      news.failure = error_text(source.error());
      return news;
    }
    sources[i] = std::move(*source);
    points[i].source = sources[i].get();
    if (!capture::can_read_twice(files_[i])) continue;
    points[i].again = [files = files_[i]]() -> Source {
      auto again = capture::open_files(files);
      return again ? std::move(*again) : nullptr;
    };
  }
  analyze::CompareOptions options;
  options.dissecting = dissecting_;
  options.filter = filter ? &*filter : nullptr;
  options.progress = [this](const capture::CaptureSource&, std::uint64_t) { set_progress(); };
  auto result = std::make_shared<analyze::CompareResult>();
  {
    const Use in_use(*this, {sources[0].get(), sources[1].get()});
    *result = analyze::compare(points[0], points[1], options);
  }
  for (const unsigned direction : {0U, 1U}) name_connections(*result, direction);
  news.result = std::move(result);
  return news;
}

void CompareJob::name_connections(analyze::CompareResult& result, unsigned direction) {
  const Files& files = files_[direction];
  const bool any =
      std::any_of(result.lost.begin(), result.lost.end(),
                  [direction](const analyze::LostPacket& lost) { return lost.direction == direction; });
  if (!any || stop_.stop_requested() || !capture::can_read_twice(files)) return;
  auto source = capture::open_files(files);
  if (!source) return;
  const Use in_use(*this, {source->get(), nullptr});
  analyze::AnalysisOptions options;
  options.dissecting = dissecting_;
  const auto report = analyze::analyze(**source, options, stop_.get_token());
  if (!stop_.stop_requested()) analyze::name_connections(result, direction, *report);
}

/// Called on the reading thread, the only one that may access the sources' files.
void CompareJob::set_progress() {
  const std::lock_guard lock(mutex_);
  std::uint64_t read = 0, all = 0;
  for (const capture::CaptureSource* source : sources_) {
    if (source == nullptr) continue;
    for (const capture::FileInfo& file : source->files()) {
      read += file.bytes_read;
      all += file.bytes;
    }
  }
  news_.progress = all == 0 ? 0 : std::min(1.0, static_cast<double>(read) / static_cast<double>(all));
}

}  // namespace roce::gui
