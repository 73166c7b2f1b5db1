// SPDX-License-Identifier: Apache-2.0
// MRC (Multipath Reliable Connection, OCP, revision 1.0 of 2026-03-21): the headers behind the BTH. Written
// from independent readers of the specification; no packet of hardware was seen. Where only one of them has a
// field, or they disagree, the label says so, and nothing is judged by it.
#pragma once

#include <array>

#include "dissect/header_id.hpp"
#include "dissect/headers/field_kinds.hpp"

namespace roce::dissect {

inline constexpr std::string_view mrc_spec = "MRC 1.0";

inline constexpr ValueName mrc_nack_reason_names[] = {
    {0x01, "trimmed"},         {0x02, "trimmed at the last hop"},
    {0x06, "no bitmap"},       {0x07, "no packet buffer"},
    {0x0a, "no resource"},     {0x0b, "PSN outside the window"},
    {0x19, "unexpected event"}};
inline constexpr ValueName mrc_path_hint_names[] = {{0, "none"}, {1, "skip once"}, {2, "always skip"}};
inline constexpr ValueName mrc_endpoint_names[] = {{0, "Port Status Update"}, {1, "EV Probe"}};
inline constexpr ValueName mrc_unit_names[] = {{0, "128 ns"}, {1, "implementation defined"}};

/// Message numbers, both the same in every packet of a message.
struct MrcMeth {
  static constexpr HeaderId id = HeaderId::mrc_meth;
  static constexpr std::string_view name = "mrc.meth", title = "MRC Message Extended Transport Header";
  static constexpr std::size_t size = 4;
  static constexpr Field rqmsn = detail::decimal_field(
      "mrc.meth.rqmsn", "Receive Queue Message Number (of writes with immediate)", 0, 16, mrc_spec);
  static constexpr Field msn =
      detail::decimal_field("mrc.meth.msn", "Message Sequence Number", 16, 16, mrc_spec);
  static constexpr std::array fields{rqmsn, msn};
};

/// Only if BTH.TS is set.
struct MrcTseth {
  static constexpr HeaderId id = HeaderId::mrc_tseth;
  static constexpr std::string_view name = "mrc.tseth", title = "MRC Timestamp Extended Transport Header";
  static constexpr std::size_t size = 4;
  static constexpr Field tx_timestamp =
      detail::decimal_field("mrc.tseth.tx_timestamp", "Transmit timestamp", 0, 16, mrc_spec);
  static constexpr Field tsr =
      detail::decimal_field("mrc.tseth.tsr", "Unit", 16, 1, mrc_spec, mrc_unit_names);
  static constexpr Field ftype = detail::decimal_field("mrc.tseth.ftype", "Type", 28, 4, mrc_spec);
  static constexpr std::array fields{tx_timestamp, tsr, ftype};
};

/// What is reported of, and the two numbers of the connection.
struct MrcReported {
  static constexpr Field type = detail::decimal_field("mrc.type", "Type", 0, 4, mrc_spec);
  static constexpr Field nxt = detail::decimal_field("mrc.nxt", "Next", 4, 5, mrc_spec);
  static constexpr Field vendor = detail::decimal_field("mrc.vendor", "Vendor", 24, 8, mrc_spec);
  static constexpr Field ev = detail::hex_field(
      "mrc.ev", "Entropy value (which half is the UDP port: disputed)", 32, 32, 32, mrc_spec);
  static constexpr Field spdcid =
      detail::decimal_field("mrc.spdcid", "Source connection ID", 64, 16, mrc_spec);
  static constexpr Field dpdcid =
      detail::decimal_field("mrc.dpdcid", "Destination connection ID", 80, 16, mrc_spec);
};

/// SETH of 28 bytes and CC_STATE of 8.
struct MrcSeth : MrcReported {
  static constexpr HeaderId id = HeaderId::mrc_seth;
  static constexpr std::string_view name = "mrc.seth", title = "MRC SACK Extended Transport Header";
  static constexpr std::size_t size = 36;
  static constexpr bool of_probe(const std::uint8_t* p) noexcept { return (p[1] & 2U) != 0; }
  static constexpr bool of_packet(const std::uint8_t* p) noexcept { return !of_probe(p); }
  static constexpr bool has_state(const std::uint8_t* p) noexcept { return p[16] >> 4U == 0; }
  static constexpr bool has_other_state(const std::uint8_t* p) noexcept { return !has_state(p); }
  static constexpr Field m =
      detail::decimal_field("mrc.seth.m", "Path hint (M)", 9, 2, mrc_spec, mrc_path_hint_names);
  static constexpr Field pr = detail::flag_field("mrc.seth.pr", "Answers a probe", 14, mrc_spec);
  static constexpr Field ack_psn_offset =
      detail::plain_field("mrc.seth.ack_psn_offset", "Offset of the acknowledged PSN (signed)", 16, 16,
                          Display::hex, mrc_spec, {}, of_packet);
  static constexpr Field probe_id =
      detail::plain_field("mrc.seth.probe_id", "Probe ID", 16, 16, Display::decimal, mrc_spec, {}, of_probe);
  static constexpr Field cack_psn =
      detail::decimal_field("mrc.seth.cack_psn", "Cumulatively acknowledged PSN", 104, 24, mrc_spec);
  static constexpr Field cc_type =
      detail::decimal_field("mrc.seth.cc_type", "Congestion state type", 128, 4, mrc_spec);
  static constexpr Field cc_fl =
      detail::decimal_field("mrc.seth.cc_fl", "Congestion state flags", 132, 4, mrc_spec);
  static constexpr Field mpr =
      detail::decimal_field("mrc.seth.mpr", "Granted window (128 packets; 0: not used)", 136, 8, mrc_spec);
  static constexpr Field sack_offset = detail::plain_field(
      "mrc.seth.sack_offset", "Offset of the bitmap (signed)", 144, 16, Display::hex, mrc_spec);
  static constexpr Field bitmap = detail::hex_field("mrc.seth.sack_bitmap", "Bitmap", 160, 64, 64, mrc_spec);
  static constexpr Field tx_timestamp =
      detail::decimal_field("mrc.cc.tx_timestamp", "Reflected timestamp", 224, 16, mrc_spec, {}, has_state);
  static constexpr Field ooo_count = detail::decimal_field(
      "mrc.cc.ooo_count", "Packets received out of order", 241, 15, mrc_spec, {}, has_state);
  static constexpr Field restore_cwnd = detail::plain_field("mrc.cc.restore_cwnd", "Restore the window", 256,
                                                            1, Display::boolean, mrc_spec, {}, has_state);
  static constexpr Field penalty = detail::decimal_field("mrc.cc.rcv_cwnd_pen", "Penalty of the receiver",
                                                         257, 7, mrc_spec, {}, has_state);
  static constexpr Field rcvd_bytes =
      detail::decimal_field("mrc.cc.rcvd_bytes", "Received (256 bytes)", 264, 24, mrc_spec, {}, has_state);
  static constexpr Field other_state =
      detail::plain_field("mrc.cc.raw", "Congestion state of another type", 224, 64, Display::bytes, mrc_spec,
                          {}, has_other_state);
  static constexpr std::array fields{
      type,   nxt,          m,         pr,           ack_psn_offset, probe_id,   ev,
      spdcid, dpdcid,       cack_psn,  cc_type,      cc_fl,          mpr,        sack_offset,
      bitmap, tx_timestamp, ooo_count, restore_cwnd, penalty,        rcvd_bytes, other_state};
};

struct MrcNeth : MrcReported {
  static constexpr HeaderId id = HeaderId::mrc_neth;
  static constexpr std::string_view name = "mrc.neth", title = "MRC NACK Extended Transport Header";
  static constexpr std::size_t size = 20;
  static constexpr Field reason =
      detail::decimal_field("mrc.neth.reason", "Reason", 16, 8, mrc_spec, mrc_nack_reason_names);
  static constexpr Field nack_psn =
      detail::decimal_field("mrc.neth.nack_psn", "Refused PSN", 104, 24, mrc_spec);
  static constexpr Field cc_type =
      detail::decimal_field("mrc.neth.cc_type", "Congestion state type (disputed: 2 or 0)", 128, 4, mrc_spec);
  static constexpr Field cc_fl =
      detail::decimal_field("mrc.neth.cc_fl", "Congestion state flags", 132, 4, mrc_spec);
  static constexpr Field tx_timestamp =
      detail::decimal_field("mrc.neth.tx_timestamp", "Reflected timestamp", 144, 16, mrc_spec);
  static constexpr std::array fields{type,   nxt,      reason,  vendor, ev,          spdcid,
                                     dpdcid, nack_psn, cc_type, cc_fl,  tx_timestamp};
};

/// A probe has no PSN of its own; a SACK answers it.
struct MrcPeth : MrcReported {
  static constexpr HeaderId id = HeaderId::mrc_peth;
  static constexpr std::string_view name = "mrc.peth", title = "MRC Probe Extended Transport Header";
  static constexpr std::size_t size = 16;
  static constexpr Field probe_id = detail::decimal_field("mrc.peth.probe_id", "Probe ID", 32, 16, mrc_spec);
  static constexpr Field tx_timestamp =
      detail::decimal_field("mrc.peth.tx_timestamp", "Transmit timestamp", 96, 16, mrc_spec);
  static constexpr Field tsr =
      detail::decimal_field("mrc.peth.tsr", "Unit", 112, 1, mrc_spec, mrc_unit_names);
  static constexpr Field ftype = detail::decimal_field("mrc.peth.ftype", "Type", 124, 4, mrc_spec);
  static constexpr std::array fields{type, nxt, vendor, probe_id, spdcid, dpdcid, tx_timestamp, tsr, ftype};
};

/// Between endpoints, without a connection; the ID of the request is in the low 16 bits of the BTH's PSN.
struct MrcErth : MrcReported {
  static constexpr HeaderId id = HeaderId::mrc_erth;
  static constexpr std::string_view name = "mrc.erth",
                                    title = "MRC Endpoint Request Extended Transport Header";
  static constexpr std::size_t size = 16;
  static constexpr Field op =
      detail::decimal_field("mrc.erth.op", "Operation", 14, 2, mrc_spec, mrc_endpoint_names);
  static constexpr Field mask =
      detail::hex_field("mrc.erth.port_status_mask", "Port status mask", 32, 32, 32, mrc_spec);
  static constexpr Field tx_timestamp =
      detail::decimal_field("mrc.erth.tx_timestamp", "Transmit timestamp", 96, 16, mrc_spec);
  static constexpr Field tsr =
      detail::decimal_field("mrc.erth.tsr", "Unit", 112, 1, mrc_spec, mrc_unit_names);
  static constexpr Field ftype = detail::decimal_field("mrc.erth.ftype", "Type", 124, 4, mrc_spec);
  static constexpr std::array fields{type, nxt, op, vendor, mask, tx_timestamp, tsr, ftype};
};

struct MrcEeth : MrcReported {
  static constexpr HeaderId id = HeaderId::mrc_eeth;
  static constexpr std::string_view name = "mrc.eeth",
                                    title = "MRC Endpoint Response Extended Transport Header";
  static constexpr std::size_t size = 36;
  static constexpr Field op = detail::decimal_field("mrc.eeth.op", "Operation (disputed: bits 3-2 or 5-4)",
                                                    12, 2, mrc_spec, mrc_endpoint_names);
  static constexpr Field tx_timestamp =
      detail::decimal_field("mrc.eeth.tx_timestamp", "Reflected timestamp", 224, 16, mrc_spec);
  static constexpr std::array fields{type, nxt, op, tx_timestamp};
};

}  // namespace roce::dissect
