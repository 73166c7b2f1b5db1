// SPDX-License-Identifier: Apache-2.0
// Internal to the text report: sections with a title in the margin, wrapped to the terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/base/units.hpp"

namespace roce::cli {

struct ReportStyle {
  std::size_t width = 100;  ///< columns of the terminal
  bool color = false;
  std::size_t top = 20;  ///< connections and flows listed, the rest is counted; 0 = all
  /// What stands for FILE in commands; empty: FILE, nothing: the file that was read, where it is one.
  std::optional<std::string> file = std::nullopt;
};

class Page {
 public:
  static constexpr std::size_t indent = 12;  ///< where the text of a section begins
  /// A space at which no line is broken: "RC RDMA WRITE Only 12" stays together.
  static constexpr char unbreakable = '\x01';

  explicit Page(const ReportStyle& style);

  /// The title that the next line bears in the margin, in `code` (SGR, "1" = bold) if colour is wanted.
  void section(std::string_view title, std::string_view code = "1");
  void line(std::string_view text);
  void gap() { out_ += '\n'; }
  void block(std::string_view text) { out_ += text; }
  [[nodiscard]] std::string paint(std::string_view code, std::string_view text) const;
  [[nodiscard]] std::size_t width() const noexcept { return width_; }
  [[nodiscard]] const ReportStyle& style() const noexcept { return style_; }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  const ReportStyle& style_;
  std::size_t width_;
  std::string_view title_;
  std::string_view title_code_;
  std::string out_;
};

/// Text from files and paths may hold escape sequences; a terminal must not see them.
[[nodiscard]] std::string printable(std::string_view text);
using analyze::packets_text;
using analyze::plural;
/// "a 3, b 2": largest first, zeros left out.
[[nodiscard]] std::string listing(std::vector<std::pair<std::string, std::uint64_t>> parts);

}  // namespace roce::cli
