// SPDX-License-Identifier: Apache-2.0
// Times in which nothing got through between two hosts, after which it went on. What was sent again
// meanwhile, and what followed from it, is one trouble.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analyze/diagnosis/troubles.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze::diagnosis {

struct Outage {
  std::int64_t from_ns = capture::no_time;
  std::int64_t until_ns = capture::no_time;    ///< the first packet that shows that it was over
  std::int64_t settled_ns = capture::no_time;  ///< all that it hit was in order again
  std::uint64_t timer_ns = 0;                  ///< of those that waited; 0: not known
  Whereabouts seen = Whereabouts::not_known;
  std::set<Route> dead;  ///< directions; where the capture does not tell, that of the requests
  bool known = false;    ///< it does

  [[nodiscard]] std::int64_t length_ns() const noexcept { return until_ns - from_ns; }
  /// What begins until then follows from it: what was sent meanwhile is asked for once more.
  [[nodiscard]] std::int64_t last_ns() const noexcept {
    constexpr std::int64_t soon = 4;
    return settled_ns + std::min(length_ns(), static_cast<std::int64_t>(timer_ns)) / soon;
  }
  [[nodiscard]] bool goes_with(const Incident& incident) const noexcept {
    return incident.start_ns <= last_ns() && incident.end_ns >= from_ns;
  }
};

class Outages {
 public:
  explicit Outages(const Snapshot& snapshot);
  /// The outage that an incident is part of; null: none.
  [[nodiscard]] const Outage* of(const Incident& incident, const Connection& connection) const;
  /// The outage between two hosts in which all of that time lies; null: none.
  [[nodiscard]] const Outage* around(const Connection& connection, std::int64_t from_ns,
                                     std::int64_t until_ns) const;

 private:
  friend class OutageFinder;
  std::map<Route, std::vector<Outage>> all_;  ///< by hosts, the lower address first
};

}  // namespace roce::analyze::diagnosis
