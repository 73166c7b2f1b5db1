// SPDX-License-Identifier: Apache-2.0
#include <QCoreApplication>
#include <QUrl>
#include <algorithm>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"
#include "analyze/results/connection_columns.hpp"
#include "analyze/results/severity_counts.hpp"
#include "analyze/results/unpaired_connections.hpp"
#include "dissect/cm.hpp"
#include "dissect/dissect.hpp"
#include "gui/models/details.hpp"
#include "gui/models/table_model.hpp"
#include "gui/models/tables.hpp"
#include "gui/models/time_format.hpp"

namespace roce::gui {
namespace {

using analyze::CmExchange;
using analyze::ConnectionRow;
using analyze::Finding;
using analyze::Histogram;
using analyze::OperationKind;
using analyze::Snapshot;

struct ConnectionWords {
  Q_DECLARE_TR_FUNCTIONS(Details)
};

QString duration(std::uint64_t ns) {
  return to_qt(analyze::duration_text(static_cast<std::int64_t>(ns)));
}

QString end_text(const analyze::Endpoint& end) {
  const QString address = to_qt(analyze::address_text(end.address)), name = shown_host(end.address);
  return (name == address ? address : QStringLiteral("%1 (%2)").arg(name, address)) +
         (end.qp ? QStringLiteral(" QP 0x%1").arg(*end.qp, 6, 16, QLatin1Char('0'))
                 : QStringLiteral(" QP ?"));
}

QString heading(const QString& text) {
  return QStringLiteral("<h3>%1</h3>").arg(text);
}

Facts identity(const Snapshot& s, const ConnectionRow& row) {
  const analyze::Connection& c = *row;
  Facts facts{{ConnectionWords::tr("a"), end_text(c.ends[0])},
              {ConnectionWords::tr("b"), end_text(c.ends[1])},
              {ConnectionWords::tr("Type"),
               QStringLiteral("%1, %2").arg(to_qt(dissect::service_name(c.service)),
                                            to_qt(dissect::transport_name(c.transport)))},
              {ConnectionWords::tr("State"),
               to_qt(analyze::connection_state_name(c.state)).replace(QLatin1Char('_'), QLatin1Char(' '))}};
  if (c.pmtu != 0)
    facts.emplace_back(
        ConnectionWords::tr("Path MTU"),
        ConnectionWords::tr("%1 bytes (%2)")
            .arg(c.pmtu)
            .arg(c.pmtu_by_cm ? ConnectionWords::tr("by the CM") : ConnectionWords::tr("observed")));
  if (s.totals.any_time && c.first_time_ns != capture::no_time)
    facts.emplace_back(ConnectionWords::tr("Seen"),
                       ConnectionWords::tr("from %1 to %2")
                           .arg(shown_time(s, c.first_time_ns), shown_time(s, c.last_time_ns)));
  return facts;
}

Facts pairing(const Snapshot& s, const analyze::Connection& c) {
  const analyze::Pairing& p = c.pairing;
  QStringList reasons;
  for (std::size_t i = 0; i < analyze::evidence_count; ++i) {
    const auto evidence = static_cast<analyze::Evidence>(i);
    if (p.has(evidence))
      reasons << to_qt(analyze::evidence_name(evidence)).replace(QLatin1Char('_'), QLatin1Char(' '));
  }
  if (analyze::UnpairedConnections(s).other_may_be_there(c))
    return {
        {ConnectionWords::tr("Pairing"),
         ConnectionWords::tr(
             "unpaired: a flow in the opposite direction may belong to it, but nothing proves which one")}};
  if (!c.paired())
    return {{ConnectionWords::tr("Pairing"), ConnectionWords::tr("only one direction was captured")}};
  return {{ConnectionWords::tr("Paired by"), reasons.join(QStringLiteral(", "))},
          {ConnectionWords::tr("Confidence"), QStringLiteral("%1 %").arg(100 * p.confidence, 0, 'f', 0)},
          {ConnectionWords::tr("Answers"),
           ConnectionWords::tr("%1 match, %2 do not").arg(p.answered).arg(p.unfitting)}};
}

Facts manager(const ConnectionRow& row) {
  const CmExchange& cm = *row.cm();
  Facts facts{{ConnectionWords::tr("Client"), row->client_is_a ? QStringLiteral("a") : QStringLiteral("b")},
              {ConnectionWords::tr("State"), to_qt(analyze::cm_state_name(cm.state))}};
  QString service = QStringLiteral("0x%1").arg(cm.service_id, 16, 16, QLatin1Char('0'));
  if (const auto name = dissect::service_name_of(cm.service_id); !name.empty())
    service += QStringLiteral(" (%1)").arg(to_qt(name));
  facts.emplace_back(ConnectionWords::tr("Service"), service);
  if (cm.retry_count)
    facts.emplace_back(ConnectionWords::tr("Retry count"), QString::number(*cm.retry_count));
  if (cm.rnr_retry)
    facts.emplace_back(ConnectionWords::tr("RNR retry"), *cm.rnr_retry == 7
                                                             ? ConnectionWords::tr("7 (no limit)")
                                                             : QString::number(*cm.rnr_retry));
  if (cm.ack_timeout_code)
    facts.emplace_back(ConnectionWords::tr("ACK timeout"),
                       *cm.ack_timeout_code == 0 ? ConnectionWords::tr("infinite")
                                                 : duration(dissect::cm_timeout_ns(*cm.ack_timeout_code)));
  if (const auto took = analyze::connect_time_ns(cm))
    facts.emplace_back(ConnectionWords::tr("Connected in"), duration(*took));
  if (cm.reject_reason)
    facts.emplace_back(ConnectionWords::tr("Rejected"),
                       QStringLiteral("%1 %2")
                           .arg(*cm.reject_reason)
                           .arg(to_qt(dissect::reject_reason_name(*cm.reject_reason))));
  return facts;
}

/// All other columns of the table that are not empty, with their headings.
Facts figures(const ConnectionRow& row) {
  // Already in identity() and pairing().
  constexpr std::string_view known[] = {"id",      "a",     "a_qp",     "b",          "b_qp", "service",
                                        "version", "state", "evidence", "confidence", "pmtu"};
  Facts facts;
  for (const analyze::ConnectionColumn& column : analyze::connection_columns()) {
    if (std::find(std::begin(known), std::end(known), column.name) != std::end(known)) continue;
    const std::string text = column.text(row);
    if (!text.empty()) facts.emplace_back(to_qt(column.heading), to_qt(text));
  }
  return facts;
}

QString latencies(const ConnectionRow& row) {
  constexpr double fractions[] = {0.5, 0.9, 0.99, 0.999};
  QString html;
  for (std::size_t i = 0; i < analyze::operation_kind_count; ++i) {
    const auto kind = static_cast<OperationKind>(i);
    const Histogram latency = row.latency_ns(kind);
    if (latency.count() == 0) continue;
    html += QStringLiteral("<tr><td>%1</td><td align=\"right\">%2</td><td align=\"right\">%3</td>")
                .arg(to_qt(analyze::operation_kind_name(kind)).replace(QLatin1Char('_'), QLatin1Char(' ')))
                .arg(latency.count())
                .arg(duration(latency.min()));
    for (const double fraction : fractions)
      html += QStringLiteral("<td align=\"right\">%1</td>").arg(duration(latency.percentile(fraction)));
    html += QStringLiteral("<td align=\"right\">%1</td></tr>").arg(duration(latency.max()));
  }
  if (html.isEmpty()) return html;
  QString head;
  for (const QString& name : {ConnectionWords::tr("operation"), ConnectionWords::tr("count"),
                              ConnectionWords::tr("min"), QStringLiteral("p50"), QStringLiteral("p90"),
                              QStringLiteral("p99"), QStringLiteral("p99.9"), ConnectionWords::tr("max")})
    head += QStringLiteral("<td class=\"name\" align=\"%1\">%2</td>")
                .arg(head.isEmpty() ? QStringLiteral("left") : QStringLiteral("right"), name);
  return heading(ConnectionWords::tr("Latency, request to acknowledgement or last response")) +
         QStringLiteral("<table cellpadding=\"3\"><tr>%1</tr>%2</table>").arg(head, html);
}

QString findings(const Snapshot& s, std::uint32_t id) {
  QString html;
  for (const Finding& finding : s.findings) {
    if (std::find(finding.connections.begin(), finding.connections.end(), id) == finding.connections.end())
      continue;
    // The explanation of several connections has their figures, not those of this one.
    const std::size_t others = finding.connections.size() - 1;
    const QString of_all = others == 0 ? QString()
                           : others == 1
                               ? ConnectionWords::tr("Of this and another connection: ")
                               : ConnectionWords::tr("Of this and %1 other connections: ").arg(others);
    html += QStringLiteral("<li>%1: <a href=\"finding:%2\">%3</a>. %5%4</li>")
                .arg(severity_text(analyze::shown_severity(finding, s)),
                     QString::fromLatin1(QUrl::toPercentEncoding(to_qt(finding_key(finding)))),
                     to_qt(finding.title).toHtmlEscaped(),
                     to_qt(first_sentence(finding.explanation)).toHtmlEscaped(), of_all.toHtmlEscaped());
  }
  return html.isEmpty() ? html
                        : heading(ConnectionWords::tr("Findings")) + QStringLiteral("<ul>%1</ul>").arg(html);
}

}  // namespace

QString connection_html(const Snapshot& s, std::uint32_t id) {
  const auto found = std::find_if(s.connections.begin(), s.connections.end(),
                                  [id](const analyze::Connection& c) { return c.id == id; });
  if (found == s.connections.end()) return {};
  const ConnectionRow row(s, *found);
  QString html = QStringLiteral("<h2>%1</h2>").arg(ConnectionWords::tr("Connection %1").arg(id)) +
                 facts_html(identity(s, row)) + findings(s, id);
  html += latencies(row);
  html += heading(ConnectionWords::tr("Figures")) + facts_html(figures(row));
  if (row.cm() != nullptr)
    html += heading(ConnectionWords::tr("Connection manager")) + facts_html(manager(row));
  return html + heading(ConnectionWords::tr("Why these directions are paired")) +
         facts_html(pairing(s, *found));
}

}  // namespace roce::gui
