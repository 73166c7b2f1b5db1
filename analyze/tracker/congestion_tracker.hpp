// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyze/connection/congestion.hpp"
#include "analyze/connection/connection.hpp"
#include "analyze/flow/flow_table.hpp"
#include "analyze/record/packet_record.hpp"

// Internal to the tracker.
namespace roce::analyze {

/// Follows CE marks and CNPs of connections. Only called for these packets, which take the long way; what
/// others sent meanwhile is known from their flows' sums. Bounded.
class CongestionTracker {
 public:
  static constexpr std::size_t sender_limit = 256;
  static constexpr std::size_t pair_limit = 4096;

  /// A packet of `side` that is marked CE, no duplicate of the capture. `r` may be left out by the filter.
  void marked(Connection& connection, unsigned side, const PacketRecord& r);
  /// A CNP to `side`, whose packets are of `flow`: null if none was captured.
  void notified(Connection& connection, unsigned side, const Flow* flow, const PacketRecord& r);
  /// What two connections knew that are one: `side` of `into` is the other side of `from`.
  static void merge(Connection& into, unsigned side, Connection& from);
  /// The end: what `flow` of this side sent after its last CNP.
  static void finish(Connection& connection, unsigned side, const Flow* flow);

  /// What it knows of all; afterwards it is empty.
  [[nodiscard]] Congestion take();

 private:
  struct Pair {
    dissect::IpAddress src;
    dissect::IpAddress dst;
    [[nodiscard]] bool operator==(const Pair&) const noexcept = default;
  };
  struct Hash {
    std::size_t operator()(const Pair& pair) const noexcept;
  };
  struct Last {
    bool known = false;
    std::int64_t time_ns = 0;
    /// The time since, if there is one and it did not run backwards.
    void step(std::int64_t now, Histogram& spacing);
  };
  struct Sender {
    CnpSender result;
    Last last;
  };

  void count_sender(const PacketRecord& r, CongestionSide& congested, bool first);

  Histogram ce_to_cnp_ns_;
  std::uint64_t senders_dropped_ = 0;
  tsl::robin_map<Pair, Last, Hash> pairs_;
  tsl::robin_map<Pair, std::uint32_t, Hash> sender_places_;  ///< dst is empty
  std::vector<Sender> senders_;
};

}  // namespace roce::analyze
