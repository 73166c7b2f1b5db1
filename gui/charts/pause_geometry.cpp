// SPDX-License-Identifier: Apache-2.0
#include "gui/charts/pause_geometry.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <utility>

#include "analyze/base/units.hpp"
#include "analyze/results/capture_point_text.hpp"
#include "analyze/results/pause_facts.hpp"

namespace roce::gui {
namespace {

using analyze::DcbxPort;
using analyze::PauseLane;
using analyze::PausePort;
using analyze::Snapshot;

/// The capture point of a port, if there are several.
std::string place_of(const Snapshot& snapshot, std::uint16_t point) {
  const bool several =
      std::any_of(snapshot.interfaces.begin(), snapshot.interfaces.end(),
                  [&](const capture::InterfaceInfo& i) { return i.point != snapshot.interfaces[0].point; });
  return several ? " at " + analyze::point_name(snapshot.files, snapshot.interfaces, point) : std::string();
}

PauseStrip strip_of(const Snapshot& snapshot, const PausePort& port, unsigned place) {
  const PauseLane& lane = *port.lanes[place];
  PauseStrip strip;
  strip.name = (port.mac == 0 ? std::string("port") : analyze::mac_text(port.mac)) +
               (place == PausePort::global ? " PAUSE" : " priority " + std::to_string(place)) +
               place_of(snapshot, port.point);
  strip.at_least = !analyze::is_speed_known(port);
  strip.paused_ns = lane.paused_ns;
  const auto& buckets = lane.over_time.buckets();
  const std::int64_t width = lane.over_time.width_ns();
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    if (buckets[i] == 0) continue;
    const std::int64_t from = lane.over_time.start_ns() + static_cast<std::int64_t>(i) * width;
    strip.steps.push_back({from, from + width, buckets[i]});
  }
  if (lane.longest_packet != 0) {
    const bool storm = lane.longest_ns >= snapshot.pauses.storm_ns;
    strip.signs.push_back({storm ? PauseSign::Kind::storm : PauseSign::Kind::longest, lane.longest_from_ns,
                           lane.longest_packet,
                           std::string(storm ? "the longest pause, a pause storm: " : "the longest pause: ") +
                               analyze::duration_text(lane.longest_ns)});
  }
  return strip;
}

std::string announced(const DcbxPort& port) {
  if (!port.announces()) return "LLDP without DCBX";
  const auto& pfc = port.settings().pfc;
  return pfc ? "announces PFC on priority " + analyze::priorities_text(pfc->enabled) : "announces no PFC";
}

PauseStrip strip_of(const Snapshot& snapshot, const DcbxPort& port) {
  PauseStrip strip;
  strip.name = analyze::mac_text(port.mac) + " DCBX" + place_of(snapshot, port.point);
  if (port.frames.first_time_ns != capture::no_time) {
    // The first settings are known only if they never changed.
    strip.signs.push_back({PauseSign::Kind::first_word, port.frames.first_time_ns, port.frames.frames[0],
                           port.changed == 0 ? announced(port) : "the first announcement"});
  }
  for (const DcbxPort::Change& change : port.changes) {
    if (change.time_ns != capture::no_time)
      strip.signs.push_back({PauseSign::Kind::change, change.time_ns, change.packet, change.what});
  }
  if (port.changed > port.changes.size() && !strip.signs.empty()) {
    strip.signs.back().text += "; " + std::to_string(port.changed - port.changes.size()) + " further changes";
  }
  return strip;
}

}  // namespace

double PauseStep::share() const noexcept {
  return std::clamp(
      static_cast<double>(paused_ns) / static_cast<double>(std::max<std::int64_t>(1, to_ns - from_ns)), 0.0,
      1.0);
}

PauseStrips pause_strips(const Snapshot& snapshot, std::size_t most) {
  PauseStrips all;
  all.from_ns = snapshot.totals.first_time_ns;
  all.to_ns = snapshot.totals.last_time_ns;
  for (const PausePort& port : snapshot.pauses.ports) {
    for (unsigned place = 0; place < PausePort::lane_count; ++place) {
      if (port.lanes[place] && port.lanes[place]->pauses != 0)
        all.strips.push_back(strip_of(snapshot, port, place));
    }
  }
  if (all.strips.size() > most) {
    // Keeps the order; drops those that pause least.
    std::vector<std::int64_t> paused;
    for (const PauseStrip& strip : all.strips) paused.push_back(strip.paused_ns);
    std::nth_element(paused.begin(), paused.begin() + static_cast<std::ptrdiff_t>(most) - 1, paused.end(),
                     std::greater<>());
    const std::int64_t least = paused[most - 1];
    auto ties = static_cast<std::size_t>(
        std::count(paused.begin(), paused.begin() + static_cast<std::ptrdiff_t>(most), least));
    all.left_out = all.strips.size() - most;
    std::erase_if(all.strips, [&](const PauseStrip& strip) {
      if (strip.paused_ns != least) return strip.paused_ns < least;
      if (ties == 0) return true;
      --ties;
      return false;
    });
  }
  for (const DcbxPort& port : snapshot.dcbx.ports) {
    if (all.strips.size() < most) {
      all.strips.push_back(strip_of(snapshot, port));
    } else {
      ++all.left_out;
    }
  }
  for (const PauseStrip& strip : all.strips) {
    // A pause may extend beyond the last packet.
    if (!strip.steps.empty()) all.to_ns = std::max(all.to_ns, strip.steps.back().from_ns);
  }
  return all;
}

std::optional<PauseHit> pause_at(const PauseStrips& strips, std::int64_t time_ns, double row,
                                 std::int64_t reach_ns) noexcept {
  if (!(row >= 0) || row >= static_cast<double>(strips.strips.size())) return std::nullopt;
  const PauseStrip& strip = strips.strips[static_cast<std::size_t>(row)];
  PauseHit hit{&strip, nullptr, nullptr};
  const auto away = [time_ns](std::int64_t time) { return std::abs(time - time_ns); };
  for (const PauseSign& sign : strip.signs) {
    if (away(sign.time_ns) <= reach_ns &&
        (hit.sign == nullptr || away(sign.time_ns) < away(hit.sign->time_ns)))
      hit.sign = &sign;
  }
  if (hit.sign != nullptr) return hit;
  const auto behind =
      std::upper_bound(strip.steps.begin(), strip.steps.end(), time_ns,
                       [](std::int64_t t, const PauseStep& step) { return t < step.from_ns; });
  // With a tolerance: steps may be narrower than a pixel.
  if (behind != strip.steps.begin() && time_ns - (behind - 1)->to_ns < reach_ns) hit.step = &*(behind - 1);
  if (hit.step == nullptr && behind != strip.steps.end() && behind->from_ns - time_ns < reach_ns)
    hit.step = &*behind;
  return hit.step != nullptr ? std::optional(hit) : std::nullopt;
}

}  // namespace roce::gui
