// SPDX-License-Identifier: Apache-2.0
#include "dissect/opcode.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace roce::dissect {
namespace {

// Written from IBTA table 38 and annexes A14 (XRC), A17 (CNP), A19 (FLUSH, ATOMIC WRITE) as one
// column a service: the headers in wire order, P where a payload may follow, "-" where undefined.
struct Row {
  unsigned operation;
  std::string name;  ///< as `tshark -G values` prints it behind the service, where it knows the opcode
  std::string rc, uc, rd, xrc;
};
const Row rows[] = {
    {0x00, "SEND First", "P", "P", "RDETH DETH P", "XRCETH P"},
    {0x01, "SEND Middle", "P", "P", "RDETH DETH P", "XRCETH P"},
    {0x02, "SEND Last", "P", "P", "RDETH DETH P", "XRCETH P"},
    {0x03, "SEND Last with Immediate", "ImmDt P", "ImmDt P", "RDETH DETH ImmDt P", "XRCETH ImmDt P"},
    {0x04, "SEND Only", "P", "P", "RDETH DETH P", "XRCETH P"},
    {0x05, "SEND Only with Immediate", "ImmDt P", "ImmDt P", "RDETH DETH ImmDt P", "XRCETH ImmDt P"},
    {0x06, "RDMA WRITE First", "RETH P", "RETH P", "RDETH DETH RETH P", "XRCETH RETH P"},
    {0x07, "RDMA WRITE Middle", "P", "P", "RDETH DETH P", "XRCETH P"},
    {0x08, "RDMA WRITE Last", "P", "P", "RDETH DETH P", "XRCETH P"},
    {0x09, "RDMA WRITE Last with Immediate", "ImmDt P", "ImmDt P", "RDETH DETH ImmDt P", "XRCETH ImmDt P"},
    {0x0a, "RDMA WRITE Only", "RETH P", "RETH P", "RDETH DETH RETH P", "XRCETH RETH P"},
    {0x0b, "RDMA WRITE Only with Immediate", "RETH ImmDt P", "RETH ImmDt P", "RDETH DETH RETH ImmDt P",
     "XRCETH RETH ImmDt P"},
    {0x0c, "RDMA READ Request", "RETH", "-", "RDETH DETH RETH", "XRCETH RETH"},
    {0x0d, "RDMA READ Response First", "AETH P", "-", "RDETH AETH P", "AETH P"},
    {0x0e, "RDMA READ Response Middle", "P", "-", "RDETH P", "P"},
    {0x0f, "RDMA READ Response Last", "AETH P", "-", "RDETH AETH P", "AETH P"},
    {0x10, "RDMA READ Response Only", "AETH P", "-", "RDETH AETH P", "AETH P"},
    {0x11, "Acknowledge", "AETH", "-", "RDETH AETH", "AETH"},
    {0x12, "ATOMIC Acknowledge", "AETH AtomicAckETH", "-", "RDETH AETH AtomicAckETH", "AETH AtomicAckETH"},
    {0x13, "CmpSwap", "AtomicETH", "-", "RDETH DETH AtomicETH", "XRCETH AtomicETH"},
    {0x14, "FetchAdd", "AtomicETH", "-", "RDETH DETH AtomicETH", "XRCETH AtomicETH"},
    {0x15, "RESYNC", "-", "-", "RDETH DETH", "-"},
    {0x16, "SEND Last with Invalidate", "IETH P", "-", "-", "XRCETH IETH P"},
    {0x17, "SEND Only with Invalidate", "IETH P", "-", "-", "XRCETH IETH P"},
    {0x1c, "FLUSH", "FETH RETH", "-", "RDETH FETH RETH", "XRCETH FETH RETH"},
    {0x1d, "ATOMIC WRITE", "RETH P", "-", "RDETH RETH P", "XRCETH RETH P"},
};

struct Expected {
  std::string name, headers;
};

std::map<unsigned, Expected> expected() {
  std::map<unsigned, Expected> table;
  for (const Row& row : rows) {
    if (row.rc != "-") table[row.operation] = {"RC " + row.name, row.rc};
    if (row.uc != "-") table[0x20 + row.operation] = {"UC " + row.name, row.uc};
    if (row.rd != "-") table[0x40 + row.operation] = {"RD " + row.name, row.rd};
    if (row.xrc != "-") table[0xa0 + row.operation] = {"XRC " + row.name, row.xrc};
  }
  table[0x64] = {"UD SEND Only", "DETH P"};
  table[0x65] = {"UD SEND Only with Immediate", "DETH ImmDt P"};
  table[0x81] = {"CNP", ""};
  // MRC 1.0, by independent readers of its specification: a WRITE has a RETH in every packet.
  for (const auto& [code, name] :
       std::map<unsigned, std::string>{{0xc6, "First"}, {0xc7, "Middle"}, {0xc8, "Last"}, {0xca, "Only"}})
    table[code] = {"MRC RDMA WRITE " + name, "METH RETH P"};
  table[0xc9] = {"MRC RDMA WRITE Last with Immediate", "METH RETH ImmDt P"};
  table[0xcb] = {"MRC RDMA WRITE Only with Immediate", "METH RETH ImmDt P"};
  table[0xd1] = {"MRC Acknowledge", "AETH"};
  table[0xd8] = {"MRC Endpoint Request", "ERTH"};
  table[0xd9] = {"MRC Endpoint Response", "EETH"};
  table[0xdc] = {"MRC Reliability SACK", "SETH"};
  table[0xdd] = {"MRC Reliability NACK", "NETH"};
  table[0xde] = {"MRC Reliability Probe Request", "PETH"};
  return table;
}

struct Size {
  HeaderId id;
  unsigned bytes;
};
const std::map<std::string, Size> sizes = {
    {"RDETH", {HeaderId::rdeth, 4}},    {"DETH", {HeaderId::deth, 8}},
    {"XRCETH", {HeaderId::xrceth, 4}},  {"FETH", {HeaderId::feth, 4}},
    {"RETH", {HeaderId::reth, 16}},     {"AtomicETH", {HeaderId::atomiceth, 28}},
    {"AETH", {HeaderId::aeth, 4}},      {"AtomicAckETH", {HeaderId::atomicacketh, 8}},
    {"ImmDt", {HeaderId::immdt, 4}},    {"IETH", {HeaderId::ieth, 4}},
    {"METH", {HeaderId::mrc_meth, 4}},  {"SETH", {HeaderId::mrc_seth, 36}},
    {"NETH", {HeaderId::mrc_neth, 20}}, {"PETH", {HeaderId::mrc_peth, 16}},
    {"ERTH", {HeaderId::mrc_erth, 16}}, {"EETH", {HeaderId::mrc_eeth, 36}}};

TEST(Opcode, all_256_have_the_headers_of_the_specification) {
  const std::map<unsigned, Expected> table = expected();
  EXPECT_EQ(table.size(), 25U + 12U + 24U + 25U + 3U + 12U);
  for (unsigned code = 0; code < 256; ++code) {
    SCOPED_TRACE(code);
    const OpcodeInfo& info = opcode_info(static_cast<std::uint8_t>(code));
    EXPECT_EQ(static_cast<unsigned>(info.service), code >> 5U);
    const auto row = table.find(code);
    EXPECT_EQ(info.defined, row != table.end());
    if (row == table.end()) {
      EXPECT_EQ(info.headers, 0U);
      EXPECT_EQ(info.headers_size, 0U);
      EXPECT_TRUE(opcode_name(static_cast<std::uint8_t>(code)).starts_with("unknown 0x"));
      continue;
    }
    EXPECT_EQ(opcode_name(static_cast<std::uint8_t>(code)), row->second.name);

    std::istringstream words(row->second.headers);
    unsigned size = 0;
    bool payload = false;
    std::vector<HeaderId> ids;
    for (std::string word; words >> word;) {
      if (word == "P") {
        payload = true;
        continue;
      }
      size += sizes.at(word).bytes;
      ids.push_back(sizes.at(word).id);
    }
    EXPECT_EQ(info.headers_size, size);
    EXPECT_EQ(info.has_payload, payload);
    std::vector<HeaderId> derived;
    for (std::size_t i = 0; i < extended_headers.size(); ++i) {
      if ((info.headers >> i & 1U) != 0) derived.push_back(extended_headers[i].id);
    }
    EXPECT_EQ(derived, ids);
  }
}

TEST(Opcode, knows_requests_from_responses) {
  for (const unsigned service : {0x00U, 0x40U, 0xa0U}) {
    for (unsigned operation = 0; operation < 0x18; ++operation) {
      const OpcodeInfo& info = opcode_info(static_cast<std::uint8_t>(service + operation));
      if (!info.defined) continue;
      const bool response = operation >= 0x0d && operation <= 0x12;
      EXPECT_EQ(info.response, response) << service + operation;
      EXPECT_EQ(info.request, !response) << service + operation;
    }
  }
  EXPECT_FALSE(opcode_info(0x81).request);
  EXPECT_FALSE(opcode_info(0x81).response);
}

using List = std::initializer_list<std::uint8_t>;

TEST(Opcode, knows_the_place_in_a_message) {
  const auto place = [](std::uint8_t opcode) { return opcode_info(opcode).position; };
  for (const std::uint8_t first : List{0x00, 0x06, 0x0d, 0x20, 0x26, 0x40, 0xa6})
    EXPECT_EQ(place(first), Position::first);
  for (const std::uint8_t middle : List{0x01, 0x07, 0x0e, 0x21, 0x27, 0xae})
    EXPECT_EQ(place(middle), Position::middle);
  for (const std::uint8_t last : List{0x02, 0x03, 0x08, 0x09, 0x0f, 0x16, 0x22, 0x29, 0xb6})
    EXPECT_EQ(place(last), Position::last);
  for (const std::uint8_t only :
       List{0x04, 0x05, 0x0a, 0x0b, 0x0c, 0x10, 0x11, 0x12, 0x13, 0x14, 0x17, 0x1c, 0x1d, 0x64})
    EXPECT_EQ(place(only), Position::only);
  EXPECT_TRUE(opcode_info(0x06).starts_message());
  EXPECT_FALSE(opcode_info(0x06).ends_message());
  EXPECT_TRUE(opcode_info(0x0a).starts_message() && opcode_info(0x0a).ends_message());
}

TEST(Opcode, immediate_and_invalidate) {
  for (const std::uint8_t opcode : List{0x03, 0x05, 0x09, 0x0b, 0x23, 0x65, 0xab})
    EXPECT_TRUE(opcode_info(opcode).immediate);
  for (const std::uint8_t opcode : List{0x16, 0x17, 0xb6, 0xb7}) EXPECT_TRUE(opcode_info(opcode).invalidate);
  EXPECT_FALSE(opcode_info(0x04).immediate);
  EXPECT_FALSE(opcode_info(0x04).invalidate);
}

TEST(Opcode, names) {
  EXPECT_EQ(operation_name(0x0a), "RDMA WRITE Only");
  EXPECT_EQ(operation_name(0xaa), "RDMA WRITE Only");
  EXPECT_EQ(operation_name(0x81), "CNP");
  EXPECT_EQ(opcode_name(0x80), "unknown 0x80");
  EXPECT_EQ(opcode_name(0xd7), "unknown 0xd7");
  EXPECT_EQ(operation_name(0xd7), "unknown 0xd7");
  EXPECT_EQ(service_name(Service::xrc), "XRC");
  EXPECT_EQ(service_name(Service::manufacturer), "manufacturer");
}

}  // namespace
}  // namespace roce::dissect
