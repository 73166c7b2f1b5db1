// SPDX-License-Identifier: Apache-2.0
#include "cli/core/page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/base/value_format.hpp"
#include "cli/core/text_table.hpp"

namespace roce::cli {

Page::Page(const ReportStyle& style) : style_(style), width_(std::max<std::size_t>(style.width, 60)) {}

void Page::section(std::string_view title, std::string_view code) {
  title_ = title;
  title_code_ = code;
}

void Page::line(std::string_view text) {
  std::string head = title_.empty() ? std::string() : paint(title_code_, title_);
  head.append(indent - std::min(indent, display_width(title_)), ' ');
  title_ = {};
  std::string body = wrap(text, width_, indent);
  std::replace(body.begin(), body.end(), unbreakable, ' ');
  out_ += head + body + "\n";
}

std::string Page::paint(std::string_view code, std::string_view text) const {
  return style_.color ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

std::string printable(std::string_view text) {
  std::string out;
  analyze::append_printable(out, text);
  return out;
}

std::string listing(std::vector<std::pair<std::string, std::uint64_t>> parts) {
  std::erase_if(parts, [](const auto& part) { return part.second == 0; });
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [name, n] : parts) {
    if (!text.empty()) text += ", ";
    std::string item = fmt::format("{} {}", name, n);
    std::replace(item.begin(), item.end(), ' ', Page::unbreakable);
    text += item;
  }
  return text;
}

}  // namespace roce::cli
