// SPDX-License-Identifier: Apache-2.0
// Internal to the CM tracker: one captured message, and an exchange with the state needed to follow it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "analyze/cm/cm_tracker.hpp"
#include "analyze/record/packet_record.hpp"

namespace roce::analyze {

/// Key of an exchange: a queue pair at an address, or a number (communication ID, request ID) that the CM of
/// one address uses towards another. Communication IDs are unique at a host, but an address may exist twice
/// in different VLANs or tunnels; then the peer's address distinguishes them.
struct CmPlace {
  enum Kind : std::uint8_t { queue_pair = 1, communication, request };

  FlowKey key;
  CmPlace(Kind kind, const dissect::IpAddress& owner, const dissect::IpAddress& peer,
          std::uint32_t number) noexcept {
    key.src = owner;
    key.dst = peer;
    key.dst_qp = number;
    key.padding[0] = kind;
  }
  bool operator==(const CmPlace& other) const noexcept { return key == other.key; }

  struct Hash {
    std::size_t operator()(const CmPlace& place) const noexcept { return place.key.hash(); }
  };
};

/// One captured message.
struct CmArrival {
  dissect::CmMessage message;
  dissect::IpAddress src;
  dissect::IpAddress dst;
  std::uint64_t number = 0;
  std::int64_t time_ns = 0;
  std::uint32_t qpn = 0;  ///< the queue pair in the message: the sender's, in a DREQ the receiver's
  std::uint32_t psn = 0;
  std::uint16_t ip_id = 0;
  dissect::Transport transport = dissect::Transport::none;
};

/// The CM message of a dissected frame with all that the tracker needs; absent if there is none, or if it is
/// truncated inside its fixed part.
[[nodiscard]] std::optional<CmArrival> cm_arrival(std::uint64_t number, const capture::Frame& frame,
                                                  const dissect::Dissection& dissection) noexcept;

struct CmEntry {
  CmExchange exchange;
  std::int64_t first_time_ns = capture::no_time;  ///< of its first message
  bool sides_known = true;                        ///< it is known which one is the client
  bool announced = false;                         ///< learn() has returned it, or must not

  [[nodiscard]] bool is_client(const dissect::IpAddress& address, std::uint32_t comm_id) const noexcept {
    return exchange.client == address && exchange.client_comm_id == comm_id;
  }
  [[nodiscard]] bool ended() const noexcept {
    return exchange.state == CmExchange::State::rejected || exchange.state == CmExchange::State::disconnected;
  }

  /// Whether a message with this exchange's IDs is consistent with it; if not, the IDs are reused.
  [[nodiscard]] bool may_hold(const CmArrival& arrival, bool from_client) const noexcept;
  [[nodiscard]] bool is_its_sidr_req(const CmArrival& arrival) const noexcept;

  void swap_sides() noexcept;
  /// Counts a message. False if it is not the first one of its kind.
  bool see(CmSeen CmExchange::*slot, const CmArrival& arrival, bool from_client) noexcept;
  /// From the messages seen, independent of the order in which they were captured.
  void update_state() noexcept;

 private:
  [[nodiscard]] bool is_its_req(const CmArrival& arrival) const noexcept;

  /// Distinguishes a captured copy of a transmission from a retransmission of the message.
  struct Transmission {
    std::int64_t time_ns = 0;
    std::uint64_t transaction_id = 0;
    std::uint32_t psn = 0;
    std::uint16_t ip_id = 0;
    bool from_client = false;

    [[nodiscard]] bool copied_by(const Transmission& other) const noexcept;
  };

  std::array<Transmission, 7> last_;  ///< by slot
};

}  // namespace roce::analyze
