// SPDX-License-Identifier: Apache-2.0
// Queue pair numbers that are used again while the two halves of the connection are not known to be one:
// each half by itself, and two that turn together, show where the other use begins.
#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "analyze/episode/thresholds.hpp"
#include "analyze/tracker/tracker_impl.hpp"
#include "analyze/transport/psn_fast_path.hpp"

namespace roce::analyze {

/// Whether that PSN was requested before by another message: what is sent again is what was sent before
/// (IBTA 9.7.5.1.1).
bool Tracker::Impl::sent_otherwise(const Unpaired& waiting, const PacketRecord& record) const {
  const auto before = std::find_if(waiting.held.rbegin(), waiting.held.rend(), [&](const Held& each) {
    return each.record.psn == record.psn && dissect::opcode_info(each.record.opcode).request &&
           !each.record.damaged() && !each.record.trimmed();
  });
  if (before == waiting.held.rend()) return false;
  const PacketRecord& then = before->record;
  const std::uint16_t carried = content_of(then), carries = content_of(record);
  return then.opcode != record.opcode || (carried != 0 && carries != 0 && carried != carries);
}

/// Whether the flow has shown that very transmission: a copy by another clock, where IPv4 IDs tell, or else
/// of a mirror, which does not show it so much later.
bool Tracker::Impl::shown_before(std::uint32_t place, const PacketRecord& record, const UseTurn& turn) const {
  const FlowState& state = states[place];
  const dissect::OpcodeInfo& info = dissect::opcode_info(record.opcode);
  const PacketRecord& first = state.unpaired->first;
  const bool ids =
      record.has(PacketRecord::has_ip_id) && (record.ip_id != first.ip_id || record.psn == first.psn);
  if (!ids && turn.time_ns - turn.silent_from_ns > episode::quiet_ns) return false;
  const auto same = [&](const Held& each) {
    return each.record.psn == record.psn && each.record.opcode == record.opcode &&
           each.record.aeth == record.aeth && each.record.ip_id == record.ip_id;
  };
  const std::vector<Held>& waiting = state.unpaired->held;
  if (std::any_of(waiting.begin(), waiting.end(), same)) return true;
  if (state.connection == no_place) return false;
  const auto& space = tracks[state.connection].spaces[info.response ? state.side ^ 1U : state.side];
  return space != nullptr && space->remembers(record, info.request);
}

/// The one flow of the opposite direction that turned when that one did, so that the one answers the other;
/// none, or several: no_place.
std::uint32_t Tracker::Impl::turned_with(std::uint32_t place, const UseTurn& turn) {
  const std::span<const std::uint32_t> others = unpaired.between(states[place].unpaired->first);
  search.looks -= static_cast<std::int64_t>(others.size());
  if (search.looks < 0) return no_place;
  std::uint32_t found = no_place;
  for (const std::uint32_t other : others) {
    const Unpaired* const waiting = states[other].unpaired.get();
    if (waiting == nullptr || !opposite(place, other)) continue;
    const std::optional<UseTurn>& theirs = waiting->use.turn(!turn.request);
    if (!theirs || !(turn.request ? turn.answered_by(*theirs) : theirs->answered_by(turn))) continue;
    if (found != no_place) return no_place;
    found = other;
  }
  return found;
}

/// Another use of the flow's queue pair number began there: what came since is of a flow of its own. False if
/// that is said of already.
bool Tracker::Impl::split_at(std::uint32_t place, const UseTurn& turn) {
  const FlowKey key = flows.at(place).key;
  const auto since = [&](std::vector<Held>& all) {
    return std::find_if(all.begin(), all.end(), [&](const Held& each) { return each.number >= turn.number; });
  };
  std::vector<Held> packets;
  const auto take = [&](std::vector<Held>& all) {
    const auto from = since(all);
    packets.assign(std::make_move_iterator(from), std::make_move_iterator(all.end()));
    all.erase(from, all.end());
  };
  if (states[place].connection == no_place) {
    std::vector<Held>& waiting = states[place].unpaired->held;
    if (since(waiting) == waiting.begin() && !waiting.empty()) return false;
    take(waiting);
    go_alone(place);
  } else if (Track& track = tracks[states[place].connection]; track.episode != nullptr) {
    if (track.views != nullptr) return false;
    take(track.episode->held);
    track.episode->use = Episode::none;
  }
  if (const std::uint32_t connection = states[place].connection; connection != no_place) {
    explain_episode(connection);
    leave_to_another(tracks[connection]);
  }
  if (flows.find(key) == place) retire_use(place);
  replay(packets);
  return true;
}

/// Of a flow without a partner: how it goes on with that packet.
std::optional<UseTurn> Tracker::Impl::note_use(std::uint32_t place, const PacketRecord& record,
                                               std::uint64_t number) {
  const FlowState& state = states[place];
  if (state.unpaired == nullptr || state.unpaired->icrc_awaited || record.point != state.point) return {};
  if (record.trimmed() || !believed(place, record)) return {};
  HalfUse& use = state.unpaired->use;
  std::optional<UseTurn> turn = use.take(record, dissect::opcode_info(record.opcode), number);
  // Once it is followed alone its requests take the short way, and are not all seen here.
  if (state.connection != no_place && use.has_requests()) return {};
  return turn;
}

/// Of a flow without a partner: whether another use of its queue pair number has begun. Then the packet was
/// dealt with.
bool Tracker::Impl::ends_use(std::uint32_t place, const PacketRecord& record, std::uint64_t number,
                             Verdict& verdict) {
  std::optional<UseTurn> turn = note_use(place, record, number);
  if (!turn || shown_before(place, record, *turn)) return false;
  const FlowState& state = states[place];
  turn->sure = turn->sure || (turn->request && sent_otherwise(*state.unpaired, record));
  const std::uint32_t other = turned_with(place, *turn);
  if (!turn->sure && other == no_place) return false;
  if (other != no_place) {
    const UseTurn theirs = *states[other].unpaired->use.turn(!turn->request);
    states[other].unpaired->use.forget_turns();
    split_at(other, theirs);
  }
  if (flows.find(record.key) == place && states[place].unpaired != nullptr && !split_at(place, *turn)) {
    states[place].unpaired->use.forget_turns();
    return false;
  }
  track_long(record, number, verdict);
  if (other != no_place) return true;
  if (const std::uint32_t now = flows.find(record.key); now != no_place && states[now].unpaired != nullptr)
    states[now].unpaired->use.began_with(*turn);
  return true;
}

}  // namespace roce::analyze
