// SPDX-License-Identifier: Apache-2.0
#include "gui/models/details.hpp"

#include <QCoreApplication>
#include <QUrl>
#include <algorithm>

#include "analyze/base/units.hpp"
#include "gui/models/commands.hpp"
#include "gui/models/table_model.hpp"
#include "gui/models/tables.hpp"
#include "gui/models/time_format.hpp"

namespace roce::gui {
namespace {

using analyze::Finding;
using analyze::Snapshot;

struct DetailWords {
  Q_DECLARE_TR_FUNCTIONS(Details)
};

QString link(const QString& kind, const QString& target, const QString& text) {
  return QStringLiteral("<a href=\"%1:%2\">%3</a>")
      .arg(kind, QString::fromLatin1(QUrl::toPercentEncoding(target)), text.toHtmlEscaped());
}

QString evidence_html(const Snapshot& s, const Finding& finding) {
  QStringList numbers;
  for (const std::uint64_t packet : finding.packets)
    numbers << link(QStringLiteral("packet"), QString::number(packet), QString::number(packet));
  QString text = numbers.join(QStringLiteral(", "));
  if (!text.isEmpty() && finding.count > finding.packets.size()) text += QStringLiteral(" …");
  if (finding.first_time_ns && s.totals.any_time) {
    const QString first = shown_time(s, *finding.first_time_ns);
    const QString last = shown_time(s, finding.last_time_ns.value_or(*finding.first_time_ns));
    text += first == last ? DetailWords::tr(" at %1").arg(first)
                          : DetailWords::tr(", from %1 to %2").arg(first, last);
  }
  return text;
}

QString command_html(const QString& command) {
  return QStringLiteral(
             "<table width=\"100%\" cellpadding=\"6\"><tr><td class=\"command\"><tt>%1</tt></td>"
             "<td class=\"command\" width=\"56\" align=\"right\">%2</td></tr></table>")
      .arg(command.toHtmlEscaped(), link(QStringLiteral("copy"), command, DetailWords::tr("Copy")));
}

QString connections_html(const Finding& finding) {
  // If it is about a single connection, the graph shows its first evidence packet.
  const bool pointed = finding.connections.size() == 1 && !finding.packets.empty();
  QStringList names;
  for (const std::uint32_t id : finding.connections) {
    QString place = QString::number(id);
    if (pointed) place += QLatin1Char(':') + QString::number(finding.packets.front());
    names << DetailWords::tr("%1 (%2)").arg(
        link(QStringLiteral("connection"), QString::number(id), QString::number(id)),
        link(QStringLiteral("graph"), place, DetailWords::tr("Show graph")));
  }
  return names.join(QStringLiteral(", "));
}

}  // namespace

QString facts_html(const Facts& facts) {
  QString html = QStringLiteral("<table cellpadding=\"2\">");
  for (const Fact& fact : facts) {
    QString name = fact.name.toHtmlEscaped().replace(QLatin1Char(' '), QStringLiteral("&nbsp;"));
    if (!fact.link.isEmpty())
      name = QStringLiteral("<a href=\"%1\">%2</a>").arg(fact.link.toHtmlEscaped(), name);
    html += QStringLiteral("<tr><td class=\"name\" style=\"padding-right:14px\">%1</td><td>%2</td></tr>")
                .arg(name, fact.text.toHtmlEscaped());
  }
  return html + QStringLiteral("</table>");
}

QString finding_html(const Snapshot& s, const Finding& finding, const QStringList& files,
                     const QString& evidence) {
  QString html =
      QStringLiteral("<h2>%1</h2><p class=\"name\">%2 · %3 · %4</p>")
          .arg(to_qt(finding.title).toHtmlEscaped(), severity_text(finding.severity),
               finding.count == 1 ? DetailWords::tr("once") : DetailWords::tr("%1 times").arg(finding.count),
               to_qt(finding.subject).toHtmlEscaped());
  html += QStringLiteral("<h3>%1</h3><p>%2</p>")
              .arg(DetailWords::tr("What was seen"), to_qt(finding.explanation).toHtmlEscaped());
  html += QStringLiteral("<h3>%1</h3><table cellpadding=\"2\">").arg(DetailWords::tr("Evidence"));
  const auto row = [&html](const QString& name, const QString& rich) {
    html += QStringLiteral("<tr><td class=\"name\" style=\"padding-right:14px\">%1</td><td>%2</td></tr>")
                .arg(name, rich);
  };
  if (const QString packets = evidence_html(s, finding); !packets.isEmpty())
    row(evidence.isEmpty() ? DetailWords::tr("Packets") : evidence, packets);
  if (!finding.connections.empty()) row(DetailWords::tr("Connections"), connections_html(finding));
  if (finding.confidence < 1)
    row(DetailWords::tr("Confidence"), QStringLiteral("%1 %").arg(100 * finding.confidence, 0, 'f', 0));
  row(DetailWords::tr("Rule"), to_qt(finding.id).toHtmlEscaped());
  html += QStringLiteral("</table>");
  if (finding.advice.empty()) return html;
  html += QStringLiteral("<h3>%1</h3>").arg(DetailWords::tr("What to do"));
  for (const AdvicePart& part : advice_parts(finding.advice, files)) {
    html +=
        part.command ? command_html(part.text) : QStringLiteral("<p>%1</p>").arg(part.text.toHtmlEscaped());
  }
  return html;
}

QStringList finding_commands(const Finding& finding, const QStringList& files) {
  QStringList commands;
  for (const AdvicePart& part : advice_parts(finding.advice, files)) {
    if (part.command) commands << part.text;
  }
  return commands;
}

}  // namespace roce::gui
