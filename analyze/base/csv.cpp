// SPDX-License-Identifier: Apache-2.0
#include "analyze/base/csv.hpp"

#include <charconv>

namespace roce::analyze {
namespace {

/// "-5", "+1.5e3": its sign makes it no formula.
bool is_plain_number(std::string_view cell) {
  const char sign = cell.front();
  if (sign == '+' || sign == '-') cell.remove_prefix(1);
  if (cell.empty() || cell.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return false;
  double ignored = 0;
  const auto [stop, failure] = std::from_chars(cell.data(), cell.data() + cell.size(), ignored);
  return stop == cell.data() + cell.size() && failure != std::errc::invalid_argument && cell.front() != '-';
}

bool is_formula(std::string_view cell) {
  constexpr std::string_view beginnings = "=+-@\t\r";
  return !cell.empty() && beginnings.find(cell.front()) != std::string_view::npos && !is_plain_number(cell);
}

}  // namespace

void append_csv(std::string& out, std::string_view cell) {
  const std::string_view mark = is_formula(cell) ? "'" : "";
  if (cell.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += mark;
    out += cell;
    return;
  }
  out += '"';
  out += mark;
  for (const char c : cell) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace roce::analyze
