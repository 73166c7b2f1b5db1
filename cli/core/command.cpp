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
  return text.empty() ? "it is empty (a variable that is not set?)" : "";
}

std::string number_error(const std::string& text) {
  return whole_number(text) ? "" : fmt::format("'{}' is no whole number from 0 on", text);
}

std::string count_error(const std::string& text) {
  return whole_number(text).value_or(0) != 0 ? "" : fmt::format("'{}' is no whole number from 1 on", text);
}

}  // namespace roce::cli
