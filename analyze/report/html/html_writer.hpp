// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace roce::analyze {

/// Text between tags and in attributes, whatever it holds: valid UTF-8, no markup, nothing that XML forbids.
/// Control characters, bytes that are no UTF-8 and characters that turn the direction of writing are shown
/// as \xNN and \uNNNN.
void append_html_escaped(std::string& out, std::string_view text);

/// Appends HTML to a string that is well-formed XML too. Names of tags and attributes are the caller's,
/// texts and values are escaped.
class HtmlWriter {
 public:
  struct Attribute {
    std::string_view name;
    std::string_view value;
  };
  using Attributes = std::initializer_list<Attribute>;

  explicit HtmlWriter(std::string& out) : out_(out) {}

  /// `tag` must outlive the element: a literal.
  HtmlWriter& open(std::string_view tag, Attributes attributes = {});
  HtmlWriter& close();  ///< the innermost element
  HtmlWriter& text(std::string_view text);
  /// An element with nothing but text.
  HtmlWriter& element(std::string_view tag, std::string_view text, Attributes attributes = {});
  /// An element that has no content, as <br/>.
  HtmlWriter& empty(std::string_view tag, Attributes attributes = {});
  HtmlWriter& line_break();           ///< in the source
  HtmlWriter& raw(std::string_view);  ///< as it is: texts of our own only

 private:
  void begin(std::string_view tag, Attributes attributes);

  std::string& out_;
  std::vector<std::string_view> open_;
};

}  // namespace roce::analyze
