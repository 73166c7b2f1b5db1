// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "analyze/base/deep_ptr.hpp"
#include "analyze/base/events.hpp"
#include "analyze/base/histogram.hpp"
#include "analyze/base/lazy.hpp"
#include "analyze/cm/cm_exchange.hpp"
#include "analyze/connection/congestion.hpp"
#include "analyze/packet/verdict.hpp"
#include "dissect/dissection.hpp"
#include "dissect/opcode.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

/// Evidence that two flows are the two directions of one connection, best first.
enum class Evidence : std::uint8_t {
  cm,               ///< the CM exchange has both queue pairs
  udp_source_port,  ///< both have the UDP source port that follows from their two QPNs
  answers,          ///< ACKs and responses repeatedly fall into the window of outstanding PSNs
  nak,              ///< a NAK has a PSN that is missing or retransmitted
  cnp,              ///< a CNP to the queue pair
  msn,              ///< MSNs rise with the messages
  count_
};
inline constexpr std::size_t evidence_count = static_cast<std::size_t>(Evidence::count_);
[[nodiscard]] std::string_view evidence_name(Evidence evidence) noexcept;

/// How certain it is that the two flows of a connection belong together.
struct Pairing {
  std::uint8_t evidence = 0;    ///< bits of Evidence
  bool ambiguous = false;       ///< several flows match: left unpaired
  std::uint64_t answered = 0;   ///< responses that match
  std::uint64_t unfitting = 0;  ///< responses that do not match
  double confidence = 0;        ///< 0..1; 0 if only one direction was captured
  [[nodiscard]] bool has(Evidence e) const noexcept {
    return (evidence >> static_cast<unsigned>(e) & 1U) != 0;
  }
};

enum class OperationKind : std::uint8_t { send, write, read, atomic, flush, atomic_write, count_ };
inline constexpr std::size_t operation_kind_count = static_cast<std::size_t>(OperationKind::count_);
[[nodiscard]] std::string_view operation_kind_name(OperationKind kind) noexcept;

/// Statistics of one kind of operation of a requester.
struct OperationStats {
  OperationKind kind = OperationKind::send;
  std::uint64_t count = 0;  ///< messages whose end was seen; retransmitted ones once
  std::uint64_t bytes = 0;
  std::uint64_t packets = 0;           ///< first transmissions
  std::uint64_t retried = 0;           ///< of `count`, messages with a retransmitted packet
  std::uint64_t answered = 0;          ///< of `count`, those that were not waiting for an answer at the end
  std::uint64_t largest_answered = 0;  ///< bytes of the largest of these
  Histogram latency_ns;                ///< first request packet to acknowledgement or last response
  Histogram size_bytes;
};

/// A request that the responder refused with a fatal NAK.
struct RefusedRequest {
  std::uint8_t syndrome = 0;  ///< of the AETH
  std::uint8_t opcode = 0;    ///< of the packet with that PSN; for a READ, of its request
  bool has_reth = false;
  std::uint32_t psn = 0;
  std::uint32_t r_key = 0;
  std::uint32_t length = 0;  ///< DMALen
  std::uint64_t virtual_address = 0;
  std::uint64_t nak_frame = 0;
  std::uint64_t request_frame = 0;  ///< 0 = not captured
};

/// Consecutive timeout retransmissions of one PSN.
struct RetryChain {
  std::uint32_t psn = 0;
  std::uint8_t opcode = 0;
  std::uint32_t resends = 0;      ///< 0 = there was no chain
  std::uint64_t first_frame = 0;  ///< the first transmission; if not captured, the first resend
  std::uint64_t last_frame = 0;
  std::int64_t first_time_ns = 0;
  std::int64_t last_time_ns = 0;
  std::uint64_t min_spacing_ns = 0;  ///< between resends; with doubling waits, from the first wait on
  std::uint64_t max_spacing_ns = 0;
  std::uint32_t bytes = 0;  ///< message bytes of the packet
  std::uint32_t missing_before =
      0;  ///< PSNs just before it that the responder is missing and that were not captured either
  std::uint64_t first_spacing_ns = 0;  ///< of the first resend, until doubling waits are known
  std::uint64_t unheard_nak = 0;       ///< frame of a NAK before it that had no effect; 0: none
  bool answered = false;               ///< the last resend got a response
  bool first_seen = false;             ///< first_frame is the first transmission, not the first resend
  bool needless = false;               ///< spurious: the response was captured before the first resend
  bool too_late = false;               ///< the response came long after another resend was due
  /// PSNs of a READ before `psn`, if its first transmission is a READ Request that begins so many earlier.
  std::uint32_t reissued_after = 0;

  /// More resends, or as many over a longer time.
  [[nodiscard]] bool longer_than(const RetryChain& other) const noexcept;
};

/// RNR NAKs that a requester received.
struct RnrStats {
  std::uint64_t naks = 0;
  std::uint64_t longest_chain = 0;  ///< RNR NAKs for one PSN in a row
  std::uint8_t timer_code = 0;      ///< of the last NAK
  std::uint64_t coded_wait_ns = 0;  ///< the same in nanoseconds
  Histogram wait_ns;                ///< actual: RNR NAK to resend
};

/// Causes of spurious retransmissions.
enum class SpuriousReason : std::uint8_t {
  timer,        ///< the acknowledgement was lost or late
  unheard_nak,  ///< a NAK that acknowledged it was lost, so the timer expired
  nak,          ///< the requester goes back further than the PSN of the NAK
  read_answer,  ///< a READ response is missing
  atomic_answer,
  rnr,
  count_
};

/// Kinds of negative acknowledgements: the codes of the AETH (IBTA 9.7.5.2.8), and RNR NAKs.
enum class NakKind : std::uint8_t {
  sequence_error,
  invalid_request,
  remote_access_error,
  remote_operational_error,
  invalid_rd_request,
  rnr,
  count_
};
inline constexpr std::size_t nak_kind_count = static_cast<std::size_t>(NakKind::count_);
/// "sequence_error" ... "rnr"
[[nodiscard]] std::string_view nak_kind_name(NakKind kind) noexcept;
using NakCounts = std::array<std::uint64_t, nak_kind_count>;  ///< by NakKind

/// Errors of a requester; few have any.
struct RequesterTrouble {
  NakCounts naks{};
  std::vector<RefusedRequest> refused;  ///< the first 4
  RetryChain worst_chain;
  std::uint64_t refused_bytes = 0;  ///< message bytes never taken: the queue pair ended before
  std::uint64_t chains = 0;
  /// ACK timeouts: all resends of chains, except those for a missing response; and those of READs among them.
  std::uint64_t timeouts = 0;
  std::uint64_t read_timeouts = 0;
  std::uint64_t responses_anew = 0;  ///< to retransmitted READs that the responder had not executed before
  std::array<std::uint64_t, static_cast<std::size_t>(SpuriousReason::count_)> needless{};  ///< by cause
  DeepPtr<RnrStats> rnr;        ///< only with RNR NAKs
  Histogram nak_generation_ns;  ///< packet after the gap to the NAK, at the capture point
  Histogram nak_reaction_ns;    ///< NAK to the first retransmitted packet
  Histogram read_rerequest_ns;  ///< response after the gap to the retransmitted READ request
};

/// The requests of one side and the responses to them: one PSN space.
struct Requester {
  std::uint32_t first_psn = 0;
  std::uint32_t next_psn = 0;         ///< after the highest PSN seen
  std::uint64_t requests = 0;         ///< request packets, including retransmissions
  std::uint64_t acks = 0;             ///< positive acknowledgements of any kind, without READ responses
  std::uint64_t new_bytes = 0;        ///< message bytes without retransmissions: goodput
  std::uint64_t idle_ns = 0;          ///< longest time without a packet of this space
  std::uint64_t idle_from_frame = 0;  ///< the packet before it
  std::int64_t last_time_ns = capture::no_time;  ///< of the last packet of this space
  std::uint64_t fastest_answer_ns = 0;           ///< from a request sent once to its response; 0 = unknown
  std::vector<OperationStats> operations;        ///< only kinds that occur, by kind
  Lazy<RequesterTrouble> trouble;
  std::uint32_t in_flight_max = 0;  ///< PSNs
  bool seen = false;                ///< a request or a response to one was captured
  bool retries_exhausted = false;
  bool rnr_exhausted = false;
  bool refused_fatally = false;  ///< a NAK that ends the connection
  bool credits_used = false;     ///< the responder grants credits (AETH code below 31)
  /// It went back, but not to its first requests: these were confirmed, whether that was captured or not.
  bool went_back_later = false;

  std::uint64_t requests_left_out = 0;  ///< rejected by the filter
  std::uint64_t acks_left_out = 0;

  [[nodiscard]] const OperationStats* operation(OperationKind kind) const noexcept;
};

struct Endpoint {
  dissect::IpAddress address;
  std::optional<std::uint32_t> qp;  ///< unknown where its direction was not captured
};

/// Two flows that belong together, or a single one if the other direction was not captured. Side 0 is a, the
/// sender of the first packet captured; arrays are indexed by side. "sent" means sent by that side.
struct Connection {
  enum class State : std::uint8_t {
    half_seen,  ///< only one direction captured
    open,       ///< until the end of the capture
    closed,     ///< disconnected by the CM
    failed,     ///< a fatal NAK, or retries exhausted
  };

  std::uint32_t id = 0;    ///< from 0, in order of the first packet
  std::uint32_t pmtu = 0;  ///< path MTU in bytes, by the CM, else by the packets; 0 = unknown
  dissect::Service service = dissect::Service::reserved;
  bool pmtu_by_cm = false;
  State state = State::half_seen;
  bool client_is_a = true;  ///< the client of the CM exchange is a
  dissect::Transport transport = dissect::Transport::none;
  std::array<Endpoint, 2> ends;
  std::array<std::optional<std::uint64_t>, 2> flow;  ///< [0] from a to b, [1] from b to a: ids
  Pairing pairing;
  std::optional<std::uint32_t> cm;          ///< index in Snapshot::exchanges
  std::optional<std::uint8_t> retry_count;  ///< by the CM
  std::optional<std::uint8_t> rnr_retry;    ///< by the CM; 7 = unlimited
  std::int64_t first_time_ns = 0;           ///< capture::no_time if no packet has a timestamp
  std::int64_t last_time_ns = 0;
  std::uint64_t first_frame = 0;
  std::array<std::uint64_t, 2> packets{};   ///< sent, without duplicates made by the capture
  std::array<std::uint64_t, 2> left_out{};  ///< sent, but rejected by the filter; in no other count
  std::array<std::uint64_t, 2> bytes{};     ///< on the wire
  std::array<std::uint64_t, 2> cnps{};      ///< sent
  std::array<Requester, 2> requester;
  std::array<Events, 2> sent;                      ///< evidence, by sender
  std::array<Lazy<CongestionSide>, 2> congestion;  ///< by the side that gets the CNPs
  /// All capture points (capture::Frame::point) that saw it, if several; those where it is followed first.
  std::vector<std::uint16_t> points;
  std::uint8_t followed_points = 0;  ///< number of points where it is followed
  bool split = false;  ///< its directions are followed at different points: their order depends on clocks
  bool answers_first = false;  ///< responses come before their requests, because of different clocks

  [[nodiscard]] bool paired() const noexcept { return flow[0].has_value() && flow[1].has_value(); }
};

/// Retransmissions without an answer after which a requester may have given up: the Retry Count that the CM
/// agreed on; 2 where it is not known, since one may as well be the end of a program that did not wait.
[[nodiscard]] std::uint32_t least_retries(const Connection& connection) noexcept;
[[nodiscard]] std::string_view connection_state_name(Connection::State state) noexcept;

}  // namespace roce::analyze
