// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/proof.hpp"

#include <algorithm>

#include "capture/core/frame.hpp"

namespace roce::analyze {

void Proof::add(const EventLog* log) {
  if (log == nullptr) return;
  count += log->count;
  for (const std::uint64_t frame : log->frames) add_frame(frame);
  add_time(log->first_time_ns);
  add_time(log->last_time_ns);
}

void Proof::add(const Proof& other) {
  count += other.count;
  for (const std::uint64_t frame : other.frames) add_frame(frame);
  if (other.first_time_ns) add_time(*other.first_time_ns);
  if (other.last_time_ns) add_time(*other.last_time_ns);
}

void Proof::add_frame(std::uint64_t frame) {
  if (frame == 0) return;
  const auto at = std::lower_bound(frames.begin(), frames.end(), frame);
  if (at != frames.end() && *at == frame) return;
  frames.insert(at, frame);
  if (frames.size() > kept) frames.pop_back();
}

void Proof::add_time(std::int64_t time_ns) {
  if (time_ns == capture::no_time) return;
  first_time_ns = std::min(first_time_ns.value_or(time_ns), time_ns);
  last_time_ns = std::max(last_time_ns.value_or(time_ns), time_ns);
}

}  // namespace roce::analyze
