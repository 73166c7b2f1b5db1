// SPDX-License-Identifier: Apache-2.0
#include "gui/models/trace_text.hpp"

#include <QCoreApplication>

#include "analyze/base/units.hpp"
#include "dissect/aeth.hpp"
#include "dissect/opcode.hpp"
#include "gui/models/table_model.hpp"
#include "gui/models/time_format.hpp"

namespace roce::gui {
namespace {

using analyze::Cause;
using analyze::ConnectionTrace;
using analyze::TracePoint;
using analyze::Verdict;
using Kind = TracePoint::Kind;

struct TraceWords {
  Q_DECLARE_TR_FUNCTIONS(Trace)
};

QString cause_text(Cause cause) {
  switch (cause) {
    case Cause::nak:
      return TraceWords::tr("sent again after a NAK");
    case Cause::timeout:
      return TraceWords::tr("sent again after a timeout");
    case Cause::rnr:
      return TraceWords::tr("sent again after an RNR NAK");
    case Cause::read_retry:
      return TraceWords::tr("sent again for missing READ responses");
    case Cause::unknown:
    case Cause::none:
    case Cause::count_:
      break;
  }
  return TraceWords::tr("sent again, it is not seen why");
}

QString time_text(std::int64_t ns) {
  return to_qt(analyze::duration_text(ns));
}

}  // namespace

QString direction_text(const TracePoint& point) {
  return point.has(TracePoint::b_to_a) ? QStringLiteral("b → a") : QStringLiteral("a → b");
}

QString kind_text(const TracePoint& point) {
  switch (point.kind) {
    case Kind::acknowledge:
    case Kind::nak:
    case Kind::rnr_nak:
      return to_qt(dissect::syndrome_text(point.syndrome));
    case Kind::cut_answer:
      return TraceWords::tr("ACK or NAK, cut off");
    default:
      return to_qt(dissect::operation_name(point.opcode));
  }
}

QString psn_text(std::int64_t psn) {
  return QString::number(psn & 0xffffff);
}

QStringList remarks_of(const TracePoint& point) {
  const Verdict& v = point.verdict;
  QStringList remarks;
  if (v.has(Verdict::retransmission)) {
    QString text = cause_text(v.cause);
    if (v.original != 0) text += TraceWords::tr(", first in packet %1").arg(v.original);
    remarks << text;
  }
  if (v.has(Verdict::spurious)) remarks << TraceWords::tr("needless: it had been acknowledged");
  if (point.has(TracePoint::lost_behind)) remarks << TraceWords::tr("lost behind the capture point");
  if (v.lost_before != 0) remarks << TraceWords::tr("%1 lost before the capture point").arg(v.lost_before);
  if (const std::uint32_t other = v.lost_after - v.lost_itself(); other != 0)
    remarks << TraceWords::tr("shows that %1 of the other side got lost behind the capture point").arg(other);
  if (v.missed != 0 || v.missed_of_other != 0)
    remarks << TraceWords::tr("%1 missed by the capture").arg(v.missed + v.missed_of_other);
  if (v.gap != 0) remarks << TraceWords::tr("%1 PSNs missing before it").arg(v.gap);
  constexpr std::pair<Verdict::Flag, const char*> flags[] = {
      {Verdict::out_of_order, QT_TRANSLATE_NOOP("Trace", "out of order")},
      {Verdict::duplicate_capture, QT_TRANSLATE_NOOP("Trace", "captured twice")},
      {Verdict::duplicate_network, QT_TRANSLATE_NOOP("Trace", "delivered twice by the network")},
      {Verdict::ack_unseen, QT_TRANSLATE_NOOP("Trace", "acknowledges what was not captured")},
      {Verdict::illegal_sequence, QT_TRANSLATE_NOOP("Trace", "illegal opcode sequence")},
      {Verdict::wrong_length, QT_TRANSLATE_NOOP("Trace", "wrong length")},
      {Verdict::msn_backwards, QT_TRANSLATE_NOOP("Trace", "message number runs backwards")}};
  for (const auto& [flag, text] : flags) {
    if (v.has(flag)) remarks << TraceWords::tr(text);
  }
  if (point.has(TracePoint::damaged)) remarks << TraceWords::tr("damaged: its receiver throws it away");
  if (point.has(TracePoint::ce)) remarks << TraceWords::tr("marked CE by the network");
  return remarks;
}

QString point_text(const TracePoint& point, std::int64_t origin_ns) {
  QStringList lines{
      TraceWords::tr("Packet %1, %2, %3").arg(point.packet).arg(direction_text(point), kind_text(point))};
  if (!point.has(TracePoint::no_psn)) {
    QString psn = TraceWords::tr("PSN %1").arg(psn_text(point.psn));
    if (point.psns > 1) psn += TraceWords::tr(", %1 responses").arg(point.psns);
    if (point.message != 0) psn += TraceWords::tr(", message %1").arg(point.message);
    lines << psn;
  }
  if (point.bytes != 0) lines << TraceWords::tr("%1 bytes").arg(point.bytes);
  if (point.time_ns != capture::no_time)
    lines << TraceWords::tr("at %1").arg(shown_time(origin_ns, point.time_ns));
  const Verdict& v = point.verdict;
  if (v.request != 0)
    lines << (v.has(Verdict::response_time_known) ? TraceWords::tr("answers packet %1 after %2")
                                                        .arg(v.request)
                                                        .arg(time_text(v.response_time_ns))
                                                  : TraceWords::tr("answers packet %1").arg(v.request));
  if (v.response != 0) lines << TraceWords::tr("answered by packet %1").arg(v.response);
  if (v.has(Verdict::in_flight_known)) lines << TraceWords::tr("%1 PSNs in flight").arg(v.in_flight);
  return (lines + remarks_of(point)).join(QLatin1Char('\n'));
}

QString missing_text(const ConnectionTrace& trace) {
  QStringList texts;
  if (!trace.timed) texts << TraceWords::tr("Some packets have no time: they are drawn by number.");
  if (trace.remarkable_stride > 1) {
    texts << TraceWords::tr("%1 packets: one of %2 is drawn, and one of %3 remarkable ones.")
                 .arg(trace.packets)
                 .arg(trace.stride)
                 .arg(trace.remarkable_stride);
  } else if (trace.stride > 1) {
    texts << TraceWords::tr("%1 packets: one of %2 is drawn, and every remarkable one.")
                 .arg(trace.packets)
                 .arg(trace.stride);
  }
  if (trace.operation_stride > 1)
    texts << TraceWords::tr("One of %1 operations is drawn.").arg(trace.operation_stride);
  if (trace.pauses_left_out != 0)
    texts << TraceWords::tr("%1 pauses are left out.").arg(trace.pauses_left_out);
  if (trace.without_verdict != 0)
    texts << TraceWords::tr(
                 "There was no room on the disk for what is said of %1 packets of the capture: they are "
                 "missing. Set TMPDIR to a folder with more.")
                 .arg(trace.without_verdict);
  return texts.join(QLatin1Char(' '));
}

}  // namespace roce::gui
