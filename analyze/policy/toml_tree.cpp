// SPDX-License-Identifier: Apache-2.0
#include "analyze/policy/toml_tree.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/policy/toml_depth.hpp"

// toml++ 3.3 asserts conditions that it then handles as errors ("[/x]"), and lets clang assume them in
// release builds. Hostile input can violate them, so the assertions are switched off in every build.
#undef NDEBUG
#define TOML_ASSERT(expr) static_assert(true)
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include "dissect/enum_names.hpp"

namespace roce::analyze {
namespace {

TextPlace place_of_node(const toml::source_region& region) {
  return {static_cast<std::size_t>(region.begin.line), static_cast<std::size_t>(region.begin.column)};
}

bool before(const TextPlace& a, const TextPlace& b) {
  return a.line != b.line ? a.line < b.line : a.column < b.column;
}

/// The recursion is bounded by too_deep_in_toml(); the limit of toml++ does not count keys.
TomlNode node_of(const toml::node& from) {
  TomlNode node;
  node.place = place_of_node(from.source());
  if (const toml::table* table = from.as_table()) {
    node.kind = TomlNode::Kind::table;
    for (const auto& [key, value] : *table)
      node.entries.push_back({std::string(key.str()), place_of_node(key.source()), node_of(value)});
    // toml++ sorts by key.
    std::stable_sort(node.entries.begin(), node.entries.end(),
                     [](const TomlEntry& a, const TomlEntry& b) { return before(a.place, b.place); });
  } else if (const toml::array* array = from.as_array()) {
    node.kind = TomlNode::Kind::array;
    for (const toml::node& item : *array) node.items.push_back(node_of(item));
  } else if (const auto* text = from.as_string()) {
    node.kind = TomlNode::Kind::string;
    node.text = text->get();
  } else if (const auto* number = from.as_integer()) {
    node.kind = TomlNode::Kind::integer;
    node.number = number->get();
  } else if (const auto* boolean = from.as_boolean()) {
    node.kind = TomlNode::Kind::boolean;
    node.number = boolean->get() ? 1 : 0;
  }
  return node;
}

/// Position of the first control character other than tab and line ends, which TOML does not allow; line 0 if
/// there is none.
TextPlace control_character(std::string_view text) {
  TextPlace place{1, 1};
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7f) return place;
    if (c == '\n') {
      ++place.line;
      place.column = 1;
    } else if ((byte & 0xc0U) != 0x80U) {
      ++place.column;
    }
  }
  return {};
}

tl::unexpected<PolicyError> refused_at(const TextPlace& place, std::string message) {
  PolicyError error;
  error.line = place.line;
  error.column = place.column;
  error.message = std::move(message);
  return tl::unexpected(std::move(error));
}

}  // namespace

std::string_view kind_text(const TomlNode& node) noexcept {
  using enum TomlNode::Kind;
  static constexpr EnumNames<TomlNode::Kind, 6> names({{table, "a table"},
                                                       {array, "a list"},
                                                       {string, "a string"},
                                                       {integer, "a whole number"},
                                                       {boolean, "true or false"},
                                                       {other, "a fraction or a date"}});
  return names[node.kind];
}

tl::expected<TomlNode, PolicyError> parse_toml(std::string_view text) {
  if (const TextPlace place = control_character(text); place.line != 0)
    return refused_at(place, "not TOML: a control character");
  if (const TextPlace place = too_deep_in_toml(text); place.line != 0)
    return refused_at(place, fmt::format("tables and lists nest deeper than {}", toml_depth_max));
  const toml::parse_result result = toml::parse(text);
  if (!result) {
    const TextPlace place = place_of_node(result.error().source());
    return refused_at({std::max<std::size_t>(place.line, 1), std::max<std::size_t>(place.column, 1)},
                      "not TOML: " + std::string(result.error().description()));
  }
  return node_of(result.table());
}

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    constexpr char digits[] = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\u00";
      out += digits[byte >> 4U];
      out += digits[byte & 15U];
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace roce::analyze
