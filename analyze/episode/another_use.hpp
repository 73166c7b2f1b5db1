// SPDX-License-Identifier: Apache-2.0
// Queue pair numbers that are used again without a word of the CM, most by the same two hosts and from the
// same PSN: what follows is no repeat of what was there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyze/episode/explain.hpp"
#include "analyze/episode/note.hpp"

// Internal to the tracker.
namespace roce::analyze::episode {

/// Beyond this a PSN belongs to another sequence; the largest messages have as many packets.
inline constexpr std::int64_t far_psns = std::int64_t{1} << 18U;
/// So near behind another, a request far from all others follows that one.
inline constexpr std::int64_t soon_psns = 4096;

enum class Use : std::uint8_t {
  unknown,
  same,
  another,
  shown_again,  ///< the same, and of long before: of another capture point, by another clock
};

/// Whether the packets of a PSN space that follow a silence are of another use of the queue pairs than those
/// before. IPv4 IDs that change are no other use's. The responder's count of messages begins anew then (MSN,
/// IBTA 9.7.7.1), and never falls otherwise; and what is sent again is what was sent before. Where it has
/// counted no more messages than were captured, nothing was sent before the first of them. Each packet is
/// told once, in order of capture.
class AnotherUse {
 public:
  AnotherUse(std::span<const Note> before, const Facts& facts);
  /// What the next one since shows. unknown: nothing yet.
  [[nodiscard]] Use take(const Note& note);

 private:
  [[nodiscard]] const Note* sent_before(std::int64_t psn) const noexcept;
  [[nodiscard]] bool differs(const Note& now) const noexcept;
  [[nodiscard]] bool shown_before(const Note& now) const noexcept;
  [[nodiscard]] Use counted(const Note& answer) const;
  void send(const Note& note);
  [[nodiscard]] bool from_first_message() const noexcept;
  [[nodiscard]] Use answered_early();

  // What was known when the silence ended:
  Facts facts_;
  std::int64_t acked_;  ///< everything before is confirmed
  std::int64_t top_;    ///< behind the highest request, or what was confirmed
  bool msn_known_;
  std::uint32_t msn_;
  std::vector<std::int64_t> unconfirmed_;  ///< ends of messages, in order
  std::vector<Note> sent_;                 ///< by PSN, and then in order of capture
  // What was sent since:
  bool begun_ = false;
  bool far_ = false;    ///< from all that was sent before
  bool over_ = false;   ///< what follows does not tell any more
  bool whole_ = false;  ///< the first message of all was captured
  std::int64_t first_ = 0;
  std::int64_t next_ = 0;           ///< behind the highest
  std::int64_t gaps_ = 0;           ///< PSNs below that were not captured
  std::vector<std::int64_t> ends_;  ///< of messages, in order
  std::vector<Note> early_;         ///< answers that came before what they answer
};

}  // namespace roce::analyze::episode
