// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "analyze/base/json_object.hpp"
#include "analyze/results/columns.hpp"

namespace roce::analyze {

/// A column of a table as a key of an object: numbers as numbers, texts as strings, null where a cell is
/// empty. `get` gives the column's row of the object's.
template <class Object, class Row, class Get>
void add_column(JsonObject<Object>& object, const Column<Row>& column, Get get) {
  using Kind = JsonShape::Kind;
  const CellType type = column.cell_type();
  JsonKey key{.name = std::string(column.name),
              .unit = {},
              .help = std::string(column.help),
              .shape = {.kind = type == CellType::integer ? Kind::integer
                                : type == CellType::real  ? Kind::number
                                                          : Kind::text,
                        .nullable = true}};
  key.unit = json_unit_of(column.name, key.shape);
  object.described(std::move(key), [&column, type, get](JsonWriter& json, const Object& row) {
    const std::string text = column.machine_text(std::invoke(get, row));
    json.key(column.name);
    if (text.empty()) {
      json.null();
    } else if (type != CellType::text) {
      json.number(text);
    } else {
      json.value(text);
    }
  });
}

/// These columns, in this order.
template <class Object, class Row, class Get = std::identity>
void add_columns(JsonObject<Object>& object, std::span<const Column<Row>> columns,
                 std::initializer_list<std::string_view> names, Get get = {}) {
  for (const std::string_view name : names) add_column(object, *find_column(columns, name), get);
}

/// All columns of which the object has no key yet, so that a new one needs a row in its table and nothing
/// else. `nested` names those of which the object tells in another shape, like {"packets": ..., "nak": ...}.
template <class Object, class Row, class Get = std::identity>
void add_other_columns(JsonObject<Object>& object, std::span<const Column<Row>> columns,
                       std::initializer_list<std::string_view> nested = {}, Get get = {}) {
  for (const Column<Row>& column : columns) {
    if (std::find(nested.begin(), nested.end(), column.name) == nested.end() && !object.has(column.name))
      add_column(object, column, get);
  }
}

}  // namespace roce::analyze
