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

/// Kinds of errors and other events in one direction of a connection. They are the evidence for findings:
/// of each kind the count, the time span and the first packets that show it are kept.
enum class Event : std::uint8_t {
  // of packets that the side sent
  gap,                  ///< PSNs missing before this packet
  lost_before_capture,  ///< lost upstream of the capture point; count = transmissions
  lost_after_capture,   ///< lost downstream of the capture point
  lost_by_capture,      ///< not captured, but delivered
  lost_trimmed,         ///< a switch upstream had trimmed it; in no other event of losses
  lost_undecided,       ///< missing here: lost or not captured
  lost_between_points,  ///< seen at one capture point, not at the next; in no other event of losses
  retransmitted_nak,    ///< retransmissions by cause
  retransmitted_timeout,
  retransmitted_rnr,
  retransmitted_read_retry,
  retransmitted_unknown,
  response_repeated,  ///< READ responses among retransmitted_read_retry
  spurious,
  out_of_order,
  duplicate_capture,
  duplicate_network,
  go_back_n,              ///< one per go-back-N, a run of retransmitted PSNs; frame = its first packet
  go_back_n_no_progress,  ///< a go-back-N that begins at the same PSN as the one before
  wasted,                 ///< delivered and discarded: out of sequence after a gap, retransmitted later
  retries_exhausted,      ///< the last retransmission of a request without any response
  rnr_exhausted,          ///< the last RNR NAK of a request whose RNR retries are exhausted
  illegal_sequence,
  wrong_length,
  uc_message_lost,  ///< UC: messages lost because of a gap
  icrc_mismatch,
  damaged_between_points,  ///< of these, whole at one capture point and damaged at the next one
  ce_marked,
  repeat_marked_otherwise,  ///< a retransmission with other DSCP, VLAN or priority than its class had first
  mac_changed,              ///< the side's source MAC address has changed
  time_backwards,           ///< timestamp earlier than that of the packet before it
  // of responses that the side sent
  nak_sequence_error,
  nak_invalid_request,
  nak_remote_access_error,
  nak_remote_operational_error,
  nak_invalid_rd_request,
  rnr_nak,
  ack_unseen,
  msn_backwards,
  zero_credits,  ///< an ACK that grants no credits
  cnp,
  count_
};
inline constexpr std::size_t event_count = static_cast<std::size_t>(Event::count_);
/// Its key in JSON; snake_case, stable.
[[nodiscard]] std::string_view event_name(Event event) noexcept;

/// The lowest of the frame numbers that were added, ascending. Most events of a connection happen once, and
/// there may be hundreds of thousands of connections, so one number takes no memory of its own.
class EventFrames {
 public:
  static constexpr std::size_t kept = 8;

  /// Numbers may come in any order; 0, and one that is there, change nothing.
  void add(std::uint64_t frame);

  [[nodiscard]] std::size_t size() const noexcept {
    const std::size_t single = one_ != 0 ? 1 : 0;
    return several_.empty() ? single : several_.size();
  }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] const std::uint64_t* begin() const noexcept {
    return several_.empty() ? &one_ : several_.data();
  }
  [[nodiscard]] const std::uint64_t* end() const noexcept { return begin() + size(); }
  /// 0 where there are fewer.
  [[nodiscard]] std::uint64_t operator[](std::size_t i) const noexcept { return i < size() ? begin()[i] : 0; }

 private:
  std::uint64_t one_ = 0;               ///< the first that was added; 0: none, or removed
  std::vector<std::uint64_t> several_;  ///< all of them, once there were two
};

/// Count, time span and first packets of one kind of event.
struct EventLog {
  static constexpr std::size_t kept = EventFrames::kept;
  std::uint64_t count = 0;
  std::int64_t first_time_ns = 0;
  std::int64_t last_time_ns = 0;
  EventFrames frames;
  std::uint64_t last_frame = 0;  ///< the frame that was added last
  bool several_at_once = false;  ///< some packet counts for more than one
};

/// The EventLogs of one direction; empty and small where nothing happened. Not thread-safe.
class Events {
 public:
  void add(Event event, std::uint64_t frame, std::int64_t time_ns, std::uint64_t count = 1);

  [[nodiscard]] const EventLog* find(Event event) const noexcept;  ///< nullptr if it never happened
  [[nodiscard]] std::uint64_t count(Event event) const noexcept;
  [[nodiscard]] bool empty() const noexcept { return logs_.empty(); }
  /// The same, with what one kind counts among those of another.
  [[nodiscard]] Events counted_as(Event from, Event as) const;

 private:
  struct Entry : EventLog {  // a base, so that the event is in its padding
    explicit Entry(Event which) noexcept : event(which) {}
    Event event;
  };
  std::vector<Entry> logs_;
};

}  // namespace roce::analyze
