// SPDX-License-Identifier: Apache-2.0
#include "analyze/pipeline/link_follower.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "analyze/link/link_view.hpp"
#include "analyze/policy/policy_links.hpp"
#include "analyze/tracker/tracker.hpp"

namespace roce::analyze {
namespace {

/// The policy's priority map takes precedence over the options.
PriorityMap priorities_of(const AnalysisOptions& options) {
  return options.policy ? priority_map_of(options.policy->model()) : options.priorities;
}

PauseOptions pause_options(const AnalysisOptions& options) {
  PauseOptions pauses;
  pauses.link_speed_bps = options.link_speed_bps;
  pauses.storm_ns = options.pause_storm_ns;
  pauses.watchdog = options.pfc_watchdog;
  pauses.priorities = priorities_of(options);
  return pauses;
}

bool is_selected_transport(const Batch& batch, std::size_t i) {
  const PacketBrief& packet = batch.packets[i];
  if (packet.image != 0) return packet.has(PacketRecord::selected);
  return packet.place != Tracker::no_hint && batch.records[packet.place].has(PacketRecord::selected);
}

}  // namespace

LinkFollower::LinkFollower(const AnalysisOptions& options, SpeedOf speed_of)
    : priorities_(priorities_of(options)), speed_of_(std::move(speed_of)), pauses_(pause_options(options)) {}

void LinkFollower::watch(Batch& batch, const DissectStage& stage) {
  const std::vector<capture::Frame>& frames = batch.read.frames;
  std::size_t next = 0;
  const auto control_at = [&] { return next < batch.controls.size() ? batch.controls[next] : frames.size(); };
  for (std::size_t i = pauses_.pausing() ? 0 : control_at(); i < frames.size();) {
    if (i == control_at()) {
      see_control(batch, i, stage);
      ++next;
    } else if (pauses_.watches(frames[i].time_ns) && is_selected_transport(batch, i)) {
      std::optional<LinkView> link = link_view_fast(frames[i]);
      if (!link) link = link_view(frames[i].data, stage.dissect_again(batch, frames[i]));
      if (link) pauses_.see_packet(batch.frames_before + i + 1, frames[i], *link);
    }
    i = pauses_.pausing() ? i + 1 : std::max(i + 1, control_at());
  }
}

void LinkFollower::see_control(Batch& batch, std::size_t i, const DissectStage& stage) {
  const capture::Frame& frame = batch.read.frames[i];
  const std::uint64_t number = batch.frames_before + i + 1;
  const dissect::Dissection& d = stage.dissect_again(batch, frame);
  if (link_control_of(d) == LinkControl::lldp) {
    links_.see(number, frame, d);
    if (const auto link = link_view(frame.data, d)) pauses_.see_end(frame.point, link->src);
    return;
  }
  std::uint64_t speed = 0;
  // Interfaces beyond the last number share it, so its speed may change while reading.
  constexpr std::uint16_t shared = 0xffff;
  if (frame.interface != shared) speed = speed_of_(frame.interface);
  pauses_.see(number, frame, d, speed);
}

void LinkFollower::publish(Snapshot& snapshot, Totals& totals) {
  snapshot.pauses = pauses_.finish(totals.any_time ? std::optional(totals.last_time_ns) : std::nullopt);
  snapshot.dcbx = links_.finish();
  snapshot.priorities = priorities_;
  totals.diagnostics.add(DiagnosticId::link_ports,
                         snapshot.pauses.dropped_frames + snapshot.dcbx.dropped_frames);
}

}  // namespace roce::analyze
