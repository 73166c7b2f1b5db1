// SPDX-License-Identifier: Apache-2.0
#include "cli/library/table.hpp"

#include <algorithm>
#include <string>
#include <variant>

#include "analyze/base/value_format.hpp"
#include "cli/library/failure.hpp"

namespace roce::library {
namespace {

roce_type type_of_cells(analyze::CellType type) {
  switch (type) {
    case analyze::CellType::integer:
      return ROCE_INT64;
    case analyze::CellType::real:
      return ROCE_DOUBLE;
    case analyze::CellType::text:
      break;
  }
  return ROCE_TEXT;
}

void add_cell(ColumnData& column, const analyze::ResultCell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
    column.add_number(*integer);
  } else if (const auto* real = std::get_if<double>(&cell)) {
    column.add_real(*real);
  } else if (const auto* text = std::get_if<std::string>(&cell); text != nullptr && !text->empty()) {
    std::string valid;
    analyze::append_valid_text(valid, *text);
    column.add_text(valid);
  } else {
    column.add_none();
  }
}

std::vector<ColumnData> columns_of(const analyze::ResultTable& table) {
  std::vector<ColumnData> columns(table.columns().size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const analyze::ResultColumn& head = table.columns()[i];
    ColumnData& column = columns[i];
    column.name = head.name;
    column.help = head.help;
    column.type = type_of_cells(head.type);
    column.reserve(table.size());
    for (std::size_t row = 0; row < table.size(); ++row) add_cell(column, table.cell(row, i));
  }
  return columns;
}

void fill(const roce_table& table) {
  if (table.source == nullptr) return;
  std::call_once(table.filled, [&] { table.columns = columns_of(*table.source); });
}

const void* values_of(const ColumnData& column) {
  if (column.type == ROCE_DOUBLE) return column.reals.data();
  if (column.type == ROCE_TEXT) return column.begins.data();
  return column.numbers.data();
}

}  // namespace

void ColumnData::reserve(std::size_t rows) {
  known.reserve(rows);
  if (type == ROCE_DOUBLE) {
    reals.reserve(rows);
  } else if (type == ROCE_TEXT) {
    begins.reserve(rows + 1);
  } else {
    numbers.reserve(rows);
  }
}

void ColumnData::add_none() {
  if (type == ROCE_DOUBLE) {
    reals.push_back(0);
  } else if (type == ROCE_TEXT) {
    text.push_back('\0');
    begins.push_back(text.size());
  } else {
    numbers.push_back(0);
  }
  known.push_back(0);
}

void ColumnData::add_number(std::int64_t number, std::size_t count) {
  numbers.push_back(number);
  known.push_back(static_cast<std::uint8_t>(std::min<std::size_t>(count, 255)));
}

void ColumnData::add_real(double number) {
  reals.push_back(number);
  known.push_back(1);
}

void ColumnData::add_text(std::string_view value, std::size_t count) {
  const std::size_t begin = text.size();
  text += value;
  if (value.find('\0') != std::string_view::npos)
    text.erase(std::remove(text.begin() + static_cast<std::ptrdiff_t>(begin), text.end(), '\0'), text.end());
  text.push_back('\0');
  begins.push_back(text.size());
  known.push_back(static_cast<std::uint8_t>(std::min<std::size_t>(count, 255)));
}

}  // namespace roce::library

using namespace roce::library;

const char* roce_table_name(const roce_table* table) {
  return table != nullptr ? table->name.c_str() : "";
}
size_t roce_table_rows(const roce_table* table) {
  return table != nullptr ? table->rows : 0;
}
size_t roce_table_columns(const roce_table* table) {
  if (table == nullptr) return 0;
  return table->source != nullptr ? table->source->columns().size() : table->columns.size();
}

size_t roce_table_find(const roce_table* table, const char* name) {
  if (table == nullptr || name == nullptr) return ROCE_NOWHERE;
  const auto place = [name](const auto& columns) -> std::size_t {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].name == name) return i;
    }
    return ROCE_NOWHERE;
  };
  return table->source != nullptr ? place(table->source->columns()) : place(table->columns);
}

roce_status roce_table_column(const roce_table* table, size_t position, roce_column* column) {
  return guarded(nullptr, [&] {
    require(table, "table");
    require(column, "column");
    const std::size_t size = column->size;
    if (size < sizeof(roce_column) || position >= roce_table_columns(table))
      throw Failure(ROCE_MISUSE, "position", "no such column");
    fill(*table);
    const ColumnData& data = table->columns[position];
    *column = {size,
               data.name.c_str(),
               data.help.c_str(),
               data.type,
               table->rows,
               values_of(data),
               data.type == ROCE_TEXT ? data.text.c_str() : nullptr,
               data.known.data()};
    return ROCE_OK;
  });
}

void roce_table_free(roce_table* table) {
  if (table != nullptr && !table->of_report) delete table;
}
