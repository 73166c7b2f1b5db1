// SPDX-License-Identifier: Apache-2.0
// What a display filter is compiled to: flat code over tests, constants already of the field's
// type. Internal to analyze.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "analyze/filter/field_registry.hpp"
#include "analyze/filter/regex.hpp"

namespace roce::analyze::filter {

enum class Comparison : std::uint8_t { equal, less, less_equal, greater, greater_equal };

/// Bytes `from` up to, not including, `to` of a value; negative places count from its end.
struct Slice {
  std::int32_t from = 0;
  std::int32_t to = std::numeric_limits<std::int32_t>::max();
};

/// A field with what the expression does to its values before they are compared.
struct Operand {
  FieldRef field{0};
  ValueType type = ValueType::number;  ///< after slicing
  std::optional<Slice> slice;
  bool masked = false;
  std::uint64_t mask = std::numeric_limits<std::uint64_t>::max();
};

/// Closed range of numbers. Times are ordered as unsigned: their sign bit is flipped.
struct NumberRange {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

constexpr std::uint64_t ordered_time(std::int64_t nanoseconds) noexcept {
  return static_cast<std::uint64_t>(nanoseconds) ^ (std::uint64_t{1} << 63U);
}

/// Range of texts, addresses or byte strings in the order of their bytes.
struct BytesRange {
  std::string low, high;
  bool unbounded_low = false, unbounded_high = false;
  bool open_low = false, open_high = false;  ///< the bound itself is outside
};

/// One question to a packet. It holds if any (or all) of the field's values pass; a packet
/// without the field never passes.
struct Test {
  enum class Kind : std::uint8_t {
    presence,
    numbers,   ///< value & mask in one of the number ranges
    bytes,     ///< value in one of the bytes ranges
    contains,  ///< needle in the value
    matches,   ///< regular expression finds something in the value
    fields     ///< comparison of two fields
  };
  Kind kind = Kind::presence;
  bool all = false;                           ///< every value must pass
  bool negated = false;                       ///< the value passes if the question is answered no
  Comparison comparison = Comparison::equal;  ///< of Kind::fields
  Operand left{};
  Operand right{};          ///< of Kind::fields
  std::uint32_t first = 0;  ///< ranges, needle or expression: place in the program's list
  std::uint32_t count = 0;  ///< of ranges, which are sorted and do not overlap
};

/// The machine has one flag, which every instruction reads or sets, and a stack of flags for xor.
struct Instruction {
  enum class Op : std::uint8_t { test, invert, jump_if_false, jump_if_true, push, exclusive_or };
  Op op = Op::test;
  std::uint32_t argument = 0;  ///< test: its index; jumps: target
};

struct Program {
  std::vector<Instruction> code;  ///< empty: every packet matches
  std::vector<Test> tests;
  std::vector<NumberRange> number_ranges;
  std::vector<BytesRange> bytes_ranges;
  std::vector<std::string> needles;
  std::vector<Regex> expressions;
  bool needs_icrc = false;
  bool needs_flow = false;
  bool needs_upper = false;
  bool needs_analysis = false;
};

/// Parentheses and negations may nest this deep; the stack of flags is as large.
inline constexpr std::size_t max_depth = 200;

[[nodiscard]] bool run(const Program& program, const PacketView& packet);

}  // namespace roce::analyze::filter
