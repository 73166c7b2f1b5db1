// SPDX-License-Identifier: Apache-2.0
#include "dissect/field.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "dissect/header_table.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/headers/ip.hpp"

namespace roce::dissect {
namespace {

constexpr std::array<std::uint8_t, 12> bytes = {0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc,
                                                0xde, 0xf0, 0x0f, 0x1e, 0x2d, 0x3c};

std::uint64_t at(std::uint16_t bit, std::uint16_t bits) {
  return read_bits(Field{"x", "x", bit, bits}, bytes.data());
}

TEST(Field, reads_bits_most_significant_first) {
  EXPECT_EQ(at(0, 4), 0x1U);
  EXPECT_EQ(at(4, 4), 0x2U);
  EXPECT_EQ(at(4, 8), 0x23U);
  EXPECT_EQ(at(0, 1), 0U);
  EXPECT_EQ(at(3, 1), 1U);
  EXPECT_EQ(at(7, 2), 0U);
  EXPECT_EQ(at(8, 16), 0x3456U);
  EXPECT_EQ(at(12, 20), 0x45678U);
  EXPECT_EQ(at(0, 64), 0x123456789abcdef0U);
  EXPECT_EQ(at(32, 64), 0x9abcdef00f1e2d3cU);
  EXPECT_EQ(at(4, 60), 0x23456789abcdef0U);
}

constexpr Field within_a_byte{"x", "x", 10, 3};
constexpr Field over_bytes{"x", "x", 12, 20};

TEST(Field, compile_time_accessor_agrees) {
  static_assert(read<within_a_byte>(bytes.data()) == 6);
  static_assert(read<over_bytes>(bytes.data()) == 0x45678);
  EXPECT_EQ(read_bits(within_a_byte, bytes.data()), 6U);  // 0x34 = 00 110 100
}

TEST(Field, reads_a_bth) {
  // RC RDMA WRITE Only, solicited, migrated, pad 3, version 0, P_Key 0x8001, FECN, QP 0x123456, A, PSN
  // 0xfedcba
  constexpr std::array<std::uint8_t, 12> p = {0x0a, 0xf0, 0x80, 0x01, 0x80, 0x12,
                                              0x34, 0x56, 0x80, 0xfe, 0xdc, 0xba};
  EXPECT_EQ(read<Bth::opcode>(p.data()), 0x0a);
  EXPECT_EQ(read<Bth::se>(p.data()), 1);
  EXPECT_EQ(read<Bth::m>(p.data()), 1);
  EXPECT_EQ(read<Bth::padcnt>(p.data()), 3);
  EXPECT_EQ(read<Bth::tver>(p.data()), 0);
  EXPECT_EQ(read<Bth::p_key>(p.data()), 0x8001);
  EXPECT_EQ(read<Bth::fecn>(p.data()), 1);
  EXPECT_EQ(read<Bth::becn>(p.data()), 0);
  EXPECT_EQ(read<Bth::destqp>(p.data()), 0x123456U);
  EXPECT_EQ(read<Bth::a>(p.data()), 1);
  EXPECT_EQ(read<Bth::psn>(p.data()), 0xfedcbaU);
}

TEST(Field, aeth_bits_mean_one_of_four) {
  const std::uint8_t ack[] = {0x1f, 0, 0, 1}, rnr[] = {0x2e, 0, 0, 1}, nak[] = {0x60, 0, 0, 1};
  EXPECT_TRUE(Aeth::credit_count.present(ack));
  EXPECT_FALSE(Aeth::timer.present(ack));
  EXPECT_TRUE(Aeth::timer.present(rnr));
  EXPECT_EQ(read<Aeth::timer>(rnr), 14);
  EXPECT_TRUE(Aeth::error_code.present(nak));
  EXPECT_FALSE(Aeth::credit_count.present(nak));
  EXPECT_EQ(name_of(Aeth::error_code.names, read<Aeth::error_code>(nak)), "PSN sequence error");
}

TEST(Field, names_of_values) {
  EXPECT_EQ(name_of(ecn_names, 3), "CE");
  EXPECT_EQ(name_of(dscp_names, 26), "AF31");
  EXPECT_EQ(name_of(dscp_names, 27), "");
  EXPECT_EQ(name_of({}, 0), "");
}

TEST(HeaderTable, every_header_and_field_is_complete) {
  std::size_t index = 0;
  for (const HeaderInfo& header : header_table()) {
    SCOPED_TRACE(std::string(header.title));
    EXPECT_EQ(static_cast<std::size_t>(header.id), index++);
    EXPECT_FALSE(header.title.empty());
    for (const Field& field : header.fields) {
      SCOPED_TRACE(std::string(field.name));
      EXPECT_FALSE(field.name.empty());
      EXPECT_FALSE(field.label.empty());
      EXPECT_EQ(
          field.name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"),
          std::string_view::npos);
      EXPECT_NE(field.scale, 0);
      if (field.is_number()) {
        EXPECT_TRUE(field.bits >= 1 && field.bits <= 64);
        EXPECT_LE(field.end_byte() - field.first_byte(), 8U);
      }
      if (field.bits != 0) {
        EXPECT_LE(field.end_byte(), header.size);
      } else {
        EXPECT_EQ(field.bit % 8, 0);
        EXPECT_LE(field.first_byte(), header.size);
      }
      const std::size_t address_bits[] = {48, 32, 128, 64};
      const Display address_displays[] = {Display::mac, Display::ipv4, Display::ipv6, Display::eui64};
      for (std::size_t i = 0; i < 4; ++i) {
        if (field.display != address_displays[i]) continue;
        // Where the header's length decides, presence must have looked at it.
        EXPECT_TRUE(field.bits == address_bits[i] || (field.bits == 0 && field.present != nullptr));
      }
    }
  }
  EXPECT_EQ(index, header_count);
}

}  // namespace
}  // namespace roce::dissect
