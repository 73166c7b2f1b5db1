// SPDX-License-Identifier: Apache-2.0
// Builds messages of IPFIX and NetFlow version 9 as RFC 7011 and RFC 3954 draw them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "tests/dissect/xdr.hpp"

namespace roce::dissect {

class Octets {
 public:
  Octets& put(std::size_t width, std::uint64_t value) {
    for (std::size_t i = width; i-- > 0;) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    return *this;
  }
  Octets& words(std::initializer_list<std::uint16_t> values) {
    for (const std::uint16_t value : values) put(2, value);
    return *this;
  }
  Octets& raw(const std::vector<std::uint8_t>& more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
    return *this;
  }
  /// A value of variable length, with its length before it.
  Octets& variable(const std::vector<std::uint8_t>& value) {
    if (value.size() < 255) {
      put(1, value.size());
    } else {
      put(1, 255).put(2, value.size());
    }
    return raw(value);
  }
  Octets& set(std::uint16_t id, const Octets& body) {
    put(2, id).put(2, 4 + body.bytes.size());
    return raw(body.bytes);
  }

  std::vector<std::uint8_t> bytes;
};

inline constexpr std::uint32_t ipfix_domain = 9;

inline Octets ipfix_message(std::uint32_t sequence, const Octets& sets, std::uint32_t domain = ipfix_domain) {
  Octets message;
  message.put(2, 10).put(2, 16 + sets.bytes.size()).put(4, 1'700'000'000).put(4, sequence).put(4, domain);
  return message.raw(sets.bytes);
}
inline Octets netflow9_message(std::uint32_t sequence, std::uint16_t count, const Octets& sets,
                               std::uint32_t uptime_ms = 60'000) {
  Octets message;
  message.put(2, 9)
      .put(2, count)
      .put(4, uptime_ms)
      .put(4, 1'700'000'000)
      .put(4, sequence)
      .put(4, ipfix_domain);
  return message.raw(sets.bytes);
}

/// Template 256: where the packet came in and goes out, its length, and its beginning.
inline Octets frame_template() {
  return Octets().words({256, 5, 301, 4, 10, 4, 14, 4, 312, 2, 315, 0xffff});
}
/// A record of it: of sampled_roce(), 1102 bytes long.
inline Octets frame_record(std::uint32_t sequence_id = 7) {
  Octets record;
  record.put(4, sequence_id).put(4, 3).put(4, 4).put(2, 1102);
  return record.variable(sampled_roce());
}
/// Options template 257 and its record: selection sequence 7 takes one packet and leaves 63.
inline Octets selector_template() {
  return Octets().words({257, 3, 1, 301, 4, 305, 4, 306, 4});
}
inline Octets selector_record(std::uint32_t space = 63, std::uint32_t sequence_id = 7) {
  return Octets().put(4, sequence_id).put(4, 1).put(4, space);
}

/// What a Tomahawk 5 says of a packet that it dropped at egress port 12.
inline Octets drop_mirror(std::uint16_t codes = 0x0003, std::uint16_t set = 0x1234) {
  const std::vector<std::uint8_t> frame = sampled_roce();
  Octets body;
  body.put(4, 1'700'000'000).put(4, 5).put(4, 77).put(2, 12).put(2, 4).put(2, codes).put(2, 0xabcd);
  body.put(1, 0x31).put(1, 0xff).put(2, frame.size());
  return Octets().set(set, body.raw(frame));
}

/// As framed(), to another port.
inline std::vector<std::uint8_t> framed(const Octets& message, std::uint16_t port = 4739) {
  Xdr datagram;
  datagram.bytes = message.bytes;
  std::vector<std::uint8_t> frame = framed(datagram);
  frame[36] = static_cast<std::uint8_t>(port >> 8U);
  frame[37] = static_cast<std::uint8_t>(port);
  return frame;
}

}  // namespace roce::dissect
