// SPDX-License-Identifier: Apache-2.0
#include "analyze/trace/range_series.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "analyze/packet/verdict_store.hpp"
#include "analyze/pipeline/analysis.hpp"
#include "capture/core/source.hpp"

namespace roce::analyze {
namespace {

using Bucket = Series::Bucket;

Bucket sum_of(const Series& series) {
  Bucket sum;
  for (const Bucket& bucket : series.buckets()) {
    sum.packets += bucket.packets;
    sum.bytes += bucket.bytes;
    sum.goodput_bytes += bucket.goodput_bytes;
    sum.retransmitted += bucket.retransmitted;
    sum.lost += bucket.lost;
    sum.ce += bucket.ce;
    sum.cnps += bucket.cnps;
    sum.naks += bucket.naks;
    sum.rnr_naks += bucket.rnr_naks;
  }
  return sum;
}

void expect_same(const Bucket& a, const Bucket& b, const std::string& name) {
  EXPECT_EQ(a.packets, b.packets) << name;
  EXPECT_EQ(a.bytes, b.bytes) << name;
  EXPECT_EQ(a.goodput_bytes, b.goodput_bytes) << name;
  EXPECT_EQ(a.retransmitted, b.retransmitted) << name;
  EXPECT_EQ(a.lost, b.lost) << name;
  EXPECT_EQ(a.ce, b.ce) << name;
  EXPECT_EQ(a.cnps, b.cnps) << name;
  EXPECT_EQ(a.naks, b.naks) << name;
  EXPECT_EQ(a.rnr_naks, b.rnr_naks) << name;
}

struct Read {
  std::vector<Series> parts;
  std::shared_ptr<const Snapshot> snapshot;
};

/// The whole capture as several ranges, one after the other.
Read read_again(const std::string& path, std::int64_t parts) {
  Read read;
  VerdictStore verdicts;
  AnalysisOptions options;
  options.verdicts = &verdicts;
  auto source = capture::open_files({path});
  if (!source) return read;
  read.snapshot = analyze(**source, options);
  if (!read.snapshot->totals.any_time) return read;
  const std::int64_t begin = read.snapshot->totals.first_time_ns;
  const std::int64_t length = read.snapshot->totals.last_time_ns + 1 - begin;
  for (std::int64_t part = 0; part < parts; ++part) {
    const std::int64_t from = begin + length / parts * part;
    const std::int64_t to = part + 1 == parts ? begin + length : begin + length / parts * (part + 1);
    RangeSeries range(from, to, RangeSeries::width_for(to - from, 1000), true, {});
    auto again = capture::open_files({path});
    capture::FrameBatch batch;
    std::uint64_t number = 0;
    while ((*again)->next_batch(batch, 1000).value_or(0) != 0) {
      for (const capture::Frame& frame : batch.frames) range.see(frame, verdicts.find(++number));
      batch.clear();
    }
    read.parts.push_back(range.series());
  }
  return read;
}

TEST(RangeSeries, RangesAddUpToTheWholeOfEverySample) {
  for (const auto& entry : std::filesystem::directory_iterator(ROCE_SAMPLES)) {
    const std::string name = entry.path().filename();
    if (name.find(".pcap") == std::string::npos) continue;
    const Read read = read_again(entry.path(), 3);
    ASSERT_TRUE(read.snapshot) << name;
    if (read.parts.empty()) continue;
    Series all(0, 1);
    Bucket& sum = all.at(0);
    for (const Series& part : read.parts) {
      EXPECT_LE(part.buckets().size(), Series::limit);
      const Bucket of_part = sum_of(part);
      sum.packets += of_part.packets;
      sum.bytes += of_part.bytes;
      sum.goodput_bytes += of_part.goodput_bytes;
      sum.retransmitted += of_part.retransmitted;
      sum.lost += of_part.lost;
      sum.ce += of_part.ce;
      sum.cnps += of_part.cnps;
      sum.naks += of_part.naks;
      sum.rnr_naks += of_part.rnr_naks;
    }
    expect_same(sum, sum_of(read.snapshot->series), name);
  }
}

TEST(RangeSeries, HasTheWidthThatIsAsked) {
  EXPECT_EQ(RangeSeries::width_for(1'000'000, 1000), 1000);
  EXPECT_EQ(RangeSeries::width_for(10, 1000), 1);
  EXPECT_LE(1'000'000'007 / RangeSeries::width_for(1'000'000'007, 1'000'000),
            static_cast<std::int64_t>(Series::limit));
  EXPECT_EQ(RangeSeries::width_for(0, 0), 1);
}

}  // namespace
}  // namespace roce::analyze
