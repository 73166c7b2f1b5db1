// SPDX-License-Identifier: Apache-2.0
// Whether the capture shows packets twice, and how long after each other: a fact of the capture, so that all
// connections tell of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "analyze/episode/explain.hpp"
#include "analyze/episode/note.hpp"

// Internal to the tracker.
namespace roce::analyze::episode {

/// How long after one that looks the same a packet came.
struct Lag {
  std::int64_t ns = 0;
  bool other_path = false;
  bool answered_twice = false;  ///< and the answers came after another time: it was sent twice
};

/// Mirrors are steady: most of what comes again though nobody sent it again comes after the same time.
class Mirror {
 public:
  /// From an episode, or a part of one, of a PSN space.
  void learn(std::span<const Note> notes, const Facts& facts);
  [[nodiscard]] const MirrorFact& fact() const noexcept { return fact_; }

 private:
  void look();

  std::array<Lag, 64> lags_{};  ///< the last ones
  std::size_t count_ = 0;       ///< of all
  std::size_t notes_ = 0;       ///< of all that they are from
  MirrorFact fact_;
};

}  // namespace roce::analyze::episode
