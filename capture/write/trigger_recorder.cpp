// SPDX-License-Identifier: Apache-2.0
#include "capture/write/trigger_recorder.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace roce::capture {
namespace {

constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();
// With each batch at least so many buffered bytes are written, and at least twice the bytes of the batch.
constexpr std::size_t least_written = 4U << 20U;
constexpr std::size_t frames_at_once = 1024;
constexpr std::int64_t sample_ns = 100'000'000;
constexpr std::size_t most_requests = 1000;  // waiting for their file
constexpr std::size_t most_trigger_notices = 100;

/// Saturating addition of times.
std::int64_t plus(std::int64_t time_ns, std::int64_t ns) noexcept {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(time_ns, ns, &sum)) return sum;
  return ns < 0 ? INT64_MIN : INT64_MAX;
}

std::string seconds_text(std::int64_t ns) {
  const std::int64_t tenths = std::max<std::int64_t>(ns, 0) / 100'000'000;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

}  // namespace

TriggerRecorder::TriggerRecorder(TriggerOptions options, std::unique_ptr<Recorder> stream)
    : options_(std::move(options)),
      held_(options_.memory_bytes),
      last_frame_(options_.recorder.clocks.steady()),
      file_began_(last_frame_),
      stream_(std::move(stream)) {}

TriggerRecorder::~TriggerRecorder() = default;

void TriggerRecorder::trigger(std::string reason, std::int64_t time_ns) {
  const std::lock_guard lock(mutex_);
  trigger_at(std::move(reason), time_ns);
}

void TriggerRecorder::trigger_now(std::string reason) {
  const std::lock_guard lock(mutex_);
  const Clocks& clocks = options_.recorder.clocks;
  const std::chrono::nanoseconds since = clocks.steady() - last_frame_;
  const std::chrono::nanoseconds wall = clocks.wall().time_since_epoch();
  trigger_at(std::move(reason), now_ns_ == INT64_MIN ? wall.count() : plus(now_ns_, since.count()));
}

void TriggerRecorder::trigger_at(std::string reason, std::int64_t time_ns) {
  std::int64_t from = plus(time_ns, -options_.before.count());
  const std::int64_t to = plus(time_ns, options_.after.count());
  bool told = false;  // the reason is in the previous file
  if (error_) return;
  if (recorder_ != nullptr && from <= until_ns_) {
    const std::int64_t end = end_of(from_ns_);
    until_ns_ = std::max(until_ns_, std::min(to, end));
    told = time_ns <= end;
    if (told) recorder_->comment(reason);
    if (to <= end) return;
    from = plus(end, 1);  // the rest is for the next file
  }
  if (!requests_.empty() && from <= plus(requests_.back().to_ns, 1)) {
    Request& last = requests_.back();
    const std::int64_t end = end_of(last.from_ns);
    last.to_ns = std::max(last.to_ns, std::min(to, end));
    if (time_ns <= end) {
      if (last.reason.size() < 4096) last.reason += "\n" + reason;
      last.rest = last.rest && told;
      told = true;
    }
    if (to <= end) return;
    from = plus(end, 1);
  }
  if (requests_.size() < most_requests) {
    requests_.push_back({std::move(reason), from, to, told});
  } else {
    ++refused_;
  }
}

std::size_t TriggerRecorder::record(std::span<const Frame> frames,
                                    const std::vector<InterfaceInfo>& interfaces) {
  const std::lock_guard lock(mutex_);
  if (error_) return frames.size();
  std::size_t bytes = 0;
  for (const Frame& frame : frames) {
    make_room_for(frame);
    hold(frame);
    bytes += frame.captured;
  }
  interfaces_ = interfaces;
  if (!frames.empty()) last_frame_ = options_.recorder.clocks.steady();
  sample(interfaces);
  write_some(std::max(least_written, 2 * bytes));
  if (recorder_ == nullptr) forget_old();
  return frames.size();
}

bool TriggerRecorder::ended() const {
  const std::lock_guard lock(mutex_);
  return error_.has_value();
}

std::optional<Error> TriggerRecorder::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

void TriggerRecorder::tick() {
  const std::lock_guard lock(mutex_);
  if (error_) return;
  write_some(8 * least_written);
  if (stream_) {
    stream_->tick();
    error_ = stream_->error();
  }
  if (error_ || recorder_ == nullptr) return;
  if (file_) file_->tick();
  // Without packets, packet time stands still and would never end the file.
  const auto idle = options_.recorder.clocks.steady() - std::max(last_frame_, file_began_);
  if (held_.empty() && idle > options_.after + std::chrono::seconds(1)) end_file();
}

Expected<void> TriggerRecorder::finish(const std::vector<InterfaceInfo>& interfaces) {
  const std::lock_guard lock(mutex_);
  if (!interfaces.empty()) interfaces_ = interfaces;
  if (!error_) write_some(everything);
  if (recorder_ != nullptr) end_file();
  if (stream_) {
    if (auto done = stream_->finish(interfaces_); !done && !error_) error_ = std::move(done.error());
  }
  if (error_) return tl::unexpected<Error>(*error_);
  return {};
}

RecordingSummary TriggerRecorder::summary() const {
  const std::lock_guard lock(mutex_);
  RecordingSummary sum = stream_ ? stream_->summary() : closed_;
  if (file_) {
    const RecordingSummary present = file_->summary();
    sum.given += present.given;
    sum.packets += present.packets;
    sum.bytes += present.bytes;
    sum.files += present.files;
    sum.last_path = present.last_path;
  }
  if (stream_) sum.notices = closed_.notices;
  sum.refused_triggers = refused_;
  return sum;
}

/// The latest time of a file that begins at `from_ns`.
std::int64_t TriggerRecorder::end_of(std::int64_t from_ns) const noexcept {
  const std::int64_t least = plus(options_.before.count(), options_.after.count());
  return plus(from_ns, std::max<std::int64_t>(options_.longest.count(), least));
}

/// Keeps counts over time, so that a file can state the drops of its own time span.
void TriggerRecorder::sample(const std::vector<InterfaceInfo>& interfaces) {
  if (!samples_.empty() && now_ns_ < plus(samples_.back().time_ns, sample_ns) &&
      now_ns_ >= samples_.back().time_ns)
    return;
  Sample next;
  next.time_ns = now_ns_;
  for (const InterfaceInfo& info : interfaces) next.counts.push_back(InterfaceCounts::of(info));
  samples_.push_back(std::move(next));
  const std::int64_t oldest = held_.empty() ? now_ns_ : held_.front().front().time_ns;
  while (samples_.size() > 1 && samples_[1].time_ns <= oldest) samples_.pop_front();
  // If the clock is set back, samples never become old enough to be removed.
  constexpr std::size_t most_samples = 10'000;
  if (samples_.size() > most_samples) samples_.pop_front();
}

void TriggerRecorder::hold(const Frame& frame) {
  if (frame.time_ns != no_time) now_ns_ = frame.time_ns;
  held_.push(frame, now_ns_);
}

void TriggerRecorder::make_room_for(const Frame& frame) {
  // Frames that belong into a file are written, older ones are dropped and missing for later triggers.
  for (std::uint64_t before = UINT64_MAX; held_.full_for(frame.captured) && held_.count() < before;) {
    before = held_.count();
    write_some(least_written);
  }
  while (!held_.empty() && held_.full_for(frame.captured)) {
    forgotten_ns_ = held_.front().front().time_ns;
    held_.pop();
  }
}

/// Drops frames that are too old for any later trigger.
void TriggerRecorder::forget_old() {
  const std::int64_t span = options_.before.count() + options_.lag.count();
  while (!held_.empty()) {
    const std::int64_t time = held_.front().front().time_ns;
    // If the clock was set, frames from before are far in the past or the future: dropped too.
    if (time >= plus(now_ns_, -span) && time <= plus(now_ns_, span)) return;
    held_.pop();
  }
}

/// Writes buffered frames that belong into a file, about `budget` bytes.
void TriggerRecorder::write_some(std::size_t budget) {
  while (!error_ && (recorder_ != nullptr || !requests_.empty())) {
    if (recorder_ == nullptr && requests_.front().rest && held_.empty())
      return;  // none of its frames has arrived yet
    if (recorder_ == nullptr && !begin_file()) continue;
    std::size_t frames = 0;
    std::size_t bytes = 0;
    const std::span<const HeldFrames::Held> held =
        held_.empty() ? std::span<const HeldFrames::Held>() : held_.front();
    while (frames < held.size() && frames < frames_at_once && bytes < budget &&
           held[frames].time_ns <= until_ns_) {
      bytes += held[frames].frame.captured;
      ++frames;
    }
    if (frames == 0) {
      // Nothing is buffered, or the budget is used up; otherwise the time of this file is over.
      if (held.empty() || budget == 0) return;
      end_file();
      continue;
    }
    give(frames);
    budget -= std::min(budget, bytes);
    if (budget == 0) return;
  }
}

/// Opens the file of the oldest request and drops frames from before its time. False: there is none.
bool TriggerRecorder::begin_file() {
  const Request request = std::move(requests_.front());
  requests_.pop_front();
  while (!held_.empty() && held_.front().front().time_ns < request.from_ns) held_.pop();
  if (request.rest && (held_.empty() || held_.front().front().time_ns > request.to_ns)) {
    if (held_.empty()) requests_.push_front(request);
    return false;
  }
  const bool many = options_.most_files != 0 && names_ >= options_.most_files;
  if (many || full_) {
    ++refused_;
    return false;
  }
  ++names_;
  if (stream_) {
    stream_->comment(request.reason);
    recorder_ = stream_.get();
  } else if (auto opened = open_file(request); !opened) {
    error_ = std::move(opened.error());
    return false;
  }
  if (const std::string cut = cut_text(request); !cut.empty()) {
    if (stream_) stream_->comment(cut);
    note(recorder_->summary().last_path + ": " + cut);
  }
  file_began_ = options_.recorder.clocks.steady();
  from_ns_ = request.from_ns;
  until_ns_ = request.to_ns;
  return true;
}

/// What the time before a trigger lacks; empty: nothing.
std::string TriggerRecorder::cut_text(const Request& request) const {
  if (forgotten_ns_ < request.from_ns) return {};
  const std::string missing =
      held_.empty() ? "all of it"
                    : "its first " + seconds_text(held_.front().front().time_ns - request.from_ns);
  return "the memory for the time before a trigger was too small (--trigger-memory): missing is " + missing;
}

Expected<void> TriggerRecorder::open_file(const Request& request) {
  RecorderOptions recorder = options_.recorder;
  recorder.name_as_ring = true;
  recorder.first_number = names_;
  recorder.section.comments = {request.reason};
  recorder.all_bytes = options_.most_bytes == 0 ? 0 : options_.most_bytes - closed_.bytes;
  std::vector<InterfaceCounts> bases;
  for (const Sample& each : samples_) {
    if (each.time_ns > request.from_ns && !bases.empty()) break;
    bases = each.counts;
  }
  if (const std::string cut = cut_text(request); !cut.empty()) recorder.section.comments.back() += "\n" + cut;
  auto made = Recorder::create(std::move(recorder), interfaces_, std::move(bases));
  if (!made) return tl::unexpected<Error>(std::move(made.error()));
  file_ = std::move(*made);
  recorder_ = file_.get();
  return {};
}

/// A stream goes on.
void TriggerRecorder::end_file() {
  recorder_ = nullptr;
  if (stream_) {
    error_ = stream_->error();
    return;
  }
  const std::unique_ptr<Recorder> ending = std::move(file_);
  if (auto done = ending->finish(interfaces_); !done) error_ = std::move(done.error());
  const RecordingSummary sum = ending->summary();
  closed_.given += sum.given;
  closed_.packets += sum.packets;
  closed_.bytes += sum.bytes;
  closed_.files += sum.files;
  closed_.last_path = sum.last_path;
  for (const std::string& each : sum.notices) note(each);
}

/// Writes the oldest frames to the file.
void TriggerRecorder::give(std::size_t frames) {
  giving_.clear();
  for (const HeldFrames::Held& held : held_.front().first(frames)) giving_.push_back(held.frame);
  recorder_->record(giving_, interfaces_);
  held_.pop(frames);
  if (!recorder_->ended()) return;
  if (!recorder_->error()) {
    full_ = true;
    note(recorder_->summary().last_path + ": ends early, the size limit of all files together was reached");
  }
  end_file();
}

void TriggerRecorder::note(std::string text) {
  if (closed_.notices.size() < most_trigger_notices) closed_.notices.push_back(std::move(text));
}

}  // namespace roce::capture
