// SPDX-License-Identifier: Apache-2.0
// sFlow version 5 (sflow.org): the datagram, its samples and their records, each with the two words of format
// and length before it. Names are Wireshark's where it has the field; what it lacks is under sflow.
#pragma once

#include <array>

#include "dissect/header_id.hpp"
#include "dissect/headers/field_kinds.hpp"
#include "dissect/headers/sflow_names.hpp"

namespace roce::dissect {

/// The beginning of a datagram: where the address of the agent ends depends on its family.
template <HeaderId Id, unsigned Address>
struct SflowDatagram {
  static constexpr HeaderId id = Id;
  static constexpr std::string_view name = "sflow", title = "InMon sFlow";
  static constexpr std::size_t size = 24 + Address;
  static constexpr std::string_view at = "sFlow Version 5";
  static constexpr unsigned behind = 8 * (8 + Address);
  static constexpr Field version = detail::decimal_field("sflow_245.version", "Datagram version", 0, 32, at);
  static constexpr Field family =
      detail::decimal_field("sflow_245.agenttype", "Agent address type", 32, 32, at, sflow_address_names);
  static constexpr Field agent =
      detail::plain_field(Address == 4 ? "sflow_245.agent" : "sflow_245.agent.v6", "Agent address", 64,
                          8 * Address, Address == 4 ? Display::ipv4 : Display::ipv6, at);
  static constexpr Field sub_agent =
      detail::decimal_field("sflow_245.sub_agent_id", "Sub-agent ID", behind, 32, at);
  static constexpr Field sequence =
      detail::decimal_field("sflow_245.sequence_number", "Sequence number", behind + 32, 32, at);
  static constexpr Field uptime =
      detail::decimal_field("sflow_245.sysuptime", "SysUptime (ms)", behind + 64, 32, at);
  static constexpr Field samples =
      detail::decimal_field("sflow_245.numsamples", "NumSamples", behind + 96, 32, at);
  static constexpr std::array fields{version, family, agent, sub_agent, sequence, uptime, samples};
};
using SflowIpv4 = SflowDatagram<HeaderId::sflow, 4>;
using SflowIpv6 = SflowDatagram<HeaderId::sflow_ipv6, 16>;

/// What all samples begin with.
struct SflowSampleHead {
  static constexpr std::string_view name = {}, at = "sFlow Version 5";
  static constexpr Field enterprise = detail::decimal_field("sflow.enterprise", "Enterprise", 0, 20, at);
  static constexpr Field format =
      detail::decimal_field("sflow_245.sampletype", "sFlow sample type", 20, 12, at, sflow_sample_names);
  static constexpr Field length =
      detail::decimal_field("sflow_5.sample_length", "Sample length (byte)", 32, 32, at);
};
/// What all records of flow samples begin with.
struct SflowFlowRecordHead {
  static constexpr std::string_view name = {}, at = "sFlow Version 5";
  static constexpr Field enterprise = detail::decimal_field("sflow.enterprise", "Enterprise", 0, 20, at);
  static constexpr Field format =
      detail::decimal_field("sflow_245.flow_record_format", "Format", 20, 12, at, sflow_flow_record_names);
  static constexpr Field length =
      detail::decimal_field("sflow_5.flow_data_length", "Flow data length (byte)", 32, 32, at);
};
struct SflowFlowSample : SflowSampleHead {
  static constexpr HeaderId id = HeaderId::sflow_flow_sample;
  static constexpr std::string_view title = "Flow sample";
  static constexpr std::size_t size = 40;
  static constexpr Field sequence =
      detail::decimal_field("sflow.flow_sample.sequence_number", "Sequence number", 64, 32, at);
  static constexpr Field source_class =
      detail::decimal_field("sflow.flow_sample.source_id_class", "Source ID class", 96, 8, at);
  static constexpr Field source_index =
      detail::decimal_field("sflow.flow_sample.index", "Index", 104, 24, at);
  static constexpr Field rate =
      detail::decimal_field("sflow.flow_sample.sampling_rate", "Sampling rate", 128, 32, at);
  static constexpr Field pool =
      detail::decimal_field("sflow.flow_sample.sample_pool", "Sample pool", 160, 32, at);
  static constexpr Field drops =
      detail::decimal_field("sflow.flow_sample.dropped_packets", "Dropped packets", 192, 32, at);
  static constexpr Field input =
      detail::decimal_field("sflow.flow_sample.input_interface", "Input interface (ifIndex)", 224, 32, at);
  static constexpr Field output_format =
      detail::decimal_field("sflow.flow_sample.output_interface_format", "Output interface format", 256, 2,
                            at, sflow_port_format_names);
  static constexpr Field output = detail::decimal_field("sflow.flow_sample.output_interface_value",
                                                        "Output interface value", 258, 30, at);
  static constexpr Field records =
      detail::decimal_field("sflow.flow_sample.flow_record", "Flow record", 288, 32, at);
  static constexpr std::array fields{enterprise,    format, length, sequence, source_class,
                                     source_index,  rate,   pool,   drops,    input,
                                     output_format, output, records};
};

struct SflowFlowSampleExpanded : SflowSampleHead {
  static constexpr HeaderId id = HeaderId::sflow_flow_sample_expanded;
  static constexpr std::string_view title = "Expanded flow sample";
  static constexpr std::size_t size = 52;
  static constexpr Field sequence =
      detail::decimal_field("sflow.flow_sample.sequence_number", "Sequence number", 64, 32, at);
  static constexpr Field source_class =
      detail::decimal_field("sflow.flow_sample.source_id_type", "Source ID type", 96, 32, at);
  static constexpr Field source_index =
      detail::decimal_field("sflow.flow_sample.source_id_index", "Source ID index", 128, 32, at);
  static constexpr Field rate =
      detail::decimal_field("sflow.flow_sample.sampling_rate", "Sampling rate", 160, 32, at);
  static constexpr Field pool =
      detail::decimal_field("sflow.flow_sample.sample_pool", "Sample pool", 192, 32, at);
  static constexpr Field drops =
      detail::decimal_field("sflow.flow_sample.dropped_packets", "Dropped packets", 224, 32, at);
  static constexpr Field input_format =
      detail::decimal_field("sflow.flow_sample.input_interface_format", "Input interface format", 256, 32, at,
                            sflow_port_format_names);
  static constexpr Field input =
      detail::decimal_field("sflow.flow_sample.input_interface_value", "Input interface value", 288, 32, at);
  static constexpr Field output_format =
      detail::decimal_field("sflow.flow_sample.output_interface.format", "Output interface format", 320, 32,
                            at, sflow_port_format_names);
  static constexpr Field output = detail::decimal_field("sflow.flow_sample.output_interface_value",
                                                        "Output interface value", 352, 32, at);
  static constexpr Field records =
      detail::decimal_field("sflow.flow_sample.flow_record", "Flow record", 384, 32, at);
  static constexpr std::array fields{enterprise,   format,        length, sequence, source_class,
                                     source_index, rate,          pool,   drops,    input_format,
                                     input,        output_format, output, records};
};

struct SflowCountersSample : SflowSampleHead {
  static constexpr HeaderId id = HeaderId::sflow_counters_sample;
  static constexpr std::string_view title = "Counters sample";
  static constexpr std::size_t size = 20;
  static constexpr Field sequence =
      detail::decimal_field("sflow.counters_sample.sequence_number", "Sequence number", 64, 32, at);
  static constexpr Field source_class =
      detail::decimal_field("sflow.counters_sample.source_id_type", "Source ID type", 96, 8, at);
  static constexpr Field source_index =
      detail::decimal_field("sflow.counters_sample.source_id_index", "Source ID index", 104, 24, at);
  static constexpr Field records =
      detail::decimal_field("sflow.counters_sample.counters_records", "Counters records", 128, 32, at);
  static constexpr std::array fields{enterprise,   format,       length, sequence,
                                     source_class, source_index, records};
};

struct SflowCountersSampleExpanded : SflowSampleHead {
  static constexpr HeaderId id = HeaderId::sflow_counters_sample_expanded;
  static constexpr std::string_view title = "Expanded counters sample";
  static constexpr std::size_t size = 24;
  static constexpr Field sequence =
      detail::decimal_field("sflow.counters_sample.sequence_number", "Sequence number", 64, 32, at);
  static constexpr Field source_class =
      detail::decimal_field("sflow.counters_sample.source_id_type", "Source ID type", 96, 32, at);
  static constexpr Field source_index =
      detail::decimal_field("sflow.counters_sample.source_id_index", "Source ID index", 128, 32, at);
  static constexpr Field records =
      detail::decimal_field("sflow.counters_sample.counters_records", "Counters records", 160, 32, at);
  static constexpr std::array fields{enterprise,   format,       length, sequence,
                                     source_class, source_index, records};
};

struct SflowDiscardedSample : SflowSampleHead {
  static constexpr HeaderId id = HeaderId::sflow_discarded_sample;
  static constexpr std::string_view title = "Discarded packet",
                                    at = "sFlow Dropped Packet Notification Structures";
  static constexpr std::size_t size = 40;
  static constexpr Field sequence =
      detail::decimal_field("sflow.discarded_sample.sequence_number", "Sequence number", 64, 32, at);
  static constexpr Field source_class =
      detail::decimal_field("sflow.discarded_sample.source_id_type", "Source ID type", 96, 32, at);
  static constexpr Field source_index =
      detail::decimal_field("sflow.discarded_sample.source_id_index", "Source ID index", 128, 32, at);
  static constexpr Field drops = detail::decimal_field("sflow.discarded_sample.dropped_notifications",
                                                       "Notifications that were not sent", 160, 32, at);
  static constexpr Field input = detail::decimal_field("sflow.discarded_sample.input_interface",
                                                       "Input interface (ifIndex)", 192, 32, at);
  static constexpr Field output = detail::decimal_field("sflow.discarded_sample.output_interface",
                                                        "Output interface (ifIndex)", 224, 32, at);
  static constexpr Field reason =
      detail::decimal_field("sflow.discarded_sample.reason", "Reason", 256, 32, at, sflow_reason_names);
  static constexpr Field records =
      detail::decimal_field("sflow.discarded_sample.flow_record", "Flow record", 288, 32, at);
  static constexpr std::array fields{enterprise, format, length, sequence, source_class, source_index,
                                     drops,      input,  output, reason,   records};
};

struct SflowSample : SflowSampleHead {
  static constexpr HeaderId id = HeaderId::sflow_sample;
  static constexpr std::string_view title = "Sample of another format";
  static constexpr std::size_t size = 8;
  static constexpr Field data =
      detail::plain_field("sflow.enterprise.data", "Data", 64, 0, Display::bytes, at);
  static constexpr std::array fields{enterprise, format, length, data};
};

struct SflowRawHeader : SflowFlowRecordHead {
  static constexpr HeaderId id = HeaderId::sflow_raw_header;
  static constexpr std::string_view title = "Raw packet header";
  static constexpr std::size_t size = 24;
  static constexpr Field protocol =
      detail::decimal_field("sflow_245.header_protocol", "Header protocol", 64, 32, at, sflow_protocol_names);
  static constexpr Field frame_length =
      detail::decimal_field("sflow_245.header.frame_length", "Frame Length", 96, 32, at);
  static constexpr Field stripped =
      detail::decimal_field("sflow_245.header.payload_stripped", "Payload stripped", 128, 32, at);
  static constexpr Field header_length =
      detail::decimal_field("sflow_245.header.sampled_header_length", "Sampled header length", 160, 32, at);
  static constexpr Field header =
      detail::plain_field("sflow_245.header", "Header of sampled packet", 192, 0, Display::bytes, at);
  static constexpr std::array fields{enterprise,   format,   length,        protocol,
                                     frame_length, stripped, header_length, header};
};

struct SflowSwitch : SflowFlowRecordHead {
  static constexpr HeaderId id = HeaderId::sflow_switch;
  static constexpr std::string_view title = "Extended switch data";
  static constexpr std::size_t size = 24;
  static constexpr Field in_vlan =
      detail::decimal_field("sflow_245.vlan.in", "Incoming 802.1Q VLAN", 64, 32, at);
  static constexpr Field in_priority =
      detail::decimal_field("sflow_245.pri.in", "Incoming 802.1p priority", 96, 32, at);
  static constexpr Field out_vlan =
      detail::decimal_field("sflow_245.vlan.out", "Outgoing 802.1Q VLAN", 128, 32, at);
  static constexpr Field out_priority =
      detail::decimal_field("sflow_245.pri.out", "Outgoing 802.1p priority", 160, 32, at);
  static constexpr std::array fields{enterprise,  format,   length,      in_vlan,
                                     in_priority, out_vlan, out_priority};
};

struct SflowIbLrh : SflowFlowRecordHead {
  static constexpr HeaderId id = HeaderId::sflow_ib_lrh;
  static constexpr std::string_view title = "InfiniBand LRH", at = "draft_sflow_infiniband_2";
  static constexpr std::size_t size = 48;
  static constexpr Field src_vl =
      detail::decimal_field("sflow.ib_lrh.src_vl", "Source virtual lane", 64, 32, at);
  static constexpr Field src_sl =
      detail::decimal_field("sflow.ib_lrh.src_sl", "Source service level", 96, 32, at);
  static constexpr Field src_dlid =
      detail::decimal_field("sflow.ib_lrh.src_dlid", "Source DLID", 128, 32, at);
  static constexpr Field src_slid =
      detail::decimal_field("sflow.ib_lrh.src_slid", "Source SLID", 160, 32, at);
  static constexpr Field src_lnh =
      detail::decimal_field("sflow.ib_lrh.src_lnh", "Source link next header", 192, 32, at);
  static constexpr Field dst_vl =
      detail::decimal_field("sflow.ib_lrh.dst_vl", "Destination virtual lane", 224, 32, at);
  static constexpr Field dst_sl =
      detail::decimal_field("sflow.ib_lrh.dst_sl", "Destination service level", 256, 32, at);
  static constexpr Field dst_dlid =
      detail::decimal_field("sflow.ib_lrh.dst_dlid", "Destination DLID", 288, 32, at);
  static constexpr Field dst_slid =
      detail::decimal_field("sflow.ib_lrh.dst_slid", "Destination SLID", 320, 32, at);
  static constexpr Field dst_lnh =
      detail::decimal_field("sflow.ib_lrh.dst_lnh", "Destination link next header", 352, 32, at);
  static constexpr std::array fields{enterprise, format, length, src_vl,   src_sl,   src_dlid, src_slid,
                                     src_lnh,    dst_vl, dst_sl, dst_dlid, dst_slid, dst_lnh};
};

struct SflowIbGrh : SflowFlowRecordHead {
  static constexpr HeaderId id = HeaderId::sflow_ib_grh;
  static constexpr std::string_view title = "InfiniBand GRH", at = "draft_sflow_infiniband_2";
  static constexpr std::size_t size = 48;
  static constexpr Field flow_label =
      detail::decimal_field("sflow.ib_grh.flow_label", "Flow label", 64, 32, at);
  static constexpr Field traffic_class =
      detail::decimal_field("sflow.ib_grh.tc", "Traffic class", 96, 32, at);
  static constexpr Field sgid =
      detail::plain_field("sflow.ib_grh.sgid", "Source GID", 128, 128, Display::ipv6, at);
  static constexpr Field dgid =
      detail::plain_field("sflow.ib_grh.dgid", "Destination GID", 256, 128, Display::ipv6, at);
  static constexpr std::array fields{enterprise, format, length, flow_label, traffic_class, sgid, dgid};
};

struct SflowIbBth : SflowFlowRecordHead {
  static constexpr HeaderId id = HeaderId::sflow_ib_bth;
  static constexpr std::string_view title = "InfiniBand BTH", at = "draft_sflow_infiniband_2";
  static constexpr std::size_t size = 16;
  static constexpr Field p_key = detail::decimal_field("sflow.ib_bth.pkey", "Partition key", 64, 32, at);
  static constexpr Field destqp =
      detail::decimal_field("sflow.ib_bth.destqp", "Destination queue pair", 96, 32, at);
  static constexpr std::array fields{enterprise, format, length, p_key, destqp};
};

struct SflowEgressQueue : SflowFlowRecordHead {
  static constexpr HeaderId id = HeaderId::sflow_egress_queue;
  static constexpr std::string_view title = "Egress queue",
                                    at = "sFlow Dropped Packet Notification Structures";
  static constexpr std::size_t size = 12;
  static constexpr Field queue = detail::decimal_field("sflow.egress_queue", "Egress queue", 64, 32, at);
  static constexpr std::array fields{enterprise, format, length, queue};
};

struct SflowAcl : SflowFlowRecordHead {
  static constexpr HeaderId id = HeaderId::sflow_acl;
  static constexpr std::string_view title = "ACL", at = "sFlow Dropped Packet Notification Structures";
  static constexpr std::size_t size = 16;
  static constexpr Field number = detail::decimal_field("sflow.acl.number", "Number", 64, 32, at);
  static constexpr Field name_length =
      detail::decimal_field("sflow.acl.name_length", "Length of the name", 96, 32, at);
  static constexpr Field acl_name = detail::plain_field("sflow.acl.name", "Name", 128, 0, Display::text, at);
  static constexpr std::array fields{enterprise, format, length, number, name_length, acl_name};
};

struct SflowFunction : SflowFlowRecordHead {
  static constexpr HeaderId id = HeaderId::sflow_function;
  static constexpr std::string_view title = "Function", at = "sFlow Dropped Packet Notification Structures";
  static constexpr std::size_t size = 12;
  static constexpr Field text_length =
      detail::decimal_field("sflow.function.length", "Length of the name", 64, 32, at);
  static constexpr Field symbol = detail::plain_field("sflow.function", "Name", 96, 0, Display::text, at);
  static constexpr std::array fields{enterprise, format, length, text_length, symbol};
};

struct SflowTransitDelay : SflowFlowRecordHead {
  static constexpr HeaderId id = HeaderId::sflow_transit_delay;
  static constexpr std::string_view title = "Transit delay", at = "sFlow Transit";
  static constexpr std::size_t size = 12;
  static constexpr Field delay =
      detail::decimal_field("sflow.transit_delay", "Transit delay (ns)", 64, 32, at);
  static constexpr std::array fields{enterprise, format, length, delay};
};

struct SflowQueueDepth : SflowFlowRecordHead {
  static constexpr HeaderId id = HeaderId::sflow_queue_depth;
  static constexpr std::string_view title = "Queue depth", at = "sFlow Transit";
  static constexpr std::size_t size = 12;
  static constexpr Field depth =
      detail::decimal_field("sflow.queue_depth", "Queue depth (bytes)", 64, 32, at);
  static constexpr std::array fields{enterprise, format, length, depth};
};

struct SflowHardwareTrap : SflowFlowRecordHead {
  static constexpr HeaderId id = HeaderId::sflow_hardware_trap;
  static constexpr std::string_view title = "Hardware trap",
                                    at = "sFlow Dropped Packet Notification Structures";
  static constexpr std::size_t size = 12;
  static constexpr Field text_length =
      detail::decimal_field("sflow.hw_trap.group_length", "Length of the group", 64, 32, at);
  static constexpr Field group =
      detail::plain_field("sflow.hw_trap.group", "Group", 96, 0, Display::text, at);
  static constexpr std::array fields{enterprise, format, length, text_length, group};
};

struct SflowLinuxReason : SflowFlowRecordHead {
  static constexpr HeaderId id = HeaderId::sflow_linux_reason;
  static constexpr std::string_view title = "Linux drop reason",
                                    at = "sFlow Dropped Packet Notification Structures";
  static constexpr std::size_t size = 12;
  static constexpr Field text_length =
      detail::decimal_field("sflow.linux_reason.length", "Length of the reason", 64, 32, at);
  static constexpr Field reason =
      detail::plain_field("sflow.linux_reason", "Reason", 96, 0, Display::text, at);
  static constexpr std::array fields{enterprise, format, length, text_length, reason};
};

struct SflowTimestamp : SflowFlowRecordHead {
  static constexpr HeaderId id = HeaderId::sflow_timestamp;
  static constexpr std::string_view title = "Timestamp", at = "sFlow Transit";
  static constexpr std::size_t size = 16;
  static constexpr Field time = detail::decimal_field("sflow.timestamp", "Time (ns)", 64, 64, at);
  static constexpr std::array fields{enterprise, format, length, time};
};

struct SflowFlowRecord : SflowFlowRecordHead {
  static constexpr HeaderId id = HeaderId::sflow_flow_record;
  static constexpr std::string_view title = "Record of another format";
  static constexpr std::size_t size = 8;
  static constexpr Field data =
      detail::plain_field("sflow.enterprise.data", "Data", 64, 0, Display::bytes, at);
  static constexpr std::array fields{enterprise, format, length, data};
};

}  // namespace roce::dissect
