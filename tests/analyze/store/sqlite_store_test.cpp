// SPDX-License-Identifier: Apache-2.0
#include "analyze/store/sqlite_store.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "analyze/store/ddl.hpp"
#include "analyze/store/questions.hpp"

namespace roce::analyze {
namespace {

namespace fs = std::filesystem;
constexpr std::int64_t midday = 1'795'176'000;

class SqliteStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("store_test_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    path_ = (folder_ / "a.store").string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  static StoreBatch batch(std::uint64_t run, std::string host, std::uint64_t flows = 3) {
    BatchMaker maker(std::move(host), "", run);
    for (std::uint64_t i = 0; i < flows; ++i) {
      IntervalRow row;
      row.time.seconds = midday;
      row.flow_key = i;
      row.pair_key = 1;
      row.packets = 10;
      maker.add(row);
    }
    HeartbeatRow beat;
    beat.time.seconds = midday;
    return maker.take(beat).at(0);
  }
  SqliteStore open(SqliteStore::Access access = SqliteStore::Access::write) {
    auto store = SqliteStore::open(path_, access);
    EXPECT_TRUE(store.has_value()) << store.error().describe();
    return std::move(*store);
  }
  std::int64_t count(const std::string& table) {
    auto rows = open().ask("SELECT COUNT(*) FROM " + table);
    return std::get<std::int64_t>(rows->at(0).at(0));
  }
  void init() { ASSERT_TRUE(SqliteStore::init(path_, "test", midday).has_value()); }

  fs::path folder_;
  std::string path_;
};

TEST_F(SqliteStoreTest, a_batch_is_added_once) {
  init();
  SqliteStore store = open();
  EXPECT_EQ(store.add(batch(1, "a")), true);
  EXPECT_EQ(store.add(batch(1, "a")), false);
  EXPECT_EQ(store.add(batch(2, "b")), true);
  EXPECT_EQ(count("intervals"), 6);
  EXPECT_EQ(count("heartbeats"), 2);
  EXPECT_EQ(store.has_run(1), true);
  EXPECT_EQ(store.has_run(3), false);
}

TEST_F(SqliteStoreTest, a_batch_that_fails_leaves_nothing) {
  init();
  SqliteStore store = open();
  StoreBatch damaged = batch(1, "a");
  damaged.blocks[0].text += "too\tfew\n";
  EXPECT_FALSE(store.add(damaged).has_value());
  damaged = batch(1, "a");
  damaged.blocks[0].rows = 2;
  EXPECT_FALSE(store.add(damaged).has_value());
  damaged = batch(1, "a");
  damaged.blocks[0].columns = "time, x) VALUES (1); DROP TABLE intervals; --";
  EXPECT_FALSE(store.add(damaged).has_value());
  EXPECT_EQ(count("intervals"), 0);
  EXPECT_EQ(count("batches"), 0);
  // Sent again whole, it is added.
  EXPECT_EQ(store.add(batch(1, "a")), true);
}

TEST_F(SqliteStoreTest, names_are_text) {
  init();
  const std::string name = "'); DROP TABLE intervals; --\" \xff\xfe";
  EXPECT_EQ(open().add(batch(1, name)), true);
  const auto rows = open().ask("SELECT DISTINCT host FROM intervals");
  EXPECT_EQ(std::get<std::string>(rows->at(0).at(0)), "'); DROP TABLE intervals; --\" \uFFFD\uFFFD");
}

TEST_F(SqliteStoreTest, nothing_else_is_overwritten) {
  EXPECT_FALSE(SqliteStore::open(path_, SqliteStore::Access::read).has_value());
  std::ofstream(path_) << "some text that is no database at all, whatever its name";
  EXPECT_FALSE(SqliteStore::init(path_, "test", midday).has_value());
  fs::remove(path_);
  {
    auto other = SqliteDatabase::open(path_, SqliteDatabase::Access::create);
    ASSERT_TRUE(other->run("CREATE TABLE theirs (a INTEGER)").has_value());
  }
  EXPECT_FALSE(SqliteStore::init(path_, "test", midday).has_value());
  EXPECT_FALSE(SqliteStore::open(path_, SqliteStore::Access::write).has_value());
}

TEST_F(SqliteStoreTest, what_a_killed_init_left_is_made_anew) {
  for (int times = 0; times < 2; ++times) {
    {
      auto empty = SqliteDatabase::open(path_, SqliteDatabase::Access::create);
      ASSERT_TRUE(empty->run("PRAGMA journal_mode = WAL").has_value());
    }
    EXPECT_TRUE(SqliteStore::make_if_missing(path_, "test", midday).has_value());
    EXPECT_TRUE(open().add(batch(1, "a")).has_value());
  }
  EXPECT_EQ(count("intervals"), 3);
}

TEST_F(SqliteStoreTest, a_migration_adds_what_is_missing) {
  init();
  {
    auto database = SqliteDatabase::open(path_, SqliteDatabase::Access::write);
    ASSERT_TRUE(
        database
            ->run("DROP TABLE drops; ALTER TABLE intervals DROP COLUMN cnps; DELETE FROM schema; INSERT "
                  "INTO schema VALUES (0, 0, 'old', '')")
            .has_value());
  }
  const auto refused = SqliteStore::open(path_, SqliteStore::Access::read);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("store migrate"), std::string::npos);
  const auto made = SqliteStore::migrate(path_, "test", midday);
  ASSERT_TRUE(made.has_value());
  EXPECT_GE(made->size(), 2U);
  EXPECT_EQ(open().add(batch(1, "a")), true);
  EXPECT_EQ(SqliteStore::migrate(path_, "test", midday)->size(), 0U);
}

TEST_F(SqliteStoreTest, old_rows_and_runs_are_removed) {
  init();
  SqliteStore store = open();
  EXPECT_EQ(store.add(batch(1, "a")), true);
  EXPECT_EQ(store.add(batch(2, "b")), true);
  EXPECT_EQ(store.remove_run(1), 4);
  EXPECT_EQ(count("intervals"), 3);
  EXPECT_EQ(store.add(batch(1, "a")), true);  // removed, it may be added anew
  EXPECT_EQ(store.remove_before(midday), 0);
  EXPECT_EQ(store.remove_before(midday + 1), 8);
  EXPECT_EQ(store.add(batch(2, "b")), false);  // too old is not missing
}

TEST_F(SqliteStoreTest, every_question_is_answered) {
  init();
  for (int filled = 0; filled < 2; ++filled) {
    for (const Question& question : questions()) {
      auto rows = open(SqliteStore::Access::read).ask(statement(question, {}));
      ASSERT_TRUE(rows.has_value()) << question.name << ": " << rows.error().describe();
      AnswerRows answer =
          question.conclude != nullptr ? question.conclude(std::move(*rows)) : std::move(*rows);
      for (const AnswerRow& row : answer) EXPECT_EQ(row.size(), question.columns.size()) << question.name;
    }
    EXPECT_EQ(open().add(batch(1, "a")).has_value(), true);
  }
}

TEST(Ddl, clickhouse_gets_the_same_tables) {
  const auto single = make_statements(StoreEngine::clickhouse);
  const auto cluster = make_statements(StoreEngine::cluster, {"roce", "fleet"});
  EXPECT_EQ(single.size(), store_tables().size() + 1);
  EXPECT_EQ(cluster.size(), 2 * store_tables().size() - 2 + 1);
  std::string all;
  for (const std::string& each : single) all += each + "\n";
  EXPECT_NE(
      all.find(
          "CREATE TABLE IF NOT EXISTS roce.intervals (time DateTime, host String, device String, run UInt64"),
      std::string::npos);
  EXPECT_NE(
      all.find(
          "ENGINE = ReplacingMergeTree() PARTITION BY toDate(time) ORDER BY (toStartOfHour(time), pair_key"),
      std::string::npos);
  EXPECT_NE(all.find("ENGINE = ReplacingMergeTree(time) ORDER BY (address)"), std::string::npos);
  std::string many;
  for (const std::string& each : cluster) many += each + "\n";
  EXPECT_NE(many.find("roce.intervals ON CLUSTER fleet (time DateTime"), std::string::npos);
  EXPECT_NE(many.find("ENGINE = Distributed(fleet, roce, intervals_local, pair_key)"), std::string::npos);
  EXPECT_NE(many.find("'/clickhouse/tables/{shard}/roce/intervals', '{replica}'"), std::string::npos);
}

}  // namespace
}  // namespace roce::analyze
