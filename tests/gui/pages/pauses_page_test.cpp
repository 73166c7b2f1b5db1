// SPDX-License-Identifier: Apache-2.0
// Pauses on the page of marks: a link whose both ends pause, as a capture that is opened.
#include <QTemporaryDir>

#include "capture/write/pcapng_writer.hpp"
#include "tests/analyze/link/link_frames.hpp"
#include "tests/gui/pages/window_support.hpp"

namespace roce::gui {
namespace {

constexpr std::int64_t base = 1'795'171'301'000'000'000, ms = 1'000'000;

bool write_pauses(const QString& path) {
  auto writer = capture::PcapngWriter::create(path.toStdString(), "a test");
  if (!writer) return false;
  capture::InterfaceInfo link;
  link.name = "eth0";
  link.link_type = 1;
  link.speed_bps = 100'000'000'000;
  bool whole = true;
  const auto at = [&](std::int64_t time_ns, const std::vector<std::uint8_t>& bytes) {
    capture::Frame frame;
    frame.data = bytes.data();
    frame.captured = frame.wire = static_cast<std::uint32_t>(bytes.size());
    frame.time_ns = base + time_ns;
    frame.link_type = 1;
    whole = whole && writer->write(frame, link);
  };
  const std::string& host = analyze::host_mac;
  const std::string& other = analyze::switch_mac;
  at(0, analyze::plain_roce(host, other, 0));
  at(1 * ms, analyze::lldp(host, analyze::ieee_pfc(true, 0x08)));
  at(2 * ms, analyze::lldp(other, analyze::ieee_pfc(false, 0x08)));
  for (int i = 0; i < 400; ++i) {
    const std::int64_t from = (10 + i) * ms;
    at(from, analyze::pfc(host, {{3, 65535}, {4, i % 50 == 0 ? 20'000U : 0U}}));
    at(from + 2'000 * (i % 170), analyze::pfc(host, {{3, 0}}));
    if (i % 7 == 0) at(from + 400'000, analyze::pfc(other, {{3, 3'000}}));
    if (i == 200) at(from + 500'000, analyze::lldp(other, analyze::ieee_pfc(false, 0x18)));
  }
  at(500 * ms, analyze::plain_roce(host, other, 0));
  return whole && writer->finish().has_value();
}

TEST(PausesPage, ShowsWhenAndLeadsToPackets) {
  const QTemporaryDir folder;
  const QString path = folder.filePath(QStringLiteral("pauses.pcapng"));
  ASSERT_TRUE(write_pauses(path));
  constexpr int pauses_tab = 3;
  for (const Theme theme : {Theme::light, Theme::dark}) {
    apply_theme(theme);
    for (const QSize size : {QSize(1280, 800), QSize(2560, 1440)}) {
      const auto window = make_window();
      window->resize(size);
      window->open({path});
      ASSERT_TRUE(has_ended(*window));
      window->show_page(PageId::markings);
      window->markings().tabs().setCurrentIndex(pauses_tab);
      QApplication::processEvents();
      EXPECT_EQ(window->size(), size) << "a page asks for more room than there is";
      PausePlot& plot = window->markings().pause_plot();
      ASSERT_EQ(plot.strips().strips.size(), 5U) << "three lanes, two ports that announce";
      // The time range of all pages.
      window->selection().set_time(TimeSpan{base + 100 * ms, base + 200 * ms});
      QApplication::processEvents();
      EXPECT_TRUE(window->grab().save(QStringLiteral("%1/pauses-markings-%2-%3.png")
                                          .arg(screenshots(), theme_name(theme))
                                          .arg(size.width())));
      // A sign leads to its packet in the list.
      const PauseStrip& strip = plot.strips().strips.front();
      ASSERT_FALSE(strip.signs.empty());
      const PauseSign sign = strip.signs.front();
      QTest::mouseDClick(&plot, Qt::LeftButton, {}, plot.place_of(0, sign.time_ns));
      EXPECT_EQ(window->selection().packet(), sign.packet);
      EXPECT_FALSE(window->packets().visibleRegion().isEmpty());
    }
  }
  apply_theme(Theme::light);
}

}  // namespace
}  // namespace roce::gui
