// SPDX-License-Identifier: Apache-2.0
// The rules of a policy that the flows of a capture violate.
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

/// All packets that violate one rule.
struct RuleViolation {
  static constexpr std::size_t named =
      8;  ///< flows, addresses and values that are listed; the rest is only counted

  /// A value found instead of the expected one, with its packets.
  struct Found {
    std::string text;
    std::uint64_t packets = 0;
  };
  struct FlowViolation {
    std::uint64_t flow = 0;  ///< id
    std::uint64_t packets = 0;
    std::uint64_t first_packet = 0;
  };

  MarkCheck check{};
  /// Set: the packets are copies at this capture point (capture::Frame::point) with other markings than at
  /// the point where their flows are followed. Absent: packets of the point where flows are followed.
  std::optional<std::uint16_t> point;
  std::string_view key;       ///< valid as long as the policy
  std::string expected;       ///< for the first packet
  MarkingSubject example;     ///< the first packet
  std::uint64_t packets = 0;  ///< without duplicates made by the capture
  std::uint64_t flow_count = 0;
  std::optional<dissect::IpAddress> sender;    ///< of all these flows; none: of several
  std::optional<dissect::IpAddress> receiver;  ///< the same
  std::vector<FlowViolation> flows;          ///< the first ones
  std::vector<Found> found;                  ///< the most frequent ones
  std::uint64_t found_otherwise = 0;         ///< packets with values that are not in `found`
  std::vector<std::uint64_t> first_packets;  ///< ascending
  std::optional<std::int64_t> first_time_ns;
  std::optional<std::int64_t> last_time_ns;  ///< upper bound, see latest_time()
};

/// Violations of all flows, in the order of MarkCheck, then by key. Also fills `expected` and, for what the
/// policy covers, `verdict` ("ok" or "violation") of the rows of these flows' matrix. A row with packets of
/// both kinds is a violation.
[[nodiscard]] std::vector<RuleViolation> find_violations(const MarkingPolicy& policy,
                                                         const std::vector<Flow>& flows,
                                                         MarkingMatrix& matrix);
/// Violations of copies at other capture points, by capture point, then as above. DSCP, ECN and priorities
/// only: tags and TTL differ from link to link and are checked where the flow is followed.
[[nodiscard]] std::vector<RuleViolation> find_violations_elsewhere(
    const MarkingPolicy& policy, const std::vector<Flow>& flows, const std::vector<FlowAtPoint>& flow_points);

}  // namespace roce::analyze
