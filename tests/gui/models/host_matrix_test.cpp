// SPDX-License-Identifier: Apache-2.0
#include "gui/models/host_matrix.hpp"

#include <gtest/gtest.h>

#include "analyze/pipeline/analysis.hpp"
#include "capture/core/source.hpp"
#include "tests/analyze/results/hand_made.hpp"
#include "tests/gui/support.hpp"

namespace roce::gui {
namespace {

using analyze::ipv4;

constexpr std::size_t lost = 0;
constexpr std::size_t latency = 2;
constexpr std::size_t bytes = 5;

/// Each host sends to the next one; the last sends to none.
analyze::Snapshot ring(std::uint8_t hosts) {
  analyze::Snapshot s;
  for (std::uint8_t i = 1; i < hosts; ++i)
    s.flows.push_back(analyze::made_flow(i, i, static_cast<std::uint8_t>(i + 1), 0x11, 100, 1000U * i));
  return s;
}

TEST(HostMatrix, RowsSendAndColumnsReceive) {
  const analyze::Snapshot s = analyze::hand_made();
  const HostMatrix matrix(s);
  ASSERT_EQ(matrix.size(), 4U);
  EXPECT_EQ(matrix.name(3).toStdString(), "10.0.0.4");
  ASSERT_TRUE(matrix.cell(0, 1));
  ASSERT_TRUE(matrix.cell(1, 0));
  EXPECT_FALSE(matrix.cell(3, 2)) << "10.0.0.4 sends nothing";
  EXPECT_FALSE(matrix.cell(0, 0));
  EXPECT_FALSE(matrix.cell(4, 0)) << "no such host";
  EXPECT_EQ(matrix.cell(ipv4(3), ipv4(4)), matrix.cell(2, 3));
  EXPECT_FALSE(matrix.cell(ipv4(9), ipv4(4)));
  const HostMatrix::Cell& cell = matrix.cells()[*matrix.cell(0, 1)];
  EXPECT_NEAR(cell.values[lost].value_or(0), 9.0 / 1003, 1e-6);
  EXPECT_EQ(cell.values[bytes], 1'100'000.0F);
  EXPECT_FALSE(matrix.cells()[*matrix.cell(2, 3)].values[latency]) << "no operation, no latency";
}

// What pairs say adds up to what flows say.
TEST(HostMatrix, PairsAddUpInEverySample) {
  for (const std::string& name : all_samples()) {
    SCOPED_TRACE(name);
    auto source = capture::open_files({sample(name)});
    ASSERT_TRUE(source);
    const auto snapshot = analyze::analyze(**source, {});
    std::uint64_t packets = 0;
    std::uint64_t lost_packets = 0;
    std::uint64_t repeats = 0;
    for (const analyze::HostPairRow& pair : analyze::host_pair_rows(*snapshot)) {
      packets += pair.packets;
      lost_packets += analyze::lost_in_network(pair.lost);
      repeats += pair.retransmitted;
    }
    for (const analyze::Flow& flow : snapshot->flows) {
      packets -= flow.packets;
      lost_packets -= analyze::lost_in_network(flow.sequence().lost);
      repeats -= flow.sequence().retransmitted_packets();
    }
    EXPECT_EQ(packets, 0U);
    EXPECT_EQ(lost_packets, 0U);
    EXPECT_EQ(repeats, 0U);
    EXPECT_EQ(HostMatrix(*snapshot).cells().size(), analyze::host_pair_rows(*snapshot).size());
  }
}

TEST(HostMatrix, CountsWhoSendsToOne) {
  analyze::Snapshot s = ring(4);
  s.flows.push_back(analyze::made_flow(9, 1, 4, 0x12, 10, 100));
  const HostMatrix matrix(s);
  EXPECT_EQ(matrix.senders(0), 0U);
  EXPECT_EQ(matrix.senders(3), 2U);
  EXPECT_EQ(matrix.most_senders(), 2U);
}

// A capture that lacks packets proves neither a loss nor that there was none.
TEST(HostMatrix, SaysNothingOfLossesThatTheCaptureCannotShow) {
  analyze::Snapshot s = analyze::hand_made();
  s.completeness.opcode_filtered = {"RC Acknowledge"};
  ASSERT_FALSE(s.completeness.may_judge_losses());
  const HostMatrix matrix(s);
  const HostMatrix::Cell& cell = matrix.cells()[*matrix.cell(0, 1)];
  EXPECT_FALSE(cell.values[lost]);
  EXPECT_TRUE(cell.values[bytes]);

  analyze::Snapshot open = analyze::hand_made();
  open.flows[1].sequence_to_change().lost[static_cast<std::size_t>(analyze::Lost::undecided)] = 2;
  const HostMatrix left_open(open);
  EXPECT_FALSE(left_open.cells()[*left_open.cell(1, 0)].values[lost]) << "lost, or not captured";
  EXPECT_TRUE(left_open.cells()[*left_open.cell(0, 1)].values[lost]);
}

TEST(HostMatrix, OneInTenThousandIsSeenBesideOneInTen) {
  const MatrixScale scale = matrix_scale(HostMatrix(ring(3)), lost);
  EXPECT_EQ(scale.shade(0), 0);
  EXPECT_GT(scale.shade(1e-4), 0.2);
  EXPECT_GT(scale.shade(0.1), scale.shade(0.01));
  EXPECT_EQ(scale.shade(0.5), 1);
  // Of shares the same in each capture; of other values by what there is.
  EXPECT_EQ(scale, matrix_scale(HostMatrix(ring(4)), lost));
  EXPECT_EQ(matrix_scale(HostMatrix(ring(4)), bytes), (MatrixScale{1000, 3000}));
  EXPECT_EQ(matrix_scale(HostMatrix(), bytes), MatrixScale{});
}

TEST(HostMatrix, ABinForEachHostShowsItsCell) {
  const HostMatrix matrix(ring(4));
  const std::vector<MatrixBin> bins = matrix_bins(matrix, bytes, {0, 0, 4, 4}, 4, 4);
  for (std::size_t from = 0; from < 4; ++from) {
    for (std::size_t to = 0; to < 4; ++to)
      EXPECT_EQ(bins[from * 4 + to].any, matrix.cell(from, to).has_value()) << from << ' ' << to;
  }
  EXPECT_EQ(bins[1].value, 1000.0F);
  // More bins than hosts: a host has as many as it is wide.
  const std::vector<MatrixBin> wide = matrix_bins(matrix, bytes, {0, 0, 4, 4}, 8, 8);
  EXPECT_TRUE(wide[2].any && wide[3].any && wide[8 + 2].any && wide[8 + 3].any);
  EXPECT_FALSE(wide[1].any || wide[4].any || wide[16 + 2].any);
}

// A fabric is larger than the screen: no pair may vanish, and the worst is what is to be seen.
TEST(HostMatrix, HostsThatShareABinShowTheWorst) {
  const HostMatrix matrix(ring(200));
  const std::vector<MatrixBin> bins = matrix_bins(matrix, bytes, {0, 0, 200, 200}, 7, 7);
  float most = 0;
  for (const MatrixBin& bin : bins) most = std::max(most, bin.value.value_or(0));
  EXPECT_EQ(most, 199'000.0F);
  EXPECT_EQ(bins.back().value, 199'000.0F);
  EXPECT_TRUE(bins.front().any);
  EXPECT_FALSE(bins[6].any) << "the first hosts send nothing to the last ones";
  // What is not in the view is in no bin.
  for (const MatrixBin& bin : matrix_bins(matrix, bytes, {100, 0, 50, 50}, 10, 10)) EXPECT_FALSE(bin.any);
  EXPECT_TRUE(matrix_bins(matrix, bytes, {}, 3, 3)[0].any == false);
  EXPECT_TRUE(matrix_bins(matrix, bytes, {0, 0, 200, 200}, 0, 5).empty());
}

TEST(HostMatrix, ZoomAndMoveStayInside) {
  const QRectF whole(0, 0, 100, 100);
  const QRectF near = zoomed_matrix(whole, 0.5, {100, 0}, 100);
  EXPECT_EQ(near, QRectF(50, 0, 50, 50));
  EXPECT_EQ(zoomed_matrix(near, 10, {75, 25}, 100), whole);
  EXPECT_EQ(zoomed_matrix(whole, 1e-6, {50, 50}, 100).width(), 4);
  EXPECT_EQ(moved_matrix(near, {500, -3}, 100), QRectF(50, 0, 50, 50));
  EXPECT_EQ(moved_matrix(near, {-20, 10}, 100), QRectF(30, 10, 50, 50));
  // Two hosts fill it.
  EXPECT_EQ(zoomed_matrix({0, 0, 2, 2}, 0.5, {1, 1}, 2), QRectF(0, 0, 2, 2));
}

TEST(HostMatrix, ValuesReadAsInTables) {
  EXPECT_EQ(measure_text(matrix_measures()[lost], 0.013).toStdString(), "1.3 %");
  EXPECT_EQ(measure_text(matrix_measures()[latency], 166e6).toStdString(), "166 ms");
  EXPECT_EQ(measure_text(matrix_measures()[bytes], 3.92e6).toStdString(), "3.92 MB");
}

}  // namespace
}  // namespace roce::gui
