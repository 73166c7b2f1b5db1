// SPDX-License-Identifier: Apache-2.0
// The relations of display filters, and tests with constants. Internal to analyze.
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
  std::string_view long_word;  ///< Wireshark's second name, if any
  Kind kind = Kind::compare;
  Comparison comparison = Comparison::equal;
  bool all = false;  ///< every value of the field must pass
  bool negated = false;
};

/// The relation of a token, or nullptr.
[[nodiscard]] const Relation* find_relation(const Token& token) noexcept;
[[nodiscard]] bool is_keyword(std::string_view word) noexcept;

/// A test with that relation, without its constant.
[[nodiscard]] Test start(const Relation& relation, const Operand& left);

/// Adds the constant to the test and the program. Returns an error message if it is not valid.
[[nodiscard]] std::optional<std::string> add_constant(Program& program, Test& test, const Relation& relation,
                                                      const Token& literal);

/// The test for `field & mask` without a comparison: any bit of the mask is set.
[[nodiscard]] Test any_bit(Program& program, const Operand& left);

/// The elements of { }.
class SetBuilder {
 public:
  explicit SetBuilder(const Operand& left) : left_(left) {}
  [[nodiscard]] std::optional<std::string> add(const Token& value);
  /// `at_high`: on an error, whether it is at `high`.
  [[nodiscard]] std::optional<std::string> add(const Token& low, const Token& high, bool& at_high);
  [[nodiscard]] bool empty() const noexcept { return numbers_.empty() && bytes_.empty(); }
  [[nodiscard]] Test finish(Program& program);

 private:
  Operand left_;
  std::vector<NumberRange> numbers_;
  std::vector<BytesRange> bytes_;
};

[[nodiscard]] bool is_numeric(ValueType type) noexcept;
/// Whether values of the two can be compared; converts addresses to one form.
[[nodiscard]] bool make_comparable(Operand& left, Operand& right) noexcept;
/// Whether a value of the field can have that part. Fields without a largest length have any part.
[[nodiscard]] bool is_possible(const Slice& slice, const FieldFacts& facts) noexcept;
/// Parses the text between brackets: "0:4" (from, length), "0-3" (first and last), "2", ":4", "4:"; "-4:"
/// from the end.
[[nodiscard]] std::optional<Slice> parse_slice(std::string_view text) noexcept;
[[nodiscard]] std::string unknown_field(std::string_view name);

}  // namespace roce::analyze::filter
