// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "capture/core/frame.hpp"
#include "dissect/cm.hpp"
#include "dissect/dissection.hpp"
#include "dissect/types.hpp"
#include "dissect/ulp.hpp"

namespace roce::analyze {

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

/// Follows the connection managers of all hosts: who connects to whom, with which queue pairs and
/// parameters, how long it took, why it failed. Bounded: the oldest exchanges are forgotten first
/// (and counted). Not thread-safe.
class CmTracker {
 public:
  static constexpr std::size_t default_limit = 64 * 1024;

  explicit CmTracker(std::size_t limit = default_limit);
  CmTracker(const CmTracker& other);
  CmTracker(CmTracker&&) noexcept;
  CmTracker& operator=(CmTracker&&) noexcept;
  ~CmTracker();

  /// Looks at a packet that may be a CM message; cheap for all others. Returns the exchange of which
  /// both queue pairs have become known by this very packet, a REP or a REQ that came after its REP: a
  /// new connection begins here. (Queue pairs known by a DREQ only are in exchange_of().) The pointer
  /// lives until the next learn(). `number` counts from 1.
  const CmExchange* learn(std::uint64_t number, const capture::Frame& frame,
                          const dissect::Dissection& dissection);

  /// The exchange that the last packet given to learn() belongs to; null: to none. The pointer lives until
  /// the next learn().
  [[nodiscard]] const CmExchange* last_learned() const noexcept;

  /// The exchange that made this queue pair at this address its end, if one was captured; the last
  /// one where the number was used again. The pointer lives until the next learn().
  [[nodiscard]] const CmExchange* exchange_of(const dissect::IpAddress& address, std::uint32_t qpn) const;

  /// What the packet's destination queue pair carries; for REP and REJ what their REQ asked for.
  [[nodiscard]] dissect::Ulp ulp_of(dissect::Bytes frame, const dissect::Dissection& dissection) const;
  /// What a queue pair at an address carries.
  [[nodiscard]] dissect::Ulp ulp_of(const dissect::IpAddress& address, std::uint32_t qpn) const;

  /// Stable number of an exchange, from 0 in order of their first messages.
  [[nodiscard]] std::uint32_t index_of(const CmExchange& exchange) const noexcept { return exchange.number; }
  /// Where take_exchanges() would put the exchange of this number, which is less by those forgotten
  /// before; absent if it is one of them.
  [[nodiscard]] std::optional<std::uint32_t> place_of(std::uint32_t number) const noexcept;
  /// All that were kept, by number. Afterwards the tracker knows none.
  [[nodiscard]] std::vector<CmExchange> take_exchanges();
  [[nodiscard]] std::uint64_t forgotten() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace roce::analyze
