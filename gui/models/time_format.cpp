// SPDX-License-Identifier: Apache-2.0
#include "gui/models/time_format.hpp"

#include <QCoreApplication>
#include <QDateTime>
#include <QTimeZone>

#include "analyze/base/units.hpp"

namespace roce::gui {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
TimeDisplay chosen = TimeDisplay::relative;

struct TimeWords {
  Q_DECLARE_TR_FUNCTIONS(TimeFormat)
};

/// A clock time, and the rest below seconds, as QDateTime has no microseconds.
struct Clock {
  QDateTime time;
  std::int64_t rest_ns = 0;
};
Clock clock_of(TimeDisplay display, std::int64_t time_ns) {
  // Round towards the past, also before 1970.
  std::int64_t seconds = time_ns / second_ns, rest = time_ns % second_ns;
  if (rest < 0) {
    rest += second_ns;
    --seconds;
  }
  const QDateTime utc = QDateTime::fromSecsSinceEpoch(seconds, Qt::UTC);
  return {display == TimeDisplay::utc ? utc : utc.toLocalTime(), rest};
}

QString with_micros(const QString& seconds, std::int64_t rest_ns) {
  return QStringLiteral("%1.%2").arg(seconds).arg(rest_ns / 1000, 6, 10, QLatin1Char('0'));
}

QString relative(std::int64_t first_ns, std::int64_t time_ns) {
  const std::int64_t since = analyze::span_ns(first_ns, time_ns);
  return with_micros(QString::number(since / second_ns), since % second_ns);
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
    return QLatin1Char('+') + relative(first_ns, time_ns) + QStringLiteral(" s");
  }
  const Clock shown = clock_of(display, time_ns);
  return with_micros(shown.time.toString(QStringLiteral("yyyy-MM-dd HH:mm:ss")), shown.rest_ns) +
         QLatin1Char(' ') + shown.time.timeZoneAbbreviation();
}

QString shown_time(std::int64_t first_ns, std::int64_t time_ns) {
  return format_time(chosen, first_ns, time_ns);
}

QString short_time(std::int64_t first_ns, std::int64_t time_ns) {
  if (chosen == TimeDisplay::relative) return relative(first_ns, time_ns);
  const Clock shown = clock_of(chosen, time_ns);
  return with_micros(shown.time.toString(QStringLiteral("HH:mm:ss")), shown.rest_ns);
}

QString time_heading() {
  return chosen == TimeDisplay::relative ? TimeWords::tr("Time (s)")
         : chosen == TimeDisplay::utc    ? TimeWords::tr("Time (UTC)")
                                         : TimeWords::tr("Time (local)");
}

analyze::TimeFormat listed_time_format() noexcept {
  return chosen == TimeDisplay::relative ? analyze::TimeFormat::relative
         : chosen == TimeDisplay::utc    ? analyze::TimeFormat::utc_date
                                         : analyze::TimeFormat::absolute_date;
}

QString shown_time(const analyze::Snapshot& s, std::int64_t time_ns) {
  return format_time(chosen, s.first_read_ns.value_or(s.totals.first_time_ns), time_ns);
}

}  // namespace roce::gui
