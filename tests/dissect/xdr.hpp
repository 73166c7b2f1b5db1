// SPDX-License-Identifier: Apache-2.0
// Builds sFlow datagrams word by word, as the document draws them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "tests/dissect/hex.hpp"

namespace roce::dissect {

class Xdr {
 public:
  Xdr() = default;
  Xdr(std::initializer_list<std::uint32_t> words) { put(words); }

  Xdr& put(std::initializer_list<std::uint32_t> words) {
    for (const std::uint32_t word : words) {
      for (unsigned shift = 32; shift > 0; shift -= 8) {
        bytes.push_back(static_cast<std::uint8_t>(word >> (shift - 8)));
      }
    }
    return *this;
  }
  /// Bytes, filled up to a whole word.
  Xdr& opaque(const std::vector<std::uint8_t>& raw) {
    bytes.insert(bytes.end(), raw.begin(), raw.end());
    bytes.resize((bytes.size() + 3) / 4 * 4);
    return *this;
  }
  Xdr& text(std::string_view raw) {
    put({static_cast<std::uint32_t>(raw.size())});
    return opaque({raw.begin(), raw.end()});
  }
  /// A sample or a record, with its format and length before it.
  Xdr& item(std::uint32_t format, const Xdr& body) {
    put({format, static_cast<std::uint32_t>(body.bytes.size())});
    return opaque(body.bytes);
  }

  std::vector<std::uint8_t> bytes;
};

/// A datagram of agent 10.0.0.7, sub-agent 2.
inline Xdr sflow_datagram(std::uint32_t sequence, std::uint32_t samples) {
  return {5, 1, 0x0a000007, 2, sequence, 60'000, samples};
}

/// The beginning of a RoCE v2 frame, 58 bytes: WRITE Only from 10.77.0.1 to queue pair 0x11 of 10.77.0.2, PSN
/// 7, CE.
inline std::vector<std::uint8_t> sampled_roce() {
  return hex(
      "505400000b01 505400000a01 0800"
      "456b 0450 0001 4000 4011 0000 0a4d0001 0a4d0002"
      "c000 12b7 043c 0000"
      "0a40ffff 00000011 80000007"
      "00000000");
}

/// Record 1 of such a frame, 1106 bytes long with its FCS, which was stripped.
inline Xdr sampled_header(const std::vector<std::uint8_t>& frame) {
  Xdr body{1, 1106, 4, static_cast<std::uint32_t>(frame.size())};
  return body.opaque(frame);
}

/// The frame that brings it to a collector: Ethernet, IPv4 and UDP from 10.0.0.7 to 10.0.0.1, 42 bytes.
inline std::vector<std::uint8_t> framed(const Xdr& datagram) {
  const std::size_t size = datagram.bytes.size();
  std::vector<std::uint8_t> frame =
      hex("505400000b01 505400000a01 0800 4500 0000 0001 0000 40 11 0000 0a000007 0a000001"
          "c350 18c7 0000 0000");
  const auto put16 = [&frame](std::size_t at, std::size_t value) {
    frame[at] = static_cast<std::uint8_t>(value >> 8U);
    frame[at + 1] = static_cast<std::uint8_t>(value);
  };
  put16(16, 28 + size);
  put16(38, 8 + size);
  frame.insert(frame.end(), datagram.bytes.begin(), datagram.bytes.end());
  return frame;
}

}  // namespace roce::dissect
