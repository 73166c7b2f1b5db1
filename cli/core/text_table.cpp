// SPDX-License-Identifier: Apache-2.0
#include "cli/core/text_table.hpp"

#include <algorithm>
#include <numeric>

namespace roce::cli {
namespace {

constexpr std::size_t gap = 2;

void pad(std::string& out, std::string_view cell, std::size_t width, bool right) {
  const std::size_t missing = width - std::min(width, display_width(cell));
  if (right) out.append(missing, ' ');
  out += cell;
  if (!right) out.append(missing, ' ');
}

void end_line(std::string& out) {
  while (!out.empty() && out.back() == ' ') out.pop_back();
  out += '\n';
}

}  // namespace

std::size_t display_width(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t column = indent;
  bool first = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    const std::size_t length = display_width(word);
    if (!first && column + 1 + length > width) {
      out += '\n';
      out.append(indent, ' ');
      column = indent;
    } else if (!first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += length;
    first = false;
  }
  return out;
}

std::string TextTable::render(std::size_t width, std::size_t indent) const {
  const std::size_t n = columns_.size();
  std::vector<std::size_t> widths(n, 0);
  std::vector<bool> shown(n, false);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < n; ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
      if (!row[i].empty()) shown[i] = true;
    }
  }
  for (std::size_t i = 0; i < n; ++i) widths[i] = std::max(widths[i], display_width(columns_[i].heading));

  const auto total = [&] {
    std::size_t sum = indent;
    for (std::size_t i = 0; i < n; ++i) sum += shown[i] ? widths[i] + gap : 0;
    return sum - std::min(sum, gap);
  };
  while (width != 0 && total() > width) {
    std::size_t leaving = n;
    for (std::size_t i = 0; i < n; ++i) {
      if (shown[i] && columns_[i].priority != 0 &&
          (leaving == n || columns_[i].priority >= columns_[leaving].priority)) {
        leaving = i;
      }
    }
    if (leaving == n) break;
    shown[leaving] = false;
  }

  std::string out;
  const auto line = [&](auto&& cell) {
    out.append(indent, ' ');
    for (std::size_t i = 0; i < n; ++i) {
      if (!shown[i]) continue;
      pad(out, cell(i), widths[i], columns_[i].right);
      out.append(gap, ' ');
    }
    end_line(out);
  };
  line([&](std::size_t i) { return columns_[i].heading; });
  for (const auto& row : rows_) line([&](std::size_t i) { return std::string_view(row[i]); });
  return out;
}

}  // namespace roce::cli
