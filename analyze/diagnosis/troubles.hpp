// SPDX-License-Identifier: Apache-2.0
// From what connections and incidents show to troubles: what has one cause and one place is one trouble.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analyze/diagnosis/root_causes.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze::diagnosis {

/// Sender and receiver of the packets that a trouble hits.
using Route = std::pair<dissect::IpAddress, dissect::IpAddress>;

/// One cause at one place, with all that shows it. Refers to the snapshot.
struct Trouble {
  RootCause cause{};
  Whereabouts seen = Whereabouts::not_known;
  std::set<Route> ways;
  std::set<Route> shown_on;  ///< ways of its symptoms
  /// Connections that show it, each with the side that sends what is hit.
  std::set<std::pair<std::uint32_t, unsigned>> sides;
  std::vector<const Incident*> incidents;  ///< by id
  std::uint64_t at_least = 0;              ///< packets lost, damaged, refused, ...: of the cause alone
  std::uint64_t at_most = 0;               ///< more than `at_least`, where the capture leaves that open
  std::uint64_t failed = 0;                ///< connections that ended by it
  std::uint64_t missing = 0;               ///< timers for what is not in the capture: lost, or not captured
  std::uint64_t beside = 0;                ///< connections whose peer answers, but other PSNs
  std::uint64_t spent = 0;                 ///< connections that have no retry left and were not answered yet
  std::vector<std::uint64_t> waits_ns;     ///< of requesters until their timers expired
  std::uint64_t answer_ns = 0;             ///< what answers to them take, median; 0: not known
  std::optional<std::int64_t> first_ns;
  std::optional<std::int64_t> last_ns;
  std::set<std::pair<std::int64_t, std::int64_t>> outages;  ///< RootCause::outage: from when until when
  std::set<std::uint64_t> packets;
  Causes symptoms;  ///< causes whose incidents were found to be part of it

  /// How much there is of it, to compare two.
  [[nodiscard]] std::uint64_t weight() const noexcept {
    return std::max<std::uint64_t>(at_least, incidents.size());
  }
  /// Whether it is of two hosts, in both directions between them.
  [[nodiscard]] bool mutual() const noexcept {
    return ways.size() == 2 && ways.begin()->first == ways.rbegin()->second &&
           ways.begin()->second == ways.rbegin()->first;
  }
  /// Whether each host that sends what it hits receives such, too.
  [[nodiscard]] bool both_ways() const {
    return std::all_of(ways.begin(), ways.end(), [this](const Route& each) {
      return std::any_of(ways.begin(), ways.end(),
                         [&](const Route& other) { return other.second == each.first; });
    });
  }
  /// Whether it was over before the capture ended, as far as incidents show.
  [[nodiscard]] bool over() const {
    return std::any_of(incidents.begin(), incidents.end(), [](const Incident* each) { return each->over; });
  }
  /// Whether the peers do answer, but nothing that was sent.
  [[nodiscard]] bool off_psns() const noexcept { return beside != 0 && beside == sides.size(); }
  /// Adds when it was.
  void was_there(std::int64_t from_ns, std::int64_t until_ns) {
    first_ns = std::min(first_ns.value_or(from_ns), from_ns);
    last_ns = std::max(last_ns.value_or(until_ns), until_ns);
  }
  /// The timer, as far as waits show it: the tenth part is shorter; 0: not known.
  [[nodiscard]] std::uint64_t timer_ns() const;
  /// Whether answers are far quicker than the timer as a rule: something held some of them up.
  [[nodiscard]] bool held_up() const {
    constexpr std::uint64_t far_below = 4;
    return answer_ns != 0 && far_below * answer_ns < timer_ns();
  }
  /// Takes over what another shows; `same`: it is of the same cause, so that its counts are added.
  void absorb(Trouble&& other, bool same);
};

/// All troubles that incidents and events of connections show: symptoms are part of their causes, and what
/// many pairs of hosts share is one.
[[nodiscard]] std::vector<Trouble> find_troubles(const Snapshot& snapshot);

}  // namespace roce::analyze::diagnosis
