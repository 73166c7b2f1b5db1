// SPDX-License-Identifier: Apache-2.0
#include "analyze/show/packet_json.hpp"

#include <memory>
#include <string_view>
#include <utility>

#include "analyze/base/value_format.hpp"
#include "analyze/filter/field_extract.hpp"
#include "analyze/filter/field_virtual.hpp"

namespace roce::analyze {
namespace {

/// How values of this type stand in JSON; texts, addresses and bytes as strings.
JsonShape::Kind json_kind(ValueType type) noexcept {
  switch (type) {
    case ValueType::number:
      return JsonShape::Kind::integer;
    case ValueType::time:
      return JsonShape::Kind::number;
    case ValueType::boolean:
    case ValueType::presence:
      return JsonShape::Kind::boolean;
    default:
      return JsonShape::Kind::text;
  }
}

void append_json_value(std::string& out, FieldRef field, const Value& value) {
  switch (json_kind(value.type)) {
    case JsonShape::Kind::integer:
      append_decimal(out, value.number);
      return;
    case JsonShape::Kind::number:
      append_seconds(out, static_cast<std::int64_t>(value.number));
      return;
    case JsonShape::Kind::boolean:
      out += value.type == ValueType::presence || value.number != 0 ? "true" : "false";
      return;
    default:
      out.push_back('"');
      if (value.type == ValueType::text) {
        append_json_escaped(out, value.text);
      } else {
        append_value(out, field_facts(field), value);
      }
      out.push_back('"');
      return;
  }
}

}  // namespace

PacketJson::PacketJson(bool bytes) : all_(true) {
  for (const auto rows : {virtual_fields(), analysis_fields(), exported_fields()}) {
    for (const VirtualField& field : rows) {
      if (field.facts.type == ValueType::presence || field.facts.restates) continue;
      if (field.facts.name == "frame" && !bytes) continue;
      if (const auto ref = find_field(field.facts.name))
        (field.facts.name.starts_with("frame.") ? before_ : behind_).push_back(*ref);
    }
  }
  slot_of_field_.resize(all_fields().size());
}

PacketJson::PacketJson(std::vector<FieldRef> fields) : before_(std::move(fields)) {
  slot_of_field_.resize(all_fields().size());
}

void PacketJson::add(FieldRef field, const Value& value) {
  std::uint32_t& slot = slot_of_field_[field.index()];
  if (slot == 0) {
    if (used_ == slots_.size()) slots_.push_back({field, {}});
    slots_[used_].field = field;
    slots_[used_].values.clear();
    slot = static_cast<std::uint32_t>(++used_);
  }
  slots_[slot - 1].values.push_back(value);
}

void PacketJson::append(std::string& out, const PacketView& packet) {
  used_ = 0;
  const auto computed = [&](const std::vector<FieldRef>& fields) {
    for (const FieldRef field : fields) {
      if (slot_of_field_[field.index()] != 0) continue;  // requested twice
      scratch_.clear();
      extract(packet, field, scratch_);
      for (const Value& value : scratch_) add(field, value);
    }
  };
  computed(before_);
  if (all_) {
    for (const dissect::Layer& layer : packet.dissection->all()) {
      const std::uint8_t* header = packet.frame->data + layer.offset;
      for (const HeaderField& row : fields_of(layer.id)) {
        if (const auto value = read_value(*row.field, header, layer.length)) add(row.ref, *value);
      }
    }
    computed(behind_);
  }
  write(out);
  for (std::size_t i = 0; i < used_; ++i) slot_of_field_[slots_[i].field.index()] = 0;
}

JsonShape packet_json_shape() {
  auto object = std::make_shared<JsonDescription>();
  object->name = "packet";
  for (const FieldRef field : all_fields()) {
    const FieldFacts& facts = field_facts(field);
    auto value = std::make_shared<JsonShape>(JsonShape{.kind = json_kind(facts.type)});
    for (const std::string_view word : facts.words) value->values.emplace_back(word);
    JsonKey key{.name = std::string(facts.name), .help = std::string(facts.label), .always = false};
    if (facts.type == ValueType::time) key.unit = "s";
    key.shape = {.kind = JsonShape::Kind::once_or_list, .item = std::move(value)};
    object->keys.push_back(std::move(key));
  }
  return {.kind = JsonShape::Kind::object, .object = std::move(object)};
}

void PacketJson::write(std::string& out) const {
  out.push_back('{');
  for (std::size_t i = 0; i < used_; ++i) {
    const Slot& slot = slots_[i];
    out += i == 0 ? "\"" : ",\"";
    out += field_facts(slot.field).name;
    out += "\":";
    const bool array = slot.values.size() > 1;
    if (array) out.push_back('[');
    for (std::size_t j = 0; j < slot.values.size(); ++j) {
      if (j != 0) out.push_back(',');
      append_json_value(out, slot.field, slot.values[j]);
    }
    if (array) out.push_back(']');
  }
  out += "}\n";
}

}  // namespace roce::analyze
