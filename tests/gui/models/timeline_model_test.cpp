// SPDX-License-Identifier: Apache-2.0
#include "gui/models/timeline_model.hpp"

#include <QProcess>
#include <algorithm>

#include "analyze/report/json/json_report.hpp"
#include "gui/models/analysis_session.hpp"
#include "tests/gui/support.hpp"

namespace roce::gui {
namespace {

using analyze::Series;

constexpr const char* lossy = "04_write_loss1.cb.pcap.zst";

Series::Bucket sum_of(const Series& series, std::int64_t from, std::int64_t to) {
  Series::Bucket sum;
  for (std::size_t i = 0; i < series.buckets().size(); ++i) {
    const std::int64_t at = series.start_ns() + static_cast<std::int64_t>(i) * series.width_ns();
    if (at < from || at >= to) continue;
    const Series::Bucket& bucket = series.buckets()[i];
    sum.packets += bucket.packets;
    sum.bytes += bucket.bytes;
    sum.goodput_bytes += bucket.goodput_bytes;
    sum.retransmitted += bucket.retransmitted;
    sum.lost += bucket.lost;
    sum.naks += bucket.naks;
  }
  return sum;
}

bool open_whole(AnalysisSession& session, const char* name) {
  session.open({QString::fromStdString(sample(name))});
  return eventually([&] { return session.state() == AnalysisSession::State::done; });
}

TEST(TimelineModel, CountsFinerIntervalsWhereOneLooksCloser) {
  AnalysisSession session;
  ASSERT_TRUE(open_whole(session, lossy));
  TimelineModel model;
  model.show(session.snapshot(), session.packets());
  ASSERT_TRUE(model.whole());
  const TimeSpan whole = *model.whole();
  model.set_view(whole, 1000);
  EXPECT_FALSE(model.is_working()) << "the whole capture has intervals enough";
  const Series coarse = session.snapshot()->series;
  EXPECT_EQ(model.series().width_ns(), coarse.width_ns());
  // Eight intervals of the whole capture, where most happens.
  const auto& buckets = coarse.buckets();
  const auto busiest = std::max_element(buckets.begin(), buckets.end(), [](const auto& a, const auto& b) {
    return a.retransmitted < b.retransmitted;
  });
  const std::int64_t from = coarse.start_ns() + (busiest - buckets.begin() - 4) * coarse.width_ns();
  const TimeSpan view{from, from + 8 * coarse.width_ns()};
  model.set_view(view, 1000);
  ASSERT_TRUE(eventually([&] { return !model.is_working(); }));
  const Series& fine = model.series();
  EXPECT_LT(fine.width_ns(), coarse.width_ns() / 60);
  const Series::Bucket a = sum_of(coarse, view.from, view.to);
  const Series::Bucket b = sum_of(fine, view.from, view.to);
  EXPECT_GT(a.packets, 0U);
  EXPECT_EQ(a.packets, b.packets);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.goodput_bytes, b.goodput_bytes);
  EXPECT_EQ(a.retransmitted, b.retransmitted);
  EXPECT_EQ(a.lost, b.lost);
  EXPECT_EQ(a.naks, b.naks);
  // Down to microseconds.
  model.set_view({from, from + 2'000'000}, 1000);
  ASSERT_TRUE(eventually([&] { return !model.is_working(); }));
  EXPECT_LE(model.series().width_ns(), 4'000);
  // Back: what was counted for a part does not serve the whole.
  model.set_view(whole, 1000);
  EXPECT_EQ(model.series().width_ns(), coarse.width_ns());
}

TEST(TimelineModel, LeavesRangesAloneThatAreTooLongToReadAgain) {
  AnalysisSession session;
  ASSERT_TRUE(open_whole(session, lossy));
  const TimeSpan all{session.snapshot()->totals.first_time_ns, session.snapshot()->totals.last_time_ns + 1};
  EXPECT_FALSE(TimelineModel::count(*session.packets(), all, 1'000'000, true, {}, 1000));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(TimelineModel::count(*session.packets(), all, 1'000'000, true, stop.get_token()));
  EXPECT_TRUE(TimelineModel::count(*session.packets(), all, 1'000'000, true, {}));
}

TEST(TimelineModel, FindsIncidentsByTime) {
  TimelineModel model;
  EXPECT_TRUE(model.incidents_in({0, INT64_MAX}).empty());
  const auto snapshot = analyzed(lossy);
  model.show(snapshot, nullptr);
  EXPECT_EQ(model.incidents_in({0, INT64_MAX}).size(), snapshot->incidents.size());
  ASSERT_GT(snapshot->incidents.size(), 2U);
  const std::int64_t second = snapshot->incidents[1].start_ns;
  EXPECT_EQ(model.incident_at(second + 10, 1000), 1U);
  EXPECT_FALSE(model.incident_at(snapshot->totals.first_time_ns - 10'000'000, 1000));
}

std::string cli_json(const char* name, const QStringList& options) {
  QProcess cli;
  cli.start(
      QStringLiteral(ROCE_PROGRAM),
      QStringList{QStringLiteral("report"), QString::fromStdString(sample(name)), QStringLiteral("--json")} +
          options);
  EXPECT_TRUE(cli.waitForFinished(60'000));
  return cli.readAllStandardOutput().toStdString();
}

std::string json_of(const analyze::Snapshot& snapshot) {
  std::string text;
  analyze::report_json(snapshot, false, {text, nullptr});
  return text;
}

TEST(RangeOfTheSession, HasTheFiguresOfTheCommandLine) {
  for (const char* name : {lossy, "05_rnr_writeimm.pcap.zst", "11_three_hosts.pcap.zst"}) {
    AnalysisSession session;
    ASSERT_TRUE(open_whole(session, name));
    const auto whole = session.snapshot();
    const auto packets = session.packets();
    const std::int64_t begin = whole->totals.first_time_ns;
    const std::int64_t length = whole->totals.last_time_ns - begin;
    for (const TimeSpan& range :
         {TimeSpan{begin + length / 3, begin + length / 2}, TimeSpan{begin, begin + length / 5}}) {
      session.set_range(range);
      EXPECT_EQ(session.range_in_work(), range);
      ASSERT_TRUE(eventually([&] { return session.range() == range; })) << name;
      EXPECT_FALSE(session.range_in_work());
      EXPECT_EQ(session.whole_snapshot(), whole);
      EXPECT_NE(session.packets(), packets);
      EXPECT_TRUE(session.packets()->analysed());
      const QStringList options = QString::fromStdString(range_words(range)).split(u' ', Qt::SkipEmptyParts);
      EXPECT_EQ(json_of(*session.snapshot()), cli_json(name, options)) << name;
    }
    session.set_range(std::nullopt);
    EXPECT_EQ(session.snapshot(), whole);
    EXPECT_EQ(session.packets(), packets);
    EXPECT_FALSE(session.range());
  }
}

TEST(RangeOfTheSession, GivesWayToAnythingElse) {
  AnalysisSession session;
  session.set_range(TimeSpan{1, 2});
  EXPECT_FALSE(session.range_in_work()) << "nothing is open";
  ASSERT_TRUE(open_whole(session, lossy));
  const std::int64_t begin = session.snapshot()->totals.first_time_ns;
  const TimeSpan range{begin, begin + 1'500'000'000};
  // Taken back before it is there.
  session.set_range(range);
  session.set_range(std::nullopt);
  EXPECT_FALSE(session.range_in_work());
  // Stopped.
  session.set_range(range);
  session.cancel();
  EXPECT_FALSE(session.range_in_work());
  EXPECT_EQ(session.state(), AnalysisSession::State::done);
  // Another one, and then another capture.
  session.set_range(range);
  ASSERT_TRUE(eventually([&] { return session.range().has_value(); }));
  session.set_range(TimeSpan{begin, begin + 1'000'000'000});
  ASSERT_TRUE(open_whole(session, "03_rping.pcap"));
  EXPECT_FALSE(session.range());
  EXPECT_FALSE(session.range_in_work());
  EXPECT_EQ(session.whole_snapshot(), session.snapshot());
  session.set_range(TimeSpan{1, 2});  // of 1970: nothing is in it
  ASSERT_TRUE(eventually([&] { return session.range().has_value(); }));
  EXPECT_EQ(session.snapshot()->totals.packets, 0U);
  session.close();
  EXPECT_FALSE(session.range());
}

}  // namespace
}  // namespace roce::gui
