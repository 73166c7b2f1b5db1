// SPDX-License-Identifier: Apache-2.0
#include "analyze/transport/copy_queue.hpp"

#include <algorithm>
#include <limits>

namespace roce::analyze {

/// Copies are made at one place: how long they take varies with the load there, not with the round trip.
bool CopyQueue::lag_fits(std::int64_t lag_ns) const noexcept {
  constexpr std::int64_t room_ns = 2'000;
  if (lag_ns == unknown_ns || most_lag_ns_ == 0) return true;
  return lag_ns + room_ns >= least_lag_ns_ / 2 && lag_ns <= std::int64_t{most_lag_ns_} * 2 + room_ns;
}

/// What comes before the next one of those that were sent in their turn; nullptr if that is the one.
const CopyQueue::Sent* CopyQueue::front() const noexcept {
  if (!moved_.there() || moved_->empty()) return nullptr;
  return moved_->front().at <= next_ ? &moved_->front() : nullptr;
}

bool CopyQueue::fits(std::int64_t psn, std::int64_t lag_ns) const noexcept {
  if (next_ < 0 || !lag_fits(lag_ns)) return false;
  if (const Sent* moved = front()) return psn == moved->from || (sure() && psn == next_);
  if (psn == next_) return true;
  // Copies get lost as well; what is missing was perhaps never seen.
  constexpr std::int64_t lost_at_most = 1024;
  return taken_ > 0 && psn > next_ && psn - next_ < lost_at_most && lag_ns != unknown_ns && most_lag_ns_ != 0;
}

void CopyQueue::take(std::int64_t psn, std::int64_t count, std::int64_t lag_ns) {
  if (taken_ != std::numeric_limits<std::uint32_t>::max()) ++taken_;
  if (lag_ns != unknown_ns) {
    const auto lag = static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(lag_ns, 1, std::numeric_limits<std::uint32_t>::max()));
    // A slow one is forgotten in time, a fast one too.
    least_lag_ns_ = most_lag_ns_ == 0 ? lag : std::min(lag, least_lag_ns_ + least_lag_ns_ / 64 + 1);
    most_lag_ns_ = std::max(lag, most_lag_ns_ - most_lag_ns_ / 64);
  }
  const std::int64_t end = psn + std::max<std::int64_t>(count, 1);
  if (const Sent* moved = front(); moved != nullptr && moved->from == psn) {
    moved_->front().from = end;
    if (end >= moved->to) moved_->pop_front();
  } else {
    next_ = std::max(next_, end);
  }
  skip_moved();
}

/// Those that did not come in their turn have none there.
void CopyQueue::skip_moved() noexcept {
  if (!moved_.there()) return;
  for (const Sent& sent : *moved_) {
    if (!sent.again && sent.from <= next_ && next_ < sent.to && sent.at > next_) next_ = sent.to;
  }
}

void CopyQueue::out_of_turn(std::int64_t psn, std::int64_t count, std::int64_t next, bool again) {
  if (next_ < 0) return;
  if (taken_ == 0 && (again || (moved_.there() && moved_->size() >= kept_early))) {
    stop();  // sent again, where no copy of anything has come
    return;
  }
  const std::int64_t end = psn + std::max<std::int64_t>(count, 1);
  std::deque<Sent>& moved = *moved_;
  if (!moved.empty() && moved.back().to == psn && moved.back().at == next && moved.back().again == again) {
    moved.back().to = end;
  } else {
    moved.push_back({psn, end, next, again});
    if (moved.size() > kept) moved.pop_front();
  }
  skip_moved();
}

}  // namespace roce::analyze
