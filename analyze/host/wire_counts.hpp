// SPDX-License-Identifier: Apache-2.0
// Figures of a capture for one host's RDMA port, to compare its counters with.
#pragma once

#include <array>
#include <cstdint>
#include <set>

#include "analyze/results/snapshot.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

/// Counts of packets between the port's addresses and others, as captured. Packets known to be lost between
/// the host and the capture point are separate counts.
struct WireCounts {
  std::uint64_t flows = 0;
  std::uint64_t sent = 0;              ///< without duplicates made by the network or the capture
  std::uint64_t sent_unseen = 0;       ///< lost upstream of the capture point, or not captured
  std::uint64_t sent_damaged = 0;      ///< seen with a wrong ICRC; may be in sent_unseen too
  std::uint64_t received = 0;          ///< seen on the way to the host
  std::uint64_t received_lost = 0;     ///< of them, lost downstream of the capture point
  std::uint64_t received_damaged = 0;  ///< of them, with a wrong ICRC
  std::uint64_t received_unseen = 0;   ///< delivered, but not captured
  std::uint64_t received_late = 0;     ///< out of sequence after a gap, or reordered
  std::uint64_t received_copies = 0;   ///< duplicates made by the network

  std::uint64_t datagrams_sent = 0, datagrams_received = 0;  ///< UD, whose loss cannot be detected
  std::uint64_t connections = 0;
  std::uint64_t acks_received = 0;  ///< positive acknowledgements to the host, whose loss cannot be detected
  std::uint64_t unacknowledged =
      0;  ///< requests to the host that it did not acknowledge; as many acknowledgements may be lost

  std::uint64_t naks_sent = 0, naks_received = 0;  ///< PSN sequence error
  std::uint64_t rnr_naks_sent = 0, rnr_naks_received = 0;
  /// NAKs: invalid request, remote access error, remote operational error, invalid RD request.
  std::array<std::uint64_t, 4> refusals_sent{}, refusals_received{};
  std::uint64_t ce_received = 0;
  std::uint64_t cnps_sent = 0, cnps_received = 0;
  std::uint64_t repeats_received = 0;          ///< retransmitted packets to the host
  std::uint64_t requests_received_again = 0;   ///< of them, all but READ responses
  std::uint64_t spurious_received = 0;         ///< of these, spurious ones
  std::uint64_t timeouts = 0;                  ///< of the host's requests
  std::uint64_t read_repeats = 0;              ///< READ requests that the host retransmitted
  std::uint64_t runs_sent = 0;                 ///< go-back-N runs of the host
  std::uint64_t repeats_sent = 0;              ///< packets that the host retransmitted
  std::uint64_t gave_up = 0, rnr_gave_up = 0;  ///< failed connections: retries exhausted
  std::uint64_t peers_gave_up = 0;             ///< connections whose peer exhausted its retries
  std::uint64_t retries_unseen = 0;            ///< retries counted by the host, but not seen in the capture

  /// Whether packets were lost between the host and the capture point: responses, whose loss cannot be
  /// detected, may be lost too.
  [[nodiscard]] bool loss_near_host() const noexcept {
    return sent_unseen != 0 || received_lost != 0 || peers_gave_up != 0;
  }
};

using Addresses = std::set<dissect::IpAddress>;
[[nodiscard]] WireCounts wire_counts(const Snapshot& snapshot, const Addresses& own);

}  // namespace roce::analyze
