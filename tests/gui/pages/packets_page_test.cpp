// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/packets_page.hpp"

#include <QClipboard>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QToolButton>
#include <algorithm>

#include "gui/models/details.hpp"
#include "gui/models/tables.hpp"
#include "gui/pages/evidence_bar.hpp"
#include "gui/pages/packet_map.hpp"
#include "tests/gui/pages/window_support.hpp"

namespace roce::gui {
namespace packets_page_test {
namespace {

constexpr const char* lossy = "04_write_loss1.cb.pcap.zst";

bool is_complete(PacketsPage& page) {
  const bool complete = eventually([&] { return page.model().state().complete; });
  QApplication::processEvents();
  return complete;
}

QAction* action(MainWindow& window, const char* name) {
  return window.findChild<QAction*>(QString::fromLatin1(name));
}

void open_packets(MainWindow& window, const char* name = lossy) {
  open_sample(window, name);
  window.show_page(PageId::packets);
  QApplication::processEvents();
  ASSERT_TRUE(is_complete(window.packets()));
}

TEST(PacketsPage, ListsAllEvidenceWhereAFindingNamesTheFirstFew) {
  const auto window = make_window();
  open_sample(*window, "04_write_loss1.cb.pcap.zst");
  const auto snapshot = window->session().snapshot();
  const auto found = std::find_if(
      snapshot->findings.begin(), snapshot->findings.end(),
      [](const analyze::Finding& f) { return f.count > f.packets.size() && !evidence_filter(f).isEmpty(); });
  ASSERT_NE(found, snapshot->findings.end());
  window->selection().choose_finding(QString::fromStdString(finding_key(*found)));
  window->show_page(PageId::packets);
  auto* bar = window->packets().findChild<EvidenceBar*>();
  ASSERT_NE(bar, nullptr);
  EXPECT_TRUE(bar->place().contains(QStringLiteral("the first %1").arg(found->packets.size())))
      << bar->place().toStdString();
  QAbstractButton* all = nullptr;
  for (auto* button : bar->findChildren<QAbstractButton*>()) {
    if (button->text() == QStringLiteral("Show all")) all = button;
  }
  ASSERT_NE(all, nullptr);
  ASSERT_TRUE(all->isVisible());
  all->click();
  PacketListModel& model = window->packets().model();
  ASSERT_TRUE(eventually([&] { return model.rowCount() != static_cast<int>(snapshot->frames_read); }));
  ASSERT_TRUE(is_complete(window->packets()));
  EXPECT_GT(model.rowCount(), static_cast<int>(found->packets.size()));
}

TEST(PacketsPage, ShowsTreeAndBytesWhichLightEachOtherUp) {
  const auto window = make_window();
  open_packets(*window);
  PacketsPage& page = window->packets();
  page.list().setFocus();
  page.list().set_current_row(4);
  EXPECT_EQ(*window->selection().packet(), 5U);
  ASSERT_GT(page.tree().topLevelItemCount(), 3);
  EXPECT_GT(page.bytes().bytes().size(), 40);
  page.bytes().byte_chosen(page.bytes().bytes().size() > 60 ? 54 : 20);
  ASSERT_NE(page.tree().currentItem(), nullptr);
  EXPECT_GT(page.bytes().lit_length(), 0);
  const QString field = page.tree().currentItem()->data(0, PacketTreeView::field_role).toString();
  // The same line of the next packet.
  page.list().set_current_row(5);
  EXPECT_EQ(page.tree().currentItem()->data(0, PacketTreeView::field_role).toString(), field);
  EXPECT_FALSE(page.tree().text().isEmpty());
}

TEST(PacketsPage, TheTreeShowsWhatIsOfRdmaAndRemembersWhatIsOpened) {
  const auto window = make_window();
  open_packets(*window);
  PacketsPage& page = window->packets();
  const auto top = [&](const char* field) -> QTreeWidgetItem* {
    for (int i = 0; i < page.tree().topLevelItemCount(); ++i) {
      QTreeWidgetItem* item = page.tree().topLevelItem(i);
      if (item->data(0, PacketTreeView::field_role).toString() == QLatin1String(field)) return item;
    }
    return nullptr;
  };
  page.go_to(100);
  for (const char* carrier : {"frame.number", "eth", "ip", "udp"}) {
    ASSERT_NE(top(carrier), nullptr) << carrier;
    EXPECT_FALSE(top(carrier)->isExpanded()) << carrier;
  }
  ASSERT_NE(top("infiniband.bth"), nullptr);
  EXPECT_TRUE(top("infiniband.bth")->isExpanded());
  top("ip")->setExpanded(true);
  top("infiniband.bth")->setExpanded(false);
  page.go_to(101);
  EXPECT_TRUE(top("ip")->isExpanded());
  EXPECT_FALSE(top("infiniband.bth")->isExpanded());
  // A byte of what is closed opens it.
  page.bytes().byte_chosen(0);
  ASSERT_NE(page.tree().currentItem(), nullptr);
  EXPECT_EQ(page.tree().currentItem()->parent(), top("eth"));
  EXPECT_TRUE(top("eth")->isExpanded());
}

/// What is said of a packet needs no scrolling past its headers.
TEST(PacketsPage, TheTreeBeginsWithTheVerdict) {
  const auto window = make_window();
  open_packets(*window);
  PacketsPage& page = window->packets();
  page.go_to(100);
  const auto row_of = [&](const QString& start) {
    for (int i = 0; i < page.tree().topLevelItemCount(); ++i) {
      if (page.tree().topLevelItem(i)->text(0).startsWith(start)) return i;
    }
    return -1;
  };
  EXPECT_EQ(row_of(QStringLiteral("Frame 100")), 0);
  EXPECT_EQ(row_of(QStringLiteral("[RoCE analysis]")), 1);
  EXPECT_TRUE(page.tree().topLevelItem(1)->isExpanded());
  EXPECT_GT(page.tree().topLevelItem(1)->childCount(), 0);
  EXPECT_GT(row_of(QStringLiteral("Ethernet II")), 1);
}

TEST(PacketsPage, KeysMoveAndSelect) {
  const auto window = make_window();
  open_packets(*window);
  PacketListView& list = window->packets().list();
  const int last = window->packets().model().rowCount() - 1;
  list.setFocus();
  QTest::keyClick(&list, Qt::Key_Home);
  EXPECT_EQ(list.current_row(), 0);
  QTest::keyClick(&list, Qt::Key_Down, Qt::ShiftModifier);
  QTest::keyClick(&list, Qt::Key_Down, Qt::ShiftModifier);
  EXPECT_EQ(list.selected_count(), 3);
  QTest::keyClick(&list, Qt::Key_End);
  EXPECT_EQ(list.current_row(), last);
  EXPECT_EQ(list.first_visible_row(), list.verticalScrollBar()->maximum());
  QTest::keyClick(&list, Qt::Key_PageUp);
  EXPECT_LT(list.current_row(), last);
  QTest::keyClick(&list, Qt::Key_A, Qt::ControlModifier);
  EXPECT_EQ(list.selected_count(), last + 1);
  list.set_current_row(10);
  const int height = list.viewport()->height() / list.visible_rows();
  QTest::mouseClick(list.viewport(), Qt::LeftButton, Qt::ControlModifier, QPoint(200, height / 2));
  EXPECT_EQ(list.selected_count(), 2);
  window->packets().copy(PacketFormat::text);
  EXPECT_EQ(QApplication::clipboard()->text().count(QLatin1Char('\n')), 2);
  window->packets().copy(PacketFormat::csv);
  EXPECT_EQ(QApplication::clipboard()->text().count(QLatin1Char('\n')), 3);
  window->packets().copy(PacketFormat::json);
  EXPECT_TRUE(QApplication::clipboard()->text().startsWith(QLatin1Char('{')));
}

TEST(PacketsPage, AFilterIsJudgedWhileItIsTypedAndRemembered) {
  const auto window = make_window();
  open_packets(*window);
  PacketsPage& page = window->packets();
  QLineEdit* field = page.filter().field();
  const QColor neutral = field->palette().color(QPalette::Base);
  field->setText(QStringLiteral("infiniband.bth.psm == 1"));
  EXPECT_TRUE(page.filter().error().contains(QStringLiteral("infiniband.bth.psn")))
      << page.filter().error().toStdString();
  EXPECT_TRUE(page.status().contains(page.filter().error()));
  const QColor wrong = field->palette().color(QPalette::Base);
  EXPECT_NE(wrong, neutral);
  field->setText(QStringLiteral("roce.analysis.retransmission"));
  EXPECT_EQ(page.filter().error(), QString());
  EXPECT_NE(field->palette().color(QPalette::Base), wrong);
  const int all = page.model().rowCount();
  QTest::keyClick(field, Qt::Key_Return);
  ASSERT_TRUE(is_complete(page));
  EXPECT_LT(page.model().rowCount(), all);
  EXPECT_GT(page.model().rowCount(), 0);
  EXPECT_EQ(page.filter().history().front(), QStringLiteral("roce.analysis.retransmission"));
  page.filter().save(QStringLiteral("mine"), QStringLiteral("ip"));
  EXPECT_EQ(page.filter().saved().size(), 1);
  page.filter().save(QStringLiteral("mine"), {});
  EXPECT_TRUE(page.filter().saved().isEmpty());
  EXPECT_EQ(word_at(QStringLiteral("ip.src == 1"), 3), (QPair<int, int>(0, 6)));
  EXPECT_EQ(word_at(QStringLiteral("a && ip.d"), 9), (QPair<int, int>(5, 4)));
}

TEST(PacketsPage, EnterAppliesWhatIsTypedWhileNamesAreOffered) {
  const auto window = make_window();
  open_packets(*window);
  PacketsPage& page = window->packets();
  QLineEdit* field = page.filter().field();
  QAbstractItemView* names = page.filter().completer().popup();
  QSignalSpy applied(&page.filter(), &PacketFilterLine::applied);
  field->setFocus();
  QTest::keyClicks(field, QStringLiteral("roce.analysis.retransmission"));
  ASSERT_TRUE(names->isVisible()) << "two more names begin so";
  QTest::keyClick(names, Qt::Key_Return);
  EXPECT_FALSE(names->isVisible());
  ASSERT_EQ(applied.count(), 1);
  EXPECT_EQ(applied.front().front().toString(), QStringLiteral("roce.analysis.retransmission"));
  // With one of them chosen it is that name that is meant.
  field->clear();
  QTest::keyClicks(field, QStringLiteral("!roce.analysis.retransm"));
  ASSERT_TRUE(names->isVisible());
  QTest::keyClick(names, Qt::Key_Down);
  QTest::keyClick(names, Qt::Key_Down);
  const QString name = names->currentIndex().data().toString();
  QTest::keyClick(names, Qt::Key_Return);
  EXPECT_EQ(field->text(), QStringLiteral("!") + name);
  EXPECT_EQ(applied.count(), 1) << "not yet";
  QTest::keyClick(field, Qt::Key_Return);
  EXPECT_EQ(applied.count(), 2);
}

TEST(PacketsPage, APacketThatAnotherPageChoosesIsShown) {
  const auto window = make_window();
  open_packets(*window);
  PacketsPage& page = window->packets();
  window->selection().set_packet(300);
  EXPECT_EQ(page.model().number_of(page.list().current_row()), 300U);
  page.filter().apply(QStringLiteral("frame.number < 10"));
  ASSERT_TRUE(is_complete(page));
  window->selection().set_packet(400);
  EXPECT_EQ(page.filter().text(), QString()) << "it would hide the packet";
  EXPECT_EQ(page.model().number_of(page.list().current_row()), 400U);
  // The time range of the other pages.
  const std::int64_t time = page.model().packet(200)->frame->time_ns;
  window->selection().set_time(TimeSpan{time, time + 1000});
  ASSERT_TRUE(is_complete(page));
  EXPECT_EQ(page.model().number_of(0), 200U);
  window->selection().set_time({});
  ASSERT_TRUE(is_complete(page));
  EXPECT_EQ(static_cast<std::uint64_t>(page.model().rowCount()), window->session().packets()->size());
}

TEST(PacketsPage, JumpsToWhatIsRemarkable) {
  const auto window = make_window();
  open_packets(*window);
  PacketsPage& page = window->packets();
  page.list().set_current_row(0);
  action(*window, "next_retransmission")->trigger();
  const int first = page.list().current_row();
  EXPECT_TRUE(page.model().marks_of(first).has(PacketMarks::retransmission));
  action(*window, "next_retransmission")->trigger();
  action(*window, "previous_retransmission")->trigger();
  EXPECT_EQ(page.list().current_row(), first);
  const auto original = [&] { return page.model().related(*window->selection().packet()).original; };
  for (int i = 0; i < 1000 && original() == 0; ++i) action(*window, "next_retransmission")->trigger();
  const std::uint64_t repeated = original();
  ASSERT_NE(repeated, 0U);
  action(*window, "go_to_original")->trigger();
  EXPECT_EQ(*window->selection().packet(), repeated);

  const analyze::Finding& finding = window->session().snapshot()->findings.front();
  window->selection().set_finding(QString::fromStdString(finding_key(finding)));
  ASSERT_FALSE(finding.packets.empty());
  page.list().set_current_row(0);
  action(*window, "next_finding_packet")->trigger();
  EXPECT_NE(std::find(finding.packets.begin(), finding.packets.end(), *window->selection().packet()),
            finding.packets.end());

  page.set_questions({[](QWidget*, quint64 last) { return last; },
                      [](QWidget*, PacketFormat) { return QString(); },
                      [](QWidget*, const QString&, const QString&) { return std::optional<QString>(); }});
  action(*window, "go_to_packet")->trigger();
  EXPECT_EQ(page.list().current_row(), page.model().rowCount() - 1);

  page.list().set_current_row(first);
  page.follow_connection();
  ASSERT_TRUE(is_complete(page));
  EXPECT_TRUE(page.filter().text().startsWith(QStringLiteral("roce.connection == ")));
  EXPECT_TRUE(window->selection().connection());
}

TEST(PacketsPage, FindsWithoutHiding) {
  const auto window = make_window();
  open_packets(*window);
  PacketsPage& page = window->packets();
  const int all = page.model().rowCount();
  page.list().set_current_row(0);
  action(*window, "find")->trigger();
  auto* field = qobject_cast<QLineEdit*>(page.search_field());
  ASSERT_NE(field, nullptr);
  field->setText(QStringLiteral("roce.analysis.retransmission"));
  QTest::keyClick(field, Qt::Key_Return);
  ASSERT_TRUE(eventually([&] { return page.list().current_row() > 0; }));
  EXPECT_TRUE(page.model().marks_of(page.list().current_row()).has(PacketMarks::retransmission));
  EXPECT_EQ(page.model().rowCount(), all);
  // Behind the last one it begins again, and says so; the other way as well.
  const auto found = [&] { return page.model().number_of(page.list().current_row()); };
  const std::uint64_t first = found();
  const auto says = [&](const QString& text) {
    const auto labels = page.findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(),
                       [&](const QLabel* label) { return label->text().contains(text); });
  };
  EXPECT_FALSE(says(QStringLiteral("again")));
  page.list().set_current_row(all - 1);
  QTest::keyClick(field, Qt::Key_Return);
  EXPECT_TRUE(eventually([&] { return found() == first; }));
  EXPECT_TRUE(says(QStringLiteral("from the beginning again")));
  for (QToolButton* button : page.findChildren<QToolButton*>()) {
    if (button->text() == QStringLiteral("Previous") && button->isVisible()) button->click();
  }
  EXPECT_GT(found(), first);
  EXPECT_TRUE(page.model().marks_of(page.list().current_row()).has(PacketMarks::retransmission));
  EXPECT_TRUE(says(QStringLiteral("from the end again")));
  window->activateWindow();
  field->setFocus();
  ASSERT_TRUE(eventually([&] { return window->isActiveWindow(); }));
  ASSERT_TRUE(field->isVisible());
  QTest::keyClick(field, Qt::Key_Escape);
  EXPECT_FALSE(field->isVisible());
}

TEST(PacketsPage, AnyFieldCanBeAColumn) {
  const auto window = make_window();
  open_packets(*window);
  PacketsPage& page = window->packets();
  const QStringList before = page.model().column_names();
  page.list().set_current_row(7);
  page.apply_column(QStringLiteral("infiniband.aeth.msn"));
  EXPECT_TRUE(page.model().column_names().contains(QStringLiteral("infiniband.aeth.msn")));
  EXPECT_EQ(page.model().number_of(page.list().current_row()), 8U);
  const auto other = make_window();
  EXPECT_EQ(other->packets().model().column_names(), page.model().column_names()) << "kept";
  action(*window, "reset_columns")->trigger();
  EXPECT_EQ(page.model().column_names(), default_packet_columns());
  EXPECT_EQ(before.size(), default_packet_columns().size());
}

TEST(PacketsPage, ExportsWhatIsShown) {
  const auto window = make_window();
  open_packets(*window);
  PacketsPage& page = window->packets();
  page.filter().apply(QStringLiteral("roce.analysis.retransmission"));
  ASSERT_TRUE(is_complete(page));
  const QTemporaryDir folder;
  const QString path = folder.filePath(QStringLiteral("some.pcapng"));
  page.export_to(path, PacketFormat::pcapng, PacketsPage::Scope::shown);
  ASSERT_TRUE(eventually([&] { return window->message().startsWith(QStringLiteral("Written")); }));
  const auto rows = static_cast<std::uint64_t>(page.model().rowCount());
  const auto other = make_window();
  other->open({path});
  ASSERT_TRUE(has_ended(*other));
  EXPECT_EQ(other->session().packets()->size(), rows);
  page.export_to(window->session().files().front(), PacketFormat::pcapng, PacketsPage::Scope::shown);
  EXPECT_TRUE(window->message().contains(QStringLiteral("choose another name")));
}

TEST(PacketsPage, TheMapShowsWhatIsWhere) {
  const auto window = make_window();
  open_packets(*window);
  PacketListModel& model = window->packets().model();
  const std::vector<std::uint32_t> map = packet_map(model, 300);
  ASSERT_EQ(map.size(), 300U);
  for (int row = 0; row < model.rowCount(); ++row) {
    const auto bucket = static_cast<std::size_t>(qint64{row} * 300 / model.rowCount());
    const unsigned bit = 1U << static_cast<unsigned>(meaning_of(model.marks_of(row)));
    const bool there = (map[bucket] & bit) != 0 || (bucket > 0 && (map[bucket - 1] & bit) != 0) ||
                       (bucket + 1 < map.size() && (map[bucket + 1] & bit) != 0);
    EXPECT_TRUE(there) << row;
  }
}

TEST(PacketsPage, ClosingAndReloadingWhileAFilterLooks) {
  const auto window = make_window();
  open_packets(*window);
  PacketsPage& page = window->packets();
  for (int i = 0; i < 30; ++i) {
    page.filter().apply(QStringLiteral("infiniband.bth.psn > %1").arg(i));
    if (i % 3 == 0) action(*window, "reload")->trigger();
    if (i % 7 == 0) action(*window, "close")->trigger();
    QApplication::processEvents();
    if (i % 7 == 0) open_sample(*window, i % 2 == 0 ? lossy : "05_rnr_exhaust.pcap");
  }
  page.filter().apply({});
  ASSERT_TRUE(has_ended(*window));
  ASSERT_TRUE(is_complete(page));
  EXPECT_EQ(static_cast<std::uint64_t>(page.model().rowCount()), window->session().snapshot()->frames_read);
}

TEST(PacketsPage, KeepsAFilterThatHasNotYetComeToThePacketThatIsAskedFor) {
  const auto window = make_window();
  open_sample(*window, "04_write_loss1.cb.pcap.zst");
  PacketsPage& page = window->packets();
  ASSERT_TRUE(eventually([&] { return page.model().state().complete; }));
  page.filter().apply(QStringLiteral("roce.analysis.retransmission"));
  window->selection().set_packet(1003);  // which passes
  EXPECT_TRUE(eventually([&] { return page.model().state().complete; }));
  EXPECT_EQ(page.model().filter(), QStringLiteral("roce.analysis.retransmission"));
  const auto* list = page.findChild<PacketListView*>();
  EXPECT_EQ(page.model().number_of(list->current_row()), 1003U);
  // One that does not pass is seen all the same.
  page.filter().apply(QStringLiteral("roce.analysis.retransmission && frame.number > 1"));
  window->selection().set_packet(5);
  EXPECT_TRUE(eventually([&] { return page.model().number_of(list->current_row()) == 5U; }));
  EXPECT_EQ(page.model().filter(), QString());
}

}  // namespace
}  // namespace packets_page_test
}  // namespace roce::gui
