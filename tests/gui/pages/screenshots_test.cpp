// SPDX-License-Identifier: Apache-2.0
// Pictures of each page in build/.../screenshots, for people to look at. What a program can tell of them is
// tested: they are drawn, they differ, and no widget of a page is squeezed out of sight.
#include <QImage>

#include "analyze/policy/marking_policy.hpp"
#include "tests/gui/pages/window_support.hpp"

namespace roce::gui {
namespace {

/// How many different colours a picture has, up to a few.
std::size_t colour_count(const QImage& image) {
  std::vector<QRgb> seen;
  for (int y = 0; y < image.height(); y += 7) {
    for (int x = 0; x < image.width() && seen.size() < 20; x += 3) {
      const QRgb pixel = image.pixel(x, y);
      if (std::find(seen.begin(), seen.end(), pixel) == seen.end()) seen.push_back(pixel);
    }
  }
  return seen.size();
}

TEST(Screenshots, OfEveryPage) {
  struct Case {
    const char* name;
    const char* sample;
    bool judged;
  };
  constexpr Case cases[] = {
      {"loss", "04_write_loss1.cb.pcap.zst", false}, {"mixed", "06_mix_4qp.pcap.zst", false},
      {"ce", "07_ce_netem10.cb.pcap.zst", true},     {"clean", "02_write_bw_64k.pcap.zst", false},
      {"hosts", "11_three_hosts.pcap.zst", false},   {"mirror", "09_mirror_erspan2.pcap.zst", false}};
  constexpr const char* pages[] = {"overview", "packets", "findings", "incidents", "connections",
                                   "markings", "fabric",  "live",     "compare"};
  const QString folder = screenshots();
  for (const Theme theme : {Theme::light, Theme::dark}) {
    apply_theme(theme);
    for (const QSize size : screenshot_sizes(theme == Theme::light)) {
      for (const Case& c : cases) {
        const auto window = make_window();
        window->resize(size);
        if (c.judged) {
          EXPECT_TRUE(window->choose_policy(to_qt(analyze::policy_profiles().front().name)));
        }
        open_sample(*window, c.sample);
        EXPECT_EQ(window->size(), size) << "a page asks for more room than there is";
        std::vector<QImage> made;
        for (int page = 0; page < page_count; ++page) {
          window->show_page(static_cast<PageId>(page));
          QApplication::processEvents();
          // Where there is something to see.
          if (static_cast<PageId>(page) == PageId::packets)
            window->findChild<QAction*>(QStringLiteral("next_remarkable"))->trigger();
          EXPECT_EQ(cut_off_at_rest(*window), "") << pages[page];
          QApplication::processEvents();
          const QImage image = window->grab().toImage();
          EXPECT_GE(colour_count(image), 8U) << pages[page];
          for (const QImage& other : made) EXPECT_NE(image, other) << pages[page];
          made.push_back(image);
          const QString name = QStringLiteral("%1/%2-%3-%4-%5.png")
                                   .arg(folder, QString::fromLatin1(c.name), QString::fromLatin1(pages[page]),
                                        theme_name(theme))
                                   .arg(size.width());
          EXPECT_TRUE(image.save(name)) << name.toStdString();
        }
      }
    }
  }
  apply_theme(Theme::light);
}

}  // namespace
}  // namespace roce::gui
