// SPDX-License-Identifier: Apache-2.0
// Tokens of a display filter. Internal to analyze.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace roce::analyze::filter {

enum class TokenKind : std::uint8_t {
  end,
  word,       ///< names, numbers, addresses, byte strings, keywords
  text,       ///< "..." or r"...": `value` is the decoded string
  character,  ///< 'a': `value` is one character
  open_parenthesis,
  close_parenthesis,
  open_brace,
  close_brace,
  open_bracket,
  comma,
  range,      ///< ..
  mask,       ///< &
  operation,  ///< an operator such as && || ^^ ! == != === !== < <= > >=, in `raw`
  bad,        ///< not a valid token: `value` is the error message
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::size_t offset = 0;  ///< in bytes of the expression
  std::string_view raw;    ///< as typed
  std::string value;       ///< decoded text, or the message of TokenKind::bad
  /// Offset of an escape such as \. that is valid in regular expressions but not in strings.
  std::optional<std::size_t> unknown_escape;
};

/// Splits an expression, which must outlive it, into tokens.
class Lexer {
 public:
  explicit Lexer(std::string_view expression) noexcept : text_(expression) {}

  [[nodiscard]] Token next();
  /// After an open bracket: the text up to the closing one, which is skipped; or TokenKind::bad.
  [[nodiscard]] Token bracket();

 private:
  [[nodiscard]] Token quoted(std::size_t start, char quote);
  [[nodiscard]] Token raw_text(std::size_t start);
  [[nodiscard]] Token word(std::size_t start);
  [[nodiscard]] Token make(TokenKind kind, std::size_t start) const;
  [[nodiscard]] Token bad(std::size_t start, std::size_t length, std::string message);
  void escape(Token& token);

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace roce::analyze::filter
