// SPDX-License-Identifier: Apache-2.0
#include "gui/charts/trace_marks.hpp"

#include <QCoreApplication>
#include <array>

namespace roce::gui {
namespace {

using analyze::Cause;
using analyze::TracePoint;
using analyze::Verdict;
using Form = TraceMarkLook::Form;
using ScatterShape = QCPScatterStyle;
using Kind = TracePoint::Kind;

struct Text {
  Q_DECLARE_TR_FUNCTIONS(TraceMark)
};

constexpr std::array<TraceMarkLook, trace_mark_count> looks{{
    {QT_TRANSLATE_NOOP("TraceMark", "request"), &Colours::throughput, Form::bar},
    {QT_TRANSLATE_NOOP("TraceMark", "acknowledged"), &Colours::info, Form::steps},
    {QT_TRANSLATE_NOOP("TraceMark", "response"), &Colours::goodput, Form::bar},
    {QT_TRANSLATE_NOOP("TraceMark", "out of order"), &Colours::throughput, Form::sign,
     ScatterShape::ssDiamond},
    {QT_TRANSLATE_NOOP("TraceMark", "retransmit"), &Colours::info, Form::sign, ScatterShape::ssCircle},
    {QT_TRANSLATE_NOOP("TraceMark", "retransmit: READ"), &Colours::retransmitted, Form::sign,
     ScatterShape::ssTriangleInverted, true},
    {QT_TRANSLATE_NOOP("TraceMark", "retransmit: RNR"), &Colours::ce, Form::sign, ScatterShape::ssDiamond,
     true},
    {QT_TRANSLATE_NOOP("TraceMark", "retransmit: timeout"), &Colours::retransmitted, Form::sign,
     ScatterShape::ssSquare, true},
    {QT_TRANSLATE_NOOP("TraceMark", "retransmit: NAK"), &Colours::retransmitted, Form::sign,
     ScatterShape::ssTriangle, true},
    {QT_TRANSLATE_NOOP("TraceMark", "spurious"), &Colours::lost, Form::sign, ScatterShape::ssSquare},
    {QT_TRANSLATE_NOOP("TraceMark", "damaged"), &Colours::error, Form::sign, ScatterShape::ssCrossSquare},
    {QT_TRANSLATE_NOOP("TraceMark", "lost upstream"), &Colours::lost, Form::sign, ScatterShape::ssPlusCircle},
    {QT_TRANSLATE_NOOP("TraceMark", "lost downstream"), &Colours::lost, Form::sign,
     ScatterShape::ssCrossCircle},
    {QT_TRANSLATE_NOOP("TraceMark", "RNR NAK"), &Colours::ce, Form::sign, ScatterShape::ssPlus},
    {QT_TRANSLATE_NOOP("TraceMark", "NAK"), &Colours::error, Form::sign, ScatterShape::ssCross},
    {QT_TRANSLATE_NOOP("TraceMark", "CE"), &Colours::ce, Form::foot},
    {QT_TRANSLATE_NOOP("TraceMark", "CNP"), &Colours::cnp, Form::head},
}};

TraceMark mark_of(Cause cause) noexcept {
  constexpr std::array<TraceMark, analyze::cause_count> marks{
      TraceMark::again_unknown, TraceMark::again_nak,  TraceMark::again_timeout,
      TraceMark::again_rnr,     TraceMark::again_read, TraceMark::again_unknown};
  return marks[static_cast<std::size_t>(cause)];
}

}  // namespace

const TraceMarkLook& trace_mark_look(TraceMark mark) noexcept {
  return looks[static_cast<std::size_t>(mark)];
}

QString trace_mark_name(TraceMark mark) {
  return Text::tr(trace_mark_look(mark).name);
}

QCPScatterStyle trace_mark_style(TraceMark mark, const QPalette& palette, double size) {
  const TraceMarkLook& look = trace_mark_look(mark);
  const QColor colour = colours(palette).*look.colour;
  // Spurious ones get a frame around their retransmit symbol.
  const double drawn = mark == TraceMark::spurious ? size + 5 : size;
  return {look.shape, QPen(colour, 1.6), look.filled ? QBrush(colour) : QBrush(Qt::NoBrush), drawn};
}

bool has_mark(const TracePoint& p, TraceMark mark) noexcept {
  const Verdict& v = p.verdict;
  const bool again = v.has(Verdict::retransmission);
  switch (mark) {
    case TraceMark::request:
      return p.kind == Kind::request;
    case TraceMark::response:
      return p.kind == Kind::response;
    case TraceMark::acknowledge:
      return p.answers() && p.kind != Kind::cut_answer && !p.has(TracePoint::damaged);
    case TraceMark::out_of_order:
      return v.has(Verdict::out_of_order);
    case TraceMark::again_unknown:
    case TraceMark::again_read:
    case TraceMark::again_rnr:
    case TraceMark::again_timeout:
    case TraceMark::again_nak:
      return again && mark == mark_of(v.cause);
    case TraceMark::spurious:
      return v.has(Verdict::spurious);
    case TraceMark::damaged:
      return p.has(TracePoint::damaged);
    case TraceMark::lost_before:
      return v.lost_before != 0;
    case TraceMark::lost_behind:
      return p.has(TracePoint::lost_behind);
    case TraceMark::rnr_nak:
      return p.kind == Kind::rnr_nak;
    case TraceMark::nak:
      return p.kind == Kind::nak;
    case TraceMark::ce:
      return p.has(TracePoint::ce);
    case TraceMark::cnp:
      return p.kind == Kind::cnp;
    case TraceMark::count_:
      break;
  }
  return false;
}

TraceMark main_mark(const TracePoint& point) noexcept {
  constexpr TraceMark by_weight[] = {TraceMark::nak,          TraceMark::rnr_nak,    TraceMark::lost_behind,
                                     TraceMark::damaged,      TraceMark::again_nak,  TraceMark::again_timeout,
                                     TraceMark::again_rnr,    TraceMark::again_read, TraceMark::again_unknown,
                                     TraceMark::out_of_order, TraceMark::cnp,        TraceMark::ce,
                                     TraceMark::request,      TraceMark::response};
  for (const TraceMark mark : by_weight) {
    if (has_mark(point, mark)) return mark;
  }
  return TraceMark::acknowledge;
}

}  // namespace roce::gui
