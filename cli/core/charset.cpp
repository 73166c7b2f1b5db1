// SPDX-License-Identifier: Apache-2.0
#include "cli/core/charset.hpp"

#include <fmt/format.h>
#include <langinfo.h>
#include <locale.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace roce::cli {
namespace {

/// The characters outside ASCII that texts of the program have.
constexpr std::pair<std::string_view, std::string_view> ascii_forms[] = {
    {"µ", "u"},   {"μ", "u"}, {"→", "->"}, {"←", "<-"}, {"↔", "<->"}, {"×", "x"},  {"·", "*"},
    {"…", "..."}, {"–", "-"}, {"—", "-"},  {"±", "+-"}, {"≤", "<="},  {"≥", ">="}, {"≈", "~"}};

bool is_ascii(char c) {
  return static_cast<unsigned char>(c) < 0x80;
}

bool names_utf8(std::string_view encoding) {
  std::string letters;
  for (const char c : encoding) {
    if (c != '-') letters += (c >= 'A' && c <= 'Z') ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return letters == "utf8";
}

/// The encoding in the name of the locale, "de_DE.UTF-8@euro": for a locale that is not installed here, as is
/// common in containers and behind ssh. The terminal has that encoding nevertheless.
std::string_view encoding_in_name() {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    std::string_view name = value;
    name = name.substr(0, name.find('@'));
    const std::size_t dot = name.find('.');
    return dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
  }
  return {};
}

bool find_out_utf8() {
  // Not setlocale(): the rest of the program depends on no locale.
  const locale_t locale = ::newlocale(LC_CTYPE_MASK, "", locale_t{});
  if (locale == locale_t{}) return names_utf8(encoding_in_name());
  const bool utf8 = names_utf8(::nl_langinfo_l(CODESET, locale));
  ::freelocale(locale);
  return utf8;
}

}  // namespace

bool locale_is_utf8() {
  static const bool utf8 = find_out_utf8();
  return utf8;
}

std::string ascii_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto plain = std::find_if_not(text.begin(), text.end(), is_ascii);
    out.append(text.begin(), plain);
    text.remove_prefix(static_cast<std::size_t>(plain - text.begin()));
    if (text.empty()) break;
    const auto form = std::find_if(std::begin(ascii_forms), std::end(ascii_forms),
                                   [&](const auto& row) { return text.starts_with(row.first); });
    if (form != std::end(ascii_forms)) {
      out.append(form->second);
      text.remove_prefix(form->first.size());
    } else {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(text.front()));
      text.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace roce::cli
