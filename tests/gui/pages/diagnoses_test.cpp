// SPDX-License-Identifier: Apache-2.0
// What is wrong comes first: on the first page, and above the findings that are its evidence.
#include <QClipboard>
#include <QScrollBar>
#include <QTest>
#include <QTreeView>

#include "gui/models/details.hpp"
#include "gui/pages/detail_view.hpp"
#include "tests/gui/pages/window_support.hpp"

namespace roce::gui {
namespace {

constexpr const char* lossy = "04_write_loss1.cb.pcap.zst";

TEST(Cards, LeadToPacketsGraphAndExplanation) {
  const auto window = make_window();
  open_sample(*window, "04_write_loss1.cb.pcap.zst");
  const auto snapshot = window->session().snapshot();
  ASSERT_FALSE(snapshot->diagnoses.empty());
  const analyze::Diagnosis& worst = snapshot->diagnoses.front();
  DetailView& cards = window->overview().cards();
  const QString text = cards.toPlainText();
  EXPECT_TRUE(text.contains(QString::fromStdString(worst.sentence))) << text.toStdString();
  EXPECT_TRUE(text.contains(QStringLiteral("without goodput")));
  const QString consequence = QString::fromUtf8(snapshot->findings[worst.findings.front()].title.data());
  EXPECT_FALSE(text.contains(consequence));
  const auto click = [&](const QString& link) {
    Q_EMIT cards.anchorClicked(QUrl(link));
    QApplication::processEvents();
  };
  click(QStringLiteral("fold:0"));
  EXPECT_TRUE(cards.toPlainText().contains(consequence));
  click(QStringLiteral("fold:0"));
  EXPECT_FALSE(cards.toPlainText().contains(consequence));
  click(QStringLiteral("explain:0"));
  EXPECT_TRUE(window->findings().is_seen());
  ASSERT_TRUE(window->findings().explained());
  EXPECT_EQ(window->findings().explained()->of->sentence, worst.sentence);
  // The links that are there are followed.
  for (const char* kind : {"packets:", "graph:", "copy:", "explain:", "fold:"})
    EXPECT_TRUE(cards.toHtml().contains(QStringLiteral("href=\"") + QString::fromLatin1(kind))) << kind;
}

TEST(Cards, SayWhyThereIsNone) {
  const auto window = make_window();
  open_sample(*window, "03_rping.pcap");
  ASSERT_TRUE(window->session().snapshot()->diagnoses.empty());
  EXPECT_TRUE(window->overview().cards().toPlainText().contains(QStringLiteral("No cause of trouble")));
}

class Diagnoses : public testing::Test {
 protected:
  void open(const char* name) {
    open_sample(*window, name);
    window->show_page(PageId::findings);
    QApplication::processEvents();
    detail = window->findings().findChild<DetailView*>();
    tree = window->findings().findChild<QTreeView*>();
  }
  [[nodiscard]] const analyze::Snapshot& snapshot() const { return *window->session().snapshot(); }
  [[nodiscard]] bool explains(const std::string& text) const {
    return detail->toPlainText().contains(QString::fromStdString(text));
  }

  std::unique_ptr<MainWindow> window = make_window();
  DetailView* detail = nullptr;
  QTreeView* tree = nullptr;
};

TEST_F(Diagnoses, AreExplainedFirst) {
  open(lossy);
  const analyze::Diagnosis& worst = snapshot().diagnoses.front();
  EXPECT_EQ(window->overview().headline(), QString::fromStdString(worst.sentence));
  EXPECT_EQ(window->message(), QString::fromStdString(worst.sentence));
  TableView& list = window->findings().diagnoses();
  EXPECT_EQ(static_cast<std::size_t>(list.rows().rowCount()), snapshot().diagnoses.size());
  EXPECT_TRUE(list.isVisible());
  EXPECT_EQ(list.currentIndex().row(), 0);
  EXPECT_TRUE(explains(worst.sentence));
  EXPECT_TRUE(explains("Not ruled out: "));
  EXPECT_TRUE(explains("To confirm: "));
  // All rows are in sight, and the sentence is not squeezed.
  EXPECT_EQ(list.verticalScrollBar()->maximum(), 0);
  EXPECT_EQ(list.horizontalScrollBar()->maximum(), 0);
}

TEST_F(Diagnoses, AndFindingsTakeTurns) {
  open(lossy);
  const analyze::Diagnosis& worst = snapshot().diagnoses.front();
  TableView& list = window->findings().diagnoses();
  // A click on a finding, also on the one that has been selected all along.
  const QModelIndex row = tree->currentIndex();
  ASSERT_TRUE(row.isValid());
  QTest::mouseClick(tree->viewport(), Qt::LeftButton, {}, tree->visualRect(row).center());
  EXPECT_FALSE(explains("To confirm: "));
  EXPECT_TRUE(explains(snapshot().findings.front().explanation)) << detail->toPlainText().toStdString();
  EXPECT_FALSE(list.currentIndex().isValid());
  // And back.
  QTest::mouseClick(list.viewport(), Qt::LeftButton, {}, list.visualRect(list.rows().index(0, 1)).center());
  EXPECT_TRUE(explains(worst.sentence));
  // A link to a finding that is its evidence.
  const std::string key = finding_key(snapshot().findings[worst.findings.back()]);
  const QUrl link(QStringLiteral("finding:") +
                  QString::fromLatin1(QUrl::toPercentEncoding(QString::fromStdString(key))));
  Q_EMIT detail->anchorClicked(link);
  EXPECT_TRUE(explains(snapshot().findings[worst.findings.back()].explanation));
  // Nothing chosen: the worst again.
  window->selection().clear();
  EXPECT_TRUE(explains(worst.sentence));
}

TEST_F(Diagnoses, LeadToTheirPacketsAndConnections) {
  open(lossy);
  const analyze::Diagnosis& worst = snapshot().diagnoses.front();
  TableView& list = window->findings().diagnoses();
  Q_EMIT list.row_activated();
  EXPECT_FALSE(window->packets().visibleRegion().isEmpty());
  EXPECT_EQ(window->selection().packet(), worst.packets.front());
  EXPECT_TRUE(window->packets().evidence().isVisible());
  window->show_page(PageId::findings);
  list.actions().back()->trigger();
  EXPECT_FALSE(window->connections().visibleRegion().isEmpty());
  EXPECT_EQ(window->selection().connection(), worst.connections.front());
  window->show_page(PageId::findings);
  EXPECT_TRUE(explains(worst.sentence)) << "the way to the packets does not change what is explained";
  // Its incidents, by a filter.
  Q_EMIT detail->anchorClicked(QUrl(QStringLiteral("packets:roce.incident%20%3D%3D%200")));
  EXPECT_FALSE(window->packets().visibleRegion().isEmpty());
  ASSERT_TRUE(eventually([&] { return window->is_settled(); }));
  // What is to be seen is what is copied.
  window->show_page(PageId::findings);
  window->findChild<QAction*>(QStringLiteral("copy_command"))->trigger();
  EXPECT_EQ(QApplication::clipboard()->text(),
            diagnosis_commands(worst, window->session().files()).join(QLatin1Char('\n')));
}

TEST_F(Diagnoses, AreNotThereWhereNothingIsWrong) {
  open(lossy);
  open("03_rping.pcap");
  EXPECT_FALSE(window->findings().diagnoses().isVisible());
  EXPECT_TRUE(window->overview().headline().startsWith(QStringLiteral("Nothing wrong found")));
}

/// For people to look at, and no text is cut off.
TEST_F(Diagnoses, Pictures) {
  for (const Theme theme : {Theme::light, Theme::dark}) {
    apply_theme(theme);
    for (const QSize size : screenshot_sizes(theme == Theme::light)) {
      window->resize(size);
      for (const char* name : {lossy, "06_badrkey_write.pcap", "06_mix_4qp.pcap.zst", "03_rping.pcap"}) {
        SCOPED_TRACE(name);
        window->selection().clear();
        open(name);
        for (const auto& [page, title] :
             {std::pair(PageId::overview, "overview"), std::pair(PageId::findings, "findings")}) {
          window->show_page(page);
          QApplication::processEvents();
          EXPECT_EQ(cut_off_at_rest(*window), "");
          EXPECT_TRUE(window->grab().save(QStringLiteral("%1/diagnosis-%2-%3-%4-%5.png")
                                              .arg(screenshots(),
                                                   QString::fromLatin1(name).section(QLatin1Char('.'), 0, 0),
                                                   QString::fromLatin1(title), theme_name(theme))
                                              .arg(size.width())));
        }
      }
    }
  }
  apply_theme(Theme::light);
}

}  // namespace
}  // namespace roce::gui
