// SPDX-License-Identifier: Apache-2.0
// What a capture shows of one host's RDMA port: the figures that its counters can be held against.
#pragma once

#include <array>
#include <cstdint>
#include <set>

#include "analyze/results/snapshot.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

/// Counts of packets between the port's addresses and others. Each of them as captured; what is known to be
/// lost between the host and the capture is beside it.
struct WireCounts {
  std::uint64_t flows = 0;
  std::uint64_t sent = 0;              ///< without duplicates that the network or the capture made
  std::uint64_t sent_unseen = 0;       ///< known to be lost ahead of the capture, or by it
  std::uint64_t sent_damaged = 0;      ///< seen, with a wrong ICRC: sent_unseen may have them too
  std::uint64_t received = 0;          ///< seen on the way to the host
  std::uint64_t received_lost = 0;     ///< of them, known to be lost behind the capture
  std::uint64_t received_damaged = 0;  ///< of them, with a wrong ICRC
  std::uint64_t received_unseen = 0;   ///< that only the capture missed
  std::uint64_t received_late = 0;     ///< behind a missing one, or overtaken
  std::uint64_t received_copies = 0;   ///< that the network made on its way here

  std::uint64_t datagrams_sent = 0, datagrams_received = 0;  ///< UD, of which no loss can be seen
  std::uint64_t connections = 0;
  std::uint64_t acks_received =
      0;  ///< positive acknowledgements to the host, of which a loss leaves no trace
  std::uint64_t unacknowledged =
      0;  ///< requests to the host beyond its acknowledgements: as many may be lost

  std::uint64_t naks_sent = 0, naks_received = 0;  ///< PSN sequence error
  std::uint64_t rnr_naks_sent = 0, rnr_naks_received = 0;
  /// NAKs: invalid request, remote access error, remote operational error, invalid RD request.
  std::array<std::uint64_t, 4> refusals_sent{}, refusals_received{};
  std::uint64_t ce_received = 0;
  std::uint64_t cnps_sent = 0, cnps_received = 0;
  std::uint64_t repeats_received = 0;          ///< packets sent again, on the way to the host
  std::uint64_t requests_received_again = 0;   ///< of them, all but READ responses
  std::uint64_t spurious_received = 0;         ///< of these, those of what had been acknowledged
  std::uint64_t timeouts = 0;                  ///< of the host's requests
  std::uint64_t read_repeats = 0;              ///< READ requests that the host issued again
  std::uint64_t runs_sent = 0;                 ///< stretches of PSNs that the host sent again
  std::uint64_t repeats_sent = 0;              ///< packets that the host sent again
  std::uint64_t gave_up = 0, rnr_gave_up = 0;  ///< connections that the host gave up
  std::uint64_t peers_gave_up = 0;             ///< connections whose peer repeated into the void
  std::uint64_t retries_unseen = 0;            ///< that the host counted beyond those that the capture shows

  /// Something is known to be lost between the host and the capture: answers, of which a loss cannot be seen,
  /// may be too.
  [[nodiscard]] bool loss_near_host() const noexcept {
    return sent_unseen != 0 || received_lost != 0 || peers_gave_up != 0;
  }
};

using Addresses = std::set<dissect::IpAddress>;
[[nodiscard]] WireCounts wire_counts(const Snapshot& snapshot, const Addresses& own);

}  // namespace roce::analyze
