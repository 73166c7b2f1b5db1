// SPDX-License-Identifier: Apache-2.0
#include "analyze/base/value_format.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

namespace roce::analyze {
namespace {

constexpr char value_digits[] = "0123456789abcdef";

/// Bytes of the valid UTF-8 character at the beginning of `text`, 0 if there is none (Unicode 3.9, table
/// 3-7).
std::size_t utf8_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto in = [&](std::size_t i, unsigned low, unsigned high) {
    return i < text.size() && at(i) >= low && at(i) <= high;
  };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return in(1, 0x80, 0xbf) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const unsigned low = first == 0xe0 ? 0xa0 : 0x80, high = first == 0xed ? 0x9f : 0xbf;
    return in(1, low, high) && in(2, 0x80, 0xbf) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const unsigned low = first == 0xf0 ? 0x90 : 0x80, high = first == 0xf4 ? 0x8f : 0xbf;
    return in(1, low, high) && in(2, 0x80, 0xbf) && in(3, 0x80, 0xbf) ? 4 : 0;
  }
  return 0;
}

void append_byte(std::string& out, std::string_view prefix, unsigned char byte) {
  out.append(prefix);
  out.push_back(value_digits[byte >> 4U]);
  out.push_back(value_digits[byte & 15U]);
}

/// The letter of a C (and JSON) escape, or 0.
char escape_letter(char c) {
  switch (c) {
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    default:
      return 0;
  }
}

/// Multi-byte characters that affect a terminal or the text around them: C1 controls, marks of text
/// direction (U+061C, U+200E, U+200F, U+202A..U+202E, U+2066..U+2069), line and paragraph separators
/// (U+2028, U+2029).
bool is_hidden_control(std::string_view character) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 2) return (at(0) == 0xc2 && at(1) < 0xa0) || (at(0) == 0xd8 && at(1) == 0x9c);
  if (character.size() != 3 || at(0) != 0xe2) return false;
  if (at(1) == 0x80) return at(2) == 0x8e || at(2) == 0x8f || (at(2) >= 0xa8 && at(2) <= 0xae);
  return at(1) == 0x81 && at(2) >= 0xa6 && at(2) <= 0xa9;
}

/// The code point of a valid character of up to three bytes.
unsigned code_point(std::string_view character) {
  const auto at = [&](std::size_t i) {
    return static_cast<unsigned>(static_cast<unsigned char>(character[i]));
  };
  if (character.size() == 1) return at(0);
  if (character.size() == 2) return (at(0) & 0x1fU) << 6U | (at(1) & 0x3fU);
  return (at(0) & 0x0fU) << 12U | (at(1) & 0x3fU) << 6U | (at(2) & 0x3fU);
}

/// Appends what needs no escape and passes the rest to `escape(character, is_utf8)`; bytes that are not UTF-8
/// one by one.
template <char... Special, class Escape>
void append_escaped(std::string& out, std::string_view text, Escape escape) {
  const auto plain = [](char c) { return c >= 0x20 && c < 0x7f && ((c != Special) && ...); };
  while (true) {
    // Names are nothing else.
    const auto rest = std::find_if_not(text.begin(), text.end(), plain);
    out.append(text.begin(), rest);
    text.remove_prefix(static_cast<std::size_t>(rest - text.begin()));
    if (text.empty()) return;
    const std::size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    if (length <= 1 || is_hidden_control(character)) {
      escape(character, length != 0);
    } else {
      out.append(character);
    }
    text.remove_prefix(character.size());
  }
}

}  // namespace

void append_decimal(std::string& out, std::uint64_t value) {
  std::array<char, 20> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  out.append(text.data(), static_cast<std::size_t>(end - text.data()));
}

void append_decimal(std::string& out, std::uint64_t value, std::size_t width) {
  std::array<char, 20> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  const auto length = static_cast<std::size_t>(end - text.data());
  if (length < width) out.append(width - length, ' ');
  out.append(text.data(), length);
}

void append_hex_number(std::string& out, std::uint64_t value, unsigned digits) {
  unsigned needed = 1;
  while (needed < 16 && (value >> (4 * needed)) != 0) ++needed;
  if (digits > 16) digits = 16;
  if (needed < digits) needed = digits;
  out.append("0x");
  for (unsigned i = needed; i-- > 0;) out.push_back(value_digits[(value >> (4 * i)) & 15U]);
}

void append_hex(std::string& out, dissect::Bytes bytes) {
  const std::size_t begin = out.size();
  out.resize(begin + 2 * bytes.size());
  char* to = out.data() + begin;
  for (const std::uint8_t byte : bytes) {
    *to++ = value_digits[byte >> 4U];
    *to++ = value_digits[byte & 15U];
  }
}

void append_seconds(std::string& out, std::int64_t nanoseconds, unsigned decimals) {
  constexpr std::uint64_t per_second = 1'000'000'000;
  std::uint64_t magnitude = static_cast<std::uint64_t>(nanoseconds);
  if (nanoseconds < 0) {
    out.push_back('-');
    magnitude = 0 - magnitude;
  }
  append_decimal(out, magnitude / per_second);
  if (decimals == 0) return;
  std::uint64_t fraction = magnitude % per_second;
  std::array<char, 10> text;
  text[0] = '.';
  for (std::size_t i = 9; i > 0; --i) {
    text[i] = static_cast<char>('0' + fraction % 10);
    fraction /= 10;
  }
  out.append(text.data(), 1 + (decimals < 9 ? decimals : 9));
}

void append_printable(std::string& out, std::string_view text) {
  append_escaped<'\\'>(out, text, [&out](std::string_view character, bool /*valid*/) {
    const char first = character[0];
    const char letter = first == '\\' ? '\\' : escape_letter(first);
    if (letter != 0) {
      out.push_back('\\');
      out.push_back(letter);
    } else {
      for (const char c : character) append_byte(out, "\\x", static_cast<unsigned char>(c));
    }
  });
}

void append_valid_text(std::string& out, std::string_view text) {
  append_escaped<>(out, text, [&out](std::string_view character, bool valid) {
    const bool stays = valid && (character.size() > 1 || character == "\n" || character == "\t");
    out.append(stays ? character : std::string_view("\xef\xbf\xbd"));
  });
}

void append_lines(std::string& out, std::string_view text) {
  const auto harmful = [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f;
  };
  std::replace_copy_if(text.begin(), text.end(), std::back_inserter(out), harmful, '?');
}

void append_json_escaped(std::string& out, std::string_view text) {
  append_escaped<'\\', '"'>(out, text, [&out](std::string_view character, bool valid) {
    if (!valid) {
      out.append("\\ufffd");
      return;
    }
    const char first = character[0];
    const char letter = first == '\\' || first == '"' ? first : escape_letter(first);
    if (letter != 0) {
      out.push_back('\\');
      out.push_back(letter);
    } else {
      const unsigned point = code_point(character);
      append_byte(out, "\\u", static_cast<unsigned char>(point >> 8U));
      append_byte(out, "", static_cast<unsigned char>(point & 0xffU));
    }
  });
}

}  // namespace roce::analyze
