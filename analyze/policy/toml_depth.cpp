// SPDX-License-Identifier: Apache-2.0
#include "analyze/policy/toml_depth.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace roce::analyze {
namespace {

/// Reads strings, comments, keys and brackets only: everything else cannot nest. What is not TOML may confuse
/// it, but toml++ stops at the first error and sees nothing of what follows.
class TomlDepth {
 public:
  explicit TomlDepth(std::string_view text) : text_(text) {}

  TextPlace first_too_deep() {
    while (at_ < text_.size()) {
      const TextPlace here = place_;
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        skip_string(c);
      } else if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') advance();
      } else {
        advance();
        read(c);
      }
      if (depth_ > toml_depth_max) return here;
    }
    return {};
  }

 private:
  enum class Part : std::uint8_t { key, value };
  /// The document, an inline table or a list: what is open at a position.
  struct Level {
    bool table = true;
    Part part = Part::key;
    std::size_t dots = 0;  ///< in the current key: tables that it opens besides
  };

  void advance() {
    const char c = text_[at_++];
    if (c == '\n') {
      ++place_.line;
      place_.column = 1;
    } else if (at_ == text_.size() || (static_cast<unsigned char>(text_[at_]) & 0xc0U) != 0x80U) {
      ++place_.column;  // in characters of UTF-8
    }
  }

  [[nodiscard]] std::size_t run_of(char c) const {
    const std::size_t end = text_.find_first_not_of(c, at_);
    return (end == std::string_view::npos ? text_.size() : end) - at_;
  }

  void skip_string(char quote) {
    begins_line_ = false;
    const std::size_t opening = run_of(quote);
    if (opening == 2) return skip(2);  // empty
    const bool several_lines = opening >= 3;
    skip(several_lines ? 3 : 1);
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == quote && !several_lines) return skip(1);
      if (c == quote) {
        // Two quotes may stand before the three that end it.
        const std::size_t run = std::min<std::size_t>(run_of(quote), 5);
        skip(run);
        if (run >= 3) return;
      } else if (c == '\n' && !several_lines) {
        return;  // a syntax error
      } else {
        skip(c == '\\' && quote == '"' ? 2 : 1);
      }
    }
  }
  void skip(std::size_t count) {
    for (; count != 0 && at_ < text_.size(); --count) advance();
  }

  void read(char c) {
    if (c == '\n' && levels_.size() == 1) {
      in_header_ = false;
      next_key();
      begins_line_ = true;
      return;
    }
    if (c == ' ' || c == '\t' || c == '\r') return;
    const bool first = begins_line_;
    begins_line_ = false;
    Level& level = levels_.back();
    if (first && c == '[') {
      in_header_ = true;
      depth_ = 2;  // the document and the table
    } else if (in_header_) {
      depth_ += c == '.' ? 1U : 0U;
    } else if (level.part == Part::key) {
      read_key(level, c);
    } else if (c == '[') {
      open({false, Part::value, 0});
    } else if (c == '{') {
      open({true, Part::key, 0});
    }
    if (!in_header_) read_end(c);
  }

  void read_key(Level& level, char c) {
    if (c == '=') level.part = Part::value;
    if (c != '.') return;
    ++level.dots;
    ++depth_;
  }

  void read_end(char c) {
    if (levels_.size() == 1) return;
    const bool table = levels_.back().table;
    if (c == ',' && table) next_key();
    if (c != (table ? '}' : ']')) return;
    depth_ -= 1 + levels_.back().dots;
    levels_.pop_back();
  }

  void open(Level level) {
    levels_.push_back(level);
    ++depth_;
  }
  void next_key() {
    Level& level = levels_.back();
    depth_ -= level.dots;
    level.dots = 0;
    level.part = Part::key;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  TextPlace place_{1, 1};
  std::vector<Level> levels_{Level{}};
  std::size_t depth_ = 1;  ///< tables of the header, levels and dots
  bool begins_line_ = true;
  bool in_header_ = false;
};

}  // namespace

TextPlace too_deep_in_toml(std::string_view text) {
  return TomlDepth(text).first_too_deep();
}

}  // namespace roce::analyze
