// SPDX-License-Identifier: Apache-2.0
// What a JSON document looks like: its keys with their types, units and meanings. JsonObject makes it from
// the same table that writes the document; json_schema.hpp prints it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace roce::analyze {

struct JsonDescription;

/// The type of a value.
struct JsonShape {
  enum class Kind : std::uint8_t {
    text,
    integer,
    number,
    boolean,
    object,        ///< of the keys in `object`
    list,          ///< of `item`
    map,           ///< values are `item`; its keys are data: opcodes, DSCPs, names of counters
    any_of,        ///< one of `choices`
    once_or_list,  ///< `item`, or a list of at least two of them
  };
  Kind kind = Kind::text;
  bool nullable = false;
  std::vector<std::string> values = {};  ///< of a text: all that are possible; empty: any
  std::shared_ptr<const JsonDescription> object = nullptr;
  std::shared_ptr<const JsonShape> item = nullptr;
  std::vector<JsonShape> choices = {};
};

/// A key of an object.
struct JsonKey {
  std::string name;
  std::string unit =
      {};  ///< of its numbers: "ns", "byte" ...; empty: a count of what the help says, an id, or no number
  std::string help = {};
  JsonShape shape = {};
  bool always = true;  ///< false: absent where it does not apply
};

/// The keys of an object in the order in which they are written.
struct JsonDescription {
  std::string name;  ///< of this kind of object, unique in a document
  std::vector<JsonKey> keys;
};

/// The unit that the name of a numeric key tells: `_ns` are nanoseconds, `bytes` and `_bytes` bytes ...;
/// empty: none.
[[nodiscard]] std::string_view json_unit_of(std::string_view name, const JsonShape& shape) noexcept;

}  // namespace roce::analyze
