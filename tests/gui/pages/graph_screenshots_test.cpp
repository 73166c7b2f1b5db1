// SPDX-License-Identifier: Apache-2.0
// Pictures of the graphs of connections in build/.../screenshots, for people to look at.
#include <QImage>

#include "tests/gui/pages/window_support.hpp"

namespace roce::gui {
namespace {

/// Of the time, from a share of it to another; everything where both are 0.
struct Picture {
  const char* name;
  const char* sample;
  double from, to;
};

void look_at(MainWindow& window, const Picture& picture) {
  const auto& trace = *window.connections().graphs().tracer().trace();
  const std::int64_t begin = trace.points.front().time_ns, length = trace.points.back().time_ns - begin;
  const auto at = [&](double share) {
    return begin + static_cast<std::int64_t>(share * static_cast<double>(length));
  };
  window.selection().set_time(picture.to > 0 ? std::optional(TimeSpan{at(picture.from), at(picture.to)})
                                             : std::nullopt);
}

TEST(Screenshots, OfEveryGraph) {
  constexpr Picture pictures[] = {{"loss", "04_write_loss1.ca.pcap.zst", 0, 0},
                                  {"loss-close", "04_write_loss1.ca.pcap.zst", 0.22, 0.3},
                                  {"before", "04_write_loss1.cb.pcap.zst", 0.2, 0.3},
                                  {"reads", "04_read_loss1.ca.pcap.zst", 0, 0},
                                  {"rnr", "05_rnr_exhaust.pcap", 0, 0},
                                  {"ce", "07_ce_netem10.cb.pcap.zst", 0, 0},
                                  {"reorder", "04_write_reorder.cb.pcap.zst", 0, 0},
                                  {"mixed", "06_mix_ops.pcap.zst", 0, 0}};
  const QString folder = screenshots();
  constexpr const char* tabs[] = {"details", "sequence", "latency", "spread", "throughput", "ladder"};
  for (const Theme theme : {Theme::light, Theme::dark}) {
    apply_theme(theme);
    for (const QSize size : screenshot_sizes(false)) {
      const auto window = make_window();
      window->resize(size);
      ConnectionGraphs& graphs = window->connections().graphs();
      for (const Picture& picture : pictures) {
        SCOPED_TRACE(picture.name);
        open_sample(*window, picture.sample);
        window->selection().set_connection(0);
        window->show_page(PageId::connections);
        std::vector<QImage> made;
        for (int tab = ConnectionGraphs::sequence; tab <= ConnectionGraphs::ladder; ++tab) {
          graphs.setCurrentIndex(tab);
          ASSERT_TRUE(eventually([&] { return graphs.tracer().state() == ConnectionTracer::State::done; }));
          look_at(*window, picture);
          if (auto* plot = qobject_cast<QCustomPlot*>(graphs.currentWidget())) plot->replot();
          EXPECT_EQ(cut_off_at_rest(*window), "") << tabs[tab];
          const QImage image = window->grab().toImage();
          EXPECT_EQ(window->size(), size);
          for (const QImage& other : made) EXPECT_NE(image, other) << tabs[tab];
          made.push_back(image);
          EXPECT_TRUE(image.save(QStringLiteral("%1/graph-%2-%3-%4-%5.png")
                                     .arg(folder, QString::fromLatin1(picture.name),
                                          QString::fromLatin1(tabs[tab]), theme_name(theme))
                                     .arg(size.width())));
        }
        graphs.setCurrentIndex(ConnectionGraphs::details);
      }
    }
  }
  apply_theme(Theme::light);
}

}  // namespace
}  // namespace roce::gui
