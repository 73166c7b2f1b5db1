// SPDX-License-Identifier: Apache-2.0
// The table of incidents; see TableModel.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/results/incident_columns.hpp"
#include "gui/models/table_model.hpp"
#include "gui/models/time_span.hpp"

namespace roce::gui {

/// How grave an incident is: an error if it ends the queue pair.
[[nodiscard]] analyze::Severity severity_of(const analyze::Incident& incident) noexcept;

class IncidentTable {
 public:
  using Row = analyze::IncidentRow;
  [[nodiscard]] static std::span<const analyze::IncidentColumn> columns() {
    return analyze::incident_columns();
  }
  explicit IncidentTable(const analyze::Snapshot& snapshot) : rows_(analyze::incident_rows(snapshot)) {}
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] const Row& row(std::size_t i) const { return rows_[i]; }
  /// Its first packet and its connection: ids change while a capture is read.
  [[nodiscard]] std::string key(std::size_t i) const;
  [[nodiscard]] std::optional<analyze::Severity> severity(std::size_t i) const {
    return severity_of(*rows_[i]);
  }
  [[nodiscard]] std::optional<std::uint64_t> id(std::size_t i) const { return rows_[i]->id; }
  [[nodiscard]] std::optional<TimeSpan> time(std::size_t i) const;

 private:
  std::vector<Row> rows_;
};

using IncidentModel = TableModel<IncidentTable>;

}  // namespace roce::gui
