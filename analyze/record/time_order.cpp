// SPDX-License-Identifier: Apache-2.0
#include "analyze/record/time_order.hpp"

#include <algorithm>

namespace roce::analyze {

void TimeOrder::push(const PacketRecord& record, std::uint64_t number) {
  constexpr std::size_t interfaces_at_most = 256;  // further ones share a slot
  const std::size_t index = record.point % interfaces_at_most;
  if (index >= interfaces_.size()) interfaces_.resize(index + 1);
  Entry entry{record.time_ns, {record, number}};
  if (entry.time_ns == capture::no_time) entry.time_ns = last_time_ns_;  // stays after its predecessor
  last_time_ns_ = entry.time_ns;
  last_number_ = number;
  Interface& interface = interfaces_[index];
  interface.any = true;
  interface.time_ns = entry.time_ns;
  interface.number = number;
  heap_.push_back(entry);
  std::push_heap(heap_.begin(), heap_.end(), later);
}

bool TimeOrder::all_came_to(std::int64_t time_ns) const noexcept {
  constexpr std::uint64_t silent = 4096;  // an interface without a frame among so many is not waited for
  return std::all_of(interfaces_.begin(), interfaces_.end(), [&](const Interface& interface) {
    return !interface.any || interface.time_ns >= time_ns || last_number_ - interface.number > silent;
  });
}

bool TimeOrder::pop(Waiting& next, bool all) {
  if (heap_.empty()) return false;
  if (!all && heap_.size() <= limit && !all_came_to(heap_.front().time_ns)) return false;
  std::pop_heap(heap_.begin(), heap_.end(), later);
  next = heap_.back().waiting;
  heap_.pop_back();
  return true;
}

}  // namespace roce::analyze
