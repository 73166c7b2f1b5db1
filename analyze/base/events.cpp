// SPDX-License-Identifier: Apache-2.0
#include "analyze/base/events.hpp"

#include <algorithm>

#include "capture/core/frame.hpp"

namespace roce::analyze {
namespace {

// Verdicts may come late, of frames long gone by: the smallest numbers stay, whenever they come.
void keep_frame(EventLog& log, std::uint64_t frame) noexcept {
  auto& frames = log.frames;
  if (frame == 0 || (frames.back() != 0 && frame > frames.back())) return;
  std::size_t at = 0;
  while (at < frames.size() && frames[at] != 0 && frames[at] < frame) ++at;
  if (at == frames.size() || frames[at] == frame) return;
  std::copy_backward(frames.begin() + static_cast<std::ptrdiff_t>(at), frames.end() - 1, frames.end());
  frames[at] = frame;
}

void drop_frame(EventLog& log, std::uint64_t frame) noexcept {
  auto& frames = log.frames;
  const auto found = std::find(frames.begin(), frames.end(), frame);
  if (frame == 0 || found == frames.end()) return;
  std::copy(found + 1, frames.end(), found);
  frames.back() = 0;
}

void keep_time(EventLog& log, std::int64_t time_ns) noexcept {
  if (time_ns == capture::no_time) return;
  if (log.first_time_ns == capture::no_time) log.first_time_ns = log.last_time_ns = time_ns;
  log.first_time_ns = std::min(log.first_time_ns, time_ns);
  log.last_time_ns = std::max(log.last_time_ns, time_ns);
}

}  // namespace

void Events::add(Event event, std::uint64_t frame, std::int64_t time_ns, std::uint64_t count) {
  if (count == 0) return;
  auto entry = std::find_if(logs_.begin(), logs_.end(), [&](const Entry& e) { return e.event == event; });
  if (entry == logs_.end()) {
    logs_.push_back({event, {}});
    entry = logs_.end() - 1;
    entry->log.first_time_ns = entry->log.last_time_ns = time_ns;
  }
  entry->log.several_at_once |= count > 1 || (frame != 0 && frame == entry->log.last_frame);
  entry->log.last_frame = frame;
  entry->log.count += count;
  keep_time(entry->log, time_ns);
  keep_frame(entry->log, frame);
}

void Events::take_back(Event event, std::uint64_t frame, std::uint64_t count) {
  const auto entry =
      std::find_if(logs_.begin(), logs_.end(), [&](const Entry& e) { return e.event == event; });
  if (entry == logs_.end()) return;
  if (entry->log.count <= count) {  // as if it had never been
    logs_.erase(entry);
    return;
  }
  entry->log.count -= count;
  drop_frame(entry->log, frame);
}

const EventLog* Events::find(Event event) const noexcept {
  for (const Entry& entry : logs_) {
    if (entry.event == event) return &entry.log;
  }
  return nullptr;
}

std::uint64_t Events::count(Event event) const noexcept {
  const EventLog* log = find(event);
  return log == nullptr ? 0 : log->count;
}

}  // namespace roce::analyze
