// SPDX-License-Identifier: Apache-2.0
#include "gui/models/tables.hpp"

#include <string_view>

namespace roce::gui {

using analyze::Severity;

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
