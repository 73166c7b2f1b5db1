// SPDX-License-Identifier: Apache-2.0
// UDP datagrams to port 4791 that are no RoCE. A receiver of RoCE discards a packet whose TVer is not 0 (IBTA
// 9.2.2), so no sender sends any; but one flipped bit makes it so. Which it is, its flow shows: packets of
// RoCE come with others of the same key, bytes of something else name a queue pair that nobody else names.
#include "analyze/tracker/tracker_impl.hpp"

namespace roce::analyze {

/// Whether another packet of the flow was followed.
bool Tracker::Impl::is_known(const PacketRecord& record) const {
  const std::uint32_t place = flows.find(record);
  if (place == no_place || place >= states.size()) return false;
  const FlowState& state = states[place];
  return flows.at(place).packets != 0 || state.connection != no_place || state.unpaired != nullptr ||
         state.plain_flow != nullptr;
}

bool Tracker::Impl::is_doubted(const PacketRecord& record) const {
  return record.has(PacketRecord::other_version) &&
         record.icrc != static_cast<std::uint8_t>(dissect::CrcStatus::match) && !is_known(record);
}

/// It is not followed, and makes no flow. If one appears later it was a damaged packet of that.
void Tracker::Impl::doubt(const PacketRecord& record, std::uint64_t number) {
  frames = number;
  if (doubted.size() < doubted_at_most) {
    doubted.push_back({record, number});
  } else {
    take_as_strange(record, number);
  }
}

void Tracker::Impl::take_as_strange(const PacketRecord& record, std::uint64_t number) {
  if (!record.has(PacketRecord::selected)) return;
  strange.count_record(number, record);
  if (strange_pairs.size() < strange_pairs_at_most) strange_pairs.insert({record.key.src, record.key.dst});
}

/// Bytes of something else look like a RoCE packet now and then, with a wrong ICRC.
bool Tracker::Impl::among_strange(const FlowKey& key) const {
  return strange_pairs.contains({key.src, key.dst});
}

void Tracker::Impl::settle_doubted() {
  for (const Held& packet : doubted) {
    const PacketRecord& record = packet.record;
    if (!is_known(record)) {
      take_as_strange(record, packet.number);
      continue;
    }
    if (!record.has(PacketRecord::selected)) continue;
    const std::uint32_t place = flows.find(record);
    FlowState& state = states[place];
    Flow& flow = flows.at(place);
    if (flow.packets == 0 || packet.number < state.first_frame) state.first_frame = packet.number;
    flow.count_damaged(record);
    count_in_series(record);
    if (state.connection == no_place) continue;
    Connection& connection = tracks[state.connection].result;
    if (record.icrc_wrong())
      connection.sent[state.side].add(Event::icrc_mismatch, packet.number, record.time_ns);
    Verdict verdict;
    verdict.connection = connection.id;
    if (state.side == 1) verdict.set(Verdict::b_to_a);
    publish(packet.number, verdict);
  }
  doubted.clear();
}

}  // namespace roce::analyze
