// SPDX-License-Identifier: Apache-2.0
// A CM exchange (IBTA 12): one attempt to set up a connection, or a SIDR lookup, as a plain value.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "capture/core/frame.hpp"
#include "dissect/cm.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

/// Default for the number of exchanges that are kept.
inline constexpr std::size_t default_exchange_limit = 64 * 1024;

/// One kind of CM message in an exchange: its first packet, its count, and its last transmission.
struct CmSeen {
  std::uint64_t frame = 0;  ///< number of the first one; 0 = not captured
  std::int64_t time_ns = capture::no_time;
  std::uint32_t count = 0;          ///< with retransmissions, without mirrored copies
  std::uint32_t of_other_side = 0;  ///< the same kind of message from the peer, copies included
  std::uint64_t last_frame = 0;     ///< of the last transmission
  std::int64_t last_time_ns = capture::no_time;
  [[nodiscard]] explicit operator bool() const noexcept { return frame != 0; }
};

/// One attempt to connect (REQ ... or SIDR_REQ ...), from the packets of both sides. `client` is the sender
/// of the REQ; if only DREQs were captured, the sender of the first one. Fields of messages that were not
/// captured are absent.
struct CmExchange {
  /// By the messages seen, independent of the order in which they were captured.
  enum class State : std::uint8_t {
    requested,
    replied,       ///< REP without RTU (it may not be captured), or a SIDR_REP with a queue pair
    established,   ///< RTU
    rejected,      ///< REJ before the RTU, or one that ended the connection; a SIDR_REP that refuses
    disconnected,  ///< DREQ or DREP
  };

  std::uint32_t number = 0;  ///< see CmTracker::index_of()
  State state = State::requested;
  bool sidr = false;                                        ///< UD: lookup of a queue pair, no connection
  dissect::Transport transport = dissect::Transport::none;  ///< of the packets: RoCE v1, v2 ...
  dissect::CmTransport service = dissect::CmTransport::unknown;
  dissect::IpAddress client;  ///< addresses of the packets
  dissect::IpAddress server;
  std::uint32_t client_comm_id = 0;
  std::uint32_t server_comm_id = 0;
  std::uint64_t service_id = 0;
  std::optional<std::uint32_t> client_qpn;
  std::optional<std::uint32_t> server_qpn;
  std::optional<std::uint32_t> client_psn;  ///< first PSN that the client will send, from the REP
  std::optional<std::uint32_t> server_psn;  ///< first PSN that the server will send, from the REQ
  std::uint16_t pmtu = 0;                   ///< bytes, 0 = unknown
  std::optional<std::uint8_t> retry_count;
  std::optional<std::uint8_t> rnr_retry;         ///< of the REQ; 7 = unlimited
  std::optional<std::uint8_t> ack_timeout_code;  ///< 4.096 us times 2^code, 0 = never
  std::uint8_t traffic_class = 0;
  std::uint8_t sl = 0;
  std::uint8_t response_timeout_code = 0;  ///< how long the client waits for a response; code as above
  std::uint8_t max_cm_retries = 0;         ///< how often it retransmits the REQ
  /// Reason of the first REJ; a reason of the server replaces that of a client that only timed out (reason 4,
  /// timeout).
  std::optional<std::uint16_t> reject_reason;
  bool rejected_by_server = false;
  std::optional<std::uint8_t> sidr_status;
  /// SIDR_REQ and SIDR_REP are in `req` and `rep`. If both sides sent a DREQ (REJ, MRA), these are the first
  /// one and its retransmissions.
  CmSeen req, mra, rep, rtu, rej, dreq, drep;
};

/// "requested", "replied", ...
[[nodiscard]] std::string_view cm_state_name(CmExchange::State state) noexcept;

/// Whether a REQ was captured, but no response of the server.
[[nodiscard]] bool unanswered(const CmExchange& exchange) noexcept;

/// Whether the REQ was sent as often as its Max CM Retries allows, and was not answered. Of SIDR
/// lookups this is not known: a SIDR_REQ does not tell.
[[nodiscard]] bool retries_exhausted(const CmExchange& exchange) noexcept;

/// Time from the first REQ to the first RTU, or to the REP if there is no RTU; absent if one of them or its
/// time is missing, or if the time would be negative.
[[nodiscard]] std::optional<std::uint64_t> connect_time_ns(const CmExchange& exchange) noexcept;
/// Time from the first REQ to the server's first REP or REJ; absent as above.
[[nodiscard]] std::optional<std::uint64_t> answer_time_ns(const CmExchange& exchange) noexcept;
/// Time from the first REP to the first RTU; absent as above.
[[nodiscard]] std::optional<std::uint64_t> ready_time_ns(const CmExchange& exchange) noexcept;

}  // namespace roce::analyze
