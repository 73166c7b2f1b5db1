// SPDX-License-Identifier: Apache-2.0
#include "analyze/filter/filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyze/filter/filter_parser.hpp"
#include "analyze/filter/filter_program.hpp"

namespace roce::analyze {
namespace {

/// Bytes of the first character: a whole UTF-8 sequence, or one byte if it is not UTF-8.
std::size_t character_size(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t size = lead < 0x80                   ? 1
                           : lead >= 0xf0 && lead < 0xf5 ? 4
                           : lead >= 0xe0 && lead < 0xf0 ? 3
                           : lead >= 0xc2 && lead < 0xe0 ? 2
                                                         : 1;
  if (size > text.size()) return 1;
  for (std::size_t i = 1; i < size; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80U) return 1;
  }
  return size;
}

std::size_t characters(std::string_view text) {
  std::size_t count = 0;
  while (!text.empty()) {
    text.remove_prefix(character_size(text));
    ++count;
  }
  return count;
}

FilterError located(std::string_view expression, filter::ParseError error) {
  FilterError out;
  out.column = characters(expression.substr(0, error.offset)) + 1;
  out.length = std::max<std::size_t>(1, characters(expression.substr(error.offset, error.length)));
  out.message = std::move(error.message);
  return out;
}

}  // namespace

struct Filter::Program : filter::Program {
  explicit Program(filter::Program program) : filter::Program(std::move(program)) {}
};

Filter::Filter(std::unique_ptr<Program> program) : program_(std::move(program)) {}
Filter::Filter(Filter&&) noexcept = default;
Filter& Filter::operator=(Filter&&) noexcept = default;
Filter::~Filter() = default;

tl::expected<Filter, FilterError> Filter::compile(std::string_view expression) {
  tl::expected<filter::Program, filter::ParseError> program = filter::parse(expression);
  if (!program) return tl::unexpected(located(expression, std::move(program.error())));
  return Filter(std::make_unique<Program>(std::move(*program)));
}

bool Filter::matches(const PacketView& packet) const {
  return filter::run(*program_, packet);
}

std::vector<FieldRef> Filter::fields() const {
  std::vector<FieldRef> all;
  for (const filter::Test& test : program_->tests) {
    all.push_back(test.left.field);
    if (test.kind == filter::Test::Kind::fields) all.push_back(test.right.field);
  }
  return all;
}

bool Filter::needs_icrc() const noexcept {
  return program_->needs_icrc;
}

bool Filter::needs_flow() const noexcept {
  return program_->needs_flow;
}

bool Filter::needs_upper() const noexcept {
  return program_->needs_upper;
}

bool Filter::needs_analysis() const noexcept {
  return program_->needs_analysis;
}

std::string FilterError::describe(std::string_view expression) const {
  // A part of the expression around the error; characters that do not take one column become '?'.
  constexpr std::size_t width = 100, before = 60;
  const std::size_t total = characters(expression);
  const std::size_t place = column == 0 ? 0 : std::min(column - 1, total);
  std::size_t first = 0;
  if (total > width && place > before) first = std::min(place - before, total - std::min(total, width - 1));
  std::string line, caret;
  std::size_t index = 0;
  for (std::string_view rest = expression; !rest.empty() && index < first + width; ++index) {
    const std::size_t size = character_size(rest);
    if (index >= first) {
      const auto lead = static_cast<unsigned char>(rest.front());
      const bool blank = lead == '\t' || lead == '\n' || lead == '\r';
      const bool plain = size > 1 ? lead != 0xc2 || static_cast<unsigned char>(rest[1]) >= 0xa0
                                  : lead >= 0x20 && lead < 0x7f;
      if (blank) {
        line += ' ';
      } else if (plain) {
        line += rest.substr(0, size);
      } else {
        line += '?';
      }
    }
    rest.remove_prefix(size);
  }
  const std::size_t shift = place - first;
  caret.append(shift, ' ');
  caret += '^';
  const std::size_t room = width > shift ? width - shift : 1;
  if (length > 1) caret.append(std::min(length, room) - 1, '~');
  const std::string_view lead_in = first > 0 ? "..." : "";
  const std::string_view lead_out = first + width < total ? "..." : "";
  return fmt::format("{}{}{}\n{:{}}{}\ncolumn {}: {}", lead_in, line, lead_out, "", lead_in.size(), caret,
                     column, message);
}

}  // namespace roce::analyze
