// SPDX-License-Identifier: Apache-2.0
// Endless clean RoCE v2 traffic among hosts and queue pairs, the same for the same seed. Every
// connection keeps the rules of PSN, MSN and opcode order, so that an analysis has nothing to find.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "tests/support/frame_builder.hpp"

namespace roce::support {

enum class Service { rc, ud };
enum class Operation { write, send, read };

struct TrafficOptions {
  Service service = Service::rc;
  Operation operation = Operation::write;  // UD: send only
  std::uint32_t message_bytes = 64;        // 0 .. 2^31; UD: at most path_mtu
  std::uint32_t path_mtu = 1024;           // bytes of payload a packet; 256, 512, ... 4096
  std::uint32_t connections = 1;           // one queue pair at each end
  std::uint32_t hosts = 2;                 // 2 .. 65534
  std::uint32_t ack_every = 4;             // messages an ACK acknowledges (WRITE and SEND of RC)
  std::uint32_t burst = 4;                 // packets of one connection in a row, at most
  bool ipv6 = false;
  std::optional<VlanTag> vlan;
  std::uint8_t dscp = 26;                                // 0..63
  std::uint8_t ecn = 2;                                  // 2: ECT(0)
  std::uint64_t start_time = 1'700'000'000'000'000'000;  // ns since the epoch
  std::uint64_t gap = 1000;                              // ns from frame to frame
  std::uint64_t seed = 1;
};

struct GeneratedFrame {
  std::uint64_t time = 0;               // ns since the epoch
  std::span<const std::uint8_t> bytes;  // valid until the next call
};

class TrafficGenerator {
 public:
  explicit TrafficGenerator(const TrafficOptions& options);

  GeneratedFrame next();

 private:
  // One direction of a connection: who sends to whom.
  struct Path {
    RoceFrame frame;          // headers that never change, reused for each packet
    std::uint16_t ip_id = 0;  // of the next packet
  };
  struct Connection {
    Path request;
    Path response;
    std::uint32_t psn = 0;             // of the next request
    std::uint32_t msn = 0;             // messages completed by the responder
    std::uint32_t packet = 0;          // within the message: next request or READ response packet
    std::uint32_t response_psn = 0;    // of the next READ response
    std::uint32_t unacknowledged = 0;  // messages
    std::uint64_t address = 0;         // of the remote buffer
    std::uint32_t rkey = 0;
    std::uint32_t local_qp = 0;
    bool acknowledging = false;
    bool responding = false;
  };

  Connection make_connection(std::uint32_t index);
  void emit(Path& path, const Bth& bth, std::span<const std::uint8_t> payload);
  std::span<const std::uint8_t> payload_of(std::uint32_t packet, std::uint32_t psn) const;
  void next_of(Connection& connection);
  void request_packet(Connection& connection);
  void read_request(Connection& connection);
  void read_response(Connection& connection);
  void acknowledge(Connection& connection);
  void datagram(Connection& connection);

  TrafficOptions options_;
  std::uint32_t packets_per_message_;
  std::mt19937_64 random_;
  std::vector<std::uint8_t> data_;  // payload is cut from this
  std::vector<Connection> connections_;
  std::size_t current_ = 0;
  std::uint32_t left_in_burst_ = 0;
  std::uint64_t time_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace roce::support
