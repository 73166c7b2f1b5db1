// SPDX-License-Identifier: Apache-2.0
// The relations of display filters and how constants become tests. Internal to analyze.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/filter/filter_lexer.hpp"
#include "analyze/filter/filter_program.hpp"

namespace roce::analyze::filter {

struct Relation {
  enum class Kind : std::uint8_t { compare, contains, matches };
  std::string_view symbol;
  std::string_view word;
  std::string_view long_word;  ///< Wireshark's own name where there is a second
  Kind kind = Kind::compare;
  Comparison comparison = Comparison::equal;
  bool all = false;  ///< every value of the field must pass
  bool negated = false;
};

/// The relation that a token names, or nullptr.
[[nodiscard]] const Relation* find_relation(const Token& token) noexcept;
[[nodiscard]] bool is_keyword(std::string_view word) noexcept;

/// A test of that relation, still without its constant.
[[nodiscard]] Test start(const Relation& relation, const Operand& left);

/// Gives the test its constant and what stands for it in the program; or says what is wrong.
[[nodiscard]] std::optional<std::string> add_constant(Program& program, Test& test, const Relation& relation,
                                                      const Token& literal);

/// Whether `field & mask` stands alone: a mask that finds a bit.
[[nodiscard]] Test any_bit(Program& program, const Operand& left);

/// The elements of { }.
class SetBuilder {
 public:
  explicit SetBuilder(const Operand& left) : left_(left) {}
  [[nodiscard]] std::optional<std::string> add(const Token& value);
  /// `at_high` says which of the two is wrong.
  [[nodiscard]] std::optional<std::string> add(const Token& low, const Token& high, bool& at_high);
  [[nodiscard]] bool empty() const noexcept { return numbers_.empty() && bytes_.empty(); }
  [[nodiscard]] Test finish(Program& program);

 private:
  Operand left_;
  std::vector<NumberRange> numbers_;
  std::vector<BytesRange> bytes_;
};

[[nodiscard]] bool is_numeric(ValueType type) noexcept;
/// Whether values of the two can be compared; brings addresses to one form.
[[nodiscard]] bool make_comparable(Operand& left, Operand& right) noexcept;
/// What stands between brackets: "0:4" (from, length), "0-3" (first and last), "2", ":4", "4:"; "-4:" from
/// the end.
[[nodiscard]] std::optional<Slice> parse_slice(std::string_view text) noexcept;
[[nodiscard]] std::string unknown_field(std::string_view name);

}  // namespace roce::analyze::filter
