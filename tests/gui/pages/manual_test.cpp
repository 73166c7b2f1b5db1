// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/manual.hpp"

#include <QDir>
#include <QFile>
#include <QRegularExpression>
#include <QTextBlock>
#include <QUrl>

#include "gui/models/tables.hpp"
#include "tests/gui/pages/window_support.hpp"

namespace roce::gui {
namespace {

std::string shown_text(Manual& manual) {
  return manual.text().toPlainText().toStdString();
}

TEST(Manual, HasEveryChapterOfItsContents) {
  Manual manual;
  manual.set_keys(QStringLiteral("<h1>Keys</h1>"));
  ASSERT_GT(manual.contents().count(), 30);
  for (int i = 0; i < manual.contents().count(); ++i) {
    const QString chapter = manual.contents().item(i)->data(Qt::UserRole).toString();
    manual.contents().setCurrentRow(i);
    EXPECT_EQ(manual.chapter(), chapter);
    EXPECT_EQ(shown_text(manual).find("is not part of the manual"), std::string::npos)
        << chapter.toStdString();
    EXPECT_GT(manual.text().document()->blockCount(), chapter == QLatin1String("keys") ? 0 : 5)
        << chapter.toStdString();
  }
}

/// Where a link names a heading, that heading is there.
TEST(Manual, LeadsFromEveryLinkToItsPlace) {
  Manual manual;
  const QRegularExpression link(QStringLiteral(R"(\]\(([^)\s]+)\))"));
  int followed = 0;
  for (int i = 0; i < manual.contents().count(); ++i) {
    const QString chapter = manual.contents().item(i)->data(Qt::UserRole).toString();
    QFile file(QStringLiteral(":/manual/") + chapter);
    if (!file.open(QIODevice::ReadOnly)) continue;
    auto links = link.globalMatch(QString::fromUtf8(file.readAll()));
    while (links.hasNext()) {
      const QUrl url(links.next().captured(1));
      const QString path = QDir::cleanPath(QFileInfo(chapter).path() + QLatin1Char('/') + url.path());
      // Outside of docs/, or elsewhere.
      if (!url.isRelative() || path.startsWith(QLatin1String("..")) || !url.path().endsWith(".md")) continue;
      manual.show_chapter(chapter);
      Q_EMIT manual.text().anchorClicked(url);
      EXPECT_EQ(manual.chapter(), path) << chapter.toStdString();
      if (url.hasFragment()) {
        const int level = manual.text().textCursor().block().blockFormat().headingLevel();
        EXPECT_GT(level, 0) << chapter.toStdString() << ": " << url.toString().toStdString();
      }
      ++followed;
    }
  }
  EXPECT_GT(followed, 50);
}

TEST(Manual, SaysSoWhereALinkLeadsOutOfIt) {
  Manual manual;
  manual.show_chapter(QStringLiteral("usage.md"));
  Q_EMIT manual.text().anchorClicked(QUrl(QStringLiteral("../samples/README.md")));
  EXPECT_NE(shown_text(manual).find("../samples/README.md is not part of the manual"), std::string::npos);
}

TEST(Manual, ListsOnlyChaptersWithTheWordsThatAreSearched) {
  Manual manual;
  manual.search().setText(QStringLiteral("traffic_class cm_traffic"));
  int listed = 0;
  for (int i = 0; i < manual.contents().count(); ++i) listed += manual.contents().item(i)->isHidden() ? 0 : 1;
  EXPECT_GT(listed, 0);
  EXPECT_LT(listed, manual.contents().count());
  EXPECT_FALSE(manual.text().extraSelections().isEmpty());
  manual.search().setText(QStringLiteral("filters quuxword"));
  for (int i = 0; i < manual.contents().count(); ++i) EXPECT_TRUE(manual.contents().item(i)->isHidden());
  manual.search().clear();
  for (int i = 0; i < manual.contents().count(); ++i) EXPECT_FALSE(manual.contents().item(i)->isHidden());
}

TEST(Manual, OpensAtTheChapterOfThePage) {
  const auto window = make_window();
  open_sample(*window, "04_write_loss1.cb.pcap.zst");
  auto* help = window->findChild<QAction*>(QStringLiteral("manual"));
  EXPECT_EQ(help->shortcut(), QKeySequence(QKeySequence::HelpContents));
  for (int page = 0; page < page_count; ++page) {
    window->show_page(static_cast<PageId>(page));
    QApplication::processEvents();
    help->trigger();
    auto* manual = window->findChild<Manual*>();
    ASSERT_NE(manual, nullptr);
    EXPECT_TRUE(manual->isVisible());
    const QString wanted = Manual::chapter_of(static_cast<PageId>(page));
    EXPECT_EQ(manual->chapter(), wanted.section(QLatin1Char('#'), 0, 0));
    const bool at_heading = manual->text().textCursor().block().blockFormat().headingLevel() > 0;
    EXPECT_TRUE(at_heading || !wanted.contains(QLatin1Char('#'))) << wanted.toStdString();
  }
  // A finding that is explained has its own page.
  window->show_page(PageId::findings);
  window->selection().choose_finding(to_qt(finding_key(window->session().snapshot()->findings.front())));
  QApplication::processEvents();
  help->trigger();
  EXPECT_EQ(window->findChild<Manual*>()->chapter(),
            Manual::chapter_of_rule(to_qt(window->session().snapshot()->findings.front().id)));
  // The keys are those of the menus.
  window->findChild<QAction*>(QStringLiteral("keys"))->trigger();
  const std::string keys = shown_text(*window->findChild<Manual*>());
  for (const char* name : {"Ctrl+O", "Alt+Left", "F8", "F11"})
    EXPECT_NE(keys.find(name), std::string::npos) << name;
}

}  // namespace
}  // namespace roce::gui
