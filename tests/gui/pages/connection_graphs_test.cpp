// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/connection_graphs.hpp"

#include <QImage>
#include <QPainter>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QUrl>
#include <QWheelEvent>
#include <cmath>
#include <iterator>

#include "analyze/base/units.hpp"
#include "tests/gui/pages/window_support.hpp"

namespace roce::gui {
namespace connection_graphs_test {
namespace {

using State = ConnectionTracer::State;
using Tab = ConnectionGraphs::Tab;

constexpr const char* lossy = "04_write_loss1.ca.pcap.zst";
constexpr Tab graph_tabs[] = {Tab::sequence, Tab::latency, Tab::spread, Tab::throughput, Tab::ladder};

/// A window on a sample with the graphs of a connection in front.
std::unique_ptr<MainWindow> window_on(const std::string& name, Tab tab = Tab::sequence,
                                      std::uint32_t connection = 0) {
  auto window = make_window();
  open_sample(*window, name);
  window->selection().set_connection(connection);
  window->show_page(PageId::connections);
  window->connections().graphs().setCurrentIndex(tab);
  const ConnectionTracer& tracer = window->connections().graphs().tracer();
  EXPECT_TRUE(eventually([&] { return tracer.state() == State::done; })) << tracer.reason().toStdString();
  QApplication::processEvents();
  return window;
}

void expect_legend_above(QCustomPlot& plot, const std::string& what) {
  QApplication::processEvents();
  plot.replot();
  EXPECT_GT(plot.legend->itemCount(), 0) << what;
  int height = 0;
  for (const QCPAxisRect* rect : plot.axisRects()) {
    EXPECT_FALSE(plot.legend->outerRect().intersects(rect->rect())) << what;
    EXPECT_LT(plot.legend->outerRect().top(), rect->rect().top()) << what;
    height += rect->height();
  }
  EXPECT_GT(height, plot.height() * 2 / 5) << what;
  for (int i = 0; i < plot.legend->itemCount(); ++i) {
    const QCPAbstractLegendItem* item = plot.legend->item(i);
    if (item == nullptr) continue;  // a cell of the last row
    EXPECT_GE(item->rect().width(), item->minimumOuterSizeHint().width()) << what;
    EXPECT_GE(item->outerRect().height(), item->minimumOuterSizeHint().height()) << what;
    EXPECT_GT(item->outerRect().height(), QFontMetrics(item->font()).height()) << what << ": cut off";
    EXPECT_TRUE(plot.rect().contains(item->rect())) << what;
  }
}

TEST(ConnectionGraphs, NoLegendCoversWhatIsDrawn) {
  const auto window = make_window();
  open_sample(*window, "04_write_loss1.ca.pcap.zst");
  window->selection().set_connection(0);
  ConnectionGraphs& graphs = window->connections().graphs();
  for (const int width : {900, 2000}) {
    const std::string at = ", " + std::to_string(width) + " pixels wide";
    window->resize(width, 900);
    // The timeline names its curves beside its lanes.
    EXPECT_GT(window->timeline().plot_rect().width(), window->timeline().width() / 2) << at;
    window->show_page(PageId::connections);
    for (const int tab : {ConnectionGraphs::sequence, ConnectionGraphs::latency, ConnectionGraphs::spread,
                          ConnectionGraphs::throughput}) {
      graphs.setCurrentIndex(tab);
      ASSERT_TRUE(eventually([&] { return graphs.tracer().state() == ConnectionTracer::State::done; }));
      auto* plot = qobject_cast<QCustomPlot*>(graphs.currentWidget());
      ASSERT_NE(plot, nullptr);
      expect_legend_above(*plot, "graph " + std::to_string(tab) + at);
    }
  }
}

TEST(ConnectionGraphs, OpenForEveryConnectionOfEverySample) {
  const auto window = make_window();
  for (const std::string& name : all_samples()) {
    SCOPED_TRACE(name);
    open_sample(*window, name);
    window->show_page(PageId::connections);
    ConnectionGraphs& graphs = window->connections().graphs();
    const auto& connections = window->session().snapshot()->connections;
    for (std::size_t id = 0; id < std::min<std::size_t>(connections.size(), 3); ++id) {
      window->selection().set_connection(static_cast<std::uint32_t>(id));
      for (const Tab tab : graph_tabs) {
        graphs.setCurrentIndex(tab);
        ASSERT_TRUE(eventually([&] { return graphs.tracer().state() == State::done; }))
            << graphs.tracer().reason().toStdString();
        for (const int side : {0, 1}) {
          graphs.direction().setCurrentIndex(side);
          Q_EMIT graphs.direction().activated(side);
          if (auto* plot = qobject_cast<TimePlot*>(graphs.currentWidget())) plot->replot();
        }
        QApplication::processEvents();
      }
      EXPECT_EQ(graphs.tracer().trace()->connection, id);
      const auto& points = graphs.tracer().trace()->points;
      std::size_t shown = 0;
      for (const LadderRow& row : graphs.ladder_view().rows()) shown += row.lost_before ? 0 : 1 + row.more;
      EXPECT_EQ(shown, points.size());
      graphs.fold().setChecked(false);
      EXPECT_GE(graphs.ladder_view().rows().size(), points.size());
      graphs.fold().setChecked(true);
    }
    graphs.setCurrentIndex(Tab::details);
  }
}

TEST(ConnectionGraphs, ReadPacketsOnlyWhenSomebodyLooks) {
  const auto window = make_window();
  open_sample(*window, lossy);
  window->show_page(PageId::connections);
  ConnectionGraphs& graphs = window->connections().graphs();
  EXPECT_EQ(graphs.currentIndex(), Tab::details);
  EXPECT_EQ(graphs.tracer().state(), State::none);
  // Enter on a row leads to its graph.
  Q_EMIT window->connections().table().row_activated();
  EXPECT_EQ(graphs.currentIndex(), Tab::sequence);
  ASSERT_TRUE(eventually([&] { return graphs.tracer().state() == State::done; }));
}

TEST(ConnectionGraphs, SelectAPacketByAClickAndShowTheOneThatIsSelected) {
  const auto window = window_on(lossy);
  ConnectionGraphs& graphs = window->connections().graphs();
  SequencePlot& plot = graphs.sequence_plot();
  plot.replot();
  // Any packet that was lost.
  std::uint64_t packet = 0;
  for (const analyze::TracePoint& p : graphs.tracer().trace()->points) {
    if (p.has(analyze::TracePoint::lost_behind)) packet = p.packet;
  }
  ASSERT_NE(packet, 0U);
  const auto place = plot.place_of(packet);
  ASSERT_TRUE(place);
  QTest::mouseClick(&plot, Qt::LeftButton, {}, *place);
  ASSERT_TRUE(window->selection().packet());
  EXPECT_NEAR(static_cast<double>(*window->selection().packet()), static_cast<double>(packet), 200);
  // Close by it is that one and no other.
  const QSignalSpy activated(&graphs, &ConnectionGraphs::packet_activated);
  for (int i = 0; i < 40; ++i) {
    plot.time_axis()->scaleRange(0.7, plot.time_axis()->pixelToCoord(plot.place_of(packet)->x()));
    plot.value_axis()->scaleRange(0.7, plot.value_axis()->pixelToCoord(plot.place_of(packet)->y()));
  }
  plot.replot();
  QTest::mouseClick(&plot, Qt::LeftButton, {}, *plot.place_of(packet));
  EXPECT_EQ(window->selection().packet(), packet);
  QTest::mouseDClick(&plot, Qt::LeftButton, {}, *plot.place_of(packet));
  ASSERT_EQ(activated.count(), 1);
  EXPECT_EQ(activated[0][0].toULongLong(), packet);
  // The ladder goes there too.
  graphs.setCurrentIndex(Tab::ladder);
  const LadderView& ladder = graphs.ladder_view();
  EXPECT_EQ(graphs.tracer().trace()->points[ladder.rows()[ladder.current()].point].packet, packet);
}

TEST(ConnectionGraphs, ZoomMoveAndMeasure) {
  const auto window = window_on(lossy);
  SequencePlot& plot = window->connections().graphs().sequence_plot();
  plot.setFocus();
  plot.show_all();
  plot.replot();
  const QCPRange whole = plot.time_axis()->range();
  QTest::keyClick(&plot, Qt::Key_Plus);
  EXPECT_LT(plot.time_axis()->range().size(), whole.size());
  const QCPRange zoomed = plot.time_axis()->range();
  QTest::keyClick(&plot, Qt::Key_Right);
  EXPECT_GT(plot.time_axis()->range().lower, zoomed.lower);
  QTest::keyClick(&plot, Qt::Key_Home);
  EXPECT_EQ(plot.time_axis()->range(), whole);
  const QRect inside = plot.axisRect(0)->rect();
  const auto drag = [&](QPoint from, QPoint to) {
    QTest::mousePress(&plot, Qt::LeftButton, {}, from);
    QTest::mouseMove(&plot, (from + to) / 2);
    QTest::mouseMove(&plot, to);
    QTest::mouseRelease(&plot, Qt::LeftButton, {}, to);
    plot.replot();
  };
  const QPoint a = inside.center() - QPoint(inside.width() / 4, inside.height() / 4), b = inside.center();
  drag(a, b);
  EXPECT_LT(plot.time_axis()->range().lower, whole.lower);
  plot.show_all();
  plot.set_tool(TimePlot::Tool::zoom);
  drag(a, b);
  EXPECT_NEAR(plot.time_axis()->range().size(), whole.size() / 4, whole.size() / 50);
  plot.show_all();
  plot.set_tool(TimePlot::Tool::measure);
  drag(a, b);
  EXPECT_EQ(plot.time_axis()->range(), whole);
  plot.set_tool(TimePlot::Tool::choose_time);
  drag(a, b);
  ASSERT_TRUE(window->selection().time());
  EXPECT_NEAR(static_cast<double>(window->selection().time()->to - window->selection().time()->from) * 1e-9,
              whole.size() / 4, whole.size() / 50);
  EXPECT_EQ(plot.time_axis()->range(), whole);
  QTest::keyClick(&plot, Qt::Key_Escape);
  EXPECT_EQ(plot.tool(), TimePlot::Tool::move);
  QWheelEvent wheel(inside.center(), plot.mapToGlobal(inside.center()), {}, QPoint(0, 120), {},
                    Qt::ShiftModifier, Qt::NoScrollPhase, false);
  const QCPRange values = plot.value_axis()->range();
  QApplication::sendEvent(&plot, &wheel);
  EXPECT_LT(plot.time_axis()->range().size(), whole.size());
  EXPECT_EQ(plot.value_axis()->range(), values);
}

TEST(ConnectionGraphs, KeepTheZeroLineOfRates) {
  const auto window = window_on(lossy, Tab::throughput);
  ConnectionGraphs& graphs = window->connections().graphs();
  auto& plot = dynamic_cast<TimePlot&>(*graphs.currentWidget());
  const QPointF middle = plot.axisRect(0)->center();
  for (const Qt::KeyboardModifiers keys :
       {Qt::KeyboardModifiers(), Qt::KeyboardModifiers(Qt::ControlModifier)}) {
    QWheelEvent wheel(middle, plot.mapToGlobal(middle), {}, {0, 240}, Qt::NoButton, keys, Qt::NoScrollPhase,
                      false);
    QApplication::sendEvent(&plot, &wheel);
    EXPECT_EQ(plot.value_axis()->range().lower, 0);
    for (const QCPAxisRect* rect : plot.axisRects()) EXPECT_EQ(rect->axis(QCPAxis::atLeft)->range().lower, 0);
  }
  for (const Qt::Key key : {Qt::Key_Plus, Qt::Key_Minus, Qt::Key_Up, Qt::Key_Down}) {
    QTest::keyClick(&plot, key);
    EXPECT_EQ(plot.value_axis()->range().lower, 0) << key;
  }
}

TEST(ConnectionGraphs, HaveTicksAtWholePsns) {
  const auto window = window_on(lossy);
  auto& plot = dynamic_cast<TimePlot&>(*window->connections().graphs().currentWidget());
  for (const double height : {3.0, 7.0, 11.0, 12.5, 16.0, 130.0, 1e4}) {
    plot.value_axis()->setRange(1000, 1000 + height);
    plot.replot();
    EXPECT_FALSE(plot.value_axis()->tickVector().isEmpty()) << height;
    for (const double tick : plot.value_axis()->tickVector()) EXPECT_EQ(tick, std::floor(tick)) << height;
  }
}

TEST(ConnectionGraphs, ShowTheSameTimes) {
  const auto window = window_on(lossy);
  ConnectionGraphs& graphs = window->connections().graphs();
  const auto& trace = *graphs.tracer().trace();
  const std::int64_t begin = trace.points.front().time_ns, length = trace.points.back().time_ns - begin;
  // Chosen on another page.
  window->selection().set_time(TimeSpan{begin + length / 4, begin + length / 2});
  const QCPRange range = graphs.sequence_plot().time_axis()->range();
  EXPECT_NEAR(range.size(), static_cast<double>(length) * 1e-9 / 4, 1e-6);
  for (const Tab tab : {Tab::latency, Tab::throughput}) {
    graphs.setCurrentIndex(tab);
    EXPECT_EQ(static_cast<TimePlot*>(graphs.currentWidget())->time_axis()->range(), range);
  }
  graphs.throughput_plot().show_range(range.lower, range.center());
  graphs.setCurrentIndex(Tab::sequence);
  EXPECT_EQ(graphs.sequence_plot().time_axis()->range(), QCPRange(range.lower, range.center()));
  // Another connection begins with everything.
  window->session().reload();
  ASSERT_TRUE(has_ended(*window));
  ASSERT_TRUE(eventually([&] { return graphs.tracer().state() == State::done; }));
  EXPECT_GT(graphs.sequence_plot().time_axis()->range().size(), static_cast<double>(length) * 1e-9);
}

TEST(ConnectionGraphs, SayWhatTheyLack) {
  const auto window = make_window();
  ConnectionGraphs& graphs = window->connections().graphs();
  window->show_page(PageId::connections);
  graphs.setCurrentIndex(Tab::sequence);
  EXPECT_TRUE(graphs.sequence_plot().said().isEmpty());
  const QTemporaryDir folder;
  const std::string path = folder.filePath(QStringLiteral("a.pcap")).toStdString();
  std::filesystem::copy_file(sample("03_rping.pcap"), path);
  window->open({QString::fromStdString(path)});
  EXPECT_TRUE(graphs.sequence_plot().said().contains(QStringLiteral("still being read")) ||
              window->session().state() != AnalysisSession::State::loading);
  ASSERT_TRUE(has_ended(*window));
  ASSERT_TRUE(eventually([&] { return graphs.tracer().state() == State::done; }));
  EXPECT_TRUE(graphs.sequence_plot().said().isEmpty());
  std::filesystem::remove(path);
  window->session().reload();
  ASSERT_TRUE(has_ended(*window));
  EXPECT_EQ(graphs.tracer().state(), State::none);
  // No connections at all.
  open_sample(*window, "01_ud_pingpong.pcap");
  EXPECT_EQ(graphs.tracer().state(), State::none);
  EXPECT_FALSE(graphs.sequence_plot().said().isEmpty());
  EXPECT_FALSE(graphs.ladder_view().said().isEmpty());
}

TEST(ConnectionGraphs, LatencyHasThePercentilesOfTheReport) {
  const auto window = window_on("02_read_bw_q4.pcap.zst", Tab::latency);
  ConnectionGraphs& graphs = window->connections().graphs();
  const analyze::Connection& connection = window->session().snapshot()->connections[0];
  const auto side = static_cast<std::size_t>(graphs.direction().currentIndex());
  ASSERT_FALSE(connection.requester[side].operations.empty());
  const analyze::OperationStats& stats = connection.requester[side].operations[0];
  ASSERT_EQ(graphs.latency_plot().series().size(), 1U);
  EXPECT_EQ(graphs.latency_plot().series()[0].seconds.size(), stats.latency_ns.count());
  const auto p50 = static_cast<std::int64_t>(stats.latency_ns.percentile(0.5));
  bool found = false;
  for (int i = 0; i < graphs.latency_plot().legend->itemCount(); ++i) {
    auto* item = qobject_cast<QCPPlottableLegendItem*>(graphs.latency_plot().legend->item(i));
    found = found || item->plottable()->name().contains(to_qt(analyze::duration_text(p50)));
  }
  EXPECT_TRUE(found);
}

TEST(ConnectionGraphs, LadderGoesByKeysAndPaintsOnAnything) {
  const auto window = window_on(lossy, Tab::ladder);
  ConnectionGraphs& graphs = window->connections().graphs();
  LadderView& ladder = graphs.ladder_view();
  ladder.setFocus();
  const auto packet = [&] {
    return graphs.tracer().trace()->points[ladder.rows()[ladder.current()].point].packet;
  };
  QTest::keyClick(&ladder, Qt::Key_Home);
  QTest::keyClick(&ladder, Qt::Key_Down);
  EXPECT_EQ(ladder.current(), 1U);
  EXPECT_EQ(window->selection().packet(), packet());
  QTest::keyClick(&ladder, Qt::Key_Down, Qt::ControlModifier);
  EXPECT_TRUE(graphs.tracer().trace()->points[ladder.rows()[ladder.current()].point].remarkable());
  QTest::keyClick(&ladder, Qt::Key_PageDown);
  QTest::keyClick(&ladder, Qt::Key_PageUp);
  QTest::keyClick(&ladder, Qt::Key_Up, Qt::ControlModifier);
  QTest::keyClick(&ladder, Qt::Key_End);
  EXPECT_EQ(ladder.current(), ladder.rows().size() - 1);
  const QSignalSpy activated(&graphs, &ConnectionGraphs::packet_activated);
  QTest::keyClick(&ladder, Qt::Key_Return);
  EXPECT_EQ(activated.count(), 1);
  QTest::mouseClick(ladder.viewport(), Qt::LeftButton, {},
                    QPoint(200, static_cast<int>(ladder.row_height() * 1.5)));
  EXPECT_LT(ladder.current(), ladder.rows().size() - 1);
  EXPECT_FALSE(ladder.accessibleDescription().isEmpty());
  QImage image(900, 600, QImage::Format_ARGB32);
  image.fill(Qt::white);
  QPainter painter(&image);
  const std::size_t painted = ladder.paint(painter, QRectF(0, 0, 900, 600), 0);
  EXPECT_GT(painted, 10U);
  EXPECT_LT(painted, 60U);
}

TEST(ConnectionGraphs, AreWhereFindingsLeadTo) {
  const auto window = make_window();
  open_sample(*window, lossy);
  const analyze::Finding& worst = window->session().snapshot()->findings.front();
  ASSERT_EQ(worst.connections.size(), 1U);
  ConnectionGraphs& graphs = window->connections().graphs();
  window->show_page(PageId::findings);
  auto* detail = window->findings().findChild<DetailView*>();
  window->selection().choose_finding(window->selection().finding());
  const QString link = QStringLiteral("graph:0:%1").arg(worst.packets.front());
  EXPECT_TRUE(QUrl::fromPercentEncoding(detail->html().toLatin1()).contains(link));
  Q_EMIT detail->anchorClicked(QUrl(link));
  EXPECT_FALSE(window->connections().visibleRegion().isEmpty());
  EXPECT_EQ(graphs.currentIndex(), Tab::sequence);
  EXPECT_EQ(window->selection().packet(), worst.packets.front());
  ASSERT_TRUE(eventually([&] { return graphs.tracer().state() == State::done; }));
  // And from the Overview, by the menu of a row.
  for (TableView* table : {&window->overview().findings(), &window->overview().connections()}) {
    graphs.setCurrentIndex(Tab::details);
    window->show_page(PageId::overview);
    table->setCurrentIndex(table->rows().index(0, 0));
    ASSERT_FALSE(table->actions().isEmpty());
    table->actions().back()->trigger();
    EXPECT_EQ(graphs.currentIndex(), Tab::sequence);
    EXPECT_FALSE(window->connections().visibleRegion().isEmpty());
  }
}

TEST(ConnectionGraphs, ChooseOthersWhileTheyRead) {
  const auto window = make_window();
  open_sample(*window, "06_mix_4qp.pcap.zst");
  window->show_page(PageId::connections);
  ConnectionGraphs& graphs = window->connections().graphs();
  for (int i = 0; i < 60; ++i) {
    graphs.setCurrentIndex(graph_tabs[static_cast<std::size_t>(i) % std::size(graph_tabs)]);
    window->selection().set_connection(static_cast<std::uint32_t>(i % 3));
    if (i % 7 == 0) QApplication::processEvents();
    if (i == 30) window->session().reload();
  }
  ASSERT_TRUE(has_ended(*window));
  ASSERT_TRUE(eventually([&] { return graphs.tracer().state() == State::done; }));
  EXPECT_EQ(graphs.tracer().trace()->connection, window->selection().connection());
  window->close();
}

}  // namespace
}  // namespace connection_graphs_test
}  // namespace roce::gui
