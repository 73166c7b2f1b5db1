// SPDX-License-Identifier: Apache-2.0
#include "analyze/store/row_table.hpp"

#include <charconv>
#include <cmath>
#include <cstddef>

#include "analyze/base/value_format.hpp"

namespace roce::analyze {
namespace {

template <class Number>
void append_number(std::string& out, Number value) {
  char digits[32];
  const auto [end, failure] = std::to_chars(digits, digits + sizeof digits, value);
  (void)failure;  // 32 characters are enough for any of these
  out.append(digits, end);
}

template <class Number>
void append_numbers(std::string& out, const std::vector<Number>& values) {
  out += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i != 0) out += ',';
    append_number(out, values[i]);
  }
  out += ']';
}

}  // namespace

void append_cell(std::string& out, StoreTime value) {
  append_number(out, value.seconds);
}

/// Names in captures are anybody's: invalid UTF-8 is replaced, and what separates cells and rows is escaped.
void append_cell(std::string& out, const std::string& value) {
  std::string valid;
  append_valid_text(valid, value);
  for (const char c : valid) {
    switch (c) {
      case '\t':
        out += "\\t";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\0':
        out += "\\0";
        break;
      case '\\':
        out += "\\\\";
        break;
      default:
        out += c;
    }
  }
}

void append_cell(std::string& out, std::uint8_t value) {
  append_number(out, value);
}
void append_cell(std::string& out, std::uint16_t value) {
  append_number(out, value);
}
void append_cell(std::string& out, std::uint32_t value) {
  append_number(out, value);
}
void append_cell(std::string& out, std::uint64_t value) {
  append_number(out, value);
}
void append_cell(std::string& out, std::int16_t value) {
  append_number(out, value);
}
void append_cell(std::string& out, std::int64_t value) {
  append_number(out, value);
}
void append_cell(std::string& out, double value) {
  append_number(out, std::isfinite(value) ? value : 0);
}
void append_cell(std::string& out, const std::vector<std::uint16_t>& value) {
  append_numbers(out, value);
}
void append_cell(std::string& out, const std::vector<std::uint32_t>& value) {
  append_numbers(out, value);
}
void append_cell(std::string& out, const std::vector<std::uint64_t>& value) {
  append_numbers(out, value);
}

}  // namespace roce::analyze
