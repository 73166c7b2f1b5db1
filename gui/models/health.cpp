// SPDX-License-Identifier: Apache-2.0
#include "gui/models/health.hpp"

#include <QCoreApplication>
#include <QLocale>
#include <QStringList>
#include <QUrl>
#include <algorithm>
#include <string>

#include "analyze/base/units.hpp"
#include "analyze/results/capture_health.hpp"
#include "analyze/results/severity_counts.hpp"
#include "dissect/dissect.hpp"
#include "dissect/opcode.hpp"
#include "gui/models/shown_names.hpp"
#include "gui/models/shown_text.hpp"
#include "gui/models/table_model.hpp"

namespace roce::gui {
namespace {

using analyze::Severity;
using analyze::Snapshot;
using analyze::Totals;

struct HealthWords {
  Q_DECLARE_TR_FUNCTIONS(Health)
};

QString number(std::uint64_t value) {
  return QString::number(value);
}

/// "3 findings (2 degraded, 1 info)", "1 finding (odd)"; empty: there are none.
QString findings_words(const std::array<std::uint64_t, 4>& counts) {
  QStringList parts;
  QString only;
  std::uint64_t all = 0;
  for (std::size_t i = counts.size(); i-- > 0;) {
    if (counts[i] == 0) continue;
    all += counts[i];
    only = severity_text(static_cast<Severity>(i));
    parts << QStringLiteral("%1 %2").arg(number(counts[i]), only);
  }
  if (parts.isEmpty()) return {};
  const QString which = parts.size() == 1 ? only : parts.join(QStringLiteral(", "));
  return all == 1 ? HealthWords::tr("1 finding (%1)").arg(which)
                  : HealthWords::tr("%1 findings (%2)").arg(number(all), which);
}

using Counts = std::vector<std::pair<QString, std::uint64_t>>;

/// "a 12, b 3, 4 others: 17": the most frequent first.
QString listing(Counts counts) {
  constexpr std::size_t most = 6;
  std::erase_if(counts, [](const auto& entry) { return entry.second == 0; });
  std::stable_sort(counts.begin(), counts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  QStringList parts;
  std::uint64_t rest = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (i < most || counts.size() == most + 1) {
      parts << QStringLiteral("%1 %2").arg(counts[i].first, number(counts[i].second));
    } else {
      rest += counts[i].second;
    }
  }
  if (rest != 0) parts << HealthWords::tr("%1 others: %2").arg(number(counts.size() - most), number(rest));
  return parts.join(QStringLiteral(", "));
}

QString packets_words(std::uint64_t count) {
  return count == 1 ? HealthWords::tr("1 packet") : HealthWords::tr("%1 packets").arg(number(count));
}

void add_files(Facts& facts, const Snapshot& s) {
  constexpr std::size_t most = 5;
  for (std::size_t i = 0; i < std::min(most, s.files.size()); ++i) {
    const capture::FileInfo& file = s.files[i];
    QString text = shown_name(to_qt(file.path));
    if (file.format.empty()) {
      text += HealthWords::tr(" (not read)");
    } else {
      text += QStringLiteral(" (%1%2)").arg(
          to_qt(file.format),
          file.bytes != 0 ? QStringLiteral(", ") + to_qt(analyze::bytes_text(file.bytes)) : QString());
    }
    facts.emplace_back(i == 0 ? HealthWords::tr("File") : QString(), text);
  }
  if (s.files.size() > most)
    facts.emplace_back(QString(), HealthWords::tr("and %1 more files").arg(number(s.files.size() - most)));
}

QString dropped_text(const Snapshot& s) {
  if (!s.dropped()) return HealthWords::tr("not recorded in the file");
  return *s.dropped() == 0 ? HealthWords::tr("none")
                           : HealthWords::tr("%1 dropped while capturing").arg(packets_words(*s.dropped()));
}

QString icrc_text(const Snapshot& s) {
  if (!s.icrc_checked) return HealthWords::tr("not checked");
  const auto [match, mismatch, unknown] = s.totals.icrc;
  if (match == s.totals.roce_packets) return HealthWords::tr("matches on every packet");
  return listing({{HealthWords::tr("match"), match},
                  {HealthWords::tr("MISMATCH"), mismatch},
                  {HealthWords::tr("not checkable"), unknown}});
}

QString diagnostic_text(const analyze::Diagnostic& d) {
  return d.count == 1 ? HealthWords::tr("once: %1").arg(to_qt(d.help))
                      : HealthWords::tr("%1 times: %2").arg(number(d.count), to_qt(d.help));
}

/// A link to the packets that match a display filter.
QString packets_link(const char* filter) {
  return QStringLiteral("packets:") + QString::fromLatin1(QUrl::toPercentEncoding(QLatin1String(filter)));
}

void add_roce(Facts& facts, const Snapshot& s) {
  const Totals& t = s.totals;
  if (t.roce_packets == 0) {
    const auto [what, advice] = analyze::no_roce(s);
    facts.emplace_back(HealthWords::tr("RoCE"),
                       to_qt(advice.empty() ? std::string(what) : std::string(what) + ". " + advice));
    return;
  }
  Counts versions;
  for (std::size_t i = 1; i < t.by_transport.size(); ++i)
    versions.emplace_back(to_qt(dissect::transport_name(static_cast<dissect::Transport>(i))),
                          t.by_transport[i]);
  facts.emplace_back(
      HealthWords::tr("RoCE"),
      QStringLiteral("%1 (%2), %3: %4")
          .arg(packets_words(t.roce_packets), to_qt(analyze::percent_text(t.roce_packets, t.packets)),
               to_qt(analyze::bytes_text(t.roce_bytes)), listing(versions)),
      packets_link("infiniband"));
  Counts tunnels;
  for (std::size_t i = 0; i < dissect::tunnel_count; ++i)
    tunnels.emplace_back(to_qt(dissect::tunnel_name(static_cast<dissect::Tunnel>(i))), t.by_tunnel[i]);
  if (const QString inside = listing(tunnels); !inside.isEmpty())
    facts.emplace_back(HealthWords::tr("Encapsulation"), inside);
  Counts opcodes;
  for (std::size_t i = 0; i < t.opcodes.size(); ++i) {
    if (t.opcodes[i] != 0)
      opcodes.emplace_back(to_qt(dissect::opcode_name(static_cast<std::uint8_t>(i))), t.opcodes[i]);
  }
  facts.emplace_back(HealthWords::tr("Opcodes"), listing(opcodes), packets_link("infiniband.bth"));
  facts.emplace_back(HealthWords::tr("ICRC"), icrc_text(s),
                     t.icrc[1] != 0 ? packets_link("roce.icrc.status == mismatch") : QString());
  Counts dscp;
  Counts pcp{{HealthWords::tr("untagged"), t.untagged}};
  for (std::size_t i = 0; i < t.dscp.size(); ++i)
    dscp.emplace_back(HealthWords::tr("DSCP %1:").arg(i), t.dscp[i]);
  for (std::size_t i = 0; i < t.pcp.size(); ++i)
    pcp.emplace_back(HealthWords::tr("PCP %1:").arg(i), t.pcp[i]);
  const Counts ecn{{QStringLiteral("Not-ECT"), t.ecn[0]},
                   {QStringLiteral("ECT(1)"), t.ecn[1]},
                   {QStringLiteral("ECT(0)"), t.ecn[2]},
                   {QStringLiteral("CE"), t.ecn[3]}};
  facts.emplace_back(HealthWords::tr("Markings"),
                     QStringList{listing(dscp), listing(ecn), listing(pcp)}.join(QStringLiteral("; ")),
                     QStringLiteral("markings:"));
}

}  // namespace

QString severity_text(Severity severity) {
  switch (severity) {
    case Severity::error:
      return HealthWords::tr("fatal");
    case Severity::warning:
      return HealthWords::tr("degraded");
    case Severity::notice:
      return HealthWords::tr("odd");
    case Severity::info:
      break;
  }
  return HealthWords::tr("info");
}

std::array<std::uint64_t, 4> count_findings(const Snapshot& snapshot) {
  return analyze::severity_counts(snapshot);
}

Health health_of(const Snapshot& s) {
  const analyze::CaptureHealth assessment = analyze::capture_health(s);
  const QString so_far = s.final ? QString() : HealthWords::tr(" so far");
  Health health;
  health.shown = assessment.anything || !assessment.whole;
  const bool wrong = assessment.worst || assessment.diagnosis != nullptr;
  if (wrong || !assessment.whole || !assessment.judged) health.sign = assessment.level();
  if (!assessment.anything) {
    const QString none =
        (s.totals.packets == 0 ? HealthWords::tr("No packets") : HealthWords::tr("No RoCE packets")) + so_far;
    health.line = assessment.whole
                      ? HealthWords::tr("%1, so nothing to judge").arg(none)
                      : HealthWords::tr("%1 in what could be analysed, so nothing to judge").arg(none);
    return health;
  }
  const QString found = findings_words(count_findings(s));
  const QString where = (s.totals.roce_packets == 1
                             ? HealthWords::tr("in 1 RoCE packet")
                             : HealthWords::tr("in %1 RoCE packets").arg(number(s.totals.roce_packets))) +
                        so_far;
  if (assessment.diagnosis != nullptr) {
    health.line = with_names(assessment.diagnosis->sentence) + so_far;
    health.counts = found.isEmpty() ? HealthWords::tr("No further findings %1").arg(where)
                                    : QStringLiteral("%1 %2").arg(found, where);
    return health;
  }
  health.line = found.isEmpty() && !assessment.judged ? HealthWords::tr("No findings %1").arg(where)
                : found.isEmpty()                     ? HealthWords::tr("Nothing wrong found %1").arg(where)
                : assessment.serious() || !assessment.judged
                    ? QStringLiteral("%1 %2").arg(found, where)
                    : HealthWords::tr("Nothing serious: %1 %2").arg(found, where);
  if (!assessment.but().empty())
    health.line = HealthWords::tr("%1, but not all of the capture could be judged").arg(health.line);
  return health;
}

QStringList what_was_lost(const Snapshot& s) {
  QStringList lines;
  for (const capture::Error& error : s.errors) lines << to_qt(error_text(error));
  // A failed input has its own error; all diagnostics are among the facts.
  if (lines.isEmpty() && !analyze::capture_health(s).whole) lines << diagnostic_text(s.diagnostics.front());
  if (const std::string limits = analyze::capture_limits_text(s); !limits.empty()) lines << to_qt(limits);
  return lines;
}

Facts capture_facts(const Snapshot& s) {
  const Totals& t = s.totals;
  Facts facts;
  add_files(facts, s);
  if (t.packets != 0) {
    facts.emplace_back(
        HealthWords::tr("Packets"),
        HealthWords::tr("%1, %2 on the wire, %3")
            .arg(packets_words(t.packets), to_qt(analyze::bytes_text(t.bytes)),
                 t.captured_bytes < t.bytes
                     ? HealthWords::tr("%1 of it captured").arg(to_qt(analyze::bytes_text(t.captured_bytes)))
                     : HealthWords::tr("not truncated")),
        packets_link(""));
    facts.emplace_back(
        HealthWords::tr("Time"),
        t.any_time
            ? HealthWords::tr("%1 from %2")
                  .arg(to_qt(analyze::duration_text(analyze::span_ns(t.first_time_ns, t.last_time_ns))),
                       to_qt(analyze::time_text(t.first_time_ns)))
            : HealthWords::tr("the capture has no timestamps: no rates and latencies"));
  }
  facts.emplace_back(HealthWords::tr("Drops"), dropped_text(s));
  add_roce(facts, s);
  Counts others;
  for (std::size_t i = 0; i < analyze::other_traffic_count; ++i) {
    QString name = to_qt(analyze::other_traffic_name(static_cast<analyze::OtherTraffic>(i)));
    others.emplace_back(name.replace(QLatin1Char('_'), QLatin1Char(' ')), t.others[i]);
  }
  if (const QString text = listing(others); !text.isEmpty())
    facts.emplace_back(HealthWords::tr("Not RoCE"), text, packets_link("!infiniband"));
  for (const analyze::Diagnostic& d : s.diagnostics)
    facts.emplace_back(HealthWords::tr("Diagnostic"), diagnostic_text(d));
  return facts;
}

}  // namespace roce::gui
