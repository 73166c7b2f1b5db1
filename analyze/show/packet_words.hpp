// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyze/packet/packet_view.hpp"

// Internal to packet_line: texts for headers other than those of the transport, and for notes.
namespace roce::analyze {

/// "REQ RC to TCP port 4420 (NVMe-oF)  QPN 0x000022  PSN 1234", "REJ consumer reject", ...
/// Appends nothing for packets without a CM message.
void append_cm_words(std::string& out, const PacketView& packet);
/// "  NVMe-oF Read", "  iSER ...", each after two spaces; appends nothing for other packets.
void append_upper_words(std::string& out, const PacketView& packet);
/// "PAUSE 65535 quanta", "PFC priority 3: 65535, 4: XON"; with the duration if the interface's speed is
/// known: "65535 quanta (335 µs)". Appends nothing for other packets.
void append_mac_control_words(std::string& out, const PacketView& packet);
/// "LLDP switch1 Eth1/3, DCBX"; appends nothing for other packets.
void append_lldp_words(std::string& out, const PacketView& packet);
/// "sFlow of 10.0.0.7, 3 sampled, 1 in 1024  RC RDMA WRITE Only QP ..."; appends nothing for other packets.
void append_export_words(std::string& out, const PacketView& packet);
/// The protocol at which the dissection ended: "TCP 43410 > 18515", "ARP", "ethertype 0x88b5".
void append_unknown_words(std::string& out, const PacketView& packet);
/// Notes of the dissection, each in brackets and after two spaces: "  [cut by the capture in RETH]".
void append_dissection_notes(std::string& out, const PacketView& packet);
/// Results of the sequence analysis, each in brackets and after two spaces: "  [Retransmission of 123, nak]".
/// Appends nothing for inconspicuous packets.
void append_analysis_marks(std::string& out, const PacketView& packet);

}  // namespace roce::analyze
