// SPDX-License-Identifier: Apache-2.0
// Congestion signals: CE marks of the network and congestion notification packets (CNP, IBTA A17.9).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyze/base/histogram.hpp"
#include "capture/core/frame.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

/// Minimum, maximum and mean of durations.
struct Spread {
  std::uint64_t count = 0;
  std::uint64_t min_ns = 0;  ///< 0 if count is 0
  std::uint64_t max_ns = 0;
  std::uint64_t sum_ns = 0;  ///< saturates

  void add(std::uint64_t ns) noexcept {
    if (count == 0 || ns < min_ns) min_ns = ns;
    if (ns > max_ns) max_ns = ns;
    sum_ns = sum_ns + ns < sum_ns ? ~std::uint64_t{0} : sum_ns + ns;
    ++count;
  }
  [[nodiscard]] std::uint64_t mean_ns() const noexcept { return count == 0 ? 0 : sum_ns / count; }
};

/// Bytes on the wire in an interval.
struct Sent {
  std::uint64_t bytes = 0;
  std::uint64_t ns = 0;
  /// Bits per second; 0 for an empty interval.
  [[nodiscard]] double bps() const noexcept {
    constexpr double bits_ns = 8e9;
    return ns == 0 ? 0 : static_cast<double>(bytes) * bits_ns / static_cast<double>(ns);
  }
};

/// CE-marked packets of one side of a connection, and the CNPs that it received for them.
struct CongestionSide {
  std::uint64_t ce = 0;
  std::uint64_t cnps = 0;             ///< to this side
  std::uint64_t cnps_without_ce = 0;  ///< of them, those without a CE mark since the CNP before
  std::uint64_t ce_after_cnp = 0;     ///< CE marks after the last CNP; all of `ce` without CNPs
  std::uint64_t left_out = 0;         ///< CE marks or CNPs that the filter rejected; in no other count
  Spread ce_to_cnp;                   ///< from the first CE mark since the CNP before, at the capture point
  Spread cnp_spacing;
  // Rates of this side.
  Sent before;             ///< from its first packet to the first CNP
  Sent between;            ///< from the first CNP to the last one
  Sent after;              ///< from the last CNP to its last packet
  std::uint64_t fell = 0;  ///< CNPs after which its rate fell below 0.9 times the rate before
  std::uint64_t held = 0;  ///< CNPs after which it did not
  std::int64_t first_cnp_ns = capture::no_time;
  std::int64_t last_cnp_ns = capture::no_time;
  // State of the tracker:
  bool waiting = false;          ///< a CE mark has no CNP yet,
  std::int64_t waiting_ns = 0;   ///< since this time
  std::uint64_t bytes_then = 0;  ///< bytes the side had sent at its last CNP
  double bps_then = 0;           ///< rate between that CNP and the one before
};

/// CNPs sent by one address, and the scope of its NIC's CNP rate limit.
struct CnpSender {
  enum class Limit : std::uint8_t {
    unknown,  ///< too few CNPs, or only one flow, so that the scopes cannot be distinguished
    none,     ///< no minimum interval
    flow,
    address_pair,
    port,
  };
  dissect::IpAddress address;
  std::uint64_t cnps = 0;
  std::uint32_t pairs = 0;  ///< addresses that it sends CNPs to
  std::uint32_t flows = 0;
  Histogram flow_spacing_ns;  ///< interval between CNPs of one flow,
  Histogram pair_spacing_ns;  ///< of one pair of addresses,
  Histogram port_spacing_ns;  ///< and of the sender

  [[nodiscard]] Limit limited_by() const noexcept;
};
/// "flow", "address_pair", "port", "none"; empty for unknown.
[[nodiscard]] std::string_view limit_name(CnpSender::Limit limit) noexcept;

/// CNPs from one address to another, even if nothing else of the two was captured.
struct CnpPair {
  dissect::IpAddress from;
  dissect::IpAddress to;
  std::uint64_t cnps = 0;
  std::uint32_t queue_pairs = 0;  ///< number of destination queue pairs
  std::uint64_t first_packet = 0;
  std::int64_t first_time_ns = capture::no_time;
  std::int64_t last_time_ns = capture::no_time;

  /// Mean interval between CNPs, of any queue pair; absent for a single CNP or without timestamps.
  [[nodiscard]] std::optional<std::int64_t> mean_spacing_ns() const noexcept;
};

struct Connection;
struct Flow;

/// Congestion signals of the whole capture.
struct Congestion {
  std::uint64_t ce_packets = 0;   ///< of listed flows, of every service
  std::uint64_t cnp_packets = 0;  ///< of listed flows
  std::uint64_t ect_packets = 0;  ///< ECT(0), ECT(1) and CE, which the network may mark CE
  std::uint64_t cnps_without_ce = 0;
  Histogram ce_to_cnp_ns;             ///< as CongestionSide::ce_to_cnp
  std::vector<CnpSender> senders;     ///< by address
  std::uint64_t senders_dropped = 0;  ///< CNPs of senders beyond the limit
  static constexpr std::size_t pairs_kept = 1024;
  std::vector<CnpPair> pairs;       ///< those with most CNPs first
  std::uint64_t pairs_dropped = 0;  ///< pairs beyond the limit

  /// What one of the scopes of all senders shows, together.
  [[nodiscard]] Histogram spacing(Histogram CnpSender::*scope) const;
};

/// Adds the counts of flows and connections: sums, `pairs`, and senders whose CNPs belong to no connection.
void sum_up(Congestion& congestion, const std::vector<Flow>& flows,
            const std::vector<Connection>& connections);

}  // namespace roce::analyze
