// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/main_window.hpp"

#include <QClipboard>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFile>
#include <QHeaderView>
#include <QHoverEvent>
#include <QLabel>
#include <QMenuBar>
#include <QMimeData>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QTimer>
#include <QUrl>
#include <fstream>

#include "gui/models/details.hpp"
#include "gui/models/health.hpp"
#include "tests/gui/pages/window_support.hpp"

namespace roce::gui {
namespace main_window_test {
namespace {

constexpr const char* lossy = "04_write_loss1.cb.pcap.zst";

void each_action(const QMenu* menu, const std::function<void(QAction*)>& visit) {
  for (QAction* action : menu->actions()) {
    if (action->menu() != nullptr) {
      each_action(action->menu(), visit);
    } else if (!action->isSeparator()) {
      visit(action);
    }
  }
}

QAction* action(MainWindow& window, const char* name) {
  return window.findChild<QAction*>(QString::fromLatin1(name));
}

TEST(MainWindow, TellsTheValuesAtThePointerOfItsTimeline) {
  const auto window = make_window();
  open_sample(*window, "04_write_loss1.cb.pcap.zst");
  MasterTimeline& timeline = window->timeline();
  QString all;
  for (int x = 0; x < timeline.width(); ++x) all += timeline.values_at({x, timeline.height() / 2});
  for (const char* value : {"b/s on the wire", "b/s goodput", " lost", " repeated", " long"})
    EXPECT_TRUE(all.contains(QString::fromLatin1(value))) << value;
  EXPECT_TRUE(timeline.values_at({-5, 5}).isEmpty());
  EXPECT_TRUE(timeline.toolTip().isEmpty());  // no help in their way
}

TEST(MainWindow, OpensEveryPageForEverySample) {
  const auto window = make_window();
  for (const std::string& name : all_samples()) {
    SCOPED_TRACE(name);
    open_sample(*window, name);
    const analyze::Snapshot& s = *window->session().snapshot();
    EXPECT_EQ(window->overview().headline(), health_of(s).line);
    EXPECT_EQ(static_cast<std::size_t>(window->overview().findings().rows().rowCount()), s.findings.size());
    EXPECT_EQ(static_cast<std::size_t>(window->connections().table().rows().rowCount()),
              s.connections.size());
    EXPECT_EQ(static_cast<std::size_t>(window->markings().table().rows().rowCount()), s.markings.rows.size());
    for (int page = 0; page < page_count; ++page) {
      window->show_page(static_cast<PageId>(page));
      QApplication::processEvents();
    }
    if (!s.findings.empty()) {
      EXPECT_FALSE(window->selection().finding().isEmpty());
    }
  }
}

TEST(MainWindow, TriggersEveryActionOfEveryMenu) {
  // With a capture and without, for what an action does must not depend on luck.
  for (const bool with_capture : {false, true}) {
    const auto window = make_window();
    if (with_capture) open_sample(*window, lossy);
    QStringList names;
    for (QAction* top : window->menuBar()->actions())
      each_action(top->menu(), [&](QAction* a) { names << a->text(); });
    EXPECT_GT(names.size(), 25);
    for (const QString& name : names) {
      SCOPED_TRACE(name.toStdString());
      // "Quit" would close the window; and some actions make others.
      QAction* found = nullptr;
      for (QAction* top : window->menuBar()->actions()) {
        each_action(top->menu(), [&](QAction* a) {
          if (a->text() == name && a->objectName() != QLatin1String("quit")) found = a;
        });
      }
      if (found == nullptr) continue;
      // Whoever opens a dialog waits for it.
      QTimer::singleShot(0, [] {
        if (QWidget* dialog = QApplication::activeModalWidget()) dialog->close();
      });
      found->trigger();
      QApplication::processEvents();
      ASSERT_TRUE(has_ended(*window));
      for (QWidget* other : QApplication::topLevelWidgets()) {
        if (other != window.get() && qobject_cast<MainWindow*>(other) != nullptr) other->close();
      }
    }
    QApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    apply_theme(Theme::light);
  }
}

TEST(MainWindow, GivesEveryShortcutOnce) {
  const auto window = make_window();
  QMap<QString, QString> taken;
  for (QAction* top : window->menuBar()->actions()) {
    each_action(top->menu(), [&](QAction* a) {
      for (const QKeySequence& keys : a->shortcuts()) {
        EXPECT_FALSE(taken.contains(keys.toString()))
            << keys.toString().toStdString() << " of " << a->text().toStdString();
        taken[keys.toString()] = a->text();
      }
    });
  }
  for (const char* keys : {"Ctrl+O", "Ctrl+R", "Ctrl+W", "Ctrl+Q", "Ctrl+F", "Ctrl+C", "F11", "Alt+1"})
    EXPECT_TRUE(taken.contains(QString::fromLatin1(keys))) << keys;
}

TEST(MainWindow, LeadsFromAFindingToItsConnectionAndItsCommand) {
  const auto window = make_window();
  open_sample(*window, lossy);
  const analyze::Finding& worst = window->session().snapshot()->findings.front();
  // First step: the finding; its text is there.
  window->overview().findings().setCurrentIndex(window->overview().findings().rows().index(0, 0));
  Q_EMIT window->overview().findings().row_activated();
  EXPECT_FALSE(window->findings().visibleRegion().isEmpty());
  const auto* detail = window->findings().findChild<DetailView*>();
  EXPECT_TRUE(detail->toPlainText().contains(QString::fromStdString(worst.explanation)));
  // Second step: the command that shows its packets.
  action(*window, "copy_command")->trigger();
  EXPECT_EQ(QApplication::clipboard()->text(),
            finding_commands(worst, window->session().files()).join(QLatin1Char('\n')));
  EXPECT_TRUE(QApplication::clipboard()->text().contains(QString::fromStdString(lossy)));
  // Or the connection.
  Q_EMIT const_cast<DetailView*>(detail)->anchorClicked(QUrl(QStringLiteral("connection:0")));
  EXPECT_FALSE(window->connections().visibleRegion().isEmpty());
  EXPECT_EQ(window->selection().connection(), 0U);
}

TEST(MainWindow, LeadsFromAHostToItsConnections) {
  const auto window = make_window();
  open_sample(*window, "11_three_hosts.pcap.zst");
  auto& hosts = window->overview().hosts();
  hosts.setCurrentIndex(hosts.rows().index(0, 0));
  const auto wanted = hosts.currentIndex().data(TableModelBase::key_role).toString();
  Q_EMIT hosts.row_activated();
  auto& table = window->connections().table();
  ASSERT_GT(table.rows().rowCount(), 0);
  EXPECT_LT(table.rows().rowCount(), table.rows().all_rows());
  for (int row = 0; row < table.rows().rowCount(); ++row) {
    const auto cell = [&](std::string_view name) {
      return table.rows().index(row, table.rows().column_of(name)).data().toString();
    };
    EXPECT_TRUE(cell("a") == wanted || cell("b") == wanted);
  }
}

TEST(MainWindow, ChoosesATimeRangeByDragging) {
  const auto window = make_window();
  open_sample(*window, lossy);
  MasterTimeline& timeline = window->timeline();
  const QRect inside = timeline.plot_rect();
  const auto drag = [&](int from, int to) {
    QTest::mousePress(&timeline, Qt::LeftButton, {}, QPoint(from, inside.center().y()));
    QTest::mouseMove(&timeline, QPoint((from + to) / 2, inside.center().y() + 2));
    QTest::mouseMove(&timeline, QPoint(to, inside.center().y() + 4));
    QTest::mouseRelease(&timeline, Qt::LeftButton, {}, QPoint(to, inside.center().y() + 4));
  };
  drag(inside.left() + inside.width() / 4, inside.left() + inside.width() / 2);
  ASSERT_TRUE(window->selection().time());
  const TimeSpan span = *window->selection().time();
  const analyze::Totals& totals = window->session().snapshot()->totals;
  EXPECT_GT(span.from, totals.first_time_ns);
  EXPECT_LT(span.to, totals.last_time_ns);
  action(*window, "clear")->trigger();
  EXPECT_FALSE(window->selection().time());
}

TEST(MainWindow, LeadsOnFromFactsAndTimes) {
  const auto window = make_window();
  open_sample(*window, "04_write_corrupt.cb.pcap.zst");
  PacketsPage& packets = window->packets();
  DetailView& facts = window->overview().facts();
  const auto follow = [&](const QString& name) {
    window->show_page(PageId::overview);
    static const QRegularExpression link(QStringLiteral("<a href=\"([^\"]*)\">([^<]*)</a>"));
    for (auto found = link.globalMatch(facts.html()); found.hasNext();) {
      const QRegularExpressionMatch one = found.next();
      if (one.captured(2) == name) Q_EMIT facts.anchorClicked(QUrl(one.captured(1)));
    }
    return eventually([&] { return packets.model().state().complete; });
  };
  const analyze::Totals totals = window->session().snapshot()->totals;
  const std::pair<QString, std::uint64_t> rows[] = {
      {QStringLiteral("RoCE"), totals.roce_packets},
      {QStringLiteral("Not&nbsp;RoCE"), totals.packets - totals.roce_packets},
      {QStringLiteral("ICRC"), totals.icrc[1]},
      {QStringLiteral("Opcodes"), totals.roce_packets},
      {QStringLiteral("Packets"), totals.packets}};
  for (const auto& [name, count] : rows) {
    ASSERT_TRUE(follow(name)) << name.toStdString();
    EXPECT_FALSE(packets.visibleRegion().isEmpty()) << name.toStdString();
    EXPECT_GT(count, 0U) << name.toStdString();
    EXPECT_EQ(static_cast<std::uint64_t>(packets.model().rowCount()), count) << name.toStdString();
  }
  ASSERT_TRUE(follow(QStringLiteral("Markings")));
  EXPECT_FALSE(window->markings().visibleRegion().isEmpty());
  window->show_page(PageId::overview);
  QAction* show = window->timeline().actions().front();
  EXPECT_FALSE(show->isEnabled());
  window->selection().set_time(TimeSpan{totals.first_time_ns, totals.first_time_ns + 1});
  ASSERT_TRUE(show->isEnabled());
  show->trigger();
  EXPECT_FALSE(packets.visibleRegion().isEmpty());
  ASSERT_TRUE(eventually([&] { return packets.model().state().complete; }));
  EXPECT_LT(static_cast<std::uint64_t>(packets.model().rowCount()), totals.packets);
}

TEST(MainWindow, LimitsAllPagesToTheChosenTime) {
  const auto window = make_window();
  open_sample(*window, "11_three_hosts.pcap.zst");  // two connections, one after the other
  const analyze::Snapshot& snapshot = *window->session().snapshot();
  ASSERT_EQ(snapshot.connections.size(), 2U);
  const analyze::Connection& second = snapshot.connections[1];
  ASSERT_GT(second.first_time_ns, snapshot.connections[0].last_time_ns);
  const auto chip_of = [](QWidget& page) {
    auto* chip = page.findChild<TimeChip*>();
    EXPECT_NE(chip, nullptr);
    return chip;
  };
  QWidget* const pages[] = {&window->overview(), &window->packets(), &window->findings(),
                            &window->connections()};
  for (QWidget* page : pages) EXPECT_TRUE(chip_of(*page)->isHidden());
  window->selection().set_time(TimeSpan{second.first_time_ns, second.last_time_ns});
  for (QWidget* page : pages) EXPECT_FALSE(chip_of(*page)->isHidden());
  QAbstractItemModel& all = window->connections().table().rows();
  QAbstractItemModel& worst = window->overview().connections().rows();
  QAbstractItemModel& hosts = window->overview().hosts().rows();
  ASSERT_EQ(all.rowCount(), 1);
  EXPECT_EQ(all.index(0, 0).data(TableModelBase::id_role).toULongLong(), 1U);
  ASSERT_EQ(worst.rowCount(), 1);
  EXPECT_EQ(worst.index(0, 0).data(TableModelBase::id_role).toULongLong(), 1U);
  EXPECT_EQ(hosts.rowCount(), 2);
  EXPECT_LT(window->packets().model().rowCount(), static_cast<int>(snapshot.frames_read));
  // A click on one page shows all there, and there alone.
  chip_of(window->connections())->click();
  EXPECT_EQ(all.rowCount(), 2);
  EXPECT_EQ(worst.rowCount(), 1);
  chip_of(window->overview())->click();
  EXPECT_EQ(worst.rowCount(), 2);
  EXPECT_EQ(hosts.rowCount(), 3);
  // Whoever chooses another range means all pages, and whoever takes it back.
  window->selection().set_time(
      TimeSpan{snapshot.connections[0].first_time_ns, snapshot.connections[0].last_time_ns});
  EXPECT_EQ(all.rowCount(), 1);
  EXPECT_EQ(worst.rowCount(), 1);
  // A packet of another time is shown all the same, and why more than the range is listed is told.
  window->selection().set_packet(snapshot.frames_read);
  EXPECT_TRUE(eventually([&] { return !chip_of(window->packets())->isChecked(); }));
  EXPECT_TRUE(window->message().contains(QStringLiteral("not in the time range")))
      << window->message().toStdString();
  action(*window, "clear")->trigger();
  EXPECT_EQ(all.rowCount(), 2);
  EXPECT_EQ(worst.rowCount(), 2);
  for (QWidget* page : pages) EXPECT_TRUE(chip_of(*page)->isHidden());
}

TEST(MainWindow, SaysWhyNothingIsListedInARangeWhereNothingWas) {
  const auto window = make_window();
  open_sample(*window, lossy);
  const PacketListView& list = *window->packets().findChild<PacketListView*>();
  EXPECT_TRUE(window->overview().findings().empty_text().isEmpty());
  window->selection().set_time(TimeSpan{1, 2});  // of 1970
  ASSERT_TRUE(eventually([&] { return window->packets().model().state().complete; }));
  EXPECT_EQ(list.empty_text(), QStringLiteral("No packet in the time range"));
  EXPECT_TRUE(window->overview().findings().empty_text().startsWith(QStringLiteral("None of 3 ")));
  EXPECT_TRUE(window->connections().table().empty_text().startsWith(QStringLiteral("None of 1 ")));
  window->show_page(PageId::findings);
  EXPECT_TRUE(window->findings().empty_text().startsWith(QStringLiteral("None of 3 ")));
  window->findings().step(1);
  EXPECT_EQ(window->message(), window->findings().empty_text());
  window->packets().filter().apply(QStringLiteral("infiniband"));
  ASSERT_TRUE(eventually([&] { return window->packets().model().state().complete; }));
  EXPECT_EQ(list.empty_text(), QStringLiteral("No packet in the time range matches the filter"));
  window->selection().set_time({});
  window->packets().filter().apply(QStringLiteral("infiniband && frame.number == 1"));
  ASSERT_TRUE(eventually([&] { return window->packets().model().state().complete; }));
  EXPECT_EQ(list.empty_text(), QStringLiteral("No packet matches the filter"));
}

TEST(MainWindow, SaysWhatIsWrongWithAFile) {
  const QTemporaryDir folder;
  const std::string text = folder.filePath(QStringLiteral("notes <b>.txt")).toStdString();
  std::ofstream(text) << "this is no capture, and long enough to tell";
  const auto window = make_window();
  for (const std::string& path : {std::string("/nowhere/at/all.pcap"), text}) {
    window->open({QString::fromStdString(path)});
    ASSERT_TRUE(has_ended(*window));
    EXPECT_TRUE(window->message().contains(QString::fromStdString(path)));
    EXPECT_EQ(window->overview().headline(), QStringLiteral("Nothing could be read"));
  }
  open_sample(*window, lossy);
  action(*window, "close")->trigger();
  EXPECT_EQ(window->connections().table().rows().rowCount(), 0);
  EXPECT_TRUE(window->overview().headline().isEmpty());
}

TEST(MainWindow, ShowsNoGoodSignForACaptureThatWasCut) {
  const auto window = make_window();
  const auto sign = [&] {
    const auto* label = window->overview().findChild<QLabel*>(QStringLiteral("sign"));
    return label->isVisible() ? label->accessibleName() : QString();
  };
  open_sample(*window, "06_flush.pcap");
  EXPECT_EQ(sign(), QStringLiteral("healthy"));
  const QTemporaryDir folder;
  const QString path = folder.filePath(QStringLiteral("cut.pcap"));
  ASSERT_TRUE(QFile::copy(QString::fromStdString(sample("06_flush.pcap")), path));
  QFile file(path);
  ASSERT_TRUE(file.resize(file.size() - 7));
  window->open({path});
  ASSERT_TRUE(has_ended(*window));
  EXPECT_EQ(sign(), QStringLiteral("odd"));
  EXPECT_TRUE(window->overview().headline().contains(QStringLiteral("not all of the capture")));
  EXPECT_EQ(window->message(), window->overview().headline());
}

TEST(MainWindow, SaysThingsForAWhileOnly) {
  const auto window = make_window();
  open_sample(*window, "06_flush.pcap");
  const QString stands = window->message();
  EXPECT_EQ(stands, window->overview().headline());
  auto* said = window->findChild<QTimer*>(QStringLiteral("said"));
  ASSERT_NE(said, nullptr);
  EXPECT_FALSE(said->isActive());
  EXPECT_FALSE(window->choose_policy(QStringLiteral("/nowhere/no such policy.toml")));
  EXPECT_NE(window->message(), stands);
  EXPECT_TRUE(said->isActive());
  said->start(0);  // its time is over
  EXPECT_TRUE(eventually([&] { return window->message() == stands; }));
  // What was said of one capture is not said of the next.
  EXPECT_FALSE(window->choose_policy(QStringLiteral("/nowhere/no such policy.toml")));
  open_sample(*window, "03_rping.pcap");
  EXPECT_EQ(window->message(), window->overview().headline());
  EXPECT_FALSE(said->isActive());
}

TEST(MainWindow, ClosesWhileItReads) {
  for (int i = 0; i < 6; ++i) {
    const auto window = make_window();
    window->open({QString::fromStdString(sample(lossy))});
    if (i % 2 == 1) QApplication::processEvents();
    if (i % 3 == 2) window->open({QString::fromStdString(sample("03_rping.pcap"))});
    window->close();
  }
  QApplication::processEvents();
}

TEST(MainWindow, FiltersAHundredTimesQuickly) {
  const auto window = make_window();
  open_sample(*window, "06_mix_4qp.pcap.zst");
  auto& table = window->connections().table();
  for (int i = 0; i < 100; ++i) {
    window->connections().search(i % 2 == 0 ? QStringLiteral("10.77.0.%1").arg(i % 5) : QString());
    if (i == 50) window->session().reload();
    if (i % 10 == 0) QApplication::processEvents();
  }
  ASSERT_TRUE(has_ended(*window));
  window->connections().search({});
  EXPECT_EQ(table.rows().rowCount(), table.rows().all_rows());
}

TEST(MainWindow, HasHandlesOnlyWhereSomethingCanBeResized) {
  const auto window = make_window();
  open_sample(*window, lossy);
  auto* packets = window->findChild<QDockWidget*>(QStringLiteral("packets"));
  auto* overview = window->findChild<QDockWidget*>(QStringLiteral("overview"));
  const auto shape_at = [&](const QPoint& at) {
    QHoverEvent hover(QEvent::HoverMove, at, window->mapToGlobal(at), at - QPoint(1, 0));
    QApplication::sendEvent(window.get(), &hover);
    return window->cursor().shape();
  };
  // Below the pages, where the status bar is: nothing of the window's own.
  const QRect below(0, overview->geometry().bottom() + 1, window->width(), 8);
  EXPECT_EQ(shape_at(below.center()), Qt::ArrowCursor);
  QImage strip(below.size(), QImage::Format_RGB32);
  window->render(&strip, QPoint(), below, QWidget::DrawWindowBackground);
  for (int x = 0; x < strip.width(); ++x) {
    for (int y = 0; y < strip.height(); ++y) ASSERT_EQ(strip.pixel(x, y), strip.pixel(0, 0)) << x << ' ' << y;
  }
  // Of two pages below each other both can be resized.
  window->addDockWidget(Qt::BottomDockWidgetArea, packets);
  QApplication::processEvents();
  const int above = overview->geometry().bottom(), under = packets->geometry().top();
  ASSERT_LT(above, under);
  EXPECT_EQ(shape_at({window->width() / 2, (above + under + 1) / 2}), Qt::SplitVCursor);
  EXPECT_EQ(shape_at({window->width() / 2, packets->geometry().bottom() + 3}), Qt::ArrowCursor);
}

TEST(MainWindow, TakesDroppedFiles) {
  const auto window = make_window();
  QMimeData data;
  data.setUrls({QUrl::fromLocalFile(QString::fromStdString(sample(lossy)))});
  QDragEnterEvent enter(QPoint(10, 10), Qt::CopyAction, &data, Qt::LeftButton, {});
  QApplication::sendEvent(window.get(), &enter);
  EXPECT_TRUE(enter.isAccepted());
  QDropEvent event(QPointF(10, 10), Qt::CopyAction, &data, Qt::LeftButton, {});
  QApplication::sendEvent(window.get(), &event);
  EXPECT_EQ(window->session().state(), AnalysisSession::State::loading);
  ASSERT_TRUE(has_ended(*window));
  EXPECT_TRUE(window->windowTitle().contains(QString::fromStdString(lossy)));
}

TEST(MainWindow, RemembersFilesAndLayout) {
  {
    const auto window = make_window();
    open_sample(*window, lossy);
    window->resize(1111, 777);
    window->connections().table().setColumnHidden(5, true);
    window->close();
  }
  const auto window = make_window();
  EXPECT_EQ(window->size(), QSize(1111, 777));
  EXPECT_TRUE(window->connections().table().isColumnHidden(5));
  const QStringList recent = settings().value(QStringLiteral("recent")).toStringList();
  ASSERT_FALSE(recent.isEmpty());
  EXPECT_TRUE(recent.front().endsWith(QString::fromStdString(lossy)));
}

TEST(MainWindow, BeginsWithTheWorstHoweverTheLastOneWasSorted) {
  const auto first_row = [](MainWindow& window) {
    return window.overview().findings().rows().index(0, 0).data().toString();
  };
  QString worst;
  {
    const auto window = make_window();
    open_sample(*window, lossy);
    worst = first_row(*window);
    window->overview().findings().sortByColumn(0, Qt::AscendingOrder);
    ASSERT_TRUE(eventually([&] { return first_row(*window) != worst; }));
    window->close();
  }
  const auto window = make_window();
  open_sample(*window, lossy);
  EXPECT_EQ(first_row(*window), worst);
  EXPECT_EQ(window->overview().findings().horizontalHeader()->sortIndicatorSection(), -1);
}

TEST(MainWindow, KeepsThePolicyItHasIfAnotherIsWrong) {
  const QTemporaryDir folder;
  const QString wrong = folder.filePath(QStringLiteral("wrong.toml"));
  std::ofstream(wrong.toStdString()) << "[class.data\n";
  const auto window = make_window();
  open_sample(*window, "02_write_bw_tclass106.pcap.zst");
  const auto profile = to_qt(analyze::policy_profiles().front().name);
  EXPECT_TRUE(window->choose_policy(profile));
  ASSERT_TRUE(has_ended(*window));
  EXPECT_FALSE(window->choose_policy(wrong));
  EXPECT_TRUE(window->message().contains(wrong));
  EXPECT_TRUE(window->session().policy());
  EXPECT_TRUE(window->choose_policy({}));
  ASSERT_TRUE(has_ended(*window));
  EXPECT_FALSE(window->session().snapshot()->policy);
}

}  // namespace
}  // namespace main_window_test
}  // namespace roce::gui
