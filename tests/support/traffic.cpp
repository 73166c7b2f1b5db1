// SPDX-License-Identifier: Apache-2.0
#include "tests/support/traffic.hpp"

#include <algorithm>
#include <cassert>

namespace roce::support {
namespace {

// BTH opcodes of RC, IBTA table 38; of UD the one that is used here.
constexpr std::uint8_t send_first = 0x00, send_middle = 0x01, send_last = 0x02, send_only = 0x04;
constexpr std::uint8_t write_first = 0x06, write_middle = 0x07, write_last = 0x08, write_only = 0x0a;
constexpr std::uint8_t read_request_opcode = 0x0c;
constexpr std::uint8_t response_first = 0x0d, response_middle = 0x0e, response_last = 0x0f,
                       response_only = 0x10;
constexpr std::uint8_t acknowledge_opcode = 0x11;
constexpr std::uint8_t ud_send_only = 0x64;

constexpr std::uint8_t ack_syndrome = 0x1f;  // ACK, credits not used
constexpr std::uint32_t qkey = 0x11111111;
constexpr std::uint32_t psn_mask = 0xffffff;
constexpr std::uint32_t first_qp = 0x11;
constexpr std::size_t data_size = std::size_t{1} << 16;
constexpr std::uint32_t largest_packet = 4096;

std::uint8_t by_position(std::uint32_t packet, std::uint32_t count, std::uint8_t first, std::uint8_t middle,
                         std::uint8_t last, std::uint8_t only) {
  if (count == 1) {
    return only;
  }
  return packet == 0 ? first : packet + 1 == count ? last : middle;
}

MacAddress mac_of(std::uint32_t host) {
  return {0x52, 0x54, 0x00, 0x00, static_cast<std::uint8_t>(host >> 8), static_cast<std::uint8_t>(host)};
}

Ipv4Address ipv4_of(std::uint32_t host) {
  return {10, 77, static_cast<std::uint8_t>(host >> 8), static_cast<std::uint8_t>(host)};
}

Ipv6Address ipv6_of(std::uint32_t host) {
  Ipv6Address address{0xfd, 0x77};
  address[14] = static_cast<std::uint8_t>(host >> 8);
  address[15] = static_cast<std::uint8_t>(host);
  return address;
}

RoceFrame headers_between(const TrafficOptions& options, std::uint32_t from, std::uint32_t to) {
  RoceFrame frame;
  frame.source_mac = mac_of(from);
  frame.destination_mac = mac_of(to);
  if (options.vlan) {
    frame.vlans.push_back(*options.vlan);
  }
  const auto tos = static_cast<std::uint8_t>(options.dscp << 2 | options.ecn);
  if (options.ipv6) {
    frame.network = Ipv6{.source = ipv6_of(from), .destination = ipv6_of(to), .traffic_class = tos};
  } else {
    frame.network = Ipv4{.source = ipv4_of(from), .destination = ipv4_of(to), .tos = tos};
  }
  return frame;
}

}  // namespace

TrafficGenerator::TrafficGenerator(const TrafficOptions& options)
    : options_(options),
      packets_per_message_(std::max(1U, (options.message_bytes + options.path_mtu - 1) / options.path_mtu)),
      random_(options.seed),
      data_(data_size + largest_packet),
      time_(options.start_time) {
  assert(options.path_mtu <= largest_packet);
  assert(options.service == Service::rc || options.message_bytes <= options.path_mtu);
  for (std::uint8_t& byte : data_) {
    byte = static_cast<std::uint8_t>(random_());
  }
  connections_.reserve(options.connections);
  for (std::uint32_t i = 0; i < options.connections; ++i) {
    connections_.push_back(make_connection(i));
  }
}

// Connection i joins host i mod H with one of the others; QP numbers count up on each host alike,
// as a driver hands them out.
TrafficGenerator::Connection TrafficGenerator::make_connection(std::uint32_t index) {
  const std::uint32_t hosts = options_.hosts;
  const std::uint32_t a = index % hosts;
  const std::uint32_t b = (a + 1 + (index / hosts) % (hosts - 1)) % hosts;
  const std::uint32_t a_qp = first_qp + 2 * index;
  const std::uint32_t b_qp = first_qp + 2 * index + 1;

  Connection connection;
  connection.local_qp = a_qp;
  connection.request.frame = headers_between(options_, a + 1, b + 1);
  connection.response.frame = headers_between(options_, b + 1, a + 1);
  connection.request.frame.bth.dest_qp = b_qp;
  connection.response.frame.bth.dest_qp = a_qp;
  const std::uint16_t port =
      options_.service == Service::ud ? ud_source_port(a_qp) : rc_source_port(a_qp, b_qp);
  connection.request.frame.udp_source = port;
  connection.response.frame.udp_source = port;
  connection.request.ip_id = static_cast<std::uint16_t>(random_());
  connection.response.ip_id = static_cast<std::uint16_t>(random_());
  connection.psn = static_cast<std::uint32_t>(random_()) & psn_mask;
  connection.address = 0x7f0000000000U | (random_() & 0xfffff000U);
  connection.rkey = static_cast<std::uint32_t>(random_());
  return connection;
}

void TrafficGenerator::emit(Path& path, const Bth& bth, std::span<const std::uint8_t> payload) {
  RoceFrame& frame = path.frame;
  const std::uint32_t dest_qp = frame.bth.dest_qp;
  frame.bth = bth;
  frame.bth.dest_qp = dest_qp;
  frame.payload = payload;
  if (Ipv4* const ip = std::get_if<Ipv4>(&frame.network)) {
    ip->id = path.ip_id++;
  }
  build(frame, bytes_);
}

std::span<const std::uint8_t> TrafficGenerator::payload_of(std::uint32_t packet, std::uint32_t psn) const {
  const std::size_t before = static_cast<std::size_t>(packet) * options_.path_mtu;
  const std::size_t size = std::min<std::size_t>(options_.message_bytes - before, options_.path_mtu);
  return std::span(data_).subspan(psn * 64U % data_size, size);
}

void TrafficGenerator::request_packet(Connection& c) {
  const bool write = options_.operation == Operation::write;
  const bool last = c.packet + 1 == packets_per_message_;
  Bth bth;
  bth.opcode =
      write ? by_position(c.packet, packets_per_message_, write_first, write_middle, write_last, write_only)
            : by_position(c.packet, packets_per_message_, send_first, send_middle, send_last, send_only);
  bth.psn = c.psn;
  bth.ack_request = last && c.unacknowledged + 1 >= options_.ack_every;
  ExtendedHeaders& extended = c.request.frame.extended;
  extended.clear();
  if (write && c.packet == 0) {
    extended.reth(c.address, c.rkey, options_.message_bytes);
  }
  emit(c.request, bth, payload_of(c.packet, c.psn));
  c.psn = (c.psn + 1) & psn_mask;
  c.packet = last ? 0 : c.packet + 1;
  if (last) {
    c.msn = (c.msn + 1) & psn_mask;
    ++c.unacknowledged;
    c.acknowledging = bth.ack_request;
  }
}

void TrafficGenerator::acknowledge(Connection& c) {
  Bth bth;
  bth.opcode = acknowledge_opcode;
  bth.psn = (c.psn - 1) & psn_mask;
  c.response.frame.extended.clear();
  c.response.frame.extended.aeth(ack_syndrome, c.msn);
  emit(c.response, bth, {});
  c.acknowledging = false;
  c.unacknowledged = 0;
}

// A READ takes as many PSNs as its answer has packets.
void TrafficGenerator::read_request(Connection& c) {
  Bth bth;
  bth.opcode = read_request_opcode;
  bth.psn = c.psn;
  c.request.frame.extended.clear();
  c.request.frame.extended.reth(c.address, c.rkey, options_.message_bytes);
  emit(c.request, bth, {});
  c.response_psn = c.psn;
  c.psn = (c.psn + packets_per_message_) & psn_mask;
  c.msn = (c.msn + 1) & psn_mask;
  c.packet = 0;
  c.responding = true;
}

void TrafficGenerator::read_response(Connection& c) {
  Bth bth;
  bth.opcode = by_position(c.packet, packets_per_message_, response_first, response_middle, response_last,
                           response_only);
  bth.psn = c.response_psn;
  ExtendedHeaders& extended = c.response.frame.extended;
  extended.clear();
  if (bth.opcode != response_middle) {
    extended.aeth(ack_syndrome, c.msn);
  }
  emit(c.response, bth, payload_of(c.packet, bth.psn));
  c.response_psn = (c.response_psn + 1) & psn_mask;
  c.responding = ++c.packet < packets_per_message_;
}

void TrafficGenerator::datagram(Connection& c) {
  Bth bth;
  bth.opcode = ud_send_only;
  bth.psn = c.psn;
  c.request.frame.extended.clear();
  c.request.frame.extended.deth(qkey, c.local_qp);
  emit(c.request, bth, payload_of(0, c.psn));
  c.psn = (c.psn + 1) & psn_mask;
}

void TrafficGenerator::next_of(Connection& c) {
  if (options_.service == Service::ud) {
    datagram(c);
  } else if (c.responding) {
    read_response(c);
  } else if (options_.operation == Operation::read) {
    read_request(c);
  } else if (c.acknowledging) {
    acknowledge(c);
  } else {
    request_packet(c);
  }
}

GeneratedFrame TrafficGenerator::next() {
  if (left_in_burst_ == 0) {
    const std::uint64_t drawn = random_();
    current_ = (drawn >> 8) % connections_.size();
    left_in_burst_ = 1 + static_cast<std::uint32_t>(drawn & 0xff) % options_.burst;
  }
  --left_in_burst_;
  next_of(connections_[current_]);
  const GeneratedFrame frame{time_, bytes_};
  time_ += options_.gap;
  return frame;
}

}  // namespace roce::support
