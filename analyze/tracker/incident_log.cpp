// SPDX-License-Identifier: Apache-2.0
#include "analyze/tracker/incident_log.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace roce::analyze {

std::uint32_t IncidentLog::add(const Incident& incident) {
  std::vector<std::uint32_t>& own = by_connection_[incident.connection];
  if (kept_.size() >= of_all || own.size() >= of_connection) {
    ++dropped_;
    return 0;
  }
  kept_.push_back(incident);
  own.push_back(static_cast<std::uint32_t>(kept_.size()));
  return own.back();
}

const std::vector<std::uint32_t>& IncidentLog::of(std::uint32_t connection) const noexcept {
  static const std::vector<std::uint32_t> none;
  const auto found = by_connection_.find(connection);
  return found == by_connection_.end() ? none : found->second;
}

void IncidentLog::merge(std::uint32_t from, std::uint32_t to) {
  const auto found = by_connection_.find(from);
  if (found == by_connection_.end()) return;
  const std::vector<std::uint32_t> moved = std::move(found->second);
  by_connection_.erase(found);
  std::vector<std::uint32_t>& own = by_connection_[to];
  for (const std::uint32_t number : moved) {
    Incident& incident = at(number);
    incident.connection = to;
    incident.side ^= 1U;
    own.push_back(number);
  }
}

std::vector<Incident> IncidentLog::take(std::vector<std::uint32_t>& numbers) {
  std::vector<std::uint32_t> order(kept_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [&](std::uint32_t i) {
      return std::tuple(kept_[i].start_ns, kept_[i].first_frame, kept_[i].connection, i);
    };
    return key(a) < key(b);
  });
  std::vector<Incident> sorted;
  sorted.reserve(order.size());
  numbers.assign(order.size(), 0);
  for (const std::uint32_t i : order) {
    numbers[i] = static_cast<std::uint32_t>(sorted.size());
    sorted.push_back(kept_[i]);
    sorted.back().id = numbers[i];
  }
  kept_ = {};
  by_connection_ = {};
  return sorted;
}

}  // namespace roce::analyze
