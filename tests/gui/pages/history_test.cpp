// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/history.hpp"

#include <QToolBar>

#include "tests/gui/pages/window_support.hpp"

namespace roce::gui {
namespace {

Place packet_place(std::uint64_t number) {
  Place place;
  place.page = PageId::packets;
  place.packet = number;
  return place;
}

TEST(History, GoesBackAndForwardLikeABrowser) {
  History history;
  EXPECT_FALSE(history.can_go_back());
  EXPECT_FALSE(history.can_go_forward());
  for (const std::uint64_t number : {1U, 2U, 2U, 3U}) history.visit(packet_place(number));
  EXPECT_FALSE(history.can_go_forward());
  ASSERT_TRUE(history.can_go_back());
  EXPECT_EQ(history.back(), packet_place(2));
  EXPECT_EQ(history.back(), packet_place(1));
  EXPECT_FALSE(history.can_go_back());
  EXPECT_EQ(history.forward(), packet_place(2));
  // Another way from here: what came after it is forgotten.
  history.visit(packet_place(9));
  EXPECT_FALSE(history.can_go_forward());
  EXPECT_EQ(history.back(), packet_place(2));
}

TEST(History, AmendsOnlyThePlaceThatIsCurrent) {
  History history;
  history.amend(packet_place(1));
  history.visit(packet_place(2));
  (void)history.back();
  history.amend(packet_place(5));
  EXPECT_EQ(history.forward(), packet_place(2));
  EXPECT_EQ(history.back(), packet_place(5));
}

TEST(History, ForgetsTheOldest) {
  History history;
  for (std::uint64_t number = 0; number < 3 * History::most; ++number) history.visit(packet_place(number));
  std::size_t steps = 0;
  while (history.can_go_back()) {
    (void)history.back();
    ++steps;
  }
  EXPECT_EQ(steps, History::most - 1);
  history.clear();
  EXPECT_FALSE(history.can_go_forward());
}

QAction& action_of(MainWindow& window, const char* name) {
  return *window.findChild<QAction*>(QString::fromLatin1(name));
}

/// Waits until the place is noted, which comes a moment after the last step.
void stay(MainWindow& window) {
  const auto* moved = window.findChild<QTimer*>(QStringLiteral("moved"));
  ASSERT_TRUE(eventually([&] { return !moved->isActive() && window.is_settled(); }));
}

TEST(History, TheWindowGoesBackToWhatWasSelectedThere) {
  const auto window = make_window();
  EXPECT_FALSE(action_of(*window, "back").isEnabled());
  open_sample(*window, "04_write_loss1.cb.pcap.zst");
  Selection& selection = window->selection();
  stay(*window);
  EXPECT_FALSE(action_of(*window, "back").isEnabled())
      << "where a capture begins, there is nothing before it";

  window->show_page(PageId::packets);
  selection.set_packet(57);
  stay(*window);
  selection.set_packet(86);
  stay(*window);
  window->show_page(PageId::incidents);
  stay(*window);

  action_of(*window, "back").trigger();
  EXPECT_TRUE(window->packets().is_seen());
  EXPECT_EQ(selection.packet(), 86U);
  stay(*window);
  action_of(*window, "back").trigger();
  EXPECT_EQ(selection.packet(), 57U);
  stay(*window);
  action_of(*window, "forward").trigger();
  EXPECT_EQ(selection.packet(), 86U);
  stay(*window);
  action_of(*window, "back").trigger();
  stay(*window);
  action_of(*window, "back").trigger();
  EXPECT_TRUE(window->overview().is_seen());
  stay(*window);
  EXPECT_FALSE(action_of(*window, "back").isEnabled());
  EXPECT_TRUE(action_of(*window, "forward").isEnabled());

  // Another capture has other packets.
  open_sample(*window, "06_mix_4qp.pcap.zst");
  stay(*window);
  EXPECT_FALSE(action_of(*window, "back").isEnabled());
  EXPECT_FALSE(action_of(*window, "forward").isEnabled());
}

TEST(Tools, AreActionsOfTheMenusWithIconsAndHelp) {
  const auto window = make_window();
  const auto* tools = window->findChild<QToolBar*>(QStringLiteral("tools"));
  ASSERT_NE(tools, nullptr);
  EXPECT_TRUE(tools->isVisible());
  EXPECT_GE(tools->actions().size(), 8);
  for (const QAction* action : tools->actions()) {
    EXPECT_FALSE(action->icon().isNull()) << action->objectName().toStdString();
    EXPECT_FALSE(action->toolTip().isEmpty()) << action->objectName().toStdString();
  }
}

}  // namespace
}  // namespace roce::gui
