// SPDX-License-Identifier: Apache-2.0
// The quiet times between the events of stories: a second reading counts their packets.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "analyze/base/histogram.hpp"
#include "analyze/base/time_bound.hpp"
#include "analyze/packet/verdict_store.hpp"
#include "analyze/story/story.hpp"
#include "capture/core/source.hpp"

namespace roce::analyze {

/// The packets of a connection between two events.
struct Stretch {
  std::uint32_t connection = 0;
  std::uint64_t first = 0;  ///< numbers of packets, both included
  std::uint64_t last = 0;
  std::array<std::uint64_t, 2> packets{};  ///< by sender, without duplicates made by the capture
  std::array<std::uint64_t, 2> bytes{};    ///< on the wire
  std::uint64_t first_packet = 0;          ///< that was counted; 0: none
  std::uint64_t last_packet = 0;
  std::int64_t first_ns = capture::no_time;
  std::int64_t last_ns = capture::no_time;
  Histogram answer_ns;  ///< request to response
};

/// What a second reading is to count.
class StretchCounter {
 public:
  /// Counts what lies between the events of these stories, and looks up the times of packets that have none.
  void want(const Story& story);
  /// The stories' lines with what was counted; of the same stories that were wanted.
  void add_to(Story& story) const;

  void count(std::uint64_t number, const capture::Frame& frame, const Verdict* verdict);

 private:
  std::map<std::uint32_t, std::vector<Stretch>> stretches_;  ///< by connection, then by packet
  std::map<std::uint64_t, std::int64_t> times_;              ///< by packet
};

/// Reads the capture again, and counts what lies in this time range. Ends early where it cannot be read
/// further.
void count_stretches(capture::CaptureSource& source, VerdictStore& verdicts, const TimeRange& times,
                     StretchCounter& counter);

}  // namespace roce::analyze
