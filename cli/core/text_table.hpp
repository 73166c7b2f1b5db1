// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace roce::cli {

/// Display columns of UTF-8 text: one per code point (the program prints no wide characters).
[[nodiscard]] std::size_t display_width(std::string_view text) noexcept;
/// Breaks `text` at spaces into lines of at most `width` columns; lines after the first are indented by
/// `indent`.
[[nodiscard]] std::string wrap(std::string_view text, std::size_t width, std::size_t indent);

/// Columns are padded to their widest cell. If they do not fit, those with the highest priority number are
/// omitted first; columns without any text are omitted always.
class TextTable {
 public:
  struct Column {
    std::string_view heading;
    bool right = false;
    std::uint8_t priority = 0;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  /// `width` 0 = no limit.
  [[nodiscard]] std::string render(std::size_t width, std::size_t indent) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace roce::cli
