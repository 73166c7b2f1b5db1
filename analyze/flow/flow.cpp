// SPDX-License-Identifier: Apache-2.0
#include "analyze/flow/flow.hpp"

#include <utility>

namespace roce::analyze {
namespace {

/// A message is counted at its last packet; acknowledgements, CNPs and what else MRC has beside data carry
/// none.
bool completes_message(const dissect::OpcodeInfo& info) noexcept {
  using dissect::Operation;
  return info.defined && info.ends_message() && info.operation != Operation::acknowledge &&
         info.operation != Operation::atomic_acknowledge && info.operation != Operation::cnp &&
         (info.service != dissect::Service::mrc || info.has_payload);
}

}  // namespace

void Flow::change_look(const PacketRecord& r, std::uint64_t number) {
  if (!any_look_) {
    first_psn = r.psn;
    source_mac = r.source_mac;
  }
  settle();
  // Of CNPs alone no path is known: they have ports of their own.
  if (any_look_ && service_known && !is_on_path(r)) {
    const FlowPath left = path();
    spread_to_change().paths.leave(left, counted());
  }
  any_look_ = true;
  if (const Beside now{r.source_mac, r.flow_label(), static_cast<std::uint16_t>(r.reserved)}; now != beside())
    spread_to_change().now = now;
  const PacketRecord::Look now = r.look();
  look_word_ = now.word;
  look_flags_ = now.flags;
  if (r.has(PacketRecord::tagged) && !vlan) vlan = r.vlan_id();
  // So that another opcode leads to change_opcode(), which records the first packet of its class.
  opcode_ = {r.opcode, r.opcode};
  classes_ = 0;
  note_class(r, number);
}

/// The new opcode becomes the second one.
void Flow::change_opcode(const PacketBrief& r, std::uint64_t number) {
  constexpr std::uint64_t often = 256;  // packets: a flow that is worth a tally
  if (packets >= often && rare().tally.service == Tally::none)
    rare_->tally.service = r.opcode & Tally::of_service;
  settle_opcodes();
  opcode_ = {opcode_[1], r.opcode};
  note_class(r, number);
}

void Flow::note_class(const PacketBrief& r, std::uint64_t number) {
  const TrafficClass of = traffic_class(r.opcode, key.dst_qp);
  const unsigned bit = 1U << static_cast<unsigned>(of);
  if ((classes_ & bit) != 0) return;
  classes_ = static_cast<std::uint8_t>(classes_ | bit);
  marks_.note(MarkCounts::key_of(look(), of), number, r.time_ns);
}

/// A packet that does not change the current look.
void Flow::count_apart(const PacketRecord& r, std::uint64_t number) {
  if (r.has(PacketRecord::tagged) && !vlan) vlan = r.vlan_id();
  add_look(r, 1);
  add_opcode(r.opcode, 1);
  const std::uint64_t row = MarkCounts::key_of(r.look(), traffic_class(r.opcode, key.dst_qp));
  marks_.note(row, number, r.time_ns);
  marks_.add(row, 1);
  count_sums(r);
  ++look_from_;
}

void Flow::learn_service(const PacketBrief& r) noexcept {
  const dissect::OpcodeInfo& info = dissect::opcode_info(r.opcode);
  if (info.operation == dissect::Operation::cnp) return;
  service = info.service;
  service_known = true;
}

void Flow::settle_look() {
  const std::uint32_t n = static_cast<std::uint32_t>(packets) - look_from_;
  look_from_ += n;
  if (n == 0) return;
  PacketRecord alike = PacketRecord::of_look(look());
  alike.reserved = beside().reserved;
  add_look(alike, n);
}

void Flow::add_look(const PacketRecord& r, std::uint32_t n) {
  if (r.has(PacketRecord::has_ip_id) && !r.has(PacketRecord::dont_fragment)) clear_df += n;
  if (r.has(PacketRecord::tagged)) pcp.add(r.pcp(), n);
  ecn[r.traffic_class & 3U] += n;
  dscp.add(static_cast<std::uint8_t>(r.traffic_class >> 2U), n);
  if (r.has(PacketRecord::has_ports)) udp_sports.add(r.udp_source, n);
  if (r.reserved != 0) spread_to_change().reserved.add(r.reserved, n);
}

PathShare Flow::counted() const noexcept {
  PathShare share;
  share.packets = packets;
  share.bytes = bytes;
  share.ce = ecn[static_cast<std::size_t>(dissect::Ecn::ce)];
  share.late = sequence().out_of_order;
  share.lost = sequence().lost;
  share.retransmitted = sequence().retransmitted_packets();
  return share;
}

void Flow::read_losses_as(LossReading reading) {
  if (!rare_) return;
  rare_->sequence.lost = read_losses(rare_->sequence.lost, reading);
  if (spread() != nullptr) spread_to_change().paths.read_losses_as(reading);
}

std::vector<PathShare> Flow::path_shares() const {
  if (spread() != nullptr) return spread()->paths.all(path(), counted());
  return PathShares().all(path(), counted());
}

void Flow::note_late(const PacketRecord& r) {
  ++sequence_to_change().out_of_order;
  if (r.reserved != 0) ++spread_to_change().reserved.late;
  if (is_on_path(r) && (spread() == nullptr || !spread()->paths.several())) return;
  spread_to_change().paths.note_late(
      {r.source_mac, r.flow_label(), r.udp_source, r.has(PacketRecord::has_ports)});
}

void Flow::settle_opcodes() {
  for (std::size_t i = 0; i < opcode_.size(); ++i) {
    const std::uint32_t n = std::exchange(opcode_packets_[i], 0);
    if (n == 0) continue;
    if (rare_ != nullptr && (opcode_[i] & Tally::of_service) == rare_->tally.service) {
      rare_->tally.packets[opcode_[i] % rare_->tally.packets.size()] += n;
    } else {
      add_opcodes(opcode_[i], n);
    }
  }
}

void Flow::settle_tally() {
  if (rare_ == nullptr) return;
  Tally& tally = rare_->tally;
  for (std::size_t i = 0; i < tally.packets.size(); ++i) {
    const std::uint32_t n = std::exchange(tally.packets[i], 0);
    if (n != 0) add_opcodes(static_cast<std::uint8_t>(tally.service | i), n);
  }
}

/// Packets with the current look.
void Flow::add_opcodes(std::uint8_t opcode, std::uint32_t n) {
  add_opcode(opcode, n);
  marks_.add(MarkCounts::key_of(look(), traffic_class(opcode, key.dst_qp)), n);
}

void Flow::add_opcode(std::uint8_t opcode, std::uint32_t n) {
  opcodes.add(opcode, n);
  if (completes_message(dissect::opcode_info(opcode))) messages += n;
}

void SequenceCounts::add(const SequenceCounts& other) noexcept {
  for (std::size_t i = 0; i < retransmitted.size(); ++i) retransmitted[i] += other.retransmitted[i];
  for (std::size_t i = 0; i < lost.size(); ++i) lost[i] += other.lost[i];
  using Count = std::uint64_t SequenceCounts::*;
  for (const Count count :
       {&SequenceCounts::retransmitted_bytes, &SequenceCounts::spurious, &SequenceCounts::out_of_order,
        &SequenceCounts::duplicate_captures, &SequenceCounts::duplicate_network,
        &SequenceCounts::wasted_packets, &SequenceCounts::wasted_bytes, &SequenceCounts::gaps,
        &SequenceCounts::left_out, &SequenceCounts::damaged, &SequenceCounts::trimmed}) {
    this->*count += other.*count;
  }
  if (first_trimmed == 0 || (other.first_trimmed != 0 && other.first_trimmed < first_trimmed))
    first_trimmed = other.first_trimmed;
}

void Departed::add(Flow& flow) {
  if (flow.packets == 0) return;
  flow.settle();
  ++flows;
  packets += flow.packets;
  bytes += flow.bytes;
  payload_bytes += flow.payload_bytes;
  messages += flow.messages;
  icrc_mismatches += flow.icrc_mismatches;
  for (std::size_t i = 0; i < ecn.size(); ++i) ecn[i] += flow.ecn[i];
  cnps += flow.opcodes.of(dissect::opcode_cnp);
  sequence.add(flow.sequence());
}

/// Places by key. The keys themselves are only in the flows.

}  // namespace roce::analyze
