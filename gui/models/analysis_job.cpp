// SPDX-License-Identifier: Apache-2.0
#include "gui/models/analysis_job.hpp"

#include <exception>
#include <new>
#include <utility>

#include "gui/models/shown_text.hpp"
#include "gui/models/worker_threads.hpp"

namespace roce::gui {

std::string range_words(const TimeSpan& times) {
  // Seconds since the epoch, as --from and --to take them, to the nanosecond.
  const auto seconds = [](std::int64_t ns) {
    constexpr std::int64_t second = 1'000'000'000;
    std::string rest = std::to_string(ns % second);
    return std::to_string(ns / second) + '.' + std::string(9 - rest.size(), '0') + rest;
  };
  return " --from " + seconds(times.from) + " --to " + seconds(times.to);
}

analyze::AnalysisOptions analysis_options(const AnalysisChoice& choice) {
  analyze::AnalysisOptions options = choice.live ? analyze::live_analysis() : analyze::AnalysisOptions();
  options.jobs = choice.jobs;
  options.check_icrc = choice.check_icrc;
  options.link_speed_bps = choice.link_speed_bps;
  options.policy = choice.policy;
  if (choice.policy) options.priorities = choice.policy->priority_map();
  options.dissecting = choice.dissect_options();
  if (choice.times) {
    const auto bound = [](std::int64_t ns) {
      return analyze::TimeBound{ns, analyze::TimeBound::Since::epoch};
    };
    options.times = {bound(choice.times->from), bound(choice.times->to)};
    options.same_packets = range_words(*choice.times);
  }
  options.same_packets += choice.dissecting.words();
  return options;
}

std::shared_ptr<AnalysisJob> AnalysisJob::start(Opener open, AnalysisChoice choice,
                                                std::function<void()> wake) {
  std::shared_ptr<AnalysisJob> job(new AnalysisJob(std::move(choice), std::move(wake)));
  run_in_background([job, open = std::move(open)] { job->run(open); });
  return job;
}

AnalysisJob::AnalysisJob(AnalysisChoice choice, std::function<void()> wake)
    : choice_(std::move(choice)), wake_(std::move(wake)) {}

void AnalysisJob::stop() {
  stop_.request_stop();
  const std::lock_guard lock(mutex_);
  if (source_ != nullptr) source_->request_stop();
}

void AnalysisJob::abandon() {
  stop();
  abandoned_.request_stop();
  const std::lock_guard lock(mutex_);
  wake_ = nullptr;
  news_ = {};
}

AnalysisJob::News AnalysisJob::take() {
  const std::lock_guard lock(mutex_);
  progress_taken_ = true;
  News news = news_;
  news_.snapshot = nullptr;
  return news;
}

void AnalysisJob::run(const Opener& open) {
  try {
    auto source = open();
    if (!source) {
      end(error_text(source.error()));
      return;
    }
    if (choice_.packets) *source = choice_.packets->watch(std::move(*source));
    {
      const std::lock_guard lock(mutex_);
      source_ = source->get();
    }
    // stop() may have been called before source_ was set.
    if (stop_.stop_requested()) (*source)->request_stop();
    analyze(**source);
    const std::lock_guard lock(mutex_);
    source_ = nullptr;
  } catch (const std::exception& problem) {
    {
      const std::lock_guard lock(mutex_);
      source_ = nullptr;
    }
    const bool memory = dynamic_cast<const std::bad_alloc*>(&problem) != nullptr;
    end(memory ? "not enough memory for this capture; `roceanalyze -Y FILTER` on a part of it needs less"
               : problem.what());
    return;
  }
  end({});
}

void AnalysisJob::analyze(capture::CaptureSource& source) {
  analyze::AnalysisOptions options = analysis_options(choice_);
  options.publish = [this](std::shared_ptr<const analyze::Snapshot> so_far) { publish(std::move(so_far)); };
  options.progress = [this](const capture::CaptureSource& from, std::uint64_t packets) {
    set_progress(from, packets);
  };
  if (choice_.packets) choice_.packets->prepare(options);
  auto snapshot = analyze::analyze(source, options, stop_.get_token());
  {
    const std::lock_guard lock(mutex_);
    progress_taken_ = true;
  }
  set_progress(source, snapshot->frames_read);
  publish(std::move(snapshot));
  if (!choice_.packets) return;
  static_cast<void>(choice_.packets->flow_ids());  // made by the first call: not by the window's thread
  choice_.packets->finish(abandoned_.get_token());
}

void AnalysisJob::set_progress(const capture::CaptureSource& source, std::uint64_t packets) {
  const std::lock_guard lock(mutex_);
  if (!progress_taken_) return;
  progress_taken_ = false;
  LoadProgress progress{0, 0, packets};
  for (const capture::FileInfo& file : source.files()) {
    progress.bytes += file.bytes_read;
    progress.size += file.bytes;
  }
  news_.progress = progress;
}

void AnalysisJob::publish(std::shared_ptr<const analyze::Snapshot> snapshot) {
  // The window drops the previous snapshot: freeing it must not take the window's time.
  snapshot = freed_in_background(std::move(snapshot));
  if (choice_.packets) choice_.packets->set_snapshot(snapshot);
  const std::lock_guard lock(mutex_);
  if (!wake_) return;  // abandoned: nobody will take it
  const bool last = snapshot->final;
  news_.snapshot = std::move(snapshot);
  // Other snapshots wait for the next take(), which limits their rate.
  if (last) wake_();
}

void AnalysisJob::end(std::string failure) {
  // Also completes the packet store, so that nobody waits for it.
  if (choice_.packets && !choice_.packets->analysed()) choice_.packets->finish(abandoned_.get_token());
  const std::lock_guard lock(mutex_);
  news_.ended = true;
  news_.failure = std::move(failure);
  if (wake_) wake_();
}

}  // namespace roce::gui
