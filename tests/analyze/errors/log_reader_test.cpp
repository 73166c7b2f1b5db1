// SPDX-License-Identifier: Apache-2.0
#include "analyze/errors/log_reader.hpp"

#include <gtest/gtest.h>

#include "analyze/errors/completion_status.hpp"
#include "analyze/errors/log_values.hpp"
#include "tests/analyze/errors/read_log.hpp"

namespace roce::analyze {
namespace {

using test::one_error;
using test::read_log;

constexpr std::string_view failed = "Failed status 12: wr_id 0 syndrom 0x81";

TEST(LogReader, PiecesAndEndsOfLinesDoNotMatter) {
  const std::string log = "a\r\n\r\n" + std::string(failed) + "\r\nqp#17 state -> ERR";
  for (std::size_t piece = 1; piece <= log.size(); ++piece) {
    const ErrorLog read = read_log(log, piece);
    ASSERT_EQ(read.errors.size(), 2U) << piece;
    EXPECT_EQ(read.errors[0].line, 3U);
    EXPECT_EQ(read.errors[0].text, failed);
    EXPECT_EQ(read.errors[1].line, 4U);
    EXPECT_EQ(read.lines, 4U);
    EXPECT_EQ(read.bytes, log.size());
  }
}

TEST(LogReader, EmptyLogs) {
  EXPECT_EQ(read_log("").lines, 0U);
  EXPECT_EQ(read_log("\n").lines, 1U);
  EXPECT_EQ(read_log("\n\n").lines, 2U);
  EXPECT_TRUE(read_log(std::string(100'000, '\0')).errors.empty());
}

TEST(LogReader, OnlyTheBeginningOfALongLineCounts) {
  std::string log = std::string(failed) + std::string(3'000'000, 'x') + "\n";
  EXPECT_EQ(read_log(log, 65536).errors.size(), 1U);
  EXPECT_LE(read_log(log, 65536).errors[0].text.size(), LoggedError::longest_text);
  log = std::string(LogReader::line_limit, 'x') + std::string(failed) + "\nqp#17 state -> ERR\n";
  const LoggedError error = one_error(log);
  EXPECT_EQ(error.program, LogProgram::rxe);
  EXPECT_EQ(error.line, 2U);
}

TEST(LogReader, RepeatedErrorsAreOne) {
  std::string log;
  for (int i = 0; i < 1000; ++i) log += std::string(failed) + "\nnothing\n";
  const LoggedError error = one_error(log);
  EXPECT_EQ(error.times, 1000U);
  EXPECT_EQ(error.line, 1U);
  EXPECT_EQ(error.last_line, 1999U);
}

TEST(LogReader, ErrorsAreBounded) {
  std::string log;
  for (std::size_t i = 1; i <= LogReader::error_limit + 10; ++i)
    log += "qp#" + std::to_string(i) + " state -> ERR\n";
  const ErrorLog read = read_log(log);
  EXPECT_EQ(read.errors.size(), LogReader::error_limit);
  EXPECT_EQ(read.dropped, 10U);
}

TEST(LogReader, ErrorsThatAreGoingOnAreBounded) {
  std::string log;
  for (int i = 0; i < 200; ++i)
    log += "[n1:" + std::to_string(i) + ":0:1] ib_mlx5_log.c:1  Generic on mlx5_0:" + std::to_string(i) +
           "/RoCE (synd 0x7 vend 0x1 hw_synd 0/0)\n";
  const ErrorLog read = read_log(log);
  EXPECT_EQ(read.errors.size(), 200U);
  EXPECT_EQ(read.errors[0].status, wc_general);
}

TEST(LogReader, ALineLongAfterAnErrorIsNotPartOfIt) {
  std::string log = "[n1:1:0:1] x.c:1  Generic on mlx5_0:1/RoCE (synd 0x15 vend 0x81 hw_synd 0/0)\n";
  for (std::uint64_t i = 0; i <= LogReader::open_lines; ++i) log += "\n";
  log += "[n1:1:0:1] x.c:1  RC QP 0x22 wqe[0]: SEND s--\n";
  const ErrorLog read = read_log(log);
  ASSERT_EQ(read.errors.size(), 2U);
  EXPECT_FALSE(read.errors[0].local_qp);
  EXPECT_EQ(read.errors[1].local_qp, 0x22U);
}

TEST(CompletionStatus, AsProgramsWriteIt) {
  const struct {
    std::string_view text;
    unsigned status;  ///< 0: none
  } cases[] = {{"12", 12},
               {"12:", 12},
               {"12 opcode", 12},
               {"12abc", 0},
               {"0", 0},
               {"24", 0},
               {"4294967308", 0},
               {"-1", 0},
               {"IBV_WC_RETRY_EXC_ERR(12)", 12},
               {"(IBV_WC_REM_OP_ERR)11", 11},
               {"IB_WC_WR_FLUSH_ERR", 5},
               {"IBV_WC_SOMETHING", 0},
               {"transport retry counter exceeded (12)", 12},
               {"transport retry counter exceeded", 12},
               {"WR flushed (5)", 5},
               {"Work Request Flushed Error", 5},
               {"'local QP operation error (2)'", 2},
               {"memory bind operation error (6)", 6},
               {"success (0)", 0},
               {"some new words (13)", 13},
               {"some new words (13", 13},
               {"some new words", 0},
               {"", 0}};
  for (const auto& each : cases)
    EXPECT_EQ(read_completion_status(each.text).value_or(0), each.status) << each.text;
  EXPECT_EQ(completion_text(12), "IBV_WC_RETRY_EXC_ERR (12, \"transport retry counter exceeded\")");
  EXPECT_EQ(completion_text(99), "completion status 99");
}

TEST(LogValues, Addresses) {
  EXPECT_TRUE(read_address("::ffff:10.0.0.1 remoteGids"));
  EXPECT_EQ(read_address("10.0.0.1."), read_address("::ffff:10.0.0.1"));
  EXPECT_TRUE(read_address("fe80::1]"));
  for (const std::string_view none : {"", "::", "10.0.0", "10.0.0.256", "fe80:", "x", "1:2:3:4:5:6:7:8:9"})
    EXPECT_FALSE(read_address(none)) << none;
  EXPECT_FALSE(read_address(std::string(5000, 'f')));
  EXPECT_EQ(read_decimal_gid("00:00:00:00:00:00:00:00:00:00:255:255:10:77:00:01"), read_address("10.77.0.1"));
  EXPECT_EQ(read_decimal_gid("254:128:00:00:00:00:00:00:00:00:00:00:00:00:00:01"), read_address("fe80::1"));
  EXPECT_FALSE(read_decimal_gid("00:00:00:00:00:00:00:00:00:00:256:255:10:77:00:01"));
  EXPECT_FALSE(read_decimal_gid("00:00"));
}

TEST(LogValues, QueuePairsAndDevices) {
  EXPECT_EQ(read_qp("0x2c10 wqe", true), 0x2c10U);
  EXPECT_EQ(read_qp("2c10", true), 0x2c10U);
  EXPECT_EQ(read_qp("11280)", false), 11280U);
  EXPECT_FALSE(read_qp("0", false));
  EXPECT_FALSE(read_qp("16777216", false));
  EXPECT_EQ(read_device("mlx5_0:1/RoCE"), "mlx5_0:1");
  EXPECT_EQ(read_device("roceP2p1s0f0"), "roceP2p1s0f0");
  EXPECT_EQ(read_device("mlx5_0: x"), "mlx5_0");
  EXPECT_EQ(read_device("QP 0x12"), "");
  EXPECT_EQ(read_device("12"), "");
}

TEST(LogValues, Times) {
  constexpr std::int64_t at = 1'795'172'933'500'000'000;  // 2026-11-20 11:08:53.5 UTC
  const struct {
    std::string_view line;
    bool known;
  } times[] = {{"2026-11-20 11:08:53.5 x", false},       {"[2026-11-20 11:08:53.500] x", false},
               {"2026-11-20 11:08:53,500 ERROR", false}, {"2026-11-20T11:08:53.5Z x", true},
               {"2026-11-20T12:08:53.5+01:00 x", true},  {"2026-11-20T12:08:53.5+0100 x", true},
               {"[1795172933.500000] [n1:1:0]", true}};
  for (const auto& each : times) {
    const auto time = read_log_time(each.line);
    ASSERT_TRUE(time) << each.line;
    EXPECT_EQ(time->ns, at) << each.line;
    EXPECT_EQ(time->zone_known, each.known) << each.line;
  }
  for (const std::string_view none : {"", "[166755.330649] x", "Nov 20 11:08:53 n1", "2026-11-20",
                                      "2026-13-20 11:08:53", "9999999999.9999999999x", "2026-11-20 99:99:99"})
    EXPECT_FALSE(read_log_time(none)) << none;
}

}  // namespace
}  // namespace roce::analyze
