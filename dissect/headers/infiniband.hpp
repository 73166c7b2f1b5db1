// SPDX-License-Identifier: Apache-2.0
// The InfiniBand transport, IBTA Architecture Specification Volume 1 (Release 1.4 and later), chapters 7-9.
#pragma once

#include <array>

#include "dissect/header_id.hpp"

namespace roce::dissect {

inline constexpr std::uint8_t grh_next_header_iba = 0x1b;  ///< IBTA 8.3
inline constexpr std::uint8_t lnh_bth = 2;                 ///< LRH LNH: BTH follows (IBTA 7.7.5)
inline constexpr std::uint8_t lnh_grh = 3;                 ///< LRH LNH: GRH follows
inline constexpr std::uint32_t gsi_qpn = 1;                ///< general service interface (IBTA 3.9.2)
inline constexpr std::uint32_t smi_qpn = 0;

/// IBTA 7.7.
struct Lrh {
  static constexpr HeaderId id = HeaderId::lrh;
  static constexpr std::string_view name = "infiniband.lrh", title = "Local Route Header";
  static constexpr std::size_t size = 8;
  static constexpr Field vl{"infiniband.lrh.vl", "Virtual Lane", 0, 4, Display::hex, "IBTA 7.7.1", {}, 2};
  static constexpr Field lver{"infiniband.lrh.lver", "Link Version", 4, 4, Display::decimal, "IBTA 7.7.2"};
  static constexpr Field sl{"infiniband.lrh.sl", "Service Level", 8, 4, Display::decimal, "IBTA 7.7.3"};
  static constexpr Field reserved2{"infiniband.lrh.reserved2", "Reserved (2 bits)", 12, 2};
  static constexpr Field lnh{"infiniband.lrh.lnh", "Link Next Header", 14, 2,
                             Display::hex,         "IBTA 7.7.5",       {}, 2};
  static constexpr Field dlid{"infiniband.lrh.dlid", "Destination Local ID", 16, 16, Display::decimal,
                              "IBTA 7.7.6"};
  static constexpr Field reserved5{"infiniband.lrh.reserved5", "Reserved (5 bits)", 32, 5};
  static constexpr Field pktlen{
      "infiniband.lrh.pktlen", "Packet Length (4-byte words)", 37, 11, Display::decimal, "IBTA 7.7.8"};
  static constexpr Field slid{"infiniband.lrh.slid", "Source Local ID", 48, 16,
                              Display::decimal,      "IBTA 7.7.9"};
  static constexpr std::array fields{vl, lver, sl, reserved2, lnh, dlid, reserved5, pktlen, slid};
};

/// IBTA 8.3.
struct Grh {
  static constexpr HeaderId id = HeaderId::grh;
  static constexpr std::string_view name = "infiniband.grh", title = "Global Route Header";
  static constexpr std::size_t size = 40;
  static constexpr Field ipver{"infiniband.grh.ipver", "IP Version", 0, 4, Display::decimal, "IBTA 8.3.1"};
  static constexpr Field tclass{"infiniband.grh.tclass", "Traffic Class", 4, 8,
                                Display::decimal,        "IBTA 8.3.2"};
  static constexpr Field flowlabel{"infiniband.grh.flowlabel", "Flow Label", 12, 20,
                                   Display::decimal,           "IBTA 8.3.3"};
  static constexpr Field paylen{"infiniband.grh.paylen", "Payload Length", 32, 16,
                                Display::decimal,        "IBTA 8.3.4"};
  static constexpr Field nxthdr{"infiniband.grh.nxthdr", "Next Header", 48, 8,
                                Display::decimal,        "IBTA 8.3.5"};
  static constexpr Field hoplmt{"infiniband.grh.hoplmt", "Hop Limit", 56, 8, Display::decimal, "IBTA 8.3.6"};
  static constexpr Field sgid{"infiniband.grh.sgid", "Source GID", 64, 128, Display::ipv6, "IBTA 8.3.7"};
  static constexpr Field dgid{"infiniband.grh.dgid", "Destination GID", 192, 128,
                              Display::ipv6,         "IBTA 8.3.8"};
  static constexpr std::array fields{ipver, tclass, flowlabel, paylen, nxthdr, hoplmt, sgid, dgid};
};

/// IBTA 9.2; FECN and BECN: Annex A10 (congestion control), in RoCE A17.9.
struct Bth {
  static constexpr HeaderId id = HeaderId::bth;
  static constexpr std::string_view name = "infiniband.bth", title = "Base Transport Header";
  static constexpr std::size_t size = 12;
  static constexpr Field opcode{"infiniband.bth.opcode", "Opcode", 0, 8, Display::decimal, "IBTA 9.2.1"};
  static constexpr Field se{"infiniband.bth.se", "Solicited Event", 8, 1, Display::boolean, "IBTA 9.2.3"};
  static constexpr Field m{"infiniband.bth.m", "MigReq", 9, 1, Display::boolean, "IBTA 9.2.4"};
  static constexpr Field padcnt{"infiniband.bth.padcnt", "Pad Count", 10, 2, Display::decimal, "IBTA 9.2.5"};
  static constexpr Field tver{"infiniband.bth.tver", "Header Version", 12, 4, Display::decimal, "IBTA 9.2.2"};
  static constexpr Field p_key{"infiniband.bth.p_key", "Partition Key", 16, 16,
                               Display::decimal,       "IBTA 9.2.6"};
  static constexpr Field fecn{"infiniband.bth.fecn", "FECN", 32, 1, Display::boolean, "IBTA A10"};
  static constexpr Field becn{"infiniband.bth.becn", "BECN", 33, 1, Display::boolean, "IBTA A10"};
  static constexpr Field reserved6{"infiniband.bth.reserved6", "Reserved (6 bits)", 34, 6};
  static constexpr Field destqp{
      "infiniband.bth.destqp", "Destination Queue Pair", 40, 24, Display::hex, "IBTA 9.2.7"};
  static constexpr Field a{"infiniband.bth.a", "Acknowledge Request", 64, 1, Display::boolean, "IBTA 9.2.8"};
  static constexpr Field reserved7{"infiniband.bth.reserved7", "Reserved (7 bits)", 65, 7};
  static constexpr Field psn{"infiniband.bth.psn", "Packet Sequence Number", 72, 24, Display::decimal,
                             "IBTA 9.2.9"};
  /// Of MRC, in bits that IBTA reserves. Wireshark has no dissector of it.
  static constexpr bool is_mrc(const std::uint8_t* p) noexcept { return p[0] >> 5U == 6; }
  static constexpr Field rtx{
      "mrc.bth.rtx", "Retransmission (MRC)", 66, 1, Display::boolean, "MRC 1.0", {}, 0, 1, is_mrc};
  static constexpr Field ts{
      "mrc.bth.ts", "Timestamp follows (MRC)", 67, 1, Display::boolean, "MRC 1.0", {}, 0, 1, is_mrc};
  static constexpr std::array fields{opcode,    se,     m, padcnt,    tver, p_key, fecn, becn,
                                     reserved6, destqp, a, reserved7, rtx,  ts,    psn};
};

/// IBTA 9.3.1.
struct Rdeth {
  static constexpr HeaderId id = HeaderId::rdeth;
  static constexpr std::string_view name = "infiniband.rdeth",
                                    title = "Reliable Datagram Extended Transport Header";
  static constexpr std::size_t size = 4;
  static constexpr Field eecnxt{"infiniband.rdeth.eecnxt", "End-to-End Context", 8, 24,
                                Display::decimal,          "IBTA 9.3.1"};
  static constexpr std::array fields{eecnxt};
};

/// IBTA 9.3.2.
struct Deth {
  static constexpr HeaderId id = HeaderId::deth;
  static constexpr std::string_view name = "infiniband.deth", title = "Datagram Extended Transport Header";
  static constexpr std::size_t size = 8;
  static constexpr Field q_key{"infiniband.deth.q_key", "Queue Key", 0, 32, Display::hex,
                               "IBTA 9.3.2.1",          {},          16};
  static constexpr Field srcqp{
      "infiniband.deth.srcqp", "Source Queue Pair", 40, 24, Display::hex, "IBTA 9.3.2.2", {}, 8};
  static constexpr std::array fields{q_key, srcqp};
};

/// IBTA Annex A14.
struct Xrceth {
  static constexpr HeaderId id = HeaderId::xrceth;
  static constexpr std::string_view name = "infiniband.xrceth", title = "XRC Extended Transport Header";
  static constexpr std::size_t size = 4;
  static constexpr Field srqn{
      "infiniband.xrceth.srqn", "Shared Receive Queue", 8, 24, Display::hex, "IBTA A14"};
  static constexpr std::array fields{srqn};
};

inline constexpr ValueName placement_names[] = {
    {1, "global visibility"}, {2, "persistence"}, {3, "global visibility and persistence"}};
inline constexpr ValueName selectivity_names[] = {{0, "memory range"}, {1, "memory region"}};

/// IBTA Annex A19, memory placement extensions: FLUSH.
struct Feth {
  static constexpr HeaderId id = HeaderId::feth;
  static constexpr std::string_view name = "infiniband.feth", title = "Flush Extended Transport Header";
  static constexpr std::size_t size = 4;
  static constexpr Field selectivity{"infiniband.feth.selectivity",
                                     "Selectivity Level",
                                     26,
                                     2,
                                     Display::decimal,
                                     "IBTA A19",
                                     selectivity_names};
  static constexpr Field placement{
      "infiniband.feth.placement", "Placement Type", 28, 4, Display::decimal, "IBTA A19", placement_names};
  static constexpr std::array fields{selectivity, placement};
};

/// IBTA 9.3.3.
struct Reth {
  static constexpr HeaderId id = HeaderId::reth;
  static constexpr std::string_view name = "infiniband.reth", title = "RDMA Extended Transport Header";
  static constexpr std::size_t size = 16;
  static constexpr Field va{"infiniband.reth.va", "Virtual Address", 0, 64, Display::hex, "IBTA 9.3.3.1"};
  static constexpr Field r_key{"infiniband.reth.r_key", "Remote Key", 64, 32, Display::hex, "IBTA 9.3.3.2"};
  static constexpr Field dmalen{"infiniband.reth.dmalen", "DMA Length",  96, 32,
                                Display::decimal,         "IBTA 9.3.3.3"};
  static constexpr std::array fields{va, r_key, dmalen};
};

/// IBTA 9.3.4.
struct AtomicEth {
  static constexpr HeaderId id = HeaderId::atomiceth;
  static constexpr std::string_view name = "infiniband.atomiceth", title = "Atomic Extended Transport Header";
  static constexpr std::size_t size = 28;
  // Wireshark uses the field names of the RETH for the address and key of this header.
  static constexpr Field va{"infiniband.reth.va", "Virtual Address", 0, 64, Display::hex, "IBTA 9.3.4.1"};
  static constexpr Field r_key{"infiniband.reth.r_key", "Remote Key", 64, 32, Display::hex, "IBTA 9.3.4.2"};
  static constexpr Field swapdt{
      "infiniband.atomiceth.swapdt", "Swap (or Add) Data", 96, 64, Display::decimal, "IBTA 9.3.4.3"};
  static constexpr Field cmpdt{
      "infiniband.atomiceth.cmpdt", "Compare Data", 160, 64, Display::decimal, "IBTA 9.3.4.4"};
  static constexpr std::array fields{va, r_key, swapdt, cmpdt};
};

inline constexpr ValueName aeth_kind_names[] = {{0, "ACK"}, {1, "RNR NAK"}, {2, "reserved"}, {3, "NAK"}};
inline constexpr ValueName nak_code_names[] = {{0, "PSN sequence error"},
                                               {1, "invalid request"},
                                               {2, "remote access error"},
                                               {3, "remote operational error"},
                                               {4, "invalid RD request"}};

/// IBTA 9.3.5, table 45. The five low bits are credits, a timer or an error, depending on the two above them.
struct Aeth {
  static constexpr HeaderId id = HeaderId::aeth;
  static constexpr std::string_view name = "infiniband.aeth", title = "ACK Extended Transport Header";
  static constexpr std::size_t size = 4;
  template <unsigned Kind>
  static constexpr bool kind_is(const std::uint8_t* p) noexcept {
    return ((p[0] >> 5U) & 3U) == Kind;
  }
  static constexpr Field syndrome{"infiniband.aeth.syndrome", "Syndrome",    0, 8,
                                  Display::decimal,           "IBTA 9.3.5.1"};
  static constexpr Field reserved{"infiniband.aeth.syndrome.reserved", "Reserved", 0, 1};
  static constexpr Field kind{
      "infiniband.aeth.syndrome.opcode", "Kind", 1, 2, Display::decimal, "IBTA 9.3.5.1", aeth_kind_names};
  static constexpr Field credit_count{"infiniband.aeth.syndrome.credit_count",
                                      "Credit code",
                                      3,
                                      5,
                                      Display::decimal,
                                      "IBTA 9.7.7.2.4",
                                      {},
                                      0,
                                      1,
                                      kind_is<0>};
  static constexpr Field timer{"infiniband.aeth.syndrome.timer",
                               "RNR timer code",
                               3,
                               5,
                               Display::decimal,
                               "IBTA 9.7.5.2.8",
                               {},
                               0,
                               1,
                               kind_is<1>};
  static constexpr Field reserved_value{"infiniband.aeth.syndrome.reserved_value",
                                        "Reserved value",
                                        3,
                                        5,
                                        Display::decimal,
                                        {},
                                        {},
                                        0,
                                        1,
                                        kind_is<2>};
  static constexpr Field error_code{"infiniband.aeth.syndrome.error_code",
                                    "NAK code",
                                    3,
                                    5,
                                    Display::decimal,
                                    "IBTA 9.7.5.2",
                                    nak_code_names,
                                    0,
                                    1,
                                    kind_is<3>};
  static constexpr Field msn{"infiniband.aeth.msn", "Message Sequence Number", 8, 24, Display::decimal,
                             "IBTA 9.3.5.2"};
  static constexpr std::array fields{syndrome, reserved,       kind,       credit_count,
                                     timer,    reserved_value, error_code, msn};
};

/// IBTA 9.5.3.
struct AtomicAckEth {
  static constexpr HeaderId id = HeaderId::atomicacketh;
  static constexpr std::string_view name = "infiniband.atomicacketh",
                                    title = "Atomic ACK Extended Transport Header";
  static constexpr std::size_t size = 8;
  static constexpr Field origremdt{
      "infiniband.atomicacketh.origremdt", "Original Remote Data", 0, 64, Display::decimal, "IBTA 9.5.3"};
  static constexpr std::array fields{origremdt};
};

/// IBTA 9.3.6. Wireshark has no field below the header's own; its value is the header's bytes.
struct ImmDt {
  static constexpr HeaderId id = HeaderId::immdt;
  static constexpr std::string_view name = "infiniband.immdt", title = "Immediate Data";
  static constexpr std::size_t size = 4;
  static constexpr Field data{"infiniband.immdt.data", "Immediate Data", 0, 32, Display::hex, "IBTA 9.3.6"};
  static constexpr std::array fields{data};
};

/// IBTA 9.3.7.
struct Ieth {
  static constexpr HeaderId id = HeaderId::ieth;
  static constexpr std::string_view name = "infiniband.ieth", title = "Invalidate Extended Transport Header";
  static constexpr std::size_t size = 4;
  static constexpr Field r_key{"infiniband.ieth.r_key", "Remote Key", 0, 32, Display::hex, "IBTA 9.3.7"};
  static constexpr std::array fields{r_key};
};

/// Message data with its pad bytes; of a CNP its 16 reserved bytes.
struct Payload {
  static constexpr HeaderId id = HeaderId::payload;
  static constexpr std::string_view name = "infiniband.payload", title = "Payload";
  static constexpr std::size_t size = 0;
  static constexpr std::array<Field, 0> fields{};
};

/// IBTA 7.8.1; RoCE v2: A17.3.3. Stored least significant byte first.
struct Icrc {
  static constexpr HeaderId id = HeaderId::icrc;
  static constexpr std::string_view name = {}, title = "Invariant CRC";
  static constexpr std::size_t size = 4;
  static constexpr Field crc{"infiniband.invariant.crc", "Invariant CRC", 0, 32, Display::hex, "IBTA 7.8.1"};
  static constexpr std::array fields{crc};
};

/// IBTA 7.8.2.
struct Vcrc {
  static constexpr HeaderId id = HeaderId::vcrc;
  static constexpr std::string_view name = {}, title = "Variant CRC";
  static constexpr std::size_t size = 2;
  static constexpr Field crc{"infiniband.variant.crc", "Variant CRC", 0, 16, Display::hex, "IBTA 7.8.2"};
  static constexpr std::array fields{crc};
};

}  // namespace roce::dissect
