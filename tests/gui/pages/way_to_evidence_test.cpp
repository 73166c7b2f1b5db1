// SPDX-License-Identifier: Apache-2.0
// As somebody who sees the window for the first time, with a mouse only: from opening a capture to the
// packets that prove what is wrong in it, for every finding of every sample. At most three clicks, and only
// on what is there to be seen.
#include <QScrollBar>
#include <QTabBar>
#include <QTextBlock>

#include "gui/models/tables.hpp"
#include "tests/gui/pages/window_support.hpp"

namespace roce::gui {
namespace {

constexpr int most_clicks = 3;

/// Clicks on the window, and counts.
class Mouse {
 public:
  explicit Mouse(MainWindow& window) : window_(window) {}

  /// In the middle of a part of a widget, which must be in sight and on top.
  [[nodiscard]] testing::AssertionResult click(QWidget* widget, const QRect& part) {
    if (auto seen = sees(widget, part); !seen) return seen;
    ++clicks_;
    QTest::mouseClick(widget, Qt::LeftButton, {}, part.center());
    QApplication::processEvents();
    return testing::AssertionSuccess();
  }
  [[nodiscard]] testing::AssertionResult click(QWidget* widget) { return click(widget, widget->rect()); }
  /// Two clicks.
  [[nodiscard]] testing::AssertionResult double_click(QWidget* widget, const QRect& part) {
    if (auto first = click(widget, part); !first) return first;
    ++clicks_;
    QTest::mouseDClick(widget, Qt::LeftButton, {}, part.center());
    QApplication::processEvents();
    return testing::AssertionSuccess();
  }
  [[nodiscard]] int clicks() const noexcept { return clicks_; }

 private:
  [[nodiscard]] testing::AssertionResult sees(QWidget* widget, const QRect& part) const {
    const std::string name = widget->objectName().toStdString() + " " + widget->metaObject()->className();
    if (!part.isValid() || !widget->visibleRegion().contains(part.center()))
      return testing::AssertionFailure() << name << " is not in sight";
    if (!widget->isEnabled()) return testing::AssertionFailure() << name << " is grey";
    const QWidget* top = window_.childAt(widget->mapTo(&window_, part.center()));
    if (top != widget) return testing::AssertionFailure() << name << " is covered";
    return testing::AssertionSuccess();
  }

  MainWindow& window_;
  int clicks_ = 0;
};

/// The button of that text on a page.
QToolButton* button_of(QWidget& page, const QString& text) {
  for (auto* button : page.findChildren<QToolButton*>()) {
    if (button->text() == text && button->isVisible()) return button;
  }
  return nullptr;
}

/// The row of a finding in the table of the first page; scrolled to, which takes a wheel and no click.
QRect row_of(TableView& table, const QString& key) {
  const auto& rows = table.rows();
  for (int row = 0; row < rows.rowCount(); ++row) {
    const QModelIndex place = rows.index(row, table.horizontalHeader()->logicalIndexAt(4));
    if (place.data(TableModelBase::key_role).toString() != key) continue;
    table.scrollTo(place);
    QApplication::processEvents();
    return table.visualRect(place).intersected(table.viewport()->rect());
  }
  return {};
}

/// The tab of the page of findings, wherever it is docked.
std::pair<QTabBar*, QRect> tab_of(MainWindow& window, const QString& text) {
  for (auto* bar : window.findChildren<QTabBar*>()) {
    for (int tab = 0; tab < bar->count(); ++tab) {
      if (bar->isVisible() && bar->tabText(tab) == text) return {bar, bar->tabRect(tab)};
    }
  }
  return {nullptr, {}};
}

/// The row of a finding in the list of findings, its kind open; scrolled to.
QRect row_of(QTreeView& tree, const QString& key) {
  const QAbstractItemModel& rows = *tree.model();
  for (int kind = 0; kind < rows.rowCount(); ++kind) {
    const QModelIndex parent = rows.index(kind, 0);
    for (int row = 0; row < rows.rowCount(parent); ++row) {
      const QModelIndex place = rows.index(row, 0, parent);
      if (place.data(TableModelBase::key_role).toString() != key) continue;
      if (!tree.isExpanded(parent)) return {};
      tree.scrollTo(place);
      QApplication::processEvents();
      return tree.visualRect(place).intersected(tree.viewport()->rect());
    }
  }
  return {};
}

/// Where a link of that scheme is on the screen, in coordinates of the viewport; without scrolling.
QRect link_in(const QTextBrowser& view, const QString& scheme) {
  for (QTextBlock block = view.document()->begin(); block.isValid(); block = block.next()) {
    for (auto part = block.begin(); !part.atEnd(); ++part) {
      const QTextFragment text = part.fragment();
      if (!text.charFormat().anchorHref().startsWith(scheme)) continue;
      QTextCursor cursor(view.document());
      cursor.setPosition(text.position());
      const QRect from = view.cursorRect(cursor);
      cursor.setPosition(text.position() + text.length());
      return from.united(view.cursorRect(cursor)).intersected(view.viewport()->rect());
    }
  }
  return {};
}

/// The packets are in front, and one that proves the finding is current and in sight.
testing::AssertionResult evidence_in_front(MainWindow& window, const analyze::Finding& finding) {
  PacketsPage& page = window.packets();
  if (page.visibleRegion().isEmpty()) return testing::AssertionFailure() << "not the page of packets";
  const int row = page.list().current_row();
  const std::uint64_t packet = page.model().number_of(row);
  if (std::find(finding.packets.begin(), finding.packets.end(), packet) == finding.packets.end())
    return testing::AssertionFailure() << "packet " << packet << " proves nothing";
  const int first = page.list().first_visible_row();
  if (row < first || row >= first + page.list().visible_rows())
    return testing::AssertionFailure() << "packet " << packet << " is out of sight";
  if (!page.evidence().isVisible() || !page.evidence().place().contains(QStringLiteral(" of ")))
    return testing::AssertionFailure() << "nothing says what packet " << packet << " proves";
  return testing::AssertionSuccess();
}

/// That, as soon as the list has the packet: the analysis may be ahead of it.
testing::AssertionResult shows_evidence(MainWindow& window, const analyze::Finding& finding) {
  (void)eventually([&] { return bool(evidence_in_front(window, finding)); });
  return evidence_in_front(window, finding);
}

/// All findings that somebody should look into: warnings and errors.
std::vector<const analyze::Finding*> serious(const analyze::Snapshot& snapshot) {
  std::vector<const analyze::Finding*> findings;
  for (const analyze::Finding& finding : snapshot.findings) {
    if (finding.severity >= analyze::Severity::warning) findings.push_back(&finding);
  }
  return findings;
}

/// For each of them in each sample, from the first page of a capture just opened.
void for_each_serious_finding(
    const std::function<void(MainWindow&, const analyze::Finding&, const QString& key)>& look) {
  std::size_t samples = 0;
  const auto window = make_window();
  for (const std::string& name : all_samples()) {
    open_sample(*window, name);
    const SnapshotPtr snapshot = window->session().snapshot();
    const auto findings = serious(*snapshot);
    if (!findings.empty()) ++samples;
    for (const analyze::Finding* finding : findings) {
      SCOPED_TRACE(name + ": " + std::string(finding->title) + ", " + finding->subject);
      window->show_page(PageId::overview);
      window->selection().clear();
      ASSERT_TRUE(eventually([&] { return window->overview().is_settled(); }));
      QApplication::processEvents();
      EXPECT_FALSE(finding->packets.empty()) << "nothing proves it";
      look(*window, *finding, QString::fromStdString(finding_key(*finding)));
      if (testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(samples, 20U) << "too few samples have anything wrong in them";
}

TEST(WayToEvidence, ButtonOfTheFirstPage) {
  for_each_serious_finding([](MainWindow& window, const analyze::Finding& finding, const QString& key) {
    Mouse mouse(window);
    TableView& table = window.overview().findings();
    ASSERT_TRUE(mouse.click(table.viewport(), row_of(table, key)));
    QToolButton* button = button_of(window.overview(), QStringLiteral("Show packets"));
    ASSERT_NE(button, nullptr);
    ASSERT_TRUE(mouse.click(button));
    EXPECT_TRUE(shows_evidence(window, finding));
    EXPECT_LE(mouse.clicks(), most_clicks);
  });
}

TEST(WayToEvidence, OverTheExplanation) {
  for_each_serious_finding([](MainWindow& window, const analyze::Finding& finding, const QString& key) {
    Mouse mouse(window);
    TableView& table = window.overview().findings();
    ASSERT_TRUE(mouse.double_click(table.viewport(), row_of(table, key)));
    ASSERT_FALSE(window.findings().visibleRegion().isEmpty());
    auto* detail = window.findings().findChild<DetailView*>();
    ASSERT_TRUE(mouse.click(detail->viewport(), link_in(*detail, QStringLiteral("packet:"))));
    EXPECT_TRUE(shows_evidence(window, finding));
    EXPECT_LE(mouse.clicks(), most_clicks);
  });
}

TEST(WayToEvidence, OverTheListOfFindings) {
  for_each_serious_finding([](MainWindow& window, const analyze::Finding& finding, const QString& key) {
    Mouse mouse(window);
    const auto [tabs, tab] = tab_of(window, QStringLiteral("Findings"));
    ASSERT_NE(tabs, nullptr);
    ASSERT_TRUE(mouse.click(tabs, tab));
    ASSERT_FALSE(window.findings().visibleRegion().isEmpty());
    auto* tree = window.findings().findChild<QTreeView*>();
    ASSERT_TRUE(mouse.double_click(tree->viewport(), row_of(*tree, key)));
    EXPECT_TRUE(shows_evidence(window, finding));
    // The other pages are about the same.
    if (!finding.connections.empty()) {
      EXPECT_EQ(window.selection().connection(), finding.connections.front());
    }
    EXPECT_LE(mouse.clicks(), most_clicks);
    // The keyboard does the same.
    window.show_page(PageId::findings);
    window.selection().set_packet({});
    tree->setFocus();
    QTest::keyClick(tree, Qt::Key_Return);
    EXPECT_TRUE(shows_evidence(window, finding));
  });
}

TEST(WayToEvidence, MenuOfTheListOfFindings) {
  const auto window = make_window();
  open_sample(*window, "04_write_loss1.cb.pcap.zst");
  const analyze::Finding& finding = window->session().snapshot()->findings.front();
  auto* tree = window->findings().findChild<QTreeView*>();
  const auto choose = [&](const QString& text) {
    window->show_page(PageId::findings);
    window->selection().set_connection({});
    for (QAction* action : tree->actions()) {
      if (action->text().remove(QLatin1Char('&')) == text && action->isEnabled()) action->trigger();
    }
  };
  choose(QStringLiteral("Show packets"));
  EXPECT_TRUE(shows_evidence(*window, finding));
  for (const QString& text : {QStringLiteral("Show connection"), QStringLiteral("Show graph")}) {
    choose(text);
    EXPECT_FALSE(window->connections().visibleRegion().isEmpty()) << text.toStdString();
    EXPECT_EQ(window->selection().connection(), finding.connections.front());
  }
  EXPECT_EQ(window->connections().graphs().currentIndex(), ConnectionGraphs::sequence);
  EXPECT_EQ(window->selection().packet(), finding.packets.front());
}

/// A kind is opened and closed by what leads on from what is below it.
TEST(WayToEvidence, KindsOpenAndClose) {
  const auto window = make_window();
  open_sample(*window, "04_write_loss1.cb.pcap.zst");
  window->show_page(PageId::findings);
  auto* tree = window->findings().findChild<QTreeView*>();
  const QModelIndex kind = tree->model()->index(0, 0);
  ASSERT_TRUE(tree->isExpanded(kind));
  Mouse mouse(*window);
  ASSERT_TRUE(mouse.double_click(tree->viewport(), tree->visualRect(kind)));
  EXPECT_FALSE(tree->isExpanded(kind));
  EXPECT_FALSE(window->findings().visibleRegion().isEmpty());
  QTest::keyClick(tree, Qt::Key_Return);
  EXPECT_TRUE(tree->isExpanded(kind));
}

TEST(WayToEvidence, WorstFindingWithoutChoosingIt) {
  const auto window = make_window();
  for (const std::string& name : all_samples()) {
    SCOPED_TRACE(name);
    window->show_page(PageId::overview);
    open_sample(*window, name);
    const SnapshotPtr snapshot = window->session().snapshot();
    const auto findings = serious(*snapshot);
    if (findings.empty()) continue;
    Mouse mouse(*window);
    QToolButton* button = button_of(window->overview(), QStringLiteral("Show packets"));
    ASSERT_NE(button, nullptr);
    ASSERT_TRUE(mouse.click(button));
    EXPECT_TRUE(shows_evidence(*window, *findings.front()));
  }
}

/// And from there to all the others, and back to what they prove.
TEST(WayToEvidence, StepsThroughAllPackets) {
  const auto window = make_window();
  open_sample(*window, "04_write_loss1.cb.pcap.zst");
  const analyze::Finding& finding = window->session().snapshot()->findings.front();
  ASSERT_GT(finding.packets.size(), 2U);
  // For people to look at.
  const auto picture = [&window](const char* name) {
    return window->grab().save(QStringLiteral("%1/way-%2.png").arg(screenshots(), QString::fromLatin1(name)));
  };
  EXPECT_TRUE(picture("begin"));
  Mouse mouse(*window);
  ASSERT_TRUE(mouse.click(button_of(window->overview(), QStringLiteral("Show packets"))));
  EXPECT_TRUE(picture("packets"));
  PacketsPage& page = window->packets();
  std::vector<std::uint64_t> shown{*window->selection().packet()};
  QToolButton* next = button_of(page.evidence(), QStringLiteral("Next"));
  while (next->isEnabled()) {
    ASSERT_TRUE(mouse.click(next));
    EXPECT_TRUE(shows_evidence(*window, finding));
    shown.push_back(*window->selection().packet());
    ASSERT_LE(shown.size(), finding.packets.size());
  }
  EXPECT_EQ(shown.size(), finding.packets.size());
  EXPECT_TRUE(std::is_sorted(shown.begin(), shown.end()));
  page.list().set_current_row(0);
  EXPECT_TRUE(page.evidence().place().startsWith(QStringLiteral("evidence –")));
  ASSERT_TRUE(mouse.click(button_of(page.evidence(), QStringLiteral("Finding"))));
  EXPECT_FALSE(window->findings().visibleRegion().isEmpty());
  EXPECT_TRUE(picture("explanation"));
  // Closed it stays away, until another finding is chosen.
  window->show_page(PageId::packets);
  ASSERT_TRUE(mouse.click(button_of(page.evidence(), QStringLiteral("Hide"))));
  EXPECT_FALSE(page.evidence().isVisible());
  window->selection().set_finding({});
  window->selection().set_finding(QString::fromStdString(finding_key(finding)));
  EXPECT_TRUE(page.evidence().isVisible());
}

}  // namespace
}  // namespace roce::gui
