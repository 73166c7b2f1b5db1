// SPDX-License-Identifier: Apache-2.0
// Intervals of a capture, by interim snapshots: their sums are what the whole capture has.
#include "analyze/store/live_rows.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analyze/pipeline/analysis.hpp"
#include "capture/core/source.hpp"

namespace roce::analyze {
namespace {

constexpr std::int64_t ten_seconds = 10'000'000'000;

/// Snapshots after so many packets each, the last one final.
std::vector<std::shared_ptr<const Snapshot>> snapshots(const std::string& name, std::size_t step) {
  std::vector<std::shared_ptr<const Snapshot>> all;
  for (std::size_t packets = step;; packets += step) {
    auto source = capture::open_files({std::string(ROCE_SAMPLES) + "/" + name});
    EXPECT_TRUE(source.has_value());
    AnalysisOptions options;
    options.jobs = 1;
    options.epoch_frames = step;
    std::stop_source stop;
    std::uint64_t seen = 0;
    options.progress = [&](const capture::CaptureSource&, std::uint64_t frames) {
      seen = frames;
      if (frames >= packets) stop.request_stop();
    };
    const auto snapshot = std::make_shared<Snapshot>(*analyze(**source, options, stop.get_token()));
    snapshot->final = seen < packets;
    all.push_back(snapshot);
    if (snapshot->final) return all;
  }
}

/// Sums of columns over all rows of a table, by the columns of a key.
std::map<std::string, std::vector<std::uint64_t>> sums(const std::vector<StoreBatch>& batches,
                                                       std::string_view table,
                                                       const std::vector<std::string>& key,
                                                       const std::vector<std::string>& columns) {
  std::map<std::string, std::vector<std::uint64_t>> all;
  const auto known = find_store_table(table)->columns;
  const auto at = [&](const std::string& name) {
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (known[i].name == name) return i;
    }
    ADD_FAILURE() << name;
    return std::size_t{0};
  };
  for (const StoreBatch& batch : batches) {
    for (const StoreBlock& block : batch.blocks) {
      if (block.table->name != table) continue;
      std::string_view text = block.text;
      std::vector<std::string> cells;
      while (next_row(text, cells)) {
        std::string of;
        for (const std::string& name : key) of += cells[at(name)] + "|";
        std::vector<std::uint64_t>& sum = all[of];
        sum.resize(columns.size());
        for (std::size_t i = 0; i < columns.size(); ++i) sum[i] += std::stoull(cells[at(columns[i])]);
      }
    }
  }
  // Rows with nothing but a mark.
  std::erase_if(all, [](const auto& each) {
    for (const std::uint64_t number : each.second) {
      if (number != 0) return false;
    }
    return true;
  });
  return all;
}

class LiveRowsTest : public ::testing::TestWithParam<const char*> {};

TEST_P(LiveRowsTest, intervals_add_up_to_the_capture) {
  const auto all = snapshots(GetParam(), 400);
  ASSERT_GT(all.size(), 2U);
  StoreIdentity identity;
  identity.host = "h";
  StoreRun run;
  run.number = 5;
  LiveRows rows(identity, run);
  std::vector<StoreBatch> live;
  std::int64_t time = 1'795'176'000'000'000'000;
  for (const auto& snapshot : all) {
    rows.add(*snapshot, nullptr, {time, time + ten_seconds});
    for (StoreBatch& batch : rows.take(*snapshot, {time, time + ten_seconds}, 0))
      live.push_back(std::move(batch));
    time += ten_seconds;
  }
  // Nothing moved: nothing but a heartbeat.
  rows.add(*all.back(), nullptr, {time, time + ten_seconds});
  const auto quiet = rows.take(*all.back(), {time, time + ten_seconds}, 3);
  ASSERT_EQ(quiet.size(), 1U);
  EXPECT_EQ(quiet[0].rows(), 1U);
  EXPECT_EQ(quiet[0].blocks[0].table->name, "heartbeats");
  for (std::size_t i = 0; i < live.size(); ++i) EXPECT_EQ(live[i].seq, i);

  const auto whole = capture_batches(*all.back(), nullptr, identity, run);
  const std::vector<std::string> columns{
      "packets",      "bytes", "goodput_bytes", "operations", "retransmitted", "lost_before", "lost_after",
      "out_of_order", "naks",  "rnr_naks",      "acks",       "cnps",          "ce"};
  EXPECT_EQ(sums(live, "intervals", {"src", "dst", "dst_qp", "epoch"}, columns),
            sums(whole, "intervals", {"src", "dst", "dst_qp", "epoch"}, columns));
  EXPECT_EQ(sums(live, "pairs", {"src", "dst"}, columns), sums(whole, "pairs", {"src", "dst"}, columns));
  EXPECT_EQ(sums(live, "heartbeats", {}, {"packets", "bytes", "roce_packets"}),
            sums(whole, "heartbeats", {}, {"packets", "bytes", "roce_packets"}));
  EXPECT_EQ(sums(live, "markings", {"class", "src", "dst", "dscp", "ecn"}, {"packets"}),
            sums(whole, "markings", {"class", "src", "dst", "dscp", "ecn"}, {"packets"}));
  EXPECT_EQ(sums(live, "incidents", {"number", "what"}, {"lost_at_least", "repeated_packets"}),
            sums(whole, "incidents", {"number", "what"}, {"lost_at_least", "repeated_packets"}));
  EXPECT_EQ(sums(live, "pauses", {"port", "kind", "priority"}, {"xoff", "xon", "pauses"}),
            sums(whole, "pauses", {"port", "kind", "priority"}, {"xoff", "xon", "pauses"}));
  EXPECT_EQ(sums(live, "runs", {"run"}, {"run"}).size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Samples, LiveRowsTest,
                         ::testing::Values("04_write_loss1.cb.pcap.zst", "11_three_hosts.pcap.zst",
                                           "06_mix_4qp.pcap.zst"));

}  // namespace
}  // namespace roce::analyze
