// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/congestion_cases.hpp"
#include "analyze/link/pauses.hpp"

namespace roce::analyze {
namespace {

constexpr std::uint64_t enough_cnps = 10;
// DCQCN halves the rate at first, recovers half of that after 300 us (ConnectX's default) and all of it after
// five times that: with rarer CNPs a sender that reacts to them is as fast as before on average.
constexpr std::uint64_t longest_gap_ns = 500'000;
constexpr double as_fast = 0.95;
constexpr std::uint32_t seldom = 10;  // at most one CNP in so many
// What each CNP of a series leaves of a NIC's rate limit at most, recovery between them included.
constexpr double left_by_each = 0.9;
// NICs need not go below a minimum rate of their own, and a limit above what a sender has to send does not
// slow it down.
constexpr double slow_bps = 1e9;
constexpr std::uint64_t unaffected_gaps = 3;

/// Whether so many CNPs bring the rate limit of any NIC, which starts at link speed, below the rate.
bool would_show(const CongestionSide& side) noexcept {
  const double rate = side.between.bps();
  if (rate < slow_bps) return false;
  const double cuts = std::log(rate / static_cast<double>(fastest_link_bps)) / std::log(left_by_each);
  return static_cast<double>(side.cnps) >= cuts;
}

/// Whether the capture shows the side before CNPs slowed it, and not only between two of them.
bool unaffected_before(const CongestionSide& side) noexcept {
  return side.before.ns >= unaffected_gaps * side.cnp_spacing.mean_ns();
}

/// Under a series of CNPs a sender that reacts to them is slower than before, at least for a while. One that
/// was slowed down before the capture began is as fast as then on average, but its rate goes up and down.
bool ignores(const CongestionSide& side) noexcept {
  if (side.cnps < enough_cnps || side.left_out != 0) return false;
  if (side.cnp_spacing.mean_ns() > longest_gap_ns || side.before.bytes == 0 || side.before.ns == 0)
    return false;
  if (side.between.bps() < as_fast * side.before.bps() || !would_show(side)) return false;
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
    each.confidence = (unaffected_before(congested) ? 0.6 : 0.3) * confidence_in(snapshot, connection);
  });
  report_cases(sink, std::move(cases), [&](const Group& group) {
    const Case& worst = group.worst();
    const CongestionSide& side = *worst.connection->congestion[worst.side];
    const bool unaffected = unaffected_before(side);
    return Words{
        unaffected ? Severity::warning : Severity::notice,
        fmt::format("{}{} received {}, on average {} apart, and did not slow down: {}. The rate fell after "
                    "{} of {} CNPs.{}{}",
                    scope_text(group), from_text(group), plural(group.count(), "CNP", "CNPs"),
                    wait_text(side.cnp_spacing.mean_ns()), rates_text(side), side.fell, side.fell + side.held,
                    unaffected
                        ? ""
                        : " CNPs were already coming when the capture began, so it may have been slowed down "
                          "before.",
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
