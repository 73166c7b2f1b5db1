// SPDX-License-Identifier: Apache-2.0
// Comments as the user meets them.
#include <QInputDialog>
#include <QPlainTextEdit>
#include <QTemporaryDir>
#include <QTimer>

#include "tests/gui/commented.hpp"
#include "tests/gui/pages/window_support.hpp"

namespace roce::gui {
namespace packet_comments_test {
namespace {

constexpr const char* pingpong = "01_rc_pingpong_s1.pcap";

QAction* action(MainWindow& window, const char* name) {
  return window.findChild<QAction*>(QString::fromLatin1(name));
}

/// Answers every question about a comment so, and about files with `path`.
void answer(MainWindow& window, const QString& comment, const QString& path = {}) {
  window.packets().set_questions({[](QWidget*, quint64) { return quint64{0}; },
                                  [path](QWidget*, PacketFormat) { return path; },
                                  [comment](QWidget*, const QString&, const QString&) {
                                    return comment.isNull() ? std::nullopt : std::optional(comment);
                                  }});
}

void answer_unsaved(MainWindow& window, MainWindow::Unsaved unsaved) {
  window.set_questions({[](QWidget*) { return QStringList(); }, [](QWidget*) { return QString(); },
                        [](QWidget*) {}, [unsaved](QWidget*, const QString&) { return unsaved; },
                        [](QWidget*, const QString&) { return true; }});
}

TEST(CommentsPage, LetTheKeyboardOutOfTheirField) {
  const auto window = make_window();
  open_sample(*window, pingpong);
  PacketsPage& page = window->packets();
  window->show_page(PageId::packets);
  page.list().set_current_row(4);
  bool left = false;
  QTimer::singleShot(0, [&left] {
    auto* dialog = qobject_cast<QInputDialog*>(QApplication::activeModalWidget());
    ASSERT_NE(dialog, nullptr);
    auto* field = dialog->findChild<QPlainTextEdit*>();
    QTest::keyClicks(field, QStringLiteral("late"));
    QTest::keyClick(field, Qt::Key_Tab);  // leaves the field
    left = dialog->focusWidget() != field;
    dialog->accept();
  });
  action(*window, "add_comment")->trigger();
  EXPECT_TRUE(left);
  EXPECT_EQ(page.comments(5), QStringList{QStringLiteral("late")});
}

TEST(CommentsPage, AreWrittenEditedAndRemoved) {
  const auto window = make_window();
  open_sample(*window, pingpong);
  PacketsPage& page = window->packets();
  window->show_page(PageId::packets);
  EXPECT_EQ(action(*window, "add_comment")->shortcut(), QKeySequence(Qt::CTRL | Qt::ALT | Qt::Key_C));
  page.list().set_current_row(4);
  answer(*window, QStringLiteral("why <b>so</b> late?"));
  action(*window, "add_comment")->trigger();
  EXPECT_EQ(page.comments(5), QStringList{QStringLiteral("why <b>so</b> late?")});
  EXPECT_TRUE(window->isWindowModified());
  EXPECT_EQ(page.tree().topLevelItem(0)->text(0), QStringLiteral("Packet comments"));
  EXPECT_EQ(page.tree().topLevelItem(0)->child(0)->text(0), QStringLiteral("why <b>so</b> late?"));

  // A second one, and the first one changed by the menu that shows them.
  answer(*window, QStringLiteral("asked"));
  action(*window, "add_comment")->trigger();
  EXPECT_EQ(page.comments(5).size(), 2);
  auto* menu = qobject_cast<QMenu*>(action(*window, "add_comment")->parent());
  ASSERT_NE(menu, nullptr);
  Q_EMIT menu->aboutToShow();
  QMenu* edit = menu->findChild<QMenu*>();
  ASSERT_NE(edit, nullptr);
  ASSERT_EQ(edit->actions().size(), 2);
  answer(*window, QStringLiteral("solved"));
  edit->actions()[0]->trigger();
  EXPECT_EQ(page.comments(5), (QStringList{QStringLiteral("solved"), QStringLiteral("asked")}));

  // Whoever gives no answer, an empty one, or one that no capture can hold, changes nothing.
  for (const QString& text : {QString(), QStringLiteral("  "), QString(70'000, QLatin1Char('x'))}) {
    answer(*window, text);
    action(*window, "add_comment")->trigger();
    EXPECT_EQ(page.comments(5).size(), 2);
  }
  EXPECT_TRUE(window->message().contains(QStringLiteral("65535"))) << window->message().toStdString();

  page.list().select_all();
  answer(*window, QStringLiteral("all"));
  action(*window, "add_comment")->trigger();
  EXPECT_EQ(page.comments(5).size(), 3);
  EXPECT_EQ(page.comments(144), QStringList{QStringLiteral("all")});
  action(*window, "remove_comments")->trigger();
  EXPECT_EQ(page.comments(5), QStringList());
  action(*window, "show_commented")->trigger();
  ASSERT_TRUE(eventually([&] { return page.model().state().complete; }));
  EXPECT_EQ(page.model().rowCount(), 0);
}

TEST(CommentsPage, Screenshots) {
  const QTemporaryDir folder;
  const QString path = folder.filePath(QStringLiteral("c.pcapng"));
  ASSERT_TRUE(
      write_commented(pingpong, path.toStdString(),
                      {{9, {"why so late?"}}, {12, {"asked the owner", "a slow disk"}}, {17, {"ok"}}}));
  const QString pictures = screenshots();
  for (const Theme theme : {Theme::light, Theme::dark}) {
    apply_theme(theme);
    const auto window = make_window();
    window->open({path});
    ASSERT_TRUE(has_ended(*window));
    window->show_page(PageId::packets);
    window->packets().apply_column(QStringLiteral("frame.comment"));
    window->packets().list().set_current_row(11);
    QApplication::processEvents();
    EXPECT_TRUE(
        window->grab().save(QStringLiteral("%1/comments-packets-%2.png").arg(pictures, theme_name(theme))));
    action(*window, "reset_columns")->trigger();
  }
  apply_theme(Theme::light);
}

TEST(CommentsPage, OfTheCaptureAsAWholeAreSavedWithIt) {
  const QTemporaryDir folder;
  const QString commented = folder.filePath(QStringLiteral("commented.pcapng"));
  const QString saved = folder.filePath(QStringLiteral("saved.pcapng"));
  ASSERT_TRUE(write_commented(pingpong, commented.toStdString(), {{3, {"late"}}}, {"taken in rack 12"}));
  const auto window = make_window();
  window->open({commented});
  ASSERT_TRUE(has_ended(*window));
  answer(*window, {}, saved);
  action(*window, "save_capture")->trigger();
  ASSERT_TRUE(eventually([&] {
    return window->message().startsWith(QStringLiteral("Written: 144 packets"));
  })) << window->message().toStdString();
  auto source = capture::open_files({saved.toStdString()});
  ASSERT_TRUE(source);
  capture::FrameBatch batch;
  while ((*source)->next_batch(batch, 1000).value_or(0) != 0) {
  }
  EXPECT_EQ(batch.frames.size(), 144U);
  ASSERT_EQ(batch.comments.size(), 1U);
  EXPECT_EQ((*source)->files().front().comment, "taken in rack 12");
}

TEST(CommentsPage, AreSavedOrAskedFor) {
  const QTemporaryDir folder;
  const QString saved = folder.filePath(QStringLiteral("saved.pcapng"));
  const auto window = make_window();
  open_sample(*window, pingpong);
  PacketsPage& page = window->packets();
  page.list().set_current_row(6);
  answer(*window, QStringLiteral("kept"));
  action(*window, "add_comment")->trigger();

  answer_unsaved(*window, MainWindow::Unsaved::keep);
  EXPECT_FALSE(window->close());
  action(*window, "close")->trigger();
  action(*window, "reload")->trigger();
  window->open({QString::fromStdString(sample("05_rnr_exhaust.pcap"))});
  EXPECT_EQ(page.comments(7), QStringList{QStringLiteral("kept")}) << "nothing was let go of";
  EXPECT_TRUE(window->isVisible());

  // A filter does not keep packets out of the file.
  page.filter().apply(QStringLiteral("frame.number == 1"));
  ASSERT_TRUE(eventually([&] { return page.model().state().complete; }));
  answer_unsaved(*window, MainWindow::Unsaved::save);
  answer(*window, {}, saved);
  EXPECT_FALSE(window->close()) << "it is being written";
  ASSERT_TRUE(eventually([&] { return !window->isVisible(); })) << "and closes then";
  const auto other = make_window();
  other->open({saved});
  ASSERT_TRUE(has_ended(*other));
  EXPECT_EQ(other->session().packets()->size(), 144U);
  EXPECT_EQ(other->packets().comments(7), QStringList{QStringLiteral("kept")});
  EXPECT_FALSE(other->isWindowModified());

  // Nothing to ask where all is saved, and nothing is lost where the file cannot be written.
  answer(*other, QStringLiteral("second"));
  other->packets().list().set_current_row(0);
  action(*other, "add_comment")->trigger();
  answer(*other, {}, folder.filePath(QStringLiteral("none/there.pcapng")));
  answer_unsaved(*other, MainWindow::Unsaved::save);
  EXPECT_FALSE(other->close());
  ASSERT_TRUE(eventually([&] { return other->message().startsWith(QStringLiteral("Not written")); }));
  EXPECT_TRUE(other->isVisible());
  EXPECT_TRUE(other->isWindowModified());
  answer(*other, {}, folder.filePath(QStringLiteral("second.pcapng")));
  action(*other, "save_capture")->trigger();
  ASSERT_TRUE(eventually([&] { return !other->isWindowModified(); }));
  EXPECT_TRUE(other->isVisible()) << "it was only to be saved";
  answer_unsaved(*other, MainWindow::Unsaved::keep);
  EXPECT_TRUE(other->close());
}

}  // namespace
}  // namespace packet_comments_test
}  // namespace roce::gui
