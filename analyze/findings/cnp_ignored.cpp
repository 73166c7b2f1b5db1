// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/findings/congested.hpp"

namespace roce::analyze {
namespace {

constexpr std::uint64_t enough_cnps = 10;
constexpr std::uint64_t longest_gap_ns = 10'000'000;  // rarer ones leave time to speed up again
constexpr double as_fast = 0.95;
constexpr std::uint32_t seldom = 10;  // one in so many

/// Under CNPs in a row a sender that heeds them is slower than before at least for a while. One that was
/// slowed down before the capture began is as fast as then on the whole, but up and down in between.
bool ignores(const CongestionSide& side) noexcept {
  if (side.cnps < enough_cnps || side.left_out != 0) return false;
  if (side.cnp_spacing.mean_ns() > longest_gap_ns || side.before.bytes == 0 || side.before.ns == 0)
    return false;
  if (side.between.bps() < as_fast * side.before.bps()) return false;
  return side.fell * seldom <= side.fell + side.held;
}

}  // namespace

void find_cnp_ignored(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    if (!connection.congestion[side].there() || !snapshot.filter.empty()) return;
    const CongestionSide& congested = *connection.congestion[side];
    if (!ignores(congested)) return;
    Case& each = cases.emplace_back();
    each.connection = &connection;
    each.side = side;
    each.of = 0;
    each.proof.add(connection.sent[1 - side].find(Event::cnp));
    each.confidence = 0.6 * confidence_in(snapshot, connection);
  });
  report_cases(sink, std::move(cases), [&](const Group& group) {
    const Case& worst = group.worst();
    const CongestionSide& side = *worst.connection->congestion[worst.side];
    return Words{
        Severity::warning,
        fmt::format("{}{} got {}, on average {} apart, and did not send more slowly: {}. After {} of {} CNPs "
                    "its rate fell.{}",
                    scope_text(group), from_text(group), plural(group.count(), "CNP", "CNPs"),
                    wait_text(side.cnp_spacing.mean_ns()), rates_text(side), side.fell, side.fell + side.held,
                    worst_text(group)),
        fmt::format(
            "On {}: cat /sys/class/net/DEV/ecn/roce_rp/enable/* (must be 1 for the priority), the "
            "counters rp_cnp_handled and rp_cnp_ignored in "
            "/sys/class/infiniband/DEV/ports/1/hw_counters, and the rate limits of DCQCN (rpg_min_rate, "
            "rpg_gd). {}",
            from_text(group), show_command(snapshot, group, "The CNPs", shown_by_cnps())),
    };
  });
}

}  // namespace roce::analyze
