// SPDX-License-Identifier: Apache-2.0
// Converts literals to constants of a field's type. Internal to analyze.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "analyze/filter/filter_lexer.hpp"
#include "analyze/filter/filter_program.hpp"

namespace roce::analyze::filter {

/// Error message: why a literal is not valid for the field.
using LiteralError = std::string;
template <class T>
using Literal = tl::expected<T, LiteralError>;

struct NamedNumber {
  std::uint64_t number = 0;
  std::string name;
};
/// The names of a field's values, from the tables of dissect. An opcode has three: with and without the
/// service, and Wireshark's with the service in full.
[[nodiscard]] std::vector<NamedNumber> names_of_field(std::string_view field);

/// Numbers, booleans and times: the sorted ranges of the literal's values (several if opcodes share a name).
[[nodiscard]] Literal<std::vector<NumberRange>> number_literal(const Operand& operand, const Token& token);

/// Texts, addresses (with a prefix length: the whole prefix) and byte strings: a closed range.
[[nodiscard]] Literal<BytesRange> bytes_literal(const Operand& operand, const Token& token);

/// The right side of `contains`.
[[nodiscard]] Literal<std::string> needle_literal(const Operand& operand, const Token& token);

/// "a number, e.g. 17 or 0x11": the literals that are valid for such a field.
[[nodiscard]] std::string_view expected_literal(ValueType type) noexcept;

}  // namespace roce::analyze::filter
