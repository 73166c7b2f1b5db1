// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/compare/sent_flow.hpp"
#include "analyze/compare/why_repeated.hpp"

// Internal to compare: rows of repeats, each with its cause.
namespace roce::analyze {

/// Bounded; not thread-safe.
class RepeatRuns {
 public:
  RepeatRuns(SentFlows& sent, std::size_t limit) : sent_(sent), why_(sent), limit_(limit) {}

  /// A packet that was sent again, before `slot` is told of it. Returns its cause, as far as it is known.
  RepeatCause repeat(const Passage& passage, Space space, const Slot* before, unsigned direction);
  /// Why this READ, the first request of its PSN, asks for responses that were given before; none if it
  /// does not.
  [[nodiscard]] std::optional<RepeatCause> asks_again(const Passage& passage, unsigned direction);
  /// The run goes on no more.
  void end(Sequence& sequence);
  /// What is answered may tell the cause of repeats that wait for it.
  void answered(std::uint32_t flow, const Answer& answer);
  /// There is no more; `ends_ns`: the last time of each capture.
  void finish(const std::optional<std::int64_t> (&ends_ns)[2], CompareResult& result);

 private:
  /// A run that goes on, or waits for its cause.
  struct Open {
    RepeatRun run;
    std::optional<std::size_t> listed;
    std::uint32_t requests_of = SentFlow::none;  ///< the flow in whose `waiting` it is
    bool goes_on = true;
    bool waits = false;
    // While it waits:
    dissect::Psn asked;         ///< the PSN of the request
    bool own_response = false;  ///< it is a READ or ATOMIC
    /// The transmission before, at the first point of the requests, if it was captured there.
    std::optional<std::int64_t> sent_ns;
    std::int64_t arrived_ns = 0;           ///< at the second one
    std::optional<std::int64_t> again_ns;  ///< when the repeat arrived there
    unsigned request_direction = 0;
    std::uint32_t answers = 0;  ///< given after that
    std::uint32_t again = 0;    ///< of them, those that confirm nothing new
    bool followed = false;      ///< others came behind the transmission before
  };
  static constexpr std::size_t most_waiting = 256;  ///< of a flow
  static constexpr std::size_t most_waiting_of_all = 65'536;

  std::uint32_t open(const Passage& passage, const Slot* before, unsigned direction,
                     const RepeatReason& reason);
  RepeatReason reason_of_response(const Passage& passage, const Slot* before, unsigned direction);
  void wait(std::uint32_t place, std::uint32_t requests_of, const Passage& passage, const Slot& before);
  void wait_with(std::uint32_t place, std::uint32_t request_run);
  [[nodiscard]] std::optional<RepeatReason> told_by(const Open& open, std::uint32_t requests_of,
                                                    const Answer& answer) const;
  [[nodiscard]] static bool confirms(const Open& one, const Answer& answer) noexcept;
  [[nodiscard]] RepeatReason at_last(const Open& one) const;
  void settle(std::uint32_t place, const RepeatReason& reason);
  void close(std::uint32_t place);

  SentFlows& sent_;
  WhyRepeated why_;
  std::size_t limit_;
  std::vector<Open> open_;
  std::vector<std::uint32_t> free_;
  std::size_t waiting_ = 0;     ///< rows
  std::uint64_t unpaired_ = 0;  ///< flows with SentFlow::unpaired
  std::vector<RepeatRun> list_;
  std::uint64_t omitted_ = 0;
  RepeatCauses counts_[2];
  std::optional<std::uint32_t> follows_;  ///< the request's run, which waits, that a response is repeated for
};

}  // namespace roce::analyze
