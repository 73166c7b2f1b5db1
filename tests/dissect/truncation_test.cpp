// SPDX-License-Identifier: Apache-2.0
// Every frame cut at every place, by the capture and by lengths that lie. Run with sanitizers,
// this is where a read behind the end would show: every frame is a heap block of its exact size.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

#include "dissect/dissect.hpp"
#include "dissect/header_table.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/icrc.hpp"
#include "dissect/opcode.hpp"
#include "tests/dissect/frames.hpp"

namespace roce::dissect {
namespace {

using test::bth;
using test::ethernet;
using test::filled;
using test::hex;
using test::ipv4;
using test::ipv6;
using test::operator+;
using test::Packet;
using test::udp;

/// What must hold for any bytes.
void expect_sound(const Dissection& d, const std::uint8_t* frame, std::size_t size, const std::string& what) {
  ASSERT_LE(d.layer_count, max_layers_of_exports) << what;
  ASSERT_EQ(d.captured_end, size) << what;
  for (const Layer& layer : d.all()) {
    const HeaderInfo& info = header_info(layer.id);
    ASSERT_LE(std::size_t{layer.offset} + layer.length, size) << what << ", " << info.title;
    ASSERT_GE(std::size_t{layer.length}, info.size) << what << ", " << info.title;
    for (const Field& field : info.fields) {
      if (field.present != nullptr && !field.present(frame + layer.offset)) continue;
      if (field.is_number() && field.bits != 0) (void)read_bits(field, frame + layer.offset);
    }
  }
  for (const std::uint8_t index : {d.ethernet, d.vlan, d.network, d.udp, d.bth, d.mad}) {
    ASSERT_TRUE(index == Dissection::none || index < d.layer_count) << what;
  }
  ASSERT_EQ(d.is_transport(), d.find(HeaderId::bth) != nullptr) << what;
  if (d.stop == Stop::cut_by_capture || d.stop == Stop::contradicts_itself) {
    ASSERT_NE(d.stopped_at, HeaderId::count_) << what;
  }
  if (d.is_transport()) {
    ASSERT_NE(d.network, Dissection::none) << what;
    ASSERT_LE(d.layers[d.bth].offset + 12U, d.payload_offset == 0 ? ~0U : d.payload_offset) << what;
    if (d.payload_length > 0 && !d.has(Note::fragmented)) {
      ASSERT_LE(std::uint64_t{d.payload_offset} + d.payload_length + 4, d.declared_end) << what;
    }
  }
}

/// Dissects the first `captured` bytes of a frame that had `wire` on the wire.
Dissection cut(const Packet& frame, std::size_t captured, std::size_t wire, std::uint16_t link_type,
               const std::string& what) {
  const std::unique_ptr<std::uint8_t[]> block(new std::uint8_t[captured]);  // so that sanitizers see its end
  if (captured > 0) std::memcpy(block.get(), frame.data(), captured);
  Dissection d;
  std::memset(static_cast<void*>(&d), 0xa5, sizeof d);
  dissect({block.get(), captured}, static_cast<std::uint32_t>(wire), link_type, d);
  expect_sound(d, block.get(), captured, what);
  const Bytes bytes{block.get(), captured};
  const IcrcResult icrc = check_icrc(bytes, d);
  EXPECT_EQ(icrc.status == CrcStatus::not_checkable, icrc.obstacle != CrcObstacle::none) << what;
  (void)check_vcrc(bytes, d);
  return d;
}

TEST(Truncation, all_opcodes_cut_at_every_byte) {
  for (unsigned opcode = 0; opcode < 256; ++opcode) {
    const OpcodeInfo& info = opcode_info(static_cast<std::uint8_t>(opcode));
    const Packet frame = ethernet(
        0x0800, ipv4(17, udp(4791, bth(static_cast<std::uint8_t>(opcode), filled(info.headers_size + 8U)))));
    for (std::size_t captured = 0; captured <= frame.size(); ++captured) {
      const std::string what = "opcode " + std::to_string(opcode) + " cut at " + std::to_string(captured);
      const Dissection d = cut(frame, captured, frame.size(), link_ethernet, what);
      EXPECT_EQ(d.is_transport(), captured >= 54) << what;
      if (captured == frame.size()) {
        EXPECT_EQ(d.stop, Stop::complete) << what;
        EXPECT_EQ(d.payload_length, 8U) << what;
      } else {
        EXPECT_EQ(d.stop, Stop::cut_by_capture) << what;
        const HeaderId at = captured < 14   ? HeaderId::ethernet
                            : captured < 34 ? HeaderId::ipv4
                            : captured < 42 ? HeaderId::udp
                            : captured < 54 ? HeaderId::bth
                                            : d.stopped_at;
        EXPECT_EQ(d.stopped_at, at) << what;
        const std::size_t payload = 54U + info.headers_size;
        if (captured >= payload && captured < payload + 8) {
          EXPECT_EQ(d.stopped_at, HeaderId::payload) << what;
        }
        if (captured >= payload + 8) {
          EXPECT_EQ(d.stopped_at, HeaderId::icrc) << what;
        }
        if (captured >= payload) {
          EXPECT_EQ(d.payload_length, 8U) << what;
        }  // as declared, though cut
      }
    }
  }
}

TEST(Truncation, all_opcodes_with_every_ip_and_udp_length) {
  for (unsigned opcode = 0; opcode < 256; ++opcode) {
    const OpcodeInfo& info = opcode_info(static_cast<std::uint8_t>(opcode));
    const Packet body = bth(static_cast<std::uint8_t>(opcode), filled(info.headers_size + 8U));
    for (int lie = -60; lie <= 8; ++lie) {
      const std::string what = "opcode " + std::to_string(opcode) + " lie " + std::to_string(lie);
      const Packet ip_lies = ethernet(0x0800, ipv4(17, udp(4791, body), {.length_lie = lie}));
      const Dissection ip = cut(ip_lies, ip_lies.size(), ip_lies.size(), link_ethernet, "ip " + what);
      EXPECT_NE(ip.stop, Stop::cut_by_capture) << what;
      const Packet udp_lies = ethernet(0x0800, ipv4(17, udp(4791, body, lie)));
      const Dissection d = cut(udp_lies, udp_lies.size(), udp_lies.size(), link_ethernet, "udp " + what);
      EXPECT_NE(d.stop, Stop::cut_by_capture) << what;
      if (info.defined && lie < 0 && lie >= -8) {
        EXPECT_TRUE(d.is_transport()) << what;
        EXPECT_EQ(d.payload_length, static_cast<std::uint32_t>(8 + lie)) << what;
      }
      // A contradiction between headers and lengths is not a cut capture.
      if (info.defined && info.service != Service::rd && info.headers_size > 0 && lie < -8 &&
          lie >= -8 - info.headers_size) {
        EXPECT_EQ(d.stop, Stop::contradicts_itself) << what;
      }
    }
  }
}

struct Shape {
  std::string name;
  std::uint16_t link_type;
  Packet frame;
};

std::vector<Shape> shapes() {
  const Packet write = udp(4791, bth(0x0a, filled(16) + filled(12)));
  const Packet v4 = ipv4(17, write);
  const Packet v6 = ipv6(17, write);
  const Packet inner = ethernet(0x0800, v4);
  const Packet v1 = test::grh(bth(0x11, hex("1f000001")));
  const auto in_udp = [](std::uint16_t port, const Packet& p) {
    return ethernet(0x0800, ipv4(17, udp(port, p)));
  };
  const auto in_gre = [](const Packet& p) { return ethernet(0x0800, ipv4(47, p)); };
  return {
      {"v6", link_ethernet, ethernet(0x86dd, v6)},
      {"v6 extensions", link_ethernet,
       ethernet(0x86dd,
                ipv6(0, test::ipv6_extension(
                            43, 2, test::ipv6_extension(60, 1, test::ipv6_extension(17, 3, write)))))},
      {"v6 fragment", link_ethernet, ethernet(0x86dd, ipv6(44, test::ipv6_fragment(17, 1, write)))},
      {"v4 options", link_ethernet, ethernet(0x0800, ipv4(17, write, {.options = 40}))},
      {"v4 fragment", link_ethernet, ethernet(0x0800, ipv4(17, write, {.fragment = 0x2000}))},
      {"qinq", link_ethernet, ethernet(0x88a8, test::vlan(200, 0x8100, test::vlan(30, 0x0800, v4)))},
      {"v1", link_ethernet, ethernet(0x8915, v1) + filled(12, 0)},
      {"vxlan", link_ethernet, in_udp(4789, hex("0800000000002a00") + inner)},
      {"vxlan-gpe", link_ethernet, in_udp(4790, hex("0c00000300002a00") + inner)},
      {"geneve", link_ethernet, in_udp(6081, hex("0200 6558 00002a00 0102030405060708") + inner)},
      {"gre", link_ethernet, in_gre(hex("b000 6558 cafe0000 00000005 00000009") + inner)},
      {"erspan1", link_ethernet, in_gre(hex("0000 88be") + inner)},
      {"erspan2", link_ethernet, in_gre(hex("1000 88be 00000001 1001007b 00000000") + inner)},
      {"erspan3", link_ethernet,
       in_gre(hex("1000 22eb 00000001 2000001f 11223344 00000001 0102030405060708") + inner)},
      {"ipip", link_ethernet, ethernet(0x0800, ipv4(41, v6))},
      {"mpls", link_ethernet, ethernet(0x8847, hex("00064040 00065140") + v4)},
      {"mpls pseudowire", link_ethernet, ethernet(0x8847, hex("00065140 00000000") + inner)},
      {"macsec", link_ethernet,
       ethernet(0x88e5, hex("20 00 00000001 0102030405060708 0800") + v4 + filled(16))},
      {"native", link_infiniband, test::lrh(2, bth(0x0a, filled(28)))},
      {"native grh", link_infiniband, test::lrh(3, test::grh(bth(0x0a, filled(28))))},
      {"erf 21", link_erf,
       hex("0102030405060708 15 04 0040 0000 0030") + test::lrh(2, bth(0x0a, filled(28)))},
      {"erf 2", link_erf, hex("0102030405060708 82 04 0090 0000 0080 0100000000000000 0000") + inner},
      {"erf 25", link_erf, hex("0102030405060708 19 04 0018 0000 0008") + filled(8)},
      {"sll", link_linux_sll, hex("0000 0001 0006 525400000a010000 0800") + v4},
      {"sll2", link_linux_sll2, hex("0800 0000 00000002 0001 00 06 525400000a010000") + v4},
      {"null", link_null, hex("02000000") + v4},
      {"loop", link_loop, hex("0000001c") + v6},
      {"raw", link_raw, v4},
      {"pfc", link_ethernet,
       ethernet(0x8808, hex("0101 0008 0000 0000 0000 ffff 0000 0000 0000 0000") + filled(26, 0))},
      {"lldp", link_ethernet,
       ethernet(0x88cc, hex("0207 04 525400000a01 0404 05 657468 0602 0078 fe08 0080c2 0b 08 08 0000 0000"))},
      {"mad", link_ethernet,
       ethernet(0x0800, ipv4(17, udp(4791, bth(0x64,
                                               filled(8) +
                                                   hex("0107020300000000"
                                                       "000000000000000100100000"
                                                       "00000000") +
                                                   filled(232),
                                               1))))},
  };
}

TEST(Truncation, all_encapsulations_cut_at_every_byte) {
  for (const Shape& shape : shapes()) {
    for (std::size_t captured = 0; captured <= shape.frame.size(); ++captured) {
      const std::string what = shape.name + " cut at " + std::to_string(captured);
      const Dissection by_capture = cut(shape.frame, captured, shape.frame.size(), shape.link_type, what);
      EXPECT_NE(by_capture.stop, Stop::too_deep) << what;
      // The same bytes, but the frame was no longer on the wire: then lengths contradict.
      const Dissection on_wire = cut(shape.frame, captured, captured, shape.link_type, what + " on the wire");
      // MACsec's check value is at the end of the wire, wherever that is.
      EXPECT_TRUE(by_capture.is_transport() == on_wire.is_transport() || shape.name == "macsec") << what;
      EXPECT_EQ(by_capture.tunnels, on_wire.tunnels) << what;
    }
  }
}

TEST(Truncation, every_byte_changed) {
  for (const Shape& shape : shapes()) {
    for (std::size_t i = 0; i < shape.frame.size(); ++i) {
      Packet frame = shape.frame;
      for (const std::uint8_t value :
           {std::uint8_t{0x00}, std::uint8_t{0xff}, std::uint8_t{0x80}, std::uint8_t{0x01}}) {
        frame[i] = value;
        (void)cut(frame, frame.size(), frame.size(), shape.link_type,
                  shape.name + " changed at " + std::to_string(i));
      }
    }
  }
}

}  // namespace
}  // namespace roce::dissect
