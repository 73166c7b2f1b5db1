// SPDX-License-Identifier: Apache-2.0
// Internal to the CM tracker: one captured message, and an exchange with what following it takes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "analyze/cm/cm_tracker.hpp"
#include "analyze/record/packet_record.hpp"

namespace roce::analyze {

/// A queue pair at an address, or a number of the CM (communication id, request id) that one address
/// chose towards another. Communication ids are unique at a host, but addresses may be used twice
/// behind different VLANs or tunnels, and then the peer helps to tell them apart.
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
  std::uint32_t qpn = 0;  ///< that the message names: the sender's, in a DREQ the receiver's
  std::uint32_t psn = 0;
  std::uint16_t ip_id = 0;
  dissect::Transport transport = dissect::Transport::none;
};

/// The CM message of a dissected frame with all that the tracker needs; absent if there is none, or not
/// as far as its fixed part goes.
[[nodiscard]] std::optional<CmArrival> cm_arrival(std::uint64_t number, const capture::Frame& frame,
                                                  const dissect::Dissection& dissection) noexcept;

struct CmEntry {
  CmExchange exchange;
  std::int64_t first_time_ns = capture::no_time;  ///< of its first message
  bool sides_known = true;                        ///< which one is the client
  bool announced = false;                         ///< learn() returned it, or never will

  [[nodiscard]] bool is_client(const dissect::IpAddress& address, std::uint32_t comm_id) const noexcept {
    return exchange.client == address && exchange.client_comm_id == comm_id;
  }
  [[nodiscard]] bool ended() const noexcept {
    return exchange.state == CmExchange::State::rejected || exchange.state == CmExchange::State::disconnected;
  }

  /// Whether a message that names this exchange's ids agrees with what is known of it; if not, the ids
  /// are in use again.
  [[nodiscard]] bool may_hold(const CmArrival& arrival, bool from_client) const noexcept;
  [[nodiscard]] bool is_its_sidr_req(const CmArrival& arrival) const noexcept;

  void swap_sides() noexcept;
  /// Counts a message. False: not the first one of its kind.
  bool see(CmSeen CmExchange::*slot, const CmArrival& arrival, bool from_client) noexcept;
  /// From what was seen, not from the order in which it was.
  void update_state() noexcept;

 private:
  [[nodiscard]] bool is_its_req(const CmArrival& arrival) const noexcept;

  /// What tells a copy of a transmission from the next transmission of the same message.
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
