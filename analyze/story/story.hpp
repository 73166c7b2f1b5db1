// SPDX-License-Identifier: Apache-2.0
// The story of one queue pair, in order of time: a pure function of the results.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/results/snapshot.hpp"
#include "analyze/story/queue_pairs.hpp"
#include "dissect/enum_names.hpp"

namespace roce::analyze {

/// What a line of a story tells; the values of `kind`.
enum class StoryKind : std::uint8_t {
  set_up,       ///< the CM exchange, or that there is none
  begin,        ///< the first packets
  steady,       ///< a time without trouble
  incident,     ///< one trouble, or several of a row
  silence,      ///< the longest
  note,         ///< what is strange and no incident
  end,          ///< what ended it, or that the capture did
  marks,        ///< CE marks and CNPs, in sums
  diagnosis,    ///< a trouble of the whole capture that it is part of
  application,  ///< what the applications at both ends will have seen
  next,         ///< the command to type
  count_
};
inline constexpr std::size_t story_kind_count = static_cast<std::size_t>(StoryKind::count_);
inline constexpr EnumNames<StoryKind, story_kind_count> story_kind_names({{StoryKind::set_up, "set_up"},
                                                                          {StoryKind::begin, "begin"},
                                                                          {StoryKind::steady, "steady"},
                                                                          {StoryKind::incident, "incident"},
                                                                          {StoryKind::silence, "silence"},
                                                                          {StoryKind::note, "note"},
                                                                          {StoryKind::end, "end"},
                                                                          {StoryKind::marks, "marks"},
                                                                          {StoryKind::diagnosis, "diagnosis"},
                                                                          {StoryKind::application,
                                                                           "application"},
                                                                          {StoryKind::next, "next"}});

/// One event that matters. A plain value.
struct StoryLine {
  StoryKind kind = StoryKind::note;
  std::int64_t time_ns = capture::no_time;  ///< of its first packet
  std::int64_t end_ns = capture::no_time;   ///< of its last packet
  std::uint64_t first_packet = 0;           ///< 0: it is about the whole
  std::uint64_t last_packet = 0;
  bool fatal = false;  ///< it ended a queue pair
  std::string text;    ///< a sentence, or a command
};

struct Story {
  QueuePair of;
  std::array<Endpoint, 2> ends;
  bool judged = true;            ///< the capture bears what is said of losses and repeats
  bool ended_badly = false;      ///< refused, or given up
  std::string headline;          ///< what became of it, in one sentence
  std::vector<StoryLine> lines;  ///< by packet; what is about the whole at the end
};

/// `of` must be of this snapshot.
[[nodiscard]] Story tell(const Snapshot& snapshot, const QueuePair& of);

/// The part of the headline that says how a connection failed: "10.0.0.1 gave up: ..."; empty if it did not.
[[nodiscard]] std::string failure_text(const Snapshot& snapshot, const Connection& connection);

/// Puts lines in order: by packet, those about the whole behind them, as they came.
void sort_lines(std::vector<StoryLine>& lines);

}  // namespace roce::analyze
