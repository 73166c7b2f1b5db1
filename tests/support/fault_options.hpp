// SPDX-License-Identifier: Apache-2.0
// What a simulated network looks like and which faults it has.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tests/support/fault_types.hpp"

namespace roce::support {

enum class PortChoice { formula, random, constant };      // UDP source port of a connection
enum class PsnChoice { random, zero, wrap };              // first PSNs; wrap: a little below 2^24
enum class IdChoice { counter, flow, random, constant };  // IPv4 identification; counter: of the host
enum class Mirror { same, interface, vlan, hop };         // how a capture comes to hold a packet twice
enum class Victims { all, requests, responses };          // what losses, duplicates and delays befall
// go_back_message: as go_back_n, but the message that lacks a packet is sent again from its first packet.
enum class Recovery { go_back_n, go_back_message, in_any_order, selective_repeat };
// The responder keeps what comes early; else it discards it.
constexpr bool keeps_early(Recovery recovery) {
  return recovery == Recovery::in_any_order || recovery == Recovery::selective_repeat;
}
enum class Captured { both, a_to_b, b_to_a };
enum class CnpPer { flow, address_pair, port };  // what a NIC limits the distance of its CNPs by

// What is wrong with the marks of a flow: all that one end of a connection sends.
enum class Mismark : std::uint8_t {
  none,
  dscp,      // 0 in place of 26
  ecn,       // Not-ECT
  pcp,       // 5
  untagged,  // no VLAN tag
  vlan,      // 200
  ttl,       // 63
  later,     // DSCP 0 from its 17th packet on
  repeats,   // DSCP 0 on what is sent again
  count_
};
// What is wrong with the CNPs for a flow.
enum class CnpFault : std::uint8_t { none, missing, without_ce, dscp, ce_marked, count_ };
// How a port pauses the other end of its link, again and again.
enum class PauseKind : std::uint8_t {
  none,
  resumed,
  refreshed,
  expiring,
  needless_xon,
  storm,
  mutual,
  count_
};

// Wrong marks, congestion and pauses (fault_marks.hpp). Off: untagged frames with DSCP 26 and ECT(0).
struct MarkOptions {
  bool on = false;
  double mismarked = 0;             // of a flow
  double congested = 0;             // of a flow: its data may get CE
  double ce = 0;                    // of a data packet of such a flow
  double cnp_faults = 0;            // of a flow: its CNPs are missing, come without CE, or are marked wrongly
  Mismark mismark = Mismark::none;  // what is wrong; none: drawn for each flow
  CnpFault cnp_fault = CnpFault::none;  // the same of CNPs
  CnpPer cnp_per = CnpPer::flow;
  Time cnp_delay = 4'000;  // from CE to CNP, at the capture
  Time cnp_spacing = 50'000;
  bool pauses = false;                     // hosts send PFC, each in its own way
  PauseKind pause_kind = PauseKind::none;  // none: by the host's number
  std::uint32_t pause_host = 0;            // only this one; 0: all
  Time pause_from = 0;                     // 0: soon
  Time pause_for = ~Time{0};
  bool pauses_hold = false;    // what goes to a pausing host waits before the capture
  double link_gigabits = 100;  // of their links
};

// What a switch before the capture makes of a packet for which its queue has no room (packet trimming).
enum class TrimVariant : std::uint8_t {
  a,         // cut, IP length and header checksum renewed
  b,         // cut, IP length as before, header checksum not renewed
  remarked,  // left whole, but marked: as packets are that are short already
};
struct TrimOptions {
  double percent = 0;  // of the packets with data that are longer than `size`; remarked: of all with data
  std::uint32_t size = 128;
  TrimVariant variant = TrimVariant::a;
  std::uint8_t dscp = 11;
};

// Probabilities 0..1. Before and after the capture, in the direction in which the packet travels.
struct FaultRates {
  double loss_before = 0;  // of a packet
  double loss_after = 0;
  double duplicate_before = 0;
  double duplicate_after = 0;
  double reorder_before = 0;  // a packet is delayed, others overtake it
  double reorder_after = 0;
  double flowlet_before = 0;  // of a packet: its flow changes to a path that is up to reorder_delay longer
  double flowlet_after = 0;
  double corrupt_before = 0;  // of a packet: a bit flips, so that its receiver discards it
  double corrupt_after = 0;
  double capture_drop = 0;       // passes by, is not captured
  double capture_duplicate = 0;  // captured twice
  double rnr = 0;                // of a SEND: no receive is posted when it arrives
  double slow = 0;               // of a message: the responder stalls beyond the ack timeout
  double access = 0;             // of a WRITE or READ: NAK remote access error, the connection ends
  double blackout = 0;           // of a connection: one of its four half links dies and stays dead
};

struct FaultOptions {
  std::uint64_t packets = 100'000;  // captured; then nothing new is posted and the rest drains
  std::uint32_t connections = 64;
  std::uint32_t hosts = 4;
  std::uint32_t path_mtu = 256;
  std::uint32_t max_message_packets = 6;         // messages have 1 .. that many
  std::uint32_t window = 64;                     // outstanding PSNs of a requester
  std::uint32_t max_reads = 8;                   // outstanding READs and atomics of a requester
  std::uint32_t ack_every = 3;                   // messages
  std::array<std::uint32_t, 4> mix{4, 3, 2, 1};  // weights of WRITE, SEND, READ, atomic
  double both_directions = 0.5;                  // of connections: B requests too
  std::uint32_t burst = 24;                      // messages posted at a time, on average
  Time idle = 20'000;                            // between bursts, on average
  Time stagger = 300'000;                        // connections start within

  std::uint32_t timeout = 8;  // 4.096 us << timeout; 1 .. 31
  std::uint32_t retry_count = 7;
  std::uint32_t rnr_retry = 7;  // 7: for ever
  std::uint32_t rnr_timer = 3;  // code 1 .. 31
  bool nak_after_rnr = true;    // as Soft-RoCE: the next packet of the burst is answered by a sequence NAK
  Recovery recovery = Recovery::go_back_n;
  std::uint32_t reorder_limit = 16;  // selective repeat: packets past a hole before it is NAKed
  bool nak_every = false;            // every early packet is answered by a NAK, not only the first of a hole
  bool timer_sends_oldest = false;   // receivers that keep what comes early: the timer repeats one packet
  bool timer_grows = false;          // doubles with each retry, up to 128 times
  bool drop_queued = false;          // a READ asked again: its responses still queued are never sent
  std::uint32_t loss_row = 1;        // packets of one direction that are lost in a row, on average
  std::uint32_t capture_row = 1;     // packets that the capture misses in a row, on average
  // Queue pair numbers are used again by that many connections in turn, one after the other; each lives for
  // `life`, and the next starts `reuse_after` its end.
  std::uint32_t generations = 1;
  Time life = 500'000;
  Time reuse_after = 1'000'000;

  Time latency_a = 1'500;       // between A and the capture
  Time latency_b = 1'500;       // between the capture and B
  Time packet_gap = 200;        // between packets of one sender
  Time turnaround = 600;        // from a request's arrival to its answer
  Time reaction = 800;          // from a NAK's arrival to the resend
  Time implied_guard = 10'000;  // after going back, no implied NAK for so long
  Time reorder_delay = 8'000;   // at most; at least a quarter
  Time mirror_delay = 300;

  PortChoice port = PortChoice::formula;
  PsnChoice first_psn = PsnChoice::random;
  IdChoice ip_id = IdChoice::counter;
  Mirror mirror = Mirror::same;
  Victims victims = Victims::all;
  Captured captured = Captured::both;
  bool ipv6 = false;
  bool split_interfaces = false;  // A to B on interface 0, B to A on 1
  bool connection_manager = false;
  Time skip = 0;  // the capture begins that late
  // What the capture writes is in the order of its stamps.
  Time stamp_jitter = 0;     // a stamp is late by up to that
  std::int64_t clock_b = 0;  // by how much the clock of packets to the lower host is ahead
  Time rx_batch = 0;         // packets to the lower host are stamped with its interrupts, one in that time
  std::uint32_t snap = 0;    // bytes captured of a frame; 0: all

  // What befalls packets befalls only those from that host, to that host; 0: any. What responders do (RNR
  // NAKs, refusals, stalls) they do to such requests only.
  std::uint32_t only_from = 0;
  std::uint32_t only_to = 0;
  std::uint32_t only_connection = 0;  // 1 ...; 0: all
  // Every so often the next of these is lost before the capture. 0: never.
  Time loss_period = 0;
  // From that time on, before or behind the capture, all such packets are lost, for so long.
  Time outage_before = ~Time{0};
  Time outage_after = ~Time{0};
  Time outage_length = ~Time{0};

  // Behind the capture, packets with more message bytes are lost: a link with a smaller MTU. 0: none.
  std::uint32_t max_payload = 0;

  std::uint64_t start_time = 1'700'000'000'000'000'000;  // ns since the epoch
  std::uint64_t seed = 1;
  FaultRates rates{};
  MarkOptions marks{};
  TrimOptions trim{};
};

// Sets what the named preset is about and leaves the rest. False if there is no such preset.
bool apply_preset(std::string_view name, FaultOptions& options);
std::vector<std::string_view> preset_names();

// Whether the chosen ways are those of packets from one host to another.
constexpr bool befalls(const FaultOptions& options, std::uint32_t from, std::uint32_t to) {
  return (options.only_from == 0 || options.only_from == from) &&
         (options.only_to == 0 || options.only_to == to);
}

// The file's order is not that in which the packets passed the capture.
constexpr bool changes_order(const FaultOptions& options) {
  return options.stamp_jitter > 0 || options.clock_b != 0 || options.rx_batch > 0;
}

// Empty, or why the options make no sense together.
std::string_view contradiction(const FaultOptions& options);

// Waits of an RNR NAK, IBTA table 46, in nanoseconds; code 0 .. 31.
Time rnr_wait(std::uint32_t code);

}  // namespace roce::support
