// SPDX-License-Identifier: Apache-2.0
// Grammar, weakest binding first, as in Wireshark:
//   or    = xor { ("||" | "or") xor }          test    = ["any" | "all"] operand [ relation ]
//   xor   = and { ("^^" | "xor") and }         operand = field [ "[" slice "]" ] [ "&" number ]
//   and   = unary { ("&&" | "and") unary }     relation = compare (literal | operand)
//   unary = { "!" | "not" } ( "(" or ")" | test )        | "contains" literal | "matches" string
//                                                         | ["not"] "in" "{" elements "}"
#include "analyze/filter/filter_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "analyze/filter/filter_constants.hpp"
#include "analyze/filter/filter_lexer.hpp"
#include "analyze/filter/filter_literal.hpp"
#include "analyze/filter/filter_tests.hpp"

namespace roce::analyze::filter {
namespace {

using Op = Instruction::Op;

class FilterParser {
 public:
  explicit FilterParser(std::string_view expression) : lexer_(expression) { advance(); }

  tl::expected<Program, ParseError> run() {
    if (token_.kind != TokenKind::end) {
      or_level(0);
      if (token_.kind == TokenKind::close_parenthesis) fail(token_, "unexpected ')' without '('");
      if (token_.kind != TokenKind::end)
        fail(token_, fmt::format("expected 'and', 'or' or the end, found {}", found(token_)));
    }
    if (error_) return tl::unexpected(std::move(*error_));
    return std::move(program_);
  }

 private:
  // Words ------------------------------------------------------------------------------------

  void advance() {
    token_ = error_ ? Token{} : lexer_.next();
    if (token_.kind == TokenKind::bad) fail(token_, std::move(token_.value));
  }

  /// Keeps the first error. After it the current token is the end, so that every rule returns.
  void fail(const Token& at, std::string message) {
    if (!error_) error_ = ParseError{at.offset, at.raw.size(), std::move(message)};
    token_ = Token{};
  }

  [[nodiscard]] bool is(std::string_view symbol, std::string_view keyword) const {
    return (token_.kind == TokenKind::operation && token_.raw == symbol) ||
           (token_.kind == TokenKind::word && !keyword.empty() && token_.raw == keyword);
  }
  bool accept(std::string_view symbol, std::string_view keyword) {
    if (!is(symbol, keyword)) return false;
    advance();
    return true;
  }
  static std::string found(const Token& token) {
    return token.kind == TokenKind::end ? "the end" : fmt::format("'{}'", token.raw);
  }

  // Code -------------------------------------------------------------------------------------

  [[nodiscard]] std::uint32_t here() const { return static_cast<std::uint32_t>(program_.code.size()); }
  std::uint32_t emit(Op op, std::uint32_t argument = 0) {
    program_.code.push_back({op, argument});
    return here() - 1;
  }
  void emit(Test test) {
    for (const Operand* operand : {&test.left, &test.right}) {
      if (operand == &test.right && test.kind != Test::Kind::fields) break;
      const FieldFacts& facts = field_facts(operand->field);
      program_.needs_icrc = program_.needs_icrc || facts.needs_icrc;
      program_.needs_flow = program_.needs_flow || facts.needs_flow;
      program_.needs_upper = program_.needs_upper || facts.needs_upper;
      program_.needs_analysis = program_.needs_analysis || facts.needs_analysis;
    }
    emit(Op::test, static_cast<std::uint32_t>(program_.tests.size()));
    program_.tests.push_back(test);
  }

  // Rules ------------------------------------------------------------------------------------

  void or_level(std::size_t depth) {
    xor_level(depth);
    std::vector<std::uint32_t> jumps;
    while (is("||", "or")) {
      advance();
      jumps.push_back(emit(Op::jump_if_true));
      xor_level(depth);
    }
    for (const std::uint32_t jump : jumps) program_.code[jump].argument = here();
  }

  void xor_level(std::size_t depth) {
    and_level(depth);
    while (accept("^^", "xor")) {
      emit(Op::push);
      and_level(depth);
      emit(Op::exclusive_or);
    }
  }

  void and_level(std::size_t depth) {
    unary(depth);
    std::vector<std::uint32_t> jumps;
    while (is("&&", "and")) {
      advance();
      jumps.push_back(emit(Op::jump_if_false));
      unary(depth);
    }
    for (const std::uint32_t jump : jumps) program_.code[jump].argument = here();
  }

  void unary(std::size_t depth) {
    bool inverted = false;
    while (accept("!", "not")) inverted = !inverted;
    if (token_.kind == TokenKind::open_parenthesis) {
      const Token open = token_;
      if (depth + 1 >= max_depth) {
        fail(open, fmt::format("parentheses nest deeper than {}", max_depth));
        return;
      }
      advance();
      or_level(depth + 1);
      if (token_.kind == TokenKind::close_parenthesis) {
        advance();
      } else if (token_.kind == TokenKind::end) {
        fail(open, "this '(' is not closed: expected ')'");
      } else {
        fail(token_, fmt::format("expected 'and', 'or' or ')', found {}", found(token_)));
      }
    } else {
      test();
    }
    if (inverted) emit(Op::invert);
  }

  void test() {
    std::optional<bool> all;
    if (token_.kind == TokenKind::word && (token_.raw == "any" || token_.raw == "all")) {
      all = token_.raw == "all";
      advance();
    }
    const std::optional<Operand> left = operand();
    if (!left) return;
    const Token operation = token_;
    if (const Relation* relation = find_relation(operation)) {
      advance();
      Test test = start(*relation, *left);
      if (all) test.all = *all;
      compare(test, *relation, operation);
      return;
    }
    if (is("", "in")) {
      advance();
      member(*left, all.value_or(false), operation);
      return;
    }
    if (is("", "not")) {
      advance();
      const Token in = token_;
      if (!is("", "in")) {
        fail(token_, fmt::format("expected 'in' after 'not', found {}", found(token_)));
        return;
      }
      advance();
      member(*left, all.value_or(false), in);
      emit(Op::invert);
      return;
    }
    if (all) {
      fail(operation,
           fmt::format("expected a comparison after '{}', found {}", *all ? "all" : "any", found(operation)));
      return;
    }
    if (left->masked) {
      emit(any_bit(program_, *left));
      return;
    }
    Test presence;
    presence.kind = Test::Kind::presence;
    presence.left = *left;
    emit(presence);
  }

  std::optional<Operand> operand() {
    const Token name = token_;
    if (name.kind != TokenKind::word || is_keyword(name.raw)) {
      const bool literal = name.kind == TokenKind::text || name.kind == TokenKind::character;
      fail(name, fmt::format("expected a field name, found {}{}", found(name),
                             literal ? "; the field must be on the left" : ""));
      return std::nullopt;
    }
    const std::optional<FieldRef> field = find_field(name.raw);
    if (!field) {
      fail(name, unknown_field(name.raw));
      return std::nullopt;
    }
    advance();
    return modified(*field, name);
  }

  /// The optional slice and mask after a field's name.
  std::optional<Operand> modified(FieldRef field, const Token& name) {
    Operand operand;
    operand.field = field;
    operand.type = field_facts(field).type;
    if (token_.kind == TokenKind::open_bracket) {
      const Token open = token_;
      Token inside = lexer_.bracket();
      if (inside.kind == TokenKind::bad) {
        fail(inside, inside.value);
        return std::nullopt;
      }
      if (is_numeric(operand.type)) {
        fail(open, fmt::format("{} is a number: only bytes, addresses and texts have slices", name.raw));
        return std::nullopt;
      }
      operand.slice = parse_slice(inside.raw);
      if (!operand.slice) {
        if (inside.raw.empty()) inside = open;
        fail(inside, "expected a slice such as [0:4], [2-3] or [5]");
        return std::nullopt;
      }
      const FieldFacts& facts = field_facts(field);
      if (!is_possible(*operand.slice, facts)) {
        fail(inside, fmt::format("[{}] is outside of {}, which has {}{} byte{}", inside.raw, name.raw,
                                 facts.min_bytes == facts.max_bytes ? "" : "at most ", facts.max_bytes,
                                 facts.max_bytes == 1 ? "" : "s"));
        return std::nullopt;
      }
      if (operand.type != ValueType::text) operand.type = ValueType::bytes;
      advance();
    }
    if (token_.kind == TokenKind::mask && !mask(operand, name)) return std::nullopt;
    return operand;
  }

  bool mask(Operand& operand, const Token& name) {
    if (operand.type != ValueType::number) {
      fail(token_, fmt::format("{} is not a number: '&' needs one", name.raw));
      return false;
    }
    advance();
    if (token_.kind != TokenKind::word || parse_number(token_.raw, operand.mask) != NumberProblem::none) {
      fail(token_, fmt::format("expected a number after '&', found {}", found(token_)));
      return false;
    }
    advance();
    operand.masked = true;
    return true;
  }

  // Relations --------------------------------------------------------------------------------

  void compare(Test test, const Relation& relation, const Token& operation) {
    if (!starts_value()) {
      fail(token_, fmt::format("expected a value after '{}', found {}", operation.raw, found(token_)));
      return;
    }
    if (const std::optional<FieldRef> right = right_field(test.left)) {
      compare_fields(test, relation, *right);
      return;
    }
    const Token literal = token_;
    if (!check_escape(literal, relation.kind == Relation::Kind::matches)) return;
    if (const std::optional<std::string> problem = add_constant(program_, test, relation, literal)) {
      fail(literal, *problem);
      return;
    }
    advance();
    emit(test);
  }

  [[nodiscard]] bool starts_value() const {
    return token_.kind == TokenKind::text || token_.kind == TokenKind::character ||
           (token_.kind == TokenKind::word && !is_keyword(token_.raw));
  }

  /// A field on the right. Names of headers may also be meant as text.
  [[nodiscard]] std::optional<FieldRef> right_field(const Operand& left) const {
    if (token_.kind != TokenKind::word) return std::nullopt;
    const std::optional<FieldRef> field = find_field(token_.raw);
    if (field && field_facts(*field).type == ValueType::presence && left.type != ValueType::presence &&
        left.type != ValueType::bytes)
      return std::nullopt;
    return field;
  }

  void compare_fields(Test test, const Relation& relation, FieldRef field) {
    const Token name = token_;
    if (relation.kind != Relation::Kind::compare) {
      fail(name, fmt::format("expected a constant, not the field '{}'", name.raw));
      return;
    }
    advance();
    std::optional<Operand> right = modified(field, name);
    if (!right) return;
    if (!make_comparable(test.left, *right)) {
      fail(name,
           fmt::format("{} and {} are not of comparable types", field_facts(test.left.field).name, name.raw));
      return;
    }
    test.kind = Test::Kind::fields;
    test.right = *right;
    emit(test);
  }

  void member(const Operand& left, bool all, const Token& operation) {
    if (token_.kind != TokenKind::open_brace) {
      fail(token_, fmt::format("expected '{{' after '{}', found {}", operation.raw, found(token_)));
      return;
    }
    const Token open = token_;
    advance();
    SetBuilder set(left);
    while (token_.kind != TokenKind::close_brace) {
      if (token_.kind == TokenKind::end) {
        fail(open, "this '{' is not closed: expected '}'");
        return;
      }
      if (!element(set)) return;
      if (token_.kind == TokenKind::comma) advance();
    }
    if (set.empty()) {
      fail(token_, "expected a value between '{' and '}'");
      return;
    }
    advance();
    Test test = set.finish(program_);
    test.all = all;
    emit(test);
  }

  bool element(SetBuilder& set) {
    const Token low = token_;
    if (!starts_value()) {
      fail(low, fmt::format("expected a value or '}}', found {}", found(low)));
      return false;
    }
    if (!check_escape(low, false)) return false;
    advance();
    if (token_.kind != TokenKind::range) {
      if (const std::optional<std::string> problem = set.add(low)) fail(low, *problem);
      return !error_;
    }
    advance();
    const Token high = token_;
    if (!starts_value()) {
      fail(high, fmt::format("expected a value after '..', found {}", found(high)));
      return false;
    }
    if (!check_escape(high, false)) return false;
    advance();
    bool at_high = false;
    if (const std::optional<std::string> problem = set.add(low, high, at_high))
      fail(at_high ? high : low, *problem);
    return !error_;
  }

  bool check_escape(const Token& token, bool expression) {
    if (!token.unknown_escape || expression) return true;
    Token at = token;
    at.raw = token.raw.substr(*token.unknown_escape - token.offset, 2);
    at.offset = *token.unknown_escape;
    fail(at, fmt::format("unknown escape '{}'; write \\\\ for a backslash", at.raw));
    return false;
  }

  Lexer lexer_;
  Token token_;
  Program program_;
  std::optional<ParseError> error_;
};

}  // namespace

tl::expected<Program, ParseError> parse(std::string_view expression) {
  return FilterParser(expression).run();
}

}  // namespace roce::analyze::filter
