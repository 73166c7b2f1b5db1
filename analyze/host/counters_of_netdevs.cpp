// SPDX-License-Identifier: Apache-2.0
// Counters of interfaces. mlx5_core:
// Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst. bnxt_en: the strings of its
// ethtool.c. Kernel: include/uapi/linux/if_link.h.
#include "analyze/host/counter_meaning.hpp"

namespace roce::analyze {
namespace {

using enum CounterSource;
using enum CounterNature;

constexpr std::string_view
    who_pauses =
        "the switch is congested on that priority: find the port it waits for; roceanalyze FILE "
        "(pause_heavy, "
        "pause_storm)",
    why_pausing =
        "this host is slower than the incoming traffic: PCIe, memory, out_of_buffer; roceanalyze FILE "
        "(sick_host)",
    lossless =
        "check that PFC is on for that priority here and on the switch: roceanalyze host --policy P, "
        "mlnx_qos -i DEV; buffer sizes and cable length",
    damage = "clean or replace cable and optics, here and at the switch port",
    ring = "receive ring too small or CPU too slow: ethtool -G, IRQ affinity",
    global_pause = "global PAUSE is on, which pauses every priority: ethtool -a DEV; use PFC for RoCE";

constexpr CounterMeaning netdev_rows[] = {
    // mlx5, by priority.
    {"rx_prio#_packets", ethtool, "mlx5_core", traffic, "packets", "received with that priority", ""},
    {"tx_prio#_packets", ethtool, "mlx5_core", traffic, "packets", "sent with that priority", ""},
    {"rx_prio#_bytes", ethtool, "mlx5_core", traffic, "bytes", "received with that priority", ""},
    {"tx_prio#_bytes", ethtool, "mlx5_core", traffic, "bytes", "sent with that priority", ""},
    {"rx_prio#_pause", ethtool, "mlx5_core", event, "frames",
     "PFC frames received: the switch paused that priority", who_pauses},
    {"tx_prio#_pause", ethtool, "mlx5_core", event, "frames",
     "PFC frames sent: this host paused that priority", why_pausing},
    {"rx_prio#_pause_duration", ethtool, "mlx5_core", event, "us",
     "time in which that priority could not send", who_pauses},
    {"tx_prio#_pause_duration", ethtool, "mlx5_core", event, "us",
     "time for which this host paused that priority", why_pausing},
    {"rx_prio#_pause_transition", ethtool, "mlx5_core", event, "times", "from paused to running", ""},
    {"tx_prio#_pause_transition", ethtool, "mlx5_core", event, "times", "from paused to running", ""},
    {"rx_prio#_discards", ethtool, "mlx5_core", fault, "packets", "dropped: no receive buffer on the port",
     lossless},
    {"rx_prio#_buf_discard", ethtool, "mlx5_core", fault, "packets",
     "dropped: no receive buffer of this host", lossless},
    {"rx_prio#_cong_discard", ethtool, "mlx5_core", fault, "packets", "dropped: this host is congested",
     why_pausing},
    {"rx_prio#_marked", ethtool, "mlx5_core", event, "packets",
     "marked CE by the NIC itself: this host is congested", why_pausing},
    // mlx5, the port.
    {"rx_vport_rdma_unicast_packets", ethtool, "mlx5_core", traffic, "packets", "RDMA packets received", ""},
    {"tx_vport_rdma_unicast_packets", ethtool, "mlx5_core", traffic, "packets", "RDMA packets sent", ""},
    {"rx_vport_rdma_unicast_bytes", ethtool, "mlx5_core", traffic, "bytes", "RDMA bytes received", ""},
    {"tx_vport_rdma_unicast_bytes", ethtool, "mlx5_core", traffic, "bytes", "RDMA bytes sent", ""},
    {"rx_packets_phy", ethtool, "mlx5_core", traffic, "packets", "received on the port", ""},
    {"tx_packets_phy", ethtool, "mlx5_core", traffic, "packets", "sent on the port", ""},
    {"rx_bytes_phy", ethtool, "mlx5_core", traffic, "bytes", "received on the port", ""},
    {"tx_bytes_phy", ethtool, "mlx5_core", traffic, "bytes", "sent on the port", ""},
    {"rx_discards_phy", ethtool, "mlx5_core", fault, "packets", "dropped: no receive buffer on the port",
     lossless},
    {"tx_discards_phy", ethtool, "mlx5_core", fault, "packets", "dropped at sending", ""},
    {"tx_errors_phy", ethtool, "mlx5_core", fault, "packets", "not sent because of an error", ""},
    {"rx_crc_errors_phy", ethtool, "mlx5_core", fault, "packets", "received with a wrong Ethernet FCS",
     damage},
    {"rx_symbol_err_phy", ethtool, "mlx5_core", fault, "times", "symbol errors", damage},
    {"rx_pcs_symbol_err_phy", ethtool, "mlx5_core", fault, "symbols", "errors that FEC could not correct",
     damage},
    {"rx_corrected_bits_phy", ethtool, "mlx5_core", event, "bits",
     "corrected by FEC: normal as long as it is few", ""},
    {"rx_err_lane_#_phy", ethtool, "mlx5_core", event, "bits", "raw errors of a lane, before FEC", ""},
    {"rx_oversize_pkts_phy", ethtool, "mlx5_core", fault, "packets", "longer than the port's MTU",
     "use the same MTU on the whole path"},
    {"link_down_events_phy", ethtool, "mlx5_core", fault, "times", "link went down", damage},
    {"rx_global_pause", ethtool, "mlx5_core", event, "frames", "global PAUSE frames received", global_pause},
    {"tx_global_pause", ethtool, "mlx5_core", event, "frames", "global PAUSE frames sent", global_pause},
    {"rx_global_pause_duration", ethtool, "mlx5_core", event, "us", "time in which the port could not send",
     global_pause},
    {"tx_global_pause_duration", ethtool, "mlx5_core", event, "us",
     "time for which this host paused its link peer", global_pause},
    {"tx_pause_storm_warning_events", ethtool, "mlx5_core", fault, "times", "this host paused for long",
     why_pausing},
    {"tx_pause_storm_error_events", ethtool, "mlx5_core", fault, "times",
     "paused so long that pausing was switched off: drops", why_pausing},
    {"outbound_pci_buffer_overflow", ethtool, "mlx5_core", fault, "packets",
     "dropped: PCIe is slower than the link",
     "PCIe width and speed: lspci -vv, LnkSta; other load on memory"},
    {"outbound_pci_stalled_wr_events", ethtool, "mlx5_core", event, "seconds", "PCIe writes stalled",
     "PCIe width and speed, IOMMU, memory load"},
    {"outbound_pci_stalled_rd_events", ethtool, "mlx5_core", event, "seconds", "PCIe reads stalled",
     "PCIe width and speed, IOMMU, memory load"},
    {"rx_out_of_buffer", ethtool, "mlx5_core", fault, "packets", "dropped: no receive was posted (Ethernet)",
     ring},
    {"dev_out_of_buffer", ethtool, "mlx5_core", fault, "times", "a queue of the device had no buffers", ring},
    {"rx_buffer_passed_thres_phy", ethtool, "mlx5_core", event, "times", "receive buffer over 85 % full",
     why_pausing},
    {"rx_steer_missed_packets", ethtool, "mlx5_core", event, "packets",
     "received without a matching steering rule", ""},

    // bnxt_en.
    {"rx_pfc_ena_frames_pri#", ethtool, "bnxt_en", event, "frames",
     "PFC frames received: the switch paused that priority", who_pauses},
    {"tx_pfc_ena_frames_pri#", ethtool, "bnxt_en", event, "frames",
     "PFC frames sent: this host paused that priority", why_pausing},
    {"pfc_pri#_rx_transitions", ethtool, "bnxt_en", event, "times", "that priority was paused by the switch",
     who_pauses},
    {"pfc_pri#_tx_transitions", ethtool, "bnxt_en", event, "times", "this host paused that priority",
     why_pausing},
    {"pfc_pri#_rx_duration_us", ethtool, "bnxt_en", event, "us", "time in which that priority could not send",
     who_pauses},
    {"pfc_pri#_tx_duration_us", ethtool, "bnxt_en", event, "us",
     "time for which this host paused that priority", why_pausing},
    {"rx_packets_pri#", ethtool, "bnxt_en", traffic, "packets", "received with that priority", ""},
    {"tx_packets_pri#", ethtool, "bnxt_en", traffic, "packets", "sent with that priority", ""},
    {"rx_bytes_pri#", ethtool, "bnxt_en", traffic, "bytes", "received with that priority", ""},
    {"tx_bytes_pri#", ethtool, "bnxt_en", traffic, "bytes", "sent with that priority", ""},
    {"rx_discard_packets_cos#", ethtool, "bnxt_en", fault, "packets",
     "dropped: no receive buffer of that queue", lossless},
    {"rx_pause_frames", ethtool, "bnxt_en", event, "frames", "global PAUSE frames received", global_pause},
    {"tx_pause_frames", ethtool, "bnxt_en", event, "frames", "global PAUSE frames sent", global_pause},
    {"rx_pfc_frames", ethtool, "bnxt_en", event, "frames", "PFC frames received", who_pauses},
    {"tx_pfc_frames", ethtool, "bnxt_en", event, "frames", "PFC frames sent", why_pausing},
    {"rx_fcs_err_frames", ethtool, "bnxt_en", fault, "packets", "received with a wrong Ethernet FCS", damage},
    {"rx_total_discard_pkts", ethtool, "bnxt_en", fault, "packets", "received and dropped", ring},
    {"tx_total_discard_pkts", ethtool, "bnxt_en", fault, "packets", "dropped at sending", ""},
    {"link_down_events", ethtool, "bnxt_en", fault, "times", "link went down", damage},
    {"continuous_pause_events", ethtool, "bnxt_en", event, "times", "the port paused for long", why_pausing},

    // mlx4_en and others with their own names of priorities.
    {"rx_pause_prio_#", ethtool, "", event, "frames", "PFC frames received: the switch paused that priority",
     who_pauses},
    {"tx_pause_prio_#", ethtool, "", event, "frames", "PFC frames sent: this host paused that priority",
     why_pausing},
    {"rx_priority_#_xoff", ethtool, "", event, "frames",
     "PFC frames received: the switch paused that priority", who_pauses},
    {"tx_priority_#_xoff", ethtool, "", event, "frames", "PFC frames sent: this host paused that priority",
     why_pausing},
    {"rx_priority_#_xoff.nic", ethtool, "", event, "frames",
     "PFC frames received: the switch paused that priority", who_pauses},
    {"tx_priority_#_xoff.nic", ethtool, "", event, "frames",
     "PFC frames sent: this host paused that priority", why_pausing},

    // The kernel's own, of every interface.
    {"rx_packets", kernel, "", traffic, "packets",
     "received by the kernel: RDMA that the NIC offloads is not in it", ""},
    {"tx_packets", kernel, "", traffic, "packets",
     "sent by the kernel: RDMA that the NIC offloads is not in it", ""},
    {"rx_bytes", kernel, "", traffic, "bytes", "received by the kernel", ""},
    {"tx_bytes", kernel, "", traffic, "bytes", "sent by the kernel", ""},
    {"multicast", kernel, "", traffic, "packets", "multicast received", ""},
    {"rx_errors", kernel, "", fault, "packets", "received with an error", damage},
    {"tx_errors", kernel, "", fault, "packets", "not sent because of an error", ""},
    {"rx_dropped", kernel, "", event, "packets", "received without a receiver, or dropped", ""},
    {"tx_dropped", kernel, "", fault, "packets", "dropped at sending", "tc -s qdisc show dev DEV"},
    {"rx_missed_errors", kernel, "", fault, "packets", "dropped: no receive buffers in the host", ring},
    {"rx_crc_errors", kernel, "", fault, "packets", "received with a wrong Ethernet FCS", damage},
    {"rx_over_errors", kernel, "", fault, "packets", "dropped: receive ring full", ring},
    {"rx_fifo_errors", kernel, "", fault, "packets", "dropped: receive FIFO full", ring},
    {"rx_length_errors", kernel, "", fault, "packets", "of a wrong length",
     "use the same MTU on the whole path"},
    {"rx_nohandler", kernel, "", event, "packets",
     "received on an interface that is not in use (bond member)", ""},
    {"tx_carrier_errors", kernel, "", fault, "times", "no carrier at sending", damage},
};

}  // namespace

std::span<const CounterMeaning> counters_of_netdevs() noexcept {
  return netdev_rows;
}

}  // namespace roce::analyze
