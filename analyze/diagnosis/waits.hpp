// SPDX-License-Identifier: Apache-2.0
// Requesters that waited for their timer, and what disproves that nothing got through meanwhile.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analyze/diagnosis/troubles.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze::diagnosis {

/// As often as a request may be repeated (IBTA: 3 bits).
inline constexpr std::uint32_t all_retries = 7;

/// The two hosts of a connection, the lower address first.
[[nodiscard]] inline Route host_pair_of(const Connection& connection) {
  return std::minmax(connection.ends[0].address, connection.ends[1].address);
}

/// Whether nothing that arrives explains it: what an outage may be the reason of.
[[nodiscard]] bool may_follow(IncidentKind what) noexcept;

/// Whether an incident that is over proves that something got through between these times: at their edges it
/// may have been under way.
[[nodiscard]] bool got_through(const Incident& incident, std::int64_t from_ns,
                               std::int64_t until_ns) noexcept;

/// A requester that waited for its timer, and then it went on. Refers to the snapshot. Times in ns since the
/// epoch.
struct Wait {
  const Incident* incident = nullptr;
  const Connection* connection = nullptr;
  std::int64_t heard_ns = 0;   ///< the last packet that got through before it
  std::int64_t silent_ns = 0;  ///< for so long its side, or the other one, sent nothing that was captured
  std::int64_t from_ns = 0;    ///< something was missing
  std::int64_t until_ns = 0;   ///< the first packet that got through again
  bool heard = false;          ///< its repeats were captured meanwhile
  bool answered = false;       ///< and the answer to the request: it did not get back
  bool unheard_again = false;  ///< but none to the repeats

  [[nodiscard]] std::int64_t length_ns() const noexcept { return until_ns - from_ns; }
  [[nodiscard]] const dissect::IpAddress& requester() const {
    return connection->ends[incident->side].address;
  }
  [[nodiscard]] Route way() const { return {requester(), connection->ends[1 - incident->side].address}; }
};

/// What an incident shows of a wait; none: no outage can be told from it.
[[nodiscard]] std::optional<Wait> wait_of(const Incident& incident, const Connection& connection);

/// From when until when nothing of several waits got through: from the first packet that is missing, or the
/// last that had got through, to the first that got through again.
struct Stretch {
  std::int64_t from_ns = 0;
  std::int64_t until_ns = 0;
  [[nodiscard]] std::int64_t length_ns() const noexcept { return until_ns - from_ns; }
};
[[nodiscard]] Stretch stretch_of(const std::vector<Wait>& waits) noexcept;

/// Connections by the two hosts that they join, and what they exchanged. Refers to the snapshot.
class Exchanges {
 public:
  explicit Exchanges(const Snapshot& snapshot);
  /// Whether a requester that was in no trouble then sent and got something between these hosts.
  [[nodiscard]] bool went_on(const Route& hosts, Stretch stretch,
                             const std::vector<const Incident*>& incidents) const;
  /// How often as many requests and repeats in a row as `in_a_row` are expected to be in vain, where as many
  /// timers ran out as `in_vain` between these hosts at other times.
  [[nodiscard]] double expected(const Route& hosts, std::uint64_t in_vain, std::uint32_t in_a_row) const;

 private:
  std::map<Route, std::vector<const Connection*>> all_;
};

}  // namespace roce::analyze::diagnosis
