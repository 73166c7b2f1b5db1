// SPDX-License-Identifier: Apache-2.0
#include "gui/models/diagnosis_cards.hpp"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "gui/models/details.hpp"
#include "gui/models/diagnosis_table.hpp"
#include "gui/models/shown_names.hpp"
#include "gui/models/table_model.hpp"
#include "gui/models/tables.hpp"
#include "gui/models/time_format.hpp"

namespace roce::gui {
namespace {

using analyze::Diagnosis;
using analyze::Snapshot;

struct CardWords {
  Q_DECLARE_TR_FUNCTIONS(DiagnosisCards)
};

/// When it was, as a bar as long as the capture; empty where that is not known.
QString bar_html(const Snapshot& s, const Diagnosis& d) {
  const std::int64_t begin = s.totals.first_time_ns;
  const double length = static_cast<double>(s.totals.last_time_ns) - static_cast<double>(begin);
  if (!s.totals.any_time || !d.since_ns || !(length > 0)) return {};
  constexpr int whole = 100;
  const auto place = [&](std::int64_t time_ns) {
    const double part = (static_cast<double>(time_ns) - static_cast<double>(begin)) / length;
    return std::clamp(static_cast<int>(std::lround(part * whole)), 0, whole);
  };
  const std::int64_t until_ns = d.until_ns.value_or(*d.since_ns);
  const int from = std::min(place(*d.since_ns), whole - 1);
  const int to = std::max(place(until_ns), from + 1);
  QString cells;
  const auto cell = [&cells](const char* kind, int width) {
    if (width > 0)
      cells += QStringLiteral("<td class=\"%1\" width=\"%2%\"><font size=\"1\">&nbsp;</font></td>")
                   .arg(QString::fromLatin1(kind))
                   .arg(width);
  };
  cell("outside", from);
  cell("within", to - from);
  cell("outside", whole - to);
  const QString first = shown_time(s, *d.since_ns), last = shown_time(s, until_ns);
  return QStringLiteral(
             "<table width=\"100%\" cellspacing=\"0\" cellpadding=\"0\"><tr>%1</tr></table>"
             "<span class=\"name\">%2</span>")
      .arg(cells, (first == last ? CardWords::tr("at %1").arg(first)
                                 : CardWords::tr("from %1 to %2").arg(first, last))
                      .toHtmlEscaped());
}

QString links_html(const Snapshot& s, const Diagnosis& d, std::size_t place, const QStringList& files) {
  QStringList links;
  // All packets where a filter names them, else the first.
  QString filter;
  for (const std::size_t i : d.findings) {
    if (filter.isEmpty()) filter = evidence_filter(s.findings[i]);
  }
  if (!filter.isEmpty()) {
    links << link_html(QStringLiteral("packets"), filter, CardWords::tr("Packets"));
  } else if (!d.packets.empty()) {
    links << link_html(QStringLiteral("packet"), QString::number(d.packets.front()),
                       CardWords::tr("Packets"));
  }
  if (!d.connections.empty()) {
    QString target = QString::number(d.connections.front());
    if (!d.packets.empty()) target += QLatin1Char(':') + QString::number(d.packets.front());
    links << link_html(QStringLiteral("graph"), target, CardWords::tr("Graph"));
  }
  const QStringList commands = diagnosis_commands(d, files);
  if (!commands.isEmpty()) {
    links << link_html(QStringLiteral("copy"), commands.join(QLatin1Char('\n')),
                       commands.size() == 1 ? CardWords::tr("Copy command")
                                            : CardWords::tr("Copy %1 commands").arg(commands.size()));
  }
  links << link_html(QStringLiteral("explain"), QString::number(place), CardWords::tr("Explain"));
  return links.join(QStringLiteral(" · "));
}

QString consequences_html(const Snapshot& s, const Diagnosis& d, std::size_t place, bool unfolded) {
  if (d.findings.empty()) return {};
  const QString head = (unfolded ? QStringLiteral("▾ ") : QStringLiteral("▸ ")) +
                       (d.findings.size() == 1 ? CardWords::tr("1 consequence")
                                               : CardWords::tr("%1 consequences").arg(d.findings.size()));
  QString html = QStringLiteral("<br>") + link_html(QStringLiteral("fold"), QString::number(place), head);
  if (!unfolded) return html;
  constexpr std::size_t most = 20;
  for (std::size_t i = 0; i < std::min(most, d.findings.size()); ++i) {
    const analyze::Finding& finding = s.findings[d.findings[i]];
    html += QStringLiteral("<br>&nbsp;&nbsp;&nbsp;%1: %2")
                .arg(link_html(QStringLiteral("finding"), to_qt(finding_key(finding)), to_qt(finding.title)),
                     with_names(first_sentence(finding.explanation)).toHtmlEscaped());
  }
  if (d.findings.size() > most)
    html +=
        QStringLiteral("<br>&nbsp;&nbsp;&nbsp;") + CardWords::tr("and %1 more").arg(d.findings.size() - most);
  return html;
}

}  // namespace

QString diagnosis_cards_html(const Snapshot& s, const QStringList& files,
                             const std::set<std::size_t>& unfolded) {
  if (s.diagnoses.empty()) {
    const QString why = s.totals.roce_packets == 0 ? CardWords::tr("There is no RoCE to judge.")
                        : s.findings.empty()
                            ? CardWords::tr("No cause of trouble was found, and nothing was noted.")
                            : CardWords::tr("No cause of trouble was found; what was noted is listed below.");
    return QStringLiteral("<p class=\"name\">%1</p>").arg(why);
  }
  QString html;
  for (std::size_t i = 0; i < s.diagnoses.size(); ++i) {
    const Diagnosis& d = s.diagnoses[i];
    const QString severity = to_qt(analyze::consequence_names[d.severity]);
    QStringList small;
    if (const auto subject = analyze::subject_text(d); !subject.empty()) small << with_names(subject);
    if (const std::string cost = diagnosis_cost_text(d); !cost.empty()) small << to_qt(cost);
    html += QStringLiteral(
                "<table width=\"100%\" cellpadding=\"6\" style=\"margin-bottom: 6px\">"
                "<tr><td class=\"command\"><span class=\"%1\">&nbsp;%1&nbsp;</span> <b>%2</b>")
                .arg(severity, with_names(d.sentence).toHtmlEscaped());
    if (!small.isEmpty())
      html += QStringLiteral("<br>%1").arg(small.join(QStringLiteral(" · ")).toHtmlEscaped());
    html += bar_html(s, d);
    html += QStringLiteral("<p style=\"margin-top: 4px; margin-bottom: 0px\">%1%2</p></td></tr></table>")
                .arg(links_html(s, d, i, files), consequences_html(s, d, i, unfolded.contains(i)));
  }
  return html;
}

}  // namespace roce::gui
