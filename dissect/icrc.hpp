// SPDX-License-Identifier: Apache-2.0
// Invariant CRC: IBTA 7.8.1, for RoCE A16.5.2 (v1) and A17.3.3 (v2). Variant CRC: IBTA 7.8.2.
#pragma once

#include <cstdint>

#include "dissect/bytes.hpp"
#include "dissect/dissection.hpp"

namespace roce::dissect {

enum class CrcStatus : std::uint8_t { match, mismatch, not_checkable };

/// Why a CRC cannot be checked.
enum class CrcObstacle : std::uint8_t {
  none,
  no_transport,
  cut,
  trimmed,
  fragment,
  no_length,
  cover_unknown
};

struct IcrcResult {
  CrcStatus status = CrcStatus::not_checkable;
  CrcObstacle obstacle = CrcObstacle::none;
  /// A FLUSH with the ICRC of Linux Soft-RoCE (6.12), which includes BTH, FETH and RETH twice. A Soft-RoCE
  /// peer accepts it, so it counts as a match although it is not the standard's value.
  bool soft_roce_flush = false;
  std::uint32_t found = 0;     ///< as Wireshark shows it: the four bytes read big-endian
  std::uint32_t computed = 0;  ///< the standard's value, in the same byte order
};

/// Offsets in a frame of the ICRC and of what it covers.
struct IcrcPlace {
  static constexpr std::uint32_t none = 0xffff'ffff;

  HeaderId network_id = HeaderId::ipv4;  ///< ipv4, ipv6, grh, or lrh (native InfiniBand without GRH)
  std::uint32_t network = 0;
  std::uint32_t udp = none;
  std::uint32_t bth = 0;
  std::uint32_t icrc = 0;
};

/// Checks the ICRC at `place`; everything it covers must lie inside `frame`. For callers that found the
/// headers without dissect(); others use check_icrc(). Thread-safe, allocates nothing.
[[nodiscard]] IcrcResult check_icrc_at(Bytes frame, const IcrcPlace& place) noexcept;

/// Checks the ICRC of a dissected frame. Thread-safe, allocates nothing.
[[nodiscard]] IcrcResult check_icrc(Bytes frame, const Dissection& dissection) noexcept;

struct VcrcResult {
  CrcStatus status = CrcStatus::not_checkable;
  std::uint16_t found = 0;
  std::uint16_t computed = 0;
};

/// Checks the VCRC of a native InfiniBand frame; not_checkable for all others.
[[nodiscard]] VcrcResult check_vcrc(Bytes frame, const Dissection& dissection) noexcept;

/// "match", "mismatch", "not_checkable": the values of roce.icrc.status.
[[nodiscard]] std::string_view crc_status_name(CrcStatus status) noexcept;
/// "truncated packet", ...: why a CRC is not checkable; empty for CrcObstacle::none.
[[nodiscard]] std::string_view crc_obstacle_name(CrcObstacle obstacle) noexcept;

}  // namespace roce::dissect
