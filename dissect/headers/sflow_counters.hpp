// SPDX-License-Identifier: Apache-2.0
// Records of the counter samples of sFlow version 5.
#pragma once

#include <array>

#include "dissect/header_id.hpp"
#include "dissect/headers/field_kinds.hpp"
#include "dissect/headers/sflow_names.hpp"

namespace roce::dissect {

/// What all records of counter samples begin with.
struct SflowCountersRecordHead {
  static constexpr std::string_view name = {}, at = "sFlow Version 5";
  static constexpr Field enterprise = detail::decimal_field("sflow.enterprise", "Enterprise", 0, 20, at);
  static constexpr Field format = detail::decimal_field("sflow_245.counters_record_format", "Format", 20, 12,
                                                        at, sflow_counters_record_names);
  static constexpr Field length =
      detail::decimal_field("sflow_5.flow_data_length", "Flow data length (byte)", 32, 32, at);
};

struct SflowInterfaceCounters : SflowCountersRecordHead {
  static constexpr HeaderId id = HeaderId::sflow_interface_counters;
  static constexpr std::string_view title = "Generic interface counters";
  static constexpr std::size_t size = 96;
  static constexpr Field index = detail::decimal_field("sflow_245.ifindex", "Interface index", 64, 32, at);
  static constexpr Field type = detail::decimal_field("sflow_245.iftype", "Interface Type", 96, 32, at);
  static constexpr Field speed = detail::decimal_field("sflow_245.ifspeed", "Interface Speed", 128, 64, at);
  static constexpr Field direction =
      detail::decimal_field("sflow_245.ifdirection", "Interface Direction", 192, 32, at);
  static constexpr Field oper =
      detail::plain_field("sflow_245.ifoper_status", "IfOperStatus", 254, 1, Display::boolean, at);
  static constexpr Field admin =
      detail::plain_field("sflow_245.ifadmin_status", "IfAdminStatus", 255, 1, Display::boolean, at);
  static constexpr Field in_octets = detail::decimal_field("sflow_245.ifinoct", "Input Octets", 256, 64, at);
  static constexpr Field in_packets =
      detail::decimal_field("sflow_245.ifinpkt", "Input Packets", 320, 32, at);
  static constexpr Field in_multicast =
      detail::decimal_field("sflow_245.ifinmcast", "Input Multicast Packets", 352, 32, at);
  static constexpr Field in_broadcast =
      detail::decimal_field("sflow_245.ifinbcast", "Input Broadcast Packets", 384, 32, at);
  static constexpr Field in_discards =
      detail::decimal_field("sflow_245.ifindisc", "Input Discarded Packets", 416, 32, at);
  static constexpr Field in_errors = detail::decimal_field("sflow_245.ifinerr", "Input Errors", 448, 32, at);
  static constexpr Field in_unknown =
      detail::decimal_field("sflow_245.ifinunk", "Input Unknown Protocol Packets", 480, 32, at);
  static constexpr Field out_octets =
      detail::decimal_field("sflow_245.ifoutoct", "Output Octets", 512, 64, at);
  static constexpr Field out_packets =
      detail::decimal_field("sflow_245.ifoutpkt", "Output Packets", 576, 32, at);
  static constexpr Field out_multicast =
      detail::decimal_field("sflow_245.ifoutmcast", "Output Multicast Packets", 608, 32, at);
  static constexpr Field out_broadcast =
      detail::decimal_field("sflow_245.ifoutbcast", "Output Broadcast Packets", 640, 32, at);
  static constexpr Field out_discards =
      detail::decimal_field("sflow_245.ifoutdisc", "Output Discarded Packets", 672, 32, at);
  static constexpr Field out_errors =
      detail::decimal_field("sflow_245.ifouterr", "Output Errors", 704, 32, at);
  static constexpr Field promiscuous =
      detail::decimal_field("sflow_245.ifpromisc", "Promiscuous Mode", 736, 32, at);
  static constexpr std::array fields{enterprise,   format,       length,       index,         type,
                                     speed,        direction,    oper,         admin,         in_octets,
                                     in_packets,   in_multicast, in_broadcast, in_discards,   in_errors,
                                     in_unknown,   out_octets,   out_packets,  out_multicast, out_broadcast,
                                     out_discards, out_errors,   promiscuous};
};

struct SflowEthernetCounters : SflowCountersRecordHead {
  static constexpr HeaderId id = HeaderId::sflow_ethernet_counters;
  static constexpr std::string_view title = "Ethernet interface counters";
  static constexpr std::size_t size = 60;
  static constexpr Field alignment_errors =
      detail::decimal_field("sflow_245.dot3StatsAlignmentErrors", "Alignment Errors", 64, 32, at);
  static constexpr Field fcs_errors =
      detail::decimal_field("sflow_245.dot3StatsFCSErrors", "FCS Errors", 96, 32, at);
  static constexpr Field single_collision_frames = detail::decimal_field(
      "sflow_245.dot3StatsSingleCollisionFrames", "Single Collision Frames", 128, 32, at);
  static constexpr Field multiple_collision_frames = detail::decimal_field(
      "sflow_245.dot3StatsMultipleCollisionFrames", "Multiple Collision Frames", 160, 32, at);
  static constexpr Field sqe_test_errors =
      detail::decimal_field("sflow_245.dot3StatsSQETestErrors", "SQE Test Errors", 192, 32, at);
  static constexpr Field deferred_transmissions = detail::decimal_field(
      "sflow_245.dot3StatsDeferredTransmissions", "Deferred Transmissions", 224, 32, at);
  static constexpr Field late_collisions =
      detail::decimal_field("sflow_245.dot3StatsLateCollisions", "Late Collisions", 256, 32, at);
  static constexpr Field excessive_collisions =
      detail::decimal_field("sflow_245.dot3StatsExcessiveCollisions", "Excessive Collisions", 288, 32, at);
  static constexpr Field internal_mac_transmit_errors = detail::decimal_field(
      "sflow_245.dot3StatsInternalMacTransmitErrors", "Internal Mac Transmit Errors", 320, 32, at);
  static constexpr Field carrier_sense_errors =
      detail::decimal_field("sflow_245.dot3StatsCarrierSenseErrors", "Carrier Sense Errors", 352, 32, at);
  static constexpr Field frame_too_longs =
      detail::decimal_field("sflow_245.dot3StatsFrameTooLongs", "Frame Too Longs", 384, 32, at);
  static constexpr Field internal_mac_receive_errors = detail::decimal_field(
      "sflow_245.dot3StatsInternalMacReceiveErrors", "Internal Mac Receive Errors", 416, 32, at);
  static constexpr Field symbol_errors =
      detail::decimal_field("sflow_245.dot3StatsSymbolErrors", "Symbol Errors", 448, 32, at);
  static constexpr std::array fields{enterprise,
                                     format,
                                     length,
                                     alignment_errors,
                                     fcs_errors,
                                     single_collision_frames,
                                     multiple_collision_frames,
                                     sqe_test_errors,
                                     deferred_transmissions,
                                     late_collisions,
                                     excessive_collisions,
                                     internal_mac_transmit_errors,
                                     carrier_sense_errors,
                                     frame_too_longs,
                                     internal_mac_receive_errors,
                                     symbol_errors};
};

struct SflowPfcCounters : SflowCountersRecordHead {
  static constexpr HeaderId id = HeaderId::sflow_pfc_counters;
  static constexpr std::string_view title = "PFC counters", at = "draft_sflow_pfc";
  static constexpr std::size_t size = 28;
  static constexpr Field requests = detail::decimal_field("sflow.pfc.requests", "Requests", 64, 32, at);
  static constexpr Field indications =
      detail::decimal_field("sflow.pfc.indications", "Indications", 96, 32, at);
  static constexpr Field pause =
      detail::decimal_field("sflow.pfc.pause_duration", "Pause duration (us)", 128, 32, at);
  static constexpr Field detected =
      detail::decimal_field("sflow.pfc.storms_detected", "Storms detected", 160, 32, at);
  static constexpr Field restored =
      detail::decimal_field("sflow.pfc.storms_restored", "Storms restored", 192, 32, at);
  static constexpr std::array fields{enterprise,  format, length,   requests,
                                     indications, pause,  detected, restored};
};

struct SflowCountersRecord : SflowCountersRecordHead {
  static constexpr HeaderId id = HeaderId::sflow_counters_record;
  static constexpr std::string_view title = "Counters of another format";
  static constexpr std::size_t size = 8;
  static constexpr Field data =
      detail::plain_field("sflow.enterprise.data", "Data", 64, 0, Display::bytes, at);
  static constexpr std::array fields{enterprise, format, length, data};
};

}  // namespace roce::dissect
