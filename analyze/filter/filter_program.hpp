// SPDX-License-Identifier: Apache-2.0
// A compiled display filter: linear code over tests, whose constants have the field's type. Internal to
// analyze.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "analyze/filter/field_registry.hpp"
#include "analyze/filter/regex.hpp"

namespace roce::analyze::filter {

enum class Comparison : std::uint8_t { equal, less, less_equal, greater, greater_equal };

/// Bytes from `from` up to, but not including, `to` of a value; negative offsets count from its end.
struct Slice {
  std::int32_t from = 0;
  std::int32_t to = std::numeric_limits<std::int32_t>::max();

  /// The offsets in a value of `size` bytes; absent if one is outside, or if there is nothing between them.
  struct Place {
    std::size_t from, to;
  };
  [[nodiscard]] std::optional<Place> in(std::size_t size) const noexcept {
    const auto end = static_cast<std::int64_t>(size);
    const std::int64_t first = from < 0 ? from + end : from;
    const std::int64_t last = to == std::numeric_limits<std::int32_t>::max() ? end : to < 0 ? to + end : to;
    if (first < 0 || last > end || first >= last) return std::nullopt;
    return Place{static_cast<std::size_t>(first), static_cast<std::size_t>(last)};
  }
};

/// A field with the slice or mask that is applied to its values before the comparison.
struct Operand {
  FieldRef field{0};
  ValueType type = ValueType::number;  ///< after slicing
  std::optional<Slice> slice;
  bool masked = false;
  std::uint64_t mask = std::numeric_limits<std::uint64_t>::max();
};

/// Closed range of numbers. Times have their sign bit flipped, so that they compare as unsigned.
struct NumberRange {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

constexpr std::uint64_t ordered_time(std::int64_t nanoseconds) noexcept {
  return static_cast<std::uint64_t>(nanoseconds) ^ (std::uint64_t{1} << 63U);
}

/// Range of texts, addresses or byte strings in lexicographic order.
struct BytesRange {
  std::string low, high;
  bool unbounded_low = false, unbounded_high = false;
  bool open_low = false, open_high = false;  ///< the bound itself is outside
};

/// One test of a packet. It is true if any (or all) of the field's values pass, false for a packet without
/// the field.
struct Test {
  enum class Kind : std::uint8_t {
    presence,
    numbers,   ///< value & mask in one of the number ranges
    bytes,     ///< value in one of the bytes ranges
    contains,  ///< needle in the value
    matches,   ///< regular expression matches somewhere in the value
    fields     ///< comparison of two fields
  };
  Kind kind = Kind::presence;
  bool all = false;                           ///< every value must pass
  bool negated = false;                       ///< a value passes if the comparison is false
  Comparison comparison = Comparison::equal;  ///< of Kind::fields
  Operand left{};
  Operand right{};          ///< of Kind::fields
  std::uint32_t first = 0;  ///< ranges, needle or expression: index in the program's list
  std::uint32_t count = 0;  ///< number of ranges, which are sorted and do not overlap
};

/// An instruction reads or sets the one flag of the machine, which also has a stack of flags for xor.
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

/// Maximum nesting of parentheses and negations; bounds the stack of flags.
inline constexpr std::size_t max_depth = 200;

[[nodiscard]] bool run(const Program& program, const PacketView& packet);

}  // namespace roce::analyze::filter
