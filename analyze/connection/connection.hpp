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

/// Why two flows are taken for the two directions of one connection, best first.
enum class Evidence : std::uint8_t {
  cm,               ///< the CM exchange names both queue pairs
  udp_source_port,  ///< both show the port that follows from their two QPNs
  answers,          ///< ACKs and responses fall into the outstanding window, again and again
  nak,              ///< a NAK names a PSN that is missing or repeated
  cnp,              ///< a CNP to the queue pair
  msn,              ///< MSNs rise with the messages
  count_
};
inline constexpr std::size_t evidence_count = static_cast<std::size_t>(Evidence::count_);
[[nodiscard]] std::string_view evidence_name(Evidence evidence) noexcept;

struct Pairing {
  std::uint8_t evidence = 0;    ///< bits of Evidence
  bool ambiguous = false;       ///< several flows would do: left unpaired
  std::uint64_t answered = 0;   ///< answers that fit
  std::uint64_t unfitting = 0;  ///< answers that do not
  double confidence = 0;        ///< 0..1; 0 where only one direction is there
  [[nodiscard]] bool has(Evidence e) const noexcept {
    return (evidence >> static_cast<unsigned>(e) & 1U) != 0;
  }
};

enum class OperationKind : std::uint8_t { send, write, read, atomic, flush, atomic_write, count_ };
inline constexpr std::size_t operation_kind_count = static_cast<std::size_t>(OperationKind::count_);
[[nodiscard]] std::string_view operation_kind_name(OperationKind kind) noexcept;

struct OperationStats {
  OperationKind kind = OperationKind::send;
  std::uint64_t count = 0;  ///< messages whose end was seen; a repeated one once
  std::uint64_t bytes = 0;
  std::uint64_t packets = 0;  ///< first transmissions
  std::uint64_t retried = 0;  ///< of them, those of which a packet was sent again
  Histogram latency_ns;       ///< first request packet to acknowledgement or last response
  Histogram size_bytes;
};

/// A request that the responder refused, and what it was about.
struct RefusedRequest {
  std::uint8_t syndrome = 0;  ///< of the AETH
  std::uint8_t opcode = 0;    ///< of the packet with that PSN; of a READ, of its request
  bool has_reth = false;
  std::uint32_t psn = 0;
  std::uint32_t r_key = 0;
  std::uint32_t length = 0;  ///< DMALen
  std::uint64_t virtual_address = 0;
  std::uint64_t nak_frame = 0;
  std::uint64_t request_frame = 0;  ///< 0 = not captured
};

/// Resends of one PSN after silence.
struct RetryChain {
  std::uint32_t psn = 0;
  std::uint8_t opcode = 0;
  std::uint32_t resends = 0;      ///< 0 = there was no chain
  std::uint64_t first_frame = 0;  ///< the first transmission, or the first resend if that was not captured
  std::uint64_t last_frame = 0;
  std::int64_t first_time_ns = 0;
  std::int64_t last_time_ns = 0;
  std::uint64_t min_spacing_ns = 0;  ///< between resends; from the first time on, where the waits double
  std::uint64_t max_spacing_ns = 0;
  std::uint32_t missing_before =
      0;  ///< PSNs just before it that the responder lacks, and that never came here
  std::uint64_t first_spacing_ns = 0;  ///< of the first resend, until it is known whether they do
  std::uint64_t unheard_nak = 0;       ///< a NAK before the first resend, to which nothing was sent; 0: none
  bool answered = false;               ///< the last resend was answered in the end
  bool first_seen = false;  ///< the first copy was captured: first_frame; else that is the first resend
  bool needless = false;    ///< the answer had been captured before the first resend
  bool too_late = false;    ///< the answer came when another resend had been due for long
};

struct RnrStats {
  std::uint64_t naks = 0;
  std::uint64_t longest_chain = 0;  ///< RNR NAKs for one PSN in a row
  std::uint8_t timer_code = 0;      ///< of the last NAK
  std::uint64_t coded_wait_ns = 0;  ///< of the last NAK
  Histogram wait_ns;                ///< actual: RNR NAK to resend
};

/// Why what had been acknowledged was sent again.
enum class Needless : std::uint8_t {
  timer,        ///< the acknowledgement was lost or late
  unheard_nak,  ///< a NAK acknowledged it, but did not come, so the timer ran out
  nak,          ///< the sender goes back further than a NAK asks
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

/// What few requesters have.
struct RequesterTrouble {
  NakCounts naks{};
  std::vector<RefusedRequest> refused;  ///< the first 4
  RetryChain worst_chain;
  std::uint64_t chains = 0;
  /// How often a timer ran out: each resend of a chain, but for a missing response; and of them for a READ.
  std::uint64_t timeouts = 0;
  std::uint64_t read_timeouts = 0;
  std::uint64_t responses_anew = 0;  ///< to READs issued again that the responder had not executed before
  std::array<std::uint64_t, static_cast<std::size_t>(Needless::count_)> needless{};  ///< such repeats
  DeepPtr<RnrStats> rnr;                                                             ///< only with RNR NAKs
  Histogram nak_generation_ns;  ///< packet that shows the gap to the NAK, as captured
  Histogram nak_reaction_ns;    ///< NAK to the first packet sent again
  Histogram read_rerequest_ns;  ///< response that shows a missing one to the READ issued again
};

/// The requests of one side and the answers to them: one PSN space.
struct Requester {
  std::uint32_t first_psn = 0;
  std::uint32_t next_psn = 0;              ///< after the highest that was seen
  std::uint64_t requests = 0;              ///< request packets, repeats included
  std::uint64_t acks = 0;                  ///< positive acknowledgements of any kind, READ responses excluded
  std::uint64_t new_bytes = 0;             ///< message bytes moved, each once: goodput
  std::uint64_t idle_ns = 0;               ///< longest time without a packet of this space
  std::uint64_t idle_from_frame = 0;       ///< the packet before it
  std::uint64_t fastest_answer_ns = 0;     ///< from a request sent once to its answer; 0 = unknown
  std::vector<OperationStats> operations;  ///< only kinds that occur, by kind
  Lazy<RequesterTrouble> trouble;
  std::uint32_t in_flight_max = 0;  ///< PSNs
  bool seen = false;                ///< a request or an answer to one was captured
  bool retries_exhausted = false;
  bool rnr_exhausted = false;
  bool refused_fatally = false;  ///< a NAK that ends the connection
  bool credits_used = false;     ///< the responder grants credits (AETH code below 31)

  std::uint64_t requests_left_out = 0;  ///< rejected by the filter
  std::uint64_t acks_left_out = 0;

  [[nodiscard]] const OperationStats* operation(OperationKind kind) const noexcept;
};

struct Endpoint {
  dissect::IpAddress address;
  std::optional<std::uint32_t> qp;  ///< unknown where its direction was not captured
};

/// Two flows that belong together, or one whose other direction is not there. Side 0 is a, the sender
/// of the first packet captured; arrays are by side. Everything `sent` is of packets that this side sent.
struct Connection {
  enum class State : std::uint8_t {
    half_seen,  ///< one direction only
    open,       ///< to the end of the capture
    closed,     ///< disconnected by the CM
    failed,     ///< a fatal NAK, or retries exhausted
  };

  std::uint32_t id = 0;    ///< from 0, in order of the first packet
  std::uint32_t pmtu = 0;  ///< bytes, by the CM, else by what was seen; 0 = unknown
  dissect::Service service = dissect::Service::reserved;
  bool pmtu_by_cm = false;
  State state = State::half_seen;
  bool client_is_a = true;  ///< of the exchange `cm`
  dissect::Transport transport = dissect::Transport::none;
  std::array<Endpoint, 2> ends;
  std::array<std::optional<std::uint64_t>, 2> flow;  ///< [0] from a to b, [1] from b to a: ids
  Pairing pairing;
  std::optional<std::uint32_t> cm;  ///< index in Snapshot::exchanges
  std::int64_t first_time_ns = 0;   ///< capture::no_time where no packet has a time
  std::int64_t last_time_ns = 0;
  std::uint64_t first_frame = 0;
  std::array<std::uint64_t, 2> packets{};   ///< sent, without duplicates of the capture
  std::array<std::uint64_t, 2> left_out{};  ///< sent as well, but rejected by the filter: in no other count
  std::array<std::uint64_t, 2> bytes{};     ///< on the wire
  std::array<std::uint64_t, 2> cnps{};      ///< sent
  std::array<Requester, 2> requester;
  std::array<Events, 2> sent;                      ///< evidence, by sender
  std::array<Lazy<CongestionSide>, 2> congestion;  ///< by who is slowed down: sent CE packets, got CNPs
  /// capture::Frame::point of all that show it, if there are several: those where it was followed first.
  std::vector<std::uint16_t> points;
  std::uint8_t followed_points = 0;  ///< how many of them those are
  bool split = false;  ///< its directions were followed at different points: their order depends on clocks
  bool answers_first = false;  ///< its answers come before the requests: two clocks stamped them

  [[nodiscard]] bool paired() const noexcept { return flow[0].has_value() && flow[1].has_value(); }
};

[[nodiscard]] std::string_view connection_state_name(Connection::State state) noexcept;

}  // namespace roce::analyze
