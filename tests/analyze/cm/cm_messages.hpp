// SPDX-License-Identifier: Apache-2.0
// Messages of the communication manager as frames, by the offsets of IBTA 12.6, for tests.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analyze/cm/cm_tracker.hpp"
#include "dissect/dissect.hpp"
#include "tests/support/frame_builder.hpp"

namespace roce::analyze {

inline constexpr support::Ipv4Address client_address{10, 0, 0, 1};
inline constexpr support::Ipv4Address server_address{10, 0, 0, 2};

inline dissect::IpAddress ip(const support::Ipv4Address& address) {
  return dissect::IpAddress::v4(address.data());
}

/// A MAD of the CM: 24 bytes of header, 232 of message.
class CmMad {
 public:
  CmMad(std::uint16_t attribute, std::uint64_t transaction_id) : bytes_(256) {
    bytes_[0] = 1;  // base version
    bytes_[1] = 7;  // class CM
    bytes_[2] = 2;
    bytes_[3] = 3;  // Send
    at(8, 8, transaction_id);
    at(16, 2, attribute);
  }
  /// A big-endian number at an offset of the message.
  CmMad& put(std::size_t offset, std::size_t width, std::uint64_t value) {
    return at(24 + offset, width, value);
  }
  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  CmMad& at(std::size_t offset, std::size_t width, std::uint64_t value) {
    for (std::size_t i = 0; i < width; ++i) {
      bytes_[offset + i] = static_cast<std::uint8_t>(value >> 8 * (width - 1 - i));
    }
    return *this;
  }
  std::vector<std::uint8_t> bytes_;
};

struct Req {
  std::uint32_t id = 0x11;
  std::uint32_t qpn = 0x100;
  std::uint32_t psn = 1000;  // that the client expects
  std::uint64_t service = 0x0000000001060000 + 4420;
  std::uint64_t tid = 1;
  unsigned transport = 0;  // RC
  std::uint8_t extended = 0;
};
inline CmMad req(const Req& r = {}) {
  return CmMad(0x10, r.tid)
      .put(0, 4, r.id)
      .put(8, 8, r.service)
      .put(32, 3, r.qpn)
      .put(43, 1, 20U << 3U | r.transport << 1U)  // response timeout code 20
      .put(44, 3, r.psn)
      .put(47, 1, 19U << 3U | 6U)  // retry count 6
      .put(50, 1, 3U << 4U | 7U)   // path MTU 1024, RNR retry for ever
      .put(51, 1, 15U << 4U | r.extended)
      .put(92, 1, 0x68)
      .put(94, 1, 3U << 4U)    // SL 3
      .put(95, 1, 14U << 3U);  // ACK timeout code 14
}
struct Ids {
  std::uint32_t own = 0;  // of the sender
  std::uint32_t other = 0;
};
inline CmMad rep(Ids ids = {0x22, 0x11}, std::uint32_t qpn = 0x200, std::uint32_t psn = 2000) {
  return CmMad(0x13, 1).put(0, 4, ids.own).put(4, 4, ids.other).put(12, 3, qpn).put(20, 3, psn);
}
inline CmMad rtu(Ids ids = {0x11, 0x22}) {
  return CmMad(0x14, 1).put(0, 4, ids.own).put(4, 4, ids.other);
}
inline CmMad mra(Ids ids, unsigned answered) {
  return CmMad(0x11, 1).put(0, 4, ids.own).put(4, 4, ids.other).put(8, 1, answered << 6U);
}
inline CmMad rej(Ids ids, unsigned answered, std::uint16_t reason) {
  return CmMad(0x12, 1).put(0, 4, ids.own).put(4, 4, ids.other).put(8, 1, answered << 6U).put(10, 2, reason);
}
inline CmMad dreq(Ids ids = {0x11, 0x22}, std::uint32_t qpn = 0x200, std::uint64_t tid = 1) {
  return CmMad(0x15, tid).put(0, 4, ids.own).put(4, 4, ids.other).put(8, 3, qpn);
}
inline CmMad drep(Ids ids = {0x22, 0x11}) {
  return CmMad(0x16, 1).put(0, 4, ids.own).put(4, 4, ids.other);
}
inline CmMad sidr_req(std::uint32_t id, std::uint64_t service) {
  return CmMad(0x17, 1).put(0, 4, id).put(8, 8, service);
}
inline CmMad sidr_rep(std::uint32_t id, std::uint8_t status, std::uint32_t qpn, std::uint64_t service) {
  return CmMad(0x18, 1).put(0, 4, id).put(4, 1, status).put(8, 3, qpn).put(12, 8, service);
}

/// A CM message on the wire.
inline std::vector<std::uint8_t> cm_frame(const CmMad& mad, const support::Ipv4Address& source,
                                          const support::Ipv4Address& destination, std::uint32_t psn,
                                          std::uint16_t ip_id = 0) {
  support::RoceFrame frame;
  support::Ipv4 network;
  network.source = source;
  network.destination = destination;
  network.id = ip_id;
  frame.network = network;
  frame.udp_source = support::ud_source_port(1);
  frame.bth.opcode = 0x64;  // UD SEND Only
  frame.bth.dest_qp = 1;
  frame.bth.psn = psn;
  frame.extended.deth(0x80010000, 1);
  frame.payload = mad.bytes();
  return support::build(frame);
}

/// Feeds a tracker: a second between messages and the next PSN each time, as a sender would.
class CmWire {
 public:
  explicit CmWire(std::size_t limit = CmTracker::default_limit) : tracker(limit) {}

  static constexpr std::int64_t second = 1'000'000'000;

  const CmExchange* from_client(const CmMad& mad) { return send(mad, client_address, server_address); }
  const CmExchange* from_server(const CmMad& mad) { return send(mad, server_address, client_address); }
  const CmExchange* send(const CmMad& mad, const support::Ipv4Address& source,
                         const support::Ipv4Address& destination) {
    time += second;
    ++psn;
    return again(mad, source, destination);
  }
  /// As it is: the same time and PSN as the message before, unless they were changed.
  const CmExchange* again(const CmMad& mad, const support::Ipv4Address& source,
                          const support::Ipv4Address& destination) {
    return learn(cm_frame(mad, source, destination, psn, ip_id));
  }
  const CmExchange* learn(const std::vector<std::uint8_t>& bytes) {
    capture::Frame frame;
    frame.data = bytes.data();
    frame.captured = frame.wire = static_cast<std::uint32_t>(bytes.size());
    frame.link_type = dissect::link_ethernet;
    frame.time_ns = time;
    dissect::dissect({bytes.data(), bytes.size()}, frame.wire, frame.link_type, dissection);
    return tracker.learn(++number, frame, dissection);
  }

  CmTracker tracker;
  dissect::Dissection dissection;
  std::uint64_t number = 0;
  std::int64_t time = 1'700'000'000 * second;
  std::uint32_t psn = 100;
  std::uint16_t ip_id = 0;
};

}  // namespace roce::analyze
