// SPDX-License-Identifier: Apache-2.0
// What the answers of an episode say of its requests, and when.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyze/episode/note.hpp"
#include "analyze/episode/scratch.hpp"

// Internal to the tracker.
namespace roce::analyze::episode {

/// A sequence NAK or RNR NAK.
struct Asked {
  std::int64_t psn = 0;
  std::int64_t wait_ns = 0;  ///< of an RNR NAK
  std::int32_t note = 0;
  bool rnr = false;
};

class Answers {
 public:
  /// `acked`: what was confirmed before the first note.
  Answers(std::span<const Note> notes, std::int64_t acked);

  /// Everything before is confirmed by what was captured before that note.
  [[nodiscard]] std::int64_t acked_before(std::int32_t note) const noexcept {
    return acked_[static_cast<std::size_t>(note)];
  }
  /// The first note that confirms `psn`; -1: none does.
  [[nodiscard]] std::int32_t confirmed_at(std::int64_t psn) const noexcept;
  /// The NAKs captured before that note, the oldest first; not more than matter. Those that ask for the same
  /// one after the other are one question: some responders send a NAK for every early packet.
  [[nodiscard]] std::span<const Asked> asked_before(std::int32_t note) const noexcept;
  [[nodiscard]] std::span<const Asked> asked() const noexcept { return asked_; }
  /// The last response with that PSN that was captured before that note; -1: none.
  [[nodiscard]] std::int32_t response_before(std::int64_t psn, std::int32_t note) const noexcept;
  /// Whether one of the responses in [from, to) was not captured before that note.
  [[nodiscard]] bool response_missing(std::int64_t from, std::int64_t to, std::int32_t note) const noexcept;

 private:
  void ask(const Asked& asked);

  List<std::int64_t> acked_;  ///< by note, and one more
  List<Asked> asked_;
  List<std::uint32_t> asked_count_;            ///< by note: how many of them came before
  List<std::uint32_t> questions_;              ///< where each question begins among them
  Map<std::int64_t, std::int32_t> responses_;  ///< by PSN: the last one
  Map<std::int32_t, std::int32_t> before_;     ///< by note of a response: the last with its PSN before it
};

}  // namespace roce::analyze::episode
