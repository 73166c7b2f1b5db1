// SPDX-License-Identifier: Apache-2.0
#include "analyze/filter/filter_literal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "analyze/base/date_text.hpp"
#include "analyze/filter/filter_constants.hpp"
#include "dissect/header_table.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze::filter {
namespace {

constexpr std::string_view opcode_field = "infiniband.bth.opcode";

/// Virtual fields that use the value names of a header field.
struct SameNames {
  std::string_view field;
  std::string_view as;
};
constexpr SameNames same_names[] = {{"roce.dscp", "ip.dsfield.dscp"},
                                      {"roce.ecn", "ip.dsfield.ecn"},
                                      {"roce.outer.dscp", "ip.dsfield.dscp"},
                                      {"roce.outer.ecn", "ip.dsfield.ecn"}};

struct LongService {
  std::string_view service;
  std::string_view name;
};
constexpr LongService long_services[] = {{"RC", "Reliable Connection"},
                                         {"UC", "Unreliable Connection"},
                                         {"RD", "Reliable Datagram"},
                                         {"UD", "Unreliable Datagram"},
                                         {"XRC", "Extended Reliable Connection"}};

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

/// The token as typed, shortened for a message.
std::string shown(const Token& token) {
  constexpr std::size_t limit = 40;
  if (token.raw.size() <= limit) return std::string(token.raw);
  std::size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(token.raw[end]) & 0xc0U) == 0x80U) --end;
  return fmt::format("{}...", token.raw.substr(0, end));
}

std::string_view text_of(const Token& token) {
  return token.kind == TokenKind::word ? token.raw : std::string_view(token.value);
}

std::string mismatch(const Operand& operand, const Token& token) {
  return fmt::format("{} is not {}", shown(token), expected_literal(operand.type));
}

std::size_t common_beginning(std::string_view a, std::string_view b) {
  std::size_t count = 0;
  while (count < a.size() && count < b.size() && lower(a[count]) == lower(b[count])) ++count;
  return count;
}

/// A few names as suggestions: all if they are few, else those with the same beginning, best first.
std::string some_names(std::vector<NamedNumber> names, std::string_view typed) {
  constexpr std::size_t few = 8, limit = 4;
  if (names.size() > few) {
    std::stable_sort(names.begin(), names.end(), [&](const NamedNumber& a, const NamedNumber& b) {
      return common_beginning(a.name, typed) > common_beginning(b.name, typed);
    });
  }
  std::vector<std::string_view> chosen;
  for (const NamedNumber& row : names) {
    if (names.size() > few && (chosen.size() == limit || common_beginning(row.name, typed) < 3)) break;
    if (std::find(chosen.begin(), chosen.end(), row.name) == chosen.end()) chosen.push_back(row.name);
  }
  return chosen.empty() ? std::string() : fmt::format("; known are \"{}\"", fmt::join(chosen, "\", \""));
}

/// Single numbers as sorted ranges; consecutive ones are merged.
std::vector<NumberRange> ranges_of(std::vector<std::uint64_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  std::vector<NumberRange> ranges;
  for (const std::uint64_t number : numbers) {
    if (!ranges.empty() && number <= ranges.back().high + 1) {
      ranges.back().high = number;
    } else {
      ranges.push_back({number, number});
    }
  }
  return ranges;
}

Literal<std::vector<NumberRange>> time_literal(const Operand& operand, const Token& token) {
  const std::string_view text = text_of(token);
  // Seconds are no date, as in Wireshark: frame.time_epoch has them.
  std::optional<std::int64_t> time;
  if (operand.type == ValueType::time) time = parse_seconds(text);
  if (!time) time = parse_date(text);
  if (!time) return tl::unexpected(mismatch(operand, token));
  return std::vector<NumberRange>{{ordered_time(*time), ordered_time(*time)}};
}

Literal<std::vector<NumberRange>> boolean_literal(const Operand& operand, const Token& token) {
  constexpr std::uint64_t top = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t number = 0;
  if (token.kind == TokenKind::word) {
    if (same_word(token.raw, "true")) {
      number = 1;
    } else if (!same_word(token.raw, "false") && parse_number(token.raw, number) != NumberProblem::none) {
      return tl::unexpected(mismatch(operand, token));
    }
    // Any number other than 0 is true, as in Wireshark.
    return number == 0 ? std::vector<NumberRange>{{0, 0}} : std::vector<NumberRange>{{1, top}};
  }
  return tl::unexpected(mismatch(operand, token));
}

Literal<std::vector<NumberRange>> named_literal(const Operand& operand, const Token& token) {
  const FieldFacts& facts = field_facts(operand.field);
  const std::vector<NamedNumber> names = names_of_field(facts.name);
  std::vector<std::uint64_t> numbers;
  for (const NamedNumber& row : names) {
    if (same_word(row.name, text_of(token))) numbers.push_back(row.number);
  }
  if (!numbers.empty()) return ranges_of(std::move(numbers));
  if (names.empty()) return tl::unexpected(mismatch(operand, token));
  return tl::unexpected(fmt::format("{} is not a number or name of {}{}", shown(token), facts.name,
                                    some_names(names, text_of(token))));
}

/// The first and last address of a prefix.
Literal<BytesRange> prefix_range(std::string address, unsigned prefix) {
  BytesRange range{address, std::move(address)};
  for (std::size_t i = 0; i < range.low.size(); ++i) {
    const std::size_t bits = std::min<std::size_t>(8, prefix > i * 8 ? prefix - i * 8 : 0);
    const unsigned host = 0xffU >> bits;
    const auto byte = static_cast<unsigned char>(range.low[i]);
    range.low[i] = static_cast<char>(byte & ~host);
    range.high[i] = static_cast<char>(byte | host);
  }
  return range;
}

Literal<BytesRange> address_literal(const Operand& operand, const Token& token) {
  const std::string_view text = text_of(token);
  const std::size_t slash = text.find('/');
  const std::string_view address_text = text.substr(0, slash);
  std::optional<std::string> address =
      operand.type == ValueType::ipv4 ? parse_ipv4(address_text) : parse_ipv6(address_text);
  unsigned fixed = 0;  // bits before the ones the prefix length counts
  if (!address && operand.type != ValueType::ipv4) {
    // An IPv4-mapped GID may be written as an IPv4 address; fields of both families are stored in that form.
    if (const std::optional<std::string> v4 = parse_ipv4(address_text)) {
      fixed = 96;
      address = std::string(10, '\0') + "\xff\xff" + *v4;
    }
  }
  if (!address) return tl::unexpected(mismatch(operand, token));
  const auto bits = static_cast<unsigned>(address->size() * 8);
  if (slash == std::string_view::npos) return prefix_range(std::move(*address), bits);
  std::uint64_t prefix = 0;
  const std::string_view digits = text.substr(slash + 1);
  const bool decimal = !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (!decimal || digits.size() > 3)
    return tl::unexpected(fmt::format("expected a prefix length after '/', 0 to {}", bits - fixed));
  for (const char c : digits) prefix = prefix * 10 + static_cast<unsigned>(c - '0');
  if (prefix > bits - fixed)
    return tl::unexpected(fmt::format("the prefix length {} is above {}", prefix, bits - fixed));
  return prefix_range(std::move(*address), fixed + static_cast<unsigned>(prefix));
}

BytesRange exactly(const std::string& bytes) {
  return {bytes, bytes};
}

}  // namespace

std::vector<NamedNumber> names_of_field(std::string_view field) {
  for (const SameNames& row : same_names) {
    if (row.field == field) field = row.as;
  }
  std::vector<NamedNumber> names;
  if (field == opcode_field) {
    for (unsigned code = 0; code < 256; ++code) {
      const auto opcode = static_cast<std::uint8_t>(code);
      if (!dissect::opcode_info(opcode).defined) continue;
      const std::string_view full = dissect::opcode_name(opcode), operation = dissect::operation_name(opcode);
      names.push_back({code, std::string(operation)});
      if (operation == full) continue;
      names.push_back({code, std::string(full)});
      const std::string_view service = dissect::service_name(dissect::opcode_info(opcode).service);
      for (const LongService& row : long_services) {
        if (row.service == service)
          names.push_back({code, fmt::format("{} ({}) - {}", row.name, service, operation)});
      }
    }
    return names;
  }
  for (const dissect::HeaderInfo& header : dissect::header_table()) {
    for (const dissect::Field& row : header.fields) {
      if (row.name != field) continue;
      for (const dissect::ValueName& name : row.names)
        names.push_back({name.value * row.scale, std::string(name.text)});
    }
  }
  return names;
}

Literal<std::vector<NumberRange>> number_literal(const Operand& operand, const Token& token) {
  if (operand.type == ValueType::time || operand.type == ValueType::date) return time_literal(operand, token);
  if (operand.type == ValueType::boolean) return boolean_literal(operand, token);
  if (token.kind == TokenKind::text) return named_literal(operand, token);
  const FieldFacts& facts = field_facts(operand.field);
  const std::uint64_t limit = facts.max == 0 ? std::numeric_limits<std::uint64_t>::max() : facts.max;
  std::uint64_t number = 0;
  if (token.kind == TokenKind::character) {
    number = static_cast<unsigned char>(token.value.front());
  } else {
    switch (parse_number(token.raw, number)) {
      case NumberProblem::none:
        break;
      case NumberProblem::not_a_number:
        return named_literal(operand, token);
      case NumberProblem::negative:
        return tl::unexpected(fmt::format("{} is negative, {} is not", shown(token), facts.name));
      case NumberProblem::too_large:
        number = std::numeric_limits<std::uint64_t>::max();
        if (limit == number)
          return tl::unexpected(fmt::format("{} is more than 64 bits can hold", shown(token)));
        break;
    }
  }
  if (number > limit)
    return tl::unexpected(fmt::format("{} is more than {} can hold ({})", shown(token), facts.name, limit));
  return std::vector<NumberRange>{{number, number}};
}

namespace {

Literal<BytesRange> text_literal(const Operand& operand, const Token& token) {
  const FieldFacts& facts = field_facts(operand.field);
  const std::string_view text = text_of(token);
  const bool possible = facts.words.empty() || operand.slice ||
                        std::find(facts.words.begin(), facts.words.end(), text) != facts.words.end();
  if (possible) return exactly(std::string(text));
  return tl::unexpected(
      fmt::format("{} has no value {}; expected {}", facts.name, shown(token), fmt::join(facts.words, ", ")));
}

}  // namespace

Literal<BytesRange> bytes_literal(const Operand& operand, const Token& token) {
  std::optional<std::string> bytes;
  switch (operand.type) {
    case ValueType::ipv4:
    case ValueType::ipv6:
    case ValueType::ip:
      return address_literal(operand, token);
    case ValueType::text:
      return text_literal(operand, token);
    case ValueType::mac:
      bytes = parse_hardware_address(text_of(token), 6);
      break;
    case ValueType::eui64:
      bytes = parse_hardware_address(text_of(token), 8);
      if (!bytes && text_of(token).size() == 18 && text_of(token).starts_with("0x"))
        bytes = parse_bytes(text_of(token));
      break;
    default:
      bytes =
          token.kind == TokenKind::word ? parse_bytes(token.raw) : std::optional<std::string>(token.value);
      break;
  }
  if (!bytes) return tl::unexpected(mismatch(operand, token));
  return exactly(std::move(*bytes));
}

Literal<std::string> needle_literal(const Operand& operand, const Token& token) {
  if (token.kind != TokenKind::word) return token.value;
  if (operand.type == ValueType::text) return std::string(token.raw);
  std::optional<std::string> bytes = parse_bytes(token.raw);
  if (!bytes)
    return tl::unexpected(
        fmt::format("{} is neither a string in quotes nor bytes such as aa:bb:cc", shown(token)));
  return std::move(*bytes);
}

std::string_view expected_literal(ValueType type) noexcept {
  switch (type) {
    case ValueType::number:
      return "a number, e.g. 17 or 0x11";
    case ValueType::boolean:
      return "a boolean: 1, 0, true or false";
    case ValueType::time:
      return "a time in seconds, e.g. 0.5, or a date, e.g. \"2026-11-20 11:08:53\" (UTC)";
    case ValueType::date:
      return "a date in quotes, e.g. \"2026-11-20 11:08:53.5\" (UTC, or with a zone such as +01:00)";
    case ValueType::text:
      return "a string in double quotes";
    case ValueType::mac:
      return "a MAC address, e.g. 52:54:00:12:34:56";
    case ValueType::ipv4:
      return "an IPv4 address, e.g. 10.0.0.1 or 10.0.0.0/8";
    case ValueType::ipv6:
      return "an IPv6 address or GID, e.g. fe80::1 or fd00::/8";
    case ValueType::ip:
      return "an IPv4 or IPv6 address, e.g. 10.0.0.1, 10.0.0.0/8 or fe80::1";
    case ValueType::eui64:
      return "an EUI-64, e.g. 50:54:00:ff:fe:00:0a:01";
    case ValueType::bytes:
    case ValueType::presence:
      return "bytes, e.g. aa:bb:cc, or a string in double quotes";
  }
  return {};
}

}  // namespace roce::analyze::filter
