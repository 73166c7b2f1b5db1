// SPDX-License-Identifier: Apache-2.0
#include "capture/network/filter_error_place.hpp"

#include <algorithm>
#include <cstdint>

namespace roce::capture {
namespace {

enum class Sort : std::uint8_t { space, word, sign };

Sort sort_of(char letter) noexcept {
  if (std::string_view(" \t\n\r").find(letter) != std::string_view::npos) return Sort::space;
  // Names, numbers and addresses; "-" and ":" are more often part of them than operators.
  const bool word = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                    (letter >= '0' && letter <= '9') ||
                    std::string_view("._:-\\").find(letter) != std::string_view::npos;
  return word ? Sort::word : Sort::sign;
}

}  // namespace

FilterPlace find_filter_error(std::string_view filter, const std::function<bool(std::string_view)>& goes_on) {
  std::size_t begin = 0;
  while (begin < filter.size()) {
    const Sort sort = sort_of(filter[begin]);
    std::size_t end = begin + 1;
    // Operators and brackets are single characters: "((" is two.
    while (sort != Sort::sign && end < filter.size() && sort_of(filter[end]) == sort) ++end;
    if (sort != Sort::space && !goes_on(filter.substr(0, end))) return {begin, end - begin};
    begin = end;
  }
  return {filter.size(), 0};
}

std::string mark_filter(std::string_view filter, FilterPlace place) {
  std::string text(filter);
  std::replace_if(
      text.begin(), text.end(), [](char letter) { return letter < ' ' || letter > '~'; }, '?');
  return "  " + text + "\n  " + std::string(place.begin, ' ') +
         std::string(std::max<std::size_t>(place.size, 1), '^');
}

}  // namespace roce::capture
