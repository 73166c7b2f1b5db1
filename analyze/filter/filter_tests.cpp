// SPDX-License-Identifier: Apache-2.0
#include "analyze/filter/filter_tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "analyze/filter/filter_literal.hpp"

namespace roce::analyze::filter {
namespace {

using Problem = std::optional<std::string>;
using Kind = Relation::Kind;

// != is true only if no value is equal (Wireshark 4.0); ~= is the former meaning of !=.
constexpr Relation relations[] = {
    {"==", "eq", "any_eq", Kind::compare, Comparison::equal, false, false},
    {"!=", "ne", "all_ne", Kind::compare, Comparison::equal, true, true},
    {"===", "all_eq", "", Kind::compare, Comparison::equal, true, false},
    {"!==", "any_ne", "", Kind::compare, Comparison::equal, false, true},
    {"~=", "", "", Kind::compare, Comparison::equal, false, true},
    {"<", "lt", "", Kind::compare, Comparison::less, false, false},
    {"<=", "le", "", Kind::compare, Comparison::less_equal, false, false},
    {">", "gt", "", Kind::compare, Comparison::greater, false, false},
    {">=", "ge", "", Kind::compare, Comparison::greater_equal, false, false},
    {"", "contains", "", Kind::contains, Comparison::equal, false, false},
    {"~", "matches", "", Kind::matches, Comparison::equal, false, false},
};

constexpr std::string_view connectives[] = {"and", "or", "not", "xor", "in", "any", "all"};

std::vector<NumberRange> merged(std::vector<NumberRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const NumberRange& a, const NumberRange& b) { return a.low < b.low; });
  std::vector<NumberRange> out;
  for (const NumberRange& range : ranges) {
    if (!out.empty() && range.low <= out.back().high) {
      out.back().high = std::max(out.back().high, range.high);
    } else {
      out.push_back(range);
    }
  }
  return out;
}

std::vector<BytesRange> merged(std::vector<BytesRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const BytesRange& a, const BytesRange& b) { return a.low < b.low; });
  std::vector<BytesRange> out;
  for (BytesRange& range : ranges) {
    if (!out.empty() && range.low <= out.back().high) {
      if (out.back().high < range.high) out.back().high = std::move(range.high);
    } else {
      out.push_back(std::move(range));
    }
  }
  return out;
}

template <class Range>
void store(Test& test, std::vector<Range>& list, std::vector<Range> ranges) {
  test.first = static_cast<std::uint32_t>(list.size());
  test.count = static_cast<std::uint32_t>(ranges.size());
  std::move(ranges.begin(), ranges.end(), std::back_inserter(list));
}

/// The numbers for which the comparison with a constant is true.
std::vector<NumberRange> ordered(Comparison comparison, NumberRange constant) {
  constexpr std::uint64_t top = std::numeric_limits<std::uint64_t>::max();
  switch (comparison) {
    case Comparison::less:
      if (constant.low == 0) return {};
      return {{0, constant.low - 1}};
    case Comparison::less_equal:
      return {{0, constant.high}};
    case Comparison::greater:
      if (constant.high == top) return {};
      return {{constant.high + 1, top}};
    case Comparison::greater_equal:
      return {{constant.low, top}};
    case Comparison::equal:
      break;
  }
  return {constant};
}

BytesRange ordered(Comparison comparison, BytesRange constant) {
  switch (comparison) {
    case Comparison::less:
      constant.high = constant.low;
      constant.open_high = true;
      constant.unbounded_low = true;
      break;
    case Comparison::less_equal:
      constant.unbounded_low = true;
      break;
    case Comparison::greater:
      constant.low = constant.high;
      constant.open_low = true;
      constant.unbounded_high = true;
      break;
    case Comparison::greater_equal:
      constant.unbounded_high = true;
      break;
    case Comparison::equal:
      break;
  }
  return constant;
}

Problem add_number_test(Program& program, Test& test, const Relation& relation, const Token& literal) {
  Literal<std::vector<NumberRange>> ranges = number_literal(test.left, literal);
  if (!ranges) return std::move(ranges.error());
  test.kind = Test::Kind::numbers;
  if (relation.comparison != Comparison::equal) {
    if (ranges->size() > 1)
      return fmt::format("{} is the name of several numbers, '{}' needs one", literal.raw, relation.symbol);
    ranges = ordered(relation.comparison, ranges->front());
  }
  store(test, program.number_ranges, merged(std::move(*ranges)));
  return std::nullopt;
}

Problem add_bytes(Program& program, Test& test, const Relation& relation, const Token& literal) {
  Literal<BytesRange> range = bytes_literal(test.left, literal);
  if (!range) return std::move(range.error());
  test.kind = Test::Kind::bytes;
  store(test, program.bytes_ranges, std::vector<BytesRange>{ordered(relation.comparison, std::move(*range))});
  return std::nullopt;
}

/// Text relations with a number's names are evaluated at compile time, once for each name.
template <class Question>
void add_names(Program& program, Test& test, const std::vector<NamedNumber>& names, Question question) {
  std::vector<NumberRange> ranges;
  for (const NamedNumber& row : names) {
    if (question(row.name)) ranges.push_back({row.number, row.number});
  }
  test.kind = Test::Kind::numbers;
  store(test, program.number_ranges, merged(std::move(ranges)));
}

Problem add_search(Program& program, Test& test, const Relation& relation, const Token& literal) {
  const FieldFacts& facts = field_facts(test.left.field);
  const bool numeric = is_numeric(test.left.type);
  const std::vector<NamedNumber> names = numeric ? names_of_field(facts.name) : std::vector<NamedNumber>{};
  if (numeric && names.empty())
    return fmt::format("{} is a number: '{}' needs text or bytes", facts.name, relation.word);
  if (relation.kind == Kind::contains) {
    Operand operand = test.left;
    if (numeric) operand.type = ValueType::text;
    Literal<std::string> needle = needle_literal(operand, literal);
    if (!needle) return std::move(needle.error());
    if (numeric) {
      add_names(program, test, names, [&](std::string_view name) { return name.find(*needle) != name.npos; });
      return std::nullopt;
    }
    test.kind = Test::Kind::contains;
    test.first = static_cast<std::uint32_t>(program.needles.size());
    program.needles.push_back(std::move(*needle));
    return std::nullopt;
  }
  if (literal.kind != TokenKind::text)
    return "expected a regular expression in double quotes after 'matches'";
  tl::expected<Regex, RegexError> expression = Regex::compile(literal.value);
  if (!expression)
    return fmt::format("{} (at its character {})", expression.error().message, expression.error().offset + 1);
  if (numeric) {
    add_names(program, test, names, [&](std::string_view name) { return expression->search(name); });
    return std::nullopt;
  }
  test.kind = Test::Kind::matches;
  test.first = static_cast<std::uint32_t>(program.expressions.size());
  program.expressions.push_back(std::move(*expression));
  return std::nullopt;
}

/// Types of one class can be compared with each other.
int class_of(ValueType type) {
  switch (type) {
    case ValueType::number:
    case ValueType::boolean:
      return 0;
    case ValueType::bytes:
    case ValueType::presence:
      return 1;
    default:
      return 2 + static_cast<int>(type);
  }
}

}  // namespace

const Relation* find_relation(const Token& token) noexcept {
  for (const Relation& row : relations) {
    if (token.kind == TokenKind::operation && token.raw == row.symbol) return &row;
    if (token.kind == TokenKind::word && !token.raw.empty() &&
        (token.raw == row.word || token.raw == row.long_word))
      return &row;
  }
  return nullptr;
}

bool is_keyword(std::string_view word) noexcept {
  return std::any_of(std::begin(relations), std::end(relations),
                     [&](const Relation& row) { return word == row.word || word == row.long_word; }) ||
         std::find(std::begin(connectives), std::end(connectives), word) != std::end(connectives);
}

Test start(const Relation& relation, const Operand& left) {
  Test test;
  test.left = left;
  test.comparison = relation.comparison;
  test.all = relation.all;
  test.negated = relation.negated;
  return test;
}

std::optional<std::string> add_constant(Program& program, Test& test, const Relation& relation,
                                        const Token& literal) {
  if (relation.kind != Kind::compare) return add_search(program, test, relation, literal);
  return is_numeric(test.left.type) ? add_number_test(program, test, relation, literal)
                                    : add_bytes(program, test, relation, literal);
}

Test any_bit(Program& program, const Operand& left) {
  Test test;
  test.kind = Test::Kind::numbers;
  test.left = left;
  store(test, program.number_ranges,
        std::vector<NumberRange>{{1, std::numeric_limits<std::uint64_t>::max()}});
  return test;
}

std::optional<std::string> SetBuilder::add(const Token& value) {
  if (!is_numeric(left_.type)) {
    Literal<BytesRange> range = bytes_literal(left_, value);
    if (!range) return std::move(range.error());
    bytes_.push_back(std::move(*range));
    return std::nullopt;
  }
  Literal<std::vector<NumberRange>> ranges = number_literal(left_, value);
  if (!ranges) return std::move(ranges.error());
  numbers_.insert(numbers_.end(), ranges->begin(), ranges->end());
  return std::nullopt;
}

std::optional<std::string> SetBuilder::add(const Token& low, const Token& high, bool& at_high) {
  SetBuilder first(left_), last(left_);
  at_high = false;
  if (Problem problem = first.add(low)) return problem;
  at_high = true;
  if (Problem problem = last.add(high)) return problem;
  if (is_numeric(left_.type)) {
    at_high = first.numbers_.size() == 1;
    if (!at_high || last.numbers_.size() > 1) return "a range needs one number at each end";
    const NumberRange range{first.numbers_.front().low, last.numbers_.front().high};
    if (range.high < range.low) return "the range ends before it begins";
    numbers_.push_back(range);
    return std::nullopt;
  }
  BytesRange range{std::move(first.bytes_.front().low), std::move(last.bytes_.front().high)};
  if (range.high < range.low) return "the range ends before it begins";
  bytes_.push_back(std::move(range));
  return std::nullopt;
}

Test SetBuilder::finish(Program& program) {
  Test test;
  test.left = left_;
  if (is_numeric(left_.type)) {
    test.kind = Test::Kind::numbers;
    store(test, program.number_ranges, merged(std::move(numbers_)));
  } else {
    test.kind = Test::Kind::bytes;
    store(test, program.bytes_ranges, merged(std::move(bytes_)));
  }
  return test;
}

bool is_numeric(ValueType type) noexcept {
  return type == ValueType::number || type == ValueType::boolean || type == ValueType::time ||
         type == ValueType::date;
}

bool make_comparable(Operand& left, Operand& right) noexcept {
  const auto address = [](ValueType type) {
    return type == ValueType::ip || type == ValueType::ipv4 || type == ValueType::ipv6;
  };
  if (address(left.type) && address(right.type) &&
      (left.type == ValueType::ip || right.type == ValueType::ip))
    left.type = right.type = ValueType::ip;
  return class_of(left.type) == class_of(right.type);
}

bool is_possible(const Slice& slice, const FieldFacts& facts) noexcept {
  if (facts.max_bytes == unbounded_bytes) return true;
  for (std::size_t size = facts.min_bytes; size <= facts.max_bytes; ++size) {
    if (slice.in(size)) return true;
  }
  return false;
}

std::optional<Slice> parse_slice(std::string_view text) noexcept {
  constexpr std::int32_t limit = 0xffff;
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  const auto take = [&](std::int32_t& number) {
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || number > limit || number < -limit) return false;
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
    return true;
  };
  Slice slice;
  const bool has_first = !text.starts_with(':');
  if (has_first && !take(slice.from)) return std::nullopt;
  if (text.empty()) {  // one byte; the last one has no end that could be counted from the end
    if (slice.from != -1) slice.to = slice.from + 1;
    return slice;
  }
  const char separator = text.front();
  text.remove_prefix(1);
  std::int32_t second = 0;
  if (separator == ':') {
    if (text.empty()) return has_first ? std::optional<Slice>(slice) : std::nullopt;
    if (!take(second) || second <= 0 || !text.empty()) return std::nullopt;
    const std::int32_t end = slice.from + second;
    if (slice.from < 0 && end > 0) return std::nullopt;
    if (end != 0) slice.to = end;
    return slice;
  }
  if (separator != '-' || !take(second) || !text.empty()) return std::nullopt;
  if (second < slice.from && (second < 0) == (slice.from < 0)) return std::nullopt;
  if (second != -1) slice.to = second + 1;
  return slice;
}

std::string unknown_field(std::string_view name) {
  constexpr std::size_t suggestions = 3, sane_length = 80;
  if (name.size() > sane_length) return fmt::format("no field '{}...'", name.substr(0, sane_length));
  std::string list;
  for (const std::string_view similar : similar_fields(name, suggestions)) {
    list += fmt::format("{}{}", list.empty() ? "" : ", ", similar);
  }
  return list.empty() ? fmt::format("no field '{}'", name)
                      : fmt::format("no field '{}'; did you mean {}?", name, list);
}

}  // namespace roce::analyze::filter
