// SPDX-License-Identifier: Apache-2.0
#include "gui/models/details.hpp"

#include <QCoreApplication>
#include <QRegularExpression>
#include <QUrl>
#include <algorithm>
#include <optional>
#include <vector>

#include "analyze/base/units.hpp"
#include "analyze/results/severity_counts.hpp"
#include "gui/models/commands.hpp"
#include "gui/models/shown_names.hpp"
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

/// "12, 13, 40 …, from +0.2 s to +4.5 s", the numbers as links.
QString packets_html(const Snapshot& s, const std::vector<std::uint64_t>& packets, bool more,
                     const std::optional<std::int64_t>& first_ns,
                     const std::optional<std::int64_t>& last_ns) {
  QStringList numbers;
  for (const std::uint64_t packet : packets)
    numbers << link_html(QStringLiteral("packet"), QString::number(packet), QString::number(packet));
  QString text = numbers.join(QStringLiteral(", "));
  if (!text.isEmpty() && more) text += QStringLiteral(" …");
  if (first_ns && s.totals.any_time) {
    const QString first = shown_time(s, *first_ns);
    const QString last = shown_time(s, last_ns.value_or(*first_ns));
    text += first == last ? DetailWords::tr(" at %1").arg(first)
                          : DetailWords::tr(", from %1 to %2").arg(first, last);
  }
  return text;
}

QString command_html(const QString& command) {
  return QStringLiteral(
             "<table width=\"100%\" cellpadding=\"6\"><tr><td class=\"command\"><tt>%1</tt></td>"
             "<td class=\"command\" width=\"56\" align=\"right\">%2</td></tr></table>")
      .arg(command.toHtmlEscaped(), link_html(QStringLiteral("copy"), command, DetailWords::tr("Copy")));
}

/// Of a finding or diagnosis.
template <class Trouble>
QString connections_html(const Trouble& trouble, bool more) {
  // If it is about a single connection, the graph shows its first evidence packet.
  const bool pointed = trouble.connections.size() == 1 && !more && !trouble.packets.empty();
  QStringList names;
  for (const std::uint32_t id : trouble.connections) {
    QString place = QString::number(id);
    if (pointed) place += QLatin1Char(':') + QString::number(trouble.packets.front());
    names << DetailWords::tr("%1 (%2)").arg(
        link_html(QStringLiteral("connection"), QString::number(id), QString::number(id)),
        link_html(QStringLiteral("graph"), place, DetailWords::tr("Show graph")));
  }
  return names.join(QStringLiteral(", ")) + (more ? QStringLiteral(" …") : QString());
}

QString row_html(const QString& name, const QString& rich) {
  return QStringLiteral("<tr><td class=\"name\" style=\"padding-right:14px\">%1</td><td>%2</td></tr>")
      .arg(name, rich);
}

QString confidence_html(double confidence) {
  return QStringLiteral("%1 %").arg(100 * confidence, 0, 'f', 0);
}

/// What to do; empty where there is nothing.
QString advice_html(const std::vector<AdvicePart>& parts) {
  QString html;
  for (const AdvicePart& part : parts) {
    if (html.isEmpty()) html = QStringLiteral("<h3>%1</h3>").arg(DetailWords::tr("What to do"));
    html +=
        part.command ? command_html(part.text) : QStringLiteral("<p>%1</p>").arg(part.text.toHtmlEscaped());
  }
  return html;
}

QStringList commands_of(const std::vector<AdvicePart>& parts) {
  QStringList commands;
  for (const AdvicePart& part : parts) {
    if (part.command) commands << part.text;
  }
  return commands;
}

/// The packets of each incident as a link.
QString incidents_html(const analyze::Diagnosis& d) {
  QStringList names;
  for (const std::uint32_t id : d.incidents)
    names << link_html(QStringLiteral("packets"), QStringLiteral("roce.incident == %1").arg(id),
                       QString::number(id));
  const QString list = names.join(QStringLiteral(", "));
  return d.incident_count > d.incidents.size()
             ? DetailWords::tr("%1 … (%2 in all)").arg(list).arg(d.incident_count)
             : list;
}

/// The findings that are its evidence, each leading to its explanation.
QString findings_html(const Snapshot& s, const analyze::Diagnosis& d) {
  constexpr std::size_t most = 8;
  QStringList names;
  for (std::size_t i = 0; i < std::min(most, d.findings.size()); ++i) {
    const Finding& finding = s.findings[d.findings[i]];
    names << QStringLiteral("%1: %2").arg(
        link_html(QStringLiteral("finding"), to_qt(finding_key(finding)), to_qt(finding.title)),
        with_names(finding.subject).toHtmlEscaped());
  }
  if (d.findings.size() > most) names << DetailWords::tr("and %1 more").arg(d.findings.size() - most);
  return names.join(QStringLiteral("<br>"));
}

}  // namespace

QString link_html(const QString& kind, const QString& target, const QString& text) {
  return QStringLiteral("<a href=\"%1:%2\">%3</a>")
      .arg(kind, QString::fromLatin1(QUrl::toPercentEncoding(target)), text.toHtmlEscaped());
}

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
          .arg(to_qt(finding.title).toHtmlEscaped(), severity_text(analyze::shown_severity(finding, s)),
               finding.count == 1 ? DetailWords::tr("once") : DetailWords::tr("%1 times").arg(finding.count),
               with_names(finding.subject).toHtmlEscaped());
  html += QStringLiteral("<h3>%1</h3><p>%2</p>")
              .arg(DetailWords::tr("What was seen"), with_names(finding.explanation).toHtmlEscaped());
  html += QStringLiteral("<h3>%1</h3><table cellpadding=\"2\">").arg(DetailWords::tr("Evidence"));
  const QString packets = packets_html(s, finding.packets, finding.count > finding.packets.size(),
                                       finding.first_time_ns, finding.last_time_ns);
  if (!packets.isEmpty())
    html += row_html(evidence.isEmpty() ? DetailWords::tr("Packets") : evidence, packets);
  if (!finding.connections.empty())
    html += row_html(DetailWords::tr("Connections"), connections_html(finding, false));
  if (finding.confidence < 1)
    html += row_html(DetailWords::tr("Confidence"), confidence_html(finding.confidence));
  html += row_html(DetailWords::tr("Rule"), to_qt(finding.id).toHtmlEscaped());
  return html + QStringLiteral("</table>") + advice_html(advice_parts(finding.advice, files));
}

QString diagnosis_html(const Snapshot& s, const analyze::Diagnosis& d, const QStringList& files) {
  QString html =
      QStringLiteral("<h2>%1</h2><p class=\"name\">%2 · %3</p>")
          .arg(with_names(d.sentence).toHtmlEscaped(), to_qt(analyze::consequence_names[d.severity]),
               with_names(d.subject).toHtmlEscaped());
  for (const std::string& text : {facts_text(d), not_excluded_text(d), would_decide_text(d)}) {
    if (!text.empty()) html += QStringLiteral("<p>%1</p>").arg(with_names(text).toHtmlEscaped());
  }
  html += QStringLiteral("<h3>%1</h3><table cellpadding=\"2\">").arg(DetailWords::tr("Evidence"));
  const QString packets = packets_html(s, d.packets, d.at_least > d.packets.size(), d.since_ns, d.until_ns);
  if (!packets.isEmpty()) html += row_html(DetailWords::tr("Packets"), packets);
  if (!d.incidents.empty()) html += row_html(DetailWords::tr("Incidents"), incidents_html(d));
  if (!d.connections.empty()) {
    html += row_html(DetailWords::tr("Connections"),
                     connections_html(d, d.connection_count > d.connections.size()));
  }
  if (!d.findings.empty()) html += row_html(DetailWords::tr("Findings"), findings_html(s, d));
  if (const double sure = doubt(d); sure < 1)
    html += row_html(DetailWords::tr("Confidence"), confidence_html(sure));
  html += row_html(DetailWords::tr("Cause"), to_qt(d.cause).toHtmlEscaped());
  return html + QStringLiteral("</table>") + advice_html(advice_parts(d, files));
}

QStringList finding_commands(const Finding& finding, const QStringList& files) {
  return commands_of(advice_parts(finding.advice, files));
}

QString evidence_filter(const Finding& finding) {
  static const QRegularExpression filter(QStringLiteral("roceanalyze packets [^\n']*-Y '([^']+)'"));
  return filter.match(to_qt(finding.advice)).captured(1);
}

QStringList diagnosis_commands(const analyze::Diagnosis& diagnosis, const QStringList& files) {
  return commands_of(advice_parts(diagnosis, files));
}

}  // namespace roce::gui
