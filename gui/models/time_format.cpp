// SPDX-License-Identifier: Apache-2.0
#include "gui/models/time_format.hpp"

#include <QDateTime>
#include <QTimeZone>

#include "analyze/units.hpp"

namespace roce::gui {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
TimeDisplay chosen = TimeDisplay::relative;

QString with_micros(const QString& seconds, std::int64_t rest_ns) {
  return QStringLiteral("%1.%2").arg(seconds).arg(rest_ns / 1000, 6, 10, QLatin1Char('0'));
}

}  // namespace

void set_time_display(TimeDisplay display) noexcept {
  chosen = display;
}

TimeDisplay time_display() noexcept {
  return chosen;
}

QString format_time(TimeDisplay display, std::int64_t first_ns, std::int64_t time_ns) {
  if (display == TimeDisplay::relative) {
    const std::int64_t since = analyze::span_ns(first_ns, time_ns);
    return QLatin1Char('+') + with_micros(QString::number(since / second_ns), since % second_ns) +
           QStringLiteral(" s");
  }
  // Down to the second before, also where the time is before 1970.
  std::int64_t seconds = time_ns / second_ns, rest = time_ns % second_ns;
  if (rest < 0) {
    rest += second_ns;
    --seconds;
  }
  const QDateTime utc = QDateTime::fromSecsSinceEpoch(seconds, Qt::UTC);
  const QDateTime shown = display == TimeDisplay::utc ? utc : utc.toLocalTime();
  return with_micros(shown.toString(QStringLiteral("yyyy-MM-dd HH:mm:ss")), rest) + QLatin1Char(' ') +
         shown.timeZoneAbbreviation();
}

QString shown_time(const analyze::Snapshot& s, std::int64_t time_ns) {
  return format_time(chosen, s.first_read_ns.value_or(s.totals.first_time_ns), time_ns);
}

}  // namespace roce::gui
