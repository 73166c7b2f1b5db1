// SPDX-License-Identifier: Apache-2.0
// Layout of text reports: sections with a title in the margin, wrapped to the terminal's width.
#pragma once

#include <algorithm>
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
  std::size_t top = 20;  ///< connections and flows to list; 0 = all
  /// Replaces FILE in commands; "": FILE is kept; none: the capture file, if only one was read.
  std::optional<std::string> file = std::nullopt;
  bool findings = false;  ///< all findings in full
};

/// Collects the text of a report. Not thread-safe; `style` must outlive it.
class Page {
 public:
  static constexpr std::size_t indent = 12;  ///< where the text of a section begins
  /// Becomes a space at which lines are not broken: "RC RDMA WRITE Only 12".
  static constexpr char unbreakable = '\x01';

  explicit Page(const ReportStyle& style);

  /// Begins a section: the next line gets the title in its margin, in SGR `code` ("1" = bold) if colours are
  /// on.
  void section(std::string_view title, std::string_view code = "1");
  void line(std::string_view text);
  void gap() { out_ += '\n'; }
  void block(std::string_view text) { out_ += text; }
  [[nodiscard]] std::string paint(std::string_view code, std::string_view text) const;
  [[nodiscard]] std::size_t width() const noexcept { return width_; }
  [[nodiscard]] const ReportStyle& style() const noexcept { return style_; }
  [[nodiscard]] std::size_t lines() const noexcept {
    return static_cast<std::size_t>(std::count(out_.begin(), out_.end(), '\n'));
  }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  const ReportStyle& style_;
  std::size_t width_;
  std::string_view title_;
  std::string_view title_code_;
  std::string out_;
};

/// Escapes control characters and invalid UTF-8: texts from captures and file names may have terminal
/// sequences.
[[nodiscard]] std::string printable(std::string_view text);
using analyze::packets_text;
using analyze::plural;
/// "a 3, b 2": sorted by count, largest first, without zeros.
[[nodiscard]] std::string listing(std::vector<std::pair<std::string, std::uint64_t>> parts);

}  // namespace roce::cli
