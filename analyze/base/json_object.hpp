// SPDX-License-Identifier: Apache-2.0
// Objects of JSON as tables: a row has the key, its meaning, and where the value comes from. The document is
// written from the table and so is its schema, which cannot say anything else than what is written.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "analyze/base/json_shape.hpp"
#include "analyze/base/json_writer.hpp"

namespace roce::analyze {

/// A time in nanoseconds since the epoch; null without one.
struct JsonTime {
  std::optional<std::int64_t> ns;
};
/// A number that is written already, as JSON wants it; empty is null.
struct JsonDigits {
  std::string digits;
};
/// Values by keys that are data.
template <class Value>
struct JsonMap {
  std::vector<std::pair<std::string, Value>> entries;
};
/// Texts, of which an indented document has each on a line of its own. Other lists stay on one line.
template <class Range>
struct JsonLines {
  Range texts;
};
template <class Range>
JsonLines(Range) -> JsonLines<Range>;

namespace json_detail {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_map = false;
template <class T>
inline constexpr bool is_map<JsonMap<T>> = true;
template <class T>
inline constexpr bool is_lines = false;
template <class T>
inline constexpr bool is_lines<JsonLines<T>> = true;

[[nodiscard]] inline JsonShape list_shape(JsonShape::Kind kind, JsonShape item) {
  JsonShape shape{.kind = kind};
  shape.item = std::make_shared<const JsonShape>(std::move(item));
  return shape;
}

/// The type of what a getter returns.
template <class T>
[[nodiscard]] JsonShape shape_of() {
  using Kind = JsonShape::Kind;
  if constexpr (is_optional<T>) {
    JsonShape shape = shape_of<typename T::value_type>();
    shape.nullable = true;
    return shape;
  } else if constexpr (std::same_as<T, JsonTime>) {
    return {.kind = Kind::integer, .nullable = true};
  } else if constexpr (std::same_as<T, JsonDigits>) {
    return {.kind = Kind::number};
  } else if constexpr (std::same_as<T, bool>) {
    return {.kind = Kind::boolean};
  } else if constexpr (std::integral<T>) {
    return {.kind = Kind::integer};
  } else if constexpr (std::floating_point<T>) {
    return {.kind = Kind::number};
  } else if constexpr (std::convertible_to<const T&, std::string_view>) {
    return {.kind = Kind::text};
  } else if constexpr (is_map<T>) {
    return list_shape(Kind::map, shape_of<typename decltype(T::entries)::value_type::second_type>());
  } else if constexpr (is_lines<T>) {
    return list_shape(Kind::list, {.kind = Kind::text});
  } else {
    return list_shape(Kind::list, shape_of<std::remove_cvref_t<std::ranges::range_value_t<T>>>());
  }
}

template <class T>
void write_value(JsonWriter& json, const T& value) {
  if constexpr (is_optional<T>) {
    value ? write_value(json, *value) : static_cast<void>(json.null());
  } else if constexpr (std::same_as<T, JsonTime>) {
    write_value(json, value.ns);
  } else if constexpr (std::same_as<T, JsonDigits>) {
    value.digits.empty() ? json.null() : json.number(value.digits);
  } else if constexpr (std::integral<T> || std::floating_point<T>) {
    json.value(value);
  } else if constexpr (std::convertible_to<const T&, std::string_view>) {
    json.value(std::string_view(value));
  } else if constexpr (is_map<T>) {
    json.begin_object();
    for (const auto& [key, each] : value.entries) {
      json.key(key);
      write_value(json, each);
    }
    json.end_object();
  } else if constexpr (is_lines<T>) {
    json.begin_array();
    for (const auto& each : value.texts) json.value(std::string_view(each));
    json.end_array();
  } else {
    json.begin_row();
    for (const auto& each : value) write_value(json, each);
    json.end_row();
  }
}

}  // namespace json_detail

/// The table of the keys of an object that tells of a Row. Getters are called once for each object written: a
/// function of the row, or a member of it. To be filled once and then only read, from any thread.
template <class Row>
class JsonObject {
 public:
  /// `name`: of this kind of object, unique in a document.
  explicit JsonObject(std::string name) : description_(std::make_shared<JsonDescription>()) {
    description_->name = std::move(name);
  }

  /// A value: a number, a text, a list or map of them; null where it is an optional without value.
  template <class Get>
  JsonObject& key(std::string name, std::string_view help, Get get) {
    using Value = std::remove_cvref_t<std::invoke_result_t<const Get&, const Row&>>;
    describe(name, help, json_detail::shape_of<Value>());
    if constexpr (std::same_as<Value, JsonTime>) description_->keys.back().unit = "ns since 1970";
    writers_.push_back([name = std::move(name), get](JsonWriter& json, const Row& row) {
      json.key(name);
      json_detail::write_value<Value>(json, std::invoke(get, row));
    });
    return *this;
  }
  /// Of the key before: all values that its text can have, empty ones left out.
  template <class Names>
  JsonObject& of(const Names& names) {
    JsonShape* shape = &description_->keys.back().shape;
    std::vector<std::string> values;
    for (const auto& each : names) {
      if (!std::string_view(each).empty()) values.emplace_back(std::string_view(each));
    }
    if (shape->kind == JsonShape::Kind::list) {
      JsonShape item = *shape->item;
      item.values = std::move(values);
      shape->item = std::make_shared<const JsonShape>(std::move(item));
    } else {
      shape->values = std::move(values);
    }
    return *this;
  }
  JsonObject& of(std::initializer_list<std::string_view> names) {
    return of(std::span<const std::string_view>(names.begin(), names.size()));
  }
  /// Of the key before: its unit, where the name does not tell.
  JsonObject& in(std::string_view unit) {
    description_->keys.back().unit = unit;
    return *this;
  }

  /// An object; null where an optional or a pointer has none.
  template <class Sub, class Get>
  JsonObject& object(std::string name, std::string_view help, const JsonObject<Sub>& sub, Get get) {
    using Value = std::invoke_result_t<const Get&, const Row&>;
    constexpr bool whole = std::convertible_to<Value, const Sub&>;
    JsonShape shape = sub.shape();
    shape.nullable = !whole;
    describe(name, help, std::move(shape));
    writers_.push_back([name = std::move(name), get, &sub](JsonWriter& json, const Row& row) {
      json.key(name);
      const auto& value = std::invoke(get, row);
      if constexpr (whole) {
        sub.write(json, value);
      } else {
        value ? sub.write(json, *value) : static_cast<void>(json.null());
      }
    });
    return *this;
  }
  /// A list of objects, of a range of them or of pointers to them. Row::step() is called behind each, if
  /// there is one: long documents are handed on in pieces.
  template <class Sub, class Get>
  JsonObject& list(std::string name, std::string_view help, const JsonObject<Sub>& sub, Get get) {
    describe(name, help, json_detail::list_shape(JsonShape::Kind::list, sub.shape()));
    writers_.push_back([name = std::move(name), get, &sub](JsonWriter& json, const Row& row) {
      json.key(name).begin_array();
      const auto& all = std::invoke(get, row);
      for (const auto& each : all) {
        if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(each)>>) {
          sub.write(json, *each);
        } else {
          sub.write(json, each);
        }
        if constexpr (requires { row.step(); }) row.step();
      }
      json.end_array();
    });
    return *this;
  }
  /// Objects by keys that are data: a range of pairs.
  template <class Sub, class Get>
  JsonObject& map(std::string name, std::string_view help, const JsonObject<Sub>& sub, Get get) {
    describe(name, help, json_detail::list_shape(JsonShape::Kind::map, sub.shape()));
    writers_.push_back([name = std::move(name), get, &sub](JsonWriter& json, const Row& row) {
      json.key(name).begin_object();
      const auto& all = std::invoke(get, row);
      for (const auto& [key, each] : all) {
        json.key(key);
        sub.write(json, each);
      }
      json.end_object();
    });
    return *this;
  }
  /// The keys of another table, among those of this object.
  template <class Sub, class Get>
  JsonObject& include(const JsonObject<Sub>& sub, Get get) {
    for (const JsonKey& each : sub.description_->keys) description_->keys.push_back(each);
    writers_.push_back([get, &sub](JsonWriter& json, const Row& row) {
      const auto& value = std::invoke(get, row);
      sub.write_keys(json, value);
    });
    return *this;
  }
  /// The keys of a table of the same row.
  JsonObject& include(const JsonObject& sub) { return include(sub, std::identity()); }
  /// A key that `write` writes with the value of that shape: for what a table of another kind tells.
  JsonObject& described(JsonKey key, std::function<void(JsonWriter&, const Row&)> write) {
    description_->keys.push_back(std::move(key));
    writers_.push_back(std::move(write));
    return *this;
  }

  void write(JsonWriter& json, const Row& row) const {
    json.begin_object();
    write_keys(json, row);
    json.end_object();
  }
  /// Into an open object.
  void write_keys(JsonWriter& json, const Row& row) const {
    for (const auto& each : writers_) each(json, row);
  }

  [[nodiscard]] bool has(std::string_view name) const noexcept {
    for (const JsonKey& each : description_->keys) {
      if (each.name == name) return true;
    }
    return false;
  }
  [[nodiscard]] JsonShape shape() const {
    JsonShape shape{.kind = JsonShape::Kind::object};
    shape.object = description_;
    return shape;
  }

 private:
  template <class Other>
  friend class JsonObject;

  void describe(const std::string& name, std::string_view help, JsonShape shape) {
    std::string unit(json_unit_of(name, shape));
    description_->keys.push_back(
        {.name = name, .unit = std::move(unit), .help = std::string(help), .shape = std::move(shape)});
  }

  std::shared_ptr<JsonDescription> description_;
  std::vector<std::function<void(JsonWriter&, const Row&)>> writers_;
};

}  // namespace roce::analyze
