// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "dissect/field.hpp"

namespace roce::dissect {

/// All headers that this dissector knows, in the order of header_table.cpp.
enum class HeaderId : std::uint8_t {
  // link
  ethernet,
  vlan,
  service_vlan,
  mpls,
  macsec,
  sll,
  sll2,
  null_loop,
  erf,
  // network
  ipv4,
  ipv6,
  ipv6_hop_by_hop,
  ipv6_routing,
  ipv6_fragment,
  ipv6_destination_options,
  udp,
  // tunnels
  gre,
  gre_checksum,
  gre_key,
  gre_sequence,
  erspan2,
  erspan3,
  erspan_platform,
  vxlan,
  vxlan_gpe,
  geneve,
  arista_stamp,
  csig,
  // shells, and transports beside RoCE
  esp,
  ah,
  psp,
  uet,
  uet_request,
  uet_ack,
  uet_nack,
  falcon,
  veroce,
  ifa,
  ifa_metadata,
  // exports of switches: sFlow
  sflow,
  sflow_ipv6,
  sflow_flow_sample,
  sflow_flow_sample_expanded,
  sflow_counters_sample,
  sflow_counters_sample_expanded,
  sflow_discarded_sample,
  sflow_sample,
  sflow_raw_header,
  sflow_switch,
  sflow_ib_lrh,
  sflow_ib_grh,
  sflow_ib_bth,
  sflow_egress_queue,
  sflow_acl,
  sflow_function,
  sflow_transit_delay,
  sflow_queue_depth,
  sflow_hardware_trap,
  sflow_linux_reason,
  sflow_timestamp,
  sflow_flow_record,
  sflow_interface_counters,
  sflow_ethernet_counters,
  sflow_pfc_counters,
  sflow_counters_record,
  // exports of switches: IPFIX, NetFlow
  ipfix_message,
  netflow9_message,
  ipfix_set,
  ipfix_template,
  ipfix_options_template,
  netflow9_options_template,
  ipfix_drop_mirror,
  // InfiniBand, in wire order
  lrh,
  grh,
  bth,
  rdeth,
  deth,
  xrceth,
  feth,
  reth,
  atomiceth,
  aeth,
  atomicacketh,
  immdt,
  ieth,
  mrc_meth,
  mrc_tseth,
  mrc_seth,
  mrc_neth,
  mrc_peth,
  mrc_erth,
  mrc_eeth,
  payload,
  icrc,
  vcrc,
  // link control
  mac_pause,
  mac_pfc,
  mac_control,
  // LLDP: one layer per TLV
  lldp_chassis_id,
  lldp_port_id,
  lldp_ttl,
  lldp_port_description,
  lldp_system_name,
  lldp_system_description,
  lldp_capabilities,
  lldp_management,
  lldp_management_interface,
  lldp_dcbx_ets_configuration,
  lldp_dcbx_ets_recommendation,
  lldp_dcbx_pfc,
  lldp_dcbx_application,
  lldp_dcbx_application_entry,
  lldp_dcbx_cee,
  lldp_dcbx_cee_control,
  lldp_dcbx_cee_priority_groups,
  lldp_dcbx_cee_pfc,
  lldp_dcbx_cee_application,
  lldp_dcbx_cee_application_entry,
  lldp_dcbx_cee_unknown,
  lldp_organisational,
  lldp_unknown,
  lldp_end,
  // management datagrams and the connection manager
  mad,
  cm_req,
  cm_mra,
  cm_rej,
  cm_rep,
  cm_rtu,
  cm_dreq,
  cm_drep,
  cm_sidr_req,
  cm_sidr_rep,
  cm_lap,
  cm_apr,
  cm_unknown,
  ip_cm,
  // trailers of switches
  metamako_fcs,
  metamako_extension,
  metamako_long_extension,
  metamako,
  exablaze,
  // upper layers
  nvme_rdma_request,
  nvme_rdma_reply,
  nvme_rdma_reject,
  nvme_command,
  nvme_fabrics_command,
  nvme_completion,
  iser,
  iscsi,
  rpc_rdma,
  rpc_rdma_read_segment,
  rpc_rdma_write_chunk,
  rpc_rdma_reply_chunk,
  rpc_rdma_segment,
  rpc_rdma_error,
  rpc_call,
  rpc_reply,
  smb_direct,
  smb_direct_negotiate_request,
  smb_direct_negotiate_response,
  smb_direct_data,
  count_
};
inline constexpr std::size_t header_count = static_cast<std::size_t>(HeaderId::count_);

/// Found by dissect_ulp(), not by dissect(): they may need the service id of an earlier CM exchange.
[[nodiscard]] constexpr bool is_upper_layer(HeaderId id) noexcept {
  return id >= HeaderId::nvme_rdma_request;
}

/// Found by dissect_trailer(), which needs the time of the capture.
[[nodiscard]] constexpr bool is_trailer(HeaderId id) noexcept {
  return id >= HeaderId::metamako_fcs && id <= HeaderId::exablaze;
}

/// A row of the header table: everything that a tree, a filter or a hex view needs of a header.
struct HeaderInfo {
  HeaderId id;
  std::string_view name;   ///< as a display filter ("infiniband.bth"); may be empty
  std::string_view title;  ///< as in the tree
  std::size_t size;        ///< fixed part in bytes
  std::span<const Field> fields;
};

}  // namespace roce::dissect
