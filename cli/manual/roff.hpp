// SPDX-License-Identifier: Apache-2.0
// Text for man(1): words, and documents of docs/ as sections.
#pragma once

#include <string>
#include <string_view>

namespace roce::cli {

/// Words on a line of their own or within one: backslashes, hyphens and a leading dot mean nothing to roff.
[[nodiscard]] std::string roff_text(std::string_view text);

/// The part of a document below the heading, without it, up to the next heading of its level or above; empty
/// if there is no such heading.
[[nodiscard]] std::string markdown_section(std::string_view document, std::string_view heading);

/// A document as sections of a page: headings, paragraphs, lists, code, and tables as lists of terms. The
/// first heading is left out: it is the page's title.
[[nodiscard]] std::string roff_of_markdown(std::string_view document);

}  // namespace roce::cli
