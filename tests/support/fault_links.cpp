// SPDX-License-Identifier: Apache-2.0
// What becomes of a packet on the two halves of its way: losses, damage, delays, trimming, copies.
#include <algorithm>

#include "tests/support/fault_simulator.hpp"

namespace roce::support {

bool Simulator::is_victim(const Packet& packet) const {
  const Endpoints& ends = connections_[packet.space / 2].endpoints;
  const auto sender = static_cast<unsigned>(sender_of(packet));
  const bool kind =
      options.victims == Victims::all || (options.victims == Victims::responses) == is_response(packet.kind);
  const bool there = options.only_connection == 0 || options.only_connection == packet.space / 2 + 1;
  return kind && there && befalls(options, ends.host[sender], ends.host[1 - sender]);
}

// Losses come in rows where a queue is full.
bool Simulator::is_lost(const Packet& packet, bool behind_capture) {
  const Time outage = behind_capture ? options.outage_after : options.outage_before;
  if (now >= outage && now - outage < options.outage_length) {
    return true;
  }
  if (behind_capture && options.max_payload != 0 && packet.payload > options.max_payload) {
    return true;
  }
  if (options.loss_period != 0 && !behind_capture && now >= next_loss_) {
    next_loss_ = now - now % options.loss_period + options.loss_period;
    return true;
  }
  const double rate = behind_capture ? options.rates.loss_after : options.rates.loss_before;
  std::uint32_t& row =
      loss_row_[static_cast<unsigned>(sender_of(packet)) + (behind_capture ? std::size_t{2} : 0)];
  if (row > 0) {
    --row;
    return true;
  }
  if (!random.chance(rate)) {
    return false;
  }
  if (options.loss_row > 1) {
    row = static_cast<std::uint32_t>(random.around(options.loss_row)) - 1;
  }
  return true;
}

bool Simulator::is_dead(const Packet& packet, bool behind_capture) const {
  const Connection& connection = connections_[packet.space / 2];
  const unsigned half_link = static_cast<unsigned>(sender_of(packet)) | (behind_capture ? 2U : 0U);
  return now >= connection.dead_from && connection.dead_half_link == half_link;
}

void Simulator::lose(const Packet& packet, bool behind_capture) {
  ++(behind_capture ? totals_.lost_after : totals_.lost_before);
  Space& space = spaces_[packet.space];
  Packet lost = packet;
  lost.sure_to_be_taken = is_response(packet.kind) && space.requester.is_sure_to_take(*this, packet.psn);
  space.truth.lost(lost, behind_capture ? LostWhere::after_capture : LostWhere::before_capture, sink_);
}

// What goes to a host that pauses its link waits in the switch, in order.
Time Simulator::held_until(const Packet& packet, Time arrival) {
  const Endpoints& ends = connections_[packet.space / 2].endpoints;
  const std::uint32_t receiver = ends.host[1 - static_cast<unsigned>(sender_of(packet))];
  for (PausingPort& port : pausing_) {
    if (port.host == receiver) {
      return port.release(arrival);
    }
  }
  return arrival;
}

// Whether a switch before the capture has no room for it, and trims it or, if that makes it no shorter, marks
// it as if.
bool Simulator::trims(Packet& packet) {
  const TrimOptions& how = options.trim;
  constexpr std::uint32_t least_headers = 54;
  const bool longer = packet.payload != 0 && packet.payload + least_headers > how.size;
  const bool chosen = how.variant == TrimVariant::remarked ? packet.payload != 0 : longer;
  if (how.percent <= 0 || !chosen || !is_victim(packet) || !random.chance(how.percent / 100)) {
    return false;
  }
  packet.trimmed = how.variant != TrimVariant::remarked;
  packet.remarked = !packet.trimmed;
  return true;
}

// From the sender to the capture or from there to the receiver.
void Simulator::half_link(const Packet& packet, bool behind_capture) {
  const FaultRates& rates = options.rates;
  const bool victim = is_victim(packet);
  const bool twin = behind_capture ? false : packet.twin != 0;
  if (is_dead(packet, behind_capture) || (victim && is_lost(packet, behind_capture))) {
    lose(packet, behind_capture);
    return;
  }
  Packet first = packet;
  if (victim && random.chance(behind_capture ? rates.corrupt_after : rates.corrupt_before)) {
    first.damage = 1 + static_cast<std::uint32_t>(random.below(1U << 30));
    if (behind_capture) {  // what its receiver discards is lost
      lose(first, true);
      return;
    }
  }
  const bool at_a = (sender_of(packet) == End::a) != behind_capture;
  const Time latency = at_a ? options.latency_a : options.latency_b;
  Time& path = spaces_[packet.space].path_delay[is_response(packet.kind) ? 1 : 0][behind_capture ? 1 : 0];
  if (victim && random.chance(behind_capture ? rates.flowlet_after : rates.flowlet_before)) {
    path = random.below(options.reorder_delay + 1);
  }
  Time arrival = now + latency + path;
  if (victim && random.chance(behind_capture ? rates.reorder_after : rates.reorder_before)) {
    arrival += options.reorder_delay / 4 + random.below(options.reorder_delay * 3 / 4 + 1);
  }
  if (!behind_capture) {
    arrival = held_until(packet, arrival);
  }
  if (!behind_capture && trims(first)) {
    // In a short queue of their own they overtake what was sent before them, but not each other.
    Time& until = spaces_[packet.space].trimmed_until[is_response(packet.kind) ? 1 : 0];
    constexpr Time packets_overtaken = 16;
    const Time ahead = random.below(std::min(latency / 2, packets_overtaken * options.packet_gap) + 1);
    until = std::max(until + 1, now + latency - ahead);
    schedule(until, Happening::at_capture, keep(first));
    return;
  }
  const Happening happening = behind_capture ? Happening::at_receiver : Happening::at_capture;
  const auto pass = [&](Time time) {
    if (behind_capture)
      sink_.passed_end(other(sender_of(packet)), packet, connections_[packet.space / 2].endpoints, time);
    schedule(time, happening, keep(first));
  };
  if (victim && !twin && random.chance(behind_capture ? rates.duplicate_after : rates.duplicate_before)) {
    ++(behind_capture ? totals_.doubled_after : totals_.doubled_before);
    if (!behind_capture) {
      first.twin = ++last_twin_;
      twins_.emplace(first.twin, Twins{});
    }
    pass(arrival + random.below(2 * options.latency_a + 1));
  }
  pass(arrival);
}

}  // namespace roce::support
