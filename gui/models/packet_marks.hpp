// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "analyze/packet/packet_summary.hpp"
#include "analyze/packet/verdict.hpp"

namespace roce::gui {

/// The 64 bits of flags that the window keeps in memory for every packet, besides its file position: what
/// packets are coloured, counted and searched by. Everything else is read on demand. Not DSCP/ECN markings.
class PacketMarks {
 public:
  enum Bit : unsigned {  // 0 to 7 are the opcode
    transport = 8,
    ce,
    icrc_wrong,
    nak,
    rnr_nak,
    management,
    link_control,
    judged,  ///< the sequence analysis has a verdict on it
    retransmission,
    spurious,
    duplicate_capture,
    duplicate_network,
    out_of_order,
    ack_unseen,
    illegal_sequence,
    wrong_length,
    msn_backwards,
    source_mac_changed,
    lost_between_points,
    time_backwards,
    b_to_a,
    lost_before,
    lost_after,  ///< of packets that the peer had sent
    missed,
    missed_of_other,
    gap,
    cause,                         ///< three bits
    connection_known = cause + 3,  ///< 37
    commented,
    refused,         ///< a management packet that refuses a connection
    connection = 40  ///< 24 bits
  };
  static constexpr std::uint32_t connections = (1U << 24U) - 1;  ///< ids below that fit into the word
  /// The bits that make up the opcode.
  static constexpr std::uint64_t opcode_bits = 0xff | std::uint64_t{1} << transport;

  constexpr PacketMarks() noexcept = default;
  constexpr explicit PacketMarks(std::uint64_t word) noexcept : word_(word) {}
  explicit PacketMarks(const analyze::PacketSummary& summary) noexcept;

  /// The same packet with the final verdict of the analysis.
  [[nodiscard]] PacketMarks with(const analyze::Verdict& verdict) const noexcept;
  /// The same packet, which refuses a connection.
  [[nodiscard]] constexpr PacketMarks with_refusal() const noexcept {
    return PacketMarks(word_ | std::uint64_t{1} << refused);
  }
  /// The same packet with comments.
  [[nodiscard]] constexpr PacketMarks with_comments() const noexcept {
    return PacketMarks(word_ | std::uint64_t{1} << commented);
  }

  [[nodiscard]] constexpr std::uint64_t word() const noexcept { return word_; }
  [[nodiscard]] constexpr bool has(Bit bit) const noexcept { return (word_ >> bit & 1U) != 0; }
  [[nodiscard]] constexpr std::uint8_t opcode() const noexcept { return static_cast<std::uint8_t>(word_); }
  /// Cause of the retransmission; Cause::none or unknown otherwise.
  [[nodiscard]] constexpr analyze::Cause cause_of() const noexcept {
    return static_cast<analyze::Cause>(word_ >> cause & 7U);
  }
  /// Id of its connection; Verdict::no_connection if there is none or its id does not fit.
  [[nodiscard]] constexpr std::uint32_t connection_of() const noexcept {
    return has(connection_known) ? static_cast<std::uint32_t>(word_ >> connection)
                                 : analyze::Verdict::no_connection;
  }
  [[nodiscard]] bool is_cnp() const noexcept;
  /// Whether it indicates lost or not captured packets.
  [[nodiscard]] constexpr bool any_lost() const noexcept {
    return has(lost_before) || has(lost_after) || has(lost_between_points) || has(missed) ||
           has(missed_of_other) || has(gap);
  }

 private:
  constexpr void set(unsigned bit, bool value) noexcept { word_ |= std::uint64_t{value} << bit; }
  std::uint64_t word_ = 0;
};

/// What a packet is coloured by: the worst of its flags. In the order of the legend.
enum class PacketMeaning : std::uint8_t {
  plain,
  error,           ///< NAK, wrong ICRC, illegal opcode sequence, wrong length
  retransmission,  ///< retransmitted
  lost,            ///< indicates a loss or a PSN gap
  rnr,             ///< receiver not ready
  congestion,      ///< CE: congestion experienced
  cnp,             ///< congestion notification packet
  odd,             ///< duplicate, out of order, timestamps that go backwards
  control,         ///< connection management, PAUSE, PFC, LLDP
  other,           ///< not RoCE
  count_
};
inline constexpr std::size_t meaning_count = static_cast<std::size_t>(PacketMeaning::count_);
[[nodiscard]] PacketMeaning meaning_of(PacketMarks marks) noexcept;
/// Text of the legend, untranslated (context "PacketMeaning").
[[nodiscard]] const char* meaning_text(PacketMeaning meaning) noexcept;

}  // namespace roce::gui
