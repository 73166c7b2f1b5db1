// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/results/result_tables.hpp"
#include "cli/library/roceanalyze.h"

namespace roce::library {

/// A column as arrays; see roce_column.
struct ColumnData {
  std::string name;
  std::string help;
  roce_type type = ROCE_INT64;
  std::vector<std::int64_t> numbers;  ///< ROCE_INT64, and ROCE_UINT64 with the same bits
  std::vector<double> reals;
  std::vector<std::uint64_t> begins{0};  ///< of texts
  std::string text;
  std::vector<std::uint8_t> known;

  void reserve(std::size_t rows);
  void add_none();
  void add_number(std::int64_t number, std::size_t count = 1);
  void add_real(double number);
  /// NULs in it, which would end it for readers, are left out.
  void add_text(std::string_view value, std::size_t count = 1);
};

}  // namespace roce::library

/// A table of a report fills its columns when the first of them is asked for: most are never read.
struct roce_table {
  std::string name;
  std::size_t rows = 0;
  bool of_report = false;                              ///< it must not be freed by itself
  const roce::analyze::ResultTable* source = nullptr;  ///< of a report; else null, and the columns are there
  mutable std::vector<roce::library::ColumnData> columns;  ///< those of `source` once `filled`
  mutable std::once_flag filled;
};
