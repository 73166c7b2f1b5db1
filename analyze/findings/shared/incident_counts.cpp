// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/incident_counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "analyze/base/median.hpp"
#include "analyze/base/units.hpp"

namespace roce::analyze {

std::string incidents_text(const Snapshot& snapshot, const Group& group, bool of_sender,
                           const std::function<bool(const Incident&)>& meant) {
  std::set<std::pair<std::uint32_t, unsigned>> sides;
  for (const Case& c : group.cases) sides.emplace(c.connection->id, c.side);
  std::uint64_t count = 0;
  std::vector<std::int64_t> recoveries;
  for (const Incident& incident : snapshot.incidents) {
    const unsigned side = of_sender && incident.of_responses ? incident.side ^ 1U : incident.side;
    if (!sides.contains({incident.connection, side}) || !meant(incident)) continue;
    ++count;
    if (incident.recovery_ns != Incident::unknown_ns) recoveries.push_back(incident.recovery_ns);
  }
  if (count == 0) return {};
  std::string text = plural(count, "incident", "incidents");
  if (recoveries.empty()) return text;
  const std::string median = duration_text(*median_of(recoveries));
  const std::string longest = duration_text(*std::max_element(recoveries.begin(), recoveries.end()));
  if (recoveries.size() == 1) return text + ", recovery " + longest;
  return text + fmt::format(", median recovery {}, longest {}", median, longest);
}

std::uint64_t lost_again(const Snapshot& snapshot, const Group& group) {
  std::set<std::pair<std::uint32_t, unsigned>> sides;
  for (const Case& c : group.cases) sides.emplace(c.connection->id, c.side);
  std::uint64_t times = 0;
  for (const Incident& incident : snapshot.incidents) {
    if (sides.contains({incident.connection, incident.side})) times += incident.lost_again;
  }
  return times;
}

}  // namespace roce::analyze
