// SPDX-License-Identifier: Apache-2.0
#include "gui/models/compare_tables.hpp"

#include "gui/models/shown_text.hpp"

#include <QCoreApplication>
#include <QStringList>
#include <numeric>

namespace roce::gui {
namespace {

struct CompareWords {
  Q_DECLARE_TR_FUNCTIONS(Compare)
};

using F = const analyze::CompareFigure&;

constexpr analyze::Column<analyze::CompareFigure> figure_columns[] = {
    {"figure", "", "name of the figure", false, 0, nullptr,
     [](F f) { return (f.part ? "    " : "") + f.name; }, [](F f) { return f.name; }},
    {"a_to_b", "A to B", "packets that pass A first", true, 0, nullptr, [](F f) { return f.text[0]; },
     nullptr},
    {"b_to_a", "B to A", "packets that pass B first", true, 0, nullptr, [](F f) { return f.text[1]; },
     nullptr},
};

QString point_html(const analyze::ComparePointFacts& point, const QString& name) {
  QStringList lines;
  for (const capture::FileInfo& file : point.files) {
    lines << QStringLiteral("%1 (%2)").arg(shown_name(to_qt(file.path)), file.format.empty()
                                                                             ? CompareWords::tr("not read")
                                                                             : to_qt(file.format));
  }
  for (const std::string& line : analyze::point_lines(point)) lines << to_qt(line);
  for (const capture::Error& error : point.errors) lines << to_qt(error_text(error));
  for (QString& line : lines) line = line.toHtmlEscaped();
  return QStringLiteral("<td valign=\"top\" width=\"50%\"><b>%1</b> %2</td>")
      .arg(name, lines.join(QStringLiteral("<br>")));
}

}  // namespace

std::string ComparePathTable::key(std::size_t i) const {
  std::string key;
  for (const analyze::ComparePathColumn& column : columns().first(4)) key += column.text(row(i)) + ' ';
  return key;
}

std::string MarkChangeTable::key(std::size_t i) const {
  const Row& change = row(i);
  const auto value = [](const std::optional<std::uint16_t>& v) { return v ? std::to_string(*v) : "-"; };
  return std::string(analyze::mark_field_name(change.field)) + ' ' + std::to_string(change.direction) + ' ' +
         value(change.from) + ' ' + value(change.to);
}

std::span<const analyze::Column<analyze::CompareFigure>> FigureTable::columns() {
  return figure_columns;
}

SnapshotPtr compare_snapshot(const analyze::CompareResult& result) {
  auto snapshot = std::make_shared<analyze::Snapshot>();
  snapshot->findings = std::vector<analyze::Finding>(result.findings.begin(), result.findings.end());
  snapshot->totals.roce_packets = result.points[0].packets + result.points[1].packets;
  snapshot->icrc_checked = false;
  snapshot->final = true;
  return snapshot;
}

QString compare_headline(const analyze::CompareResult& result) {
  if (result.matched() == 0)
    return CompareWords::tr("No packet was seen at both points: these are not captures of the same traffic");
  const auto both = [&result](auto number) {
    return number(result.directions[0]) + number(result.directions[1]);
  };
  using D = analyze::CompareDirection;
  const auto changed = std::accumulate(result.changed.begin(), result.changed.end(), std::uint64_t{0});
  return CompareWords::tr(
             "%1 packets seen at both, %2 lost between them (%3 of them retransmitted), %4 reordered, "
             "%5 markings changed")
      .arg(result.matched())
      .arg(both([](const D& d) { return d.lost.count; }))
      .arg(both([](const D& d) { return d.repaired; }))
      .arg(both([](const D& d) { return d.late.count; }))
      .arg(changed);
}

QString compare_html(const analyze::CompareResult& result) {
  QString html = QStringLiteral("<table width=\"100%\"><tr>%1%2</tr></table>")
                     .arg(point_html(result.points[0], QStringLiteral("A")),
                          point_html(result.points[1], QStringLiteral("B")));
  if (result.matched() == 0) return html;
  QStringList clocks;
  for (const std::string& line : analyze::clock_lines(result)) clocks << to_qt(line).toHtmlEscaped();
  return html + QStringLiteral("<p><b>%1</b> %2</p>")
                    .arg(CompareWords::tr("Clocks:"), clocks.join(QStringLiteral("; ")));
}

}  // namespace roce::gui
