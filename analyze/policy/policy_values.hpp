// SPDX-License-Identifier: Apache-2.0
// Internal to the parser: reads values of a policy's keys and reports errors with their position.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/policy/policy_error.hpp"
#include "analyze/policy/policy_quote.hpp"
#include "analyze/policy/toml_tree.hpp"
#include "capture/core/edit_distance.hpp"
#include "dissect/field.hpp"

namespace roce::analyze {

/// Collects errors, policy_errors_kept at most.
class Mistakes {
 public:
  explicit Mistakes(std::string file) : file_(std::move(file)) {}

  void add(const TextPlace& place, std::string message) {
    if (errors.size() < policy_errors_kept)
      errors.push_back({file_, place.line, place.column, std::move(message)});
  }
  [[nodiscard]] const std::string& file() const noexcept { return file_; }

  PolicyErrors errors;

 private:
  std::string file_;
};

/// "; did you mean 'dscp'?", or empty.
[[nodiscard]] inline std::string meant_text(std::string_view typed, std::span<const std::string_view> words) {
  const std::string_view meant = capture::nearest_word(typed, words);
  return meant.empty() ? std::string() : fmt::format("; did you mean '{}'?", meant);
}

/// Range and notation of a number.
struct NumberKind {
  std::string_view what;      ///< "DSCP"
  std::uint64_t first = 0;    ///< lowest value
  std::uint64_t last = 0;     ///< highest value
  std::string_view expected;  ///< "0 to 63, a name (af31) or a range (\"24-28\")"
  std::optional<std::uint64_t> (*named)(std::string_view word) = nullptr;
};

namespace detail {

[[nodiscard]] inline std::optional<std::uint64_t> plain_number(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value, base);
  if (failure != std::errc() || stop != end) return std::nullopt;
  return value;
}

[[nodiscard]] inline std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

[[nodiscard]] inline std::optional<std::uint64_t> number_or_name(std::string_view text,
                                                                 const NumberKind& kind) {
  text = without_blanks(text);
  if (kind.named != nullptr) {
    if (const auto value = kind.named(text)) return value;
  }
  return plain_number(text);
}

}  // namespace detail

/// Calls use(first, last) for a number, a range or a list of these; false after an error.
template <class Use>
bool read_numbers(const TomlNode& node, const NumberKind& kind, Mistakes& mistakes, Use use) {
  const auto wrong = [&](std::string_view shown) {
    mistakes.add(node.place,
                 fmt::format("{} is not a valid {}: expected {}", shown, kind.what, kind.expected));
    return false;
  };
  const auto in_bounds = [&](std::uint64_t value) { return value >= kind.first && value <= kind.last; };
  switch (node.kind) {
    case TomlNode::Kind::array: {
      if (node.items.empty()) {
        mistakes.add(node.place,
                     fmt::format("an empty list allows no {}: leave the key out to allow any", kind.what));
        return false;
      }
      bool good = true;
      for (const TomlNode& item : node.items) {
        if (item.kind == TomlNode::Kind::array) {
          mistakes.add(item.place, fmt::format("a list in a list: expected {}", kind.expected));
          good = false;
        } else {
          good = read_numbers(item, kind, mistakes, use) && good;
        }
      }
      return good;
    }
    case TomlNode::Kind::integer: {
      if (node.number < 0 || !in_bounds(static_cast<std::uint64_t>(node.number)))
        return wrong(std::to_string(node.number));
      use(static_cast<std::uint64_t>(node.number), static_cast<std::uint64_t>(node.number));
      return true;
    }
    case TomlNode::Kind::string: {
      const std::string_view text = node.text;
      if (const auto value = detail::number_or_name(text, kind)) {
        if (!in_bounds(*value)) return wrong(toml_string(text));
        use(*value, *value);
        return true;
      }
      const std::size_t dash = text.find('-');
      if (dash == std::string_view::npos) return wrong(toml_string(text));
      const auto first = detail::number_or_name(text.substr(0, dash), kind);
      const auto last = detail::number_or_name(text.substr(dash + 1), kind);
      if (!first || !last || !in_bounds(*first) || !in_bounds(*last)) return wrong(toml_string(text));
      if (*first > *last) {
        mistakes.add(node.place, fmt::format("the range {} ends before it begins", toml_string(text)));
        return false;
      }
      use(*first, *last);
      return true;
    }
    default:
      return wrong(kind_text(node));
  }
}

/// Calls use(node) for a string or every string of a list.
template <class Use>
void read_texts(const TomlNode& node, std::string_view what, Mistakes& mistakes, Use use) {
  if (node.kind == TomlNode::Kind::string) return use(node);
  if (node.kind != TomlNode::Kind::array) {
    mistakes.add(node.place, fmt::format("{} is not a valid {}", kind_text(node), what));
    return;
  }
  if (node.items.empty()) mistakes.add(node.place, fmt::format("an empty list: expected {}", what));
  for (const TomlNode& item : node.items) {
    if (item.kind == TomlNode::Kind::string) {
      use(item);
    } else {
      mistakes.add(item.place, fmt::format("{} is not a valid {}", kind_text(item), what));
    }
  }
}

[[nodiscard]] inline std::optional<bool> read_boolean(const TomlNode& node, Mistakes& mistakes) {
  if (node.kind == TomlNode::Kind::boolean) return node.number != 0;
  mistakes.add(node.place, fmt::format("expected true or false, not {}", kind_text(node)));
  return std::nullopt;
}

/// The index of the string in `words`; reports an error if it is not there.
[[nodiscard]] inline std::optional<std::size_t> read_word(const TomlNode& node,
                                                          std::span<const std::string_view> words,
                                                          Mistakes& mistakes) {
  if (node.kind == TomlNode::Kind::string) {
    const auto at = std::find(words.begin(), words.end(), node.text);
    if (at != words.end()) return static_cast<std::size_t>(at - words.begin());
  }
  std::string all;
  for (const std::string_view word : words)
    all += fmt::format("{}\"{}\"", all.empty() ? "" : word == words.back() ? " or " : ", ", word);
  const bool text = node.kind == TomlNode::Kind::string;
  mistakes.add(node.place, fmt::format("expected {}, not {}{}", all,
                                       text ? toml_string(node.text) : std::string(kind_text(node)),
                                       text ? meant_text(node.text, words) : std::string()));
  return std::nullopt;
}

/// One key of a table and its reader.
template <class Target>
struct KeyRow {
  std::string_view name;
  void (*read)(const TomlNode& value, Target& target);
};

/// Reads the keys of a table by their rows. `where` is the table's name for messages: "[class.data]".
template <class Target>
void read_keys(const TomlNode& table, std::string_view where, std::span<const KeyRow<Target>> rows,
               Target& target, Mistakes& mistakes) {
  for (const TomlEntry& entry : table.entries) {
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const KeyRow<Target>& r) { return r.name == entry.key; });
    if (row != rows.end()) {
      row->read(entry.value, target);
      continue;
    }
    std::vector<std::string_view> names;
    for (const KeyRow<Target>& known : rows) names.push_back(known.name);
    mistakes.add(entry.place,
                 fmt::format("no key {} in {}{}", key_text(entry.key), where, meant_text(entry.key, names)));
  }
}

}  // namespace roce::analyze
