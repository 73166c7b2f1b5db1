// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/incidents_page.hpp"

#include <QImage>
#include <QPainter>

#include "gui/models/incident_trace.hpp"
#include "tests/gui/pages/window_support.hpp"

namespace roce::gui {
namespace {

TEST(IncidentsPage, ExplainsTheSelectedOneStepByStep) {
  const auto window = make_window();
  open_sample(*window, "04_write_loss1.cb.pcap.zst");
  window->show_page(PageId::incidents);
  IncidentsPage& page = window->incidents();
  ASSERT_TRUE(eventually([&] { return page.is_settled() && !page.ladder().rows().empty(); }));
  const auto& incidents = window->session().snapshot()->incidents;
  EXPECT_EQ(static_cast<std::size_t>(page.table().rows().rowCount()), incidents.size());
  ASSERT_TRUE(window->selection().incident()) << "the worst is selected";
  EXPECT_TRUE(page.detail().toPlainText().contains(QStringLiteral("Noticed by")));
  // Another one.
  page.table().setCurrentIndex(page.table().rows().index(2, 0));
  ASSERT_TRUE(eventually([&] { return page.is_settled(); }));
  const std::uint64_t first = *window->selection().incident();
  EXPECT_EQ(window->timeline().model().snapshot(), window->session().snapshot());
  const auto one = std::find_if(incidents.begin(), incidents.end(),
                                [&](const analyze::Incident& each) { return each.first_frame == first; });
  ASSERT_NE(one, incidents.end());
  // Fewer rows than packets: those alike are folded.
  EXPECT_FALSE(page.ladder().rows().empty());
  EXPECT_TRUE(one->repeated_packets <= 20 || page.ladder().rows().size() < one->repeated_packets);
  QImage image(1200, 600, QImage::Format_RGB32);
  QPainter painter(&image);
  EXPECT_GT(page.ladder().paint(painter, QRectF(0, 0, 1200, 600), 0), 2U);
}

TEST(IncidentsPage, LeadsToItsPacketsAndItsGraph) {
  const auto window = make_window();
  open_sample(*window, "04_write_loss1.cb.pcap.zst");
  window->show_page(PageId::incidents);
  IncidentsPage& page = window->incidents();
  ASSERT_TRUE(eventually([&] { return page.is_settled(); }));
  page.table().setCurrentIndex(page.table().rows().index(1, 0));
  const std::uint64_t first = *window->selection().incident();
  Q_EMIT page.table().row_activated();
  EXPECT_TRUE(window->packets().is_seen());
  ASSERT_TRUE(eventually([&] { return window->packets().model().state().complete; }));
  EXPECT_EQ(window->selection().packet(), first);
  EXPECT_GT(window->packets().model().rowCount(), 1);
  EXPECT_LT(window->packets().model().rowCount(), 1000);
}

TEST(IncidentsPage, SaysWhyThereIsNone) {
  const auto window = make_window();
  open_sample(*window, "02_write_bw_64k.pcap.zst");
  EXPECT_TRUE(window->incidents().table().empty_text().startsWith(QStringLiteral("No incidents")));
  open_sample(*window, "03_rping_noserver.pcap");
  EXPECT_FALSE(window->incidents().table().empty_text().isEmpty());
}

}  // namespace
}  // namespace roce::gui
