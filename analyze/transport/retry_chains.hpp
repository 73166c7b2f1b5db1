// SPDX-License-Identifier: Apache-2.0
// Requests that a requester repeats again and again because its timer runs out (IBTA 9.7.6.1.3).
#pragma once

#include <cstdint>

#include "analyze/base/lazy.hpp"
#include "analyze/connection/connection.hpp"
#include "analyze/flow/flow.hpp"

// Internal to the tracker.
namespace roce::analyze {

/// The transmission that a chain waited for.
struct FirstOfChain {
  std::uint64_t frame = 0;  ///< 0: not captured
  std::int64_t time_ns = capture::no_time;
  std::uint32_t reissued_after = 0;
};

class RetryChains {
 public:
  [[nodiscard]] bool open() const noexcept { return open_; }
  /// Another resend of `psn`, not for a NAK. `missing_before`: of RetryChain.
  void resend(const RetryChain& now, std::int64_t psn, const FirstOfChain& first, bool counts,
              RequesterTrouble& trouble);
  /// Whether it would be the first of another chain.
  [[nodiscard]] bool begins(std::int64_t psn) const noexcept { return !open_ || psn_ != psn; }
  /// Something else made the requester send again.
  void end() noexcept { open_ = false; }
  /// Everything before `acked` was confirmed at that time.
  void answered(std::int64_t acked, std::int64_t time_ns, bool counts, Lazy<RequesterTrouble>& trouble);
  /// The last one, if its requester gave up: silence since `last_request_ns`, for longer than between two
  /// resends, or, after as many as the largest count allows, for longer than an answer takes.
  [[nodiscard]] const RetryChain* given_up(const Flow* flow, std::int64_t last_request_ns,
                                           std::int64_t end_ns, std::uint32_t least) const noexcept;
  /// The end of the capture.
  void finish(RequesterTrouble& trouble) const {
    if (open_) keep_if_worst(trouble);
  }

 private:
  /// Whether that is long after another resend was due.
  [[nodiscard]] bool silent_for_long(std::int64_t time_ns) const noexcept;
  void keep_if_worst(RequesterTrouble& trouble) const;

  Lazy<RetryChain> chain_;
  std::int64_t psn_ = 0;
  bool open_ = false;
};

}  // namespace roce::analyze
