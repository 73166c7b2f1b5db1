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
