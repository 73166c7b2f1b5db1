// SPDX-License-Identifier: Apache-2.0
#include "dissect/field.hpp"
#include "dissect/sflow.hpp"

namespace roce::dissect::sflow {
namespace {

// "sFlow Dropped Packet Notification Structures" (2020) up to 303; above, the reference agent alone.
constexpr ValueName reasons[] = {{0, "network unreachable"},
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
                                 {reason_no_buffer, "no buffer (tail drop)"},
                                 {reason_red, "RED"},
                                 {261, "traffic shaping"},
                                 {reason_too_big, "packet too big"},
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

constexpr std::uint32_t first_parser_error = 307, last_parser_error = 322;
constexpr std::uint32_t first_of_linux = 325, last_of_linux = 371;

}  // namespace

std::string_view drop_reason_name(std::uint32_t reason) noexcept {
  if (reason >= first_parser_error && reason <= last_parser_error) return "parser error";
  if (reason >= first_of_linux && reason <= last_of_linux) return "reason of the Linux stack";
  return name_of(reasons, reason);
}

}  // namespace roce::dissect::sflow
