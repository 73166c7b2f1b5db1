// SPDX-License-Identifier: Apache-2.0
#include "analyze/store/batch.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace roce::analyze {
namespace {

constexpr std::int64_t noon = 1'795'176'000;  // of a day in 2026
constexpr std::int64_t day = 86400;

IntervalRow interval(std::int64_t seconds, std::string src = "10.0.0.1") {
  IntervalRow row;
  row.time.seconds = seconds;
  row.src = std::move(src);
  row.packets = 7;
  row.pair_key = 5;
  return row;
}

const StoreBlock* block_of(const StoreBatch& batch, std::string_view table) {
  for (const StoreBlock& block : batch.blocks) {
    if (block.table->name == table) return &block;
  }
  return nullptr;
}

TEST(Batch, is_read_as_it_was_written) {
  BatchMaker maker("h", "eth0", 42, 3);
  maker.add(interval(noon));
  maker.add(interval(noon + 1, "fe80::1"));
  HeartbeatRow beat;
  beat.time.seconds = noon;
  const std::vector<StoreBatch> batches = maker.take(beat);
  ASSERT_EQ(batches.size(), 1U);
  const std::string bytes = encode(batches[0]) + "rest";
  std::string_view rest = bytes;
  const auto read = decode(rest);
  ASSERT_TRUE(read.has_value()) << read.error().describe();
  EXPECT_EQ(rest, "rest");
  EXPECT_EQ(read->run, 42U);
  EXPECT_EQ(read->seq, 3U);
  EXPECT_EQ(read->rows(), 3U);
  EXPECT_EQ(encode(*read) + "rest", bytes);
  EXPECT_EQ(read->blocks.back().table->name, "heartbeats");
}

TEST(Batch, rows_of_each_day_are_a_batch_of_their_own) {
  BatchMaker maker("h", "", 1);
  maker.add(interval(noon));
  maker.add(interval(noon + day));
  maker.add(interval(noon));
  HeartbeatRow beat;
  beat.time.seconds = noon;
  beat.packets = 99;
  const std::vector<StoreBatch> batches = maker.take(beat);
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(block_of(batches[0], "intervals")->rows, 2U);
  EXPECT_EQ(block_of(batches[1], "intervals")->rows, 1U);
  EXPECT_EQ(batches[0].seq, 0U);
  EXPECT_EQ(batches[1].seq, 1U);
  // Only one of the heartbeats counts.
  EXPECT_NE(block_of(batches[0], "heartbeats")->text.find("\t99\t"), std::string::npos);
  EXPECT_EQ(block_of(batches[1], "heartbeats")->text.find("\t99\t"), std::string::npos);
}

TEST(Batch, has_an_upper_limit_of_rows) {
  BatchMaker maker("h", "", 1);
  for (std::uint64_t i = 0; i < BatchMaker::rows_at_most + 1; ++i) maker.add(interval(noon));
  HeartbeatRow beat;
  beat.time.seconds = noon;
  const std::vector<StoreBatch> batches = maker.take(beat);
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[0].rows(), BatchMaker::rows_at_most + 1);
  EXPECT_EQ(batches[1].rows(), 2U);
}

TEST(Batch, text_of_captures_cannot_end_a_cell_or_a_row) {
  const std::string hostile("a\tb\nc\\d\r'; DROP TABLE intervals;--\0x", 37);
  BatchMaker maker(hostile, "", 1);
  maker.add(interval(noon, hostile));
  HeartbeatRow beat;
  beat.time.seconds = noon;
  const StoreBatch batch = maker.take(beat).at(0);
  std::string_view text = block_of(batch, "intervals")->text;
  std::vector<std::string> cells;
  ASSERT_TRUE(next_row(text, cells));
  EXPECT_EQ(cells.size(), block_of(batch, "intervals")->table->columns.size());
  // Control characters other than tab and line feed are replaced, as in all exports.
  EXPECT_EQ(cells[1].substr(0, 7), "a\tb\nc\\d");
  EXPECT_NE(cells[1].find("'; DROP TABLE intervals;--"), std::string::npos);
  EXPECT_FALSE(next_row(text, cells));
}

TEST(Batch, what_is_none_is_refused) {
  BatchMaker maker("h", "", 1);
  maker.add(interval(noon));
  HeartbeatRow beat;
  beat.time.seconds = noon;
  const std::string whole = encode(maker.take(beat).at(0));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::string_view part = std::string_view(whole).substr(0, size);
    EXPECT_FALSE(decode(part).has_value()) << size;
  }
  for (const char* text :
       {"\n", "x\t1\t2\t3\t4\n", "roceanalyze-batch\t2\t1\t1\t0\n", "roceanalyze-batch\t1\t-1\t1\t0\n",
        "roceanalyze-batch\t1\t1\t1\t1\nintervals\t1\t99999999999\ttime\n"}) {
    std::string_view bytes = text;
    EXPECT_FALSE(decode(bytes).has_value()) << text;
  }
}

}  // namespace
}  // namespace roce::analyze
