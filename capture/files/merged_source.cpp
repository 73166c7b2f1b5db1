// SPDX-License-Identifier: Apache-2.0
#include "capture/files/merged_source.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "capture/core/paths.hpp"
#include "capture/files/same_traffic.hpp"

namespace roce::capture {
namespace {

Error memory_error() {
  Error error;
  error.kind = ErrorKind::out_of_memory;
  error.message = "not enough memory to read the capture";
  return error;
}

}  // namespace

MergedSource::MergedSource(std::vector<std::string> paths, std::vector<Error> errors,
                           const OpenOptions& options)
    : options_(options), pool_(options.open_at_most), errors_(errors.begin(), errors.end()) {
  files_.reserve(paths.size());
  lanes_.reserve(paths.size());
  for (std::string& path : paths) {
    lanes_.push_back(std::make_unique<Lane>(path, options_, stop_, pool_));
    files_.emplace_back();
    files_.back().path = std::move(path);
  }
}

WalkContext MergedSource::context_of(std::size_t lane) {
  return {&interfaces_,      &lanes_[lane]->interface_ids,     &files_[lane],
          &statistics_,      static_cast<std::uint16_t>(lane), &points_,
          lanes_[lane]->same};
}

/// Called before a file begins: it can continue the capture points of files that are nearly over.
void MergedSource::end_points() {
  constexpr std::size_t lanes_at_most = 8;  // reading ahead takes memory
  if (open_.size() > lanes_at_most) return;
  for (const std::size_t lane : open_) {
    if (nearly_over(lane)) points_.ended(static_cast<std::uint16_t>(lane));
  }
}

/// Whether all but a small rest of the file was delivered. Packets of several interfaces are not written
/// quite in time order, so the pieces of a split capture overlap slightly.
bool MergedSource::nearly_over(std::size_t number) {
  constexpr std::size_t rest_at_most = 1024;
  constexpr std::size_t share_at_most = 16;
  Lane& lane = *lanes_[number];
  if (!Input::can_reopen(files_[number].path)) return false;
  const auto rest = [&] { return lane.pending.frames.size() - lane.next; };
  while (rest() <= rest_at_most && !lane.late_error) {
    auto got = lane.input.read(lane.pending, rest_at_most + 1 - rest());
    lane.kept_in = 0;  // the batch may not have the owners of these frames yet
    if (!got) lane.late_error = std::move(got.error());
    if (got && *got == 0) break;
  }
  return rest() <= rest_at_most && rest() * share_at_most <= files_[number].packets;
}

/// Reads the time of the first frame and the descriptions of file and interfaces, then closes the file.
bool MergedSource::probe(std::size_t number) {
  Lane& lane = *lanes_[number];
  // Everything is read again later: nothing may be counted twice.
  std::vector<InterfaceInfo> interfaces;
  std::vector<std::uint32_t> ids;
  FileInfo file = files_[number];
  Statistics statistics;
  FrameBatch batch;
  auto opened = lane.input.open({&interfaces, &ids, &file, &statistics, static_cast<std::uint16_t>(number)});
  if (!opened) {
    for (std::size_t i = 0; i < std::size(statistics.incidents); ++i)
      statistics_.incidents[i] += statistics.incidents[i];
    errors_.push_back(std::move(opened.error()));
    return false;
  }
  const auto got = lane.input.read(batch, 1);
  if (got && *got == 1) lane.first_time = batch.frames[0].time_ns;
  const std::size_t described = interfaces.size();
  if (got && *got == 1 && lanes_.size() <= same_traffic_files) {
    // Errors recur when the file is read.
    static_cast<void>(lane.input.read(batch, same_traffic_frames - 1));
    lane.marks = marks_of(batch.frames);
  }
  interfaces.resize(std::min(interfaces.size(), described));
  lane.input.close();
  for (InterfaceInfo& info : interfaces) {
    if (interfaces_.size() >= largest_interface_count) break;
    info.packets = 0;
    info.dropped_before_packets = 0;
    lane.interface_ids.push_back(static_cast<std::uint32_t>(interfaces_.size()));
    interfaces_.push_back(std::move(info));
  }
  files_[number].format = file.format;
  files_[number].bytes = file.bytes;
  return true;
}

/// Files that begin with the same packets were captured at different points, even if their clocks differ so
/// much that one seems to follow the other.
void MergedSource::find_same() {
  std::vector<Marks> marks;
  for (const auto& lane : lanes_) marks.push_back(std::move(lane->marks));
  const std::vector<bool> same = show_the_same(marks);
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    lanes_[i]->same = same[i];
    shows_copies_ = shows_copies_ || same[i];
  }
}

bool MergedSource::open_lane(std::size_t number) {
  Lane& lane = *lanes_[number];
  auto opened = lane.input.open(context_of(number));
  if (!opened) {
    errors_.push_back(std::move(opened.error()));
    return false;
  }
  lane.opened = true;
  open_.push_back(number);
  may_wait_ = may_wait_ || lane.input.may_wait();
  return true;
}

void MergedSource::close_lane(std::size_t number) {
  Lane& lane = *lanes_[number];
  lane.input.close();
  lane.closed = true;
  std::erase(open_, number);
  points_.ended(static_cast<std::uint16_t>(number));
  lane.pending = {};
  lane.next = 0;
}

void MergedSource::push_due(std::int64_t time, std::size_t lane) {
  due_.push_back({time, lane});
  std::push_heap(due_.begin(), due_.end(), [](const Due& a, const Due& b) { return b < a; });
}

MergedSource::Due MergedSource::pop_due() {
  std::pop_heap(due_.begin(), due_.end(), [](const Due& a, const Due& b) { return b < a; });
  const Due earliest = due_.back();
  due_.pop_back();
  return earliest;
}

Expected<void> MergedSource::open() {
  bool any = false;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    // Pipes and single inputs are read only once: no probing.
    if (lanes_.size() == 1 || !Input::can_reopen(files_[i].path)) {
      if (!open_lane(i)) continue;
      push_due(std::numeric_limits<std::int64_t>::min(), i);
    } else {
      if (!probe(i)) continue;
      push_due(lanes_[i]->first_time, i);
    }
    any = true;
  }
  find_same();
  if (any) return {};
  Error first = errors_.empty() ? Error{ErrorKind::not_found, "", std::nullopt, "no input was named", 0}
                                : std::move(errors_.front());
  return tl::unexpected<Error>(std::move(first));
}

/// Reads the current lane into the batch; frames that are not due yet become its pending frames.
void MergedSource::read_current(FrameBatch& batch, std::size_t room) {
  const std::size_t number = current_;
  Lane& lane = *lanes_[number];
  const std::size_t first = batch.frames.size();
  const std::size_t first_kept = batch.keep_alive.size();
  const std::size_t first_origin = batch.origins.size();
  const std::size_t first_comment = batch.comments.size();
  auto got = lane.late_error ? Expected<std::size_t>(tl::unexpected<Error>(std::move(*lane.late_error)))
                             : lane.input.read(batch, room);
  if (!got || *got == 0) {
    if (got && stop_.requested()) return;
    if (!got) errors_.push_back(std::move(got.error()));
    close_lane(number);
    current_ = no_lane;
    return;
  }
  if (due_.empty()) return;
  const Due bound = due_.front();
  const auto begin = batch.frames.begin() + static_cast<std::ptrdiff_t>(first);
  const auto later = std::find_if(begin, batch.frames.end(), [&](const Frame& frame) {
    return bound < Due{frame.time_ns, number};
  });
  if (later == batch.frames.end()) return;
  lane.pending.frames.assign(later, batch.frames.end());
  // A slab begun in an earlier read of this batch is at the back of keep_alive already.
  const std::size_t from = std::min(first_kept, batch.keep_alive.size() - 1);
  lane.pending.keep_alive.assign(batch.keep_alive.begin() + static_cast<std::ptrdiff_t>(from),
                                 batch.keep_alive.end());
  lane.pending.origins.assign(batch.origins.begin() + static_cast<std::ptrdiff_t>(first_origin),
                              batch.origins.end());
  lane.pending.comments.assign(batch.comments.begin() + static_cast<std::ptrdiff_t>(first_comment),
                               batch.comments.end());
  lane.next = 0;
  lane.kept_in = batch_number_;
  batch.frames.erase(later, batch.frames.end());
  push_due(lane.pending.frames[0].time_ns, number);
  current_ = no_lane;
}

/// Called before pending frames go into this batch for the first time: adds their owners, origins and
/// comments.
void MergedSource::begin_pending(FrameBatch& batch, Lane& lane) {
  if (lane.kept_in == batch_number_) return;
  lane.kept_in = batch_number_;
  batch.keep_alive.insert(batch.keep_alive.end(), lane.pending.keep_alive.begin(),
                          lane.pending.keep_alive.end());
  batch.origins.insert(batch.origins.end(), lane.pending.origins.begin(), lane.pending.origins.end());
  batch.comments.insert(batch.comments.end(), lane.pending.comments.begin(), lane.pending.comments.end());
}

/// Moves the pending frames of lane `number` that are due before those of all others into the batch.
void MergedSource::take_pending(FrameBatch& batch, std::size_t number, std::size_t room) {
  Lane& lane = *lanes_[number];
  begin_pending(batch, lane);
  const bool bounded = !due_.empty();
  const Due bound = bounded ? due_.front() : Due{};
  const std::vector<Frame>& frames = lane.pending.frames;
  const std::size_t stop_at = lane.next + std::min(room, frames.size() - lane.next);
  std::size_t next = lane.next;
  while (next < stop_at && !(bounded && bound < Due{frames[next].time_ns, number})) ++next;
  batch.frames.insert(batch.frames.end(), frames.begin() + static_cast<std::ptrdiff_t>(lane.next),
                      frames.begin() + static_cast<std::ptrdiff_t>(next));
  lane.next = next;
  if (next < frames.size()) {
    push_due(frames[next].time_ns, number);
  } else {
    lane.pending.clear();
    lane.next = 0;
    current_ = number;
  }
}

Expected<std::size_t> MergedSource::next_batch(FrameBatch& batch, std::size_t limit) {
  const std::size_t before = batch.frames.size();
  // Every read of a stream may need another slab: a batch of large frames ends early.
  const std::size_t most_kept = batch.keep_alive.size() + 4 + 2 * lanes_.size();
  ++batch_number_;
  try {
    while (errors_.empty() && !stop_.requested()) {
      const std::size_t appended = batch.frames.size() - before;
      if (appended >= limit || (appended > 0 && batch.keep_alive.size() >= most_kept)) break;
      if (current_ != no_lane) {
        read_current(batch, limit - appended);
        // A single input: one read is enough, more would only fill memory with slabs.
        if (due_.empty() && batch.frames.size() != before) break;
        continue;
      }
      if (due_.empty()) break;
      const Due earliest = pop_due();
      Lane& lane = *lanes_[earliest.lane];
      if (!lane.opened) {
        end_points();
        if (!open_lane(earliest.lane)) continue;
      }
      if (lane.pending.frames.empty()) {
        current_ = earliest.lane;
      } else {
        take_pending(batch, earliest.lane, limit - appended);
      }
    }
  } catch (const std::bad_alloc&) {
    due_.clear();
    current_ = no_lane;
    errors_.push_back(memory_error());
  }
  const std::size_t appended = batch.frames.size() - before;
  if (appended == 0 && stop_.requested()) stopped_ = current_ != no_lane || !due_.empty() || !errors_.empty();
  if (appended > 0 || errors_.empty() || stop_.requested()) return appended;
  Error error = std::move(errors_.front());
  errors_.pop_front();
  return tl::unexpected<Error>(std::move(error));
}

Expected<std::unique_ptr<CaptureSource>> open_files(const std::vector<std::string>& paths,
                                                    const OpenOptions& options) {
  try {
    std::vector<Error> errors;
    std::vector<std::string> expanded = expand_paths(paths, errors);
    constexpr std::size_t most_files = 65'535;  // Frame::file
    if (expanded.size() > most_files) {
      return tl::unexpected<Error>(Error{ErrorKind::unsupported, expanded[most_files], std::nullopt,
                                         "more than " + std::to_string(most_files) + " files at once", 0});
    }
    OpenOptions shared = options;
    // Every open input holds slabs: with many inputs they are smaller.
    constexpr std::size_t all_slabs = 8U << 20U;
    constexpr std::size_t smallest_slab = 256U << 10U;
    if (expanded.size() > 1) {
      shared.slab_bytes = std::min(shared.slab_bytes, std::max(smallest_slab, all_slabs / expanded.size()));
    }
    auto source = std::make_unique<MergedSource>(std::move(expanded), std::move(errors), shared);
    if (auto opened = source->open(); !opened) return tl::unexpected<Error>(std::move(opened.error()));
    return source;
  } catch (const std::bad_alloc&) {
    return tl::unexpected<Error>(memory_error());
  }
}

Expected<std::unique_ptr<CaptureSource>> open_files(const std::vector<std::string>& paths) {
  return open_files(paths, OpenOptions{});
}

}  // namespace roce::capture
