// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bitset>
#include <cstring>

#include "analyze/filter/filter_program.hpp"
#include "analyze/filter/filter_tests.hpp"

namespace roce::analyze::filter {
namespace {

/// Reused from packet to packet, for memory only.
struct FieldScratch {
  Values left, right;
};

/// An IPv4-mapped IPv6 address whose last four bytes are filled in.
struct MappedAddress : std::array<char, 16> {
  MappedAddress() : std::array<char, 16>{} { (*this)[10] = (*this)[11] = '\xff'; }
};

std::string_view view(dissect::Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint64_t number_of(const Operand& operand, const Value& value) {
  if (operand.type == ValueType::time || operand.type == ValueType::date)
    return ordered_time(static_cast<std::int64_t>(value.number));
  return value.number & operand.mask;
}

/// The bytes of an operand; absent if the slice is outside of the value. IPv4 and IPv6 addresses are
/// converted to one form in `buffer`.
std::optional<std::string_view> bytes_of(const Operand& operand, const Value& value, MappedAddress& buffer) {
  const std::string_view whole = value.type == ValueType::text ? value.text : view(value.bytes);
  if (operand.type == ValueType::ip && whole.size() == 4) {
    std::copy(whole.begin(), whole.end(), buffer.end() - 4);
    return std::string_view(buffer.data(), buffer.size());
  }
  if (!operand.slice) return whole;
  const std::optional<Slice::Place> place = operand.slice->in(whole.size());
  if (!place) return std::nullopt;
  return whole.substr(place->from, place->to - place->from);
}

bool in_number_ranges(const NumberRange* ranges, std::size_t count, std::uint64_t number) {
  if (count == 1) return number >= ranges->low && number <= ranges->high;
  const NumberRange* above =
      std::upper_bound(ranges, ranges + count, number,
                       [](std::uint64_t n, const NumberRange& range) { return n < range.low; });
  return above != ranges && number <= (above - 1)->high;
}

bool in_bytes_range(const BytesRange& range, std::string_view bytes) {
  if (!range.unbounded_low) {
    const int order = bytes.compare(range.low);
    if (order < 0 || (order == 0 && range.open_low)) return false;
  }
  if (!range.unbounded_high) {
    const int order = bytes.compare(range.high);
    if (order > 0 || (order == 0 && range.open_high)) return false;
  }
  return true;
}

bool in_bytes_ranges(const BytesRange* ranges, std::size_t count, std::string_view bytes) {
  if (count == 1) return in_bytes_range(*ranges, bytes);
  const BytesRange* above =
      std::upper_bound(ranges, ranges + count, bytes,
                       [](std::string_view b, const BytesRange& range) { return b.compare(range.low) < 0; });
  return above != ranges && in_bytes_range(*(above - 1), bytes);
}

template <class T>
bool holds(Comparison comparison, const T& left, const T& right) {
  switch (comparison) {
    case Comparison::equal:
      return left == right;
    case Comparison::less:
      return left < right;
    case Comparison::less_equal:
      return left <= right;
    case Comparison::greater:
      return left > right;
    case Comparison::greater_equal:
      return left >= right;
  }
  return false;
}

class Evaluation {
 public:
  Evaluation(const Program& program, const PacketView& packet, FieldScratch& scratch)
      : program_(program), packet_(packet), scratch_(scratch) {}

  bool ask(const Test& test) {
    scratch_.left.clear();
    extract(packet_, test.left.field, scratch_.left);
    switch (test.kind) {
      case Test::Kind::presence:
        return present(test);
      case Test::Kind::numbers: {
        const NumberRange* ranges = program_.number_ranges.data() + test.first;
        return over_values(test, [&](const Value& value) -> std::optional<bool> {
          return in_number_ranges(ranges, test.count, number_of(test.left, value));
        });
      }
      case Test::Kind::bytes: {
        const BytesRange* ranges = program_.bytes_ranges.data() + test.first;
        return over_bytes(test,
                          [&](std::string_view bytes) { return in_bytes_ranges(ranges, test.count, bytes); });
      }
      case Test::Kind::contains: {
        const std::string& needle = program_.needles[test.first];
        return over_bytes(test, [&](std::string_view bytes) {
          // The worst case of memmem is linear, that of string_view::find is not.
          return memmem(bytes.data(), bytes.size(), needle.data(), needle.size()) != nullptr ||
                 needle.empty();
        });
      }
      case Test::Kind::matches: {
        const Regex& expression = program_.expressions[test.first];
        return over_bytes(test, [&](std::string_view bytes) { return expression.search(bytes); });
      }
      case Test::Kind::fields:
        return fields(test);
    }
    return false;
  }

 private:
  [[nodiscard]] bool present(const Test& test) const {
    if (!test.left.slice) return !scratch_.left.empty();
    MappedAddress buffer;
    return std::any_of(scratch_.left.begin(), scratch_.left.end(),
                       [&](const Value& value) { return bytes_of(test.left, value, buffer).has_value(); });
  }

  /// Whether any or all of the values pass; values to which the question does not apply are ignored.
  template <class Question>
  bool over_values(const Test& test, Question question) {
    bool asked = false;
    for (const Value& value : scratch_.left) {
      const std::optional<bool> answer = question(value);
      if (!answer) continue;
      asked = true;
      const bool passes = *answer != test.negated;
      if (passes != test.all) return passes;
    }
    return test.all && asked;
  }

  template <class Question>
  bool over_bytes(const Test& test, Question question) {
    MappedAddress buffer;
    return over_values(test, [&](const Value& value) -> std::optional<bool> {
      const std::optional<std::string_view> bytes = bytes_of(test.left, value, buffer);
      if (!bytes) return std::nullopt;
      return question(*bytes);
    });
  }

  bool fields(const Test& test) {
    scratch_.right.clear();
    extract(packet_, test.right.field, scratch_.right);
    const bool numeric = is_numeric(test.left.type);
    bool asked = false;
    MappedAddress left_buffer, right_buffer;
    for (const Value& left : scratch_.left) {
      for (const Value& right : scratch_.right) {
        bool answer = false;
        if (numeric) {
          answer = holds(test.comparison, number_of(test.left, left), number_of(test.right, right));
        } else {
          const std::optional<std::string_view> a = bytes_of(test.left, left, left_buffer);
          const std::optional<std::string_view> b = bytes_of(test.right, right, right_buffer);
          if (!a || !b) continue;
          answer = holds(test.comparison, *a, *b);
        }
        asked = true;
        const bool passes = answer != test.negated;
        if (passes != test.all) return passes;
      }
    }
    return test.all && asked;
  }

  const Program& program_;
  const PacketView& packet_;
  FieldScratch& scratch_;
};

}  // namespace

bool run(const Program& program, const PacketView& packet) {
  thread_local FieldScratch scratch;
  Evaluation evaluation(program, packet, scratch);
  std::bitset<max_depth * 2> stack;  // one flag per level, for xor only
  std::size_t height = 0;
  bool flag = true;
  for (std::size_t at = 0; at < program.code.size(); ++at) {
    const Instruction& instruction = program.code[at];
    switch (instruction.op) {
      case Instruction::Op::test:
        flag = evaluation.ask(program.tests[instruction.argument]);
        break;
      case Instruction::Op::invert:
        flag = !flag;
        break;
      case Instruction::Op::jump_if_false:
        if (!flag) at = instruction.argument - 1U;
        break;
      case Instruction::Op::jump_if_true:
        if (flag) at = instruction.argument - 1U;
        break;
      case Instruction::Op::push:
        stack[height++] = flag;
        break;
      case Instruction::Op::exclusive_or:
        flag = flag != stack[--height];
        break;
    }
  }
  return flag;
}

}  // namespace roce::analyze::filter
