// SPDX-License-Identifier: Apache-2.0
// Names of values of sFlow version 5.
#pragma once

#include "dissect/field.hpp"

namespace roce::dissect {

inline constexpr ValueName sflow_address_names[] = {{1, "IPv4"}, {2, "IPv6"}};
inline constexpr ValueName sflow_sample_names[] = {{1, "Flow sample"},
                                                   {2, "Counters sample"},
                                                   {3, "Expanded flow sample"},
                                                   {4, "Expanded counters sample"},
                                                   {5, "Discarded packet"}};
inline constexpr ValueName sflow_flow_record_names[] = {{1, "Raw packet header"},
                                                        {1001, "Extended switch data"},
                                                        {1031, "InfiniBand LRH"},
                                                        {1032, "InfiniBand GRH"},
                                                        {1033, "InfiniBand BTH"},
                                                        {1036, "Egress queue"},
                                                        {1037, "ACL"},
                                                        {1038, "Function"},
                                                        {1039, "Transit delay"},
                                                        {1040, "Queue depth"},
                                                        {1041, "Hardware trap"},
                                                        {1042, "Linux drop reason"},
                                                        {1043, "Timestamp"}};
inline constexpr ValueName sflow_counters_record_names[] = {
    {1, "Generic interface counters"}, {2, "Ethernet interface counters"}, {11, "PFC counters"}};
inline constexpr ValueName sflow_protocol_names[] = {
    {1, "Ethernet"}, {11, "IPv4"}, {12, "IPv6"}, {18, "InfiniBand"}};
inline constexpr ValueName sflow_port_format_names[] = {
    {0, "ifIndex"}, {1, "packet dropped"}, {2, "multiple interfaces"}};
/// "sFlow Dropped Packet Notification Structures" (2020) up to 303; above, the reference agent alone, whose
/// reasons 307 to 322 (parser errors) and 325 to 371 (Linux) are not told apart here.
inline constexpr ValueName sflow_reason_names[] = {{0, "network unreachable"},
                                                   {1, "host unreachable"},
                                                   {2, "protocol unreachable"},
                                                   {3, "port unreachable"},
                                                   {4, "fragmentation needed"},
                                                   {5, "source route failed"},
                                                   {6, "destination network unknown"},
                                                   {7, "destination host unknown"},
                                                   {8, "source host isolated"},
                                                   {9, "network prohibited"},
                                                   {10, "host prohibited"},
                                                   {11, "network unreachable for the service"},
                                                   {12, "host unreachable for the service"},
                                                   {13, "communication prohibited"},
                                                   {14, "host precedence violation"},
                                                   {15, "precedence cutoff"},
                                                   {256, "unknown"},
                                                   {257, "TTL exceeded"},
                                                   {258, "ACL"},
                                                   {259, "no buffer (tail drop)"},
                                                   {260, "RED"},
                                                   {261, "traffic shaping"},
                                                   {262, "packet too big"},
                                                   {263, "source MAC is multicast"},
                                                   {264, "VLAN tag mismatch"},
                                                   {265, "ingress VLAN filter"},
                                                   {266, "ingress spanning tree filter"},
                                                   {267, "port list is empty"},
                                                   {268, "port loopback filter"},
                                                   {269, "blackhole route"},
                                                   {270, "not IP"},
                                                   {271, "unicast address over multicast MAC"},
                                                   {272, "destination is loopback"},
                                                   {273, "source is multicast"},
                                                   {274, "source is loopback"},
                                                   {275, "IP header corrupted"},
                                                   {276, "source is limited broadcast"},
                                                   {277, "IPv6 destination of reserved scope"},
                                                   {278, "IPv6 destination of interface-local scope"},
                                                   {279, "neighbour not resolved"},
                                                   {280, "multicast reverse path forwarding"},
                                                   {281, "not routable"},
                                                   {282, "decapsulation error"},
                                                   {283, "overlay source MAC is multicast"},
                                                   {284, "unknown layer 2"},
                                                   {285, "unknown layer 3"},
                                                   {286, "unknown layer 3 exception"},
                                                   {287, "unknown buffer"},
                                                   {288, "unknown tunnel"},
                                                   {289, "unknown layer 4"},
                                                   {290, "source is unspecified"},
                                                   {291, "MLAG port isolation"},
                                                   {292, "blackhole ARP"},
                                                   {293, "source MAC is destination MAC"},
                                                   {294, "destination MAC is reserved"},
                                                   {295, "source is class E"},
                                                   {296, "destination MAC mismatch"},
                                                   {297, "source is destination"},
                                                   {298, "destination is local network"},
                                                   {299, "destination is link-local"},
                                                   {300, "overlay source MAC is destination MAC"},
                                                   {301, "egress VLAN filter"},
                                                   {302, "unicast reverse path forwarding"},
                                                   {303, "split horizon"},
                                                   {304, "locked port"},
                                                   {305, "destination MAC filter"},
                                                   {306, "blackhole next hop"},
                                                   {323, "unknown parser error"},
                                                   {324, "packet too small"}};

}  // namespace roce::dissect
