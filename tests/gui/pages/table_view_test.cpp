// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/table_view.hpp"

#include <QClipboard>
#include <QHeaderView>
#include <QHelpEvent>
#include <QSignalSpy>
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

QString clipboard() {
  return QApplication::clipboard()->text();
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

TEST(TableView, CopiesFewRowsAtOnce) {
  Findings few(5);
  few.view.copy_rows();
  EXPECT_EQ(clipboard(), QString()) << "nothing is chosen";
  const auto choose = [&](int row) {
    few.view.selectionModel()->select(few.model.index(row, 0),
                                      QItemSelectionModel::Select | QItemSelectionModel::Rows);
  };
  choose(3);
  choose(0);
  few.view.copy_rows();
  EXPECT_EQ(clipboard(), QStringLiteral("subject\tfinding\n0\ttwo; lines\n3\ttwo; lines\n"));
}

TEST(TableView, CopiesManyRowsInTheBackground) {
  constexpr int count = 5000;
  Findings many(count);
  const QSignalSpy said(&many.view, &TableView::says);
  many.view.selectAll();
  many.view.copy_rows();
  EXPECT_EQ(clipboard(), QString()) << "the window waited for it";
  many.model.show(nullptr);  // closed meanwhile: what was chosen is what is copied
  ASSERT_TRUE(eventually([] { return !clipboard().isEmpty(); }));
  const QStringList lines = clipboard().split(QLatin1Char('\n'));
  ASSERT_EQ(lines.size(), count + 2);
  for (int i = 0; i < count; ++i) ASSERT_EQ(lines[i + 1], QStringLiteral("%1\ttwo; lines").arg(i));
  EXPECT_EQ(said.count(), 2);
}

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

TEST(EmptyTables, SayWhy) {
  const auto window = make_window();
  const auto expect_reasons = [&] {
    for (const TableView* table : window->findChildren<TableView*>()) {
      EXPECT_TRUE(table->model()->rowCount() != 0 || !table->empty_text().isEmpty())
          << table->objectName().toStdString();
    }
  };
  expect_reasons();
  // One with and one without connections, marks and anything wrong.
  for (const char* name : {"02_write_bw_64k.pcap.zst", "03_rping_noserver.pcap"}) {
    open_sample(*window, name);
    expect_reasons();
  }
}

TEST(TableView, IsGoneWhileItCopies) {
  auto many = std::make_unique<Findings>(5000);
  many->view.selectAll();
  for (int i = 0; i < 20; ++i) many->view.copy_rows();
  many = nullptr;
  QApplication::processEvents();
  EXPECT_EQ(clipboard(), QString());
}

}  // namespace
}  // namespace roce::gui
