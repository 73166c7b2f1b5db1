// SPDX-License-Identifier: Apache-2.0
// Fields of packets as columns.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyze/filter/field_registry.hpp"
#include "analyze/packet/packet_view.hpp"
#include "cli/library/roceanalyze.h"
#include "cli/library/table.hpp"

namespace roce::library {

/// The type of a column of the field: numbers if all its values are numbers, else text.
[[nodiscard]] roce_type type_of_field(const analyze::FieldFacts& facts) noexcept;

/// The field of that name. Throws Failure, with similar names, if there is none.
[[nodiscard]] analyze::FieldRef field_named(const std::string& name);

class FieldColumn {
 public:
  explicit FieldColumn(analyze::FieldRef field);

  void reserve(std::size_t rows) { data_.reserve(rows); }
  void add(const analyze::PacketView& packet);
  /// What was added; the column is empty then.
  [[nodiscard]] ColumnData take();

 private:
  [[nodiscard]] ColumnData nothing() const;

  analyze::FieldRef field_;
  const analyze::FieldFacts* facts_;
  ColumnData data_;
  analyze::Values values_;  ///< of the present packet
  std::string text_;
};

}  // namespace roce::library
