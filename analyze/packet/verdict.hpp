// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dissect/enum_names.hpp"

namespace roce::analyze {

/// Why a packet was retransmitted; the values of `roce.analysis.retransmission.cause`.
enum class Cause : std::uint8_t {
  none,        ///< it is not a retransmission
  nak,         ///< after a PSN sequence NAK
  timeout,     ///< after the ACK timeout
  rnr,         ///< after an RNR NAK
  read_retry,  ///< a READ request retransmitted because responses are missing, and all responses to it
  unknown,     ///< the cause was not captured
  count_
};
inline constexpr std::size_t cause_count = static_cast<std::size_t>(Cause::count_);

/// Where a transmission was lost; the values of `roce.analysis.lost`.
enum class Lost : std::uint8_t {
  none,
  before_capture,  ///< lost upstream of the capture point
  after_capture,   ///< lost downstream of the capture point
  by_capture,      ///< delivered, but not captured
  trimmed,         ///< captured as what a switch upstream had left of it
  undecided,       ///< missing here: lost or not captured, and the capture cannot tell which
  count_
};
inline constexpr std::size_t lost_count = static_cast<std::size_t>(Lost::count_);

inline constexpr EnumNames<Cause, cause_count> cause_names({{Cause::none, ""},
                                                            {Cause::nak, "nak"},
                                                            {Cause::timeout, "timeout"},
                                                            {Cause::rnr, "rnr"},
                                                            {Cause::read_retry, "read_retry"},
                                                            {Cause::unknown, "unknown"}});
[[nodiscard]] constexpr std::string_view cause_name(Cause cause) noexcept {
  return cause_names[cause];
}

inline constexpr EnumNames<Lost, lost_count> lost_names({{Lost::none, ""},
                                                         {Lost::before_capture, "before_capture"},
                                                         {Lost::after_capture, "after_capture"},
                                                         {Lost::by_capture, "by_capture"},
                                                         {Lost::trimmed, "trimmed"},
                                                         {Lost::undecided, "undecided"}});
[[nodiscard]] constexpr std::string_view lost_name(Lost lost) noexcept {
  return lost_names[lost];
}

/// Transmissions by `Lost`.
using LossCounts = std::array<std::uint64_t, lost_count>;
/// Those that the network lost, as far as the capture shows.
[[nodiscard]] constexpr std::uint64_t lost_in_network(const LossCounts& lost) noexcept {
  const auto at = [&](Lost where) { return lost[static_cast<std::size_t>(where)]; };
  return at(Lost::before_capture) + at(Lost::after_capture) + at(Lost::trimmed);
}

/// How counted losses are read when the capture has been judged as a whole: a capture that lacks packets must
/// not be read as if the network had lost them.
enum class LossReading : std::uint8_t {
  lost,       ///< nothing shows that the capture misses packets: what was left open was lost upstream
  open,       ///< it misses some: what was left open stays so
  not_judged  ///< whether anything was lost cannot be told: all of it is open
};

[[nodiscard]] constexpr LossCounts read_losses(LossCounts counts, LossReading reading) noexcept {
  const auto count = [&](Lost where) -> std::uint64_t& { return counts[static_cast<std::size_t>(where)]; };
  const auto move = [&](Lost from, Lost to) {
    count(to) += count(from);
    count(from) = 0;
  };
  if (reading == LossReading::lost) move(Lost::undecided, Lost::before_capture);
  if (reading != LossReading::not_judged) return counts;
  move(Lost::before_capture, Lost::undecided);
  move(Lost::after_capture, Lost::undecided);
  return counts;
}

/// The result of the analysis for one packet: the fields `roce.analysis.*`. Frame numbers start at 1;
/// 0 = none. A plain value.
struct Verdict {
  enum Flag : std::uint16_t {
    retransmission = 1,
    spurious = 2,           ///< a retransmission of what had already been acknowledged
    duplicate_capture = 4,  ///< the same transmission captured twice
    duplicate_network = 8,  ///< the same transmission delivered twice
    out_of_order = 16,      ///< late, but not a retransmission
    ack_unseen = 32,        ///< acknowledges a PSN that was not captured
    illegal_sequence = 64,  ///< the opcode must not follow the one before
    wrong_length = 128,     ///< the payload does not fit the path MTU or the DMA length
    b_to_a = 256,           ///< direction; valid if `connection` is known
    in_flight_known = 512,
    response_time_known = 1024,
    msn_backwards = 2048,        ///< a response with a lower MSN than one before
    source_mac_changed = 4096,   ///< another source MAC address than the packet before it
    lost_between_points = 8192,  ///< seen here, but not at the next capture point; counted in lost_after
    time_backwards = 16384,      ///< timestamp earlier than that of the packet before it in its PSN space
    undecided = 32768,           ///< it waits: what comes after it tells what is said of it
  };
  static constexpr std::uint32_t no_connection = 0xffffffff;
  /// Counts of PSNs: no PSN lies further ahead of another (IBTA 9.7.3).
  static constexpr std::uint64_t most_psns = (1U << 23U) - 1;
  static constexpr std::uint32_t most_before = (1U << 20U) - 1;  ///< of lost_before
  static constexpr std::uint32_t most_open = (1U << 12U) - 1;    ///< of lost_or_missed
  static constexpr std::uint32_t incidents_at_most = (1U << 18U) - 1;

  std::int64_t response_time_ns = 0;         ///< of a response: time since the packet it responds to
  std::uint64_t missed : 23 = 0;             ///< transmissions not captured, of its own direction
  std::uint64_t missed_of_other : 23 = 0;    ///< not captured, of the other direction
  std::uint64_t incident : 18 = 0;           ///< that it is part of: Incident::id + 1; 0 = none
  std::uint32_t connection = no_connection;  ///< Connection::id
  std::uint32_t original = 0;                ///< frame of which this is a retransmission or duplicate
  std::uint32_t request = 0;                 ///< frame that this one responds to
  std::uint32_t response = 0;                ///< frame that responds to this one (later)
  std::uint32_t gap : 24 = 0;                ///< PSNs before this one that were not captured
  std::uint32_t rule : 7 = 0;                ///< episode::Rule behind what is said of it
  std::uint32_t trimmed : 1 = 0;             ///< lost: a switch upstream has trimmed it
  std::uint32_t in_flight = 0;               ///< PSNs sent and not yet acknowledged
  // Transmissions whose loss this packet proves. Those lost upstream of the capture point were sent by the
  // same side, those lost downstream by the peer, except this packet itself.
  std::uint32_t lost_before : 20 = 0;
  std::uint32_t lost_or_missed : 12 = 0;  ///< lost upstream, or not captured
  std::uint16_t flags = 0;
  Cause cause = Cause::none;
  std::uint8_t lost_after = 0;

  [[nodiscard]] bool has(Flag flag) const noexcept { return (flags & flag) != 0; }
  void set(Flag flag) noexcept { flags = static_cast<std::uint16_t>(flags | flag); }
  void clear(Flag flag) noexcept { flags = static_cast<std::uint16_t>(flags & ~flag); }
  [[nodiscard]] std::uint32_t lost(Lost where) const noexcept {
    const std::uint32_t by_capture = missed + missed_of_other;
    const std::array<std::uint32_t, lost_count> counts{0,          lost_before, lost_after,
                                                       by_capture, trimmed,     lost_or_missed};
    return counts[static_cast<std::size_t>(where)];
  }
  /// The part of `lost_after` that the packet's own side had sent: the packet itself, or nothing.
  [[nodiscard]] std::uint32_t lost_itself() const noexcept { return has(lost_between_points) ? 1 : 0; }
  void lose_itself() noexcept {
    if (has(lost_between_points) || lost_after == 0xff) return;
    set(lost_between_points);
    ++lost_after;
  }
  /// When the capture has been judged.
  void read_losses_as(LossReading reading) noexcept {
    const LossCounts read = read_losses({0, lost_before, lost_after, 0, 0, lost_or_missed}, reading);
    const auto most = [&](Lost where, std::uint32_t limit) {
      return static_cast<std::uint32_t>(
          std::min<std::uint64_t>(read[static_cast<std::size_t>(where)], limit));
    };
    lost_before = most(Lost::before_capture, most_before) & most_before;
    lost_or_missed = most(Lost::undecided, most_open) & most_open;
    lost_after = static_cast<std::uint8_t>(most(Lost::after_capture, 0xff));
    if (lost_after == 0) clear(lost_between_points);
  }
  void miss(bool own, std::int64_t change) noexcept {
    const std::int64_t before = own ? missed : missed_of_other;
    const auto sum = static_cast<std::uint64_t>(std::clamp<std::int64_t>(before + change, 0, most_psns));
    if (own) {
      missed = sum & most_psns;
    } else {
      missed_of_other = sum & most_psns;
    }
  }
  void add_gap(std::uint32_t psns) noexcept {
    gap = std::min<std::uint32_t>(gap + psns, most_psns) & most_psns;
  }
  [[nodiscard]] bool any_lost() const noexcept {
    return lost_before != 0 || lost_or_missed != 0 || missed != 0 || missed_of_other != 0 ||
           lost_after != 0 || trimmed != 0;
  }
};
static_assert(sizeof(Verdict) == 48);

}  // namespace roce::analyze
