// SPDX-License-Identifier: Apache-2.0
#include "analyze/filter/filter_lexer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace roce::analyze::filter {
namespace {

constexpr std::string_view spaces = " \t\r\n\f\v";

constexpr bool is_word(char c) {
  // Characters of names, numbers, addresses and byte strings; a slash precedes a prefix length.
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == ':' || c == '-' || c == '/';
}

constexpr int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr bool is_octal(char c) {
  return c >= '0' && c <= '7';
}

struct Symbol {
  std::string_view text;
  TokenKind kind;
};
// A longer symbol comes before its prefix.
constexpr Symbol symbols[] = {
    {"===", TokenKind::operation}, {"!==", TokenKind::operation},      {"==", TokenKind::operation},
    {"!=", TokenKind::operation},  {"~=", TokenKind::operation},       {"<=", TokenKind::operation},
    {">=", TokenKind::operation},  {"&&", TokenKind::operation},       {"||", TokenKind::operation},
    {"^^", TokenKind::operation},  {"..", TokenKind::range},           {"<", TokenKind::operation},
    {">", TokenKind::operation},   {"!", TokenKind::operation},        {"~", TokenKind::operation},
    {"&", TokenKind::mask},        {"(", TokenKind::open_parenthesis}, {")", TokenKind::close_parenthesis},
    {"{", TokenKind::open_brace},  {"}", TokenKind::close_brace},      {"[", TokenKind::open_bracket},
    {",", TokenKind::comma}};

struct Escape {
  char typed;
  char meant;
};
constexpr Escape escapes[] = {{'"', '"'},  {'\'', '\''}, {'\\', '\\'}, {'a', '\a'}, {'b', '\b'},
                              {'f', '\f'}, {'n', '\n'},  {'r', '\r'},  {'t', '\t'}, {'v', '\v'}};

}  // namespace

Token Lexer::make(TokenKind kind, std::size_t start) const {
  Token token;
  token.kind = kind;
  token.offset = start;
  token.raw = text_.substr(start, at_ - start);
  return token;
}

Token Lexer::bad(std::size_t start, std::size_t length, std::string message) {
  at_ = text_.size();
  Token token;
  token.kind = TokenKind::bad;
  token.offset = start;
  token.raw = text_.substr(start, length);
  token.value = std::move(message);
  return token;
}

Token Lexer::next() {
  at_ = std::min(text_.find_first_not_of(spaces, at_), text_.size());
  const std::size_t start = at_;
  if (start == text_.size()) return make(TokenKind::end, start);
  const char c = text_[start];
  const std::string_view rest = text_.substr(start);
  if (c == '"' || c == '\'') return quoted(start, c);
  if ((c == 'r' || c == 'R') && rest.size() > 1 && rest[1] == '"') return raw_text(start);
  for (const Symbol& symbol : symbols) {
    if (rest.starts_with(symbol.text)) {
      at_ += symbol.text.size();
      return make(symbol.kind, start);
    }
  }
  if (is_word(c)) return word(start);
  if (c == '=') return bad(start, 1, "'=' is not an operator; did you mean '=='?");
  if (c == '|' || c == '^')
    return bad(start, 1, fmt::format("'{0}' is not an operator; did you mean '{0}{0}'?", c));
  if (c == ']') return bad(start, 1, "unexpected ']' without '['");
  std::size_t length = 1;  // the whole UTF-8 character
  while (start + length < text_.size() &&
         (static_cast<unsigned char>(text_[start + length]) & 0xc0U) == 0x80U)
    ++length;
  if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return bad(start, 1, "unexpected control character");
  return bad(start, length, fmt::format("unexpected character '{}'", text_.substr(start, length)));
}

Token Lexer::word(std::size_t start) {
  while (at_ < text_.size() && is_word(text_[at_])) {
    if (text_.substr(at_).starts_with("..")) break;
    ++at_;
  }
  return make(TokenKind::word, start);
}

Token Lexer::raw_text(std::size_t start) {
  const std::size_t first = start + 2;
  std::size_t close = first;
  // A quote after a backslash belongs to the text; the backslash stays in it too, as in Wireshark.
  while (close < text_.size() && text_[close] != '"') close += text_[close] == '\\' ? 2U : 1U;
  if (close >= text_.size()) return bad(start, 2, "this string is not closed: expected '\"'");
  at_ = close + 1;
  Token token = make(TokenKind::text, start);
  token.value = text_.substr(first, close - first);
  return token;
}

Token Lexer::quoted(std::size_t start, char quote) {
  Token token;
  at_ = start + 1;
  while (at_ < text_.size() && text_[at_] != quote) {
    if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
      escape(token);
    } else {
      token.value += text_[at_++];
    }
  }
  if (at_ >= text_.size()) {
    return quote == '"' ? bad(start, 1, "this string is not closed: expected '\"'")
                        : bad(start, 1, "this character is not closed: expected \"'\"");
  }
  ++at_;
  token.kind = quote == '"' ? TokenKind::text : TokenKind::character;
  token.offset = start;
  token.raw = text_.substr(start, at_ - start);
  if (token.kind == TokenKind::character && token.value.size() != 1)
    return bad(start, token.raw.size(), "expected exactly one character between single quotes");
  return token;
}

/// At a backslash that is not the last character.
void Lexer::escape(Token& token) {
  const std::size_t backslash = at_;
  const char c = text_[backslash + 1];
  at_ += 2;
  const auto digit_at = [&](std::size_t place) {
    return place < text_.size() ? hex_digit(text_[place]) : -1;
  };
  if (c == 'x' && digit_at(at_) >= 0) {
    int value = digit_at(at_++);
    if (digit_at(at_) >= 0) value = value * 16 + digit_at(at_++);
    token.value += static_cast<char>(value);
    return;
  }
  if (is_octal(c)) {
    int value = c - '0';
    for (int i = 0; i < 2 && at_ < text_.size() && is_octal(text_[at_]); ++i)
      value = value * 8 + (text_[at_++] - '0');
    token.value += static_cast<char>(value & 0xff);
    return;
  }
  for (const Escape& row : escapes) {
    if (row.typed == c) {
      token.value += row.meant;
      return;
    }
  }
  if (!token.unknown_escape) token.unknown_escape = backslash;
  token.value += '\\';
  token.value += c;
}

Token Lexer::bracket() {
  const std::size_t start = at_;
  const std::size_t close = text_.find(']', start);
  if (close == std::string_view::npos) return bad(start - 1, 1, "this '[' is not closed: expected ']'");
  at_ = close;
  Token token = make(TokenKind::word, start);
  at_ = close + 1;
  return token;
}

}  // namespace roce::analyze::filter
