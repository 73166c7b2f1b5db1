// SPDX-License-Identifier: Apache-2.0
// Which notes of an episode follow from each other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "analyze/episode/answers.hpp"
#include "analyze/episode/note.hpp"
#include "analyze/episode/scratch.hpp"

// Internal to the tracker.
namespace roce::analyze::episode {

/// A pass without what was captured before the episode.
struct LivePass {
  const Pass* pass = nullptr;
  std::int32_t begins = 0;
  std::int64_t from = 0, to = 0;  ///< PSNs
};

/// What belongs together.
struct Group {
  List<std::int32_t> notes;  ///< ascending
  List<LivePass> passes;     ///< in order
  List<const Loss*> losses;
  List<std::int32_t> naks;
  bool missed = false;     ///< the capture missed packets of it
  std::uint32_t open = 0;  ///< Lost::undecided
};

class Grouping {
 public:
  /// `acked`: what was confirmed before.
  Grouping(std::span<const Note> notes, const Explanation& said, std::int64_t acked);

  /// In the order of their first notes.
  [[nodiscard]] List<Group> groups();

  [[nodiscard]] const Answers& answers() const noexcept { return answers_; }
  [[nodiscard]] std::span<const Note> notes() const noexcept { return notes_; }
  [[nodiscard]] std::int32_t size() const noexcept { return static_cast<std::int32_t>(notes_.size()); }
  [[nodiscard]] const Note& at(std::int32_t i) const noexcept { return notes_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const Ruling& ruling(std::int32_t i) const noexcept {
    return said_.rulings[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] bool repeated(std::int32_t i) const noexcept {
    return !at(i).before && ruling(i).what == Ruling::What::repeat;
  }
  /// The first of those of that kind with higher PSNs that came, all in a row, up to that note; -1: none.
  [[nodiscard]] std::int32_t first_beyond(bool request, std::int64_t psn, std::int32_t before) const;
  [[nodiscard]] std::int32_t shown_by(const Loss& loss) const;
  /// The last request with that PSN before that note; -1: none.
  [[nodiscard]] std::int32_t request_before(std::int64_t psn, std::int32_t note) const;
  /// The note of which that one is a repeat; -1: it was not captured, or is forgotten.
  [[nodiscard]] std::int32_t original_of(std::int32_t repeat) const;

 private:
  /// Sets of notes, each under its lowest.
  class Sets {
   public:
    explicit Sets(std::size_t size);
    [[nodiscard]] std::int32_t find(std::int32_t i);
    void join(std::int32_t a, std::int32_t b);

   private:
    List<std::int32_t> parent_;
  };

  void gather_passes();
  void join_strays();
  void join_passes();
  [[nodiscard]] bool join_asking(std::size_t responses);
  void join_losses();
  [[nodiscard]] std::int32_t refused_by(std::int32_t nak) const;
  void join_naks();
  void join_originals();
  [[nodiscard]] std::int32_t sent_again_by(std::int32_t i) const;
  void take(std::int32_t i) {
    if (i >= 0) member_[static_cast<std::size_t>(i)] = true;
  }
  void take(std::int32_t a, std::int32_t b);

  std::span<const Note> notes_;
  const Explanation& said_;
  Answers answers_;
  Sets sets_;
  List<bool> member_;                                 ///< by note: of some group
  List<LivePass> passes_;                             ///< in the order of their begins
  mutable Map<std::int64_t, std::int32_t> requests_;  ///< by PSN: the last one; made when asked for
  mutable List<std::int32_t> previous_;               ///< by note: the request of its PSN before it; -1: none
  bool by_frame_;                                     ///< whether notes are in the order of their frames
};

}  // namespace roce::analyze::episode
