// SPDX-License-Identifier: Apache-2.0
#include "capture/listen/udp_frame.hpp"

#include <algorithm>

namespace roce::capture {
namespace {

constexpr std::size_t ipv4_size = 20, ipv6_size = 40, udp_size = 8;
constexpr std::uint8_t udp = 17, hops = 64;
constexpr std::array<std::uint8_t, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool is_ipv4(const UdpEnds& ends) noexcept {
  return std::equal(mapped.begin(), mapped.end(), ends.source.begin());
}

void put16(std::uint8_t* at, std::size_t value) noexcept {
  at[0] = static_cast<std::uint8_t>(value >> 8U);
  at[1] = static_cast<std::uint8_t>(value);
}

/// The sum of RFC 1071, not yet inverted.
std::uint64_t sum_of(std::span<const std::uint8_t> bytes, std::uint64_t sum = 0) noexcept {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    sum += i % 2 == 0 ? std::uint64_t{bytes[i]} << 8U : std::uint64_t{bytes[i]};
  return sum;
}
std::uint16_t checksum(std::uint64_t sum) noexcept {
  while (sum >> 16U != 0) sum = (sum & 0xffffU) + (sum >> 16U);
  return static_cast<std::uint16_t>(~sum);
}

}  // namespace

std::size_t udp_head_size(const UdpEnds& ends) noexcept {
  return (is_ipv4(ends) ? ipv4_size : ipv6_size) + udp_size;
}

void write_udp_head(const UdpEnds& ends, std::span<const std::uint8_t> payload, std::uint8_t* head) noexcept {
  const bool v4 = is_ipv4(ends);
  const std::size_t size = v4 ? ipv4_size : ipv6_size, length = udp_size + payload.size();
  std::fill(head, head + size + udp_size, std::uint8_t{0});
  std::span<const std::uint8_t> addresses;
  if (v4) {
    head[0] = 0x45;
    put16(head + 2, ipv4_size + length);
    head[6] = 0x40;  // not fragmented here
    head[8] = hops;
    head[9] = udp;
    std::copy(ends.source.begin() + mapped.size(), ends.source.end(), head + 12);
    std::copy(ends.destination.begin() + mapped.size(), ends.destination.end(), head + 16);
    put16(head + 10, checksum(sum_of({head, ipv4_size})));
    addresses = {head + 12, 8};
  } else {
    head[0] = 0x60;
    put16(head + 4, length);
    head[6] = udp;
    head[7] = hops;
    std::copy(ends.source.begin(), ends.source.end(), head + 8);
    std::copy(ends.destination.begin(), ends.destination.end(), head + 24);
    addresses = {head + 8, 32};
  }
  std::uint8_t* const datagram = head + size;
  put16(datagram, ends.source_port);
  put16(datagram + 2, ends.destination_port);
  put16(datagram + 4, length);
  const std::uint64_t sum = sum_of(addresses, udp + length) + sum_of({datagram, udp_size}) + sum_of(payload);
  const std::uint16_t check = checksum(sum);
  put16(datagram + 6, check == 0 ? 0xffff : check);
}

}  // namespace roce::capture
