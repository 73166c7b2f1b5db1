// SPDX-License-Identifier: Apache-2.0
#include <QAbstractButton>
#include <QAction>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QScrollBar>
#include <QSet>
#include <QTemporaryDir>

#include "gui/models/details.hpp"
#include "gui/models/time_format.hpp"
#include "gui/pages/preferences_dialog.hpp"
#include "tests/gui/pages/window_support.hpp"

namespace roce::gui {
namespace habits_test {
namespace {

constexpr const char* lossy = "04_write_loss1.cb.pcap.zst";

/// What somebody who does not see the window hears of a widget.
QString spoken(const QWidget* widget) {
  if (!widget->accessibleName().isEmpty()) return widget->accessibleName();
  if (const auto* button = qobject_cast<const QAbstractButton*>(widget))
    return button->text().isEmpty() ? button->toolTip() : button->text();
  if (const auto* label = qobject_cast<const QLabel*>(widget)) return label->text();
  // The label before it names it.
  for (const QLabel* label : widget->window()->findChildren<QLabel*>()) {
    if (label->buddy() == widget) return label->text();
  }
  return {};
}

/// Whether a key or a click does something there.
bool is_operated(const QWidget* widget) {
  const auto* label = qobject_cast<const QLabel*>(widget);
  if (label != nullptr && label->text().isEmpty()) return false;  // nothing to be selected
  return widget->focusPolicy() != Qt::NoFocus && widget->isEnabled();
}

/// Parts of other widgets, which speak for them.
bool is_inner(const QWidget* widget) {
  if (widget->objectName().startsWith(QLatin1String("qt_"))) return true;
  return qobject_cast<const QScrollBar*>(widget) != nullptr ||
         widget->inherits("QComboBoxPrivateContainer") || widget->inherits("QComboBoxListView") ||
         widget->inherits("QHeaderView") || widget->inherits("QTabBar") ||
         qobject_cast<const QComboBox*>(widget->parent()) != nullptr ||
         widget->inherits("QTableCornerButton") || widget->inherits("QMenuBar") ||
         widget->inherits("QMenu") || widget->inherits("QDockWidget") || widget->inherits("QMainWindow") ||
         widget->inherits("QDialog") || qobject_cast<const QAbstractButton*>(widget->parent()) != nullptr ||
         widget->parent()->inherits("QLineEdit") || widget->parent()->inherits("QSpinBox") ||
         widget->parent()->inherits("QMenuBar");
}

QStringList nameless(const QWidget* top) {
  QStringList found;
  for (const QWidget* widget : top->findChildren<QWidget*>()) {
    if (!is_operated(widget) || is_inner(widget) || !spoken(widget).isEmpty()) continue;
    found << QStringLiteral("%1 \"%2\" in %3")
                 .arg(QString::fromLatin1(widget->metaObject()->className()), widget->objectName(),
                      QString::fromLatin1(widget->parent()->metaObject()->className()));
  }
  return found;
}

TEST(Accessibility, EveryWidgetHasAName) {
  const auto window = make_window();
  open_sample(*window, lossy);
  EXPECT_EQ(nameless(window.get()).join(QLatin1Char('\n')).toStdString(), "");
  const PreferencesDialog dialog{Preferences()};
  EXPECT_EQ(nameless(&dialog).join(QLatin1Char('\n')).toStdString(), "");
}

TEST(Accessibility, TabLeadsToEveryWidgetOfAPageAndBack) {
  const auto window = make_window();
  open_sample(*window, lossy);
  for (int page = 0; page < page_count; ++page) {
    window->show_page(static_cast<PageId>(page));
    QApplication::processEvents();
    QWidget* top = nullptr;
    for (QWidget* each : window->findChildren<Page*>()) {
      if (!each->visibleRegion().isEmpty()) top = each;
    }
    ASSERT_NE(top, nullptr);
    QSet<const QWidget*> wanted;
    for (const QWidget* widget : top->findChildren<QWidget*>()) {
      if ((widget->focusPolicy() & Qt::TabFocus) != 0 && widget->isVisible() && widget->isEnabled() &&
          widget->focusProxy() == nullptr)
        wanted.insert(widget);
    }
    // The ring of widgets that Tab follows.
    const QWidget* at = top;
    for (int steps = 0; steps < 3000 && !wanted.isEmpty(); ++steps) {
      at = at->nextInFocusChain();
      wanted.remove(at);
    }
    EXPECT_TRUE(wanted.isEmpty()) << page;
  }
}

/// Has a window that is in front, as focus is only there.
std::unique_ptr<MainWindow> make_active_window() {
  auto window = make_window();
  window->activateWindow();
  EXPECT_TRUE(QTest::qWaitForWindowActive(window.get()));
  return window;
}

TEST(Accessibility, KeysGoToThePageThatIsInFront) {
  const auto window = make_active_window();
  EXPECT_EQ(QApplication::focusWidget(), &window->overview().welcome());
  open_sample(*window, lossy);
  EXPECT_EQ(QApplication::focusWidget(), &window->overview().findings());
  for (int page = 0; page < page_count; ++page) {
    window->show_page(static_cast<PageId>(page));
    QApplication::processEvents();
    const QWidget* focus = QApplication::focusWidget();
    ASSERT_NE(focus, nullptr) << page;
    EXPECT_TRUE(focus->isVisible()) << page;
    EXPECT_EQ(qobject_cast<const Page*>(focus), nullptr) << page << ": a page itself takes no keys";
  }
  window->show_page(PageId::overview);
  window->findChild<QAction*>(QStringLiteral("close"))->trigger();
  EXPECT_EQ(QApplication::focusWidget(), &window->overview().welcome());
}

TEST(Accessibility, EnterLeadsFromTheFirstPageToThePacketsThatProveIt) {
  const auto window = make_active_window();
  open_sample(*window, lossy);
  const auto finding = window->session().snapshot()->findings.front();
  QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
  EXPECT_TRUE(window->findings().is_seen());
  QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
  EXPECT_TRUE(window->packets().is_seen());
  EXPECT_EQ(window->selection().packet(), finding.packets.front());
  // On from there in the list itself.
  QTest::keyClick(QApplication::focusWidget(), Qt::Key_Down);
  EXPECT_EQ(window->selection().packet(), finding.packets.front() + 1);
}

TEST(Habits, BeginsOnTheFirstPage) {
  {
    const auto window = make_window();
    window->show_page(PageId::connections);
    window->close();
  }
  const auto window = make_window();
  open_sample(*window, lossy);
  EXPECT_TRUE(window->overview().is_seen());
  EXPECT_FALSE(window->connections().is_seen());
}

TEST(Accessibility, EveryMenuEntryHasAKeyOfItsOwn) {
  const auto window = make_window();
  for (const QMenu* menu : window->findChildren<QMenu*>()) {
    if (menu->title().isEmpty() || menu->title() == QStringLiteral("&Pages shown")) continue;
    for (const QAction* action : menu->actions()) {
      const bool named = action->isSeparator() || action->text().contains(QLatin1Char('&'));
      // Names of policies and profiles are not ours to put marks into.
      if (!named && !action->data().isValid())
        ADD_FAILURE() << menu->title().toStdString() << ": " << action->text().toStdString();
    }
  }
}

TEST(Habits, PreferencesChangeTimesEverywhere) {
  const auto window = make_window();
  open_sample(*window, lossy);
  const analyze::Snapshot& s = *window->session().snapshot();
  Preferences p;
  p.theme = QStringLiteral("light");
  p.time = TimeDisplay::utc;
  window->take_preferences(p);
  ASSERT_TRUE(has_ended(*window));
  window->show_page(PageId::findings);
  window->findChild<QAction*>(QStringLiteral("next_finding"))->trigger();
  const auto* detail = window->findings().findChild<DetailView*>();
  EXPECT_TRUE(detail->toPlainText().contains(QStringLiteral("2026-11-20 10:48:07")));
  EXPECT_EQ(window->session().snapshot().get(), &s) << "times are shown otherwise, not read anew";
  // Also in the list, with all digits that the capture has, in a column that is wide enough.
  PacketsPage& packets = window->packets();
  const auto time_of = [&packets](int row) {
    const auto column = packets.model().column_names().indexOf(QStringLiteral("time"));
    EXPECT_GE(packets.list().header().sectionSize(static_cast<int>(column)),
              packets.fontMetrics().horizontalAdvance(
                  packets.model().index(row, static_cast<int>(column)).data().toString()));
    return packets.model().index(row, static_cast<int>(column)).data().toString();
  };
  ASSERT_TRUE(eventually([&] { return window->is_settled(); }));
  EXPECT_EQ(time_of(0), QStringLiteral("2026-11-20 10:48:06.299562482"));
  const std::int64_t first = s.totals.first_time_ns;
  EXPECT_EQ(short_time(first, first + 1), QStringLiteral("10:48:06.299562"));
  EXPECT_EQ(time_heading(), QStringLiteral("Time (UTC)"));
  // A window that is opened now begins so.
  EXPECT_EQ(make_window()->packets().model().time_format(), analyze::TimeFormat::utc_date);
  window->take_preferences(Preferences());
  ASSERT_TRUE(eventually([&] { return window->is_settled(); }));
  EXPECT_EQ(time_of(0), QStringLiteral("0.000000000"));
  EXPECT_EQ(short_time(first, first + 1'203'896'999), QStringLiteral("1.203896"));
  EXPECT_TRUE(detail->toPlainText().contains(QStringLiteral("+1.203896 s")));
}

TEST(Habits, PreferencesOfTheAnalysisReadAgain) {
  const auto window = make_window();
  open_sample(*window, lossy);
  EXPECT_TRUE(window->session().snapshot()->icrc_checked);
  Preferences p;
  p.check_icrc = false;
  p.jobs = 1;
  window->take_preferences(p);
  ASSERT_TRUE(has_ended(*window));
  EXPECT_FALSE(window->session().snapshot()->icrc_checked);
  // The next window begins with them.
  const auto other = make_window();
  open_sample(*other, lossy);
  EXPECT_FALSE(other->session().snapshot()->icrc_checked);
  window->take_preferences(Preferences());
  ASSERT_TRUE(has_ended(*window));
}

TEST(Habits, DialogGivesBackWhatItWasGiven) {
  Preferences p;
  p.theme = QStringLiteral("dark");
  p.time = TimeDisplay::local;
  p.check_icrc = false;
  p.jobs = 3;
  p.link_speed_bps = 12'345'000'000;  // of no row of its list
  p.policy = QStringLiteral("/some/policy.toml");
  p.dissecting = {"11,21", std::uint16_t{5000}, "falcon=7777"};
  const PreferencesDialog dialog(p);
  EXPECT_EQ(dialog.preferences(), p);
}

TEST(Habits, DialogTakesNoTextThatSaysNothing) {
  Preferences p;
  p.dissecting.trimmed_dscp = "64";
  PreferencesDialog dialog(p);
  auto* ok = dialog.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok);
  EXPECT_FALSE(ok->isEnabled());
  for (QLineEdit* field : dialog.findChildren<QLineEdit*>()) {
    if (field->text() == QLatin1String("64")) field->setText(QStringLiteral("11"));
  }
  EXPECT_TRUE(ok->isEnabled());
  EXPECT_EQ(dialog.preferences().dissecting.words(), " --trimmed-dscp 11");
}

TEST(Habits, PortOfMrcReadsAgain) {
  const auto window = make_window();
  open_sample(*window, lossy);
  Preferences p;
  p.dissecting.mrc_port = 5000;
  window->take_preferences(p);
  ASSERT_TRUE(has_ended(*window));
  EXPECT_EQ(window->session().packets()->dissecting().mrc_port, 5000);
  EXPECT_EQ(window->session().snapshot()->same_packets, " --mrc-port 5000");
  window->take_preferences(Preferences());
  ASSERT_TRUE(has_ended(*window));
}

TEST(Habits, ProfilesBringLayoutBack) {
  const auto window = make_window();
  auto& table = window->connections().table();
  table.setColumnHidden(3, true);
  window->keep_profile(QStringLiteral("few columns"));
  table.setColumnHidden(3, false);
  window->keep_profile(QStringLiteral("all columns"));
  window->use_profile(QStringLiteral("few columns"));
  EXPECT_TRUE(table.isColumnHidden(3));
  window->use_profile(QStringLiteral("all columns"));
  EXPECT_FALSE(table.isColumnHidden(3));
  window->use_profile(QStringLiteral("no such"));
  EXPECT_TRUE(window->message().contains(QStringLiteral("no such")));
}

TEST(Habits, OpensAWholeRing) {
  const QTemporaryDir folder;
  QStringList files;
  for (const char* name : {"r_00001_20261120110853.pcap", "r_00002_20261120110900.pcap"}) {
    files << folder.filePath(QString::fromLatin1(name));
    ASSERT_TRUE(QFile::copy(QString::fromStdString(sample("03_rping.pcap")), files.back()));
  }
  const auto window = make_window();
  window->open_ring();
  EXPECT_TRUE(window->message().contains(QStringLiteral("not part of a ring")));
  window->open({files.back()});
  ASSERT_TRUE(has_ended(*window));
  window->open_ring();
  ASSERT_TRUE(has_ended(*window));
  EXPECT_EQ(window->session().files(), files);
}

QMenu* recent_menu(MainWindow& window) {
  for (QMenu* menu : window.findChildren<QMenu*>()) {
    if (menu->title() == QStringLiteral("Open &recent")) return menu;
  }
  return nullptr;
}

TEST(Habits, RemembersFilesWithAnyName) {
  const QTemporaryDir folder;
  const QString odd = folder.filePath(QStringLiteral("two\nlines \x1b[2J & more.pcap"));
  const QString other = folder.filePath(QStringLiteral("other.pcap"));
  for (const QString& path : {odd, other})
    ASSERT_TRUE(QFile::copy(QString::fromStdString(sample("03_rping.pcap")), path));
  const auto window = make_window();
  window->open({odd, other});
  ASSERT_TRUE(has_ended(*window));
  const std::uint64_t packets = window->session().snapshot()->frames_read;
  window->close();
  const auto next = make_window();
  QMenu* recent = recent_menu(*next);
  ASSERT_NE(recent, nullptr);
  QAction* first = recent->actions().front();
  EXPECT_TRUE(first->text().contains(QStringLiteral("two\\nlines \\x1b[2J && more.pcap")))
      << first->text().toStdString();
  // The page of a window without a capture offers it as well.
  QLabel& welcome = next->overview().welcome();
  EXPECT_TRUE(welcome.text().contains(QStringLiteral("two\\nlines \\x1b[2J &amp; more.pcap")))
      << welcome.text().toStdString();
  Q_EMIT welcome.linkActivated(QStringLiteral("0"));
  ASSERT_TRUE(eventually([&] { return next->session().state() == AnalysisSession::State::done; }));
  EXPECT_EQ(next->session().files(), QStringList({odd, other}));
  next->findChild<QAction*>(QStringLiteral("close"))->trigger();
  first = recent->actions().front();
  first->trigger();
  ASSERT_TRUE(has_ended(*next));
  EXPECT_EQ(next->session().files(), QStringList({odd, other}));
  EXPECT_EQ(next->session().snapshot()->frames_read, packets);
}

TEST(Habits, MarksFilesThatAreGone) {
  const QTemporaryDir folder;
  const QString gone = folder.filePath(QStringLiteral("gone.pcap"));
  ASSERT_TRUE(QFile::copy(QString::fromStdString(sample("03_rping.pcap")), gone));
  const auto window = make_window();
  window->open({gone});
  ASSERT_TRUE(has_ended(*window));
  QFile::remove(gone);
  QMenu* recent = recent_menu(*window);
  ASSERT_NE(recent, nullptr);
  const auto marked = [](const QString& text) {
    return text.contains(QStringLiteral("gone.pcap (missing)"));
  };
  EXPECT_FALSE(marked(recent->actions().front()->text()));
  Q_EMIT recent->aboutToShow();
  EXPECT_TRUE(eventually([&] { return marked(recent->actions().front()->text()); }));
  EXPECT_TRUE(marked(window->overview().welcome().text()));
  // The page of a window without a capture tells it without having been asked.
  const auto next = make_window();
  EXPECT_TRUE(eventually([&] { return marked(next->overview().welcome().text()); }));
  // Also as it comes back into sight when the capture is closed, here with the file there again.
  ASSERT_TRUE(QFile::copy(QString::fromStdString(sample("03_rping.pcap")), gone));
  next->open({gone});
  ASSERT_TRUE(has_ended(*next));
  next->findChild<QAction*>(QStringLiteral("close"))->trigger();
  EXPECT_TRUE(eventually([&] { return !marked(next->overview().welcome().text()); }));
  EXPECT_TRUE(eventually([&] { return !marked(recent_menu(*next)->actions().front()->text()); }));
}

TEST(Habits, ListsNoFileThatCouldNotBeRead) {
  const QTemporaryDir folder;
  const QString text = folder.filePath(QStringLiteral("notes.txt"));
  QFile file(text);
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("this is no capture at all, only a few words\n");
  file.close();
  const auto window = make_window();
  window->open({text});
  ASSERT_TRUE(has_ended(*window));
  ASSERT_EQ(window->session().state(), AnalysisSession::State::failed);
  EXPECT_FALSE(window->overview().welcome().text().contains(QStringLiteral("notes.txt")));
  open_sample(*window, "03_rping.pcap");
  for (const QAction* action : recent_menu(*window)->actions())
    EXPECT_FALSE(action->text().contains(QStringLiteral("notes.txt"))) << action->text().toStdString();
}

TEST(Habits, ListsFilesThatAnotherWindowOpened) {
  const auto first = make_window();
  const auto second = make_window();
  open_sample(*first, "03_rping.pcap");
  QMenu* recent = recent_menu(*second);
  Q_EMIT recent->aboutToShow();
  EXPECT_TRUE(recent->actions().front()->text().contains(QStringLiteral("03_rping.pcap")));
  // Cleared there, they are gone everywhere.
  recent->actions().back()->trigger();
  EXPECT_TRUE(eventually([&] { return recent->actions().size() == 2; }));
  EXPECT_FALSE(second->overview().welcome().text().contains(QStringLiteral("rping")));
}

}  // namespace
}  // namespace habits_test
}  // namespace roce::gui
