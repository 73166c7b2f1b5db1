// SPDX-License-Identifier: Apache-2.0
#include "cli/core/command.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>

namespace roce::cli {
namespace {

std::optional<std::uint64_t> whole_number(const std::string& text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace

std::string empty_error(const std::string& text) {
  return text.empty() ? "the value is empty (an unset variable?)" : "";
}

std::string number_error(const std::string& text) {
  return whole_number(text) ? "" : fmt::format("'{}' is not a whole number of at least 0", text);
}

std::string count_error(const std::string& text) {
  return whole_number(text).value_or(0) != 0 ? ""
                                             : fmt::format("'{}' is not a whole number of at least 1", text);
}

}  // namespace roce::cli
