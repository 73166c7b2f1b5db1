// SPDX-License-Identifier: Apache-2.0
#include "gui/models/trace_job.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "analyze/pipeline/analysis.hpp"
#include "capture/files/reread.hpp"
#include "gui/models/shown_text.hpp"
#include "gui/models/worker_threads.hpp"

namespace roce::gui {
namespace {

/// With the verdicts of the list of packets, read in blocks: the window reads them at the same time.
analyze::ConnectionTrace traced_by(const PacketStore& packets, capture::CaptureSource& source,
                                   const analyze::TraceOptions& options, const std::stop_token& stop) {
  std::array<std::optional<analyze::Verdict>, 1024> block;
  std::uint64_t first = 1, end = 1;  // of the frames in the block
  const analyze::VerdictOf verdict_of = [&](std::uint64_t number) -> const analyze::Verdict* {
    if (number < first || number >= end) {
      first = number;
      end = number + block.size();
      packets.verdicts(first, block);
    }
    const auto& verdict = block[number - first];
    return verdict ? &*verdict : nullptr;
  };
  analyze::ConnectionTrace trace = analyze::trace_connection(source, verdict_of, options, stop);
  trace.without_verdict = packets.lost_verdicts();
  return trace;
}

constexpr const char* changed = "The capture file has changed. Reload it to see its current contents.";

}  // namespace

double TracedCapture::progress() const noexcept {
  const auto wanted = static_cast<double>(std::max<std::uint64_t>(1, wanted_));
  return std::min(1.0, static_cast<double>(done_) / wanted);
}

capture::Expected<std::unique_ptr<capture::CaptureSource>> TracedCapture::open() const {
  auto source = open_();
  if (source) *source = capture::limited(std::move(*source), frames_);
  return source;
}

bool TracedCapture::is_judged() const {
  const auto& packets = choice_.packets;
  return packets && packets->analysed() && packets->size() == frames_;
}

std::string TracedCapture::analyze() {
  done_ = 0;
  const bool judged = analyzed_ || is_judged();
  wanted_ = judged ? frames_ : 2 * frames_;
  if (judged) return {};
  auto source = open();
  if (!source) return error_text(source.error());
  analyze::AnalysisOptions options = analysis_options(choice_);
  // A stopped analysis has left incomplete verdicts.
  verdicts_ = analyze::VerdictStore();
  options.verdicts = &verdicts_;
  options.progress = [this](const capture::CaptureSource&, std::uint64_t frames) { done_ = frames; };
  const auto snapshot = analyze::analyze(**source, options, stop_.get_token());
  if (stop_.stop_requested()) return "stopped";
  if (snapshot->frames_read != frames_) return changed;
  analyzed_ = true;
  return {};
}

std::shared_ptr<TraceJob> TraceJob::start(std::shared_ptr<TracedCapture> capture,
                                          analyze::TraceOptions options, std::function<void()> wake) {
  std::shared_ptr<TraceJob> job(new TraceJob(std::move(capture), std::move(options), std::move(wake)));
  run_in_background([job] { job->run(); });
  return job;
}

TraceJob::TraceJob(std::shared_ptr<TracedCapture> capture, analyze::TraceOptions options,
                   std::function<void()> wake)
    : capture_(std::move(capture)), options_(std::move(options)), wake_(std::move(wake)) {}

void TraceJob::abandon() {
  stop_.request_stop();
  const std::lock_guard lock(mutex_);
  wake_ = nullptr;
  result_ = {};
}

TraceJob::Result TraceJob::result() {
  const std::lock_guard lock(mutex_);
  return result_;
}

void TraceJob::run() {
  Result result;
  try {
    const std::lock_guard one_at_a_time(capture_->in_use_);
    if (!stop_.stop_requested()) result = trace();
  } catch (const std::bad_alloc&) {
    result.failure = "not enough memory for the packets of this connection";
  } catch (const std::exception& problem) {
    result.failure = problem.what();
  }
  result.ended = true;
  const std::lock_guard lock(mutex_);
  if (!wake_) return;  // abandoned
  result_ = std::move(result);
  wake_();
}

TraceJob::Result TraceJob::trace() {
  Result result;
  result.failure = capture_->analyze();
  if (!result.failure.empty() || stop_.stop_requested()) return result;
  auto source = capture_->open();
  if (!source) {
    result.failure = error_text(source.error());
    return result;
  }
  const std::uint64_t before = capture_->wanted_ - capture_->frames_;
  options_.progress = [&](const capture::CaptureSource&, std::uint64_t frames) {
    capture_->done_ = before + frames;
    if (capture_->stop_.stop_requested()) stop_.request_stop();
  };
  auto trace = std::make_shared<analyze::ConnectionTrace>(
      capture_->is_judged()
          ? traced_by(*capture_->choice_.packets, **source, options_, stop_.get_token())
          : analyze::trace_connection(**source, capture_->verdicts_, options_, stop_.get_token()));
  if (trace->frames != capture_->frames_) {
    if (!stop_.stop_requested()) result.failure = changed;
    return result;
  }
  result.trace = std::move(trace);
  return result;
}

}  // namespace roce::gui
