// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace roce::analyze {

/// Appends untrusted text for element content and attributes: the result is valid UTF-8, without markup and
/// characters that XML forbids. Control characters, bytes that are not UTF-8 and characters that change the
/// text direction become \xNN and \uNNNN.
void append_html_escaped(std::string& out, std::string_view text);

/// Appends HTML that is also well-formed XML to a string. Names of tags and attributes must be valid; texts
/// and values are escaped.
class HtmlWriter {
 public:
  struct Attribute {
    std::string_view name;
    std::string_view value;
  };
  using Attributes = std::initializer_list<Attribute>;

  explicit HtmlWriter(std::string& out) : out_(out) {}

  /// `tag` must outlive the element, e.g. a literal.
  HtmlWriter& open(std::string_view tag, Attributes attributes = {});
  HtmlWriter& close();  ///< the innermost element
  HtmlWriter& text(std::string_view text);
  /// An element that contains only text.
  HtmlWriter& element(std::string_view tag, std::string_view text, Attributes attributes = {});
  /// An element without content, such as <br/>.
  HtmlWriter& empty(std::string_view tag, Attributes attributes = {});
  HtmlWriter& line_break();           ///< in the source
  HtmlWriter& raw(std::string_view);  ///< not escaped: for constant texts only

 private:
  void begin(std::string_view tag, Attributes attributes);

  std::string& out_;
  std::vector<std::string_view> open_;
};

}  // namespace roce::analyze
