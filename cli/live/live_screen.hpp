// SPDX-License-Identifier: Apache-2.0
// The screen of a running capture as lines of text; live_terminal.hpp draws it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "analyze/results/snapshot.hpp"
#include "cli/live/live_figures.hpp"

namespace roce::cli {

struct ScreenStyle {
  std::size_t width = 80;   ///< columns
  std::size_t height = 24;  ///< lines
  bool color = false;
  bool ascii = false;  ///< the terminal shows ASCII only: texts become that before they are cut to the width
};

/// A finding as it appeared.
struct FoundLine {
  std::int64_t elapsed_ns = 0;  ///< since the capture began
  analyze::Severity severity = analyze::Severity::info;
  std::string text;  ///< finding_line() in full length
};

struct LiveView {
  const analyze::Snapshot& snapshot;
  const LiveMeter::Reading& reading;  ///< of about the last second
  std::string title;                  ///< "eth0", with the file it is written to
  std::int64_t elapsed_ns = 0;
  const std::deque<FoundLine>& found;  ///< oldest first
};

/// The screen, what is wrong first: at most `height` lines of at most `width` columns, without line ends.
/// What does not fit is omitted from the bottom; the worst diagnosis, or that nothing is wrong, is always
/// there.
[[nodiscard]] std::vector<std::string> live_screen(const LiveView& view, const ScreenStyle& style);

/// The sentence of the worst diagnosis; without any, counts_line().
[[nodiscard]] std::string verdict_line(const analyze::Snapshot& snapshot);
/// "nothing wrong found in 12 RoCE packets", "1 error, 2 notices in 12 RoCE packets".
[[nodiscard]] std::string counts_line(const analyze::Snapshot& snapshot);

}  // namespace roce::cli
