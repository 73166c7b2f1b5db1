// SPDX-License-Identifier: Apache-2.0
// Strong types for PSN, QPN, P_Key, R_Key and others, so that they cannot be mixed up.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "dissect/bytes.hpp"

namespace roce::dissect {

/// PSNs and MSNs are 24-bit and circular (IBTA 9.7.1, 9.7.5.1.1): these are all that counts with them.
inline constexpr std::uint32_t serial_mask = 0xff'ffff;
/// Steps from one to the other, forward: 0 .. 2^24 - 1.
[[nodiscard]] constexpr std::uint32_t serial_steps(std::uint32_t from, std::uint32_t to) noexcept {
  return (to - from) & serial_mask;
}
/// How far `to` is ahead of `from`: -2^23 .. 2^23 - 1, as rxe's psn_compare().
[[nodiscard]] constexpr std::int32_t serial_distance(std::uint32_t from, std::uint32_t to) noexcept {
  return static_cast<std::int32_t>((to - from) << 8U) >> 8;
}

/// A packet sequence number. There is no `<`: circular order is not transitive.
class Psn {
 public:
  static constexpr std::uint32_t modulus = serial_mask + 1;

  constexpr Psn() = default;
  constexpr explicit Psn(std::uint32_t value) noexcept : value_(value & serial_mask) {}

  [[nodiscard]] constexpr std::uint32_t value() const noexcept { return value_; }
  /// Circular distance from `from`, -2^23 .. 2^23 - 1 (IBTA 9.7.1, rxe's psn_compare).
  [[nodiscard]] constexpr std::int32_t distance_from(Psn from) const noexcept {
    return serial_distance(from.value_, value_);
  }
  [[nodiscard]] constexpr Psn operator+(std::uint32_t n) const noexcept { return Psn(value_ + n); }
  [[nodiscard]] constexpr bool operator==(const Psn&) const noexcept = default;

 private:
  std::uint32_t value_ = 0;
};

namespace detail {
/// A number with its own type: equality, hash by value(), and an order that is for sorted output only.
template <class Tag, class Rep>
class Strong {
 public:
  constexpr Strong() = default;
  constexpr explicit Strong(Rep value) noexcept : value_(value) {}
  [[nodiscard]] constexpr Rep value() const noexcept { return value_; }
  [[nodiscard]] constexpr auto operator<=>(const Strong&) const noexcept = default;

 private:
  Rep value_{};
};
}  // namespace detail

using Qpn = detail::Strong<struct QpnTag, std::uint32_t>;    ///< queue pair number, 24 bits
using PKey = detail::Strong<struct PKeyTag, std::uint16_t>;  ///< partition key, bit 15 = full member

enum class Ecn : std::uint8_t { not_ect = 0, ect1 = 1, ect0 = 2, ce = 3 };

struct MacAddress {
  std::array<std::uint8_t, 6> bytes{};
  constexpr auto operator<=>(const MacAddress&) const noexcept = default;
  [[nodiscard]] static MacAddress from(const std::uint8_t* p) noexcept {
    MacAddress mac;
    std::memcpy(mac.bytes.data(), p, mac.bytes.size());
    return mac;
  }
};

/// An IPv4 address, an IPv6 address or a GID, 16 bytes in network order; IPv4 as ::ffff:a.b.c.d.
/// Native InfiniBand frames without GRH hold a LID, which is kept in the last two bytes.
struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};

  constexpr auto operator<=>(const IpAddress&) const noexcept = default;

  [[nodiscard]] static IpAddress v4(const std::uint8_t* p) noexcept {
    IpAddress address;
    address.bytes[10] = address.bytes[11] = 0xff;
    std::memcpy(address.bytes.data() + 12, p, 4);
    return address;
  }
  [[nodiscard]] static IpAddress v6(const std::uint8_t* p) noexcept {
    IpAddress address;
    std::memcpy(address.bytes.data(), p, 16);
    return address;
  }
  [[nodiscard]] constexpr bool is_v4_mapped() const noexcept {
    for (std::size_t i = 0; i < 10; ++i) {
      if (bytes[i] != 0) return false;
    }
    return bytes[10] == 0xff && bytes[11] == 0xff;
  }
};

}  // namespace roce::dissect
