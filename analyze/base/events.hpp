// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace roce::analyze {

/// What can go wrong, or at least be noticed, in one direction of a connection. The evidence that
/// findings stand on: each kind with its count, its time span and the first packets that show it.
enum class Event : std::uint8_t {
  // about packets that the side sent
  gap,                  ///< PSNs missing before this packet
  lost_before_capture,  ///< count = transmissions
  lost_after_capture,
  lost_by_capture,
  lost_between_points,  ///< seen at one capture point, never at the next; in no other event of losses
  retransmitted_nak,    ///< repeats by cause
  retransmitted_timeout,
  retransmitted_rnr,
  retransmitted_read_retry,
  retransmitted_unknown,
  response_repeated,  ///< READ responses among retransmitted_read_retry
  spurious,
  out_of_order,
  duplicate_capture,
  duplicate_network,
  go_back_n,              ///< one a run: a stretch of PSNs sent again; frame = its first packet
  go_back_n_no_progress,  ///< a run that begins where the one before began
  wasted,                 ///< delivered and thrown away: behind a loss, repeated later
  retries_exhausted,      ///< the last repeat of a request that nobody answered
  rnr_exhausted,          ///< the last RNR NAK of a request that was given up
  illegal_sequence,
  wrong_length,
  uc_message_lost,  ///< UC: messages that a gap destroyed
  icrc_mismatch,
  ce_marked,
  repeat_marked_otherwise,  ///< a repeat with another DSCP, VLAN or priority than its flow began with
  mac_changed,              ///< the side's source MAC address is another than before
  time_backwards,           ///< older than the packet before it
  // about answers that the side sent
  nak_sequence_error,
  nak_invalid_request,
  nak_remote_access_error,
  nak_remote_operational_error,
  nak_invalid_rd_request,
  rnr_nak,
  ack_unseen,
  msn_backwards,
  zero_credits,  ///< an ACK that grants no credit
  cnp,
  count_
};
inline constexpr std::size_t event_count = static_cast<std::size_t>(Event::count_);
/// Its key in JSON; snake_case, stable.
[[nodiscard]] std::string_view event_name(Event event) noexcept;

struct EventLog {
  static constexpr std::size_t kept = 8;
  std::uint64_t count = 0;
  std::int64_t first_time_ns = 0;
  std::int64_t last_time_ns = 0;
  std::array<std::uint64_t, kept> frames{};  ///< numbers of the first ones, ascending; 0 = none
  std::uint64_t last_frame = 0;              ///< that was added
  bool several_at_once = false;              ///< a packet stands for more than one
};

/// EventLogs of one direction; empty and small for a clean one.
class Events {
 public:
  void add(Event event, std::uint64_t frame, std::int64_t time_ns, std::uint64_t count = 1);
  /// Takes back what add() counted (a verdict that later packets overturned). The frame stays out of
  /// the list then; the time span keeps what it was.
  void take_back(Event event, std::uint64_t frame, std::uint64_t count = 1);

  [[nodiscard]] const EventLog* find(Event event) const noexcept;  ///< nullptr if it never happened
  [[nodiscard]] std::uint64_t count(Event event) const noexcept;
  [[nodiscard]] bool empty() const noexcept { return logs_.empty(); }

 private:
  struct Entry {
    Event event;
    EventLog log;
  };
  std::vector<Entry> logs_;
};

}  // namespace roce::analyze
