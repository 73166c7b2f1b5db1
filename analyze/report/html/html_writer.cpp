// SPDX-License-Identifier: Apache-2.0
#include "analyze/report/html/html_writer.hpp"

#include <utility>

#include "analyze/base/value_format.hpp"

namespace roce::analyze {
namespace {

/// Single-byte characters that are markup.
constexpr std::pair<char, std::string_view> entities[] = {
    {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};

/// Valid UTF-8 that must not be in the output: characters that disguise text, and noncharacters that XML
/// forbids.
constexpr std::pair<std::string_view, std::string_view> unwanted[] = {
    {"\xe2\x80\xaa", "\\u202a"}, {"\xe2\x80\xab", "\\u202b"}, {"\xe2\x80\xac", "\\u202c"},
    {"\xe2\x80\xad", "\\u202d"}, {"\xe2\x80\xae", "\\u202e"}, {"\xe2\x81\xa6", "\\u2066"},
    {"\xe2\x81\xa7", "\\u2067"}, {"\xe2\x81\xa8", "\\u2068"}, {"\xe2\x81\xa9", "\\u2069"},
    {"\xef\xbf\xbe", "\\ufffe"}, {"\xef\xbf\xbf", "\\uffff"}};

template <class Table>
std::string_view replacement(const Table& table, std::string_view text, std::size_t& length) {
  for (const auto& row : table) {  // clang 14 does not support structured bindings in a requires
    if (!text.starts_with(row.first)) continue;
    if constexpr (requires { row.first.size(); }) length = row.first.size();
    return row.second;
  }
  return {};
}

}  // namespace

void append_html_escaped(std::string& out, std::string_view text) {
  // Backslashes are plain text here; all other escapes are the same as for a terminal.
  std::string shown;
  while (true) {
    const std::size_t slash = text.find('\\');
    append_printable(shown, text.substr(0, slash));
    if (slash == std::string_view::npos) break;
    shown += '\\';
    text.remove_prefix(slash + 1);
  }
  std::string_view rest = shown;
  while (!rest.empty()) {
    const std::size_t plain = rest.find_first_of("&<>\"'\xe2\xef");
    out += rest.substr(0, plain);
    if (plain == std::string_view::npos) break;
    rest.remove_prefix(plain);
    std::size_t length = 1;
    std::string_view instead = replacement(entities, rest, length);
    if (instead.empty()) instead = replacement(unwanted, rest, length);
    out += instead.empty() ? rest.substr(0, length) : instead;
    rest.remove_prefix(length);
  }
}

void HtmlWriter::begin(std::string_view tag, Attributes attributes) {
  out_ += '<';
  out_ += tag;
  for (const Attribute& attribute : attributes) {
    if (attribute.value.empty()) continue;
    out_ += ' ';
    out_ += attribute.name;
    out_ += "=\"";
    append_html_escaped(out_, attribute.value);
    out_ += '"';
  }
}

HtmlWriter& HtmlWriter::open(std::string_view tag, Attributes attributes) {
  begin(tag, attributes);
  out_ += '>';
  open_.push_back(tag);
  return *this;
}

HtmlWriter& HtmlWriter::close() {
  out_ += "</";
  out_ += open_.back();
  out_ += '>';
  open_.pop_back();
  return *this;
}

HtmlWriter& HtmlWriter::text(std::string_view text) {
  append_html_escaped(out_, text);
  return *this;
}

HtmlWriter& HtmlWriter::element(std::string_view tag, std::string_view content, Attributes attributes) {
  return open(tag, attributes).text(content).close();
}

HtmlWriter& HtmlWriter::empty(std::string_view tag, Attributes attributes) {
  begin(tag, attributes);
  out_ += "/>";
  return *this;
}

HtmlWriter& HtmlWriter::line_break() {
  out_ += '\n';
  return *this;
}

HtmlWriter& HtmlWriter::raw(std::string_view text) {
  out_ += text;
  return *this;
}

}  // namespace roce::analyze
