// SPDX-License-Identifier: Apache-2.0
// Which rules of a policy the flows of a capture break.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/flow/flow.hpp"
#include "analyze/flow/flow_at_point.hpp"
#include "analyze/flow/marking_matrix.hpp"
#include "analyze/policy/marking_policy.hpp"

namespace roce::analyze {

/// All packets that break one rule in one way.
struct RuleBreach {
  static constexpr std::size_t named =
      8;  ///< flows, addresses and values that are named; the rest is counted

  /// What was found instead, with how many packets.
  struct Found {
    std::string text;
    std::uint64_t packets = 0;
  };
  struct FlowBreach {
    std::uint64_t flow = 0;  ///< id
    std::uint64_t packets = 0;
    std::uint64_t first_packet = 0;
  };

  MarkCheck check{};
  /// Of copies that this capture point shows (capture::Frame::point), marked otherwise than where their flows
  /// are followed; none: of packets that are followed.
  std::optional<std::uint16_t> point;
  std::string_view key;       ///< as long as the policy lives
  std::string expected;       ///< of the first of them
  MarkingSubject example;     ///< the first of them
  std::uint64_t packets = 0;  ///< without copies that the capture made
  std::uint64_t flow_count = 0;
  std::vector<FlowBreach> flows;             ///< the first ones
  std::vector<Found> found;                  ///< the most frequent ones
  std::uint64_t found_otherwise = 0;         ///< packets of others
  std::vector<std::uint64_t> first_packets;  ///< ascending
  std::optional<std::int64_t> first_time_ns;
  std::optional<std::int64_t> last_time_ns;  ///< of their flows: see latest_time()
};

/// By the order of MarkCheck, then by key. Fills what the policy says of the matrix of these flows: what it
/// expects and, of what it judges, "ok" or "violation". A cell with packets of both kinds is a violation.
[[nodiscard]] std::vector<RuleBreach> find_breaches(const MarkingPolicy& policy,
                                                    const std::vector<Flow>& flows, MarkingMatrix& matrix);
/// The same of copies at other capture points: DSCP, ECN and priorities. What a tag or TTL is to be holds
/// where a flow is followed: it differs from link to link. By capture point, then as above.
[[nodiscard]] std::vector<RuleBreach> find_breaches_elsewhere(const MarkingPolicy& policy,
                                                              const std::vector<Flow>& flows,
                                                              const std::vector<FlowAtPoint>& flow_points);

}  // namespace roce::analyze
