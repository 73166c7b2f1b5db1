// SPDX-License-Identifier: Apache-2.0
#include "analyze/story/stretches.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/texts.hpp"
#include "analyze/story/story_parts.hpp"

namespace roce::analyze {
namespace {

constexpr std::uint64_t to_the_end = ~std::uint64_t{0};

/// Whether packets before and behind the line are different stretches.
bool divides(const StoryLine& line) noexcept {
  return line.first_packet != 0 && (line.kind == StoryKind::incident || line.kind == StoryKind::silence);
}

std::string name_of(const Story& story, unsigned side) {
  Connection ends;
  ends.ends = story.ends;
  return who(ends, side);
}

/// `over`: a queue pair had ended before.
StoryLine steady_line(const Story& story, const Stretch& stretch, bool over) {
  const std::int64_t span =
      stretch.first_ns == capture::no_time ? 0 : span_ns(stretch.first_ns, stretch.last_ns);
  std::string text = over ? "after that" : story.judged ? "in order" : "captured";
  if (span > 0) text += (over ? ", for " : " for ") + duration_text(span);
  text += ':';
  std::string_view comma = " ";
  for (unsigned side = 0; side < 2; ++side) {
    if (stretch.packets[side] == 0) continue;
    text += fmt::format("{}{} from {}", comma, packets_text(stretch.packets[side]), name_of(story, side));
    comma = ", ";
  }
  if (const double bps =
          mean_rate_bps(stretch.bytes[0] + stretch.bytes[1], stretch.first_ns, stretch.last_ns);
      span > 0 && bps > 0)
    text += ", " + rate_text(bps);
  if (stretch.answer_ns.count() != 0)
    text += fmt::format("; answers take {} (median), {} at most",
                        wait_text(stretch.answer_ns.percentile(0.5)), wait_text(stretch.answer_ns.max()));
  StoryLine line = line_at(StoryKind::steady, stretch.first_packet, stretch.last_packet, std::move(text));
  line.time_ns = stretch.first_ns;
  line.end_ns = stretch.last_ns;
  return line;
}

}  // namespace

void StretchCounter::want(const Story& story) {
  if (story.of.connection == QueuePair::none) return;
  std::vector<Stretch>& stretches = stretches_[story.of.connection];
  if (!stretches.empty()) return;
  std::uint64_t from = 1;
  const auto until = [&](std::uint64_t last) {
    if (from > last) return;
    Stretch& stretch = stretches.emplace_back();
    stretch.connection = story.of.connection;
    stretch.first = from;
    stretch.last = last;
  };
  for (const StoryLine& line : story.lines) {
    if (line.first_packet != 0 && line.time_ns == capture::no_time)
      times_[line.first_packet] = capture::no_time;
    if (!divides(line)) continue;
    // The packet before a silence belongs to what was before it.
    until(line.kind == StoryKind::silence ? line.first_packet : line.first_packet - 1);
    from = std::max(from, line.last_packet + 1);
  }
  until(to_the_end);
}

void StretchCounter::count(std::uint64_t number, const capture::Frame& frame, const Verdict* verdict) {
  if (!times_.empty()) {
    if (const auto wanted = times_.find(number); wanted != times_.end()) wanted->second = frame.time_ns;
  }
  if (verdict == nullptr || verdict->connection == Verdict::no_connection) return;
  if (verdict->has(Verdict::duplicate_capture)) return;
  const auto of = stretches_.find(verdict->connection);
  if (of == stretches_.end()) return;
  const auto found = std::lower_bound(of->second.begin(), of->second.end(), number,
                                      [](const Stretch& each, std::uint64_t n) { return each.last < n; });
  if (found == of->second.end() || number < found->first) return;
  const unsigned side = verdict->has(Verdict::b_to_a) ? 1 : 0;
  ++found->packets[side];
  found->bytes[side] += frame.wire;
  if (found->first_packet == 0) found->first_packet = number;
  found->last_packet = number;
  if (verdict->has(Verdict::response_time_known) && verdict->response_time_ns >= 0)
    found->answer_ns.add(static_cast<std::uint64_t>(verdict->response_time_ns));
  if (frame.time_ns == capture::no_time) return;
  if (found->first_ns == capture::no_time) found->first_ns = found->last_ns = frame.time_ns;
  found->first_ns = std::min(found->first_ns, frame.time_ns);
  found->last_ns = std::max(found->last_ns, frame.time_ns);
}

void StretchCounter::add_to(Story& story) const {
  constexpr std::uint64_t fewest = 4;  // packets; less is what lies between two incidents by chance
  for (StoryLine& line : story.lines) {
    const auto time = times_.find(line.first_packet);
    if (line.time_ns == capture::no_time && time != times_.end()) line.time_ns = line.end_ns = time->second;
  }
  const auto of = stretches_.find(story.of.connection);
  if (of == stretches_.end()) return;
  for (const Stretch& stretch : of->second) {
    if (stretch.packets[0] + stretch.packets[1] < fewest) continue;
    const bool over = std::any_of(story.lines.begin(), story.lines.end(), [&](const StoryLine& line) {
      return line.fatal && line.first_packet < stretch.first_packet;
    });
    story.lines.push_back(steady_line(story, stretch, over));
  }
  sort_lines(story.lines);
}

void count_stretches(capture::CaptureSource& source, VerdictStore& verdicts, const TimeRange& times,
                     StretchCounter& counter) {
  constexpr std::size_t batch_frames = 4096;
  std::uint64_t number = 0;
  std::int64_t first_ns = capture::no_time;
  for (;;) {
    capture::FrameBatch batch;
    const auto got = source.next_batch(batch, batch_frames);
    for (const capture::Frame& frame : batch.frames) {
      ++number;
      if (first_ns == capture::no_time) first_ns = frame.time_ns;
      if (times.contains(frame.time_ns, first_ns)) counter.count(number, frame, verdicts.find(number));
    }
    if (got && *got == 0) return;
  }
}

}  // namespace roce::analyze
