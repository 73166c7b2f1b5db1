// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/column_widths.hpp"

#include <QHeaderView>
#include <QMouseEvent>
#include <QScrollBar>

#include "tests/gui/pages/window_support.hpp"

namespace roce::gui {
namespace {

using Widths = std::vector<int>;

TEST(ColumnWidths, AreAsWantedWhereThereIsRoom) {
  EXPECT_EQ(column_widths({}, 100), Widths());
  EXPECT_EQ(column_widths({{80, 60, false}, {120, 100, true}}, 200), (Widths{80, 120}));
}

TEST(ColumnWidths, LoseAirFirst) {
  // 160 are needed, 30 are left: at most 15 for each.
  EXPECT_EQ(column_widths({{80, 60, false}, {120, 100, true}}, 190), (Widths{75, 115}));
  EXPECT_EQ(column_widths({{62, 60, false}, {140, 100, true}}, 190), (Widths{62, 115}));
}

TEST(ColumnWidths, ThenTheLongestTexts) {
  EXPECT_EQ(column_widths({{80, 60, false}, {320, 300, true}, {120, 100, true}}, 360),
            (Widths{60, 200, 100}));
  EXPECT_EQ(column_widths({{80, 60, false}, {320, 300, true}, {320, 300, true}}, 360),
            (Widths{60, 150, 150}));
}

TEST(ColumnWidths, AreAsWantedWhereNothingHelps) {
  EXPECT_EQ(column_widths({{80, 60, false}, {320, 300, true}}, 60 + narrowest_text - 1), (Widths{80, 320}));
  EXPECT_EQ(column_widths({{80, 60, false}, {320, 300, true}}, 60 + narrowest_text),
            (Widths{60, narrowest_text}));
  EXPECT_EQ(column_widths({{80, 60, false}}, 0), Widths{80});
}

TEST(ColumnWidths, OfTheFirstPageNeedNoScrollBar) {
  const auto window = make_window();
  window->resize(1280, 800);
  OverviewPage& page = window->overview();
  for (const std::string& name : all_samples()) {
    SCOPED_TRACE(name);
    open_sample(*window, name);
    QApplication::processEvents();
    for (const TableView* table : {&page.findings(), &page.connections(), &page.hosts()}) {
      EXPECT_EQ(table->horizontalScrollBar()->maximum(), 0) << table->objectName().toStdString();
    }
  }
}

/// Nothing is cut off in a table that has more room than it needs.
testing::AssertionResult shows_all(const TableView& table) {
  for (int i = 0; i < table.model()->columnCount(); ++i) {
    const int cells = static_cast<const QAbstractItemView&>(table).sizeHintForColumn(i);
    if (!table.isColumnHidden(i) && table.columnWidth(i) < cells)
      return testing::AssertionFailure() << table.objectName().toStdString() << ": column " << i << " has "
                                         << table.columnWidth(i) << " of " << cells << " pixels";
  }
  return testing::AssertionSuccess();
}

/// There columns without marks are hidden, and come back with other captures.
TEST(ColumnWidths, FollowColumnsThatComeAndGo) {
  const auto window = make_window();
  window->resize(1280, 800);
  window->show_page(PageId::markings);
  for (const char* name : {"02_write_bw_64k.pcap.zst", "07_ce_netem10.cb.pcap.zst", "06_mix_4qp.pcap.zst"}) {
    SCOPED_TRACE(name);
    open_sample(*window, name);
    QApplication::processEvents();
    for (const TableView* table : window->markings().findChildren<TableView*>()) {
      if (!table->isVisible()) continue;
      EXPECT_TRUE(shows_all(*table));
    }
  }
  TableView& table = window->overview().connections();
  window->resize(2400, 800);
  window->show_page(PageId::overview);
  table.setColumnHidden(table.rows().column_of("evidence"), false);
  QApplication::processEvents();
  EXPECT_TRUE(shows_all(table));
}

TEST(ColumnWidths, StayAsTheUserMadeThem) {
  {
    const auto window = make_window();
    TableView& table = window->overview().connections();
    open_sample(*window, "04_write_loss1.cb.pcap.zst");
    // By the right edge of its heading.
    const int column = table.rows().column_of("a");
    QHeaderView& header = *table.horizontalHeader();
    const QPoint edge(header.sectionViewportPosition(column) + header.sectionSize(column) - 1, 5);
    QTest::mousePress(header.viewport(), Qt::LeftButton, {}, edge);
    const QPoint there = edge + QPoint(150 - header.sectionSize(column), 0);
    QMouseEvent move(QEvent::MouseMove, there, header.viewport()->mapToGlobal(there), Qt::NoButton,
                     Qt::LeftButton, {});
    QApplication::sendEvent(header.viewport(), &move);
    QTest::mouseRelease(header.viewport(), Qt::LeftButton, {}, there);
    ASSERT_EQ(table.columnWidth(column), 150);
    window->resize(700, 600);
    QApplication::processEvents();
    open_sample(*window, "06_mix_4qp.pcap.zst");
    EXPECT_EQ(table.columnWidth(table.rows().column_of("a")), 150);
    window->close();
  }
  const auto window = make_window();
  TableView& table = window->overview().connections();
  open_sample(*window, "04_write_loss1.cb.pcap.zst");
  EXPECT_EQ(table.columnWidth(table.rows().column_of("a")), 150);
  // Those of other tables still follow what is shown.
  TableView& hosts = window->overview().hosts();
  const int before = hosts.columnWidth(0);
  window->resize(2400, 800);
  QApplication::processEvents();
  EXPECT_GE(hosts.columnWidth(0), before);
}

}  // namespace
}  // namespace roce::gui
