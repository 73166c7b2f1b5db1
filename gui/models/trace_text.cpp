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
      return TraceWords::tr("retransmitted after a NAK");
    case Cause::timeout:
      return TraceWords::tr("retransmitted after a timeout");
    case Cause::rnr:
      return TraceWords::tr("retransmitted after an RNR NAK");
    case Cause::read_retry:
      return TraceWords::tr("retransmitted for missing READ responses");
    case Cause::unknown:
    case Cause::none:
    case Cause::count_:
      break;
  }
  return TraceWords::tr("retransmitted, cause not captured");
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
      return TraceWords::tr("ACK or NAK, truncated");
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
    if (v.original != 0) text += TraceWords::tr(", original in packet %1").arg(v.original);
    remarks << text;
  }
  if (v.has(Verdict::spurious)) remarks << TraceWords::tr("spurious: it had been acknowledged");
  if (point.has(TracePoint::lost_behind)) remarks << TraceWords::tr("lost downstream of the capture point");
  if (v.lost_before != 0)
    remarks << TraceWords::tr("%1 lost upstream of the capture point").arg(std::uint32_t{v.lost_before});
  if (const std::uint32_t other = v.lost_after - v.lost_itself(); other != 0)
    remarks << TraceWords::tr("indicates a loss of %1 sent by the peer, downstream of the capture point")
                   .arg(other);
  if (v.lost_or_missed != 0)
    remarks << TraceWords::tr("%1 lost or not captured").arg(std::uint32_t{v.lost_or_missed});
  if (v.missed != 0 || v.missed_of_other != 0)
    remarks << TraceWords::tr("%1 not captured").arg(v.missed + v.missed_of_other);
  if (v.gap != 0) remarks << TraceWords::tr("PSN gap of %1 before it").arg(v.gap);
  constexpr std::pair<Verdict::Flag, const char*> flags[] = {
      {Verdict::out_of_order, QT_TRANSLATE_NOOP("Trace", "out of order")},
      {Verdict::duplicate_capture, QT_TRANSLATE_NOOP("Trace", "captured twice")},
      {Verdict::duplicate_network, QT_TRANSLATE_NOOP("Trace", "duplicated by the network")},
      {Verdict::ack_unseen, QT_TRANSLATE_NOOP("Trace", "acknowledges packets that were not captured")},
      {Verdict::illegal_sequence, QT_TRANSLATE_NOOP("Trace", "illegal opcode sequence")},
      {Verdict::wrong_length, QT_TRANSLATE_NOOP("Trace", "wrong length")},
      {Verdict::msn_backwards, QT_TRANSLATE_NOOP("Trace", "message sequence number (MSN) goes backwards")}};
  for (const auto& [flag, text] : flags) {
    if (v.has(flag)) remarks << TraceWords::tr(text);
  }
  if (point.has(TracePoint::damaged)) remarks << TraceWords::tr("damaged: the receiver discards it");
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
  if (!trace.timed) texts << TraceWords::tr("Some packets have no timestamp: the axis shows packet numbers.");
  if (trace.remarkable_stride > 1) {
    texts << TraceWords::tr("%1 packets: 1 in %2 is drawn, and 1 in %3 of the notable ones.")
                 .arg(trace.packets)
                 .arg(trace.stride)
                 .arg(trace.remarkable_stride);
  } else if (trace.stride > 1) {
    texts << TraceWords::tr("%1 packets: 1 in %2 is drawn, and every notable one.")
                 .arg(trace.packets)
                 .arg(trace.stride);
  }
  if (trace.operation_stride > 1)
    texts << TraceWords::tr("1 in %1 operations is drawn.").arg(trace.operation_stride);
  if (trace.pauses_left_out != 0)
    texts << TraceWords::tr("%1 pauses are not shown.").arg(trace.pauses_left_out);
  if (trace.without_verdict != 0)
    texts << TraceWords::tr(
                 "Not enough disk space for the analysis results of %1 packets of the capture: they are "
                 "not shown. Set TMPDIR to a folder with more space.")
                 .arg(trace.without_verdict);
  return texts.join(QLatin1Char(' '));
}

}  // namespace roce::gui
