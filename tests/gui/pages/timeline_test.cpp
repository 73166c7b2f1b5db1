// SPDX-License-Identifier: Apache-2.0
// The timeline above all pages: lanes, zoom, a range that all figures follow, incidents that lead on.
#include <QSignalSpy>
#include <QWheelEvent>

#include "gui/pages/timeline_bar.hpp"
#include "tests/gui/pages/window_support.hpp"

namespace roce::gui {
namespace {

constexpr const char* lossy_capture = "04_write_loss1.cb.pcap.zst";

void drag(MasterTimeline& timeline, double from, double to) {
  const QRect plot = timeline.plot_rect();
  const auto at = [&](double part) {
    return QPoint(plot.left() + static_cast<int>(plot.width() * part), plot.top() + 8);
  };
  QTest::mousePress(&timeline, Qt::LeftButton, {}, at(from));
  QTest::mouseMove(&timeline, at((from + to) / 2));
  QTest::mouseMove(&timeline, at(to));
  QTest::mouseRelease(&timeline, Qt::LeftButton, {}, at(to));
}

TEST(MasterTimeline, HasALaneForWhatThereIs) {
  const auto window = make_window();
  EXPECT_FALSE(window->timeline().isVisible()) << "nothing is open";
  open_sample(*window, lossy_capture);
  EXPECT_TRUE(window->timeline().isVisible());
  EXPECT_EQ(window->timeline().lane_names(),
            (QStringList{QStringLiteral("Rate"), QStringLiteral("Repeats and losses"), QStringLiteral("NAKs"),
                         QStringLiteral("incidents")}));
  open_sample(*window, "07_ce_netem10.cb.pcap.zst");
  EXPECT_EQ(window->timeline().lane_names(), (QStringList{QStringLiteral("Rate"), QStringLiteral("Marks")}));
  // It stays, whatever page is in front, until it is not wanted.
  for (int page = 0; page < page_count; ++page) {
    window->show_page(static_cast<PageId>(page));
    EXPECT_TRUE(window->timeline().isVisible());
  }
  auto* wanted = window->findChild<QAction*>(QStringLiteral("show_timeline"));
  wanted->trigger();
  EXPECT_FALSE(window->timeline().isVisible());
  EXPECT_FALSE(make_window()->timeline().isVisible());
  wanted->trigger();
  EXPECT_TRUE(window->timeline().isVisible());
}

TEST(MasterTimeline, ZoomsDownToMicroseconds) {
  const auto window = make_window();
  open_sample(*window, lossy_capture);
  MasterTimeline& timeline = window->timeline();
  const TimeSpan whole = timeline.view();
  const std::int64_t coarse = timeline.model().series().width_ns();
  const QPoint place = timeline.plot_rect().center();
  const std::int64_t pointed = timeline.scale().time_at(place.x());
  for (int i = 0; i < 60; ++i) {
    QWheelEvent wheel(place, timeline.mapToGlobal(place), {}, {0, 120}, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(&timeline, &wheel);
  }
  EXPECT_LE(timeline.view().to - timeline.view().from, 20'000);
  EXPECT_NEAR(static_cast<double>(timeline.scale().time_at(place.x()) - pointed), 0, 20'000);
  ASSERT_TRUE(eventually([&] { return !timeline.model().is_working(); }));
  EXPECT_LT(timeline.model().series().width_ns(), 1'000);
  EXPECT_LT(timeline.model().series().width_ns(), coarse);
  QTest::mouseDClick(&timeline, Qt::LeftButton, {}, place);
  EXPECT_EQ(timeline.view(), whole);
  // By keys, too.
  timeline.setFocus();
  QTest::keyClick(&timeline, Qt::Key_Plus);
  EXPECT_LT(timeline.view().to - timeline.view().from, whole.to - whole.from);
  QTest::keyClick(&timeline, Qt::Key_Right);
  EXPECT_GT(timeline.view().from, whole.from);
  QTest::keyClick(&timeline, Qt::Key_Home);
  EXPECT_EQ(timeline.view(), whole);
}

TEST(MasterTimeline, FiguresOfAllPagesFollowTheRange) {
  const auto window = make_window();
  open_sample(*window, lossy_capture);
  const auto whole = window->session().snapshot();
  drag(window->timeline(), 0.45, 0.6);
  ASSERT_TRUE(window->selection().time());
  const TimeSpan range = *window->selection().time();
  EXPECT_TRUE(window->times().figures().startsWith(QStringLiteral("Computing")))
      << window->times().figures().toStdString();
  ASSERT_TRUE(eventually([&] { return window->session().range() == range && window->is_settled(); }));
  EXPECT_TRUE(window->times().figures().startsWith(QStringLiteral("Figures of")));
  const auto part = window->session().snapshot();
  EXPECT_NE(part, whole);
  EXPECT_LT(part->totals.packets, whole->totals.packets);
  EXPECT_GT(part->totals.packets, 0U);
  // The timeline goes on showing all of it.
  EXPECT_EQ(window->timeline().model().snapshot(), whole);
  const auto cell = [](TableView& table, const char* column) {
    const int place = table.rows().column_of(column);
    return table.rows().index(0, place).data(TableModelBase::exact_role).toString().toULongLong();
  };
  for (TableView* table : {&window->overview().connections(), &window->connections().table()}) {
    ASSERT_EQ(table->rows().rowCount(), 1);
    EXPECT_EQ(cell(*table, "packets"), part->connections[0].packets[0] + part->connections[0].packets[1]);
  }
  EXPECT_EQ(static_cast<std::size_t>(window->incidents().table().rows().rowCount()), part->incidents.size());
  EXPECT_EQ(window->selection().connection(), part->connections[0].id);
  // Packets are those of the range, with the verdicts of it.
  ASSERT_TRUE(eventually([&] { return window->packets().model().state().complete; }));
  EXPECT_EQ(static_cast<std::uint64_t>(window->packets().model().rowCount()), part->totals.packets);
  // A click takes it back, and everything is there at once.
  const QRect plot = window->timeline().plot_rect();
  QTest::mouseClick(&window->timeline(), Qt::LeftButton, {}, {plot.left() + 3, plot.top() + 8});
  EXPECT_FALSE(window->selection().time());
  EXPECT_EQ(window->session().snapshot(), whole);
  ASSERT_TRUE(eventually([&] { return window->is_settled(); }));
  EXPECT_EQ(cell(window->connections().table(), "packets"),
            whole->connections[0].packets[0] + whole->connections[0].packets[1]);
  EXPECT_EQ(window->times().figures(), QStringLiteral("Figures of the whole capture"));
}

TEST(MasterTimeline, MarksOfIncidentsLeadOn) {
  const auto window = make_window();
  open_sample(*window, lossy_capture);
  MasterTimeline& timeline = window->timeline();
  const auto& incidents = window->session().snapshot()->incidents;
  ASSERT_GT(incidents.size(), 3U);
  const QRect plot = timeline.plot_rect();
  const QPoint mark(static_cast<int>(timeline.scale().x_of(incidents[0].start_ns)), plot.bottom() - 6);
  EXPECT_TRUE(timeline.values_at(mark).contains(QStringLiteral("incident ")));
  QTest::mouseClick(&timeline, Qt::LeftButton, {}, mark);
  EXPECT_TRUE(window->incidents().is_seen());
  ASSERT_TRUE(window->selection().incident());
  EXPECT_TRUE(std::any_of(incidents.begin(), incidents.end(), [&](const analyze::Incident& each) {
    return each.first_frame == *window->selection().incident();
  }));
}

}  // namespace
}  // namespace roce::gui
