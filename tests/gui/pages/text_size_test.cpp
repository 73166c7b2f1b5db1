// SPDX-License-Identifier: Apache-2.0
// Text of another size, and a small window: columns, rows and headlines follow.
#include <QFontMetrics>
#include <QHeaderView>
#include <QScrollBar>
#include <algorithm>

#include "gui/pages/packet_list_view.hpp"
#include "gui/pages/table_view.hpp"
#include "tests/gui/pages/window_support.hpp"

namespace roce::gui {
namespace {

constexpr const char* lossy_sample = "04_write_loss1.cb.pcap.zst";

void enlarge(double factor) {
  QFont font = QApplication::font();
  font.setPointSizeF(font.pointSizeF() * factor);
  QApplication::setFont(font);
  // Fonts reach the widgets by events, and what follows them by timers.
  for (int i = 0; i < 5; ++i) QApplication::processEvents();
}

/// How much of the last column of the list of packets can be seen, in average characters.
int seen_of_info(MainWindow& window) {
  auto& list = *window.packets().findChild<PacketListView*>();
  const QHeaderView& header = list.header();
  const int last = header.logicalIndex(header.count() - 1);
  const int from = header.sectionViewportPosition(last);
  return (std::min(from + header.sectionSize(last), list.room()) - from) /
         QFontMetrics(list.font()).averageCharWidth();
}

TEST(TextSize, ASmallWindowShowsWhatPacketsSay) {
  const auto window = make_window();
  window->resize(2560, 1440);
  open_sample(*window, lossy_sample);
  window->show_page(PageId::packets);
  QApplication::processEvents();
  const int wide = seen_of_info(*window);
  window->resize(1024, 700);
  QApplication::processEvents();
  EXPECT_GE(seen_of_info(*window), 28);
  window->resize(2560, 1440);
  QApplication::processEvents();
  EXPECT_EQ(seen_of_info(*window), wide) << "columns that were made narrow stay narrow";
}

TEST(TextSize, ColumnsOfPacketsFollow) {
  const auto window = make_window();
  window->resize(1900, 1000);
  open_sample(*window, lossy_sample);
  window->show_page(PageId::packets);
  QApplication::processEvents();
  QHeaderView& header = window->packets().findChild<PacketListView*>()->header();
  const int number = header.sectionSize(0);
  const int time = header.sectionSize(1);
  header.resizeSection(1, time + 40);  // as the user does
  enlarge(1.5);
  EXPECT_GT(header.sectionSize(0), number * 5 / 4);
  EXPECT_GT(header.sectionSize(1), (time + 40) * 5 / 4);
  EXPECT_GE(seen_of_info(*window), 28);
  enlarge(1 / 1.5);
  EXPECT_EQ(header.sectionSize(0), number);
  EXPECT_EQ(header.sectionSize(1), time + 40);
}

TEST(TextSize, TablesAndHeadlineFollow) {
  const auto window = make_window();
  window->resize(1900, 1000);
  open_sample(*window, lossy_sample);
  enlarge(1.5);
  const int height = QFontMetrics(QApplication::font()).height();
  EXPECT_GT(window->overview().findChild<QLabel*>(QStringLiteral("headline"))->fontMetrics().height(),
            height);
  for (int page = 0; page < page_count; ++page) {
    window->show_page(static_cast<PageId>(page));
    for (int i = 0; i < 5; ++i) QApplication::processEvents();
    for (const TableView* table : window->findChildren<TableView*>()) {
      if (table->visibleRegion().isEmpty() || table->model()->rowCount() == 0) continue;
      EXPECT_GE(table->rowHeight(0), height) << table->objectName().toStdString();
      for (int column = 0; column < table->model()->columnCount(); ++column) {
        const QModelIndex cell = table->model()->index(0, column);
        if (table->isColumnHidden(column) || table->horizontalScrollBar()->isVisible() ||
            !table->model()->headerData(column, Qt::Horizontal, TableModelBase::numbers_role).toBool())
          continue;
        EXPECT_GE(table->columnWidth(column),
                  QFontMetrics(table->font()).horizontalAdvance(cell.data().toString()))
            << table->objectName().toStdString() << ' ' << column;
      }
    }
  }
}

TEST(TextSize, WidthsOfTheUserScale) {
  const auto window = make_window();
  open_sample(*window, lossy_sample);
  TableView& table = window->connections().table();
  window->show_page(PageId::connections);
  QApplication::processEvents();
  QTest::mousePress(table.horizontalHeader()->viewport(), Qt::LeftButton, {}, {2, 5});
  const int column = table.horizontalHeader()->logicalIndex(1);
  table.setColumnWidth(column, 137);
  QTest::mouseRelease(table.horizontalHeader()->viewport(), Qt::LeftButton, {}, {2, 5});
  enlarge(2);
  EXPECT_NEAR(table.columnWidth(column), 274, 12);
  enlarge(0.5);
  EXPECT_NEAR(table.columnWidth(column), 137, 6);
}

}  // namespace
}  // namespace roce::gui
