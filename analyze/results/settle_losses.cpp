// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/settle_losses.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "analyze/packet/verdict_store.hpp"

namespace roce::analyze {
namespace {

/// Of connections whose losses can be judged.
LossReading reading_of(const Snapshot& snapshot) {
  const Completeness& completeness = snapshot.completeness;
  if (!completeness.bears(Need::packets | Need::headers)) return LossReading::not_judged;
  if (completeness.misses_packets() || !completeness.bears(Need::place)) return LossReading::open;
  // What was sent again along with others is behind one that was asked for, so where packets are lost some
  // are lost for certain.
  const auto lost = [](const Events& sent) { return sent.count(Event::lost_before_capture) != 0; };
  const bool any =
      std::any_of(snapshot.connections.begin(), snapshot.connections.end(),
                  [&](const Connection& c) { return std::any_of(c.sent.begin(), c.sent.end(), lost); });
  return any ? LossReading::lost : LossReading::open;
}

void read_events(Events& sent, LossReading reading) {
  const auto move = [&](Event from, Event as) {
    if (sent.find(from) != nullptr) sent = sent.counted_as(from, as);
  };
  if (reading == LossReading::lost) move(Event::lost_undecided, Event::lost_before_capture);
  if (reading == LossReading::not_judged) move(Event::lost_before_capture, Event::lost_undecided);
  if (reading == LossReading::not_judged) move(Event::lost_after_capture, Event::lost_undecided);
}

/// What is said of losses needs what the capture lacks.
void leave_unjudged(Incident& incident) noexcept {
  using enum IncidentKind;
  if (incident.what != loss && incident.what != loss_or_reordering && incident.what != timeout) return;
  incident.place = IncidentPlace::not_known;
  incident.place_by = 0;
  incident.lost_at_most = std::max(incident.lost_at_most, incident.lost_at_least());
  incident.lost_before = incident.lost_or_missed = incident.lost_after = incident.lost_row = 0;
  incident.what = unexplained;
  incident.leave_open(Undecided::capture_incomplete);
  constexpr float doubtful = 0.5F;
  incident.confidence = std::min(incident.confidence, doubtful);
}

/// Lost, behind one of the points.
void leave_place_open(Incident& incident) noexcept {
  if (incident.what != IncidentKind::loss || incident.lost_at_least() != 0) return;
  incident.place = IncidentPlace::not_known;
  incident.place_by = 0;
}

/// Those that may only not have been captured are no losses where the capture misses packets.
void leave_missed_open(Incident& incident) noexcept {
  if (incident.lost_or_missed == 0) return;
  incident.lost_at_most = std::max(incident.lost_at_most, incident.lost_at_least());
  incident.lost_before -= std::min(incident.lost_before, std::exchange(incident.lost_or_missed, 0));
  incident.leave_open(Undecided::capture_incomplete);
  if (incident.lost_before != 0) return;
  incident.lost_row = 0;
  incident.place = incident.lost_after != 0 ? IncidentPlace::after_capture : IncidentPlace::not_known;
  if (incident.lost_after == 0 && incident.what == IncidentKind::loss)
    incident.what = IncidentKind::unexplained;
}

}  // namespace

void settle_losses(Snapshot& s, VerdictStore* verdicts) {
  Completeness& completeness = s.completeness;
  const LossReading reading = reading_of(s);
  std::vector<std::uint32_t> not_judged;
  const auto of = [&](std::uint32_t connection) {
    const bool judged = !std::binary_search(not_judged.begin(), not_judged.end(), connection);
    return judged ? reading : LossReading::not_judged;
  };
  for (Connection& connection : s.connections) {
    if (!completeness.bears(needs::both_directions, connection)) not_judged.push_back(connection.id);
    for (Events& sent : connection.sent) read_events(sent, of(connection.id));
  }
  for (Flow& flow : s.flows) {
    if (!flow.connection || flow.sequence().lost == LossCounts{}) continue;
    const LossReading own = of(*flow.connection);
    flow.read_losses_as(own);
    if (own == LossReading::open && completeness.bears(Need::place))
      completeness.undecided += flow.sequence().lost[static_cast<std::size_t>(Lost::undecided)];
  }
  s.departed.sequence.lost = read_losses(s.departed.sequence.lost, reading);
  for (Incident& incident : s.incidents) {
    const LossReading own = of(incident.connection);
    if (own == LossReading::open) leave_missed_open(incident);
    if (own == LossReading::not_judged) leave_unjudged(incident);
    if (!completeness.bears(Need::place)) leave_place_open(incident);
  }
  if (reading == LossReading::not_judged) s.series.leave_losses_undecided();
  if (reading == LossReading::lost) s.series.count_undecided_as_lost();
  if (verdicts != nullptr) verdicts->read_losses_as(reading, std::move(not_judged));
}

}  // namespace roce::analyze
