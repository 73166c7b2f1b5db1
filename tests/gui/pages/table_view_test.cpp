// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/table_view.hpp"

#include <QHeaderView>
#include <QHelpEvent>
#include <QToolTip>

#include "tests/gui/pages/window_support.hpp"

namespace roce::gui {
namespace {

/// A capture with so many findings, each with a line break in its title.
SnapshotPtr with_findings(int count) {
  auto snapshot = std::make_shared<analyze::Snapshot>();
  for (int i = 0; i < count; ++i) {
    analyze::Finding& finding = snapshot->findings.emplace_back();
    finding.id = "rnr";
    finding.title = "two\nlines";
    finding.subject = std::to_string(i);
    finding.packets = {1};
  }
  return snapshot;
}

struct Findings {
  explicit Findings(int count) {
    view.show_columns({"subject", "title"});
    model.show(with_findings(count));
    EXPECT_TRUE(eventually([this] { return model.is_settled(); }));
  }
  FindingListModel model;
  TableView view{QStringLiteral("Findings"), model};
};

TEST(TableView, TellsWhatIsCutOffAndNothingWhereThereIsNoRow) {
  Findings few(1);
  few.view.resize(400, 300);
  few.view.show();
  few.view.horizontalHeader()->setStretchLastSection(false);
  few.view.setColumnWidth(few.model.column_of("title"), 30);
  const auto tip_at = [&](const QPoint& place) {
    QHelpEvent event(QEvent::ToolTip, place, few.view.viewport()->mapToGlobal(place));
    QApplication::sendEvent(few.view.viewport(), &event);
    return QToolTip::isVisible() ? QToolTip::text() : QString();
  };
  EXPECT_EQ(tip_at(QPoint(200, 250)), QString());
  EXPECT_FALSE(QToolTip::isVisible());
  const QRect cell = few.view.visualRect(few.model.index(0, few.model.column_of("title")));
  EXPECT_EQ(tip_at(cell.center()), QStringLiteral("<p>two<br>lines</p>"));
  QToolTip::hideText();
}

}  // namespace
}  // namespace roce::gui
