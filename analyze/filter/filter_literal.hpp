// SPDX-License-Identifier: Apache-2.0
// What a literal means beside a field: constants of the field's type. Internal to analyze.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "analyze/filter/filter_lexer.hpp"
#include "analyze/filter/filter_program.hpp"

namespace roce::analyze::filter {

/// Why a literal does not fit, for the user.
using LiteralError = std::string;
template <class T>
using Literal = tl::expected<T, LiteralError>;

struct NamedNumber {
  std::uint64_t number = 0;
  std::string name;
};
/// The words for a field's numbers, from the tables of dissect. An opcode has three: with and
/// without the service, and Wireshark's with the service in full.
[[nodiscard]] std::vector<NamedNumber> names_of_field(std::string_view field);

/// Numbers, booleans and times: the ranges that the literal means (several for a name that
/// several opcodes share), sorted.
[[nodiscard]] Literal<std::vector<NumberRange>> number_literal(const Operand& operand, const Token& token);

/// Texts, addresses (a prefix length makes a range) and byte strings: a closed range.
[[nodiscard]] Literal<BytesRange> bytes_literal(const Operand& operand, const Token& token);

/// The right side of `contains`.
[[nodiscard]] Literal<std::string> needle_literal(const Operand& operand, const Token& token);

/// "a number, e.g. 17 or 0x11": what may stand beside such a field.
[[nodiscard]] std::string_view expected_literal(ValueType type) noexcept;

}  // namespace roce::analyze::filter
