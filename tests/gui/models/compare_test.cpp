// SPDX-License-Identifier: Apache-2.0
// What the window shows of a comparison is what `roceanalyze compare --json` prints.
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>

#include "cli/compare/compare_report.hpp"
#include "gui/models/compare_job.hpp"
#include "gui/models/compare_tables.hpp"
#include "tests/gui/support.hpp"

namespace roce::gui {
namespace {

/// The captures of samples/ that were made at two points.
std::vector<std::pair<std::string, std::string>> pairs() {
  std::vector<std::pair<std::string, std::string>> found;
  const std::vector<std::string> all = all_samples();
  for (const std::string& a : all) {
    const auto at = a.find(".ca.pcap");
    if (at == std::string::npos) continue;
    std::string b = a;
    b.replace(at, 3, ".cb");
    if (std::find(all.begin(), all.end(), b) != all.end()) found.emplace_back(a, b);
  }
  return found;
}

CompareJob::News compared(const std::string& a, const std::string& b, const std::string& filter = {}) {
  const auto job = CompareJob::start({a}, {b}, filter, [] {});
  CompareJob::News news;
  EXPECT_TRUE(eventually([&] {
    news = job->take();
    return news.ended;
  }));
  return news;
}

QString exact(const TableModelBase& model, int row, std::string_view column) {
  return model.index(row, model.column_of(column)).data(TableModelBase::exact_role).toString();
}

QString json_text(const QJsonValue& value) {
  if (value.isNull() || value.isUndefined()) return {};
  return value.isString() ? value.toString() : QString::number(value.toInteger());
}

TEST(Compare, ShowsWhatTheCommandLinePrints) {
  const auto all = pairs();
  ASSERT_GE(all.size(), 5U);
  LostModel lost_model;
  ComparePathModel path_model;
  MarkChangeModel change_model;
  FigureModel figure_model;
  const QAbstractItemModelTester lost_tester(&lost_model), path_tester(&path_model),
      change_tester(&change_model), figure_tester(&figure_model);
  for (const auto& [a, b] : all) {
    SCOPED_TRACE(a);
    const CompareJob::News news = compared(sample(a), sample(b));
    ASSERT_TRUE(news.result) << news.failure;
    std::string text;
    cli::compare_json(*news.result, false, {text});
    const QJsonObject json = QJsonDocument::fromJson(QByteArray::fromStdString(text)).object();
    show_compared(lost_model, news.result);
    show_compared(path_model, news.result);
    show_compared(change_model, news.result);
    show_compared(figure_model, news.result);

    const QJsonArray lost = json[QLatin1String("lost")].toArray();
    ASSERT_EQ(lost_model.rowCount(), lost.size());
    for (int row = 0; row < lost_model.rowCount(); ++row) {
      for (const char* key :
           {"direction", "connection", "psn", "packet", "repaired_by", "src", "dst", "dst_qp", "opcode"}) {
        EXPECT_EQ(exact(lost_model, row, key), json_text(lost[row].toObject()[QLatin1String(key)])) << key;
      }
    }
    const QJsonArray paths = json[QLatin1String("paths")].toArray();
    ASSERT_EQ(path_model.rowCount(), paths.size());
    for (int row = 0; row < path_model.rowCount(); ++row) {
      for (const char* key : {"direction", "src", "dst", "packets", "lost", "trimmed", "ce_added"})
        EXPECT_EQ(exact(path_model, row, key), json_text(paths[row].toObject()[QLatin1String(key)])) << key;
    }
    const QJsonArray changes = json[QLatin1String("changes")].toArray();
    ASSERT_EQ(change_model.rowCount(), changes.size());
    for (int row = 0; row < change_model.rowCount(); ++row) {
      for (const char* key : {"field", "direction", "from", "to", "packets", "first_in_a", "first_in_b"})
        EXPECT_EQ(exact(change_model, row, key), json_text(changes[row].toObject()[QLatin1String(key)]))
            << key;
    }
    const auto figure = [&](const char* name) {
      const int row = figure_model.row_of(QString::fromLatin1(name));
      return std::pair(exact(figure_model, row, "a_to_b"), exact(figure_model, row, "b_to_a"));
    };
    EXPECT_EQ(figure("lost between"), std::pair(json_text(json[QLatin1String("lost_a_to_b")]),
                                                json_text(json[QLatin1String("lost_b_to_a")])));
    EXPECT_EQ(compare_snapshot(*news.result)->findings.size(),
              static_cast<std::size_t>(json[QLatin1String("findings")].toArray().size()));
  }
}

TEST(Compare, NamesTheConnectionsOfLostPackets) {
  const CompareJob::News news =
      compared(sample("04_write_loss1.ca.pcap.zst"), sample("04_write_loss1.cb.pcap.zst"));
  ASSERT_TRUE(news.result);
  ASSERT_FALSE(news.result->lost.empty());
  for (const analyze::LostPacket& lost : news.result->lost) EXPECT_EQ(lost.connection, 0U);
  EXPECT_TRUE(compare_headline(*news.result).contains(QStringLiteral("lost between them")));
  EXPECT_TRUE(compare_html(*news.result).contains(QStringLiteral("clock")));
}

TEST(Compare, SaysThatNothingIsTheSame) {
  const CompareJob::News news = compared(sample("04_write_loss1.ca.pcap.zst"), sample("03_rping.pcap"));
  ASSERT_TRUE(news.result);
  EXPECT_EQ(news.result->matched(), 0U);
  EXPECT_TRUE(compare_headline(*news.result).contains(QStringLiteral("not captures of the same traffic")));
}

TEST(Compare, SaysWhyItCannotCompare) {
  const std::string good = sample("04_write_loss1.ca.pcap.zst");
  EXPECT_NE(compared(good, "/nowhere/b.pcap").failure.find("/nowhere/b.pcap"), std::string::npos);
  EXPECT_NE(compared("/nowhere/a.pcap", good).failure.find("/nowhere/a.pcap"), std::string::npos);
  EXPECT_NE(compared(good, good, "infiniband.bth.psm == 1").failure.find("infiniband.bth.psm"),
            std::string::npos);
  EXPECT_NE(compared(good, good, "roce.connection == 1").failure.find("single packets"), std::string::npos);
}

TEST(Compare, ComparesOnlyWhatMatches) {
  const std::string a = sample("04_write_loss1.ca.pcap.zst"), b = sample("04_write_loss1.cb.pcap.zst");
  const CompareJob::News all = compared(a, b), acks = compared(a, b, "infiniband.bth.opcode == 17");
  ASSERT_TRUE(all.result && acks.result);
  EXPECT_GT(acks.result->matched(), 0U);
  EXPECT_LT(acks.result->matched(), all.result->matched());
}

TEST(Compare, StopsAndLetsGo) {
  const std::string a = sample("04_write_loss1.ca.pcap.zst"), b = sample("04_write_loss1.cb.pcap.zst");
  const auto stopped = CompareJob::start({a}, {b}, {}, [] {});
  stopped->stop();
  ASSERT_TRUE(eventually([&] { return stopped->take().ended; }));
  EXPECT_TRUE(stopped->take().stopped);
  bool called = false;
  const auto abandoned = CompareJob::start({a}, {b}, {}, [&called] { called = true; });
  abandoned->abandon();
  called = false;  // it may have ended before that
  QTest::qWait(1);
  EXPECT_FALSE(abandoned->take().ended);
  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace roce::gui
