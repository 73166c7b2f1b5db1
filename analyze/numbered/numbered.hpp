// SPDX-License-Identifier: Apache-2.0
// Shells and mirrors of a capture, as plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/base/small_counts.hpp"
#include "capture/core/frame.hpp"
#include "dissect/enum_names.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

enum class NumberedKind : std::uint8_t { esp, ah, psp, macsec, erspan, gre, count_ };
inline constexpr std::size_t numbered_kind_count = static_cast<std::size_t>(NumberedKind::count_);
inline constexpr EnumNames<NumberedKind, numbered_kind_count> numbered_kind_names(
    {{NumberedKind::esp, "esp"},
     {NumberedKind::ah, "ah"},
     {NumberedKind::psp, "psp"},
     {NumberedKind::macsec, "macsec"},
     {NumberedKind::erspan, "erspan"},
     {NumberedKind::gre, "gre"}});
[[nodiscard]] constexpr bool is_mirror(NumberedKind kind) noexcept {
  return kind == NumberedKind::erspan || kind == NumberedKind::gre;
}

/// Who numbers: packets of one have the same.
struct NumberedKey {
  NumberedKind kind{};
  std::uint8_t association = 0;  ///< of MACsec: the AN
  dissect::IpAddress src;        ///< of the outer header; unset with MACsec
  dissect::IpAddress dst;
  /// SPI; of MACsec the SCI, or the source MAC address with port 1; of a mirror its session or GRE key.
  std::uint64_t id = 0;
  [[nodiscard]] auto operator<=>(const NumberedKey&) const noexcept = default;
};

/// Packets of one key.
struct NumberedStream {
  NumberedKey key;
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;                ///< on the wire
  std::uint64_t roce = 0;                 ///< of mirrors: those of which a RoCE packet is inside
  std::uint64_t ce = 0;                   ///< with CE in the outer header
  SmallCounts<std::uint8_t, 1, 64> dscp;  ///< of the outer header
  std::uint64_t first_packet = 0;
  std::int64_t first_ns = capture::no_time;
  std::int64_t last_ns = capture::no_time;

  /// Its numbers rise by one from packet to packet, as far as they are not missing. Else several share them,
  /// or the device does not count, and the rest is 0.
  bool counts = false;
  std::uint64_t missing = 0;     ///< numbers that never came
  std::uint64_t gaps = 0;        ///< places where some are missing
  std::uint64_t late = 0;        ///< packets that came behind higher numbers
  std::uint64_t late_by = 0;     ///< at most so many numbers
  std::uint64_t duplicates = 0;  ///< numbers that came again
  std::uint64_t restarts = 0;    ///< jumps of the numbers

  [[nodiscard]] bool mirror() const noexcept { return is_mirror(key.kind); }
};

struct Numbered {
  std::vector<NumberedStream> streams;  ///< most packets first
  std::uint64_t dropped = 0;            ///< packets of streams beyond the limit

  [[nodiscard]] std::uint64_t encrypted() const noexcept;  ///< packets that hide what they carry
  [[nodiscard]] std::uint64_t mirrored() const noexcept;
  /// Packets that were lost between the mirroring switches and the capture.
  [[nodiscard]] std::uint64_t mirror_missing() const noexcept;
};

/// "ESP, SPI 0x0000c0de", "MACsec, SCI 525400000a010001, AN 2", "ERSPAN session 5".
[[nodiscard]] std::string numbered_text(const NumberedKey& key);
/// "12 000 packets are encrypted (ESP, SPI 0x0000c0de and 2 more)"; empty if none is.
[[nodiscard]] std::string encrypted_text(const Numbered& numbered);
/// "ERSPAN session 5 of 10.0.0.9 lost 37 of 40000 packets (0.1 %) between switch and capture"; empty if none
/// did.
[[nodiscard]] std::string mirror_loss_text(const Numbered& numbered);

}  // namespace roce::analyze
