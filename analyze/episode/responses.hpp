// SPDX-License-Identifier: Apache-2.0
// The responses with PSNs of their own, READ and atomic, in the order in which their responder sent them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analyze/episode/executions.hpp"
#include "analyze/episode/scene.hpp"
#include "analyze/episode/scratch.hpp"
#include "analyze/episode/stream.hpp"

// Internal to the tracker.
namespace roce::analyze::episode {

/// READ or atomic.
[[nodiscard]] inline bool is_response(const Note& note) noexcept {
  return !note.request && dissect::opcode_info(note.opcode).operation != dissect::Operation::acknowledge;
}

/// Between the responses of two READs lie PSNs of other requests: the responses are numbered without them.
class ResponseNumbers {
 public:
  explicit ResponseNumbers(const Scene& scene);
  [[nodiscard]] std::int64_t of_psn(std::int64_t psn) const noexcept;
  [[nodiscard]] std::int64_t psn_of(std::int64_t number) const noexcept;
  /// So many of them lie before that PSN, which may be any.
  [[nodiscard]] std::int64_t below(std::int64_t psn) const noexcept;

 private:
  struct Range {
    std::int64_t first = 0, end = 0, base = 0;
  };
  List<Range> ranges_;  ///< of PSNs that have responses
};

/// What one response is judged by. In the order of sending, as Stream::sent.
struct Response {
  std::size_t asked = 0;              ///< how often it had been asked for
  std::size_t given = 0;              ///< how often it had been sent
  bool forgotten = false;             ///< it had been sent before the episode, and is asked for again
  std::optional<std::int64_t> count;  ///< messages executed when it was sent, by its READ's first or last
  std::optional<std::int64_t> own;    ///< the same when its message was executed
  /// The highest such count that was captured before it, and before its READ's responses around it.
  std::optional<std::int64_t> before;
  /// Its count is below one that was captured before: it was sent before that answer.
  [[nodiscard]] bool counted_earlier() const noexcept { return count && before && *count < *before; }
  /// It counts messages behind its own.
  [[nodiscard]] bool counted_since() const noexcept { return count && own && *count > *own; }
  [[nodiscard]] bool executed_just_now() const noexcept {
    return count && own && *count == *own && before && *before < *own;
  }
};

class Responses {
 public:
  explicit Responses(Scene& scene);
  void explain();

 private:
  struct Asks {
    std::size_t times = 0;
    bool more = false;       ///< perhaps more often, before the episode
    bool begins = false;     ///< the requester went back there
    std::int32_t last = -1;  ///< note
  };
  void note_counts();
  [[nodiscard]] bool counts_early() const;
  [[nodiscard]] bool counts_unsent() const;
  [[nodiscard]] bool asked_between(std::int64_t psn, std::int32_t from, std::int32_t until) const;
  [[nodiscard]] std::ptrdiff_t part_before(std::size_t i) const;
  void weigh();
  void rule();
  void count_given();
  [[nodiscard]] bool all_came(std::int64_t number) const;
  [[nodiscard]] bool given_again(std::size_t i, bool late, bool reached) const;
  [[nodiscard]] bool may_be_answered(const Issue& issue, std::int32_t by) const;
  [[nodiscard]] bool behind_confirmation(std::size_t i) const;
  [[nodiscard]] Asks asks_for(std::int64_t psn, std::int32_t before, bool in_time = true) const;
  [[nodiscard]] Cause cause_of(const Note& note, std::int32_t at) const;

  /// What is missing in front of sent[at], and was needed again.
  struct Row {
    std::size_t at = 0;
    List<Loss> lost;
    bool asked = false;  ///< the requester went back to some of it
  };
  void lose_upstream();
  [[nodiscard]] bool passed_over(std::size_t issue) const;
  void find_passed_over();
  void lose_passed_over(const Map<std::int64_t, std::size_t>& sent_times, List<Row>& rows) const;
  [[nodiscard]] std::int32_t next_pass(std::size_t i) const noexcept;
  void lose_rows(const List<Row>& rows);
  [[nodiscard]] bool within_answer(std::int64_t number, std::size_t i) const;
  [[nodiscard]] bool asked_from(std::int64_t psn, std::int32_t from, std::int32_t until) const;
  [[nodiscard]] bool was_taken(std::int64_t number, const Sent& shows) const;
  void lose_downstream();
  void count_whole(const Issue& last, const Issue& again, std::int32_t given);
  [[nodiscard]] bool lacks_the_rest(const Issue& issue, std::int32_t asked) const;
  [[nodiscard]] bool arrived_before(std::int64_t psn, std::int32_t given,
                                    const Set<std::int32_t>& lost) const;
  struct Reacts {
    std::int64_t median_ns = 0;
    std::int64_t slow_ns = 0;  ///< nearly the longest
  };
  [[nodiscard]] Reacts requester_reacts() const;
  [[nodiscard]] std::int64_t begins_pass(std::size_t i) const;
  enum class Missed : std::uint8_t { at_once, waited_for, lost };
  [[nodiscard]] Missed how_missed(std::size_t i, std::int32_t given) const;
  [[nodiscard]] bool goes_on(const Issue& issue) const;
  [[nodiscard]] bool asked_for_more_at_once(std::size_t issue) const;
  [[nodiscard]] bool overtook(std::int64_t number, std::int32_t given, std::int32_t until) const;
  [[nodiscard]] bool crossed(std::size_t issue, std::int32_t given) const;
  [[nodiscard]] bool others_arrived(std::size_t issue, std::int32_t given) const;
  [[nodiscard]] std::int32_t captured_next(std::int64_t number, std::int32_t given, std::int32_t until) const;

  Scene& scene_;
  ResponseNumbers numbers_;
  Executions executions_;
  Stream stream_;
  List<Response> known_;
  Map<std::int64_t, std::size_t> given_;  ///< how often each number was sent, as far as it was captured
  List<Loss> passed_over_;                ///< answers that an ACK of what was sent behind them passed over
  Set<std::int32_t> needed_again_;        ///< notes: those that came in their place
  List<std::pair<std::int64_t, std::uint32_t>> by_first_;  ///< Scene::issues, by the first PSN of each
  std::int64_t longest_ = 0;                               ///< the most PSNs that one of them takes
  mutable List<std::uint32_t> found_;                      ///< of asks_for(): kept for its memory
};

}  // namespace roce::analyze::episode
