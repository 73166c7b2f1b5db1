// SPDX-License-Identifier: Apache-2.0
// What is wrong, a row for each diagnosis.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/results/diagnosis.hpp"
#include "gui/models/table_model.hpp"

namespace roce::gui {

/// "1 connection ended, 1728 repeats, 764 ms without goodput"; empty: nothing.
[[nodiscard]] std::string diagnosis_cost_text(const analyze::Diagnosis& diagnosis);

class DiagnosisTable {
 public:
  struct Row {
    const analyze::Diagnosis* of;
    const analyze::Snapshot* in;
  };
  [[nodiscard]] static std::span<const analyze::Column<Row>> columns();
  explicit DiagnosisTable(const analyze::Snapshot& snapshot);
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] const Row& row(std::size_t i) const { return rows_[i]; }
  [[nodiscard]] std::string key(std::size_t i) const;  ///< cause and place
  [[nodiscard]] std::optional<analyze::Severity> severity(std::size_t i) const {
    return severity_like(rows_[i].of->severity);
  }
  [[nodiscard]] std::optional<std::uint64_t> id(std::size_t) const { return std::nullopt; }
  [[nodiscard]] std::optional<TimeSpan> time(std::size_t i) const;

 private:
  std::vector<Row> rows_;
};

using DiagnosisModel = TableModel<DiagnosisTable>;

}  // namespace roce::gui
