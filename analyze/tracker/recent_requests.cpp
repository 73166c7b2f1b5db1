// SPDX-License-Identifier: Apache-2.0
#include "analyze/tracker/recent_requests.hpp"

#include <algorithm>

namespace roce::analyze {

std::uint64_t RecentRequests::key_of(std::uint64_t way, std::uint32_t psn) noexcept {
  std::uint64_t key = (way ^ psn) * 0xff51afd7ed558ccdU;
  key ^= key >> 32U;
  return key * 0x9e3779b97f4a7c15U;
}

/// It becomes the newest one of its slot.
void RecentRequests::put_first(std::uint64_t at) noexcept {
  Entry& entry = entries_[at & (entries_.size() - 1)];
  std::uint64_t& head = heads_[slot_of(entry.key)];
  entry.before = head;
  head = at;
}

void RecentRequests::grow() {
  constexpr std::size_t first_size = 256;
  std::vector<Entry> bigger(entries_.empty() ? first_size : entries_.size() * 2);
  for (std::uint64_t at = 1; at <= added_; ++at)
    bigger[at & (bigger.size() - 1)] = entries_[at & (entries_.size() - 1)];
  entries_ = std::move(bigger);
  heads_.assign(entries_.size(), 0);
  for (std::uint64_t at = 1; at <= added_; ++at) put_first(at);
}

void RecentRequests::add(std::uint64_t way, std::uint32_t psn, Sent sent) {
  if (added_ + 1 >= entries_.size() && entries_.size() < at_most) grow();
  ++added_;
  Entry& entry = entries_[added_ & (entries_.size() - 1)];
  entry.key = key_of(way, psn);
  entry.sent = sent;
  put_first(added_);
}

}  // namespace roce::analyze
