// SPDX-License-Identifier: Apache-2.0
#include "analyze/flow/marking.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

namespace roce::analyze {
namespace {

/// Opcodes as numbers of IBTA table 38, A17 (CNP) and A19 (FLUSH, ATOMIC WRITE), not as this program's table
/// has them.
constexpr std::uint8_t rc = 0x00, uc = 0x20, rd = 0x40, ud = 0x60, xrc = 0xa0;
constexpr std::uint32_t some_qp = 0x11;

TEST(TrafficClass, RequestsAreData) {
  for (const unsigned service : {rc, uc, xrc}) {
    for (unsigned operation = 0x00; operation <= 0x0b; ++operation) {
      EXPECT_EQ(traffic_class(static_cast<std::uint8_t>(service | operation), some_qp), TrafficClass::data)
          << service << ' ' << operation;
    }
  }
  EXPECT_EQ(traffic_class(rc | 0x0c, some_qp), TrafficClass::data);   // READ request
  EXPECT_EQ(traffic_class(rc | 0x17, some_qp), TrafficClass::data);   // SEND Only with Invalidate
  EXPECT_EQ(traffic_class(rc | 0x1c, some_qp), TrafficClass::data);   // FLUSH
  EXPECT_EQ(traffic_class(rd | 0x15, some_qp), TrafficClass::data);   // RESYNC
  EXPECT_EQ(traffic_class(ud | 0x04, some_qp), TrafficClass::data);   // UD SEND Only
  EXPECT_EQ(traffic_class(xrc | 0x0c, some_qp), TrafficClass::data);  // XRC READ request
}

TEST(TrafficClass, AnswersAreToldApart) {
  for (const unsigned service : {rc, xrc, rd}) {
    for (unsigned operation = 0x0d; operation <= 0x10; ++operation) {
      EXPECT_EQ(traffic_class(static_cast<std::uint8_t>(service | operation), some_qp),
                TrafficClass::response);
    }
    EXPECT_EQ(traffic_class(static_cast<std::uint8_t>(service | 0x11U), some_qp), TrafficClass::ack);
    for (const unsigned operation : {0x12U, 0x13U, 0x14U, 0x1dU}) {
      EXPECT_EQ(traffic_class(static_cast<std::uint8_t>(service | operation), some_qp), TrafficClass::atomic);
    }
  }
}

TEST(TrafficClass, WhatTheServiceLacksIsOther) {
  EXPECT_EQ(traffic_class(uc | 0x0c, some_qp), TrafficClass::other);  // UC has no READ
  EXPECT_EQ(traffic_class(ud | 0x00, some_qp), TrafficClass::other);  // UD has no SEND First
  EXPECT_EQ(traffic_class(0xc0, some_qp), TrafficClass::other);       // manufacturer's
  EXPECT_EQ(traffic_class(0xff, some_qp), TrafficClass::other);
}

TEST(TrafficClass, CnpIsTheOneOpcode) {
  EXPECT_EQ(traffic_class(0x81, some_qp), TrafficClass::cnp);
  EXPECT_EQ(traffic_class(0x80, some_qp), TrafficClass::other);  // what Wireshark 4.0 calls CNP
}

TEST(TrafficClass, AllToQueuePairOneIsManagement) {
  for (unsigned opcode = 0; opcode < 256; ++opcode) {
    EXPECT_EQ(traffic_class(static_cast<std::uint8_t>(opcode), 1), TrafficClass::cm);
    EXPECT_NE(traffic_class(static_cast<std::uint8_t>(opcode), 2), TrafficClass::cm);
  }
}

TEST(TrafficClass, EachHasItsName) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < traffic_class_count; ++i) {
    names.emplace(traffic_class_name(static_cast<TrafficClass>(i)));
  }
  EXPECT_EQ(names, (std::set<std::string>{"ack", "atomic", "cm", "cnp", "data", "other", "response"}));
  EXPECT_EQ(traffic_class_name(TrafficClass::data), "data");
  EXPECT_EQ(traffic_class_name(TrafficClass::other), "other");
}

TEST(Marks, UntaggedIsNotPriorityZero) {
  Marks tagged;
  tagged.pcp = std::uint8_t{0};
  tagged.vlan = std::uint16_t{0};
  EXPECT_FALSE(tagged == Marks{});
}

}  // namespace
}  // namespace roce::analyze
