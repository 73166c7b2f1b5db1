// SPDX-License-Identifier: Apache-2.0
#include "gui/models/packet_comments.hpp"

#include <gtest/gtest.h>

#include <QTemporaryDir>

#include "gui/models/analysis_session.hpp"
#include "gui/models/packet_export.hpp"
#include "gui/models/packet_list_model.hpp"
#include "tests/gui/commented.hpp"

namespace roce::gui {
namespace packet_comments_test {
namespace {

constexpr const char* pingpong = "01_rc_pingpong_s1.pcap";  // 144 packets

bool opened(AnalysisSession& session, const QString& path) {
  session.open({path});
  return eventually([&] { return session.state() == AnalysisSession::State::done; });
}

std::vector<std::uint64_t> found(PacketListModel& model, const QString& filter) {
  std::vector<std::uint64_t> numbers;
  EXPECT_FALSE(model.set_filter(filter, {}));
  EXPECT_TRUE(eventually([&] { return model.state().complete; }));
  for (int row = 0; row < model.rowCount(); ++row) numbers.push_back(model.number_of(row));
  return numbers;
}

using Numbers = std::vector<std::uint64_t>;
using Texts = PacketComments::Texts;

TEST(PacketComments, OfACaptureAreShownAndFound) {
  const QTemporaryDir folder;
  const QString path = folder.filePath(QStringLiteral("c.pcapng"));
  ASSERT_TRUE(
      write_commented(pingpong, path.toStdString(), {{3, {"late", "M\xc3\xbcller"}}, {144, {"last"}}}));
  AnalysisSession session;
  ASSERT_TRUE(opened(session, path));
  PacketListModel model;
  model.show(session.packets());
  EXPECT_TRUE(session.packets()->marks(3).has(PacketMarks::commented));
  EXPECT_FALSE(session.packets()->marks(4).has(PacketMarks::commented));
  EXPECT_EQ(model.comments(3), (Texts{"late", "M\xc3\xbcller"}));
  EXPECT_EQ(model.comments(4), Texts());
  EXPECT_EQ(model.comments(0), Texts());
  EXPECT_EQ(model.comments(999), Texts());
  model.set_columns({QStringLiteral("frame.number"), QStringLiteral("frame.comment")});
  EXPECT_EQ(model.index(2, 1).data().toString(), QString::fromUtf8("late,M\xc3\xbcller"));
  EXPECT_EQ(found(model, QStringLiteral("frame.comment")), (Numbers{3, 144}));
  EXPECT_EQ(found(model, QStringLiteral("frame.comment contains \"ast\"")), Numbers{144});
  EXPECT_EQ(found(model, QStringLiteral("!frame.comment")).size(), 142U);
  EXPECT_EQ(found(model, QStringLiteral("frame.comment && infiniband.bth")).size() +
                found(model, QStringLiteral("frame.comment && !infiniband.bth")).size(),
            2U);
}

TEST(PacketComments, ThatAreWrittenStandInPlaceOfThose) {
  const QTemporaryDir folder;
  const QString path = folder.filePath(QStringLiteral("c.pcapng"));
  ASSERT_TRUE(write_commented(pingpong, path.toStdString(), {{3, {"late"}}, {9, {"nine"}}}));
  AnalysisSession session;
  ASSERT_TRUE(opened(session, path));
  session.packets()->set_comments(3, {"early", "twice"});
  session.packets()->set_comments(5, {"new"});
  session.packets()->set_comments(9, {});
  session.packets()->set_comments(999, {"there is no such packet"});
  EXPECT_TRUE(session.packets()->comments().unsaved());
  const auto expect_written = [&] {
    PacketListModel model;
    model.show(session.packets());
    EXPECT_EQ(found(model, QStringLiteral("frame.comment")), (Numbers{3, 5}));
    EXPECT_EQ(found(model, QStringLiteral("frame.comment == \"twice\"")), Numbers{3});
    EXPECT_EQ(model.comments(9), Texts());
  };
  expect_written();
  // Another choice reads the capture again; what was written stays.
  AnalysisChoice choice = session.choice();
  choice.check_icrc = !choice.check_icrc;
  session.set_choice(choice);
  ASSERT_TRUE(eventually([&] { return session.state() == AnalysisSession::State::done; }));
  expect_written();

  // What is exported reads back so.
  const QString copy = folder.filePath(QStringLiteral("copy.pcapng"));
  const std::uint64_t revision = session.packets()->comments().revision();
  const auto written = PacketExport::start({session.packets(), nullptr, {{0, 143}}},
                                           {PacketFormat::pcapng, {}, {}}, copy.toStdString());
  ASSERT_TRUE(eventually([&] { return written->state().ended; }));
  EXPECT_EQ(written->state().error, "");
  session.packets()->comments().saved(revision);
  EXPECT_FALSE(session.packets()->comments().unsaved());
  AnalysisSession other;
  ASSERT_TRUE(opened(other, copy));
  PacketListModel model;
  model.show(other.packets());
  EXPECT_EQ(model.comments(3), (Texts{"early", "twice"}));
  EXPECT_EQ(model.comments(5), Texts{"new"});
  EXPECT_EQ(model.comments(9), Texts());

  // Whoever reads the file anew sees what is in it.
  session.reload();
  ASSERT_TRUE(eventually([&] { return session.state() == AnalysisSession::State::done; }));
  PacketListModel again;
  again.show(session.packets());
  EXPECT_EQ(again.comments(3), Texts{"late"});
  EXPECT_EQ(again.comments(9), Texts{"nine"});
}

TEST(PacketComments, WrittenWhileThePacketsComeAreKept) {
  auto gate = std::make_shared<GatedSource::Gate>();
  AnalysisSession session;
  session.open({QString::fromStdString(sample(pingpong))}, [gate] {
    auto source = capture::open_files({sample(pingpong)});
    if (source) *source = std::make_unique<GatedSource>(std::move(*source), gate);
    return source;
  });
  ASSERT_TRUE(eventually([&] { return gate->is_reached() && session.packets()->size() >= 100; }));
  session.packets()->set_comments(7, {"early bird"});
  gate->let_go();
  ASSERT_TRUE(eventually([&] { return session.state() == AnalysisSession::State::done; }));
  PacketListModel model;
  model.show(session.packets());
  EXPECT_EQ(found(model, QStringLiteral("frame.comment")), Numbers{7});
}

}  // namespace
}  // namespace packet_comments_test
}  // namespace roce::gui
