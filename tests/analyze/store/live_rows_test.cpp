// SPDX-License-Identifier: Apache-2.0
// Intervals of a capture, by interim snapshots: their sums are what the whole capture has.
#include "analyze/store/live_rows.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
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
std::map<std::string, std::vector<std::int64_t>> sums(const std::vector<StoreBatch>& batches,
                                                      std::string_view table,
                                                      const std::vector<std::string>& key,
                                                      const std::vector<std::string>& columns) {
  std::map<std::string, std::vector<std::int64_t>> all;
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
        std::vector<std::int64_t>& sum = all[of];
        sum.resize(columns.size());
        for (std::size_t i = 0; i < columns.size(); ++i) sum[i] += std::stoll(cells[at(columns[i])]);
      }
    }
  }
  // Rows with nothing but a mark.
  std::erase_if(all, [](const auto& each) {
    for (const std::int64_t number : each.second) {
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

/// A snapshot with flows from 10.0.0.1 to queue pairs 1, 2 ... that have so many packets of 1000 bytes.
Snapshot with_flows(const std::vector<std::uint64_t>& packets) {
  Snapshot snapshot;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    Flow& flow = snapshot.flows.emplace_back();
    const unsigned char src[] = {10, 0, 0, 1}, dst[] = {10, 0, 0, 2};
    flow.id = i;
    flow.key.src = dissect::IpAddress::v4(src);
    flow.key.dst = dissect::IpAddress::v4(dst);
    flow.key.dst_qp = static_cast<std::uint32_t>(i) + 1;
    flow.packets = packets[i];
    flow.bytes = 1000 * packets[i];
  }
  return snapshot;
}

/// Packets that rows tell of each queue pair after all these snapshots.
struct Told {
  std::map<std::string, std::vector<std::int64_t>> flows, pairs, heartbeats;
  std::size_t rows = 0;
};
Told told_of(const std::vector<Snapshot>& all) {
  LiveRows rows({}, {});
  std::vector<StoreBatch> batches;
  std::int64_t time = 1'795'176'000'000'000'000;
  for (const Snapshot& snapshot : all) {
    rows.add(snapshot, nullptr, {time, time + ten_seconds});
    for (StoreBatch& batch : rows.take(snapshot, {time, time + ten_seconds}, 0))
      batches.push_back(std::move(batch));
    time += ten_seconds;
  }
  Told told{sums(batches, "intervals", {"dst_qp"}, {"packets", "bytes"}),
            sums(batches, "pairs", {"src"}, {"packets", "bytes"}),
            sums(batches, "heartbeats", {}, {"roce_packets"})};
  for (const StoreBatch& batch : batches) {
    for (const StoreBlock& block : batch.blocks)
      told.rows += block.table->name == "intervals" ? block.rows : 0;
  }
  return told;
}

/// Packets turn out to be copies of a mirror only when later ones have told so.
TEST(LiveRowsOfCopies, what_was_told_too_much_is_taken_back) {
  const Told told =
      told_of({with_flows({100, 7}), with_flows({260, 7}), with_flows({180, 7}), with_flows({190, 7})});
  EXPECT_EQ(told.flows.at("1|"), (std::vector<std::int64_t>{190, 190'000}));
  EXPECT_EQ(told.flows.at("2|"), (std::vector<std::int64_t>{7, 7'000}));
  EXPECT_EQ(told.pairs.at("10.0.0.1|"), (std::vector<std::int64_t>{197, 197'000}));
  EXPECT_EQ(told.heartbeats.at(""), (std::vector<std::int64_t>{197}));
  EXPECT_EQ(told.rows, 5U);  // a flow at rest has none
}

/// The largest first; what has no room waits, and none becomes negative.
TEST(LiveRowsOfCopies, what_waits_for_room_is_told_later) {
  constexpr std::size_t more = 10;
  std::vector<std::uint64_t> packets(LiveRows::flows_at_most + more, 100);
  for (std::size_t i = 0; i < more; ++i) packets[i] = 5 + i;
  Told told = told_of({with_flows(packets)});
  EXPECT_EQ(told.flows.size(), LiveRows::flows_at_most);
  EXPECT_EQ(told.flows.count("1|"), 0U);
  std::vector<std::uint64_t> fewer = packets;
  fewer[0] = 3;
  told = told_of({with_flows(packets), with_flows(fewer)});
  EXPECT_EQ(told.flows.size(), packets.size());
  EXPECT_EQ(told.flows.at("1|"), (std::vector<std::int64_t>{3, 3'000}));
  EXPECT_EQ(told.rows, packets.size());
  const auto all =
      static_cast<std::int64_t>(100 * LiveRows::flows_at_most + 5 * more + more * (more - 1) / 2 - 2);
  EXPECT_EQ(told.pairs.at("10.0.0.1|"), (std::vector<std::int64_t>{all, 1000 * all}));
}

INSTANTIATE_TEST_SUITE_P(Samples, LiveRowsTest,
                         ::testing::Values("04_write_loss1.cb.pcap.zst", "11_three_hosts.pcap.zst",
                                           "06_mix_4qp.pcap.zst"));

}  // namespace
}  // namespace roce::analyze
