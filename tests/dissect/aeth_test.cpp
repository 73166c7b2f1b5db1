// SPDX-License-Identifier: Apache-2.0
#include "dissect/aeth.hpp"

#include <gtest/gtest.h>

namespace roce::dissect {
namespace {

// IBTA table 45 and the text of 9.7.5.2.8 / 9.7.7.2.4, as Linux (rxe's rnrnak_usec[]) has them too.
TEST(Aeth, credit_codes_grow_by_half_powers_of_two) {
  EXPECT_EQ(credits(0), 0U);
  EXPECT_EQ(credits(4), 4U);
  EXPECT_EQ(credits(5), 6U);
  EXPECT_EQ(credits(6), 8U);
  EXPECT_EQ(credits(13), 96U);
  EXPECT_EQ(credits(29), 24576U);
  EXPECT_EQ(credits(30), 32768U);
  for (std::uint8_t code = 6; code <= 28; ++code) EXPECT_EQ(*credits(code) * 2, *credits(code + 2)) << +code;
}

TEST(Aeth, code_31_means_no_credits_in_use) {
  EXPECT_EQ(credits(31), std::nullopt);
  EXPECT_EQ(credits(0x1f | 0x80), std::nullopt);
}

TEST(Aeth, rnr_timers) {
  EXPECT_EQ(rnr_timer_ns(0), 655'360'000U);
  EXPECT_EQ(rnr_timer_ns(1), 10'000U);
  EXPECT_EQ(rnr_timer_ns(3), 30'000U);
  EXPECT_EQ(rnr_timer_ns(12), 640'000U);
  EXPECT_EQ(rnr_timer_ns(14), 1'280'000U);
  EXPECT_EQ(rnr_timer_ns(31), 491'520'000U);
  for (std::uint8_t code = 2; code <= 29; ++code)
    EXPECT_EQ(rnr_timer_ns(code) * 2, rnr_timer_ns(code + 2)) << +code;
}

TEST(Aeth, kind_and_code_split_the_syndrome) {
  EXPECT_EQ(aeth_kind(0x1f), AethKind::ack);
  EXPECT_EQ(aeth_kind(0x2c), AethKind::rnr_nak);
  EXPECT_EQ(aeth_kind(0x40), AethKind::reserved);
  EXPECT_EQ(aeth_kind(0x60), AethKind::nak);
  EXPECT_EQ(aeth_kind(0xe0), AethKind::nak);
  EXPECT_EQ(aeth_code(0xec), 12);
}

TEST(Aeth, words) {
  EXPECT_EQ(syndrome_text(0x1f), "ACK");
  EXPECT_EQ(syndrome_text(0x2c), "RNR NAK 0.64 ms");
  EXPECT_EQ(syndrome_text(0x20), "RNR NAK 655.36 ms");
  EXPECT_EQ(syndrome_text(0x21), "RNR NAK 0.01 ms");
  EXPECT_EQ(syndrome_text(0x60), "NAK PSN sequence error");
  EXPECT_EQ(syndrome_text(0x62), "NAK remote access error");
  EXPECT_EQ(syndrome_text(0x71), "NAK code 17");
  EXPECT_EQ(syndrome_text(0x5f), "reserved 0x5f");
  EXPECT_EQ(nak_name(3), "remote operational error");
  EXPECT_EQ(nak_name(5), "");
}

}  // namespace
}  // namespace roce::dissect
