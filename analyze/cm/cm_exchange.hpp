// SPDX-License-Identifier: Apache-2.0
// What a connection manager's exchange was: a plain value.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "capture/core/frame.hpp"
#include "dissect/cm.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

/// Exchanges that are kept where nothing else is asked for.
inline constexpr std::size_t default_exchange_limit = 64 * 1024;

/// A CM message seen: its packet and time.
struct CmSeen {
  std::uint64_t frame = 0;  ///< number of the first one; 0 = not captured
  std::int64_t time_ns = capture::no_time;
  std::uint32_t count = 0;          ///< repeats included, mirrored copies not
  std::uint32_t of_other_side = 0;  ///< the same message of the other side, copies included
  [[nodiscard]] explicit operator bool() const noexcept { return frame != 0; }
};

/// One attempt to connect (REQ ... or SIDR_REQ ...), from the packets of both sides. `client` sent
/// the REQ; where nothing but DREQs was captured, it is the sender of the first. What was not captured
/// is absent.
struct CmExchange {
  /// Follows from the messages seen, in whatever order they were captured.
  enum class State : std::uint8_t {
    requested,
    replied,       ///< the REP; also a SIDR_REP with a queue pair, and a REP whose RTU was not captured
    established,   ///< the RTU
    rejected,      ///< a REJ before the RTU, or one that ended the connection; a SIDR_REP that refuses
    disconnected,  ///< a DREQ or its DREP
  };

  std::uint32_t number = 0;  ///< see CmTracker::index_of()
  State state = State::requested;
  bool sidr = false;                                        ///< UD: a lookup of a queue pair, no connection
  dissect::Transport transport = dissect::Transport::none;  ///< that carried the REQ: v1, v2 ...
  dissect::CmTransport service = dissect::CmTransport::unknown;
  dissect::IpAddress client;  ///< addresses of the packets
  dissect::IpAddress server;
  std::uint32_t client_comm_id = 0;
  std::uint32_t server_comm_id = 0;
  std::uint64_t service_id = 0;
  std::optional<std::uint32_t> client_qpn;
  std::optional<std::uint32_t> server_qpn;
  std::optional<std::uint32_t> client_psn;  ///< first PSN that the client will send: of the REP
  std::optional<std::uint32_t> server_psn;  ///< of the REQ
  std::uint16_t pmtu = 0;                   ///< bytes, 0 = unknown
  std::optional<std::uint8_t> retry_count;
  std::optional<std::uint8_t> rnr_retry;         ///< of the REQ; 7 = for ever
  std::optional<std::uint8_t> ack_timeout_code;  ///< 4.096 us times 2^code, 0 = never
  std::uint8_t traffic_class = 0;
  std::uint8_t sl = 0;
  std::uint8_t response_timeout_code = 0;  ///< how long the client waits for an answer to its REQ
  std::uint8_t max_cm_retries = 0;         ///< how often it repeats it then
  /// Of the first REJ; the server's word counts more than that of a client that only stopped waiting
  /// (reason 4, timeout).
  std::optional<std::uint16_t> reject_reason;
  bool rejected_by_server = false;
  std::optional<std::uint8_t> sidr_status;
  /// SIDR_REQ and SIDR_REP are in `req` and `rep`. Where both sides sent a DREQ (a REJ, an MRA), this is
  /// the first one, and its repeats.
  CmSeen req, mra, rep, rtu, rej, dreq, drep;
};

/// "requested", "replied", ...
[[nodiscard]] std::string_view cm_state_name(CmExchange::State state) noexcept;

/// The REQ was captured and nothing that the server would have sent for it.
[[nodiscard]] bool unanswered(const CmExchange& exchange) noexcept;

/// First REQ to first RTU, or to the REP where there is no RTU; absent without both ends and their
/// times, or where the clock ran backwards.
[[nodiscard]] std::optional<std::uint64_t> connect_time_ns(const CmExchange& exchange) noexcept;
/// First REQ to the server's first REP or REJ; absent as above.
[[nodiscard]] std::optional<std::uint64_t> answer_time_ns(const CmExchange& exchange) noexcept;

}  // namespace roce::analyze
