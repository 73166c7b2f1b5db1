// SPDX-License-Identifier: Apache-2.0
#include "analyze/diagnosis/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "analyze/base/address_text.hpp"
#include "analyze/diagnosis/party.hpp"
#include "analyze/diagnosis/size_hole.hpp"
#include "analyze/findings/shared/mtu_probe.hpp"
#include "analyze/findings/shared/texts.hpp"

namespace roce::analyze::diagnosis {
namespace {

/// What helps against it: by how much is known where the timer is.
std::string longer_timer_words(const Trouble& t, const Party& from, const Party& to) {
  constexpr unsigned longest = 31;  // 5 bits (IBTA 9.7.6.1.3)
  constexpr unsigned four_times = 2;
  std::string much;
  if (const std::uint64_t timer = t.timer_ns(); timer != 0) {
    const unsigned now = timeout_code_of(timer);
    much =
        fmt::format(", now about {}: {} waits four times as long", now, std::min(now + four_times, longest));
  }
  const std::string raise = fmt::format(
      "aise the local ACK timeout of {} (ibv_modify_qp timeout, NCCL_IB_TIMEOUT{}).", from.name, much);
  constexpr std::string_view repeats = "rdma statistic show (duplicate_request counts these repeats).";
  if (t.held_up()) {
    return fmt::format(
        "Find what held {} up now and then: CPU, PCIe, page faults (ODP), interrupt moderation, pauses of "
        "its "
        "link; {} If that is as it has to be, r{}",
        t.mutual() ? std::string("them") : to.name, repeats, raise);
  }
  return fmt::format("R{} Ask why {} {} that long: CPU, PCIe and interrupt moderation there; {}", raise,
                     t.mutual() ? std::string("they") : to.name,
                     t.mutual() ? "take" : to.does("takes", "take"), repeats);
}

std::string mtu_words(const Trouble& t, const std::optional<SizeHole>& hole) {
  const auto& [from, to] = *t.ways.begin();
  const std::uint32_t pmtu = hole ? hole->pmtu : 0;
  const dissect::Transport transport = hole ? hole->transport : dissect::Transport::roce_v2_ipv4;
  return fmt::format(
      "On {}: {} {}, which must be answered as a smaller one is. Where it is not, find the hop: ip link show "
      "(mtu) "
      "on both hosts, the MTU of every switch port and router on the way. A path MTU of {} needs {} bytes of "
      "IP: raise the MTU there, or lower that of the hosts and reconnect.",
      address_text(from), ping_text(pmtu, transport, to), address_text(to),
      pmtu != 0 ? std::to_string(pmtu) : std::string("1024"),
      largest_ip_bytes(pmtu != 0 ? pmtu : 1024, transport));
}

}  // namespace

std::string own_advice(const Snapshot& snapshot, const Trouble& trouble) {
  const Party from = party_of(trouble, &Route::first);
  const Party to = party_of(trouble, &Route::second);
  switch (trouble.cause) {
    case RootCause::timer_too_short:
      return longer_timer_words(trouble, from, to);
    case RootCause::path_mtu:
      return mtu_words(trouble, size_hole(snapshot, trouble.ways));
    case RootCause::outage:
      return "Find out what happened then on the way between them: a link that went down, a route, LAG or "
             "MAC "
             "address that moved. On the hosts: dmesg -T | grep -iE 'link|mlx5'; ethtool -S DEV | grep -i "
             "link_down. On the switches: their logs of that time.";
    case RootCause::no_answer:
      return fmt::format(
          "On {}: is the host up and the port active (ibv_devinfo, ip link), is the queue pair there (rdma "
          "resource show qp), do the requests arrive (rdma statistic show: duplicate_request counts those "
          "whose answers are lost; ethtool -S DEV | grep -iE 'rdma|discard|drop')? Check switch ACLs and "
          "ECMP paths for UDP 4791, in both directions.",
          to.place());
    case RootCause::pause:
      return fmt::format(
          "Find out why {} {}: a receiver that is too slow (PCIe, CPU, memory; rx_out_of_buffer), or a storm "
          "of "
          "its NIC or of its switch port. ethtool -S DEV | grep -i pause on both ends of the link, the PFC "
          "watchdog of the switch port. The timeouts are only what follows.",
          to.name, to.does("pauses", "pause"));
    case RootCause::reordering:
      return "Packets of one queue pair take several paths: packet spraying or adaptive routing towards a "
             "NIC "
             "without out-of-order placement, a LAG that hashes per packet, or several queues (DSCPs) within "
             "one "
             "connection. Disable it for this traffic, or enable out-of-order placement at both ends (mlx5: "
             "RoCE "
             "adaptive routing; mlxconfig -d DEV q | grep -iE 'ADAPTIVE|OOO').";
    case RootCause::loss_or_reordering:
      return fmt::format(
          "Find out which: on {}, rdma statistic show (out_of_sequence counts both); the drops of the "
          "switches "
          "on the way there (lost), or adaptive routing, packet spraying or a LAG that hashes per packet "
          "(late).",
          to.place());
    case RootCause::unexplained:
      return fmt::format("Capture at {} to see what reaches it.", from.place());
    default:
      return {};
  }
}

}  // namespace roce::analyze::diagnosis
