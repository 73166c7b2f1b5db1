// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyze/packet/packet_view.hpp"

// Internal to packet_line: what headers other than the transport's own say, in words.
namespace roce::analyze {

/// "REQ RC to TCP port 4420 (NVMe-oF)  QPN 0x000022  PSN 1234", "REJ consumer reject", ...
/// Nothing for packets without a CM message.
void append_cm_words(std::string& out, const PacketView& packet);
/// "  NVMe-oF Read", "  iSER ...", each after two spaces; nothing for other packets.
void append_upper_words(std::string& out, const PacketView& packet);
/// "PAUSE 65535 quanta", "PFC priority 3: 65535, 4: XON"; with the time they mean where the interface's speed
/// is known: "65535 quanta (335 µs)". Nothing for other packets.
void append_mac_control_words(std::string& out, const PacketView& packet);
/// "LLDP switch1 Eth1/3, DCBX"; nothing for other packets.
void append_lldp_words(std::string& out, const PacketView& packet);
/// What is not followed further: "TCP 43410 > 18515", "ARP", "ethertype 0x88b5".
void append_unknown_words(std::string& out, const PacketView& packet);
/// What the capture or the packet did to the dissection, each in brackets and after two spaces:
/// "  [cut by the capture in RETH]".
void append_dissection_notes(std::string& out, const PacketView& packet);
/// What the sequence analysis says of the packet, each in brackets and after two spaces:
/// "  [Retransmission of 123, nak]". Nothing for packets that are as they should be.
void append_analysis_marks(std::string& out, const PacketView& packet);

}  // namespace roce::analyze
