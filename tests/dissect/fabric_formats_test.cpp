// SPDX-License-Identifier: Apache-2.0
// Each format of switches, shells and other transports, cut at every byte, by the capture and on the wire,
// with every byte changed, and with every length a lie. The frames are written from the documents
// (docs/exports.md has the table). Run with sanitizers a read behind the end would show: each frame is a heap
// block of its exact size.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "dissect/dissect.hpp"
#include "dissect/header_table.hpp"
#include "dissect/icrc.hpp"
#include "tests/dissect/frames.hpp"
#include "tests/dissect/ipfix_bytes.hpp"

namespace roce::dissect {
namespace fabric_formats_test {
namespace {

using namespace test;

struct Format {
  std::string name;
  Packet frame;
  HeaderId shows;  ///< a header that is read when nothing is cut
};

Options options_of_all() {
  Options options;
  options.named = {.falcon_port = 7777, .veroce_port = 4794, .ifa_protocol = 253, .csig_type = 0x9900};
  options.trimmed_dscps = std::uint64_t{1} << 11U;
  return options;
}

Xdr zeros(std::size_t words) {
  Xdr body;
  for (std::size_t i = 0; i < words; ++i) body.put({static_cast<std::uint32_t>(i + 1)});
  return body;
}

/// Every record that is read, and one that nobody knows.
Xdr flow_records(std::uint32_t& count) {
  Xdr records;
  records.item(1, sampled_header(sampled_roce()));
  for (const auto& [format, words] :
       std::initializer_list<std::pair<std::uint32_t, std::size_t>>{{1001, 4},
                                                                    {1031, 10},
                                                                    {1032, 10},
                                                                    {1033, 2},
                                                                    {1036, 1},
                                                                    {1039, 1},
                                                                    {1040, 1},
                                                                    {1043, 2},
                                                                    {0x123'4005, 3}})
    records.item(format, zeros(words));
  records.item(1037, Xdr{7}.text("in").put({1}));
  records.item(1038, Xdr().text("fn"));
  records.item(1041, Xdr().text("l2").text("drop"));
  records.item(1042, Xdr().text("NO_BUFFER"));
  count = 14;
  return records;
}

Xdr with(Xdr head, const Xdr& records) {
  head.bytes.insert(head.bytes.end(), records.bytes.begin(), records.bytes.end());
  return head;
}

Packet sflow_of_all() {
  std::uint32_t count = 0;
  const Xdr flows = flow_records(count);
  Xdr counters;
  counters.item(1, zeros(22)).item(2, zeros(13)).item(11, zeros(5)).item(1001, zeros(7));
  Xdr datagram = sflow_datagram(9, 5);
  datagram.item(1, with({1, 3, 64, 640, 0, 3, 4, count}, flows));
  datagram.item(2, with({2, 3, 4}, counters));
  datagram.item(3, with({3, 0, 3, 64, 704, 0, 0, 3, 0, 4, count}, flows));
  datagram.item(4, with({4, 0, 3, 4}, counters));
  datagram.item(5, with({5, 0, 3, 0, 3, 4, 259, count}, flows));
  return framed(datagram);
}

std::vector<Format> formats() {
  const Packet write = udp(4791, bth(0x0a, filled(16) + filled(12)));
  const Packet v4 = ipv4(17, write);
  const Packet inner = ethernet(0x0800, v4);
  const auto in_udp = [](std::uint16_t port, const Packet& p) {
    return ethernet(0x0800, ipv4(17, udp(port, p)));
  };
  const auto in_ip = [](std::uint8_t protocol, const Packet& p) {
    return ethernet(0x0800, ipv4(protocol, p));
  };
  std::vector<Format> all{
      {"sFlow, all samples and records", sflow_of_all(), HeaderId::sflow},
      {"IPFIX, template, options and records",
       framed(ipfix_message(5, Octets()
                                   .set(2, frame_template())
                                   .set(3, selector_template())
                                   .set(257, selector_record())
                                   .set(256, frame_record()))),
       HeaderId::ipfix_template},
      {"NetFlow 9",
       framed(netflow9_message(5, 2, Octets().set(0, frame_template()).set(256, frame_record())), 2055),
       HeaderId::netflow9_message},
      {"mirror on drop, Tomahawk 5", framed(ipfix_message(5, drop_mirror())), HeaderId::ipfix_drop_mirror},
      {"mirror on drop, Tomahawk 6", framed(ipfix_message(5, drop_mirror(0x9300, 0x1239))),
       HeaderId::ipfix_drop_mirror},
      {"Arista, 64 bits", hex("525400000b01525400000a01 d28b 0001 1110 65800000 075bcd15 0800") + v4,
       HeaderId::bth},
      {"Arista, 48 bits", hex("525400000b01525400000a01 d28b 0001 1210 0001 075bcd15 0800") + v4,
       HeaderId::bth},
      {"Fast CNP", fast_cnp("1e10 fd770000000000000000000000000002 0102 0000"), HeaderId::bth},
      {"CSIG", hex("525400000b01525400000a01 9900 4a05 0800") + v4, HeaderId::bth},
      {"CSIG behind a VLAN tag", hex("525400000b01525400000a01 8100 6064 9900 4a05 0800") + v4,
       HeaderId::csig},
      {"ESP", in_ip(50, hex("0000c0de 00000007") + filled(64)), HeaderId::esp},
      {"ESP in UDP", in_udp(4500, hex("0000c0de 00000007") + filled(64)), HeaderId::esp},
      {"AH", in_ip(51, hex("11 04 0000 00000100 0000002a 000102030405060708090a0b") + write), HeaderId::bth},
      {"PSP", in_udp(1000, hex("04 02 02 03 80000005 0000000000000009 1122334455667788") + filled(40)),
       HeaderId::psp},
      {"MACsec, encrypted", hex("525400000b01525400000a01 88e5 2e00 0000000b 525400000a010001") + filled(64),
       HeaderId::macsec},
      {"Falcon", in_udp(7777, hex("10 0000ab 000001 45 00000001 00000002 00000003 00000004") + filled(16)),
       HeaderId::falcon},
      {"veRoCE", in_udp(4794, bth(0x0a, filled(28))), HeaderId::udp},
      {"IFA",
       in_ip(253,
             hex("3f 11 04 40") + udp(4791, hex("ff 00 40 02 0102030405060708") + bth(0x0a, filled(28)))),
       HeaderId::bth},
      {"trimmed, length kept",
       [&] {
         Packet frame = ethernet(0x0800, ipv4(17, roce_v2(0x08, filled(1024)), {.tos = 11 << 2 | 2}));
         frame.resize(128);
         return frame;
       }(),
       HeaderId::bth},
  };
  for (unsigned type = 1; type <= 14; ++type) {
    Packet uet;
    put(uet, type << 11U, 2);
    all.push_back({"UET type " + std::to_string(type), in_udp(4793, uet + filled(60, 1)), HeaderId::udp});
  }
  for (unsigned platform = 0; platform <= 7; ++platform) {
    Packet subheader;
    put(subheader, platform << 2U, 1);
    all.push_back({"ERSPAN III, platform " + std::to_string(platform),
                   in_ip(47, hex("1000 22eb 00000001 2000001f 11223344 00000001") + subheader +
                                 hex("02030405060708") + inner),
                   HeaderId::bth});
  }
  for (const unsigned opcode :
       {0xc6U, 0xc7U, 0xc8U, 0xc9U, 0xcaU, 0xcbU, 0xd1U, 0xd8U, 0xd9U, 0xdcU, 0xddU, 0xdeU, 0xdfU}) {
    for (const std::uint16_t port : {std::uint16_t{4791}, std::uint16_t{4971}}) {
      const Packet packet = bth(static_cast<std::uint8_t>(opcode), filled(48, 0));
      all.push_back({"MRC " + std::to_string(opcode) + " to " + std::to_string(port), in_udp(port, packet),
                     HeaderId::udp});
    }
  }
  return all;
}

void expect_sound(const Dissection& d, const std::uint8_t* frame, std::size_t size, const std::string& what) {
  ASSERT_LE(d.layer_count, max_layers_of_exports) << what;
  for (const Layer& layer : d.all()) {
    const HeaderInfo& info = header_info(layer.id);
    ASSERT_LE(std::size_t{layer.offset} + layer.length, size) << what << ", " << info.title;
    ASSERT_GE(std::size_t{layer.length}, info.size) << what << ", " << info.title;
    for (const Field& field : info.fields) {
      if (field.present != nullptr && !field.present(frame + layer.offset)) continue;
      if (field.is_number() && field.bits != 0) (void)read_bits(field, frame + layer.offset);
    }
  }
  ASSERT_EQ(d.is_transport(), d.find(HeaderId::bth) != nullptr) << what;
}

/// The first `captured` bytes of a frame that had `wire` on the wire.
Dissection read(const Packet& frame, std::size_t captured, std::size_t wire, const std::string& what) {
  static const Options options = options_of_all();
  const std::unique_ptr<std::uint8_t[]> block(new std::uint8_t[captured]);
  if (captured > 0) std::memcpy(block.get(), frame.data(), captured);
  Dissection d;
  dissect({block.get(), captured}, static_cast<std::uint32_t>(wire), link_ethernet, d, options);
  expect_sound(d, block.get(), captured, what);
  (void)check_icrc({block.get(), captured}, d);
  return d;
}

TEST(FabricFormats, AreReadWhereNothingIsCut) {
  for (const Format& format : formats()) {
    const Dissection d = read(format.frame, format.frame.size(), format.frame.size(), format.name);
    EXPECT_NE(d.find(format.shows), nullptr) << format.name;
  }
}

TEST(FabricFormats, AreSoundCutAtEveryByte) {
  for (const Format& format : formats()) {
    const std::size_t size = format.frame.size();
    for (std::size_t captured = 0; captured <= size; ++captured) {
      const std::string what = format.name + " cut at " + std::to_string(captured);
      const Dissection by_capture = read(format.frame, captured, size, what);
      EXPECT_NE(by_capture.stop, Stop::contradicts_itself) << what;
      EXPECT_NE(by_capture.stop, Stop::too_deep) << what;
      (void)read(format.frame, captured, captured, what + " on the wire");
    }
  }
}

TEST(FabricFormats, AreSoundWithEveryByteChanged) {
  for (const Format& format : formats()) {
    for (std::size_t i = 0; i < format.frame.size(); ++i) {
      Packet frame = format.frame;
      for (const unsigned value : {0x00U, 0x01U, 0x7fU, 0x80U, 0xffU}) {
        frame[i] = static_cast<std::uint8_t>(value);
        (void)read(frame, frame.size(), frame.size(), format.name + " changed at " + std::to_string(i));
      }
    }
  }
}

/// Lengths and counts of two and of four bytes, at every place where one may be.
TEST(FabricFormats, AreSoundWithLengthsThatLie) {
  for (const Format& format : formats()) {
    const std::size_t size = format.frame.size();
    for (std::size_t i = 14; i + 4 <= size; i += 2) {
      for (const std::size_t width : {std::size_t{2}, std::size_t{4}}) {
        for (const std::uint64_t value :
             {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{size},
              std::uint64_t{0x7fff'ffff}, std::uint64_t{0xffff'fffc}, std::uint64_t{0xffff'ffff}}) {
          Packet lie;
          put(lie, width == 2 ? value & 0xffffU : value, width);
          Packet frame = format.frame;
          std::copy(lie.begin(), lie.end(), frame.begin() + static_cast<std::ptrdiff_t>(i));
          const std::string what = format.name + " lies at " + std::to_string(i);
          (void)read(frame, size, size, what);
          (void)read(frame, i + width, size, what + ", cut behind it");
        }
      }
    }
  }
}

}  // namespace
}  // namespace fabric_formats_test
}  // namespace roce::dissect
