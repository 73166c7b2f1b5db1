// SPDX-License-Identifier: Apache-2.0
// Frames written out as bytes, as views for fields, lines and trees.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyze/packet/packet_view.hpp"
#include "dissect/dissect.hpp"

namespace roce::analyze {

/// Hexadecimal digits, spaces ignored.
inline std::vector<std::uint8_t> bytes_of(std::string_view hex) {
  std::vector<std::uint8_t> out;
  int high = -1;
  for (const char c : hex) {
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) continue;
    if (high < 0) {
      high = digit;
    } else {
      out.push_back(static_cast<std::uint8_t>(high * 16 + digit));
      high = -1;
    }
  }
  return out;
}

// Ethernet, IPv4 (TOS 0x69), UDP 49593 > 4791, BTH RC Acknowledge to QP 0x15, AETH ACK MSN 1, ICRC.
// The last acknowledge of 01_rc_pingpong_s1 but for its TOS, which the ICRC does not cover.
inline constexpr std::string_view ipv4_acknowledge =
    "525400000a01 525400000b01 0800"
    "4569 0030 a539 4000 40 11 807e 0a4d0002 0a4d0001"
    "c1b9 12b7 001c 0000"
    "11 00 ffff 00 000015 00 4c7098"
    "1f 000001"
    "55c9f820";

/// Owns the bytes, cut to `captured`, and everything a PacketView points to.
class LiteralPacket {
 public:
  explicit LiteralPacket(std::string_view hex, std::size_t captured = ~std::size_t{0},
                         std::uint16_t link_type = dissect::link_ethernet)
      : bytes_(bytes_of(hex)) {
    frame_.wire = static_cast<std::uint32_t>(bytes_.size());
    if (captured < bytes_.size()) bytes_.resize(captured);
    bytes_.shrink_to_fit();
    frame_.data = bytes_.data();
    frame_.captured = static_cast<std::uint32_t>(bytes_.size());
    frame_.link_type = link_type;
    frame_.time_ns = 1'795'171'301'978'750'372;
    dissect::dissect({bytes_.data(), bytes_.size()}, frame_.wire, link_type, dissection_);
    view_.number = 7;
    view_.frame = &frame_;
    view_.dissection = &dissection_;
    view_.first_time_ns = 1'795'171'301'000'000'000;
    view_.previous_time_ns = 1'795'171'301'978'750'000;
  }
  LiteralPacket(const LiteralPacket&) = delete;
  LiteralPacket& operator=(const LiteralPacket&) = delete;

  [[nodiscard]] const PacketView& view() const noexcept { return view_; }
  [[nodiscard]] PacketView& view() noexcept { return view_; }
  [[nodiscard]] capture::Frame& frame() noexcept { return frame_; }
  void check_icrc() { view_.icrc = dissect::check_icrc(view_.bytes(), dissection_); }

 private:
  std::vector<std::uint8_t> bytes_;
  capture::Frame frame_;
  dissect::Dissection dissection_;
  PacketView view_;
};

}  // namespace roce::analyze
