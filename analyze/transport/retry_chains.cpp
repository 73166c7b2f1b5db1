// SPDX-License-Identifier: Apache-2.0
#include "analyze/transport/retry_chains.hpp"

#include <algorithm>
#include <utility>

namespace roce::analyze {

void RetryChains::resend(const RetryChain& now, std::int64_t psn, const FirstOfChain& first, bool counts,
                         RequesterTrouble& trouble) {
  const std::int64_t time_ns = now.last_time_ns;
  if (begins(psn)) {
    *chain_ = now;
    chain_->resends = 0;
    chain_->first_seen = first.frame != 0;
    chain_->first_frame = first.frame != 0 ? first.frame : now.last_frame;
    chain_->first_time_ns = first.frame != 0 ? first.time_ns : time_ns;
    chain_->last_time_ns = chain_->first_time_ns;
    chain_->reissued_after = first.reissued_after;
    psn_ = psn;
    open_ = true;
    if (counts) ++trouble.chains;
  } else {
    chain_->missing_before = std::min(chain_->missing_before, now.missing_before);
  }
  RetryChain& chain = *chain_;
  const bool timed = time_ns != capture::no_time && chain.last_time_ns != capture::no_time;
  if (timed && time_ns >= chain.last_time_ns) {
    const auto spacing = static_cast<std::uint64_t>(time_ns - chain.last_time_ns);
    // The first resend is timed from the last packet sent, not from the one that is repeated. Where each wait
    // is about twice the one before, it is the one to begin with all the same.
    const std::uint64_t first_spacing = std::exchange(chain.first_spacing_ns, 0);
    if (chain.resends == 0) {
      chain.first_spacing_ns = spacing;
    } else {
      const bool doubles = spacing > chain.max_spacing_ns * 3 / 2 && spacing > first_spacing * 3 / 2;
      if (doubles && chain.resends == 1) chain.first_spacing_ns = first_spacing;
      if (doubles && chain.resends == 2 && first_spacing != 0) chain.min_spacing_ns = first_spacing;
      chain.min_spacing_ns = chain.min_spacing_ns == 0 ? spacing : std::min(chain.min_spacing_ns, spacing);
      chain.max_spacing_ns = std::max(chain.max_spacing_ns, spacing);
    }
  }
  ++chain.resends;
  chain.last_frame = now.last_frame;
  chain.last_time_ns = time_ns;
  if (counts) keep_if_worst(trouble);
}

void RetryChains::keep_if_worst(RequesterTrouble& trouble) const {
  RetryChain& worst = trouble.worst_chain;
  const bool same = worst.resends != 0 && worst.last_frame == chain_->last_frame;
  if (same || chain_->longer_than(worst)) worst = *chain_;
}

void RetryChains::answered(std::int64_t acked, std::int64_t time_ns, bool counts,
                           Lazy<RequesterTrouble>& trouble) {
  if (!open_ || acked <= psn_) return;
  chain_->answered = true;
  const bool timed = time_ns != capture::no_time && chain_->last_time_ns != capture::no_time;
  chain_->too_late = timed && silent_for_long(time_ns);
  if (counts) keep_if_worst(*trouble);
  open_ = false;
}

bool RetryChains::silent_for_long(std::int64_t time_ns) const noexcept {
  if (!chain_.there() || chain_->max_spacing_ns == 0 || time_ns <= chain_->last_time_ns) return false;
  return static_cast<std::uint64_t>(time_ns - chain_->last_time_ns) / 2 > chain_->max_spacing_ns;
}

const RetryChain* RetryChains::given_up(const Flow* flow, std::int64_t last_request_ns, std::int64_t end_ns,
                                        std::uint32_t least) const noexcept {
  if (!chain_.there()) return nullptr;
  const RetryChain& chain = *chain_;
  // Where answers were captured they did not reach the sender, or after it had given up; then a single repeat
  // at the end of a capture proves nothing. One that came in time ended it well.
  constexpr std::uint32_t enough = 3, most = 7;
  if (!open_ && !chain.too_late) return nullptr;
  if (chain.resends < std::max(least, chain.answered ? enough : 1U)) return nullptr;
  if (last_request_ns == capture::no_time) return nullptr;
  const auto spacing = static_cast<double>(std::max<std::uint64_t>(chain.max_spacing_ns, 1'000'000));
  const auto since = static_cast<double>(last_request_ns);
  const double silence = static_cast<double>(end_ns) - since;
  // A queue pair that gave up is in error: it answers nothing either.
  if (flow != nullptr && flow->any_time && static_cast<double>(flow->last_time_ns) > since + spacing)
    return nullptr;
  if (silence > 2.0 * spacing) return &chain;
  // A timer is many times what an answer takes.
  return !chain.answered && chain.resends >= most && silence > spacing / 16 ? &chain : nullptr;
}

}  // namespace roce::analyze
