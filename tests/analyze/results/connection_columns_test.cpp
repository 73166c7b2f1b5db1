// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/connection_columns.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/analyze/results/hand_made.hpp"

namespace roce::analyze {
namespace {

class ConnectionColumns : public ::testing::Test {
 protected:
  [[nodiscard]] std::string text(std::size_t row, std::string_view column) const {
    return find_connection_column(column)->text(rows_[row]);
  }
  [[nodiscard]] std::string exact(std::size_t row, std::string_view column) const {
    return find_connection_column(column)->machine_text(rows_[row]);
  }

  Snapshot snapshot_ = hand_made();
  std::vector<ConnectionRow> rows_ = connection_rows(snapshot_);
};

TEST_F(ConnectionColumns, names_are_distinct_and_every_cell_can_be_made) {
  std::set<std::string_view> names;
  for (const ConnectionColumn& column : connection_columns()) {
    EXPECT_TRUE(names.insert(column.name).second) << column.name;
    EXPECT_FALSE(column.heading.empty());
    EXPECT_FALSE(column.help.empty());
    for (const ConnectionRow& row : rows_) {
      (void)column.text(row);
      (void)column.machine_text(row);
      if (column.number != nullptr) (void)column.number(row);
    }
  }
  EXPECT_EQ(find_connection_column("nonsense"), nullptr);
}

TEST_F(ConnectionColumns, figures_come_from_both_flows) {
  EXPECT_EQ(exact(0, "retransmitted"), "9");
  EXPECT_EQ(exact(0, "retransmitted_nak"), "7");
  EXPECT_EQ(exact(0, "retransmitted_timeout"), "2");
  EXPECT_EQ(exact(0, "lost"), "10");
  EXPECT_EQ(exact(0, "lost_before_capture"), "3");
  EXPECT_EQ(exact(0, "lost_by_capture"), "1");
  EXPECT_EQ(exact(0, "packets"), "1200");
  EXPECT_EQ(exact(0, "naks"), "10");
  EXPECT_EQ(exact(0, "rnr_naks"), "2");
  EXPECT_EQ(exact(0, "cnps"), "3");
  EXPECT_EQ(exact(0, "goodput_bps"), "8000000");
  EXPECT_EQ(text(0, "goodput_bps"), "8.00 Mb/s");
  EXPECT_EQ(exact(0, "throughput_bps"), "8905600");
  EXPECT_EQ(exact(0, "cm_service"), "NVMe-oF");
  EXPECT_EQ(text(0, "evidence"), "cm nak");
  EXPECT_NEAR(std::stod(exact(0, "latency_p50_ns")), 50'000, 1700);
}

TEST_F(ConnectionColumns, what_is_not_known_is_empty_and_what_is_not_there_is_0_for_machines) {
  EXPECT_EQ(text(1, "a_qp"), "?");
  EXPECT_EQ(exact(1, "a_qp"), "");
  EXPECT_EQ(exact(1, "b_qp"), "68");
  EXPECT_EQ(text(1, "b_qp"), "0x000044");
  EXPECT_EQ(text(1, "state"), "half_seen");
  EXPECT_EQ(text(1, "lost"), "");
  EXPECT_EQ(exact(1, "lost"), "0");
  EXPECT_EQ(text(1, "goodput_bps"), "");
  EXPECT_EQ(exact(1, "latency_p50_ns"), "");
  EXPECT_EQ(exact(1, "b_flow"), "");
  EXPECT_EQ(text(1, "confidence"), "");
  EXPECT_EQ(rows_[1].trouble(), 0U);
  EXPECT_EQ(rows_[0].trouble(), 9U + 10U + 12U);
}

TEST_F(ConnectionColumns, a_flow_or_exchange_that_is_not_listed_is_no_trap) {
  snapshot_.flows.erase(snapshot_.flows.begin());
  snapshot_.exchanges.clear();
  const std::vector<ConnectionRow> rows = connection_rows(snapshot_);
  EXPECT_EQ(rows[0].flow(0), nullptr);
  EXPECT_EQ(rows[0].cm(), nullptr);
  EXPECT_EQ(rows[0].lost(), 1U);
}

TEST_F(ConnectionColumns, sorting_puts_numbers_down_texts_up_and_keeps_ties) {
  std::vector<const ConnectionRow*> rows{&rows_[0], &rows_[1]};
  sort_rows(rows, *find_connection_column("b_qp"), false);
  EXPECT_EQ((*rows[0])->id, 1U);
  sort_rows(rows, *find_connection_column("lost"), false);
  EXPECT_EQ((*rows[0])->id, 0U);
  sort_rows(rows, *find_connection_column("a"), true);
  EXPECT_EQ((*rows[0])->id, 1U);
  sort_rows(rows, *find_connection_column("service"), false);
  EXPECT_EQ((*rows[0])->id, 1U);
  sort_rows(rows, *find_connection_column("id"), false);
  EXPECT_EQ((*rows[0])->id, 0U);
}

}  // namespace
}  // namespace roce::analyze
