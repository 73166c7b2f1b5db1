// SPDX-License-Identifier: Apache-2.0
#include "analyze/base/json_schema.hpp"

#include <algorithm>
#include <vector>

#include "analyze/base/json_writer.hpp"

namespace roce::analyze {
namespace {

/// Objects that were referred to, each once, in the order of the first reference.
class Definitions {
 public:
  void add(const JsonDescription& object) {
    if (std::find(all_.begin(), all_.end(), &object) == all_.end()) all_.push_back(&object);
  }
  /// Grows while they are written: each may refer to others.
  [[nodiscard]] const JsonDescription* at(std::size_t i) const { return i < all_.size() ? all_[i] : nullptr; }

 private:
  std::vector<const JsonDescription*> all_;
};

class SchemaWriter {
 public:
  explicit SchemaWriter(std::string& out) : json_(out, true) {}

  void write(std::string_view title, std::string_view description, std::string_view version,
             const JsonShape& document) {
    json_.begin_object().field("$schema", "https://json-schema.org/draft/2020-12/schema");
    json_.field("title", title).field("description", description).field("x-version", version);
    write_type(document);
    json_.key("$defs").begin_object();
    for (std::size_t i = 0; const JsonDescription* object = definitions_.at(i); ++i) {
      json_.key(object->name);
      write_object(*object);
    }
    json_.end_object().end_object();
  }

 private:
  void write_shape(const JsonShape& shape) {
    json_.begin_object();
    write_type(shape);
    json_.end_object();
  }

  /// Into an open object.
  void write_type(const JsonShape& shape) {
    using Kind = JsonShape::Kind;
    switch (shape.kind) {
      case Kind::text:
        write_name("string", shape.nullable);
        write_values(shape);
        return;
      case Kind::integer:
        return write_name("integer", shape.nullable);
      case Kind::number:
        return write_name("number", shape.nullable);
      case Kind::boolean:
        return write_name("boolean", shape.nullable);
      case Kind::object:
        return write_reference(shape);
      case Kind::list:
        write_name("array", shape.nullable);
        json_.key("items");
        return write_shape(*shape.item);
      case Kind::map:
        write_name("object", shape.nullable);
        json_.key("additionalProperties");
        return write_shape(*shape.item);
      case Kind::any_of:
        json_.key("anyOf").begin_array();
        for (const JsonShape& choice : shape.choices) write_shape(choice);
        json_.end_array();
        return;
      case Kind::once_or_list:
        json_.key("anyOf").begin_array();
        write_shape(*shape.item);
        json_.begin_object().field("type", "array").field("minItems", 2).key("items");
        write_shape(*shape.item);
        json_.end_object().end_array();
        return;
    }
  }

  void write_name(std::string_view type, bool nullable) {
    json_.key("type");
    if (nullable) {
      json_.begin_row().value(type).value("null").end_row();
    } else {
      json_.value(type);
    }
  }

  void write_values(const JsonShape& shape) {
    if (shape.values.empty()) return;
    json_.key("enum").begin_row();
    for (const std::string& value : shape.values) json_.value(value);
    if (shape.nullable) json_.null();
    json_.end_row();
  }

  void write_reference(const JsonShape& shape) {
    definitions_.add(*shape.object);
    const std::string name = "#/$defs/" + shape.object->name;
    if (!shape.nullable) {
      json_.field("$ref", name);
      return;
    }
    json_.key("anyOf").begin_array();
    json_.begin_object().field("$ref", name).end_object();
    json_.begin_object().field("type", "null").end_object();
    json_.end_array();
  }

  void write_object(const JsonDescription& object) {
    json_.begin_object().field("type", "object").field("additionalProperties", false);
    json_.key("properties").begin_object();
    for (const JsonKey& key : object.keys) {
      json_.key(key.name).begin_object();
      write_type(key.shape);
      if (!key.unit.empty()) json_.field("x-unit", key.unit);
      json_.field("description", key.help).end_object();
    }
    json_.end_object().key("required").begin_row();
    for (const JsonKey& key : object.keys) {
      if (key.always) json_.value(key.name);
    }
    json_.end_row().end_object();
  }

  JsonWriter json_;
  Definitions definitions_;
};

}  // namespace

std::string json_schema(std::string_view title, std::string_view description, std::string_view version,
                        const JsonShape& document) {
  std::string text;
  SchemaWriter(text).write(title, description, version, document);
  text += '\n';
  return text;
}

}  // namespace roce::analyze
