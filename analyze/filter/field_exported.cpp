// SPDX-License-Identifier: Apache-2.0
// Fields of the records of IPFIX and NetFlow: one for each element that has a name.
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "analyze/filter/field_extract.hpp"
#include "analyze/filter/field_virtual.hpp"
#include "dissect/bytes.hpp"
#include "dissect/headers/ipfix_elements.hpp"

namespace roce::analyze {
namespace {

using dissect::ipfix::element_table;
using dissect::ipfix::ElementInfo;

constexpr std::size_t longest_number = 8;
constexpr std::size_t element_count = std::size(element_table) + 1;

/// The last one is any other element.
constexpr const ElementInfo& element_at(std::size_t i) {
  return i < std::size(element_table) ? element_table[i] : dissect::ipfix::other_element;
}

std::size_t size_of(dissect::Display display) noexcept {
  switch (display) {
    case dissect::Display::mac:
      return 6;
    case dissect::Display::ipv4:
      return 4;
    case dissect::Display::ipv6:
      return 16;
    default:
      return 0;  // any
  }
}

template <std::size_t I>
void extract_element(const PacketView& packet, Values& out) {
  for (const dissect::ipfix::RecordValue& row : packet.exported) {
    if (row.info != &element_at(I)) continue;
    if (const auto value = read_value(row, packet.frame->data)) out.push_back(*value);
  }
}

constexpr FieldFacts facts_of(const ElementInfo& element) {
  FieldFacts facts;
  facts.name = element.name;
  facts.label = element.label;
  facts.type = value_type_of(element.display);
  facts.hex = element.display == dissect::Display::hex;
  facts.hex_digits = facts.hex ? 2 : 0;
  facts.max = facts.type == ValueType::number ? ~std::uint64_t{0} : 0;
  facts.needs_upper = true;  // templates are in packets before
  return facts;
}

template <std::size_t... I>
std::array<VirtualField, element_count> rows_of(std::index_sequence<I...>) {
  return {VirtualField{facts_of(element_at(I)), extract_element<I>}...};
}

}  // namespace

std::optional<Value> read_value(const dissect::ipfix::RecordValue& exported, const std::uint8_t* frame) {
  const dissect::Display display = exported.info->display;
  Value value;
  value.type = value_type_of(display);
  value.bytes = {frame + exported.offset, exported.length};
  if (value.type == ValueType::number) {
    if (exported.length == 0 || exported.length > longest_number) return std::nullopt;
    value.number = dissect::load_be(value.bytes.data(), value.bytes.size());
    if (display == dissect::Display::hex) value.hex_digits = static_cast<std::uint8_t>(2 * exported.length);
    value.text = dissect::name_of(exported.info->names, value.number);
  } else if (value.type == ValueType::text) {
    // reinterpret_cast from bytes to characters is allowed, and string_view needs it.
    const std::string_view text(reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size());
    value.text = text.substr(0, text.find('\0'));
  } else if (const std::size_t size = size_of(display); size != 0 && size != exported.length) {
    return std::nullopt;
  }
  return value;
}

std::span<const VirtualField> exported_fields() {
  static const std::array<VirtualField, element_count> rows =
      rows_of(std::make_index_sequence<element_count>());
  return rows;
}

}  // namespace roce::analyze
