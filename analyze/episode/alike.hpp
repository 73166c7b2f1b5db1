// SPDX-License-Identifier: Apache-2.0
// Which notes look the same: they are one transmission that the capture has twice, or one that was sent
// again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyze/episode/explain.hpp"
#include "analyze/episode/note.hpp"
#include "analyze/episode/scratch.hpp"

// Internal to the tracker.
namespace roce::analyze::episode {

class Alike {
 public:
  explicit Alike(std::span<const Note> notes) : notes_(notes) {}
  /// Of each note the last few before it that look the same, in order.
  [[nodiscard]] std::span<const std::int32_t> before(std::size_t i) {
    if (from_.empty()) look_through();  // where IDs differ nobody asks
    return std::span(alike_).subspan(from_[i], from_[i + 1] - from_[i]);
  }
  /// How long it came after such a one; negative: not known.
  [[nodiscard]] std::int64_t lag(std::int32_t from, std::size_t to) const noexcept {
    const Note& first = notes_[static_cast<std::size_t>(from)];
    const bool timed = first.time_ns != capture::no_time && notes_[to].time_ns != capture::no_time;
    return timed ? notes_[to].time_ns - first.time_ns : -1;
  }
  /// Whether IPv4 IDs of requests, or answers, differ from one transmission to the next.
  [[nodiscard]] bool ids_change(bool request, const Facts& facts) const;
  /// Whether two of them have the same: else there is none that was there before.
  [[nodiscard]] bool any_id_twice(bool request) const;

 private:
  void look_through();

  std::span<const Note> notes_;
  List<std::int32_t> alike_;
  List<std::uint32_t> from_;  ///< by note: where those of it begin
};

}  // namespace roce::analyze::episode
