// SPDX-License-Identifier: Apache-2.0
// Text for people in the encoding of their locale.
#pragma once

#include <string>
#include <string_view>

namespace roce::cli {

/// Whether the encoding of the user's locale (LC_ALL, LC_CTYPE, LANG) is UTF-8. Not so without a locale, as
/// in most services, and in C and POSIX.
[[nodiscard]] bool locale_is_utf8();

/// UTF-8 text as ASCII: the program's own characters as the nearest ASCII ("->", "us"), those of names from
/// captures and files as \xNN for each byte, as append_printable() does with bytes that are not UTF-8.
[[nodiscard]] std::string ascii_text(std::string_view text);

}  // namespace roce::cli
