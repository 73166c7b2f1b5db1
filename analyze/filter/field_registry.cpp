// SPDX-License-Identifier: Apache-2.0
#include "analyze/filter/field_registry.hpp"

#include <algorithm>
#include <array>

#include "analyze/base/address_text.hpp"
#include "analyze/base/date_text.hpp"
#include "analyze/base/value_format.hpp"
#include "analyze/filter/field_extract.hpp"
#include "analyze/filter/field_virtual.hpp"
#include "capture/core/edit_distance.hpp"
#include "capture/core/lower_case.hpp"
#include "dissect/header_table.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {
namespace {

using dissect::Display;
using dissect::Field;
using dissect::HeaderId;
using dissect::HeaderInfo;

/// A source of a name's values: one field of one header, or (field null) the header itself.
struct Row {
  HeaderId header;
  const Field* field;
};

struct Entry {
  FieldFacts facts;
  std::vector<Row> rows;
  void (*computed)(const PacketView&, Values&) = nullptr;
};

std::uint64_t largest(const Field& field) {
  if (!field.is_number()) return 0;
  const std::uint64_t raw = field.bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << field.bits) - 1U;
  return raw * field.scale;
}

struct ByteCounts {
  std::uint32_t min = 0, max = unbounded_bytes;
};

/// Bytes of the values of a type.
ByteCounts bytes_of_type(ValueType type) {
  switch (type) {
    case ValueType::mac:
      return {6, 6};
    case ValueType::ipv4:
      return {4, 4};
    case ValueType::ipv6:
      return {16, 16};
    case ValueType::ip:
      return {4, 16};
    case ValueType::eui64:
      return {8, 8};
    default:
      return {};
  }
}

ByteCounts bytes_of_field(const Field& field) {
  if (field.bits == 0) return {};
  const auto size = static_cast<std::uint32_t>(field.end_byte() - field.first_byte());
  return {field.display == Display::text ? 0 : size, size};  // texts end at their first NUL
}

/// In Wireshark the value of a header of the InfiniBand transport is its bytes; protocols and groups of
/// fields have no value.
bool header_shows_bytes(const HeaderInfo& header) {
  return (header.id >= HeaderId::lrh && header.id <= HeaderId::vcrc) || header.id == HeaderId::mad;
}

/// An LLDP frame is many layers, one per TLV, but counts as one occurrence of the protocol.
bool continues_header(HeaderId id) {
  return id >= HeaderId::lldp_chassis_id && id <= HeaderId::lldp_end;
}

class Registry {
 public:
  Registry() {
    for (const HeaderInfo& header : dissect::header_table()) add_header(header);
    for (const CombinedField& row : combined_fields()) add_combined(row);
    for (const VirtualField& row : virtual_fields()) add_virtual(row);
    for (const VirtualField& row : protocol_fields()) add_virtual(row);
    for (const VirtualField& row : analysis_fields()) add_virtual(row);
    for (const VirtualField& row : exported_fields()) add_virtual(row);
    sort();
  }

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] const std::vector<FieldRef>& refs() const { return refs_; }

  [[nodiscard]] const std::vector<HeaderField>& fields_of(HeaderId id) const {
    return by_header_[static_cast<std::size_t>(id)];
  }

  [[nodiscard]] std::optional<FieldRef> find(std::string_view name) const {
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), name,
                                     [](const Entry& e, std::string_view n) { return e.facts.name < n; });
    if (at == entries_.end() || at->facts.name != name) return std::nullopt;
    return FieldRef(static_cast<std::uint32_t>(at - entries_.begin()));
  }

 private:
  /// Only while building; linear search in some hundred names.
  Entry& entry_of(std::string_view name) {
    for (Entry& entry : entries_) {
      if (entry.facts.name == name) return entry;
    }
    return entries_.emplace_back();
  }

  void add_header(const HeaderInfo& header) {
    if (!header.name.empty()) {
      Entry& entry = entry_of(header.name);
      if (entry.rows.empty()) {
        entry.facts.name = header.name;
        entry.facts.label = header.title;
        entry.facts.type = header_shows_bytes(header) ? ValueType::bytes : ValueType::presence;
      }
      entry.rows.push_back({header.id, nullptr});
      entry.facts.needs_upper |= is_upper_layer(header.id) || is_trailer(header.id);
    }
    for (const Field& field : header.fields) add_row(entry_of(field.name), header.id, field);
  }

  static void add_row(Entry& entry, HeaderId header, const Field& field) {
    FieldFacts& facts = entry.facts;
    const bool first = entry.rows.empty() || entry.rows.front().field == nullptr;
    if (first) {
      facts.name = field.name;
      facts.label = field.label;
      facts.type = value_type_of(field.display);
      facts.hex = field.display == Display::hex;
    }
    const ByteCounts bytes = bytes_of_field(field);
    facts.min_bytes = first ? bytes.min : std::min(facts.min_bytes, bytes.min);
    facts.max_bytes = first ? bytes.max : std::max(facts.max_bytes, bytes.max);
    if (facts.hex) facts.hex_digits = std::max(facts.hex_digits, hex_digits_of(field));
    facts.max = std::max(facts.max, largest(field));
    facts.needs_upper |= is_upper_layer(header) || is_trailer(header);
    entry.rows.push_back({header, &field});
  }

  void add_virtual(const VirtualField& row) {
    Entry& entry = entry_of(row.facts.name);
    entry.facts = row.facts;
    entry.computed = row.extract;
    ByteCounts bytes = bytes_of_type(row.facts.type);
    if (!row.facts.words.empty()) {
      const auto shorter = [](std::string_view a, std::string_view b) { return a.size() < b.size(); };
      const auto [least, most] = std::minmax_element(row.facts.words.begin(), row.facts.words.end(), shorter);
      bytes = {static_cast<std::uint32_t>(least->size()), static_cast<std::uint32_t>(most->size())};
    }
    entry.facts.min_bytes = bytes.min;
    entry.facts.max_bytes = bytes.max;
  }

  void add_combined(const CombinedField& combined) {
    Entry gathered;
    for (const std::string_view part : combined.parts) {
      const Entry& entry = entry_of(part);
      if (gathered.rows.empty()) gathered.facts = entry.facts;
      gathered.rows.insert(gathered.rows.end(), entry.rows.begin(), entry.rows.end());
    }
    gathered.facts.name = combined.name;
    gathered.facts.label = combined.label;
    Entry& entry = entry_of(combined.name);
    entry = std::move(gathered);
  }

  void sort() {
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry& a, const Entry& b) { return a.facts.name < b.facts.name; });
    for (std::uint32_t i = 0; i < entries_.size(); ++i) refs_.emplace_back(i);
    for (const HeaderInfo& header : dissect::header_table()) {
      for (const Field& field : header.fields)
        by_header_[static_cast<std::size_t>(header.id)].push_back({*find(field.name), &field});
    }
  }

  std::vector<Entry> entries_;
  std::vector<FieldRef> refs_;
  std::array<std::vector<HeaderField>, dissect::header_count> by_header_;
};

const Registry& registry() {
  static const Registry instance;
  return instance;
}

}  // namespace

std::uint8_t hex_digits_of(const Field& field) {
  if (field.hex_digits != 0) return field.hex_digits;
  return static_cast<std::uint8_t>((field.bits + 7U) / 8U * 2U);
}

std::optional<Value> read_value(const Field& field, const std::uint8_t* header, std::size_t length) {
  if (field.present != nullptr && !field.present(header)) return std::nullopt;
  const std::size_t first = field.first_byte();
  const std::size_t end = field.bits == 0 ? length : field.end_byte();
  if (end < first || end > length) return std::nullopt;
  Value value;
  value.type = value_type_of(field.display);
  value.bytes = {header + first, end - first};
  if (field.is_number()) {
    const std::uint64_t raw = field.bits == 0 ? 0 : dissect::read_bits(field, header);
    value.number = raw * field.scale;
    if (field.display == Display::hex) value.hex_digits = hex_digits_of(field);
    if (&field == &dissect::header_table()[static_cast<std::size_t>(HeaderId::bth)].fields.front()) {
      value.text = dissect::opcode_name(static_cast<std::uint8_t>(raw));
    } else {
      value.text = dissect::name_of(field.names, raw);
    }
  } else if (field.display == Display::text) {
    // A text of fixed width ends at its first NUL.
    // reinterpret_cast from bytes to characters is allowed, and string_view needs it.
    const std::string_view text(reinterpret_cast<const char*>(header + first), end - first);
    value.text = text.substr(0, text.find('\0'));
  }
  return value;
}

const std::vector<HeaderField>& fields_of(HeaderId id) {
  return registry().fields_of(id);
}

std::optional<FieldRef> find_field(std::string_view name) {
  return registry().find(name);
}

const FieldFacts& field_facts(FieldRef field) {
  return registry().entries()[field.index()].facts;
}

const std::vector<FieldRef>& all_fields() {
  return registry().refs();
}

std::vector<std::string_view> similar_fields(std::string_view name, std::size_t limit) {
  struct Candidate {
    std::size_t distance;
    std::string_view name;
  };
  constexpr std::size_t longest_name = 128;  // a longer one is not a typing error
  if (name.empty() || name.size() > longest_name) return {};
  const std::string wanted = capture::lower_case(name);
  const std::size_t allowed = std::max<std::size_t>(2, wanted.size() / 4);
  std::vector<Candidate> candidates;
  for (const Entry& entry : registry().entries()) {
    const std::string known = capture::lower_case(entry.facts.name);
    // The difference in length is a lower bound of the distance.
    const std::size_t longer = std::max(known.size(), wanted.size()) - std::min(known.size(), wanted.size());
    std::size_t distance = longer > allowed ? longer : capture::edit_distance(wanted, known);
    // "bth.psn" and "psn" match the end of infiniband.bth.psn, "infiniband.bth." its beginning.
    const bool tail = known.size() > wanted.size() && known.ends_with(wanted) &&
                      known[known.size() - wanted.size() - 1] == '.';
    if (tail || known == wanted) {
      distance = known == wanted ? 0 : 1;
    } else if (wanted.size() >= 3 && known.starts_with(wanted)) {
      distance = std::min(distance, std::size_t{2});
    }
    if (distance <= allowed) candidates.push_back({distance, entry.facts.name});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.distance < b.distance; });
  std::vector<std::string_view> names;
  for (const Candidate& candidate : candidates) {
    if (names.size() == limit) break;
    names.push_back(candidate.name);
  }
  return names;
}

void extract(const PacketView& packet, FieldRef field, Values& out) {
  const Entry& entry = registry().entries()[field.index()];
  if (entry.computed != nullptr) {
    entry.computed(packet, out);
    return;
  }
  for (const dissect::Layer& layer : packet.dissection->all()) {
    for (const Row& row : entry.rows) {
      if (row.header != layer.id) continue;
      const std::uint8_t* header = packet.frame->data + layer.offset;
      if (row.field != nullptr) {
        if (const auto value = read_value(*row.field, header, layer.length)) out.push_back(*value);
      } else if (!continues_header(layer.id) || out.empty()) {
        Value value;
        value.type = entry.facts.type;
        value.number = 1;
        value.bytes = {header, layer.length};
        value.text = dissect::header_info(layer.id).title;
        out.push_back(value);
      }
    }
  }
}

void append_value(std::string& out, const FieldFacts& facts, const Value& value) {
  switch (value.type) {
    case ValueType::number:
      if (facts.hex) {
        append_hex_number(out, value.number, value.hex_digits != 0 ? value.hex_digits : facts.hex_digits);
      } else {
        append_decimal(out, value.number);
      }
      break;
    case ValueType::boolean:
      out.push_back(value.number != 0 ? '1' : '0');
      break;
    case ValueType::time:
      append_seconds(out, static_cast<std::int64_t>(value.number));
      break;
    case ValueType::date:
      append_date_text(out, static_cast<std::int64_t>(value.number));
      break;
    case ValueType::text:
      append_printable(out, value.text);
      break;
    case ValueType::mac:
      append_mac(out, value.bytes.data());
      break;
    case ValueType::ipv4:
      append_ipv4(out, value.bytes.data());
      break;
    case ValueType::ipv6:
      append_ipv6(out, value.bytes.data());
      break;
    case ValueType::eui64:
      append_eui64(out, value.bytes.data());
      break;
    case ValueType::ip:
      break;  // values are of type ipv4 or ipv6
    case ValueType::bytes:
      append_hex(out, value.bytes);
      break;
    case ValueType::presence:
      out.append(value.text.empty() ? facts.label : value.text);
      break;
  }
}

}  // namespace roce::analyze
