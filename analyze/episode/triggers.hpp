// SPDX-License-Identifier: Apache-2.0
// What may have made a requester send again (IBTA 9.7.5.1.1, 9.7.6.1.3, 9.7.7.1).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/episode/scene.hpp"
#include "analyze/episode/scratch.hpp"
#include "analyze/episode/stream.hpp"

// Internal to the tracker.
namespace roce::analyze::episode {

/// The likeliest reason for a step back to a packet, if there was one.
struct Trigger {
  Rule rule = Rule::not_captured;
  float bits = 16;            ///< how much has to be assumed
  std::int32_t note = -1;     ///< the NAK, if it is one
  std::int64_t from = -1;     ///< where the pass began, if not there: what lies between is missing
  bool silent = false;        ///< nothing at all was captured just before it
  std::int32_t told_by = -1;  ///< the NAK, or this one, by the timer; -1: neither
};

/// Judges steps back by what the requester had been told, and by its times: how long it takes to react to a
/// NAK, and its retry timer. Both are learned from the episode first.
class Triggers {
 public:
  Triggers(Scene& scene, const Stream& stream);
  /// NAKs (notes) that have caused a pass each.
  using Used = Set<std::int32_t>;
  /// Of the i-th transmission of the stream.
  [[nodiscard]] const Trigger& of(std::size_t i) const {
    if (!known_[i]) known_[i] = of(i, {});
    return *known_[i];
  }
  /// If these NAKs have had their effect.
  [[nodiscard]] Trigger of(std::size_t i, const Used& used) const;
  /// All before was confirmed by what was captured before that note, and answered: nothing else need be sent.
  [[nodiscard]] std::int64_t done_before(std::int32_t note) const noexcept;
  /// What asked for one from there up to the i-th since that was sent last: a pass that began further back
  /// for another reason, soon after that or before it, goes on for this one.
  [[nodiscard]] Trigger named_by(std::size_t i, std::int64_t from, std::int32_t began,
                                 const Used& used) const;

  /// From a request to its answer: the median; 0: not known.
  [[nodiscard]] std::int64_t usual_answer_ns() const noexcept { return usual_answer_ns_; }

  /// By how many times longer, as a logarithm.
  [[nodiscard]] static float octaves(std::int64_t of_ns, std::int64_t than_ns) noexcept;

 private:
  /// A transmission, and what was before it.
  struct Moment {
    const Sent& sent;
    std::size_t index = 0;
    std::int32_t at = -1;      ///< note, captured no earlier than it was sent
    std::int32_t before = -1;  ///< the same of its last transmission before; -1: none
    std::int64_t acked = 0;
    std::int64_t silence_ns = 0;  ///< since the last request; 0: not known
    std::int64_t stall_ns = 0;    ///< since the timer was started; 0: not known
    bool silent = false;  ///< for longer than an answer takes: it waits for a timer, or has nothing to send
    bool sent_before = false;
    bool read = false;
    bool own_answer = false;
  };
  [[nodiscard]] Moment moment_of(std::size_t i) const;
  void learn_reactions();
  [[nodiscard]] std::int64_t pause_ns() const noexcept;
  void learn_timer();
  void learn_patience();
  [[nodiscard]] std::int64_t patience_ns() const noexcept;
  void look_through();
  void follow_responses();
  void measure_answers();
  [[nodiscard]] bool begins_message_of(std::int64_t psn, std::int64_t first) const;
  [[nodiscard]] bool in_one_message(std::int64_t psn, std::int64_t later) const;
  [[nodiscard]] bool heard(const Moment& now, const Asked& asked) const;
  [[nodiscard]] bool outlasted(const Moment& now, const Asked& asked) const;
  [[nodiscard]] std::int64_t since(std::int32_t note, std::int32_t at) const noexcept;
  [[nodiscard]] std::int64_t heard_since(const Asked& asked, std::int32_t at) const noexcept;
  [[nodiscard]] float reaction_bits(std::int64_t took_ns, bool may_be_late) const noexcept;
  [[nodiscard]] bool is_due(std::int64_t took_ns) const noexcept;
  [[nodiscard]] bool reacted(const Moment& now, const Asked& asked) const;
  [[nodiscard]] bool passed(const Moment& now, const Asked& asked) const;
  [[nodiscard]] bool was_asked_for(std::int64_t psn, std::int32_t before) const;
  void offer_naks(const Moment& now, const Used& used, Trigger& best) const;
  void offer_asked(const Moment& now, const Asked& asked, bool twin, Trigger& best) const;
  [[nodiscard]] bool first_to_confirm(const Asked& asked) const noexcept;
  void offer_nak(const Moment& now, const Asked& asked, Trigger& best) const;
  void offer_rnr_nak(const Moment& now, const Asked& asked, Trigger& best) const;
  void offer_timer(const Moment& now, Trigger& best) const;

  Scene& scene_;
  const Stream& stream_;
  // By note:
  List<std::int32_t> request_before_;           ///< the request captured last before it; -1: none
  List<std::int32_t> repeats_before_;           ///< how many requests before it were no new ones
  List<std::int64_t> armed_ns_;                 ///< when the retry timer was started last; no_time: not known
  List<std::int64_t> sent_to_;                  ///< behind the highest PSN sent before it
  List<std::int64_t> lacks_;                    ///< the response that the requester lacks before it; -1: none
  List<bool> inside_read_;                      ///< a READ captured before takes its PSN
  bool much_missing_ = false;                   ///< a gap before many a packet that was not sent before
  bool answers_cut_ = false;                    ///< acknowledgements came without their AETH
  std::int64_t usual_answer_ns_ = 0;            ///< from a request to its answer: the median
  mutable List<std::optional<Trigger>> known_;  ///< of(), by index in the stream
  List<std::size_t> steps_back_;                ///< indices of what lies before the one just sent
  Set<std::int64_t> message_starts_;
};

}  // namespace roce::analyze::episode
