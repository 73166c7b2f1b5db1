// SPDX-License-Identifier: Apache-2.0
// How packets of a connection are drawn: colour, shape and name, one row per mark.
#pragma once

#include <qcustomplot.h>

#include <QString>
#include <cstdint>
#include <span>

#include "analyze/trace/connection_trace.hpp"
#include "gui/charts/theme.hpp"

namespace roce::gui {

/// In drawing order: more important ones are drawn on top.
enum class TraceMark : std::uint8_t {
  request,
  acknowledge,
  response,
  out_of_order,
  again_unknown,
  again_read,
  again_rnr,
  again_timeout,
  again_nak,
  spurious,
  damaged,
  lost_before,
  lost_behind,
  rnr_nak,
  nak,
  ce,
  cnp,
  count_
};
inline constexpr std::size_t trace_mark_count = static_cast<std::size_t>(TraceMark::count_);

struct TraceMarkLook {
  enum class Form : std::uint8_t {
    bar,    ///< over its PSNs
    steps,  ///< a rising step line
    sign,   ///< a symbol at its PSN
    foot,   ///< a tick at the bottom
    head,   ///< a tick at the top
  };
  const char* name;  ///< untranslated; see trace_mark_name()
  QColor Colours::*colour;
  Form form;
  QCPScatterStyle::ScatterShape shape = QCPScatterStyle::ssNone;
  bool filled = false;
};
[[nodiscard]] const TraceMarkLook& trace_mark_look(TraceMark mark) noexcept;
[[nodiscard]] QString trace_mark_name(TraceMark mark);
[[nodiscard]] QCPScatterStyle trace_mark_style(TraceMark mark, const QPalette& palette, double size = 9);

/// Whether a packet has that mark. A packet may have several.
[[nodiscard]] bool has_mark(const analyze::TracePoint& point, TraceMark mark) noexcept;
/// The most important mark of a packet.
[[nodiscard]] TraceMark main_mark(const analyze::TracePoint& point) noexcept;

}  // namespace roce::gui
