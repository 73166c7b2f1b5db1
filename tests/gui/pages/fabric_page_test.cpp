// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/fabric_page.hpp"

#include <QAction>

#include "tests/gui/pages/window_support.hpp"

namespace roce::gui {
namespace fabric_page_test {
namespace {

TableView& table(MainWindow& window, const char* name) {
  auto* view = window.fabric().findChild<TableView*>(QString::fromLatin1(name));
  EXPECT_NE(view, nullptr) << name;
  return *view;
}

qulonglong number_in(TableView& view, int row, std::string_view column) {
  return view.rows()
      .index(row, view.rows().column_of(column))
      .data(TableModelBase::exact_role)
      .toString()
      .toULongLong();
}

/// Rows of that table lead to as many packets as they count.
void expect_packets(MainWindow& window, const char* name) {
  TableView& view = table(window, name);
  ASSERT_GT(view.rows().rowCount(), 0);
  for (int row = 0; row < view.rows().rowCount(); ++row) {
    window.show_page(PageId::fabric);
    view.setCurrentIndex(view.rows().index(row, 0));
    Q_EMIT view.row_activated();
    QApplication::processEvents();
    EXPECT_FALSE(window.packets().visibleRegion().isEmpty());
    EXPECT_EQ(window.packets().filter().error().toStdString(), "");
    EXPECT_FALSE(window.packets().filter().text().isEmpty());
    const qulonglong packets = number_in(view, row, "packets");
    PacketListModel& list = window.packets().model();
    EXPECT_TRUE(eventually([&] { return list.state().complete; }));
    EXPECT_EQ(static_cast<qulonglong>(list.rowCount()), packets)
        << window.packets().filter().text().toStdString();
  }
}

TEST(FabricPage, PathsLeadToTheirPackets) {
  for (const char* name : {"04_write_loss1.cb.pcap.zst", "07_ce_netem_v6.cb.pcap.zst"}) {
    SCOPED_TRACE(name);
    const auto window = make_window();
    open_sample(*window, name);
    window->fabric().tabs().setCurrentIndex(FabricPage::paths);
    expect_packets(*window, "Paths");
  }
}

TEST(FabricPage, PairsLeadToTheirPackets) {
  const auto window = make_window();
  open_sample(*window, "04_write_loss1.cb.pcap.zst");
  window->fabric().tabs().setCurrentIndex(FabricPage::hosts);
  expect_packets(*window, "Pairs of hosts");
}

// A square, its row and the connections between the two hosts.
TEST(FabricPage, ASquareLeadsToItsConnections) {
  const auto window = make_window();
  open_sample(*window, "04_write_loss1.cb.pcap.zst");
  window->show_page(PageId::fabric);
  window->fabric().tabs().setCurrentIndex(FabricPage::hosts);
  ASSERT_TRUE(eventually([&] { return window->fabric().is_settled(); }));
  HostMatrixView& matrix = window->fabric().matrix();
  ASSERT_EQ(matrix.matrix().size(), 2U);
  const auto cell = matrix.matrix().cell(0, 1);
  ASSERT_TRUE(cell);
  QTest::mouseClick(&matrix, Qt::LeftButton, {}, matrix.place_of(*cell));
  EXPECT_EQ(matrix.current(), cell);
  TableView& pairs = table(*window, "Pairs of hosts");
  EXPECT_EQ(pairs.currentIndex().siblingAtColumn(0).data().toString().toStdString(), "10.77.0.1");
  EXPECT_TRUE(matrix.cell_text(*cell).contains(QStringLiteral("Lost: 1.3 %")))
      << matrix.cell_text(*cell).toStdString();
  // The arrow keys go from pair to pair.
  QTest::keyClick(&matrix, Qt::Key_Down);
  EXPECT_EQ(matrix.current(), cell) << "nobody else sends to it";
  QTest::keyClick(&matrix, Qt::Key_Plus);
  QTest::keyClick(&matrix, Qt::Key_Home);
  QTest::keyClick(&matrix, Qt::Key_Return);
  QApplication::processEvents();
  EXPECT_FALSE(window->connections().visibleRegion().isEmpty());
  EXPECT_EQ(qobject_cast<QLineEdit*>(window->connections().search_field())->text().toStdString(),
            "10.77.0.1 10.77.0.2");
  EXPECT_EQ(window->connections().table().rows().rowCount(), 1);
}

TEST(FabricPage, AMatrixWithoutHostsSaysWhy) {
  const auto window = make_window();
  EXPECT_EQ(window->fabric().matrix().said().toStdString(), "No capture");
  open_sample(*window, "04_write_loss1.cb.pcap.zst");
  EXPECT_EQ(window->fabric().matrix().said().toStdString(), "");
  window->findChild<QAction*>(QStringLiteral("close"))->trigger();
  ASSERT_TRUE(eventually([&] { return window->fabric().is_settled(); }));
  EXPECT_EQ(window->fabric().matrix().said().toStdString(), "No capture");
  EXPECT_EQ(window->fabric().matrix().matrix().size(), 0U);
}

TEST(FabricPage, MirrorsLeadToTheirPackets) {
  const auto window = make_window();
  open_sample(*window, "09_mirror_erspan2.pcap.zst");
  window->fabric().tabs().setCurrentIndex(FabricPage::mirrors);
  expect_packets(*window, "Mirrors");
}

TEST(FabricPage, EmptyTablesSayWhy) {
  const auto window = make_window();
  for (const TableView* view : window->fabric().findChildren<TableView*>())
    EXPECT_EQ(view->empty_text().toStdString(), "No capture");
  open_sample(*window, "04_write_loss1.cb.pcap.zst");
  for (TableView* view : window->fabric().findChildren<TableView*>()) {
    EXPECT_EQ(view->empty_text().isEmpty(), view->rows().rowCount() != 0) << view->objectName().toStdString();
  }
  EXPECT_TRUE(window->fabric().tabs().tabText(FabricPage::shells).endsWith(QStringLiteral("(0)")));
  window->findChild<QAction*>(QStringLiteral("close"))->trigger();
  EXPECT_EQ(table(*window, "Shells").empty_text().toStdString(), "No capture");
}

TEST(FabricPage, SearchLeavesTheRowsOfAWord) {
  const auto window = make_window();
  open_sample(*window, "04_write_loss1.cb.pcap.zst");
  window->show_page(PageId::fabric);
  window->fabric().tabs().setCurrentIndex(FabricPage::paths);
  TableView& paths = table(*window, "Paths");
  const int all = paths.rows().rowCount();
  auto* field = qobject_cast<QLineEdit*>(window->fabric().search_field());
  ASSERT_NE(field, nullptr);
  field->setText(QStringLiteral("no such path"));
  EXPECT_EQ(paths.rows().rowCount(), 0);
  EXPECT_EQ(paths.empty_text(), left_out_text(all));
  field->clear();
  EXPECT_EQ(paths.rows().rowCount(), all);
}

}  // namespace
}  // namespace fabric_page_test
}  // namespace roce::gui
