// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/findings/shared/common.hpp"

namespace roce::analyze {

void find_source_mac_changed(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    add_case(snapshot, cases, connection, {side, side, Event::mac_changed, all_packets(connection, side)});
  });
  report_cases(sink, std::move(cases), [&](const Group& group) {
    // A failover happens once per connection; alternating paths change all the time.
    const bool flaps = group.count() > 4 * group.connections;
    return Words{
        Severity::notice,
        fmt::format("{}Packets from {} changed their source MAC address {}. {}{}", scope_text(group),
                    from_text(group), times_text(group.count()),
                    flaps ? "That many changes mean that packets alternate between several ports or routers "
                            "(a bond or LAG that hashes per packet, ECMP between two routers): expect "
                            "reordering."
                          : "A bond or LAG failed over, another router took over, or a virtual machine "
                            "migrated; packets in flight at that moment may be lost.",
                    worst_text(group)),
        fmt::format("On {}: cat /proc/net/bonding/BOND (failure counts, mode), dmesg | grep -iE 'link "
                    "is|bond', ip link; switch log: port down, MAC move. {}",
                    from_text(group),
                    show_command(snapshot, group, "The packets",
                                 shown_by_flag("roce.analysis.source_mac_changed", Event::mac_changed))),
    };
  });
}

}  // namespace roce::analyze
