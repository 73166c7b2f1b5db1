// SPDX-License-Identifier: Apache-2.0
#include "analyze/policy/traffic_class_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "analyze/base/address_text.hpp"
#include "capture/core/edit_distance.hpp"

namespace roce::analyze {
namespace {

constexpr std::string_view blanks = " \t\r";

/// Without leading and trailing blanks.
std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// As kstrtoint() with base 0: decimal, 0x hexadecimal, 0 octal.
std::optional<std::int64_t> number_of(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text.starts_with('0')) {
    base = 8;
    text.remove_prefix(1);
  }
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value, base);
  if (failure != std::errc() || stop != end || text.starts_with('-')) return std::nullopt;
  return negative ? -value : value;
}

enum class Field : std::uint8_t { tclass, src_ip, dst_ip, src_ip6, dst_ip6, count_ };
constexpr std::string_view field_names[] = {"tclass", "src_ip", "dst_ip", "src_ip6", "dst_ip6"};

/// The content of one line.
struct Line {
  std::optional<std::int64_t> tclass;
  std::optional<AddressPrefix> src, dst;
  std::string src_key, dst_key;
  unsigned seen = 0;  ///< fields, as bits
};

/// Column in characters, not bytes.
std::size_t column_of(std::string_view line, std::string_view part) {
  std::size_t column = 1;
  for (const char* at = line.data(); at < part.data(); ++at) {
    if ((static_cast<unsigned char>(*at) & 0xc0U) != 0x80U) ++column;
  }
  return column;
}

class LineParser {
 public:
  LineParser(std::string_view line, PolicyErrors& errors) : line_(line), errors_(errors) {}

  std::optional<Line> parse() {
    std::string_view rest = trimmed(line_);
    // The driver's output format: "Global tclass=106".
    constexpr std::string_view global = "Global ";
    global_ = rest.starts_with(global);
    if (global_) rest = trimmed(rest.substr(global.size()));
    const std::string_view whole = rest;
    while (true) {
      const std::size_t comma = rest.find(',');
      const std::string_view item = trimmed(rest.substr(0, comma));
      // One comma may end the line.
      if (item.empty() && comma != std::string_view::npos)
        return fail(rest.substr(comma), "nothing before this comma: expected tclass=N or an address");
      if (!item.empty() && !add(item)) return std::nullopt;
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
    if (!out_.tclass) return fail(whole, "no tclass: expected tclass=N, 0 to 255, or -1 to remove a rule");
    if (global_ && (out_.src || out_.dst)) return fail(whole, "a global value has no addresses");
    constexpr unsigned v4 = 1U << unsigned(Field::src_ip) | 1U << unsigned(Field::dst_ip);
    constexpr unsigned v6 = 1U << unsigned(Field::src_ip6) | 1U << unsigned(Field::dst_ip6);
    if ((out_.seen & v4) != 0 && (out_.seen & v6) != 0)
      return fail(whole, "an IPv4 and an IPv6 address in one rule: no packet has both");
    return out_;
  }

 private:
  std::nullopt_t fail(std::string_view where, std::string message) {
    PolicyError error;
    error.column = column_of(line_, where);
    error.message = std::move(message);
    errors_.push_back(std::move(error));
    return std::nullopt;
  }

  /// "src_ip=1.1.1.2", or a number alone.
  bool add(std::string_view item) {
    const std::size_t equals = item.find('=');
    const std::string_view name = trimmed(item.substr(0, equals));
    if (equals == std::string_view::npos) return number_of(item) ? take(Field::tclass, item) : unknown(name);
    const auto* row = std::find(std::begin(field_names), std::end(field_names), name);
    if (row == std::end(field_names)) return unknown(name);
    const std::string_view behind = item.substr(equals + 1);
    const std::string_view value = trimmed(behind);
    // Without a value, the error is at the position where it should be.
    return take(static_cast<Field>(row - std::begin(field_names)), value.empty() ? behind : value, name);
  }

  bool unknown(std::string_view name) {
    const std::string_view meant = capture::nearest_word(name, field_names);
    // The file may be none of rules: what resembles no key is not quoted.
    constexpr std::string_view what = "neither tclass, src_ip, dst_ip, src_ip6 nor dst_ip6";
    fail(name, meant.empty() ? fmt::format("this is {}", what)
                             : fmt::format("'{}' is {}; did you mean '{}'?", name, what, meant));
    return false;
  }

  bool take(Field field, std::string_view value, std::string_view name = {}) {
    const std::string_view where = value;
    const unsigned bit = 1U << static_cast<unsigned>(field);
    if ((out_.seen & bit) != 0) {
      fail(name.empty() ? value : name,
           fmt::format("{} twice in one line", field_names[static_cast<std::size_t>(field)]));
      return false;
    }
    out_.seen |= bit;
    if (field == Field::tclass) {
      out_.tclass = number_of(value);
      if (out_.tclass && *out_.tclass >= -1 && *out_.tclass <= 255) return true;
      fail(where, fmt::format("{} is not a tclass: expected 0 to 255 (DSCP x 4 + ECN), or -1 to remove",
                              name.empty() ? std::string("this number") : fmt::format("'{}'", value)));
      return false;
    }
    return take_address(field, value, where);
  }

  bool take_address(Field field, std::string_view value, std::string_view where) {
    const bool v6 = field == Field::src_ip6 || field == Field::dst_ip6;
    const bool source = field == Field::src_ip || field == Field::src_ip6;
    const std::optional<AddressPrefix> prefix = AddressPrefix::parse(value);
    if (!prefix) {
      fail(where, fmt::format("'{}' is not an IPv{} address, alone or with a /length", value, v6 ? 6 : 4));
      return false;
    }
    const bool is_v6 = value.find(':') != std::string_view::npos;
    if (is_v6 != v6) {
      fail(where, fmt::format("'{}' is an IPv{} address: use {}_ip{}", value, is_v6 ? 6 : 4,
                              source ? "src" : "dst", is_v6 ? "6" : ""));
      return false;
    }
    (source ? out_.src : out_.dst) = *prefix;
    // The driver finds the rule to replace by address only, whatever the prefix length.
    (source ? out_.src_key : out_.dst_key) = AddressPrefix(prefix->address(), 128).text();
    return true;
  }

  std::string_view line_;
  PolicyErrors& errors_;
  Line out_;
  bool global_ = false;
};

bool says_nothing(std::string_view line) {
  line = trimmed(line);
  return line.empty() || line.starts_with('#');
}

/// Calls `each` with every line of the text.
template <class Each>
void for_each_line(std::string_view text, Each each) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (!each(text.substr(0, end)) || end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

/// Position in the order of precedence.
int rank_of_action(const TrafficClassRule& rule) {
  if (!rule.src && !rule.dst) return 0;
  if (rule.src && rule.dst) return 1;
  return rule.dst ? 2 : 3;
}

bool goes_before(const TrafficClassRule& a, const TrafficClassRule& b) {
  if (rank_of_action(a) != rank_of_action(b)) return rank_of_action(a) < rank_of_action(b);
  if (a.dst && b.dst && a.dst->bits() != b.dst->bits()) return a.dst->bits() > b.dst->bits();
  return a.src && b.src && a.src->bits() > b.src->bits();
}

}  // namespace

void TrafficClassLines::add(std::string_view line, PolicyErrors& errors) {
  if (says_nothing(line)) return;
  const std::optional<Line> read = LineParser(line, errors).parse();
  if (!read) return;
  std::string key = read->src_key + '>' + read->dst_key;
  const auto old =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.key == key; });
  if (*read->tclass < 0) {
    if (old != entries_.end()) entries_.erase(old);
    return;
  }
  const TrafficClassRule rule{read->src, read->dst, static_cast<std::uint8_t>(*read->tclass)};
  if (old != entries_.end()) {
    old->rule = rule;
  } else if (entries_.size() < limit) {
    entries_.push_back({rule, std::move(key)});
  } else {
    PolicyError error;
    error.column = 1;
    error.message = fmt::format("more than {} rules", limit);
    errors.push_back(std::move(error));
  }
}

void TrafficClassLines::add_file(std::string_view text, const std::string& file, PolicyErrors& errors) {
  std::size_t number = 0;
  for_each_line(text, [&](std::string_view line) {
    ++number;
    const std::size_t before = errors.size();
    add(line, errors);
    for (std::size_t i = before; i < errors.size(); ++i) {
      errors[i].file = file;
      errors[i].line = number;
    }
    return errors.size() < policy_errors_kept;
  });
}

std::vector<TrafficClassRule> TrafficClassLines::take() {
  std::vector<TrafficClassRule> rules;
  rules.reserve(entries_.size());
  for (const Entry& entry : entries_) rules.push_back(entry.rule);
  entries_.clear();
  std::stable_sort(rules.begin(), rules.end(), goes_before);
  return rules;
}

bool is_traffic_class_file(std::string_view text) {
  bool is = false;
  for_each_line(text, [&](std::string_view line) {
    if (says_nothing(line)) return true;
    line = trimmed(line);
    if (line.starts_with("Global ")) line = trimmed(line.substr(7));
    const std::size_t equals = line.find('=');
    const std::string_view name = trimmed(line.substr(0, equals));
    is = equals == std::string_view::npos
             ? number_of(line.substr(0, line.find(','))).has_value()
             : std::find(std::begin(field_names), std::end(field_names), name) != std::end(field_names);
    return false;
  });
  return is;
}

std::string traffic_class_line(const TrafficClassRule& rule) {
  std::string text = fmt::format("tclass={}", rule.tos);
  const auto add = [&text](std::string_view name, const std::optional<AddressPrefix>& prefix) {
    if (!prefix) return;
    const std::string address = prefix->text();
    text += fmt::format(",{}{}={}", name, address.find(':') == std::string::npos ? "" : "6", address);
  };
  add("src_ip", rule.src);
  add("dst_ip", rule.dst);
  return text;
}

}  // namespace roce::analyze
