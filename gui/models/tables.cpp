// SPDX-License-Identifier: Apache-2.0
#include "gui/models/tables.hpp"

#include <algorithm>
#include <string_view>

namespace roce::gui {

using analyze::Connection;
using analyze::Finding;
using analyze::Severity;
using analyze::Snapshot;

std::vector<std::optional<Severity>> connection_severities(const Snapshot& snapshot) {
  std::vector<std::optional<Severity>> worst(snapshot.connections.size());
  // Ids are numbers of rows as long as none has left the bounded table.
  const auto place = [&](std::uint32_t id) {
    const auto at = std::lower_bound(snapshot.connections.begin(), snapshot.connections.end(), id,
                                     [](const Connection& c, std::uint32_t wanted) { return c.id < wanted; });
    const bool found = at != snapshot.connections.end() && at->id == id;
    return found ? static_cast<std::size_t>(at - snapshot.connections.begin()) : worst.size();
  };
  for (const Finding& finding : snapshot.findings) {
    for (const std::uint32_t id : finding.connections) {
      const std::size_t i = place(id);
      if (i < worst.size()) worst[i] = std::max(worst[i].value_or(finding.severity), finding.severity);
    }
  }
  for (std::size_t i = 0; i < worst.size(); ++i) {
    if (snapshot.connections[i].state == Connection::State::failed) worst[i] = Severity::error;
  }
  return worst;
}

std::string MarkingTable::key(std::size_t i) const {
  const Row& row = rows_[i];
  return std::string(analyze::traffic_class_name(row.traffic_class)) + ' ' + analyze::direction_text(row) +
         ' ' + std::to_string(row.dscp) + ' ' + std::to_string(row.ecn) + ' ' +
         (row.pcp ? std::to_string(*row.pcp) : std::string("-"));
}

std::optional<Severity> MarkingTable::severity(std::size_t i) const {
  return rows_[i].verdict == "violation" ? std::optional(Severity::warning) : std::nullopt;
}

}  // namespace roce::gui
