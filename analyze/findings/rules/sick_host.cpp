// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/degraded_scope.hpp"

namespace roce::analyze {

void find_sick_host(const Snapshot& snapshot, FindingSink& sink) {
  const SickPlaces places = look_for_sick_places(snapshot);
  if (!places.host) return;
  const DegradedHost& found = *places.host;
  const std::string host = address_text(found.address);
  Finding finding;
  finding.severity = found.sum.fatal != 0 ? Severity::error : Severity::warning;
  finding.subject = host;
  finding.count = found.sum.connections;
  finding.packets = found.sum.proof.frames;
  finding.first_time_ns = found.sum.proof.first_time_ns;
  finding.last_time_ns = found.sum.proof.last_time_ns;
  // Without healthy connections of other hosts, the host and the network in front of it look alike.
  finding.confidence = found.others >= 5 ? 0.9 : 0.5;
  finding.connections = found.sum.ids;
  finding.explanation = fmt::format(
      "{} of {} degraded connections have one end at {}, with {} different peers: {}. {} of the {} "
      "connections of {} are degraded{}",
      found.sum.connections, places.sick, host, found.sick_peers, sickness_text(found.sum, host),
      found.sum.connections, found.connections, host,
      found.others == 0 ? std::string(", and the capture has no others to compare with: the cause may also "
                                      "be the network in front of that host.")
                        : fmt::format(", of the {} others {}: the cause is that host, its NIC or its link.",
                                      found.others, places.sick - found.sum.connections));
  if (found.sum.fatal != 0)
    finding.explanation +=
        fmt::format(" {} failed because of it.", plural(found.sum.fatal, "connection", "connections"));
  finding.advice = fmt::format(
      "Look at {} before anything else: ethtool -S DEV | grep -iE 'drop|discard|pause|crc|out_of_buffer', "
      "rdma statistic show, dmesg, mlnx_qos -i DEV, CPU and PCIe (lspci -vv | grep LnkSta); and at its "
      "switch port: errors, PFC counters, queue drops. All its packets: {}",
      host, packets_command(snapshot, "roce.addr == " + host));
  sink.add(std::move(finding));
}

}  // namespace roce::analyze
