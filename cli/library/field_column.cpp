// SPDX-License-Identifier: Apache-2.0
#include "cli/library/field_column.hpp"

#include <utility>

#include "cli/library/failure.hpp"

namespace roce::library {

roce_type type_of_field(const analyze::FieldFacts& facts) noexcept {
  switch (facts.type) {
    case analyze::ValueType::number:
      return facts.max > INT64_MAX ? ROCE_UINT64 : ROCE_INT64;
    case analyze::ValueType::boolean:
    case analyze::ValueType::time:
    case analyze::ValueType::date:
    case analyze::ValueType::presence:
      return ROCE_INT64;
    case analyze::ValueType::text:
    case analyze::ValueType::mac:
    case analyze::ValueType::ipv4:
    case analyze::ValueType::ipv6:
    case analyze::ValueType::ip:
    case analyze::ValueType::eui64:
    case analyze::ValueType::bytes:
      break;
  }
  return ROCE_TEXT;
}

analyze::FieldRef field_named(const std::string& name) {
  if (const auto field = analyze::find_field(name)) return *field;
  std::string message = "no such field";
  const char* before = "; did you mean ";
  for (const std::string_view similar : analyze::similar_fields(name, 3)) {
    message += std::exchange(before, ", ");
    message += similar;
  }
  throw Failure(ROCE_MISUSE, name, message);
}

FieldColumn::FieldColumn(analyze::FieldRef field)
    : field_(field), facts_(&analyze::field_facts(field)), data_(nothing()) {}

ColumnData FieldColumn::nothing() const {
  ColumnData data;
  data.name = facts_->name;
  data.help = facts_->label;
  data.type = type_of_field(*facts_);
  return data;
}

void FieldColumn::add(const analyze::PacketView& packet) {
  values_.clear();
  analyze::extract(packet, field_, values_);
  if (values_.empty()) {
    data_.add_none();
  } else if (data_.type != ROCE_TEXT) {
    data_.add_number(static_cast<std::int64_t>(values_.front().number), values_.size());
  } else {
    text_.clear();
    for (const analyze::Value& value : values_) {
      if (&value != values_.data()) text_ += ',';
      analyze::append_value(text_, *facts_, value);
    }
    data_.add_text(text_, values_.size());
  }
}

ColumnData FieldColumn::take() {
  return std::exchange(data_, nothing());
}

}  // namespace roce::library

using namespace roce;
using namespace roce::library;

size_t roce_field_count(void) {
  return answered<size_t>(0, [] { return analyze::all_fields().size(); });
}

roce_status roce_field_at(size_t position, roce_field* field) {
  return guarded(nullptr, [&] {
    require(field, "field");
    if (field->size < sizeof(roce_field) || position >= analyze::all_fields().size())
      throw Failure(ROCE_MISUSE, "position", "no such field");
    const analyze::FieldFacts& facts = analyze::field_facts(analyze::all_fields()[position]);
    // Names and labels are literals, which end with a NUL.
    *field = {field->size, facts.name.data(), facts.label.data(), type_of_field(facts)};
    return ROCE_OK;
  });
}

size_t roce_field_find(const char* name) {
  if (name == nullptr) return ROCE_NOWHERE;
  return answered<size_t>(ROCE_NOWHERE, [name]() -> size_t {
    const auto field = analyze::find_field(name);
    return field ? field->index() : ROCE_NOWHERE;
  });
}
