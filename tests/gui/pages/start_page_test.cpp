// SPDX-License-Identifier: Apache-2.0
// What is there before a capture is open.
#include <QSignalSpy>

#include "gui/models/bundled_samples.hpp"
#include "gui/pages/interface_list.hpp"
#include "tests/gui/pages/window_support.hpp"

namespace roce::gui {
namespace {

TEST(StartPage, OpensASampleThatComesWithTheProgram) {
  const QString samples = QStringLiteral(ROCE_SAMPLES);
  const auto found = bundled_samples({QStringLiteral("/nowhere"), samples});
  EXPECT_EQ(found.size(), 7U);
  EXPECT_TRUE(bundled_samples({QStringLiteral("/nowhere")}).empty());
  const auto window = make_window();
  Q_EMIT window->overview().sample_chosen(found[0].file);
  ASSERT_TRUE(has_ended(*window));
  EXPECT_EQ(window->session().files(), QStringList{found[0].file});
  EXPECT_EQ(window->session().state(), AnalysisSession::State::done);
}

TEST(StartPage, AnInterfaceLeadsToTheLivePage) {
  const auto window = make_window();
  auto& list = *window->overview().findChild<InterfaceList*>();
  EXPECT_TRUE(list.isVisible());
  list.rates().take({{QStringLiteral("eth7"), 1000}, {QStringLiteral("rdma mlx5_0:1"), 5000}}, 1);
  list.rates().take({{QStringLiteral("eth7"), 2000}, {QStringLiteral("rdma mlx5_0:1"), 5000}}, 0.5);
  ASSERT_EQ(list.rates().rows().size(), 2U);
  EXPECT_EQ(list.rates().rows()[0].name, QStringLiteral("mlx5_0:1"));
  EXPECT_EQ(list.rates().rows()[1].bits, (QVector<double>{16'000}));
  const QSignalSpy chosen(&list, &InterfaceList::chosen);
  list.setFocus();
  QTest::keyClick(&list, Qt::Key_Down);
  QTest::keyClick(&list, Qt::Key_Return);
  ASSERT_EQ(chosen.count(), 1);
  EXPECT_EQ(chosen[0][0].toString(), QStringLiteral("eth7"));
  EXPECT_TRUE(window->live().is_seen());
}

}  // namespace
}  // namespace roce::gui
